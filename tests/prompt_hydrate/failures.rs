//! What comes of each failure, and the clock.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::desk::{Desk, EMPTY};
use crate::grammar;
use crate::server::{Answer, Server};

const PROMPT: &str = "shorten the tooltip on the archive button to one line";

fn remembering(desk: &Desk, url: &str) {
    let policy = desk.folder().path("../policy.yaml");
    desk.configure(&format!(
        "policy = {policy:?}\n[hydrate.memory]\nurl = \"{url}\"\n"
    ));
}

/// The run goes on without these, and says so once each.
fn degraded(desk: &Desk, input: &serde_json::Value, words: &[&str]) {
    let hydrated = desk.hydrated(input);
    assert_eq!(hydrated.degraded(), words, "{}", hydrated.stderr);
    for word in words {
        let line = format!("WARN: {word}: ");
        assert!(hydrated.stderr.contains(&line), "{}", hydrated.stderr);
    }
    assert!(
        hydrated
            .stderr
            .lines()
            .all(|line| line.starts_with("WARN: ")),
        "{}",
        hydrated.stderr
    );
    let plan = grammar::read(&hydrated.draft());
    assert_eq!(plan.workflow, "minor-edit");
}

#[test]
fn a_transcript_that_cannot_be_read_degrades_the_session() {
    let desk = Desk::new();
    let folder = desk.folder();
    folder.put("directory/x", "x");
    let fifo = folder.path("fifo");
    assert!(
        std::process::Command::new("mkfifo")
            .arg(&fifo)
            .status()
            .unwrap()
            .success()
    );
    for path in [
        folder.path("missing.jsonl"),
        folder.path("directory"),
        fifo,
        "/dev/zero".into(),
    ] {
        let mut input = desk.input(PROMPT);
        input["transcript_path"] = json!(path);
        degraded(&desk, &input, &["session"]);
    }
}

/// Bad content is no failure, only empty.
#[test]
fn any_content_of_a_transcript_is_read_past() {
    let desk = Desk::new();
    let folder = desk.folder();
    let good =
        json!({"type": "user", "message": {"role": "user", "content": "earlier prompt here"}});
    let huge = format!("{}\n", "x".repeat(1023)).repeat(50 * 1024);
    for (name, bytes) in [
        ("empty", Vec::new()),
        (
            "binary",
            (0..200_000_u32).map(|one| one.to_le_bytes()[1]).collect(),
        ),
        (
            "half",
            format!("{good}\n{{\"type\":\"user\",\"mess").into_bytes(),
        ),
        ("line", vec![b'x'; 2 * 1024 * 1024]),
        ("huge", format!("{huge}{good}\n").into_bytes()),
    ] {
        folder.put(name, bytes);
        let mut input = desk.input(PROMPT);
        input["transcript_path"] = json!(folder.path(name));
        let hydrated = desk.hydrated(&input);
        assert_eq!(hydrated.stderr, "", "{name}");
        let session = hydrated.section("## Session Context");
        assert_eq!(
            session.contains("earlier prompt here"),
            matches!(name, "half" | "huge"),
            "{name}: {session}"
        );
    }
}

#[test]
fn a_working_tree_that_cannot_be_read_degrades_the_codebase() {
    let desk = Desk::new();
    desk.folder().put("file", "x");
    for cwd in [desk.folder().path("missing"), desk.folder().path("file")] {
        let mut input = desk.input(PROMPT);
        input["cwd"] = json!(cwd);
        degraded(&desk, &input, &["codebase"]);
    }
}

#[test]
fn a_catalogue_that_is_missing_or_empty_is_replaced() {
    let desk = Desk::new();
    fs::create_dir(desk.folder().path("empty")).unwrap();
    for catalog in ["missing", "empty"] {
        desk.configure(&format!(
            "[hydrate]\ncatalog = {:?}\n",
            desk.folder().path(catalog)
        ));
        degraded(&desk, &desk.input(PROMPT), &["catalog"]);
    }
}

