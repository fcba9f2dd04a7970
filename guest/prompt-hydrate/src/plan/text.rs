//! One line of a plan: what a stranger wrote, made fit to stand there.

/// Characters of an item, of which there are 200, without its label, of which `CHECKPOINT: ` is the longest.
pub(crate) const MAX_TEXT: usize = 188;
/// Characters of an intent.
pub(crate) const MAX_INTENT: usize = 120;
/// Characters of a slot's text.
pub(crate) const MAX_SLOT: usize = 80;
/// Characters of a line of context.
pub(crate) const MAX_CONTEXT: usize = 160;

/// One line of at most `max` characters: white-space runs are one space, control, direction and tag characters are gone,
/// three or more backticks are `'''`; what is too long ends at a word with `…`.
#[must_use]
pub(crate) fn line(text: &str, max: usize) -> String {
    // Enough for any cut below; a prompt may be megabytes.
    let enough = max.saturating_mul(2).saturating_add(64);
    let mut clean = String::new();
    let mut count = 0_usize;
    let mut ticks = 0_usize;
    let mut space = false;
    for c in text.chars() {
        if c.is_whitespace() {
            space = true;
            continue;
        }
        if is_invisible(c) {
            continue;
        }
        if count > enough {
            break;
        }
        if space && !clean.is_empty() {
            end_ticks(&mut clean, &mut ticks);
            clean.push(' ');
            count = count.saturating_add(1);
        }
        space = false;
        if c == '`' {
            ticks = ticks.saturating_add(1);
            continue;
        }
        end_ticks(&mut clean, &mut ticks);
        clean.push(c);
        count = count.saturating_add(1);
    }
    end_ticks(&mut clean, &mut ticks);
    cut(&clean, max)
}

/// Writes the backticks that were held back.
fn end_ticks(text: &mut String, ticks: &mut usize) {
    match *ticks {
        0..=2 => text.extend(std::iter::repeat_n('`', *ticks)),
        _ => text.push_str("'''"),
    }
    *ticks = 0;
}

/// Control characters, direction marks and overrides, tag characters, joiners that only hide text.
fn is_invisible(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{061c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2060}' | '\u{feff}'
            | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{e0000}'..='\u{e007f}')
}

/// At most `max` characters, cut at a word's end, with `…` in place of the rest.
#[must_use]
pub(crate) fn cut(text: &str, max: usize) -> String {
    if text.chars().nth(max).is_none() {
        return text.to_owned();
    }
    let kept: String = text.chars().take(max.saturating_sub(1)).collect();
    let next_is_space = text
        .chars()
        .nth(max.saturating_sub(1))
        .is_some_and(char::is_whitespace);
    let end = if next_is_space {
        kept.len()
    } else {
        // A word longer than half the line is cut in the middle.
        kept.rfind(' ')
            .filter(|end| end.saturating_mul(2) >= kept.len())
            .unwrap_or(kept.len())
    };
    let kept = kept.get(..end).unwrap_or(&kept);
    let kept = kept.trim_end_matches([' ', ',', ';', ':', '.', '-']);
    format!("{kept}…")
}

/// Length in characters.
#[must_use]
pub(crate) fn length(text: &str) -> usize {
    text.chars().count()
}

/// The first letter in upper case, where that is one letter.
#[must_use]
pub(crate) fn capitalised(text: &str) -> String {
    with_first(text, |first| single(first.to_uppercase()).unwrap_or(first))
}

/// The first letter in lower case, unless the first word is written in capitals or is an identifier.
#[must_use]
pub(crate) fn uncapitalised(text: &str) -> String {
    let word = text.split(' ').next().unwrap_or_default();
    if word.chars().skip(1).any(|c| !c.is_lowercase()) {
        return text.to_owned();
    }
    with_first(text, |first| single(first.to_lowercase()).unwrap_or(first))
}

fn with_first(text: &str, change: impl Fn(char) -> char) -> String {
    let mut chars = text.chars();
    match chars.next() {
        Some(first) => std::iter::once(change(first)).chain(chars).collect(),
        None => String::new(),
    }
}

/// The only item, if there is one: some letters become two, and a text may have no room for that.
fn single(mut chars: impl Iterator<Item = char>) -> Option<char> {
    let first = chars.next();
    first.filter(|_| chars.next().is_none())
}

/// The same text for comparing: one line, lower case.
#[must_use]
pub(crate) fn folded(text: &str) -> String {
    line(text, usize::MAX).to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_line_has_no_controls_breaks_or_fences() {
        assert_eq!(line(" a\r\n\tb\0c\u{202e}d ", 80), "a bcd");
        assert_eq!(line("x ```` y `` z ``\0` w", 80), "x ''' y `` z ''' w");
        assert_eq!(line("a\u{2028}b\u{85}c", 80), "a b c");
        assert_eq!(line("\u{200b}\n", 80), "");
    }

    #[test]
    fn a_long_line_ends_at_a_word() {
        assert_eq!(line("one two three", 9), "one two…");
        assert_eq!(line("one two three", 8), "one two…");
        assert_eq!(line("one two, three", 12), "one two…");
        assert_eq!(line("abcdefghijkl", 6), "abcde…");
        assert_eq!(line("one two", 7), "one two");
    }

    proptest! {
        #[test]
        fn every_line_is_a_line_of_its_length(text in "(\\PC|[\n\r\t\0`{}\u{202e}\u{e0041}]){0,90}", max in 2_usize..90) {
            let line = line(&text, max);
            prop_assert!(length(&line) <= max);
            prop_assert!(!line.contains("```"), "{:?}", line);
            prop_assert!(
                !line.chars().any(|c| is_invisible(c) || (c.is_whitespace() && c != ' ')),
                "{:?}",
                line
            );
        }
    }
}
