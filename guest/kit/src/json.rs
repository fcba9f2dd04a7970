//! Writing JSON by hand: strings with the escapes of J-02, straight into one output.
//!
//! J-02 is the escaping of RFC 8785 (JSON Canonicalization Scheme), which is also valid inside a YAML 1.2
//! double-quoted scalar (LF-03).

/// Appends `text` as a JSON string, quotes included.
pub fn write_string(out: &mut Vec<u8>, text: &str) {
    out.reserve(text.len().saturating_add(2));
    out.push(b'"');
    let mut rest = text.as_bytes();
    loop {
        let (plain, tail) = rest.split_at(plain_prefix(rest));
        out.extend_from_slice(plain);
        let Some((byte, tail)) = tail.split_first() else {
            break;
        };
        write_escape(out, *byte);
        rest = tail;
    }
    out.push(b'"');
}

/// How many bytes at the beginning need no escape.
///
/// Most of an answer is content, and most of it is plain: it is looked at eight bytes at a time.
fn plain_prefix(bytes: &[u8]) -> usize {
    let (words, _) = bytes.as_chunks::<8>();
    let plain_words = words
        .iter()
        .take_while(|word| !holds_escape(u64::from_ne_bytes(**word)))
        .count();
    let plain = plain_words.saturating_mul(8);
    let rest = bytes.get(plain..).unwrap_or_default();
    let more = rest.iter().position(|byte| needs_escape(*byte));
    plain.saturating_add(more.unwrap_or(rest.len()))
}

/// Whether any of eight bytes needs an escape: is below 0x20, or zero once `"` or `\` is taken from it.
fn holds_escape(word: u64) -> bool {
    const ONES: u64 = u64::MAX / 255;
    const HIGH: u64 = ONES * 0x80;
    let any_below = |word: u64, limit: u64| word.wrapping_sub(ONES * limit) & !word & HIGH;
    let found = any_below(word, 0x20)
        | any_below(word ^ (ONES * 0x22), 1)
        | any_below(word ^ (ONES * 0x5C), 1);
    found != 0
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

/// Appends a JSON array of strings.
pub fn write_strings<'a>(out: &mut Vec<u8>, texts: impl IntoIterator<Item = &'a str>) {
    out.push(b'[');
    for (position, text) in texts.into_iter().enumerate() {
        if position > 0 {
            out.push(b',');
        }
        write_string(out, text);
    }
    out.push(b']');
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
    fn j_02_escapes_are_the_short_ones_and_lower_case_hex() {
        assert_eq!(
            written("\"\\\u{8}\u{c}\n\r\t\0\u{1f}\u{b}"),
            r#""\"\\\b\f\n\r\t\u0000\u001f\u000b""#
        );
    }

    #[test]
    fn j_02_every_other_character_is_literal() {
        assert_eq!(written("/\u{7f}\u{2028}é🧗"), "\"/\u{7f}\u{2028}é🧗\"");
        assert_eq!(written(""), "\"\"");
    }

    #[test]
    fn j_02_an_escape_is_seen_at_every_place_of_a_word() {
        for byte in 0..=0x7F_u8 {
            for place in 0..24 {
                let mut text = "é234567890123456789012345".to_owned();
                text.insert(text.floor_char_boundary(place), char::from(byte));
                let back: String = serde_json::from_str(&written(&text)).unwrap();
                assert_eq!(back, text, "{byte:#x} at {place}");
            }
        }
    }

    #[test]
    fn arrays_are_compact() {
        let mut out = Vec::new();
        write_strings(&mut out, []);
        write_strings(&mut out, ["a", "b"]);
        assert_eq!(out, b"[][\"a\",\"b\"]");
    }

    proptest! {
        #[test]
        fn strings_round_trip(text in any::<String>()) {
            let back: String = serde_json::from_str(&written(&text)).unwrap();
            prop_assert_eq!(back, text);
        }
    }
}
