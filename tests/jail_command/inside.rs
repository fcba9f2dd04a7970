//! The `hydrant` command in a jail answers as outside, and leaves the operator's to the operator.

use serde_json::Value;

use crate::cell::Cell;

/// The same command line inside, and outside with these options: the same output and exit status.
fn same(cell: &Cell, words: &str, outside: &[&str]) {
    let inside = cell.governed(&format!("hydrant {words}"));
    let script = format!("exec \"$0\" {words} \"$@\"");
    let mut command = std::process::Command::new("sh");
    let hydrant = cell.folder().command(&[]);
    command.args(["-c", &script, crate::program::program()]);
    command.args(outside).env_clear().envs(
        hydrant
            .get_envs()
            .filter_map(|(name, value)| Some((name, value?))),
    );
    command.current_dir(cell.folder().path("ws"));
    let outside = crate::program::Run::of(&mut command);
    assert_eq!(
        (inside.status, &inside.stdout, &inside.stderr),
        (outside.status, &outside.stdout, &outside.stderr),
        "{words}"
    );
}

#[test]
fn hydrate_is_as_outside() {
    let cell = Cell::new();
    let policy = cell.folder().argument("policy.json");
    let mount = cell.folder().argument("ws");
    // Outside, the policy's workspace is named by a flag that only `run` has: one without it.
    let text = cell
        .folder()
        .text("policy.json")
        .replace("\"@cli\"", &format!("{mount:?}"));
    cell.folder().put("policy.json", text);
    for words in [
        "hydrate os://crew/cook.md",
        "hydrate crew/cook.md --format link",
        "hydrate os://crew/cook.md --format v2 --checksums",
        "hydrate os://crew/cook.md --depth 3 --checksums --lenient",
        "hydrate os://crew/cook.md --format text",
        "hydrate os://crew/nobody.md --format link",
        "hydrate ''",
        "hydrate",
        "hydrate os://crew/cook.md --no-such",
    ] {
        let outside = ["--policy", policy.as_str()];
        same(
            &cell,
            words,
            if words == "hydrate" { &[] } else { &outside },
        );
    }
    // Why it cannot be read is the operator's to look up.
    let run = cell.governed("hydrant hydrate os://crew/nobody.md --strict");
    assert_eq!(run.status, 1, "{run:?}");
    assert!(run.stdout.contains("\"uri\":\"ERROR: FETCH_FAILED\""));
    assert!(
        run.stderr
            .contains("os://crew/nobody.md: FETCH_FAILED: it could not be read"),
        "{run:?}"
    );
}

#[test]
fn run_is_as_outside() {
    let cell = Cell::new();
    let policy = cell.folder().argument("policy.json");
    let mount = format!("/workspace={}", cell.folder().argument("ws"));
    let outside = ["--policy", policy.as_str(), "--mount", mount.as_str()];
    for words in [
        r#"run fs.read_text '{"path":"/workspace/a.txt"}'"#,
        r#"run fs.read_text '{"path":"/workspace/a.txt"}' --format text"#,
        r#"run fs.read_text@0.1.0 '{"path":"/workspace/a.txt"}'"#,
        r#"run fs.read_text '{"path":"/workspace/missing"}'"#,
        r#"run fs.read_text '{"path":"/etc/passwd"}'"#,
        r#"run fs.read_text '{"path":7}'"#,
        r#"run fs.read_text '[]'"#,
        "run fs.read_text",
        "run no.such_skill",
        "run fs.read_text@9.9.9",
        r#"run json.validate '{"schema":{"type":"number"},"instance":1.50}'"#,
        "run",
    ] {
        same(&cell, words, if words == "run" { &[] } else { &outside });
    }
    // From a file and from standard input, to a file.
    let run = cell.governed(
        r#"echo '{"path":"a.txt"}' > r; hydrant run fs.read_text @r; hydrant run fs.read_text - --output o < r; cat o"#,
    );
    let response = r#"{"path":"a.txt","text":"of the workspace\n","bytes_read":17,"truncated":false,"normalized_encoding":"utf-8"}"#;
    assert_eq!(run.stdout, format!("{response}\n{response}"), "{run:?}");
}

#[test]
fn skills_and_describe_are_as_outside() {
    let cell = Cell::new();
    cell.policy(
        &serde_json::json!({}),
        &serde_json::json!({"tools": "describe"}),
    );
    let policy = cell.folder().argument("policy.json");
    for words in [
        "skills",
        "skills --format text",
        "describe",
        "describe fs.read_text",
        "describe fs.read_text@0.1.0 --format text",
    ] {
        same(&cell, words, &["--policy", &policy]);
    }
    let run = cell.governed("hydrant describe no.such; echo $?");
    assert_eq!(run.stdout, "1\n", "{run:?}");
}

#[test]
fn what_is_the_operators_answers_operator_only() {
    let cell = Cell::new();
    for words in [
        "verify",
        "lock --root .",
        "policy check policy.json",
        "doctor",
        "keys digest x",
        "jail -- true",
        "run --bundle b",
        "verify --bundle b",
        "pack x",
        "install x",
        "sign x",
        "no-such-command",
        "check .",
        "skills --root .",
        "describe --policy p",
        "hydrate os://x --root .",
        "hydrate os://x --mount /x/=.",
        "hydrate os://x --no-exec",
        "hydrate os://x --allow-http-loopback",
        "hydrate os://x --audit off",
        "run fs.read_text --policy p",
        "run fs.read_text --tenant p",
        "run fs.read_text --grant p",
        "run fs.read_text --mount /workspace=.",
        "run fs.read_text --receipt r",
        "run fs.read_text --context c",
        "syscall --blob-dir .",
        "syscall --depth 3",
    ] {
        let run = cell.sh(&format!("hydrant {words} < /dev/null"));
        assert_eq!(
            (run.status, run.stdout.as_str()),
            (1, ""),
            "{words}: {run:?}"
        );
        let error: Value = serde_json::from_str(&run.stderr).unwrap_or_default();
        assert_eq!(error["error"]["code"], "operator-only", "{words}: {run:?}");
    }
    // The variables that stand for such flags as well.
    let run = cell.sh("HYDRANT_POLICY=/workspace/p hydrant hydrate os://x");
    assert!(run.stderr.contains("operator-only"), "{run:?}");
}

#[test]
fn what_needs_nobody_is_answered_in_the_jail() {
    let cell = Cell::new();
    for words in [
        "--help",
        "--version",
        "help run",
        "run --help",
        "verify --help",
        "completions bash",
        "man",
    ] {
        let run = cell.sh(&format!("hydrant {words}"));
        assert_eq!(run.status, 0, "{words}: {run:?}");
        assert!(!run.stdout.is_empty(), "{words}");
    }
}

#[test]
fn without_the_socket_nothing_else_is_tried() {
    let cell = Cell::new();
    let run = cell.sh(
        r#"HYDRANT_SOCKET=/tmp/none hydrant run fs.read_text '{"path":"a.txt"}'; echo $?; HYDRANT_SOCKET=/workspace/a.txt hydrant skills; echo $?"#,
    );
    assert_eq!(run.stdout, "1\n1\n", "{run:?}");
}
