//! `plan`, `route` and `catalog check`.

use std::fs;

use serde_json::json;

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

/// A jailed agent has no say here.
#[test]
fn in_a_jail_the_hook_is_the_operators() {
    let desk = Desk::new();
    for command in ["hook", "plan", "route", "catalog"] {
        let mut command = desk.folder().command(&[command, "x"]);
        command.env("HYDRANT_SOCKET", desk.folder().path("socket"));
        let run = crate::program::Run::of(&mut command);
        assert_eq!(run.status, 1);
        assert!(run.stderr.contains("operator-only"), "{run:?}");
    }
}
