//! Maps of character codes (ISO 32000-2, 9.7.5 and 9.10.3): to Unicode, or to the glyphs of a composite font.

use std::collections::BTreeMap;

use super::super::document::Document;
use super::super::lexer::{Lexer, Place, Token};
use super::super::object::{Object, Stream};

/// Values of one map at most, and ranges of codes.
const MAX_NODES: usize = 400_000;
const MAX_SPACES: usize = 256;

/// What reading a byte of a map costs, in bytes of objects.
const COST: usize = 4;

/// UTF-16 code units that one code stands for at most.
const MAX_UNITS: usize = 32;

/// A map.
#[derive(Debug, Default)]
pub(super) struct CMap {
    /// How long codes are, and from where to where they go.
    spaces: Vec<(usize, u32, u32)>,
    /// By the first code: the last one, and what the first one is.
    ranges: BTreeMap<u32, (u32, Target)>,
}

/// What a code stands for; the next code of a range stands for the next of it.
#[derive(Debug, Clone)]
enum Target {
    Text(Box<[u16]>),
    Cid(u32),
}

impl CMap {
    /// Reads the map in a stream.
    pub(super) fn read(document: &Document<'_>, stream: &Stream) -> Option<Self> {
        let bytes = document.bytes(stream)?;
        // Many fonts may share a map, and each reads it.
        document.count_read(bytes.len().saturating_mul(COST));
        if document.is_exceeded() {
            return None;
        }
        let mut lexer = Lexer::new(&bytes, 0, Place::Content, MAX_NODES);
        let mut map = Self::default();
        let mut operands = Vec::new();
        while let Some(token) = lexer.token() {
            match token {
                Token::Object(object) => operands.push(object),
                Token::Word(word) => {
                    map.section(word, &operands);
                    operands.clear();
                }
            }
        }
        document.count_nodes(map.ranges.len()).then_some(map)
    }

    fn section(&mut self, word: &[u8], operands: &[Object]) {
        match word {
            b"endcodespacerange" => {
                let (pairs, _) = operands.as_chunks::<2>();
                for [low, high] in pairs {
                    if let (Some((low, length)), Some((high, _))) = (code(low), code(high))
                        && self.spaces.len() < MAX_SPACES
                    {
                        self.spaces.push((length, low, high));
                    }
                }
            }
            b"endbfchar" | b"endcidchar" => {
                let (pairs, _) = operands.as_chunks::<2>();
                for [from, to] in pairs {
                    if let Some((from, _)) = code(from) {
                        self.add(from, from, to);
                    }
                }
            }
            b"endbfrange" | b"endcidrange" => {
                let (triples, _) = operands.as_chunks::<3>();
                for [low, high, to] in triples {
                    if let (Some((low, _)), Some((high, _))) = (code(low), code(high)) {
                        self.add(low, high, to);
                    }
                }
            }
            _ => {}
        }
    }

    fn add(&mut self, low: u32, high: u32, to: &Object) {
        if high < low {
            return;
        }
        let target = match to {
            Object::Array(each) => {
                for (code, to) in (low..=high).zip(each) {
                    if !matches!(to, Object::Array(_)) {
                        self.add(code, code, to);
                    }
                }
                return;
            }
            Object::String(text) => Target::Text(units(text)),
            Object::Integer(cid) => match u32::try_from(*cid) {
                Ok(cid) => Target::Cid(cid),
                Err(_) => return,
            },
            Object::Name(name) => match super::glyphs::text(name) {
                Some(text) => Target::Text(text.encode_utf16().take(MAX_UNITS).collect()),
                None => return,
            },
            _ => return,
        };
        self.ranges.insert(low, (high, target));
    }

    fn find(&self, code: u32) -> Option<(u32, &Target)> {
        let (low, (high, target)) = self.ranges.range(..=code).next_back()?;
        (code <= *high).then(|| (code.saturating_sub(*low), target))
    }

    /// Adds the text of a code; whether there is any.
    pub(super) fn push_text(&self, code: u32, text: &mut String) -> bool {
        let Some((offset, Target::Text(units))) = self.find(code) else {
            return false;
        };
        let Some((last, before)) = units.split_last() else {
            return false;
        };
        let last = last.wrapping_add(u16::try_from(offset).unwrap_or(0));
        let units = before.iter().copied().chain([last]);
        let before = text.len();
        text.extend(char::decode_utf16(units).flatten().filter(|c| *c != '\0'));
        text.len() > before
    }

    /// The number of the glyph of a code.
    pub(super) fn cid(&self, code: u32) -> Option<u32> {
        match self.find(code)? {
            (offset, Target::Cid(first)) => first.checked_add(offset),
            _ => None,
        }
    }

    /// The first code of a string and its length; a code that is in no range has the length of the shortest.
    pub(super) fn code(&self, string: &[u8]) -> Option<(u32, usize)> {
        if string.is_empty() {
            return None;
        }
        let of = |length: usize| string.get(..length).map(number);
        for length in 1..=4 {
            let Some(value) = of(length) else { break };
            let known = |&(long, low, high): &(usize, u32, u32)| {
                long == length && (low..=high).contains(&value)
            };
            if self.spaces.iter().any(known) {
                return Some((value, length));
            }
        }
        let shortest = self
            .spaces
            .iter()
            .map(|(length, ..)| *length)
            .min()
            .unwrap_or(2);
        let length = shortest.clamp(1, string.len());
        Some((of(length)?, length))
    }
}

/// The value and the length of a code.
fn code(object: &Object) -> Option<(u32, usize)> {
    let bytes = object.string()?;
    (1..=4)
        .contains(&bytes.len())
        .then(|| (number(bytes), bytes.len()))
}

fn number(bytes: &[u8]) -> u32 {
    bytes
        .iter()
        .fold(0, |value, byte| value << 8 | u32::from(*byte))
}

/// UTF-16, the most significant byte first; a single byte is a character too.
fn units(bytes: &[u8]) -> Box<[u16]> {
    match bytes {
        [byte] => [u16::from(*byte)].into(),
        _ => {
            let (units, _) = bytes.as_chunks::<2>();
            units
                .iter()
                .take(MAX_UNITS)
                .map(|unit| u16::from_be_bytes(*unit))
                .collect()
        }
    }
}
