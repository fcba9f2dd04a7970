//! `shell.exec_safe`.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::desk::Desk;

const ID: &str = "shell.exec_safe";

/// What the tests start: the first argument says what it does.
const PROBE: &str = r#"#!/bin/sh
case "$1" in
args) shift; printf '%s\n' "$0" "$#"; for one; do printf '<%s>\n' "$one"; done ;;
exit) echo out; echo err >&2; exit "$2" ;;
signal) kill "-$2" $$ ;;
stdin) wc -c ;;
where) pwd ;;
bytes) printf "$2" ;;
flood) head -c "$2" /dev/zero | tr '\0' x; echo done >&2; exit 3 ;;
sleep) echo begun; sleep "$2" ;;
stubborn) trap '' TERM; echo begun; while :; do sleep 1; done ;;
leave) sleep 300 & echo $! ;;
esac
"#;

/// A desk where `probe` may run with any arguments below `/workspace`.
fn probing() -> Desk {
    let desk = Desk::bare();
    let probe = desk.script("probe", PROBE);
    desk.rules(
        &json!([{"program": probe, "args": [["..."]], "cwd": ["/workspace"]}]),
        &json!({}),
    );
    desk
}

fn probe(desk: &Desk, arguments: &[&str], more: &Value) -> Value {
    let argv = [&["probe"], arguments].concat();
    let mut request = json!({ "argv": argv });
    for (name, value) in more.as_object().unwrap() {
        request[name] = value.clone();
    }
    desk.ok(ID, &request)
}

#[test]
fn arguments_arrive_byte_for_byte() {
    let desk = probing();
    desk.write("a.txt", "");
    let arguments = [
        "", "*", "a b", "$HOME", "`id`", "; ls", "\"'\\", "é\n", "-n", "--", "~", "&&",
    ];
    let answer = probe(&desk, &[&["args"], &arguments[..]].concat(), &json!({}));
    let shown: String = arguments.iter().map(|one| format!("<{one}>\n")).collect();
    let stdout = answer["stdout"].as_str().unwrap();
    let (_, after_name) = stdout.split_once('\n').unwrap();
    assert_eq!(after_name, format!("{}\n{shown}", arguments.len()));
}

#[test]
fn the_program_is_a_bare_name() {
    let desk = probing();
    let path = desk.beside("tools/probe");
    for program in [
        "",
        "/bin/ls",
        "./probe",
        "../tools/probe",
        "a/b",
        "-x",
        ".x",
        "a b",
        "a\nb",
        path.to_str().unwrap(),
    ] {
        desk.invalid(ID, &json!({"argv": [program]}), "argv");
    }
}

#[test]
fn arguments_have_limits() {
    let desk = probing();
    let answer = probe(&desk, &[&["args"][..], &["x"; 254]].concat(), &json!({}));
    assert!(
        answer["stdout"].as_str().unwrap().contains("\n254\n"),
        "256 in all"
    );
    let many = [&["probe"][..], &["x"; 256]].concat();
    desk.invalid(ID, &json!({ "argv": many }), "argv");
    let fits = "x".repeat(131_000);
    assert_eq!(
        probe(&desk, &["exit", "0", &fits], &json!({}))["exit_code"],
        0
    );
    desk.invalid(
        ID,
        &json!({"argv": ["probe", "exit", "0", "x".repeat(131_073)]}),
        "argv",
    );
}

#[test]
fn one_rule_must_allow_program_arguments_and_directory() {
    let desk = Desk::bare();
    let probe = desk.script("probe", PROBE);
    desk.write("in/x", "")
        .write("in/deep/y", "")
        .write("out/x", "")
        .write("file", "");
    let rules = json!([
        {"program": probe, "args": [["exit", "0"], ["args", "--*=1", "..."]], "cwd": ["/workspace/in"]},
        {"program": probe, "args": [["where"]], "cwd": ["/workspace"]},
    ]);
    desk.rules(&rules, &json!({}));
    let ask = |argv: &[&str], cwd: &str| desk.ask(ID, &json!({"argv": argv, "cwd": cwd}));
    let allowed: [(&[&str], &str); 6] = [
        (&["probe", "exit", "0"], "in"),
        (&["probe", "exit", "0"], "/workspace/in/deep"),
        (&["probe", "args", "--a=1"], "in"),
        (&["probe", "args", "--a=1", "b", "c"], "in"),
        (&["probe", "where"], "."),
        (&["probe", "where"], "out"),
    ];
    for (argv, cwd) in allowed {
        assert_eq!(ask(argv, cwd).unwrap()["exit_code"], 0, "{argv:?} {cwd}");
    }
    let denied: [(&[&str], &str, &str); 7] = [
        (&["other"], ".", "program"),
        (&["probe", "exit", "1"], "in", "args"),
        (&["probe", "exit", "0", "x"], "in", "args"),
        (&["probe", "args", "--a=2"], "in", "args"),
        (&["probe"], "in", "args"),
        (&["probe", "exit", "0"], ".", "cwd"),
        (&["probe", "exit", "0"], "out", "cwd"),
    ];
    for (argv, cwd, reason) in denied {
        let request = json!({"argv": argv, "cwd": cwd});
        let details = json!({"capability": format!("exec.safe:{}", argv[0]), "reason": reason});
        desk.refused(ID, &request, "denied", &details);
    }
    desk.error(
        ID,
        &json!({"argv": ["probe", "where"], "cwd": "none"}),
        "not_found",
    );
    desk.error(
        ID,
        &json!({"argv": ["probe", "where"], "cwd": "file"}),
        "wrong_type",
    );
}

