//! `hydrant check`: what is wrong with the documents of a folder, in text, JSON and SARIF.

use std::fs;

use serde_json::{Value, json};

use crate::os_root::{NONE, OsRoot, Run, agent, skill};
use crate::policy;

fn check(root: &OsRoot, arguments: &[&str]) -> Run {
    let output = root.command(&["check"]).args(arguments).output();
    Run::from(output.unwrap())
}

/// File, line and code of each problem.
fn problems(root: &OsRoot, arguments: &[&str]) -> Vec<(String, u64, String)> {
    let run = check(root, &[arguments, &["--format", "json"]].concat());
    let report: Value = serde_json::from_str(&run.stdout).unwrap();
    let problems = report["problems"].as_array().unwrap();
    assert_eq!(
        run.status,
        i32::from(!problems.is_empty()),
        "{}",
        run.stderr
    );
    let text = |problem: &Value, member: &str| problem[member].as_str().unwrap().to_owned();
    problems
        .iter()
        .map(|problem| {
            let line = problem["line"].as_u64().unwrap();
            assert!(!text(problem, "reason").is_empty() && !text(problem, "remedy").is_empty());
            (text(problem, "file"), line, text(problem, "code"))
        })
        .collect()
}

fn row(file: &str, line: u64, code: &str) -> (String, u64, String) {
    (file.to_owned(), line, code.to_owned())
}

#[test]
fn a_folder_without_mistakes_is_clean() {
    let root = OsRoot::new();
    root.file("crew/pilot.md", agent(&["../kits/rope/SKILL.md"], NONE))
        .file("kits/rope/SKILL.md", skill("Rope"))
        .file("README.md", "Nothing is declared here.");
    let run = check(&root, &["os"]);
    assert_eq!((run.status, run.stderr.as_str()), (0, ""));
    assert_eq!(run.stdout, "no problem in 3 documents\n");
}

#[test]
fn each_mistake_is_found_where_it_is_to_be_mended() {
    let root = OsRoot::new();
    root.file(
        "crew/pilot.md",
        "---\nname: Pilot\nskills:\n  - ../kits/nameless.md\n  - /kits/gone/SKILL.md\n  - ftp://h/x.md\n  \
         - ../../out.md\n  - {a: b}\ntools: Read, Grep\n---\n",
    )
    .file("kits/nameless.md", "---\ndescription: d\n---\n")
    .file("kits/colon.md", "---\nname: x\ndescription: Use: when: asked\n---\n")
    .file("kits/latin.md", b"---\nname: \xe9\n---\n")
    .file("kits/alone/SKILL.md", "---\nname: Alone\ndescription:\n---\n");
    assert_eq!(
        problems(&root, &["os"]),
        [
            row("os/crew/pilot.md", 3, "PARSE_ERROR"),
            row("os/crew/pilot.md", 5, "FETCH_FAILED"),
            row("os/crew/pilot.md", 6, "UNSUPPORTED_SCHEME"),
            row("os/crew/pilot.md", 7, "FETCH_FAILED"),
            row("os/crew/pilot.md", 9, "PARSE_ERROR"),
            row("os/kits/alone/SKILL.md", 3, "MISSING_DESCRIPTION"),
            row("os/kits/colon.md", 3, "PARSE_ERROR"),
            row("os/kits/latin.md", 2, "PARSE_ERROR"),
            row("os/kits/nameless.md", 1, "MISSING_NAME"),
        ]
    );
    // What is not among the files that are checked is said where it is declared.
    assert!(problems(&root, &["os/crew/pilot.md"]).contains(&row(
        "os/crew/pilot.md",
        4,
        "MISSING_NAME"
    )));
    assert_eq!(
        problems(&root, &["os/kits/colon.md", "--lenient"]),
        [],
        "--lenient repairs it"
    );
}

#[test]
fn tools_that_are_missing_are_found_also_where_none_may_start() {
    let root = OsRoot::new();
    root.policy(&policy::tools_run());
    root.file(
        "a.md",
        "---\ntools:\n  - good.sh\n  - gone.sh\n  - silent.sh\n---\n",
    )
    .tool("good.sh", "#!/bin/sh\necho good\n")
    .tool("silent.sh", "#!/bin/sh\n");
    assert_eq!(
        problems(&root, &["os/a.md"]),
        [
            row("os/a.md", 4, "NOT_FOUND"),
            row("os/a.md", 5, "NO_OUTPUT")
        ]
    );
    assert_eq!(
        problems(&root, &["os/a.md", "--no-exec"]),
        [row("os/a.md", 4, "NOT_FOUND")]
    );
    let run = check(&root, &["os/a.md", "--no-exec"]);
    assert!(
        run.stdout
            .ends_with("1 problem in 1 document; 2 tools not asked what they are for\n"),
        "{}",
        run.stdout
    );
}

