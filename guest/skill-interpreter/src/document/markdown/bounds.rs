//! How much markup is read: the parser keeps a node for each piece, and looks at every open container for each line.

use crate::failure::Failure;
use crate::limits;

/// Characters that may be markup at most; the parser takes about a hundred bytes for each.
const MARKS: usize = 300_000;

/// Quotes and items within each other at most. The parser looks at all of them for every line.
const CONTAINERS: usize = 100;

/// A body that is more than the parser can take within the memory and time of a component.
///
/// # Errors
///
/// `limit`, naming which.
pub(crate) fn check(body: &str) -> Result<(), Failure> {
    if marks(body) > MARKS {
        return Err(limits::exceeded("characters of Markdown markup", MARKS));
    }
    if body.lines().any(|line| containers(line) > CONTAINERS) {
        return Err(limits::exceeded(
            "quotes and list items within each other",
            CONTAINERS,
        ));
    }
    Ok(())
}

/// Characters that may be markup, line breaks among them; a point only where it may number an item.
fn marks(text: &str) -> usize {
    let mut count = 0_usize;
    let mut before = 0;
    for byte in text.bytes() {
        let is_mark = match byte {
            b' ' => matches!(before, b'.' | b')'),
            b'!' | b'#' | b'&' | b'*' | b'+' | b'-' | b'<' | b'>' | b'[' | b'\\' | b']' | b'_'
            | b'`' | b'|' | b'~' | b'\n' => true,
            _ => false,
        };
        count = count.saturating_add(usize::from(is_mark));
        before = byte;
    }
    count
}

/// How many quotes and items a line may be in: what it begins itself, and what its indentation continues.
fn containers(line: &str) -> usize {
    let mut marks = 0_usize;
    let mut columns = 0_usize;
    let mut bytes = line.bytes().peekable();
    while let Some(byte) = bytes.next() {
        let ends = bytes.peek().is_none_or(|next| matches!(next, b' ' | b'\t'));
        match byte {
            b'>' => marks = marks.saturating_add(1),
            b'-' | b'+' | b'*' | b'.' | b')' if ends => marks = marks.saturating_add(1),
            b' ' => columns = columns.saturating_add(1),
            b'\t' => columns = columns.saturating_add(4),
            b'0'..=b'9' => {}
            // A line of code or text that is indented far is no list.
            _ => {
                return if marks == 0 {
                    0
                } else {
                    marks.saturating_add(columns / 2)
                };
            }
        }
    }
    marks
}
