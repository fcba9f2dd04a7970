//! In which encoding a text from elsewhere is, and reading it.
//!
//! What the bytes begin with decides before what is said about them, and what the sender says before what the
//! text says of itself. Encodings and their labels are those of the WHATWG Encoding Standard. Reading replaces
//! what is malformed by U+FFFD and never fails.

mod declared;

use std::borrow::Cow;

use encoding_rs::{CoderResult, Encoding, REPLACEMENT, UTF_8, WINDOWS_1252};
use serde_json::json;

use crate::SkillError;

/// Bytes of the longest sequence of any encoding, less one: what a cut may leave of it.
const MAX_INCOMPLETE: usize = 3;

/// Where a text may name its own encoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hint {
    /// In a `<meta>` within the first 1,024 bytes, as HTML does.
    Html,
    /// In an XML declaration.
    Xml,
    /// Nowhere.
    None,
}

/// Whether the bytes at hand are all there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// They are.
    Whole,
    /// They were cut, perhaps within a character: an incomplete last one is left out.
    Cut,
}

/// An encoding, and the length of the byte order mark that names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Charset {
    encoding: &'static Encoding,
    bom: usize,
}

/// A text that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decoded<'a> {
    /// Without the byte order mark; borrowed where the bytes are the text.
    pub text: Cow<'a, str>,
    /// The bytes that text and byte order mark stand for: all of them, unless an incomplete character was left out.
    pub bytes: usize,
}

impl Charset {
    /// The encoding of `bytes`: by their byte order mark, else by `parameter` (the label that came with them),
    /// else by what they say of themselves where `hint` looks, else UTF-8 if they are, else windows-1252.
    ///
    /// A declaration inside the text whose label nobody knows says nothing, as in the HTML Standard.
    ///
    /// # Errors
    /// `unsupported`, with the label as `charset` in its details, when `parameter` is unknown, and for the
    /// encodings that the standard knows and does not read.
    pub fn detect(
        bytes: &[u8],
        end: End,
        parameter: Option<&str>,
        hint: Hint,
    ) -> Result<Self, SkillError> {
        if let Some((encoding, bom)) = Encoding::for_bom(bytes) {
            return Ok(Self { encoding, bom });
        }
        let declared = match (parameter, hint) {
            (Some(label), _) => {
                let known = Encoding::for_label(label.as_bytes());
                Some(known.ok_or_else(|| unsupported(label))?)
            }
            (None, Hint::Html) => declared::by_meta(bytes).or_else(|| declared::by_xml(bytes)),
            (None, Hint::Xml) => declared::by_xml(bytes),
            (None, Hint::None) => None,
        };
        let encoding = match declared {
            Some(encoding) if encoding == REPLACEMENT => {
                return Err(unsupported(parameter.unwrap_or(encoding.name())));
            }
            Some(encoding) => encoding,
            None if is_utf8(bytes, end) => UTF_8,
            None => WINDOWS_1252,
        };
        Ok(Self { encoding, bom: 0 })
    }

    /// Reads the bytes this was detected from.
    #[must_use]
    pub fn decode(self, bytes: &[u8], end: End) -> Decoded<'_> {
        let content = bytes.get(self.bom..).unwrap_or_default();
        let content = match end {
            End::Whole => content,
            End::Cut => self.complete(content),
        };
        let (text, _) = self.encoding.decode_without_bom_handling(content);
        Decoded {
            text,
            bytes: self.bom.saturating_add(content.len()),
        }
    }

    /// What is left of `content` without an incomplete last character.
    ///
    /// Decoders tell by what they answer: a beginning that is read as all there is becomes U+FFFD, and as what may go on
    /// becomes nothing yet.
    fn complete(self, content: &[u8]) -> &[u8] {
        let begun = length_of_text(self.encoding, content, End::Cut);
        (0..=MAX_INCOMPLETE)
            .filter_map(|left_out| content.get(..content.len().checked_sub(left_out)?))
            .find(|kept| length_of_text(self.encoding, kept, End::Whole) == begun)
            .unwrap_or(content)
    }
}

fn unsupported(label: &str) -> SkillError {
    SkillError::new(
        "unsupported",
        &format!("the charset {label} cannot be read"),
    )
    .with_details(json!({ "charset": label }).to_string())
}

/// Whether `bytes` are UTF-8, but for a last character that the cut may have split.
#[must_use]
pub fn is_utf8(bytes: &[u8], end: End) -> bool {
    match std::str::from_utf8(bytes) {
        Ok(_) => true,
        Err(error) => end == End::Cut && error.error_len().is_none(),
    }
}

/// Bytes of UTF-8 that `bytes` are read as, of which nothing is kept.
fn length_of_text(encoding: &'static Encoding, mut bytes: &[u8], end: End) -> usize {
    let mut decoder = encoding.new_decoder_without_bom_handling();
    let mut text = [0; 4_096];
    let mut length = 0_usize;
    loop {
        let last = end == End::Whole;
        let (result, read, written, _) = decoder.decode_to_utf8(bytes, &mut text, last);
        length = length.saturating_add(written);
        bytes = bytes.get(read..).unwrap_or_default();
        if result == CoderResult::InputEmpty {
            return length;
        }
    }
}

#[cfg(test)]
mod tests;