/// A rule whose program is missing is inactive.
#[test]
fn a_missing_program_is_not_found() {
    let desk = Desk::running(
        &json!([{"program": "/no/such/tool", "args": [["..."]], "cwd": ["/workspace"]}]),
    );
    desk.error(ID, &json!({"argv": ["tool"]}), "not_found");
}

#[test]
fn environment_directory_and_standard_input() {
    let desk = Desk::bare();
    let probe_path = desk.script("probe", PROBE);
    desk.write("d/x", "");
    let rules = json!([
        {"program": "env", "args": [[]], "cwd": ["/workspace"], "env": {"CARGO_TERM_COLOR": "never"}},
        {"program": probe_path, "args": [["..."]], "cwd": ["/workspace"]},
    ]);
    desk.rules(&rules, &json!({}));
    let answer = desk.ok(ID, &json!({"argv": ["env"]}));
    let stdout = answer["stdout"].as_str().unwrap();
    let mut names: Vec<&str> = stdout
        .lines()
        .map(|line| line.split_once('=').unwrap().0)
        .collect();
    names.sort_unstable();
    assert_eq!(
        names,
        ["CARGO_TERM_COLOR", "HOME", "LANG", "PATH", "TMPDIR", "TZ"],
        "{stdout}"
    );
    for line in [
        "PATH=/usr/local/bin:/usr/bin:/bin",
        "LANG=C.UTF-8",
        "TZ=UTC",
        "CARGO_TERM_COLOR=never",
    ] {
        assert!(
            stdout.lines().any(|actual| actual == line),
            "{line}: {stdout}"
        );
    }
    let value = |name: &str| {
        let start = format!("{name}=");
        stdout
            .lines()
            .find_map(|line| line.strip_prefix(&start))
            .unwrap()
    };
    let home = desk.folder().home();
    for name in ["HOME", "TMPDIR"] {
        assert!(
            !std::path::Path::new(value(name)).exists(),
            "removed afterwards: {name}"
        );
        assert_ne!(value(name), home.to_str().unwrap());
    }
    assert_eq!(
        probe(&desk, &["stdin"], &json!({}))["stdout"]
            .as_str()
            .unwrap()
            .trim(),
        "0"
    );
    let there = probe(&desk, &["where"], &json!({"cwd": "d"}));
    assert_eq!(there["stdout"], format!("{}\n", desk.path("d").display()));
}

#[test]
fn a_program_that_ran_is_a_response() {
    let desk = probing();
    let answer = probe(&desk, &["exit", "7"], &json!({}));
    let mut expected = json!({
        "exit_code": 7, "stdout": "out\n", "stderr": "err\n", "stdout_truncated": false,
        "stderr_truncated": false, "duration_ms": 0, "signal": null, "timed_out": false,
    });
    expected["duration_ms"] = answer["duration_ms"].clone();
    assert_eq!(answer, expected);
    assert!(answer["duration_ms"].as_u64().unwrap() < 30_000);
    for (name, number) in [("KILL", 9), ("SEGV", 11), ("TERM", 15), ("USR1", 10)] {
        let ended = probe(&desk, &["signal", name], &json!({}));
        let actual = (&ended["exit_code"], &ended["signal"], &ended["timed_out"]);
        assert_eq!(
            actual,
            (
                &json!(128 + number),
                &json!(format!("SIG{name}")),
                &json!(false)
            )
        );
    }
}

