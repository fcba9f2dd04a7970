//! The lines of a diff text, and their numbers.

/// A place between two lines of a diff.
#[derive(Debug, Clone)]
pub(super) struct Lines<'a> {
    rest: &'a str,
    /// Of the next line, from 1.
    number: usize,
    /// TS-49: every line end of the text is CR LF.
    crlf: bool,
}

impl<'a> Lines<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self {
            rest: text,
            number: 1,
            crlf: crate::place::ends_in_crlf(text.as_bytes()),
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

    /// Whether the next two lines are the `---` and `+++` of a section.
    pub(super) fn at_names(&self) -> bool {
        self.rest.starts_with("--- ")
            && self
                .split()
                .is_some_and(|(_, rest)| rest.starts_with("+++ "))
    }

    /// Whether the next line begins so.
    pub(super) fn at(&self, start: &str) -> bool {
        self.rest.starts_with(start)
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
