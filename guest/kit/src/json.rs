//! Writing responses in JSON, and long strings fast.

use serde::Serialize;

use crate::SkillError;

/// Writes a response.
///
/// # Errors
/// `internal` for a value that JSON cannot hold.
pub fn response(response: &impl Serialize) -> Result<Vec<u8>, SkillError> {
    serde_json::to_vec(response).map_err(|error| SkillError::new("internal", &error.to_string()))
}

/// Bytes that are looked at together: one vector.
const BLOCK: usize = 16;

/// Appends `text` as a JSON string, quotes included, with the escapes of RFC 8785 (JSON Canonicalization Scheme).
pub fn write_string(out: &mut Vec<u8>, text: &str) {
    // Room for the escapes of an ordinary text.
    out.reserve(
        text.len()
            .saturating_add(text.len() / 16)
            .saturating_add(BLOCK),
    );
    out.push(b'"');
    let mut rest = text.as_bytes();
    // Most of an answer is content, and most of it is plain. A block is appended before it is known to be: of a whole
    // one the length is known, so that it takes no call.
    while let Some((block, behind)) = rest.split_first_chunk::<BLOCK>() {
        out.extend_from_slice(block);
        let plain = plain_prefix(block);
        rest = match block.get(plain) {
            None => behind,
            Some(byte) => {
                out.truncate(out.len().saturating_sub(BLOCK).saturating_add(plain));
                write_escape(out, *byte);
                rest.get(plain.saturating_add(1)..).unwrap_or_default()
            }
        };
    }
    for byte in rest {
        if needs_escape(*byte) {
            write_escape(out, *byte);
        } else {
            out.push(*byte);
        }
    }
    out.push(b'"');
}

/// How many bytes at the beginning of a block need no escape.
fn plain_prefix(block: &[u8; BLOCK]) -> usize {
    // 16 where there is none.
    usize::try_from((escapes(block) | 1 << BLOCK).trailing_zeros()).unwrap_or(BLOCK)
}

/// A bit for each byte of a block that needs an escape.
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
fn escapes(block: &[u8; BLOCK]) -> u32 {
    use core::arch::wasm32::{u8x16_bitmask, u8x16_eq, u8x16_lt, u8x16_splat, u64x2, v128_or};

    let both = u128::from_le_bytes(*block);
    let [low, high] = [both, both >> 64].map(|half| u64::try_from(half & u128::from(u64::MAX)));
    let bytes = u64x2(low.unwrap_or_default(), high.unwrap_or_default());
    let control = u8x16_lt(bytes, u8x16_splat(0x20));
    let quote = u8x16_eq(bytes, u8x16_splat(b'"'));
    let backslash = u8x16_eq(bytes, u8x16_splat(b'\\'));
    u32::from(u8x16_bitmask(v128_or(control, v128_or(quote, backslash))))
}

/// The same without vectors.
#[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
fn escapes(block: &[u8; BLOCK]) -> u32 {
    block
        .iter()
        .rev()
        .fold(0, |bits, byte| bits << 1 | u32::from(needs_escape(*byte)))
}

fn needs_escape(byte: u8) -> bool {
    byte < 0x20 || byte == b'"' || byte == b'\\'
}

fn write_escape(out: &mut Vec<u8>, byte: u8) {
    let short = match byte {
        b'"' => b'"',
        b'\\' => b'\\',
        0x08 => b'b',
        0x0C => b'f',
        b'\n' => b'n',
        b'\r' => b'r',
        b'\t' => b't',
        _ => {
            // Only U+0000 to U+001F come here, so the high digit is 0 or 1.
            let low = byte & 0x0F;
            let digit = if low < 10 {
                b'0' + low
            } else {
                b'a' + low - 10
            };
            out.extend_from_slice(b"\\u00");
            out.push(b'0' + (byte >> 4));
            out.push(digit);
            return;
        }
    };
    out.extend_from_slice(&[b'\\', short]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn written(text: &str) -> String {
        let mut out = Vec::new();
        write_string(&mut out, text);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn escapes_are_the_short_ones_and_lower_case_hex() {
        assert_eq!(
            written("\"\\\u{8}\u{c}\n\r\t\0\u{1f}\u{b}"),
            r#""\"\\\b\f\n\r\t\u0000\u001f\u000b""#
        );
    }

    #[test]
    fn every_other_character_is_literal() {
        assert_eq!(written("/\u{7f}\u{2028}é🧗"), "\"/\u{7f}\u{2028}é🧗\"");
        assert_eq!(written(""), "\"\"");
    }

    #[test]
    fn an_escape_is_seen_at_every_place_of_a_block() {
        for byte in 0..=0x7F_u8 {
            for place in 0..40 {
                let mut text = "é23456789012345678901234567890123456789012".to_owned();
                text.insert(text.floor_char_boundary(place), char::from(byte));
                let back: String = serde_json::from_str(&written(&text)).unwrap();
                assert_eq!(back, text, "{byte:#x} at {place}");
            }
        }
    }

    proptest! {
        #[test]
        fn strings_round_trip(text in any::<String>()) {
            let back: String = serde_json::from_str(&written(&text)).unwrap();
            prop_assert_eq!(back, text);
        }
    }
}
