//! Requests and what becomes of them.

use super::*;
use crate::run;
use kit::host::process::Target;
use serde_json::json;

#[test]
fn arguments_arrive_as_they_are_and_defaults_hold() {
    let mut host = done();
    let request = json!({ "argv": ["npm", "a b", "$(id)", "*", "", "é\n"] });
    run(&mut host, request.to_string().as_bytes()).unwrap();
    let [command] = host.asked.as_slice() else {
        panic!("{:?}", host.asked)
    };
    let Target::Program(program) = &command.target else {
        panic!("{command:?}")
    };
    assert_eq!(
        (program.name.as_str(), program.directory.as_str()),
        ("npm", "/workspace")
    );
    assert_eq!(command.arguments, ["a b", "$(id)", "*", "", "é\n"]);
    assert_eq!(
        (command.timeout_ms, command.max_output_bytes),
        (120_000, 65_539)
    );
}

#[test]
fn the_program_is_a_bare_name() {
    for name in [
        "", ".", "..", "-x", "./npm", "/bin/sh", "a/b", "a b", "a\n", "é", "a;b", ".npm",
    ] {
        let mut host = done();
        let request = json!({ "argv": [name] }).to_string();
        let error = run(&mut host, request.as_bytes()).unwrap_err();
        assert_eq!(
            (error.code(), member(&error).as_str()),
            ("invalid_request", "argv"),
            "{name}"
        );
        assert!(host.asked.is_empty());
    }
    for name in ["npm", "g++", "python3.11", "7z", "clang-format_x"] {
        let request = json!({ "argv": [name] }).to_string();
        assert!(run(&mut done(), request.as_bytes()).is_ok(), "{name}");
    }
}

#[test]
fn bounds_are_not_clamped() {
    let long = "x".repeat(131_072);
    for (request, named) in [
        (json!({}), "argv"),
        (json!({ "argv": [] }), "argv"),
        (json!({ "argv": "npm" }), "argv"),
        (json!({ "argv": ["npm", 1] }), "argv"),
        (json!({ "argv": ["npm", "a\0b"] }), "argv"),
        (json!({ "argv": vec!["x"; 257] }), "argv"),
        (json!({ "argv": ["npm", long] }), "argv"),
        (json!({ "argv": ["npm"], "cwd": null }), "cwd"),
        (json!({ "argv": ["npm"], "cwd": "a\0" }), "cwd"),
        (json!({ "argv": ["npm"], "timeout_ms": 0 }), "timeout_ms"),
        (
            json!({ "argv": ["npm"], "timeout_ms": 600_001 }),
            "timeout_ms",
        ),
        (
            json!({ "argv": ["npm"], "max_output_bytes": 0 }),
            "max_output_bytes",
        ),
        (
            json!({ "argv": ["npm"], "max_output_bytes": 1_048_577 }),
            "max_output_bytes",
        ),
        (json!({ "argv": ["npm"], "env": {} }), "env"),
        (json!({ "argv": ["npm"], "stdin": "" }), "stdin"),
    ] {
        let mut host = done();
        let error = run(&mut host, request.to_string().as_bytes()).unwrap_err();
        assert_eq!(
            (error.code(), member(&error).as_str()),
            ("invalid_request", named)
        );
        assert!(host.asked.is_empty());
    }
    let most =
        json!({ "argv": vec!["x"; 256], "timeout_ms": 600_000, "max_output_bytes": 1_048_576 });
    assert!(run(&mut done(), most.to_string().as_bytes()).is_ok());
}

#[test]
fn a_program_that_ran_is_a_success() {
    let mut host = host(Ok(exit(Ending::Exited(3), b"out\n", b"err\xff\n")));
    let answer = run(&mut host, br#"{"argv":["npm","test"]}"#).unwrap();
    assert_eq!(
        String::from_utf8(answer).unwrap(),
        "{\"exit_code\":3,\"stdout\":\"out\\n\",\"stderr\":\"err\u{FFFD}\\n\",\
         \"stdout_truncated\":false,\"stderr_truncated\":false,\"duration_ms\":7,\
         \"signal\":null,\"timed_out\":false}"
    );
}

#[test]
fn signals_and_timeouts_are_told_apart() {
    for (ending, code, signal, timed_out) in [
        (Ending::Signaled(9), 137, json!("SIGKILL"), false),
        (Ending::Signaled(40), 168, json!("SIG40"), false),
        (Ending::Exited(124), 124, json!(null), false),
        (Ending::TimedOut, 124, json!(null), true),
    ] {
        let mut host = host(Ok(exit(ending, b"so far", b"")));
        let answer = run(&mut host, br#"{"argv":["npm"]}"#).unwrap();
        let answer: Value = serde_json::from_slice(&answer).unwrap();
        assert_eq!(answer["exit_code"], code);
        assert_eq!(answer["signal"], signal);
        assert_eq!(answer["timed_out"], timed_out);
        assert_eq!(answer["stdout"], "so far");
    }
}

#[test]
fn each_stream_has_its_own_limit_and_flag() {
    let mut host = host(Ok(exit(Ending::Exited(0), "ab€".as_bytes(), b"abc")));
    let answer = run(&mut host, br#"{"argv":["npm"],"max_output_bytes":4}"#).unwrap();
    let answer: Value = serde_json::from_slice(&answer).unwrap();
    assert_eq!(
        (&answer["stdout"], &answer["stdout_truncated"]),
        (&json!("ab"), &json!(true))
    );
    assert_eq!(
        (&answer["stderr"], &answer["stderr_truncated"]),
        (&json!("abc"), &json!(false))
    );
}
