//! Cutting text at a limit of bytes, between characters.

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
    // A sequence goes on behind the limit, or nothing was cut in two.
    if bytes.get(most).is_none_or(|byte| byte & 0xC0 != 0x80) {
        return kept;
    }
    let is_incomplete = |(_, tail): &(&[u8], &[u8])| {
        std::str::from_utf8(tail)
            .is_err_and(|error| error.valid_up_to() == 0 && error.error_len().is_none())
    };
    (1..=3)
        .filter_map(|length| kept.split_at_checked(kept.len().checked_sub(length)?))
        .find(is_incomplete)
        .map_or(kept, |(complete, _)| complete)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_character_is_split() {
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
    fn a_character_that_was_never_whole_is_kept() {
        assert_eq!(utf8_at_bytes(b"a\xC3", 2), b"a\xC3");
        assert_eq!(utf8_at_bytes(b"a\xC3b", 2), b"a\xC3");
    }

    #[test]
    fn bytes_that_are_no_text_are_cut_where_the_limit_is() {
        for bytes in [
            &b"\x80\x80\x80\x80\x80"[..],
            b"\xff\x80\x80",
            b"\xc3\xa9\x80\x80",
        ] {
            assert_eq!(utf8_at_bytes(bytes, 2), &bytes[..2]);
        }
    }
}