#[test]
fn a_folder_elsewhere_is_its_own_root() {
    let root = OsRoot::new();
    root.file("../other/crew/a.md", agent(&["/kits/b.md"], NONE))
        .file("../other/kits/b.md", skill("B"));
    assert_eq!(problems(&root, &["other"]), []);
    assert_eq!(problems(&root, &["other/crew", "other/kits"]), []);
    assert_eq!(
        problems(&root, &["other/crew"]),
        [row("other/crew/a.md", 2, "FETCH_FAILED")]
    );
    assert_eq!(problems(&root, &["other/crew", "--root", "other"]), []);
    // Agents, skills and tools stand beside each other in a root.
    root.file(
        "../third/agents/a.md",
        agent(&["../skills/b/SKILL.md"], NONE),
    )
    .file("../third/skills/b/SKILL.md", skill("B"));
    for place in ["third/agents/a.md", "third/skills/b", "third/agents"] {
        let run = check(&root, &[place]);
        assert_eq!(run.status, 0, "{place}: {}", run.stdout);
        assert!(run.stderr.contains("third here; --root"), "{}", run.stderr);
    }
}

#[test]
fn sarif_names_each_rule_and_the_file_and_line_of_each_result() {
    let root = OsRoot::new();
    root.file("a b.md", "---\nskills:\n  - gone.md\n---\n");
    let run = check(&root, &["os", "--format", "sarif"]);
    assert_eq!(run.status, 1);
    let log: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(log["version"], "2.1.0");
    let rules = log["runs"][0]["tool"]["driver"]["rules"]
        .as_array()
        .unwrap();
    assert_eq!(rules.len(), 1);
    assert_eq!(rules[0]["id"], "FETCH_FAILED");
    let result = &log["runs"][0]["results"][0];
    assert_eq!(result["ruleId"], "FETCH_FAILED");
    assert_eq!(
        result["locations"][0]["physicalLocation"],
        json!({"artifactLocation": {"uri": "os/a%20b.md"}, "region": {"startLine": 3}})
    );
    let message = result["message"]["text"].as_str().unwrap();
    assert!(
        message.starts_with("os://gone.md: no file os://gone.md"),
        "{message}"
    );
}

#[test]
fn what_cannot_be_checked_is_exit_2() {
    let root = OsRoot::new();
    root.file("a.md", "Hi").file("../b.md", "beside it");
    fs::create_dir(root.path("empty")).unwrap();
    for arguments in [
        &[][..],
        &["none"],
        &["os/empty"],
        &["b.md", "--root", "os"],
        &["os", "--format", "junit"],
        &["os", "--depth", "2"],
    ] {
        let run = check(&root, arguments);
        assert_eq!((run.status, run.stdout.as_str()), (2, ""), "{arguments:?}");
        assert!(!run.stderr.is_empty(), "{arguments:?}");
    }
}

#[test]
fn hostile_names_are_escaped_in_text_and_one_document_too_large_stops_nothing() {
    let root = OsRoot::new();
    root.file("e\u{1b}[2J.md", "---\nskills: [gone.md]\n---\n")
        .sparse("z.md", 5 * 1024 * 1024)
        .file("zz.md", "---\nskills: [gone.md]\n---\n");
    let run = check(&root, &["os"]);
    assert_eq!(run.status, 1);
    assert!(!run.stdout.contains('\u{1b}'), "{}", run.stdout);
    assert!(run.stdout.contains("e\\u{1b}[2J.md:2: "), "{}", run.stdout);
    assert!(
        run.stdout
            .contains("os/z.md:1: FETCH_FAILED: os://z.md has more than 4 MiB")
    );
    assert!(run.stdout.contains("os/zz.md:2: "), "{}", run.stdout);
}

#[test]
fn large_skills_hide_nothing_of_others() {
    let root = OsRoot::new();
    let large = skill("Large") + &"x".repeat(4 * 1024 * 1024 - 100);
    for number in 0..17 {
        root.file(&format!("large{number}/SKILL.md"), &large);
    }
    root.file("z/SKILL.md", "---\nname: Z\n---\n");
    assert_eq!(
        problems(&root, &["os"]),
        [row("os/z/SKILL.md", 1, "MISSING_DESCRIPTION")]
    );
}

#[test]
fn the_examples_of_the_manual_have_the_mistakes_that_they_show() {
    let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/os");
    let root = OsRoot::new();
    let found = problems(&root, &[examples, "--no-exec"]);
    let elsewhere: Vec<_> = found
        .iter()
        .filter(|(file, ..)| !file.contains("troubled"))
        .collect();
    assert!(elsewhere.is_empty(), "{elsewhere:?}");
    assert!(found.len() > 10, "{found:?}");
}
