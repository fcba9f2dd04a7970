//! Reads one JSON text (RFC 8259) into the table of a [`Document`](crate::document::Document), without recursion.

use std::ops::Range;

use crate::document::{Entry, Kind};

/// Objects and arrays within each other (TS-124).
const MAX_NESTING: usize = 128;

/// Why a text was not read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// It is not one JSON value: what was expected, and where.
    Syntax(String),
    /// It is nested too deeply.
    TooDeep,
}

/// The values of a text.
pub(crate) fn read(text: &str) -> Result<Vec<Entry>, Refusal> {
    let mut reader = Reader {
        text,
        at: 0,
        entries: Vec::with_capacity(most_values(text.as_bytes())),
        open: Vec::new(),
    };
    reader.read()?;
    Ok(reader.entries)
}

/// Values and names of a text, or a few more: as many as there are separators and openings outside of strings.
fn most_values(text: &[u8]) -> usize {
    let mut count = 1_usize;
    let mut bytes = text.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b',' | b':' | b'[' | b'{' => count = count.saturating_add(1),
            b'"' => {
                while let Some(byte) = bytes.next() {
                    match byte {
                        b'"' => break,
                        b'\\' => drop(bytes.next()),
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }
    count
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    entries: Vec<Entry>,
    /// The entries of the containers around this place.
    open: Vec<usize>,
}

impl Reader<'_> {
    fn read(&mut self) -> Result<(), Refusal> {
        loop {
            self.skip_space();
            if self.begin_value()? && self.end_values()? {
                break;
            }
        }
        match self.peek() {
            None => Ok(()),
            Some(_) => Err(self.expected("the end of the text")),
        }
    }

    /// Reads a value, or as far as the first value in it; true when it is complete.
    fn begin_value(&mut self) -> Result<bool, Refusal> {
        let start = self.at;
        match self.peek() {
            Some(b'{') => {
                self.open_container(Kind::Object)?;
                if self.skip_byte(b'}') {
                    self.close_container();
                    return Ok(true);
                }
                self.read_name().map(|()| false)
            }
            Some(b'[') => {
                self.open_container(Kind::Array)?;
                if self.skip_byte(b']') {
                    self.close_container();
                    return Ok(true);
                }
                Ok(false)
            }
            Some(b'"') => {
                let escaped = self.skip_string()?;
                self.push(Kind::String, start..self.at, escaped);
                Ok(true)
            }
            Some(b'-' | b'0'..=b'9') => {
                self.skip_number()?;
                self.push(Kind::Number, start..self.at, false);
                Ok(true)
            }
            _ => self.read_literal().map(|()| true),
        }
    }

    /// Behind a complete value: closes what ends here; true when the text's value is complete, false when another
    /// value follows.
    fn end_values(&mut self) -> Result<bool, Refusal> {
        loop {
            self.skip_space();
            let Some(container) = self.open.last().and_then(|at| self.entries.get_mut(*at)) else {
                return Ok(true);
            };
            container.add_child();
            let is_object = container.kind() == Kind::Object;
            match self.peek() {
                Some(b',') => {
                    self.at = self.at.saturating_add(1);
                    self.skip_space();
                    if is_object {
                        self.read_name()?;
                    }
                    return Ok(false);
                }
                Some(b'}') if is_object => self.at = self.at.saturating_add(1),
                Some(b']') if !is_object => self.at = self.at.saturating_add(1),
                _ if is_object => return Err(self.expected("`,` or `}`")),
                _ => return Err(self.expected("`,` or `]`")),
            }
            self.close_container();
        }
    }

    fn open_container(&mut self, kind: Kind) -> Result<(), Refusal> {
        if self.open.len() == MAX_NESTING {
            return Err(Refusal::TooDeep);
        }
        self.open.push(self.entries.len());
        self.push(kind, self.at..self.at, false);
        self.at = self.at.saturating_add(1);
        self.skip_space();
        Ok(())
    }

    fn close_container(&mut self) {
        let next = self.entries.len();
        let container = self.open.pop().and_then(|at| self.entries.get_mut(at));
        if let Some(container) = container {
            container.close(self.at, next);
        }
    }

    fn read_name(&mut self) -> Result<(), Refusal> {
        let start = self.at;
        if self.peek() != Some(b'"') {
            return Err(self.expected("a name in quotes"));
        }
        let escaped = self.skip_string()?;
        self.push(Kind::Name, start..self.at, escaped);
        self.skip_space();
        if self.skip_byte(b':') {
            Ok(())
        } else {
            Err(self.expected("`:`"))
        }
    }

    fn read_literal(&mut self) -> Result<(), Refusal> {
        for (literal, kind) in [
            ("null", Kind::Null),
            ("true", Kind::True),
            ("false", Kind::False),
        ] {
            let rest = self.text.get(self.at..).unwrap_or_default();
            if rest.starts_with(literal) {
                let end = self.at.saturating_add(literal.len());
                self.push(kind, self.at..end, false);
                self.at = end;
                return Ok(());
            }
        }
        Err(self.expected("a value"))
    }

    /// Skips a string; true when it has escapes.
    fn skip_string(&mut self) -> Result<bool, Refusal> {
        let mut escaped = false;
        self.at = self.at.saturating_add(1);
        loop {
            match self.peek() {
                Some(b'"') => {
                    self.at = self.at.saturating_add(1);
                    return Ok(escaped);
                }
                Some(b'\\') => {
                    escaped = true;
                    self.skip_escape()?;
                }
                Some(0..=0x1F) => {
                    return Err(self.expected("an escape instead of a control character"));
                }
                Some(_) => self.at = self.at.saturating_add(1),
                None => return Err(self.expected("the end of a string")),
            }
        }
    }

    fn skip_escape(&mut self) -> Result<(), Refusal> {
        self.at = self.at.saturating_add(1);
        match self.peek() {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => {
                self.at = self.at.saturating_add(1);
                Ok(())
            }
            Some(b'u') => match self.skip_code_unit()? {
                0xD800..=0xDBFF => {
                    let low = self.rest().starts_with(b"\\u");
                    self.at = self.at.saturating_add(1);
                    if low && matches!(self.skip_code_unit()?, 0xDC00..=0xDFFF) {
                        Ok(())
                    } else {
                        Err(self.expected("the second half of a surrogate pair"))
                    }
                }
                0xDC00..=0xDFFF => Err(self.expected("the first half of a surrogate pair")),
                _ => Ok(()),
            },
            _ => Err(self.expected("an escape")),
        }
    }

    /// `u` and four hexadecimal digits.
    fn skip_code_unit(&mut self) -> Result<u16, Refusal> {
        let digits = self.at.saturating_add(1)..self.at.saturating_add(5);
        let unit = self
            .text
            .get(digits.clone())
            .filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()))
            .and_then(|digits| u16::from_str_radix(digits, 16).ok())
            .ok_or_else(|| self.expected("four hexadecimal digits"))?;
        self.at = digits.end;
        Ok(unit)
    }

    fn skip_number(&mut self) -> Result<(), Refusal> {
        self.skip_byte(b'-');
        if !self.skip_byte(b'0') {
            self.skip_digits()?;
        }
        if self.skip_byte(b'.') {
            self.skip_digits()?;
        }
        if self.skip_byte(b'e') || self.skip_byte(b'E') {
            if !self.skip_byte(b'+') {
                self.skip_byte(b'-');
            }
            self.skip_digits()?;
        }
        Ok(())
    }

    fn skip_digits(&mut self) -> Result<(), Refusal> {
        let digits = self.rest().iter().take_while(|byte| byte.is_ascii_digit());
        match digits.count() {
            0 => Err(self.expected("a digit")),
            count => {
                self.at = self.at.saturating_add(count);
                Ok(())
            }
        }
    }

    fn skip_byte(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        if found {
            self.at = self.at.saturating_add(1);
        }
        found
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at = self.at.saturating_add(1);
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn rest(&self) -> &[u8] {
        self.text.as_bytes().get(self.at..).unwrap_or_default()
    }

    fn push(&mut self, kind: Kind, span: Range<usize>, escaped: bool) {
        let next = self.entries.len().saturating_add(1);
        self.entries.push(Entry::new(kind, span, escaped, next));
    }

    /// What is missing here, with the line and the byte in it, both from 1.
    fn expected(&self, what: &str) -> Refusal {
        let before = self.text.as_bytes().get(..self.at);
        let before = before.unwrap_or(self.text.as_bytes());
        let line = before.split(|byte| *byte == b'\n').count();
        let column = before.rsplit(|byte| *byte == b'\n').next();
        let column = column.map_or(0, <[u8]>::len).saturating_add(1);
        Refusal::Syntax(format!("expected {what} at line {line}, byte {column}"))
    }
}
