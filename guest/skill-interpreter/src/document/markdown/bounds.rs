//! How much markup is read: the parser keeps a node for each piece, and looks at every open container for each line.

use crate::failure::Failure;

/// Characters that may be markup at most; the parser takes about a hundred bytes for each.
const MARKS: usize = 300_000;

/// Quotes and items within each other at most. The parser looks at all of them for every line.
const CONTAINERS: usize = 100;

/// A body, of which these are the lines, that is more than the parser can take within the memory and time of a component.
///
/// # Errors
///
/// `limit`, naming which.
pub(crate) fn check<'t>(
    body: &str,
    mut lines: impl Iterator<Item = &'t str>,
) -> Result<(), Failure> {
    if marks(body) > MARKS {
        return Err(Failure::exceeded("characters of Markdown markup", MARKS));
    }
    if lines.any(|line| containers(line) > CONTAINERS) {
        return Err(Failure::exceeded(
            "quotes and list items within each other",
            CONTAINERS,
        ));
    }
    Ok(())
}

/// Characters that may be markup, line breaks among them; a point only where it may number an item.
fn marks(text: &str) -> usize {
    let bytes = text.as_bytes();
    let after = bytes.get(1..).unwrap_or_default();
    let marks = bytes
        .chunks(CHUNK)
        .map(|chunk| count(chunk, chunk, |byte, _| is_mark(byte)));
    let numbers = bytes
        .chunks(CHUNK)
        .zip(after.chunks(CHUNK))
        .map(|(chunk, after)| {
            count(chunk, after, |byte, next| {
                ((byte == b'.') | (byte == b')')) & (next == b' ')
            })
        });
    marks.chain(numbers).sum()
}

/// Bytes that are looked at together: no more than a byte counts.
const CHUNK: usize = 128;

/// In how many places of two chunks something holds. Without branches, so that the compiler takes many places at once.
fn count(chunk: &[u8], other: &[u8], holds: impl Fn(u8, u8) -> bool) -> usize {
    let pairs = chunk.iter().zip(other);
    let found: u8 = pairs
        .map(|(one, other)| u8::from(holds(*one, *other)))
        .sum();
    usize::from(found)
}

fn is_mark(byte: u8) -> bool {
    b"!#&*+-<>[\\]_`|~\n"
        .iter()
        .fold(false, |found, mark| found | (byte == *mark))
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
