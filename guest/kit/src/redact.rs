//! Text that was gathered, made fit to be shown: no invisible characters, no secrets.
//!
//! Cleaning comes first, so that no control character can hide a secret. Both are linear in the text.

mod secret;

pub use secret::secrets;

/// Whether a character changes how its neighbours are shown, or is shown as nothing: control characters, bidirectional
/// marks, embeddings, overrides and isolates, Unicode tag characters.
#[must_use]
pub fn is_invisible(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{61C}' | '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}'
            | '\u{E0000}'..='\u{E007F}')
}

/// A text in one line, without invisible characters and secrets: white space becomes single spaces, and three backticks `'''`.
#[must_use]
pub fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_whitespace() {
            if !line.is_empty() && !line.ends_with(' ') {
                line.push(' ');
            }
        } else if !is_invisible(c) {
            line.push(c);
        }
    }
    line.truncate(line.trim_end().len());
    secrets(&line).replace("```", "'''")
}

/// The first `most` characters, and `mark` if there are more.
#[must_use]
pub fn cut(text: &str, most: usize, mark: &str) -> String {
    match text.char_indices().nth(most) {
        Some((at, _)) => format!("{}{mark}", crate::cut::at_bytes(text, at)),
        None => text.to_owned(),
    }
}

/// [`one_line`] of the beginning of a text that may be long, cut to `most` characters and `mark`. More is looked at than is
/// kept, so that a secret across the cut is seen whole.
#[must_use]
pub fn excerpt(text: &str, most: usize, mark: &str) -> String {
    const LOOK_AT_BYTES: usize = 16_384;
    cut(
        &one_line(crate::cut::at_bytes(text, LOOK_AT_BYTES)),
        most,
        mark,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invisible_characters_go() {
        let text = "a\0b\u{1b}[1m\tc\r\nd\u{202e}e\u{2066}f\u{200f}g\u{e0041}\u{e007f}h\u{85}";
        assert_eq!(one_line(text), "ab[1m c defgh");
    }

    #[test]
    fn an_invisible_character_does_not_hide_a_secret() {
        let text = format!("gh\u{202e}p_{}", "a1".repeat(18));
        assert_eq!(one_line(&text), "[REDACTED:token]");
    }

    #[test]
    fn one_line_has_no_fence_and_no_break() {
        assert_eq!(one_line(" a\r\n\t b\u{2028}c ````x "), "a b c '''`x");
        assert_eq!(one_line("\n \0"), "");
    }

    #[test]
    fn texts_are_cut_between_characters() {
        assert_eq!(cut("héllo", 2, "..."), "hé...");
        assert_eq!(cut("hé", 2, "..."), "hé");
        assert_eq!(cut("x", 0, "…"), "…");
    }

    #[test]
    fn a_secret_across_the_cut_is_not_shown_in_part() {
        let text = format!("see ghp_{} now", "a1".repeat(18));
        assert_eq!(excerpt(&text, 12, "..."), "see [REDACTE...");
    }
}
