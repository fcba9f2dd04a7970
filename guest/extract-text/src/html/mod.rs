//! HTML (TS-135, TS-136).

mod parse;
mod role;
mod sink;
mod tree;
mod walk;

use kit::SkillError;
use kit::charset::{Charset, End, Hint};

use crate::error::too_large;
use crate::response::Response;

/// Nodes of a document at most.
const MAX_NODES: usize = 1_000_000;

/// Elements within each other at most, as browsers have it.
const MAX_DEPTH: u32 = 512;

/// Attributes of one tag at most.
const MAX_ATTRIBUTES: usize = 250;

/// Characters at most that may begin a tag or a reference or are errors: the tokenizer takes its time for each.
const MAX_MARKS: usize = 3_000_000;

/// Open elements that all tags together find around them at most.
const MAX_STEPS: u64 = 100_000_000;

/// A bound that a document passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Bound {
    Nodes,
    Depth,
    Attributes,
    Steps,
}

impl From<Bound> for SkillError {
    fn from(bound: Bound) -> Self {
        match bound {
            Bound::Nodes => too_large(
                "nodes",
                &format!("the HTML has more than {MAX_NODES} nodes"),
            ),
            Bound::Depth => too_large(
                "depth",
                &format!("the HTML has more than {MAX_DEPTH} elements within each other"),
            ),
            Bound::Steps => too_large(
                "depth",
                "the HTML has too many tags that deep within each other",
            ),
            Bound::Attributes => too_large(
                "attributes",
                &format!("a tag of the HTML has more than {MAX_ATTRIBUTES} attributes"),
            ),
        }
    }
}

/// The text of a document.
///
/// # Errors
/// `unsupported` for an unknown charset, `too_large` beyond a bound of the parser.
pub(crate) fn extract(
    input: &[u8],
    charset: Option<&str>,
    max_bytes: usize,
) -> Result<Response, SkillError> {
    let text = Charset::detect(input, End::Whole, charset, Hint::Html)?
        .decode(input, End::Whole)
        .text;
    let marks = text.bytes().filter(|byte| matches!(byte, b'<' | b'&' | 0));
    if marks.count() > MAX_MARKS {
        return Err(too_large(
            "nodes",
            "the HTML has more than 3000000 characters of markup",
        ));
    }
    let tree = parse::parse(&text)?;
    Ok(walk::walk(&tree, max_bytes))
}