#[test]
fn the_smallest_time_limit_ends_it() {
    let desk = probing();
    let started = Instant::now();
    let check = |answer: &Value| {
        let actual = (
            &answer["timed_out"],
            &answer["exit_code"],
            &answer["stdout"],
        );
        assert_eq!(
            actual,
            (&json!(true), &json!(124), &json!("begun\n")),
            "{answer}"
        );
        assert!(
            answer["signal"].is_null() || answer["signal"] == "SIGTERM",
            "{answer}"
        );
        let took = answer["duration_ms"].as_u64().unwrap();
        assert!((400..10_000).contains(&took), "{answer}");
    };
    check(&probe(&desk, &["sleep", "60"], &json!({"timeout_ms": 400})));
    let path = desk.beside("tools/probe");
    let rules =
        json!([{"program": path.to_str().unwrap(), "args": [["..."]], "cwd": ["/workspace"]}]);
    desk.rules(&rules, &json!({"process_ms": 400}));
    check(&probe(&desk, &["sleep", "60"], &json!({})));
    assert!(started.elapsed() < Duration::from_secs(30));
}

/// TERM, two seconds, KILL.
#[test]
fn a_program_that_ignores_term_is_killed() {
    let desk = probing();
    let answer = probe(&desk, &["stubborn"], &json!({"timeout_ms": 300}));
    let actual = (
        &answer["timed_out"],
        &answer["exit_code"],
        &answer["stdout"],
    );
    assert_eq!(actual, (&json!(true), &json!(124), &json!("begun\n")));
    assert!(
        answer["signal"].is_null() || answer["signal"] == "SIGKILL",
        "{answer}"
    );
    assert!(answer["duration_ms"].as_u64().unwrap() < 15_000);
}

#[test]
fn output_is_cut_and_the_program_is_not_blocked() {
    let desk = probing();
    let flood = probe(&desk, &["flood", "3000000"], &json!({}));
    assert_eq!(flood["stdout"], "x".repeat(65_536), "the default");
    let flags = (
        &flood["stdout_truncated"],
        &flood["stderr"],
        &flood["stderr_truncated"],
        &flood["exit_code"],
    );
    assert_eq!(
        flags,
        (&json!(true), &json!("done\n"), &json!(false), &json!(3))
    );
    let exact = probe(&desk, &["flood", "5"], &json!({"max_output_bytes": 5}));
    assert_eq!(
        (&exact["stdout"], &exact["stdout_truncated"]),
        (&json!("xxxxx"), &json!(false))
    );
    assert_eq!(
        (&exact["stderr"], &exact["stderr_truncated"]),
        (&json!("done\n"), &json!(false))
    );
    let less = probe(&desk, &["flood", "5"], &json!({"max_output_bytes": 4}));
    assert_eq!(
        (&less["stdout"], &less["stdout_truncated"]),
        (&json!("xxxx"), &json!(true))
    );
    assert_eq!(
        (&less["stderr"], &less["stderr_truncated"]),
        (&json!("done"), &json!(true))
    );
    // Octal escapes of printf: a, é, €, and bytes that are no UTF-8.
    #[rustfmt::skip]
    let rows = [
        (r"a\303\251", 2, "a", true),
        (r"a\303\251", 3, "aé", false),
        (r"\342\202\254\342\202\254", 5, "€", true),
        (r"a\377b", 9, "a\u{fffd}b", false),
        (r"a\303", 9, "a\u{fffd}", false),
    ];
    for (bytes, most, text, cut) in rows {
        let answer = probe(&desk, &["bytes", bytes], &json!({"max_output_bytes": most}));
        assert_eq!(
            (&answer["stdout"], &answer["stdout_truncated"]),
            (&json!(text), &json!(cut)),
            "{bytes} {most}"
        );
    }
}

#[test]
fn what_the_program_leaves_behind_is_killed_at_once() {
    let desk = probing();
    let started = Instant::now();
    let answer = probe(&desk, &["leave"], &json!({}));
    assert!(
        started.elapsed() < Duration::from_secs(20),
        "the pipe was held open for 300 s"
    );
    assert_eq!(
        (&answer["exit_code"], &answer["timed_out"]),
        (&json!(0), &json!(false))
    );
    let child = answer["stdout"].as_str().unwrap().trim();
    assert!(child.parse::<u32>().is_ok(), "{answer}");
    // Gone, or a zombie that nobody waits for in this container.
    let gone = (0..50).any(|_| {
        std::thread::sleep(Duration::from_millis(20));
        let stat = std::fs::read_to_string(format!("/proc/{child}/stat")).unwrap_or_default();
        stat.rsplit_once(") ")
            .is_none_or(|(_, rest)| rest.starts_with(['Z', 'X']))
    });
    assert!(gone, "process {child} is still there");
}

#[test]
fn a_program_that_cannot_start() {
    let desk = Desk::bare();
    let path = desk.script("broken", "\x01\x02 no program");
    desk.rules(
        &json!([{"program": path, "args": [["..."]], "cwd": ["/workspace"]}]),
        &json!({}),
    );
    desk.error(ID, &json!({"argv": ["broken"]}), "process_failed");
}
