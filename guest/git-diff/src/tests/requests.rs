//! Requests, and commands that did not run.

use super::*;
use serde_json::json;

const ID: &[u8] = b"1111111111111111111111111111111111111111\n";
const OPTIONS: &str = "--no-ext-diff --no-textconv --no-color --no-relative --src-prefix=a/ \
     --dst-prefix=b/ --unified=3 --inter-hunk-context=0 --find-renames=50% \
     --diff-algorithm=myers --full-index --submodule=short --ignore-submodules=dirty";

fn asked(request: &str, answers: &[&[u8]]) -> Vec<String> {
    let answers: Vec<_> = answers.iter().map(|stdout| Ok(exit(stdout))).collect();
    let mut host = answering(&answers);
    crate::run(&mut host, request.as_bytes()).unwrap();
    let words = |command: &Command| command.arguments.join(" ");
    host.asked.iter().map(words).collect()
}

#[test]
fn git_is_asked_with_exactly_these_commands() {
    let diff = format!("--no-pager diff {OPTIONS}");
    assert_eq!(asked("{}", &[b""]), [format!("{diff} --")]);
    assert_eq!(
        asked(r#"{"target":"staged"}"#, &[b""]),
        [format!("{diff} --cached --"), format!("{diff} -- .git")]
    );
    let id = "1".repeat(40);
    assert_eq!(
        asked(r#"{"target":"commit","commit":"HEAD~2"}"#, &[ID, b""]),
        [
            "--no-pager rev-parse --verify --end-of-options HEAD~2^{commit}".to_owned(),
            format!(
                "--no-pager diff-tree -p -r {OPTIONS} --root --no-commit-id \
                 --diff-merges=first-parent {id}"
            ),
        ]
    );
}

#[test]
fn only_a_full_object_id_reaches_diff_tree() {
    for stdout in [
        "",
        "1111111\n",
        "--output=x\n",
        "main\n",
        &"g".repeat(40),
        "\u{1}",
    ] {
        let mut host = answering(&[Ok(exit(stdout.as_bytes()))]);
        let error = crate::run(&mut host, br#"{"target":"commit"}"#).unwrap_err();
        assert_eq!(error.code(), "not_found", "{stdout}");
        assert_eq!(host.asked.len(), 1);
    }
}

#[test]
fn requests_are_taken_within_their_bounds() {
    for (request, named) in [
        (json!({ "target": "all" }), "target"),
        (json!({ "target": null }), "target"),
        (json!({ "commit": "HEAD" }), "commit"),
        (json!({ "target": "staged", "commit": "HEAD" }), "commit"),
        (json!({ "target": "commit", "commit": "main" }), "commit"),
        (
            json!({ "target": "commit", "commit": "--output=x" }),
            "commit",
        ),
        (json!({ "target": "commit", "commit": "a" }), "commit"),
        (json!({ "max_bytes": 0 }), "max_bytes"),
        (json!({ "max_bytes": 2_097_153 }), "max_bytes"),
        (json!({ "path": 1 }), "path"),
        (json!({ "options": [] }), "options"),
    ] {
        let mut host = answering(&[Ok(exit(b""))]);
        let error = crate::run(&mut host, request.to_string().as_bytes()).unwrap_err();
        let details: Value = serde_json::from_str(error.details().unwrap()).unwrap();
        assert_eq!(
            (error.code(), &details["member"]),
            ("invalid_request", &json!(named))
        );
        assert!(host.asked.is_empty());
    }
}

#[test]
fn why_git_did_not_answer() {
    let ended = |ending| {
        Ok(Exit {
            ending,
            ..exit(b"1")
        })
    };
    for (answer, code) in [
        (Err(ProcessError::NotFound), "not_found"),
        (Err(ProcessError::ArgumentsDenied), "denied"),
        (Err(ProcessError::Unconfined), "unsupported"),
        (ended(Ending::TimedOut), "timeout"),
        (ended(Ending::Signaled(9)), "process_failed"),
    ] {
        for request in ["{}", r#"{"target":"staged"}"#, r#"{"target":"commit"}"#] {
            let mut host = answering(std::slice::from_ref(&answer));
            let error = crate::run(&mut host, request.as_bytes()).unwrap_err();
            assert_eq!(error.code(), code, "{request}");
        }
    }
}
