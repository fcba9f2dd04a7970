//! The lines of a diff text, their numbers, and what can only stand between hunks.

use memchr::memchr_iter;

/// A place between two lines of a diff.
#[derive(Debug, Clone)]
pub(super) struct Lines<'a> {
    rest: &'a str,
    /// Of the next line, from 1.
    number: usize,
    /// Every line end of the text is CR LF, so none belongs to a patched file.
    crlf: bool,
}

/// What a line that follows the last hunk of a section begins with.
const BOUNDARIES: [&str; 10] = [
    "@@",
    "diff ",
    "Index: ",
    "Only in ",
    "Binary files ",
    "From ",
    "===",
    "___",
    "```",
    "~~~",
];

impl<'a> Lines<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let bytes = text.as_bytes();
        let mut ends = memchr_iter(b'\n', bytes).peekable();
        let crlf = ends.peek().is_some()
            && ends.all(|end| bytes.get(..end).is_some_and(|line| line.ends_with(b"\r")));
        Self {
            rest: text,
            number: 1,
            crlf,
        }
    }

    /// The number of the next line.
    pub(super) fn number(&self) -> usize {
        self.number
    }

    /// The next line without its end; the last line need not have one.
    pub(super) fn peek(&self) -> Option<&'a str> {
        self.split().map(|(line, _)| line)
    }

    /// Whether the next line begins so.
    pub(super) fn at(&self, start: &str) -> bool {
        self.rest.starts_with(start)
    }

    /// Whether the next two lines are the `---` and `+++` of a section.
    pub(super) fn at_names(&self) -> bool {
        self.at("--- ") && self.after().at("+++ ")
    }

    /// Whether the next line is what separates a mail from its signature, and no removed line of a hunk that goes on.
    pub(super) fn at_signature(&self) -> bool {
        matches!(self.peek(), Some("-- " | "--"))
            && !self.after().rest.starts_with([' ', '+', '-', '@'])
    }

    /// Whether the next line is one of those that divide a `*** Begin Patch` text.
    pub(super) fn at_mark(&self) -> bool {
        self.at("*** Begin Patch") || self.at("*** End ") || self.at_order()
    }

    /// Whether the next line is one of those that say what becomes of a file, as in `*** Add File: `, known or not.
    pub(super) fn at_order(&self) -> bool {
        let text = self.peek().and_then(|line| line.strip_prefix("*** "));
        text.is_some_and(|text| {
            text.starts_with("Move to:") || text.to_ascii_lowercase().contains(" file:")
        })
    }

    /// Whether the next line cannot belong to a hunk whose counts are no help: the end of the text, the beginning of
    /// something else, or the signature of git with its version.
    pub(super) fn at_boundary(&self) -> bool {
        let version = |lines: Self| lines.rest.starts_with(|first: char| first.is_ascii_digit());
        self.rest.is_empty()
            || BOUNDARIES.iter().any(|start| self.at(start))
            || self.at_mark()
            || (self.at_names() && self.after().after().at("@@"))
            || (self.at_signature() && version(self.after()))
    }

    /// The place behind the next line.
    fn after(&self) -> Self {
        let mut after = self.clone();
        after.next();
        after
    }

    fn split(&self) -> Option<(&'a str, &'a str)> {
        if self.rest.is_empty() {
            return None;
        }
        let (line, rest) = self.rest.split_once('\n').unwrap_or((self.rest, ""));
        let line = match line.strip_suffix('\r') {
            Some(without) if self.crlf => without,
            _ => line,
        };
        Some((line, rest))
    }
}

impl<'a> Iterator for Lines<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let (line, rest) = self.split()?;
        self.rest = rest;
        self.number = self.number.saturating_add(1);
        Some(line)
    }
}
