//! Programs that did not run.

use super::*;
use crate::run;

#[test]
fn why_nothing_ran() {
    for (error, code, details) in [
        (
            ProcessError::Denied,
            "denied",
            Some(r#"{"capability":"exec.safe:npm","reason":"program"}"#),
        ),
        (
            ProcessError::ArgumentsDenied,
            "denied",
            Some(r#"{"capability":"exec.safe:npm","reason":"args"}"#),
        ),
        (
            ProcessError::DirectoryDenied,
            "denied",
            Some(r#"{"capability":"exec.safe:npm","reason":"cwd"}"#),
        ),
        (
            ProcessError::Unconfined,
            "unsupported",
            Some(r#"{"reason":"confinement"}"#),
        ),
        (
            ProcessError::NotFound,
            "not_found",
            Some(r#"{"reason":"program"}"#),
        ),
        (
            ProcessError::NoDirectory,
            "not_found",
            Some(r#"{"reason":"cwd"}"#),
        ),
        (
            ProcessError::NotDirectory,
            "wrong_type",
            Some(r#"{"reason":"cwd"}"#),
        ),
        (ProcessError::NotStartable, "process_failed", None),
    ] {
        let answer = run(&mut host(Err(error)), br#"{"argv":["npm"],"cwd":"a"}"#).unwrap_err();
        assert_eq!((answer.code(), answer.details()), (code, details));
    }
}

#[test]
fn a_directory_above_the_workspace_is_denied_before_anything_is_asked() {
    for directory in ["..", "a/../..", "/..", "/workspace/../os"] {
        let mut host = done();
        let request = serde_json::json!({ "argv": ["npm"], "cwd": directory }).to_string();
        let error = run(&mut host, request.as_bytes()).unwrap_err();
        assert_eq!(error.code(), "denied");
        assert_eq!(
            error.details(),
            Some(r#"{"capability":"exec.safe:npm","reason":"cwd"}"#)
        );
        assert!(host.asked.is_empty());
    }
}
