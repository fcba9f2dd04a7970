//! A text read character by character, which knows its line.

/// A place in a text.
#[derive(Debug, Clone)]
pub(super) struct Source<'a> {
    text: &'a str,
    position: usize,
    line: u32,
}

impl<'a> Source<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self::at_line(text, 1)
    }

    pub(super) fn at_line(text: &'a str, line: u32) -> Self {
        Self {
            text,
            position: 0,
            line,
        }
    }

    /// Counted from 1.
    pub(super) fn line(&self) -> u32 {
        self.line
    }

    /// What is not read yet.
    #[inline]
    pub(super) fn rest(&self) -> &'a str {
        self.text.get(self.position..).unwrap_or_default()
    }

    #[inline]
    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    pub(super) fn peek_second(&self) -> Option<char> {
        self.rest().chars().nth(1)
    }

    #[inline]
    pub(super) fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.position += c.len_utf8();
        if c == '\n' {
            self.line = self.line.saturating_add(1);
        }
        Some(c)
    }

    /// The rest of the line without its end; none at the end of the text.
    pub(super) fn next_line(&mut self) -> Option<&'a str> {
        let rest = self.rest();
        if rest.is_empty() {
            return None;
        }
        let line = rest.split('\n').next().unwrap_or_default();
        self.position = (self.position + line.len() + 1).min(self.text.len());
        self.line = self.line.saturating_add(1);
        Some(line)
    }
}
