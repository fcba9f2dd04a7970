//! Bytes to text, and where the first byte is that is none.

use std::borrow::Cow;
use std::str::Utf8Error;

use kit::charset::End;

use crate::encoding::Encoding;

/// Bytes that are looked at before the question whether one was NUL: as a whole they are compared as vectors.
const BLOCK: usize = 4_096;

/// What windows-1252 has from 0x80 on, where ISO-8859-1 has control characters; as the WHATWG Encoding Standard has it.
#[rustfmt::skip]
const WINDOWS_1252: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8D}', 'Ž', '\u{8F}',
    '\u{90}', '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9D}', 'ž', 'Ÿ',
];

/// A text, and the bytes that it stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Decoded<'a> {
    pub(crate) text: Cow<'a, str>,
    /// Less than there were when the window cuts a character.
    pub(crate) bytes: usize,
    pub(crate) encoding: Encoding,
}

impl Decoded<'_> {
    /// Of a window that ends within the byte order mark.
    pub(crate) fn nothing(encoding: Encoding) -> Self {
        Self {
            text: Cow::Borrowed(""),
            bytes: 0,
            encoding,
        }
    }
}

/// Why bytes are not a text that is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// There is a NUL where text has none.
    Binary,
    /// The byte order mark is that of UTF-32.
    Utf32,
    /// A byte is not of the encoding.
    Malformed { encoding: Encoding, offset: usize },
}

impl Fault {
    pub(crate) fn malformed(encoding: Encoding, offset: usize) -> Self {
        Self::Malformed { encoding, offset }
    }

    /// The same where `bytes` more come before.
    pub(crate) fn after(self, bytes: usize) -> Self {
        match self {
            Self::Malformed { encoding, offset } => Self::Malformed {
                encoding,
                offset: offset.saturating_add(bytes),
            },
            other => other,
        }
    }
}

/// Decodes what follows the byte order mark. Without an encoding it is UTF-8 if it can be, else ISO-8859-1. Of a
/// window that is cut, an incomplete last character is left out.
pub(crate) fn decode(
    bytes: &[u8],
    encoding: Option<Encoding>,
    end: End,
) -> Result<Decoded<'_>, Fault> {
    match encoding {
        Some(encoding @ Encoding::Utf16Le) => utf16(bytes, encoding, u16::from_le_bytes, end),
        Some(encoding @ Encoding::Utf16Be) => utf16(bytes, encoding, u16::from_be_bytes, end),
        _ if holds_nul(bytes) => Err(Fault::Binary),
        Some(encoding @ (Encoding::Latin1 | Encoding::Windows1252)) => {
            Ok(single_bytes(bytes, encoding))
        }
        Some(Encoding::Utf8) => {
            utf8(bytes, end).map_err(|error| Fault::malformed(Encoding::Utf8, error.valid_up_to()))
        }
        None => Ok(utf8(bytes, end).unwrap_or_else(|_| single_bytes(bytes, Encoding::Latin1))),
    }
}

/// Whether a text begins within a character: within a unit of UTF-16, or, where no encoding is given, within a character
/// of UTF-8. `bytes` are those of the file up to the end of the text.
pub(crate) fn begins_within_character(
    bytes: &[u8],
    begin: usize,
    encoding: Option<Encoding>,
    end: End,
) -> bool {
    match (encoding, bytes.get(begin)) {
        (Some(Encoding::Utf16Le | Encoding::Utf16Be), Some(_)) => !begin.is_multiple_of(2),
        (None, Some(0x80..=0xBF)) => (1..=3)
            .filter_map(|before| bytes.get(begin.checked_sub(before)?..))
            .any(|bytes| utf8(bytes, end).is_ok()),
        _ => false,
    }
}

fn holds_nul(bytes: &[u8]) -> bool {
    bytes.chunks(BLOCK).any(|block| {
        // Without a way out in between, which would keep it from being done by vectors.
        block.iter().fold(false, |found, byte| found | (*byte == 0))
    })
}

fn utf8(bytes: &[u8], end: End) -> Result<Decoded<'_>, Utf8Error> {
    let text = match simdutf8::basic::from_utf8(bytes) {
        Ok(text) => text,
        // Only where it is wrong is it asked where.
        Err(_) => match std::str::from_utf8(bytes) {
            Err(error) if end == End::Cut && error.error_len().is_none() => {
                std::str::from_utf8(bytes.get(..error.valid_up_to()).unwrap_or_default())?
            }
            outcome => outcome?,
        },
    };
    Ok(Decoded {
        text: Cow::Borrowed(text),
        bytes: text.len(),
        encoding: Encoding::Utf8,
    })
}

/// One character for each byte.
fn single_bytes(bytes: &[u8], encoding: Encoding) -> Decoded<'_> {
    let character = |byte: u8| match byte.checked_sub(0x80) {
        Some(at) if encoding == Encoding::Windows1252 => {
            let known = WINDOWS_1252.get(usize::from(at)).copied();
            known.unwrap_or(char::from(byte))
        }
        _ => char::from(byte),
    };
    Decoded {
        text: if bytes.is_ascii() {
            String::from_utf8_lossy(bytes)
        } else {
            Cow::Owned(bytes.iter().copied().map(character).collect())
        },
        bytes: bytes.len(),
        encoding,
    }
}

fn utf16(
    bytes: &[u8],
    encoding: Encoding,
    unit: fn([u8; 2]) -> u16,
    end: End,
) -> Result<Decoded<'static>, Fault> {
    let (units, odd) = bytes.as_chunks::<2>();
    let units = match units.split_last() {
        Some((&last, rest)) if end == End::Cut && (0xD800..0xDC00).contains(&unit(last)) => rest,
        _ => units,
    };
    let mut text = String::with_capacity(bytes.len());
    let mut offset = 0_usize;
    for decoded in char::decode_utf16(units.iter().copied().map(unit)) {
        let character = decoded.map_err(|_| Fault::malformed(encoding, offset))?;
        offset = offset.saturating_add(character.len_utf16().saturating_mul(2));
        text.push(character);
    }
    if !odd.is_empty() && end == End::Whole {
        return Err(Fault::malformed(encoding, offset));
    }
    Ok(Decoded {
        text: Cow::Owned(text),
        bytes: offset,
        encoding,
    })
}
