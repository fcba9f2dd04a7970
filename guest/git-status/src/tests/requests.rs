//! Requests, and commands that did not run.

use super::*;
use kit::host::process::Target;
use serde_json::json;

#[test]
fn git_is_asked_with_exactly_this_command() {
    let mut host = answering(b"", false);
    crate::run(&mut host, br#"{"path":"a/../b"}"#).unwrap();
    let [command] = host.asked.as_slice() else {
        panic!("{:?}", host.asked)
    };
    let Target::Program(program) = &command.target else {
        panic!("{command:?}")
    };
    assert_eq!(
        (program.name.as_str(), program.directory.as_str()),
        ("git", "/workspace/b")
    );
    assert_eq!(
        command.arguments.join(" "),
        "--no-pager status --porcelain=v2 --branch -z --untracked-files=all \
         --ignore-submodules=dirty --find-renames=50%"
    );
}

#[test]
fn requests_are_taken_within_their_bounds() {
    for (request, named) in [
        (json!({ "path": 1 }), "path"),
        (json!({ "path": "a".repeat(4097) }), "path"),
        (json!({ "max_entries": 0 }), "max_entries"),
        (json!({ "max_entries": 10_001 }), "max_entries"),
        (json!({ "branch": "x" }), "branch"),
    ] {
        let mut host = answering(b"", false);
        let error = crate::run(&mut host, request.to_string().as_bytes()).unwrap_err();
        let details: Value = serde_json::from_str(error.details().unwrap()).unwrap();
        assert_eq!(
            (error.code(), &details["member"]),
            ("invalid_request", &json!(named))
        );
        assert!(host.asked.is_empty());
    }
    let error = crate::run(&mut answering(b"", false), br#"{"path":".."}"#).unwrap_err();
    assert_eq!(
        error.details(),
        Some(r#"{"capability":"exec.safe:git","reason":"cwd"}"#)
    );
}

#[test]
fn why_git_did_not_run() {
    for (error, code, details) in [
        (
            ProcessError::NotFound,
            "not_found",
            r#"{"reason":"program"}"#,
        ),
        (
            ProcessError::Unconfined,
            "unsupported",
            r#"{"reason":"confinement"}"#,
        ),
        (
            ProcessError::DirectoryDenied,
            "denied",
            r#"{"capability":"exec.safe:git","reason":"cwd"}"#,
        ),
    ] {
        let mut host = FakeHost {
            answer: Err(error),
            asked: Vec::new(),
        };
        let answer = crate::run(&mut host, b"{}").unwrap_err();
        assert_eq!((answer.code(), answer.details()), (code, Some(details)));
    }
}
