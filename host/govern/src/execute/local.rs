//! println and read-file.

use super::plan::{Produced, Run};
use crate::failure::{Code, Failure};
use hydrant_plan::{Excerpt, ReadFileStage, Segments};

impl Run<'_> {
    /// A line of text.
    pub(super) fn println(&mut self, text: &Segments) -> Result<Produced, Failure> {
        let mut text = self.filled(text)?;
        text.push('\n');
        Ok(Produced::plain(text.into_bytes()))
    }

    /// Files of the call, one after another.
    pub(super) fn read_file(&mut self, stage: &ReadFileStage) -> Result<Produced, Failure> {
        let mut bytes = Vec::new();
        for name in &stage.paths {
            bytes.extend_from_slice(self.call.files.get(name)?);
        }
        let bytes = match &stage.excerpt {
            Some(excerpt) => cut(&bytes, excerpt)
                .ok_or_else(|| {
                    Failure::new(Code::Transform, "the excerpt is none of head or tail")
                })?
                .to_vec(),
            None => bytes,
        };
        Ok(Produced::plain(bytes))
    }
}

/// What `head` and `tail` keep; none of what they do not have.
fn cut<'b>(bytes: &'b [u8], excerpt: &Excerpt) -> Option<&'b [u8]> {
    let count = usize::try_from(excerpt.count).unwrap_or(usize::MAX);
    let in_lines = match excerpt.unit.as_str() {
        "lines" => true,
        "bytes" => false,
        _ => return None,
    };
    // Where each unit ends.
    let total = if in_lines {
        line_ends(bytes).count()
    } else {
        bytes.len()
    };
    let end_of = |units: usize| -> usize {
        match units.checked_sub(1) {
            None => 0,
            Some(_) if units >= total => bytes.len(),
            Some(index) if in_lines => line_ends(bytes).nth(index).unwrap_or(bytes.len()),
            Some(_) => units,
        }
    };
    let keep = total.saturating_sub(count);
    match (excerpt.tool.as_str(), excerpt.mode.as_str()) {
        ("head", "only") => bytes.get(..end_of(count)),
        ("head", "all-but") => bytes.get(..end_of(keep)),
        ("tail", "only") => bytes.get(end_of(keep)..),
        // `+N` is counted from 1, and `+0` is `+1`.
        ("tail", "from") => bytes.get(end_of(count.saturating_sub(1))..),
        _ => None,
    }
}

/// Behind each line; what follows the last line feed is one if there is anything.
fn line_ends(bytes: &[u8]) -> impl Iterator<Item = usize> {
    let rest = (!bytes.is_empty() && !bytes.ends_with(b"\n")).then_some(bytes.len());
    bytes
        .iter()
        .enumerate()
        .filter(|(_, byte)| **byte == b'\n')
        .map(|(index, _)| index.saturating_add(1))
        .chain(rest)
}
