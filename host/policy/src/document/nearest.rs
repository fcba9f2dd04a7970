//! "Did you mean": the known name that is closest to an unknown one.

/// Names longer than this are not compared; every known name is far shorter.
const LONGEST: usize = 40;

/// The known name that few enough edits lead to: one for three letters, at most three. The first of equals wins, and letter
/// case is ignored. An edit inserts, deletes or replaces a letter, or swaps two neighbours.
pub(super) fn nearest(unknown: &str, known: &[&'static str]) -> Option<&'static str> {
    if unknown.chars().nth(LONGEST).is_some() {
        return None;
    }
    let unknown = unknown.to_ascii_lowercase();
    known
        .iter()
        .map(|name| (strsim::osa_distance(&unknown, name), *name))
        .filter(|(edits, name)| *edits <= (name.chars().count() / 3).clamp(1, 3))
        .min_by_key(|(edits, _)| *edits)
        .map(|(_, name)| name)
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
}
