//! Reading values from bytes (ISO 32000-2, 7.2 and 7.3), leniently: what is wrong is passed over.

use std::ops::Range;

use super::object::{Dict, Object};

/// Arrays and dictionaries within each other at most.
const MAX_DEPTH: u32 = 48;

/// A value, or a word that is none: an operator, `obj`, `endobj`.
#[derive(Debug, PartialEq)]
pub(super) enum Token<'a> {
    Object(Object),
    Word(&'a [u8]),
}

/// Whether `7 0 R` is a reference: in a file it is, in a content stream there are none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    File,
    Content,
}

/// Reads values one after the other.
#[derive(Debug)]
pub(super) struct Lexer<'a> {
    bytes: &'a [u8],
    at: usize,
    place: Place,
    /// Values that may still be made.
    nodes: usize,
}

impl<'a> Lexer<'a> {
    /// A lexer that makes at most `nodes` values.
    pub(super) fn new(bytes: &'a [u8], at: usize, place: Place, nodes: usize) -> Self {
        Self {
            bytes,
            at,
            place,
            nodes,
        }
    }

    /// Where the next byte is.
    pub(super) fn position(&self) -> usize {
        self.at
    }

    /// Values that may still be made.
    pub(super) fn nodes_left(&self) -> usize {
        self.nodes
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn peek_second(&self) -> Option<u8> {
        self.bytes.get(self.at.saturating_add(1)).copied()
    }

    pub(super) fn advance(&mut self, bytes: usize) {
        self.at = self.at.saturating_add(bytes).min(self.bytes.len());
    }

    fn slice(&self, range: Range<usize>) -> &'a [u8] {
        self.bytes.get(range).unwrap_or_default()
    }

    /// White space and comments.
    pub(super) fn skip_space(&mut self) {
        while let Some(byte) = self.peek() {
            match byte {
                _ if is_space(byte) => self.advance(1),
                b'%' => {
                    while self
                        .peek()
                        .is_some_and(|byte| byte != b'\n' && byte != b'\r')
                    {
                        self.advance(1);
                    }
                }
                _ => return,
            }
        }
    }

    /// Whether a word follows; then it is passed.
    pub(super) fn eat(&mut self, word: &[u8]) -> bool {
        self.skip_space();
        let found = self
            .bytes
            .get(self.at..)
            .is_some_and(|rest| rest.starts_with(word));
        if found {
            self.advance(word.len());
        }
        found
    }

    /// A whole number that is not negative.
    pub(super) fn unsigned(&mut self) -> Option<u32> {
        self.skip_space();
        let digits = self.run(|byte| byte.is_ascii_digit());
        std::str::from_utf8(digits).ok()?.parse().ok()
    }

    /// The next value; none if there is none, or no value.
    pub(super) fn object(&mut self) -> Option<Object> {
        match self.token()? {
            Token::Object(object) => Some(object),
            Token::Word(_) => None,
        }
    }