#[test]
fn notes_that_cannot_be_read_degrade_the_memory() {
    let desk = Desk::new();
    desk.folder().put("file", "x");
    desk.configure(&format!(
        "[hydrate.memory]\ndir = {:?}\n",
        desk.folder().path("file")
    ));
    degraded(&desk, &desk.input(PROMPT), &["memory"]);
}

#[test]
fn notes_of_the_home_are_shown() {
    let desk = Desk::new();
    let notes = desk.folder().home().join("notes");
    fs::create_dir_all(&notes).unwrap();
    fs::write(notes.join("ui.md"), "# Design\n\nThe archive button has a tooltip from the string table.\n\nLunch is at noon.\n").unwrap();
    let hydrated = desk.prompt(PROMPT);
    let memory = hydrated.section("## Memory");
    assert!(
        memory.contains("- ui.md: Design: The archive button has a tooltip"),
        "{memory}"
    );
    assert!(!memory.contains("Lunch"));
    assert_eq!(hydrated.stderr, "");
    desk.configure("[hydrate.memory]\nkind = \"off\"\n");
    assert!(desk.prompt(PROMPT).section("## Memory").contains("(none)"));
}

#[test]
fn a_server_of_notes_is_asked_under_the_policy() {
    let desk = Desk::new();
    let server = Server::answering(Answer::With(
        "200 OK",
        json!({"items": [{"text": "The tooltip is in strings.json", "source": "wiki", "score": 0.5}]}).to_string(),
    ));
    remembering(&desk, &server.url("/find"));
    desk.folder().put("../policy.yaml", server.policy("POST"));
    let hydrated = desk.prompt(&format!("{PROMPT}, password=hunter2secret"));
    let memory = hydrated.section("## Memory");
    assert!(
        memory.contains("- wiki: The tooltip is in strings.json"),
        "{memory}"
    );
    let asked = server.asked();
    assert_eq!(asked.len(), 1);
    assert_eq!(asked[0].line, "POST /find HTTP/1.1");
    let body: serde_json::Value = serde_json::from_str(&asked[0].body).unwrap();
    assert!(body["query"].as_str().unwrap().contains("tooltip"));
    assert!(body["limit"].is_u64());
    assert!(
        !asked[0].body.contains("hunter2secret"),
        "{}",
        asked[0].body
    );
}

#[test]
fn a_server_that_answers_anything_else_degrades_the_memory() {
    for answer in [
        Answer::With("500 Internal Server Error", "{\"items\":[]}".to_owned()),
        Answer::With("200 OK", "not json".to_owned()),
        Answer::With("200 OK", "{\"items\":[{\"text\":1}]}".to_owned()),
        Answer::With(
            "200 OK",
            format!("{{\"items\":[],\"x\":\"{}\"}}", "x".repeat(300 * 1024)),
        ),
        Answer::Half("{\"items\":[]".to_owned()),
        Answer::WithHeaders(
            "302 Found",
            vec![("location", "/find".to_owned())],
            String::new(),
        ),
    ] {
        let desk = Desk::new();
        let server = Server::answering(answer);
        remembering(&desk, &server.url("/find"));
        desk.folder().put("../policy.yaml", server.policy("POST"));
        let hydrated = desk.prompt(PROMPT);
        assert!(
            hydrated.degraded().contains(&"memory".to_owned()),
            "{}",
            hydrated.stderr
        );
        assert!(
            hydrated.stderr.contains("WARN: memory: "),
            "{}",
            hydrated.stderr
        );
        assert_eq!(server.asked().len(), 1);
    }
}

/// Without leave of the policy nobody is asked.
#[test]
fn a_server_that_the_policy_does_not_name_is_not_asked() {
    let desk = Desk::new();
    let server = Server::answering(Answer::With("200 OK", "{\"items\":[]}".to_owned()));
    desk.configure(&format!(
        "[hydrate.memory]\nurl = \"{}\"\n",
        server.url("/find")
    ));
    degraded(&desk, &desk.input(PROMPT), &["memory"]);
    remembering(&desk, &server.url("/find"));
    desk.folder().put("../policy.yaml", server.policy("GET"));
    degraded(&desk, &desk.input(PROMPT), &["memory"]);
    assert!(server.asked().is_empty());
    // Nobody there at all.
    let port = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let gone = format!("http://127.0.0.1:{port}/");
    remembering(&desk, &gone);
    let policy = server.policy("POST").replace(&server.url("/"), &gone);
    desk.folder().put("../policy.yaml", policy);
    degraded(&desk, &desk.input(PROMPT), &["memory"]);
}

