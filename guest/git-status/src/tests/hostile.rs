//! Answers that no git would give, and names that a stranger chose.

use super::*;
use crate::porcelain::read;
use proptest::prelude::*;
use serde_json::json;

const OID: &str = "1111111111111111111111111111111111111111";

fn changed(code: &str, path: &str) -> String {
    format!("1 {code} N... 100644 100644 100644 {OID} {OID} {path}\0")
}

#[test]
fn names_that_are_not_utf_8_are_shown_with_replacements() {
    let mut bytes = changed("M.", "").into_bytes();
    bytes.pop();
    bytes.extend(b"a\xff b\0? \x80\0");
    let status = status_of(&bytes, false);
    assert_eq!(status["staged"], json!(["a\u{FFFD} b"]));
    assert_eq!(status["untracked"], json!(["\u{FFFD}"]));
}

#[test]
fn a_name_that_looks_like_a_record_is_a_name() {
    let text = format!(
        "# branch.oid {OID}\0# branch.head main\0{}? 1 M. x\0? # branch.head y\0",
        changed(".M", "u UU\n? z")
    );
    let status = status_of(text.as_bytes(), false);
    assert_eq!(status["branch"], "main");
    assert_eq!(status["unstaged"], json!(["u UU\n? z"]));
    assert_eq!(status["untracked"], json!(["# branch.head y", "1 M. x"]));
}

#[test]
fn unknown_headers_and_records_are_skipped() {
    let text = "# stash 3\0# branch.head main\0# branch.new x y\0! ignored\0? a\0";
    let status = status_of(text.as_bytes(), false);
    assert_eq!(
        (&status["branch"], &status["untracked"]),
        (&json!("main"), &json!(["a"]))
    );
}

#[test]
fn what_the_host_cut_is_left_out_and_said() {
    let rename = format!("2 R. N... 100644 100644 100644 {OID} {OID} R100 new\0old\0");
    let text = format!("{}{rename}", changed("M.", "a"));
    let whole = status_of(text.as_bytes(), false);
    assert_eq!(whole["staged"], json!(["a", "new"]));
    for end in 0..text.len() {
        let (kept, _) = text.split_at(end);
        let status = status_of(kept.as_bytes(), true);
        let expected = if end > text.find('\0').unwrap() {
            json!(["a"])
        } else {
            json!([])
        };
        assert_eq!(
            (&status["staged"], &status["renames"]),
            (&expected, &json!([])),
            "{end}"
        );
        assert_eq!(status["truncated"], true);
    }
}

#[test]
fn an_answer_that_is_not_gits_is_malformed() {
    for text in [
        "x".to_owned(),
        "\0".to_owned(),
        "?a\0".to_owned(),
        "? a".to_owned(),
        "1 M. N... 100644\0".to_owned(),
        changed("M", "a"),
        changed("MMM", "a"),
        changed("M.", ""),
        format!("2 R. N... 100644 100644 100644 {OID} {OID} R100 new\0"),
        "# branch.ab 1 2\0".to_owned(),
        "# branch.ab +x -y\0".to_owned(),
    ] {
        let error = crate::run(&mut answering(text.as_bytes(), false), b"{}").unwrap_err();
        assert_eq!(error.code(), "malformed", "{text:?}");
    }
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(bytes: Vec<u8>, cut: bool) {
        let _ = read(&bytes, cut);
    }

    #[test]
    fn pieces_of_records_are_read_or_refused(
        pieces in proptest::collection::vec(
            proptest::sample::select(vec![
                "1", "2", "u", "?", "#", " ", "\0", "MM", "N...", "branch.ab", "+1 -2", "é",
            ]),
            0..40,
        ),
        cut: bool,
    ) {
        let _ = read(pieces.concat().as_bytes(), cut);
    }

    #[test]
    fn every_path_comes_back(path in "[^\0]{1,20}", code in "[.MTAD]{2}") {
        let text = changed(&code, &path);
        let status = read(text.as_bytes(), false).unwrap();
        prop_assert_eq!(status.staged.len(), usize::from(!code.starts_with('.')));
        prop_assert_eq!(status.unstaged.len(), usize::from(!code.ends_with('.')));
        for shown in status.staged.iter().chain(&status.unstaged) {
            prop_assert_eq!(*shown, path.as_bytes());
        }
    }
}

#[test]
fn a_large_answer_is_read_in_linear_time() {
    let text = "? aaaaaaaaaaaaaaaa\0".repeat(400_000);
    let started = std::time::Instant::now();
    let status = status_of(text.as_bytes(), false);
    assert_eq!(status["untracked"].as_array().unwrap().len(), 2_000);
    assert!(started.elapsed().as_secs() < 10, "{:?}", started.elapsed());
}
