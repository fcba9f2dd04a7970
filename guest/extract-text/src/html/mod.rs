//! HTML, parsed as browsers parse it.

mod dom;
mod role;
mod walk;

use kit::SkillError;
use kit::charset::{Charset, End, Hint};

use crate::output::Output;
use crate::response::Response;

/// Returns the text of a document.
///
/// # Errors
/// `unsupported` for an unknown charset.
pub(crate) fn extract(
    input: &[u8],
    charset: Option<&str>,
    max_bytes: usize,
) -> Result<Response, SkillError> {
    let html = Charset::detect(input, End::Whole, charset, Hint::Html)?
        .decode(input, End::Whole)
        .text;
    let mut output = Output::new(max_bytes);
    let title = write(&html, &mut output);
    Ok(output.finish(title, None))
}

/// Writes the text of a document or of a part of one; returns its `title`.
pub(crate) fn write(html: &str, output: &mut Output) -> Option<String> {
    walk::walk(&dom::parse(html), output)
}
