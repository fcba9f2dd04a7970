//! Text that a tool printed or a stranger wrote: blank, cleaned, cut.

/// Whether a text has only characters with the Unicode property White_Space, or none.
#[must_use]
pub fn is_blank(text: &str) -> bool {
    text.chars().all(char::is_whitespace)
}

/// Unicode scalar values of a description.
const MAX_CHARACTERS: usize = 1_024;

/// What ends a help text that was cut.
const INDICATOR: &str = "... (Run with --help for full usage)";

/// The text that a tool printed: lossy UTF-8, LF for CRLF, no CSI sequences, no white space at the ends.
///
/// Other control characters stay: they are escaped wherever the text is written.
#[must_use]
pub fn clean(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let mut clean = String::with_capacity(text.len());
    let mut rest = &*text;
    while let Some(position) = rest.find(['\r', '\u{1b}']) {
        let (before, special) = rest.split_at(position);
        clean.push_str(before);
        rest = match (special.strip_prefix("\r\n"), after_csi(special)) {
            (Some(_), _) => special.strip_prefix('\r').unwrap_or_default(),
            (None, Some(after)) => after,
            (None, None) => {
                let mut characters = special.chars();
                clean.extend(characters.next());
                characters.as_str()
            }
        };
    }
    clean.push_str(rest);
    let trimmed = clean.trim();
    if trimmed.len() == clean.len() {
        clean
    } else {
        trimmed.to_owned()
    }
}

/// What follows a CSI sequence at the beginning: `ESC [`, any of `0-9 ; ?`, any of U+0020 to U+002F, one of
/// U+0040 to U+007E.
fn after_csi(text: &str) -> Option<&str> {
    text.strip_prefix("\u{1b}[")?
        .trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, ';' | '?'))
        .trim_start_matches(|c| ('\u{20}'..='\u{2f}').contains(&c))
        .strip_prefix(|c| ('\u{40}'..='\u{7e}').contains(&c))
}

/// For `--description`: the first 1024 Unicode scalar values.
#[must_use]
pub fn first_characters(text: &str) -> &str {
    split_characters(text, MAX_CHARACTERS).map_or(text, |(first, _)| first)
}

/// For `--help`: a text of more than 1024 Unicode scalar values is its first 988 and a remark.
#[must_use]
pub fn first_characters_with_indicator(text: &str) -> String {
    if split_characters(text, MAX_CHARACTERS).is_none() {
        return text.to_owned();
    }
    let kept = MAX_CHARACTERS.saturating_sub(INDICATOR.len());
    let first = split_characters(text, kept).map_or(text, |(first, _)| first);
    format!("{first}{INDICATOR}")
}

/// The first `count` characters and the rest; none if there are no more than that.
fn split_characters(text: &str, count: usize) -> Option<(&str, &str)> {
    let (position, _) = text.char_indices().nth(count)?;
    text.split_at_checked(position)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn blank_is_white_space_only() {
        assert!(is_blank("") && is_blank(" \t\u{a0}\u{2003}\n"));
        assert!(!is_blank("\u{200b}") && !is_blank("a"));
    }

    #[test]
    fn clean_up_in_order() {
        let cases: [(&[u8], &str); 10] = [
            (b" Does it.\r\n", "Does it."),
            (b"a\r\nb\rc", "a\nb\rc"),
            (b"\x1b[1;31mred\x1b[0m", "red"),
            (b"\x1b[?25l\x1b[2 qx", "x"),
            (b"\x1b[\x1b[mx", "\u{1b}[x"),
            (b"a\x1b]0;title\x07b", "a\u{1b}]0;title\u{7}b"),
            (b"a\x1b[1", "a\u{1b}[1"),
            (b"a\xffb", "a\u{FFFD}b"),
            (b"\x1b[0m \x1b[0m", ""),
            (b"\xc2\xa0x\x00", "x\0"),
        ];
        for (bytes, expected) in cases {
            assert_eq!(clean(bytes), expected);
        }
    }

    #[test]
    fn characters_are_unicode_scalar_values() {
        let exact = "é".repeat(1024);
        assert_eq!(first_characters(&exact), exact);
        assert_eq!(first_characters_with_indicator(&exact), exact);
        let more = "é".repeat(1025);
        assert_eq!(first_characters(&more), exact);
        let cut = first_characters_with_indicator(&more);
        assert_eq!(cut.chars().count(), 1024);
        assert_eq!(cut, format!("{}{INDICATOR}", "é".repeat(988)));
    }

    proptest! {
        #[test]
        fn clean_up_never_panics_and_leaves_no_white_space_outside(bytes: Vec<u8>) {
            let text = clean(&bytes);
            prop_assert_eq!(text.trim(), text.as_str());
        }
    }
}
