//! How text of unknown origin is shown.
//!
//! A name or a path that a stranger chose must not move the cursor, add a line to a report or fill a screen.

use std::path::Path;

/// Characters of foreign text that a message repeats at most.
const MAX_SHOWN: usize = 200;

/// `text` with every character outside U+0020 to U+007E as `\u{…}`.
#[must_use]
pub fn escaped(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        if matches!(character, ' '..='~') {
            shown.push(character);
        } else {
            shown.extend(character.escape_unicode());
        }
    }
    shown
}

/// [`escaped`] and cut, for messages.
pub fn excerpt(text: &str) -> String {
    match text.char_indices().nth(MAX_SHOWN) {
        Some((end, _)) => format!("{}...", escaped(text.get(..end).unwrap_or_default())),
        None => escaped(text),
    }
}

/// A path for a message; it is never cut, since it says where.
pub fn escaped_path(path: &Path) -> String {
    escaped(&path.to_string_lossy())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_printable_ascii_is_shown_as_it_is() {
        assert_eq!(escaped("a b~\"\\"), "a b~\"\\");
        assert_eq!(
            escaped("\n\u{7f}\u{e9}\u{1f600}"),
            r"\u{a}\u{7f}\u{e9}\u{1f600}"
        );
    }

    #[test]
    fn a_long_text_is_cut_between_characters() {
        let long = "\u{e9}".repeat(201);
        assert_eq!(excerpt(&long), format!("{}...", r"\u{e9}".repeat(200)));
        assert_eq!(excerpt(&"x".repeat(200)), "x".repeat(200));
    }
}
