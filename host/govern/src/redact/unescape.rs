//! Text as it reads once its escapes are undone, with the places that its bytes came from.
//!
//! Writers differ in which characters they escape. Who looks for a value in what they wrote undoes all escapes first, in time
//! linear in the text. Nothing here says whether a text is well formed: what is no escape stands for itself.

use std::ops::Range;

/// What is undone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Escapes {
    /// `%41`
    Percent,
    /// The same, and `+` for a blank.
    Form,
    /// Those of strings of JSON.
    Json,
    /// Line ends, which writers of base64 put between its characters.
    Lines,
}

impl Escapes {
    /// Whether the value could be in the text with such escapes and not without.
    pub(super) fn may_hide(self, value: &[u8], text: &[u8]) -> bool {
        let has = |mark| memchr::memchr(mark, text).is_some();
        match self {
            Self::Percent => has(b'%'),
            Self::Form => value.contains(&b' ') && has(b'+'),
            Self::Json => has(b'\\'),
            Self::Lines => has(b'\n'),
        }
    }
}

/// The text, read.
pub(super) struct Unescaped {
    pub(super) bytes: Vec<u8>,
    /// Where each byte began in the text, and last where the text ended.
    from: Vec<usize>,
}

impl Unescaped {
    pub(super) fn read(text: &[u8], escapes: Escapes) -> Self {
        let mut read = Self {
            bytes: Vec::with_capacity(text.len()),
            from: Vec::with_capacity(text.len().saturating_add(1)),
        };
        let mut at = 0;
        while let Some((first, rest)) = text.get(at..).and_then(<[u8]>::split_first) {
            let length = match (escapes, first) {
                (Escapes::Percent | Escapes::Form, b'%') => percent(rest).map(|byte| {
                    read.push(at, &[byte]);
                    3
                }),
                (Escapes::Form, b'+') => {
                    read.push(at, b" ");
                    Some(1)
                }
                (Escapes::Lines, b'\r' | b'\n') => Some(1),
                (Escapes::Json, b'\\') => json(rest).map(|(c, length)| {
                    read.push(at, c.encode_utf8(&mut [0; 4]).as_bytes());
                    length
                }),
                _ => None,
            };
            let length = length.unwrap_or_else(|| {
                read.push(at, &[*first]);
                1
            });
            at = at.saturating_add(length);
        }
        read.from.push(text.len());
        read
    }

    fn push(&mut self, at: usize, bytes: &[u8]) {
        for byte in bytes {
            self.bytes.push(*byte);
            self.from.push(at);
        }
    }

    /// Where in the text these bytes were written.
    pub(super) fn source(&self, place: Range<usize>) -> Option<Range<usize>> {
        Some(*self.from.get(place.start)?..*self.from.get(place.end)?)
    }
}

/// The byte of two hexadecimal digits.
fn percent(digits: &[u8]) -> Option<u8> {
    u8::try_from(hexadecimal(digits.get(..2)?)?).ok()
}

/// The character of an escape, from behind its backslash on, and how long it was with that.
fn json(escape: &[u8]) -> Option<(char, usize)> {
    let (kind, rest) = escape.split_first()?;
    let c = match kind {
        b'"' | b'\\' | b'/' => char::from(*kind),
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'u' => {
            let unit = |digits: &[u8]| u16::try_from(hexadecimal(digits.get(..4)?)?).ok();
            let first = unit(rest)?;
            let second = rest
                .get(4..)
                .and_then(|rest| unit(rest.strip_prefix(b"\\u")?));
            let units = [first, second.unwrap_or_default()];
            let one = char::decode_utf16(units).next()?.ok()?;
            return Some((one, one.len_utf16().saturating_mul(6)));
        }
        _ => return None,
    };
    Some((c, 2))
}

fn hexadecimal(digits: &[u8]) -> Option<u32> {
    digits.iter().try_fold(0_u32, |number, digit| {
        let digit = char::from(*digit).to_digit(16)?;
        number.checked_mul(16)?.checked_add(digit)
    })
}
