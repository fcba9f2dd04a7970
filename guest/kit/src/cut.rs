//! Cutting text at a limit of bytes, between characters (TS-08).

/// The longest beginning of at most `most` bytes that ends between characters.
#[must_use]
pub fn at_bytes(text: &str, most: usize) -> &str {
    text.get(..text.floor_char_boundary(most)).unwrap_or(text)
}

/// The longest beginning of at most `most` bytes that ends between characters of UTF-8, of bytes that need not be
/// valid: up to three bytes of a sequence that `most` would split are left out.
#[must_use]
pub fn utf8_at_bytes(bytes: &[u8], most: usize) -> &[u8] {
    let Some(kept) = bytes.get(..most) else {
        return bytes;
    };
    let continues = |byte: Option<&u8>| byte.is_some_and(|byte| byte & 0xC0 == 0x80);
    if !continues(bytes.get(most)) {
        return kept;
    }
    // What begins the sequence that goes on behind the limit, if one does, is one of the last three bytes.
    for back in 1..=3_usize {
        let Some(at) = most.checked_sub(back) else {
            return kept;
        };
        match bytes.get(at) {
            byte if continues(byte) => {}
            Some(lead) => {
                let length = match lead {
                    0xC2..=0xDF => 2,
                    0xE0..=0xEF => 3,
                    0xF0..=0xF4 => 4,
                    _ => return kept,
                };
                return if length > back {
                    bytes.get(..at).unwrap_or(kept)
                } else {
                    kept
                };
            }
            None => return kept,
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ts_08_no_character_is_split() {
        let text = "aé€🧗";
        for (most, expected) in [
            (0, ""),
            (1, "a"),
            (2, "a"),
            (3, "aé"),
            (5, "aé"),
            (6, "aé€"),
            (9, "aé€"),
            (10, text),
            (99, text),
        ] {
            assert_eq!(at_bytes(text, most), expected, "{most}");
            assert_eq!(
                utf8_at_bytes(text.as_bytes(), most),
                expected.as_bytes(),
                "{most}"
            );
        }
    }

    #[test]
    fn ts_08_bytes_that_are_no_text_are_cut_where_the_limit_is() {
        for bytes in [
            &b"\x80\x80\x80\x80\x80"[..],
            b"\xff\x80\x80",
            b"\xc3\xa9\x80\x80",
        ] {
            assert_eq!(utf8_at_bytes(bytes, 2), &bytes[..2]);
        }
    }
}
