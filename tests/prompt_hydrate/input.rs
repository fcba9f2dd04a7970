//! What the hook reads, what it skips, and how it answers.

use std::io::Write;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::desk::{Desk, EMPTY, context, feed};

/// Nothing on stdout, a line on stderr, exit status 2, and no folder.
fn refused(desk: &Desk, stdin: &[u8]) {
    let run = desk.raw(&[], stdin);
    let shown = String::from_utf8_lossy(&stdin[..stdin.len().min(80)]);
    assert_eq!(run.status, 2, "{shown}: {run:?}");
    assert_eq!(run.stdout, "", "{shown}");
    assert!(run.stderr.starts_with("ERROR: stdin: "), "{shown}: {run:?}");
    assert_eq!(run.stderr.lines().count(), 1, "{run:?}");
    assert!(run.stderr.chars().count() <= 501, "{run:?}");
    assert!(!desk.tmp().exists());
}

#[test]
fn what_is_no_object_of_the_right_types_stops_the_prompt() {
    let desk = Desk::new();
    for stdin in [
        &b""[..],
        b" ",
        b"null",
        b"[]",
        b"\"x\"",
        b"{",
        b"{} {}",
        b"{\"prompt\":1,\"session_id\":\"s\"}",
        b"{\"prompt\":[],\"session_id\":\"s\"}",
        b"{\"prompt\":\"a\",\"session_id\":{}}",
        b"{\"prompt\":\"\xff\",\"session_id\":\"s\"}",
        b"\xff\xfe{\x00}\x00",
        b"{\"prompt\":\"sesame",
    ] {
        refused(&desk, stdin);
    }
}

/// What was typed is in no message.
#[test]
fn a_message_never_holds_the_prompt() {
    let desk = Desk::new();
    for stdin in [
        "{\"session_id\":\"s\",\"prompt\":\"open-sesame\" nonsense}",
        "{\"session_id\":\"s\",\"prompt\":{\"open-sesame\":1}}",
        "{\"session_id\":[\"open-sesame\"],\"prompt\":\"open-sesame\"}",
        "\"open-sesame\"",
    ] {
        let run = desk.raw(&[], stdin.as_bytes());
        assert_eq!(run.status, 2, "{run:?}");
        assert!(!run.stderr.contains("sesame"), "{run:?}");
    }
}

#[test]
fn more_than_8_mib_stops_the_prompt() {
    let desk = Desk::new();
    let long = json!({"session_id": "s", "prompt": "x".repeat(8 * 1024 * 1024)});
    refused(&desk, long.to_string().as_bytes());
}

#[test]
fn input_that_is_never_closed_stops_the_prompt() {
    let desk = Desk::new();
    let started = Instant::now();
    let mut child = desk
        .command(&[])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin
        .write_all(b"{\"session_id\":\"s\",\"prompt\":\"a\"}")
        .unwrap();
    let output = child.wait_with_output().unwrap();
    drop(stdin);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        String::from_utf8(output.stderr)
            .unwrap()
            .starts_with("ERROR: stdin: ")
    );
    assert!(started.elapsed() < Duration::from_secs(15));
}

#[test]
fn null_absent_and_odd_members_are_no_trouble() {
    let desk = Desk::new();
    for (stdin, expected) in [
        ("{}", EMPTY),
        ("\u{feff}{} \n", EMPTY),
        ("{\"session_id\":null,\"prompt\":\"fix it\"}", EMPTY),
        ("{\"session_id\":\"s\"}", "{}"),
        ("{\"session_id\":\"s\",\"prompt\":null}", "{}"),
        (
            "{\"session_id\":\"s\",\"prompt\":\"\",\"cwd\":7,\"transcript_path\":[]}",
            "{}",
        ),
    ] {
        let run = desk.raw(&[], stdin.as_bytes());
        assert_eq!(run.status, 0, "{stdin}: {run:?}");
        assert_eq!(run.stdout, format!("{expected}\n"), "{stdin}");
        assert_eq!(run.stderr, "", "{stdin}");
        assert!(desk.files().is_empty());
    }
    let stdin =
        "{\"session_id\":\"s\",\"prompt\":\"rename \\ud83d the flag\",\"cwd\":7,\"agent_id\":null}";
    let run = desk.raw(&[], stdin.as_bytes());
    context(&run);
    let file = std::fs::read_to_string(desk.tmp().join(&desk.files()[0])).unwrap();
    assert!(file.contains("rename \u{fffd} the flag"));
}

