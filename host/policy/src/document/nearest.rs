//! "Did you mean": the known name that is closest to an unknown one.

/// Names longer than this are not compared; every known name is far shorter.
const LONGEST: usize = 40;

/// The known name that few enough edits lead to: one for three letters, at most three. The first of equals wins.
pub(super) fn nearest(unknown: &str, known: &[&'static str]) -> Option<&'static str> {
    let unknown: Vec<char> = unknown.chars().take(LONGEST + 1).collect();
    if unknown.len() > LONGEST {
        return None;
    }
    known
        .iter()
        .map(|name| (distance(&unknown, name), *name))
        .filter(|(edits, name)| *edits <= (name.chars().count() / 3).clamp(1, 3))
        .min_by_key(|(edits, _)| *edits)
        .map(|(_, name)| name)
}

/// Insertions, deletions, substitutions and swaps of neighbours (optimal string alignment), letter case ignored.
fn distance(unknown: &[char], name: &str) -> usize {
    let width = name.chars().count();
    let mut before_previous: Vec<usize> = Vec::new();
    let mut previous: Vec<usize> = (0..=width).collect();
    let mut last_letter = None;
    for (row, letter) in unknown.iter().map(char::to_ascii_lowercase).enumerate() {
        let mut current = vec![row + 1];
        let mut last_other = None;
        for (column, other) in name.chars().enumerate() {
            let at =
                |line: &[usize], column: usize| line.get(column).copied().unwrap_or(usize::MAX - 1);
            let mut edits = (at(&previous, column) + usize::from(letter != other))
                .min(at(&previous, column + 1) + 1)
                .min(at(&current, column) + 1);
            if last_letter == Some(other) && last_other == Some(letter) {
                edits = edits.min(at(&before_previous, column.wrapping_sub(1)).saturating_add(1));
            }
            current.push(edits);
            last_other = Some(other);
        }
        before_previous = std::mem::replace(&mut previous, current);
        last_letter = Some(letter);
    }
    previous.last().copied().unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: [&str; 6] = ["fs", "net", "exec", "mounts", "trusted_signers", "limits"];

    #[test]
    fn a_slip_of_the_finger_is_recognised() {
        for (unknown, meant) in [
            ("nett", Some("net")),
            ("Net", Some("net")),
            ("ent", Some("net")),
            ("exce", Some("exec")),
            ("mount", Some("mounts")),
            ("trusted-signer", Some("trusted_signers")),
            ("limit", Some("limits")),
            ("volumes", None),
            ("", None),
        ] {
            assert_eq!(nearest(unknown, &KNOWN), meant, "{unknown}");
        }
        assert_eq!(nearest(&"n".repeat(100_000), &KNOWN), None);
    }

    #[test]
    fn distances_are_those_of_optimal_string_alignment() {
        for (one, other, edits) in [
            ("", "abc", 3),
            ("abc", "abc", 0),
            ("acb", "abc", 1),
            ("ca", "abc", 3),
        ] {
            assert_eq!(
                distance(&one.chars().collect::<Vec<_>>(), other),
                edits,
                "{one} {other}"
            );
        }
    }
}
