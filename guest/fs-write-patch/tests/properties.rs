//! What holds for every input.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::as_conversions,
    clippy::expect_used,
    missing_docs
)]

mod support;

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::json;
use support::{Host, call, hunks, patch};

/// Lines of few kinds, the last one with or without newline.
fn text() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        Just(""),
        Just("a"),
        Just("b"),
        Just("- c"),
        Just("+"),
        Just("@@ -1 +1 @@"),
        Just("\\ x"),
        Just("ä\t")
    ];
    (vec(line, 0..14), any::<bool>()).prop_map(|(lines, ended)| {
        let text = lines.join("\n");
        if ended && !lines.is_empty() {
            text + "\n"
        } else {
            text
        }
    })
}

/// Pieces that diffs are made of, in any order.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("diff --git a/f b/f\n"),
        Just("diff --git a/f b/g\n"),
        Just("--- a/f\n+++ b/f\n"),
        Just("--- /dev/null\n"),
        Just("+++ b/g\n"),
        Just("+++ /dev/null\n"),
        Just("--- \"a/\\303\\244\"\t\n"),
        Just("@@ -1 +1 @@\n"),
        Just("@@ @@\n"),
        Just("--- i/f\n+++ w/f\n"),
        Just("*** Update File: f\n"),
        Just("*** Delete File: h\n"),
        Just("*** Add File: d/n\n"),
        Just("*** Move to: m\n"),
        Just("@@ -1,2 +1,3 @@ f\n"),
        Just("@@ -0,0 +1,2 @@\n"),
        Just("@@ -2,0 +3 @@\n"),
        Just(" a\n"),
        Just("-b\n"),
        Just("+c\n"),
        Just("\n"),
        Just("\\ No newline at end of file\n"),
        Just("old mode 100644\n"),
        Just("new mode 100755\n"),
        Just("new file mode 100644\n"),
        Just("deleted file mode 100644\n"),
        Just("rename from f\n"),
        Just("rename to g\n"),
        Just("copy from f\n"),
        Just("copy to g\n"),
        Just("index 1..2 100644\n"),
        Just("GIT binary patch\n"),
        Just("Binary files a/f and b/f differ\n"),
        Just("-- \n"),
        Just("@@@ -1 -1 +1 @@@\n"),
        Just("\r\n"),
    ];
    vec(piece, 1..14).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn a_diff_leads_from_one_text_to_the_other_and_back(old in text(), new in text(), context in 0..4_usize) {
        for (old, new) in [(&old, &new), (&new, &old)] {
            let body = hunks(old, new, context);
            if body.is_empty() {
                continue;
            }
            let mut host = Host::new(&[("f", old)]);
            let answer = patch(&mut host, &format!("--- a/f\n+++ b/f\n{body}"));
            prop_assert_eq!(host.text("f"), Some(&**new), "{} {}", body, answer);
        }
    }

    #[test]
    fn wrong_counts_lead_to_the_right_text_or_to_nothing(
        old in text(), new in text(), context in 1..4_usize, wrong in vec(0..4_usize, 20),
    ) {
        let mut wrong = wrong.into_iter().cycle();
        let mut diff = String::from("--- a/f\n+++ b/f\n");
        for line in hunks(&old, &new, context).split_inclusive('\n') {
            // Texts have lines that look like headers, but behind a mark.
            if line.starts_with("@@ -") {
                let starts: Vec<_> = line.split(' ').skip(1).take(2).map(|side| side.split(',').next().unwrap()).collect();
                diff += &format!("@@ {},{} {},{} @@\n", starts[0], wrong.next().unwrap(), starts[1], wrong.next().unwrap());
            } else {
                diff += line;
            }
        }
        let mut host = Host::new(&[("f", &old)]);
        match call(&mut host, &diff, json!({})) {
            Ok(answer) if answer["applied"] == true => {
                prop_assert_eq!(host.text("f"), Some(&*new), "{} {}", diff, answer);
            }
            _ => prop_assert_eq!(host.text("f"), Some(&*old), "{}", diff),
        }
    }

    #[test]
    fn lines_before_a_hunk_move_it(old in text(), new in text(), before in vec("[p-s]{3}\n", 0..9)) {
        // With all lines as context there is one place for it.
        let body = hunks(&old, &new, 99);
        prop_assume!(!body.is_empty() && !old.is_empty());
        let before = before.concat();
        let mut host = Host::new(&[("f", &format!("{before}{old}"))]);
        let answer = patch(&mut host, &format!("--- a/f\n+++ b/f\n{body}"));
        prop_assert_eq!(host.text("f"), Some(&*format!("{before}{new}")), "{} {}", body, answer);
    }

    #[test]
    fn any_text_gives_an_error_or_a_consistent_answer(diff in pieces(), fuzz in 0..3, partial: bool, strip in 0..2) {
        let mut host = Host::new(&[("f", "a\nb\nc\n"), ("h", "a")]);
        let before = host.entries.clone();
        let members = json!({"fuzz": fuzz, "partial": partial, "strip": strip});
        match call(&mut host, &diff, members) {
            Err(error) => {
                prop_assert!(["malformed", "denied"].contains(&error.code()), "{}", error);
                prop_assert_eq!(&host.entries, &before);
            }
            Ok(answer) => {
                let files = answer["files"].as_array().unwrap();
                let rejects = answer["rejects"].as_array().unwrap();
                prop_assert_eq!(answer["applied"] == true, !files.is_empty());
                prop_assert_eq!(answer["files_changed"].as_u64().unwrap() as usize, files.len());
                prop_assert!(partial || rejects.is_empty() || files.is_empty());
                prop_assert!(!rejects.is_empty() || !files.is_empty());
                let hunks: u64 = files.iter().map(|file| file["hunks"].as_u64().unwrap()).sum();
                prop_assert_eq!(answer["hunks_applied"].as_u64(), Some(hunks));
                if files.is_empty() {
                    prop_assert_eq!(&host.entries, &before);
                }
                // What was not said to be written was not.
                for (path, entry) in &before {
                    let named = files.iter().any(|file| file["path"] == path.as_str() || file["action"] == "renamed");
                    prop_assert!(named || host.entries.get(path) == Some(entry), "{}", path);
                }
            }
        }
    }

    #[test]
    fn no_bytes_make_it_panic(diff in "[ -~\n\r\t\"\\\\ä@+-]{0,200}", request: Vec<u8>) {
        let _ = call(&mut Host::default(), &diff, json!({}));
        let _ = fs_write_patch::run(&mut Host::default(), &request);
        let _ = call(&mut Host::default(), &format!("--- {diff}\n+++ {diff}\n@@ -1 +1 @@\n-a\n+b\n"), json!({}));
        let _ = call(&mut Host::default(), &format!("diff --git {diff}"), json!({}));
    }
}
