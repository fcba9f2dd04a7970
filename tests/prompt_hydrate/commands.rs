//! `plan`, `route`, `catalog check` and `eval`.

use std::fs;

use serde_json::{Value, json};

use crate::desk::Desk;

const PROMPT: &str = "shorten the tooltip on the archive button to one line";

#[test]
fn a_plan_reads_its_prompt_from_stdin_too_and_writes_no_file() {
    let desk = Desk::new();
    let folder = desk.folder();
    let said = folder.ok(&["plan", "--no-context", PROMPT]).stdout;
    let mut command = folder.command(&["plan", "--no-context", "-"]);
    command.env("HYDRANT_TMPDIR", desk.tmp());
    assert_eq!(
        crate::desk::feed(&mut command, PROMPT.as_bytes()).stdout,
        said
    );
    assert!(!desk.tmp().exists());
}

/// The same as the hook with the same surroundings.
#[test]
fn a_plan_sees_what_the_hook_sees() {
    let desk = Desk::new();
    desk.folder().put("tree/src/archive_tooltip.rs", "x");
    desk.folder().put("tree/Cargo.toml", "[package]\n");
    desk.folder().put(
        "t.jsonl",
        json!({"type": "user", "message": {"content": "we are in the settings page"}}).to_string(),
    );
    let notes = desk.folder().home().join("notes");
    fs::create_dir_all(&notes).unwrap();
    fs::write(
        notes.join("ui.md"),
        "The archive tooltip comes from a table.\n",
    )
    .unwrap();
    let mut input = desk.input(PROMPT);
    input["transcript_path"] = json!(desk.folder().path("t.jsonl"));
    let hydrated = desk.hydrated(&input);
    let plan = desk
        .folder()
        .ok(&["plan", "--cwd", "tree", "--transcript", "t.jsonl", PROMPT]);
    assert_eq!(plan.stdout, hydrated.draft());
    assert!(
        plan.stdout.contains("archive_tooltip.rs"),
        "{}",
        plan.stdout
    );
    assert!(plan.stdout.contains("cargo test"), "{}", plan.stdout);
    assert!(
        plan.stdout.contains("comes from a table"),
        "{}",
        plan.stdout
    );
}

#[test]
fn skip_rules_are_the_hooks_alone() {
    let desk = Desk::new();
    let run = desk.folder().ok(&[
        "plan",
        "--no-context",
        ".gitattributes is ignored on checkout",
    ]);
    assert!(
        run.stdout.contains("**Workflow**: debugging"),
        "{}",
        run.stdout
    );
    let plan = desk.plan("/sql-lint reports/");
    assert_eq!(
        (plan["workflow"].as_str(), plan["skill"].as_str()),
        (Some("direct-skill"), Some("sql-lint"))
    );
}

#[test]
fn a_route_is_one_line_and_its_explanation_more() {
    let desk = Desk::new();
    let folder = desk.folder();
    let line = folder.ok(&["route", "--format", "text", PROMPT]).stdout;
    let mut words = line.split_whitespace();
    assert_eq!(words.next(), Some("minor-edit"));
    let confidence: f64 = words.next().unwrap().parse().unwrap();
    assert!((0.0..=1.0).contains(&confidence));
    assert_eq!(words.next(), None);
    let line = folder
        .ok(&["route", "--format", "text", "blorp the frunk"])
        .stdout;
    assert!(
        line.starts_with("plan-mode ") && line.ends_with(" abstained\n"),
        "{line}"
    );
    let explained = folder
        .ok(&["route", "--explain", "--format", "text", PROMPT])
        .stdout;
    for part in [
        "main: ",
        "signal ",
        "candidate ",
        "minor-edit ",
        "margin: ",
        "decision: ",
    ] {
        assert!(explained.contains(part), "{part}: {explained}");
    }
    let object = folder
        .ok(&["route", "--explain", "--format", "json", PROMPT])
        .json();
    for member in [
        "main",
        "stripped",
        "signals",
        "candidates",
        "thresholds",
        "margin",
        "decision",
        "workflow",
    ] {
        assert!(object.get(member).is_some(), "{member}: {object}");
    }
    let short = folder.ok(&["route", PROMPT]).json();
    assert_eq!(short["workflow"], "minor-edit");
    assert!(short.get("candidates").is_none());
}

#[test]
fn the_default_catalogue_has_no_findings() {
    let desk = Desk::new();
    let run = desk.folder().run(&["catalog", "check", "--format", "text"]);
    assert_eq!((run.status, run.stdout.as_str()), (0, ""), "{run:?}");
    let run = desk
        .folder()
        .run(&["catalog", "check", "--format", "text", "--pack", "extended"]);
    assert_eq!(run.status, 0, "{run:?}");
    assert!(
        run.stdout.lines().all(|line| line.contains(" C24 ")),
        "{run:?}"
    );
}

