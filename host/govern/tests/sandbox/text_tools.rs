//! Text tools that the interpreter does not have.

use std::time::Duration;

use hydrant_govern::failure::{Code, Failure};
use hydrant_govern::sandbox::{Caps, has_own_sandbox};

use crate::support::sandbox;

fn run(tool: &str, args: &[&str], input: &str) -> Result<String, Failure> {
    let args: Vec<_> = args.iter().map(|arg| (*arg).to_owned()).collect();
    let (output, _) = sandbox().text_tool(tool, &args, input.as_bytes(), Caps::default())?;
    Ok(String::from_utf8(output).unwrap())
}

#[test]
fn standard_input_becomes_standard_output() {
    assert_eq!(run("sed", &["s/a/b/g"], "banana\n").unwrap(), "bbnbnb\n");
    assert_eq!(run("sort", &["-rn"], "1\n3\n2\n").unwrap(), "3\n2\n1\n");
    assert_eq!(
        run("awk", &["{ s += $1 } END { print s }"], "1\n2\n").unwrap(),
        "3\n"
    );
    assert_eq!(run("tr", &["a-z", "A-Z"], "abc").unwrap(), "ABC");
}

#[test]
fn finding_nothing_is_no_failure() {
    assert_eq!(run("grep", &["x"], "a\nb\n").unwrap(), "");
    let failure = run("grep", &["-P", "("], "a\n").unwrap_err();
    assert_eq!(failure.code, Code::Transform);
    assert!(failure.executed);
}

#[test]
fn there_are_no_files_and_no_secrets() {
    for path in [
        "/etc/shadow",
        "/input/params.json",
        "/output/x",
        "/run/secrets/K",
    ] {
        assert_eq!(
            run("cat", &[path], "").unwrap_err().code,
            Code::Transform,
            "{path}"
        );
    }
}

#[test]
fn sed_writes_no_file_and_starts_no_program() {
    assert!(has_own_sandbox("sed"), "no GNU sed here");
    for program in ["1e id", "s/a/id/e", "w /tmp/x", "r /etc/passwd"] {
        let failure = run("sed", &[program], "a\n").unwrap_err();
        assert_eq!(failure.code, Code::Transform, "{program}");
        assert!(failure.message.contains("sandbox"), "{failure}");
    }
}

#[test]
fn whether_awk_has_a_sandbox_of_its_own_is_known() {
    // The same by another way: the option is taken, and `system` refused.
    let result = run("awk", &["BEGIN { system(\"echo started\") }"], "");
    match (has_own_sandbox("awk"), result) {
        (true, Err(failure)) => assert_eq!(failure.code, Code::Transform),
        (false, Ok(output)) => assert_eq!(output, "started\n"),
        other => panic!("{other:?}"),
    }
    assert!(has_own_sandbox("sort"));
}

#[test]
fn no_other_program_is_a_text_tool() {
    for tool in ["sh", "env", "/bin/cat", "", "python3"] {
        assert_eq!(
            run(tool, &[], "").unwrap_err().code,
            Code::InvalidPlan,
            "{tool}"
        );
    }
    assert_eq!(
        run("tr", &["a\0"], "").unwrap_err().code,
        Code::InvalidInput
    );
}

#[test]
fn the_budget_ends_a_tool() {
    let caps = Caps {
        wall_clock: Some(Duration::from_millis(300)),
        ..Caps::default()
    };
    let args = ["BEGIN { while (1) x++ }".to_owned()];
    let failure = sandbox().text_tool("awk", &args, b"", caps).unwrap_err();
    assert_eq!(failure.code, Code::BudgetExhausted);
    assert!(failure.executed);
}

#[test]
fn more_than_ten_megabytes_is_a_limit() {
    let args = [
        "BEGIN { while (1) print \"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\" }".to_owned(),
    ];
    let failure = sandbox()
        .text_tool("awk", &args, b"", Caps::default())
        .unwrap_err();
    assert_eq!(failure.code, Code::Limit);
}