#[test]
fn a_server_that_never_answers_costs_its_share_and_no_more() {
    let desk = Desk::new();
    let server = Server::answering(Answer::Never);
    remembering(&desk, &server.url("/find"));
    desk.folder().put("../policy.yaml", server.policy("POST"));
    let started = Instant::now();
    degraded(&desk, &desk.input(PROMPT), &["memory", "time"]);
    assert!(started.elapsed() < Duration::from_secs(15));
}

/// Everything that a usual run gathers. A median of 50 ms is that of an idle machine; here one run of many
/// has to need no more than ten times that and to leave nothing out, which no waiting for a processor can bring about.
#[test]
fn a_usual_prompt_is_hydrated_without_a_wait() {
    let desk = Desk::new();
    for number in 0..200 {
        let note =
            format!("# Note {number}\n\nThe archive page has a tooltip on button {number}.\n");
        desk.folder()
            .put(&format!("../home/.hydrant/notes/{number}.md"), note);
    }
    for number in 0..2000 {
        let file = format!("tree/src/module_{}/file_{number}.rs", number / 50);
        desk.folder().put(&file, "x");
    }
    let line = json!({"type": "user", "message": {"content": "some words ".repeat(30)}});
    let line = format!("{line}\n");
    let lines = (1 << 20) / line.len();
    desk.folder().put("t.jsonl", line.repeat(lines));
    let mut input = desk.input(&format!("{PROMPT}. {}", "The page is old. ".repeat(460)));
    input["transcript_path"] = json!(desk.folder().path("t.jsonl"));
    let hydrated = (0..40).find_map(|_| {
        let before = desk.files();
        let started = Instant::now();
        let run = desk.hook(&input);
        let in_time = started.elapsed() < Duration::from_millis(500);
        let new = desk.files().into_iter().find(|name| !before.contains(name));
        let whole = run.stderr.is_empty() && in_time;
        new.filter(|_| whole)
            .map(|name| fs::read_to_string(desk.tmp().join(name)).unwrap())
    });
    let text = hydrated.expect("no run of 40 was whole and in time");
    for heading in ["## Memory", "## Session Context"] {
        let section = crate::desk::section(&text, heading);
        assert!(!section.contains("(none)"), "{heading}: {section}");
    }
    assert!(text.contains("; degraded: none\n"));
}

/// A policy that shows skills no working tree shows the planner none.
#[test]
fn a_policy_without_the_workspace_hides_it() {
    let desk = Desk::new();
    desk.folder().put("tree/src/tooltip.rs", "x");
    let sees = |desk: &Desk| {
        desk.prompt(PROMPT)
            .section("## Codebase")
            .contains("tooltip.rs")
    };
    assert!(sees(&desk));
    let policy = desk.folder().path("../policy.yaml");
    desk.configure(&format!("policy = {policy:?}\n"));
    desk.folder().put(
        "../policy.yaml",
        "version: 1\ntrusted_signers: [hydrant.build, hydrant.release]\ncapability_ceiling: {}\n",
    );
    assert!(!sees(&desk));
}

#[test]
fn everything_may_fail_at_once() {
    let desk = Desk::new();
    desk.configure(&format!(
        "[hydrate]\ncatalog = {:?}\n[hydrate.memory]\nurl = \"https://notes.invalid/\"\n\
         [hydrate.llm]\nenabled = true\nwhen = \"always\"\ndialect = \"openai\"\n\
         base_url = \"https://llm.invalid/\"\nmodel = \"m\"\n",
        desk.folder().path("missing")
    ));
    let mut input = desk.input(PROMPT);
    input["cwd"] = json!(desk.folder().path("missing"));
    input["transcript_path"] = json!(desk.folder().path("missing"));
    let all = ["catalog", "codebase", "llm", "memory", "session"];
    degraded(&desk, &input, &all);
}

