//! A text read character by character, which knows its line.

/// A place in a text.
#[derive(Debug, Clone)]
pub(super) struct Source<'a> {
    text: &'a str,
    position: usize,
    line: u32,
    /// Where the line begins.
    line_start: usize,
}

impl<'a> Source<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self {
            text,
            position: 0,
            line: 1,
            line_start: 0,
        }
    }

    /// Counted from 1.
    pub(super) fn line(&self) -> u32 {
        self.line
    }

    /// In bytes.
    pub(super) fn position(&self) -> usize {
        self.position
    }

    /// Whether nothing but blanks stands before the place in its line.
    pub(super) fn begins_line(&self) -> bool {
        let line = self.text.get(self.line_start..self.position);
        // A blank is one character; what is longer is no indentation of prose.
        line.is_some_and(|line| line.len() < 80 && line.trim().is_empty())
    }

    /// The character before the place.
    pub(super) fn before(&self) -> Option<char> {
        self.text.get(..self.position)?.chars().next_back()
    }

    /// What is not read yet.
    pub(super) fn rest(&self) -> &'a str {
        self.text.get(self.position..).unwrap_or_default()
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    pub(super) fn peek_second(&self) -> Option<char> {
        self.rest().chars().nth(1)
    }

    pub(super) fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.position += c.len_utf8();
        if c == '\n' {
            self.line = self.line.saturating_add(1);
            self.line_start = self.position;
        }
        Some(c)
    }

    /// Goes on by so many bytes, which hold no end of a line.
    pub(super) fn skip(&mut self, bytes: usize) {
        self.position += bytes;
    }

    /// Goes on to a place behind, by its bytes.
    pub(super) fn go_to(&mut self, position: usize) {
        while self.position < position && self.next().is_some() {}
    }

    /// The rest of the line, without its end, which is still to be read.
    pub(super) fn take_line(&mut self) -> &'a str {
        let line = self.rest().split('\n').next().unwrap_or_default();
        self.position += line.len();
        line
    }

    /// The rest of the line and its end, which is not answered; none at the end of the text.
    pub(super) fn next_line(&mut self) -> Option<&'a str> {
        if self.rest().is_empty() {
            return None;
        }
        let line = self.take_line();
        self.next();
        Some(line)
    }
}
