//! The difference of two texts of which one stretch of lines has changed, for people.

use std::fmt::Write;
use std::ops::Range;

use hydrant_base::escaped;

/// Lines shown around the change.
const CONTEXT: usize = 3;
/// Characters of a line that are shown where nothing changes.
const WIDTH: usize = 160;

/// The changed lines with `-` and `+`, and some around them.
///
/// Nothing in them moves a terminal's cursor. Of a long line, as a file without line ends is, what does not change is cut.
#[must_use]
pub(super) fn diff(before: &str, after: &str) -> String {
    let (old, new): (Vec<_>, Vec<_>) = (before.lines().collect(), after.lines().collect());
    let head = common(&mut old.iter().zip(&new));
    let most = old.len().min(new.len()).saturating_sub(head);
    let tail = common(&mut old.iter().rev().zip(new.iter().rev())).min(most);
    let part = |lines: &[&str], range: Range<usize>| -> Vec<String> {
        let lines = lines.get(range).unwrap_or_default();
        lines.iter().map(|line| (*line).to_owned()).collect()
    };
    let cut = |lines: Vec<String>| -> Vec<String> {
        let cut = |line: &String| match line.char_indices().nth(WIDTH) {
            Some((end, _)) => format!("{}...", line.get(..end).unwrap_or_default()),
            None => line.clone(),
        };
        lines.iter().map(cut).collect()
    };
    let (old_end, new_end) = (
        old.len().saturating_sub(tail),
        new.len().saturating_sub(tail),
    );
    let after_end = new_end.saturating_add(CONTEXT).min(new.len());
    let (removed, added) = narrowed(part(&old, head..old_end), part(&new, head..new_end));
    let mut text = String::new();
    for (mark, lines) in [
        (' ', cut(part(&old, head.saturating_sub(CONTEXT)..head))),
        ('-', removed),
        ('+', added),
        (' ', cut(part(&new, new_end..after_end))),
    ] {
        for line in lines {
            let parts: Vec<_> = line.split('\t').map(escaped).collect();
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{mark} {}", parts.join("\t"));
        }
    }
    text
}

fn common<T: PartialEq>(pairs: &mut dyn Iterator<Item = (T, T)>) -> usize {
    pairs.take_while(|(one, other)| one == other).count()
}

/// Long lines without what they have in common at their ends, where one line changes.
fn narrowed(old: Vec<String>, new: Vec<String>) -> (Vec<String>, Vec<String>) {
    let ([one], [other]) = (old.as_slice(), new.as_slice()) else {
        return (old, new);
    };
    let (one, other): (Vec<_>, Vec<_>) = (one.chars().collect(), other.chars().collect());
    let most = one.len().min(other.len());
    let head = common(&mut one.iter().zip(&other));
    let tail = common(&mut one.iter().rev().zip(other.iter().rev())).min(most.saturating_sub(head));
    let shown = |line: &[char]| -> Vec<String> {
        if line.len() <= WIDTH {
            return vec![line.iter().collect()];
        }
        let kept = WIDTH / 4;
        let start = head.saturating_sub(kept);
        let end = line.len().saturating_sub(tail.saturating_sub(kept));
        let text: String = line.get(start..end).unwrap_or_default().iter().collect();
        let [before, after] = [start > 0, end < line.len()].map(|cut| if cut { "..." } else { "" });
        vec![format!("{before}{text}{after}")]
    };
    (shown(&one), shown(&other))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_shown_with_the_lines_around_it() {
        assert_eq!(
            diff("1\n2\n3\n4\n5\n6\n7\n8\n", "1\n2\n3\n4\nX\nY\n6\n7\n8\n"),
            "  2\n  3\n  4\n- 5\n+ X\n+ Y\n  6\n  7\n  8\n"
        );
        assert_eq!(diff("", "a\n"), "+ a\n");
        assert_eq!(diff("a\na\n", "a\n"), "  a\n- a\n");
        assert_eq!(diff("a\n", "a\n"), "  a\n");
    }

    #[test]
    fn a_long_line_is_shown_around_its_change() {
        let (before, after) = ("x".repeat(1000), "y".repeat(1000));
        let shown = diff(&format!("{before}{after}"), &format!("{before}new{after}"));
        let (x, y) = ("x".repeat(40), "y".repeat(40));
        assert_eq!(shown, format!("- ...{x}{y}...\n+ ...{x}new{y}...\n"));
    }

    #[test]
    fn nothing_that_a_terminal_obeys_comes_through() {
        let shown = diff("", "a\t\u{1b}[2J\u{202e}b");
        assert_eq!(shown, "+ a\t\\u{1b}[2J\\u{202e}b\n");
    }
}