#[test]
fn a_workflow_that_changes_files_without_a_checkpoint_is_an_error() {
    let desk = Desk::new();
    desk.folder().put(
        "flows/workflows/hasty.md",
        "---\nid: hasty\ntitle: Hasty\ndescription: d\ncategory: development\nquality_gate: None\n\
         modifies_files: yes\ntriggers: [\"be hasty\"]\nsteps:\n  - {name: Do it, active: Doing}\n---\n",
    );
    let run = desk
        .folder()
        .run(&["catalog", "check", "flows", "--format", "text"]);
    assert_eq!(run.status, 1, "{run:?}");
    let line = run
        .stdout
        .lines()
        .find(|line| line.contains(" C08 "))
        .unwrap_or_else(|| panic!("{run:?}"));
    assert!(line.starts_with("error workflows/hasty.md:"), "{line}");
    let report = desk
        .folder()
        .run(&["catalog", "check", "flows", "--format", "json"]);
    let findings = &report.json()["findings"];
    assert!(
        findings
            .as_array()
            .unwrap()
            .iter()
            .any(|one| one["code"] == "C08")
    );
    assert_eq!(
        desk.folder().run(&["catalog", "check", "missing"]).status,
        2
    );
}

const ROWS: &str = "{\"prompt\":\"shorten the tooltip on the archive button to one line\",\"expected\":\"minor-edit\",\"mutating\":true}\n\
    {\"prompt\":\"what workflows are available?\",\"primary\":\"simple-question\"}\n\
    {\"prompt\":\"blorp the frunk\",\"expected\":\"feature-dev\",\"id\":\"odd\"}\n\
    {\"prompt\":\"go for it\",\"expected\":\"interactive-followup\",\"session_context\":[{\"role\":\"user\",\"text\":\"clean up\"},{\"role\":\"assistant\",\"text\":\"Shall I drop the index?\"}]}\n\
    {\"prompt\":\"/compact\",\"skip_hydration\":true}\n\
    {\"prompt\":\"answer my mail\",\"expected\":\"email-reply\"}\n";

#[test]
fn an_evaluation_reports_every_figure() {
    let desk = Desk::new();
    desk.folder().put("rows.jsonl", ROWS);
    let run = desk
        .folder()
        .ok(&["eval", "rows.jsonl", "--format", "json"]);
    let report = run.json();
    assert_eq!(
        (&report["rows"], &report["n"]),
        (&json!(6), &json!(4)),
        "{report}"
    );
    assert_eq!(report["accuracy"]["hits"], 3, "{report}");
    assert_eq!(report["precision"]["value"], 1.0, "{report}");
    assert_eq!(report["abstentions"], 1);
    assert_eq!(report["skip"]["hits"], 1);
    assert_eq!(report["out_of_catalogue"], json!([6]));
    assert_eq!(report["mutating_as_question"], json!([]));
    assert_eq!(report["wrong"][0]["id"], "odd");
    assert!(report["ms_per_prompt"].as_f64().unwrap() > 0.0);
    let (low, high) = (
        report["accuracy"]["low"].as_f64().unwrap(),
        report["accuracy"]["high"].as_f64().unwrap(),
    );
    assert!(low < 0.75 && high > 0.75);
    let text = desk
        .folder()
        .ok(&["eval", "rows.jsonl", "--format", "text"])
        .stdout;
    for part in [
        "accuracy ",
        "precision ",
        "recall",
        "confusion",
        "wrong rows",
        "line 3 [odd]",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn a_minimum_that_is_missed_and_a_row_that_is_none_have_their_status() {
    let desk = Desk::new();
    desk.folder().put("rows.jsonl", ROWS);
    let status = |arguments: &[&str]| desk.folder().run(arguments).status;
    assert_eq!(status(&["eval", "rows.jsonl", "--min-accuracy", "0.7"]), 0);
    assert_eq!(status(&["eval", "rows.jsonl", "--min-accuracy", "0.8"]), 1);
    assert_eq!(status(&["eval", "rows.jsonl", "--min-precision", "1"]), 0);
    assert_eq!(status(&["eval", "missing.jsonl"]), 2);
    assert_eq!(status(&["eval", "rows.jsonl", "--min-accuracy", "2"]), 2);
    desk.folder().put(
        "bad.jsonl",
        "{\"prompt\":\"a\",\"expected\":\"x\"}\nnonsense\n",
    );
    let run = desk.folder().run(&["eval", "bad.jsonl"]);
    assert_eq!(run.status, 2);
    assert!(run.stderr.contains("line 2"), "{run:?}");
}

/// The skip decision of a row is the hook's.
#[test]
fn a_skip_row_is_right_when_the_hook_skips_it() {
    let desk = Desk::new();
    desk.folder().put(
        "rows.jsonl",
        "{\"prompt\":\"/compact\",\"skip_hydration\":true}\n{\"prompt\":\"fix it\",\"skip_hydration\":true}\n",
    );
    let report: Value = desk.folder().ok(&["eval", "rows.jsonl"]).json();
    assert_eq!(
        (&report["skip"]["hits"], &report["skip"]["of"]),
        (&json!(1), &json!(2))
    );
}

/// A jailed agent has no say here.
#[test]
fn in_a_jail_the_hook_is_the_operators() {
    let desk = Desk::new();
    for command in ["hook", "plan", "route", "catalog", "eval"] {
        let mut command = desk.folder().command(&[command, "x"]);
        command.env("HYDRANT_SOCKET", desk.folder().path("socket"));
        let run = crate::program::Run::of(&mut command);
        assert_eq!(run.status, 1);
        assert!(run.stderr.contains("operator-only"), "{run:?}");
    }
}