#[test]
fn another_event_is_told_and_answered_all_the_same() {
    let desk = Desk::new();
    for event in ["UserPromptSubmit", "BeforeAgent"] {
        let mut input = desk.input("rename the flag");
        input["hook_event_name"] = json!(event);
        assert_eq!(desk.hydrated(&input).stderr, "");
    }
    let mut input = desk.input("rename the flag");
    input["hook_event_name"] = json!("Stop\nERROR: x");
    let hydrated = desk.hydrated(&input);
    assert!(
        hydrated.stderr.starts_with("WARN: event: "),
        "{}",
        hydrated.stderr
    );
    assert_eq!(hydrated.stderr.lines().count(), 1);
}

#[test]
fn every_skip_rule_gives_an_empty_answer_and_no_file() {
    let desk = Desk::new();
    for prompt in [
        "<agent-notification>done</agent-notification>",
        "<task-notification>done",
        "/compact",
        "/var fills up again",
        ".editorconfig has no effect",
        "<command-name>/commit</command-name>",
        "<command-message>commit is running</command-message>",
        "# /commit",
        "### /commit now",
        "<loaded_context>x</loaded_context>",
        "<system-reminder>x</system-reminder>",
    ] {
        for prompt in [prompt.to_owned(), format!(" \n\t{prompt}")] {
            let run = desk.hook(&desk.input(&prompt));
            assert_eq!(
                (run.status, run.stdout.as_str()),
                (0, format!("{EMPTY}\n").as_str()),
                "{prompt}"
            );
            assert_eq!(run.stderr, "", "{prompt}");
        }
    }
    for (key, value) in [
        ("agent_id", "a1"),
        ("agent_type", "explorer"),
        ("transcript_path", "/x/subagents/t.jsonl"),
        ("transcript_path", "/x/agent-7.jsonl"),
    ] {
        let mut input = desk.input("rename the flag");
        input[key] = json!(value);
        assert_eq!(desk.hook(&input).stdout, format!("{EMPTY}\n"), "{key}");
    }
    assert!(!desk.tmp().exists());
}

#[test]
fn a_command_with_arguments_of_its_own_is_hydrated_whole() {
    let desk = Desk::new();
    let prompt =
        "<command-name>/do</command-name>\n<command-args>rename the export flag</command-args>";
    let hydrated = desk.prompt(prompt);
    assert!(hydrated.text.contains(prompt));
    assert!(
        hydrated.draft().to_lowercase().contains("rename"),
        "{}",
        hydrated.draft()
    );
}

#[test]
fn a_mark_later_in_the_prompt_is_no_bypass() {
    let desk = Desk::new();
    for prompt in [
        "what does .editorconfig do?",
        "look at /etc/fstab",
        "a\n/compact",
    ] {
        desk.prompt(prompt);
    }
    assert_eq!(desk.files().len(), 3);
}

#[test]
fn a_disabled_hook_answers_and_does_nothing() {
    let desk = Desk::with("[hydrate]\nenabled = false\n");
    let run = desk.hook(&desk.input("rename the flag"));
    assert_eq!(run.stdout, format!("{EMPTY}\n"));
    assert!(!desk.tmp().exists());
}

#[test]
fn white_space_alone_is_hydrated_and_abstains() {
    let desk = Desk::new();
    let hydrated = desk.prompt(" \n ");
    assert_eq!(hydrated.workflow(), "plan-mode");
    assert!(hydrated.text.contains("abstained: yes"));
}

/// Whatever the bytes are, an answer of exit status 0 is valid JSON.
#[test]
fn no_bytes_bring_anything_else_than_an_answer() {
    let desk = Desk::new();
    let valid = desk.input("rename the flag in src/main.rs").to_string();
    let mut state = 7_u64;
    for round in 0..60 {
        let mut bytes = valid.clone().into_bytes();
        for _ in 0..=round % 4 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let at = usize::try_from(state >> 33).unwrap() % bytes.len();
            bytes[at] = (state >> 24).to_le_bytes()[0];
        }
        let output = feed_bytes(&desk, &bytes);
        match output.0 {
            0 => drop(serde_json::from_slice::<serde_json::Value>(&output.1).unwrap()),
            2 => assert!(output.1.is_empty()),
            other => panic!("exit status {other}"),
        }
        assert!(!String::from_utf8(output.2).unwrap().contains("panicked"));
    }
}

fn feed_bytes(desk: &Desk, bytes: &[u8]) -> (i32, Vec<u8>, Vec<u8>) {
    let run = feed(&mut desk.command(&[]), bytes);
    (run.status, run.stdout.into_bytes(), run.stderr.into_bytes())
}

#[test]
fn the_answer_is_one_line_however_long_the_prompt() {
    let desk = Desk::new();
    for prompt in ["a\nb\nc".repeat(50), "é\u{2028}".repeat(200)] {
        let run = desk.hook(&desk.input(&prompt));
        assert_eq!(run.stdout.matches('\n').count(), 1);
        context(&run);
    }
}
