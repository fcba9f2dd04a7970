//! The lines of one file that match.

use std::io;

use bstr::ByteSlice;
use grep_regex::RegexMatcher;
use grep_searcher::{Searcher, SearcherBuilder, Sink, SinkMatch};

use crate::answer::{Answer, Entry};
use crate::pattern;

/// Makes the searcher of a call. It sees whole texts without a byte order mark, so that it has nothing to decode.
pub(crate) fn searcher() -> Searcher {
    SearcherBuilder::new().bom_sniffing(false).build()
}

/// The text of a file: without the byte order mark at its beginning, and with LF line ends.
/// None if it is binary, that is, if it holds a NUL.
pub(crate) fn text(mut bytes: Vec<u8>) -> Option<Vec<u8>> {
    if bytes.contains_str("\0") {
        return None;
    }
    if bytes.starts_with(b"\xEF\xBB\xBF") {
        bytes.drain(..3);
    }
    if bytes.contains_str("\r\n") {
        bytes = bytes.replace("\r\n", "\n");
    }
    Some(bytes)
}

/// Adds the lines of one file that match to the answer.
pub(crate) struct Collector<'a> {
    pub(crate) answer: &'a mut Answer,
    pub(crate) matcher: &'a RegexMatcher,
    /// How the answer shows the file.
    pub(crate) file: &'a str,
    /// All of its text.
    pub(crate) text: &'a [u8],
    /// Lines before and behind each one.
    pub(crate) context_lines: usize,
}

impl Sink for Collector<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        let begin = usize::try_from(found.absolute_byte_offset()).unwrap_or(usize::MAX);
        let end = begin.saturating_add(found.bytes().len());
        let before = self.text.get(..begin).unwrap_or_default();
        let after = self.text.get(end..).unwrap_or_default();
        let line = without_line_feed(found.bytes());
        let (start, matching) = pattern::find(self.matcher, line);
        Ok(self.answer.add(&Entry {
            file: self.file,
            line: found.line_number().unwrap_or(0),
            column: start.saturating_add(1),
            found: matching,
            context_before: last_lines(before, self.context_lines),
            context_after: after
                .split_inclusive(|byte| *byte == b'\n')
                .take(self.context_lines)
                .map(without_line_feed)
                .collect(),
            text: line,
        })?)
    }
}

/// The last lines of a text that ends with a line feed or is empty.
fn last_lines(text: &[u8], most: usize) -> Vec<&[u8]> {
    let Some(text) = text.strip_suffix(b"\n") else {
        return Vec::new();
    };
    let mut lines: Vec<_> = text.rsplit(|byte| *byte == b'\n').take(most).collect();
    lines.reverse();
    lines
}

fn without_line_feed(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\n").unwrap_or(line)
}
