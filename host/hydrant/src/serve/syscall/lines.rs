//! Lines of bounded length: what is longer is skipped without being kept.

use std::io::{self, BufRead};

pub(super) struct Lines<R> {
    input: R,
    max_bytes: usize,
}

/// One line without its `\n`.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    Whole(Vec<u8>),
    TooLong,
}

impl<R: BufRead> Lines<R> {
    pub(super) fn new(input: R, max_bytes: usize) -> Self {
        Self { input, max_bytes }
    }

    /// The next line, or none at the end of the input. A last line without `\n` counts.
    pub(super) fn next(&mut self) -> io::Result<Option<Line>> {
        let mut line = Vec::new();
        let (mut began, mut too_long) = (false, false);
        loop {
            let buffer = match self.input.fill_buf() {
                Ok(buffer) => buffer,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if buffer.is_empty() {
                break;
            }
            began = true;
            let end = memchr::memchr(b'\n', buffer);
            let part = end.and_then(|end| buffer.get(..end)).unwrap_or(buffer);
            let ended = end.is_some();
            too_long |= line.len().saturating_add(part.len()) > self.max_bytes;
            if !too_long {
                line.extend_from_slice(part);
            }
            let consumed = part.len().saturating_add(usize::from(ended));
            self.input.consume(consumed);
            if ended {
                break;
            }
        }
        Ok(match (began, too_long) {
            (false, _) => None,
            (true, true) => Some(Line::TooLong),
            (true, false) => Some(Line::Whole(line)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(input: &[u8], max_bytes: usize) -> Vec<Line> {
        // A buffer of 3 bytes, so that lines cross its borders.
        let mut lines = Lines::new(io::BufReader::with_capacity(3, input), max_bytes);
        std::iter::from_fn(|| lines.next().unwrap()).collect()
    }

    fn whole(text: &str) -> Line {
        Line::Whole(text.as_bytes().to_vec())
    }

    #[test]
    fn a_last_line_without_terminator_counts() {
        assert_eq!(
            all(b"one\n\ntwo", 8),
            [whole("one"), whole(""), whole("two")]
        );
        assert_eq!(all(b"one\n", 8), [whole("one")]);
        assert_eq!(all(b"", 8), []);
    }

    #[test]
    fn a_line_over_the_limit_is_skipped_and_the_next_one_is_read() {
        assert_eq!(
            all(b"12345678\n123456789\nok", 8),
            [whole("12345678"), Line::TooLong, whole("ok")]
        );
    }
}
