//! The difference of two texts of which one stretch of lines has changed, for people.

use std::fmt::Write;

/// Lines shown around the change.
const CONTEXT: usize = 3;

/// The changed lines with `-` and `+`, and some around them.
#[must_use]
pub fn diff(before: &str, after: &str) -> String {
    let (old, new): (Vec<_>, Vec<_>) = (before.lines().collect(), after.lines().collect());
    let common = |pairs: &mut dyn Iterator<Item = (&&str, &&str)>| {
        pairs.take_while(|(one, other)| one == other).count()
    };
    let head = common(&mut old.iter().zip(&new));
    let most = old.len().min(new.len()).saturating_sub(head);
    let tail = common(&mut old.iter().rev().zip(new.iter().rev())).min(most);
    let (old_end, new_end) = (
        old.len().saturating_sub(tail),
        new.len().saturating_sub(tail),
    );
    let mut text = String::new();
    let mut show = |mark: char, lines: &[&str]| {
        for line in lines {
            let plain: String = line.chars().filter(|one| !one.is_control()).collect();
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{mark} {plain}");
        }
    };
    let part = |lines: &[&str], from: usize, to: usize| -> Vec<String> {
        let taken = lines.iter().take(to).skip(from);
        taken.map(|line| (*line).to_owned()).collect()
    };
    let mut shown = |mark: char, lines: Vec<String>| {
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        show(mark, &lines);
    };
    shown(' ', part(&old, head.saturating_sub(CONTEXT), head));
    shown('-', part(&old, head, old_end));
    shown('+', part(&new, head, new_end));
    shown(' ', part(&new, new_end, new_end.saturating_add(CONTEXT)));
    text
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
}