/// The planner cannot be had.
#[test]
fn a_complete_failure_lets_the_prompt_through() {
    let desk = Desk::new();
    desk.configure("policy = \"/nonexistent/policy.yaml\"\n");
    let run = desk.hook(&desk.input(PROMPT));
    assert_eq!(run.stdout, format!("{EMPTY}\n"));
    assert!(run.stderr.starts_with("WARN: planner: "), "{run:?}");
    assert!(desk.files().is_empty());
}

/// It runs out of fuel.
#[test]
fn a_planner_without_fuel_is_a_complete_failure() {
    let desk = Desk::new();
    let policy = desk.folder().path("../policy.yaml");
    desk.configure(&format!("policy = {policy:?}\n"));
    desk.folder().put(
        "../policy.yaml",
        "version: 1\ntrusted_signers: [hydrant.build, hydrant.release]\ncapability_ceiling: {}\nhost: {limits: {fuel: 1000}}\n",
    );
    let run = desk.hook(&desk.input(PROMPT));
    assert_eq!(run.stdout, format!("{EMPTY}\n"), "{run:?}");
    assert!(run.stderr.starts_with("WARN: planner: "), "{run:?}");
    assert!(desk.files().is_empty());
}

/// What is not what was pinned does not plan.
#[test]
fn a_planner_that_is_not_the_pinned_one_stops_the_prompt() {
    let desk = Desk::new();
    let root = desk.folder().path("root");
    copy(
        &crate::program::repository().join("pins"),
        &root.join("pins"),
    );
    copy(
        &crate::program::repository().join("skills"),
        &root.join("skills"),
    );
    let root_argument = root.to_str().unwrap().to_owned();
    let input = desk.input(PROMPT).to_string();
    let run = desk.raw(&["--root", &root_argument], input.as_bytes());
    crate::desk::context(&run);
    let version = fs::read_dir(root.join("skills/prompt.hydrate")).unwrap();
    let version = version
        .map(|entry| entry.unwrap().path())
        .find(|path| path.is_dir())
        .unwrap();
    let file = version.join("skill.wasm");
    let mut bytes = fs::read(&file).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    fs::write(&file, bytes).unwrap();
    let before = desk.files();
    let run = desk.raw(&["--root", &root_argument], input.as_bytes());
    assert_eq!((run.status, run.stdout.as_str()), (2, ""), "{run:?}");
    assert!(run.stderr.starts_with("ERROR: signature: "), "{run:?}");
    assert_eq!(run.stderr.lines().count(), 1);
    assert_eq!(desk.files(), before);
}

pub(crate) fn copy(from: &std::path::Path, to: &std::path::Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// No home, no network, no catalogue. Where nothing is kept the component is compiled each time, for which a hook has
/// no more than 15 s, however busy the machine is.
#[test]
fn without_a_home_prompts_are_planned_all_the_same() {
    let desk = Desk::new();
    let mut command = desk.folder().command(&["plan", PROMPT]);
    command
        .env_remove("HOME")
        .env_remove("HYDRANT_HOME")
        .env_remove("XDG_CACHE_HOME");
    let run = crate::program::Run::of(&mut command);
    assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{run:?}");
    assert_eq!(grammar::read(&run.stdout).workflow, "minor-edit");
}

#[test]
fn the_audit_log_holds_no_text_of_a_prompt() {
    let desk = Desk::new();
    desk.prompt("rename the xylophone flag");
    let log = fs::read_to_string(desk.folder().home().join("state/audit.jsonl")).unwrap();
    assert!(log.contains("prompt.hydrate") || !log.is_empty());
    assert!(!log.contains("xylophone"));
    let mut command = desk.command(&[]);
    command.env("HYDRANT_LOG", "hydrant=debug");
    let run = crate::desk::feed(
        &mut command,
        desk.input("rename the xylophone flag")
            .to_string()
            .as_bytes(),
    );
    assert!(run.stderr.contains("workflow"), "{run:?}");
    assert!(!run.stderr.contains("xylophone"), "{run:?}");
}