    /// The next value or word; none at the end, and where values are nested too deeply or too many.
    pub(super) fn token(&mut self) -> Option<Token<'a>> {
        self.token_within(MAX_DEPTH)
    }

    fn token_within(&mut self, depth: u32) -> Option<Token<'a>> {
        self.skip_space();
        self.nodes = self.nodes.checked_sub(1)?;
        let object = match self.peek()? {
            b'/' => Object::Name(self.name()),
            b'(' => Object::String(self.literal_string()),
            b'<' if self.peek_second() == Some(b'<') => {
                self.advance(2);
                Object::Dict(self.dict(depth.checked_sub(1)?)?)
            }
            b'<' => Object::String(self.hexadecimal_string()),
            b'[' => {
                self.advance(1);
                Object::Array(self.array(depth.checked_sub(1)?)?)
            }
            b'0'..=b'9' | b'+' | b'-' | b'.' => self.number(),
            b'>' if self.peek_second() == Some(b'>') => return Some(self.word_of(2)),
            b')' | b'>' | b']' | b'{' | b'}' => return Some(self.word_of(1)),
            _ => match self.run(is_regular) {
                b"null" => Object::Null,
                b"true" => Object::Bool(true),
                b"false" => Object::Bool(false),
                word => return Some(Token::Word(word)),
            },
        };
        Some(Token::Object(object))
    }

    fn word_of(&mut self, length: usize) -> Token<'a> {
        let begin = self.at;
        self.advance(length);
        Token::Word(self.slice(begin..self.at))
    }

    fn run(&mut self, belongs: impl Fn(u8) -> bool) -> &'a [u8] {
        let begin = self.at;
        while self.peek().is_some_and(&belongs) {
            self.advance(1);
        }
        self.slice(begin..self.at)
    }

    fn array(&mut self, depth: u32) -> Option<Vec<Object>> {
        let mut array = Vec::new();
        loop {
            match self.token_within(depth) {
                Some(Token::Object(object)) => array.push(object),
                Some(Token::Word(b"]")) => return Some(array),
                Some(Token::Word(b"endobj" | b"endstream" | b">>")) | None => {
                    // Not closed: what was read counts, unless reading had to stop.
                    return (self.nodes > 0 && self.may_end()).then_some(array);
                }
                Some(Token::Word(_)) => {}
            }
        }
    }

    fn dict(&mut self, depth: u32) -> Option<Dict> {
        let mut dict = Dict::default();
        loop {
            match self.token_within(depth) {
                Some(Token::Object(Object::Name(key))) => {
                    let begin = self.at;
                    match self.token_within(depth) {
                        Some(Token::Object(value)) => dict.insert(key, value),
                        // A key without a value at the end.
                        Some(Token::Word(b">>" | b"endobj" | b"stream")) => self.at = begin,
                        Some(Token::Word(_)) => {}
                        None => return None,
                    }
                }
                Some(Token::Word(b">>")) => return Some(dict),
                Some(Token::Word(b"endobj" | b"stream")) => return Some(dict),
                Some(_) => {}
                None => return (self.nodes > 0 && self.may_end()).then_some(dict),
            }
        }
    }

    /// Whether nothing is left to read.
    fn may_end(&self) -> bool {
        self.at >= self.bytes.len()
    }

    fn name(&mut self) -> Box<[u8]> {
        self.advance(1);
        let raw = self.run(is_regular);
        if !raw.contains(&b'#') {
            return raw.into();
        }
        let mut name = Vec::with_capacity(raw.len());
        let mut rest = raw;
        while let Some((&first, after)) = rest.split_first() {
            rest = after;
            let escape = match (first, after) {
                (b'#', [high, low, after @ ..]) => {
                    digit(*high).zip(digit(*low)).map(|digits| (digits, after))
                }
                _ => None,
            };
            match escape {
                Some(((high, low), after)) => {
                    name.push(high << 4 | low);
                    rest = after;
                }
                None => name.push(first),
            }
        }
        name.into()
    }

    fn hexadecimal_string(&mut self) -> Box<[u8]> {
        self.advance(1);
        let mut string = Vec::new();
        let mut high = None;
        while let Some(byte) = self.peek() {
            self.advance(1);
            match (byte, digit(byte)) {
                (b'>', _) => break,
                (_, Some(value)) => match high.take() {
                    Some(high) => string.push(high << 4 | value),
                    None => high = Some(value),
                },
                _ => {}
            }
        }
        string.extend(high.map(|high| high << 4));
        string.into()
    }

    fn literal_string(&mut self) -> Box<[u8]> {
        self.advance(1);
        let mut string = Vec::new();
        let mut open = 1_usize;
        while let Some(byte) = self.peek() {
            self.advance(1);
            match byte {
                b'\\' => {
                    string.extend(self.escape());
                    continue;
                }
                b'(' => open = open.saturating_add(1),
                b')' => open = open.saturating_sub(1),
                b'\r' => {
                    if self.peek() == Some(b'\n') {
                        self.advance(1);
                    }
                    string.push(b'\n');
                    continue;
                }
                _ => {}
            }
            if open == 0 {
                break;
            }
            string.push(byte);
        }
        string.into()
    }

    /// What follows a backslash.
    fn escape(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.advance(1);
        match byte {
            b'n' => Some(b'\n'),
            b'r' => Some(b'\r'),
            b't' => Some(b'\t'),
            b'b' => Some(8),
            b'f' => Some(12),
            b'0'..=b'7' => {
                let mut code = byte & 7;
                for _ in 0..2 {
                    match self.peek() {
                        Some(next @ b'0'..=b'7') => {
                            // The highest bit of three digits is ignored (7.3.4.2).
                            code = code << 3 | (next & 7);
                            self.advance(1);
                        }
                        _ => break,
                    }
                }
                Some(code)
            }
            b'\r' => {
                if self.peek() == Some(b'\n') {
                    self.advance(1);
                }
                None
            }
            b'\n' => None,
            other => Some(other),
        }
    }

    /// A number or, in a file, a reference. What is no number at all is 0.
    fn number(&mut self) -> Object {
        let text = self.run(is_regular);
        let Some(integer) = integer(text) else {
            return Object::Real(real(text));
        };
        if self.place == Place::File
            && let Ok(number) = u32::try_from(integer)
            && self.is_reference()
        {
            return Object::Reference(number);
        }
        Object::Integer(integer)
    }

    /// Whether a generation and `R` follow; then they are passed.
    fn is_reference(&mut self) -> bool {
        let begin = self.at;
        self.skip_space();
        let generation = self.run(|byte| byte.is_ascii_digit());
        if (1..=5).contains(&generation.len()) {
            self.skip_space();
            if self.run(is_regular) == b"R" {
                return true;
            }
        }
        self.at = begin;
        false
    }
}

/// A whole number in decimal digits.
fn integer(text: &[u8]) -> Option<i64> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

/// Sign, digits and one point, as far as they go.
fn real(text: &[u8]) -> f64 {
    let signs = text.iter().take_while(|byte| matches!(byte, b'+' | b'-'));
    let negative = signs.clone().any(|byte| *byte == b'-');
    let digits = text.get(signs.count()..).unwrap_or_default();
    let mut point = false;
    let length = digits
        .iter()
        .take_while(|byte| {
            byte.is_ascii_digit() || (**byte == b'.' && !std::mem::replace(&mut point, true))
        })
        .count();
    let digits = digits.get(..length.min(64)).unwrap_or_default();
    let value: f64 = std::str::from_utf8(digits)
        .ok()
        .and_then(|digits| digits.parse().ok())
        .unwrap_or(0.0);
    if negative { -value } else { value }
}

/// The value of a hexadecimal digit.
pub(super) fn digit(byte: u8) -> Option<u8> {
    char::from(byte)
        .to_digit(16)
        .and_then(|digit| u8::try_from(digit).ok())
}

/// 7.2.3, table 1.
pub(super) fn is_space(byte: u8) -> bool {
    matches!(byte, 0 | b'\t' | b'\n' | 12 | b'\r' | b' ')
}

/// Neither white space nor a delimiter.
pub(super) fn is_regular(byte: u8) -> bool {
    !is_space(byte)
        && !matches!(
            byte,
            b'(' | b')' | b'<' | b'>' | b'[' | b']' | b'{' | b'}' | b'/' | b'%'
        )
}
