//! Session context and budgets.

use serde_json::{Value, json};

use crate::desk::Desk;

const PROMPT: &str = "shorten the tooltip on the archive button to one line";

fn user(text: &str) -> Value {
    json!({"type": "user", "message": {"role": "user", "content": text}})
}

fn agent(text: &str) -> Value {
    json!({"type": "assistant", "message": {"role": "assistant", "content": [{"type": "text", "text": text}]}})
}

fn tool(name: &str, input: &Value) -> Value {
    json!({"type": "assistant", "message": {"role": "assistant", "content": [
        {"type": "tool_use", "name": name, "input": input}]}})
}

/// The section of a hydrated prompt after this transcript.
fn session(desk: &Desk, prompt: &str, entries: &[Value]) -> String {
    let lines: Vec<_> = entries.iter().map(Value::to_string).collect();
    desk.folder().put("t.jsonl", lines.join("\n"));
    let mut input = desk.input(prompt);
    input["transcript_path"] = json!(desk.folder().path("t.jsonl"));
    desk.hydrated(&input).section("## Session Context")
}

fn tokens(section: &str) -> usize {
    section.chars().count().div_ceil(4)
}

#[test]
fn the_last_five_prompts_are_kept_and_cut() {
    let desk = Desk::with("[hydrate.budgets]\nsession = 4000\n");
    let mut entries: Vec<_> = (0..9)
        .map(|number| user(&format!("prompt number {number} {}", "x".repeat(600))))
        .collect();
    entries.push(user(PROMPT));
    let section = session(&desk, PROMPT, &entries);
    for number in 0..9 {
        let kept = section.contains(&format!("prompt number {number} "));
        assert_eq!(kept, number >= 4, "{number}: {section}");
    }
    assert!(!section.contains("archive button"), "{section}");
    assert!(
        section.contains(&format!(
            "prompt number 4 {}...",
            "x".repeat(400 - "prompt number 4 ".len())
        )),
        "{section}"
    );
}

#[test]
fn what_is_no_conversation_is_dropped_and_a_summary_resets_nothing() {
    let desk = Desk::with("[hydrate.budgets]\nsession = 4000\n");
    let mut side = user("from a side chain");
    side["isSidechain"] = json!(true);
    let mut meta = user("from the meta entry");
    meta["isMeta"] = json!(true);
    let section = session(
        &desk,
        PROMPT,
        &[
            user("kept before"),
            side,
            meta,
            json!({"type": "summary", "summary": "the summary"}),
            json!({"type": "system", "content": "the system"}),
            user("<system-reminder>reminder text"),
            json!({"type": "user", "message": {"content": [{"type": "tool_result", "content": "the result"}]}}),
            user("kept after"),
        ],
    );
    for kept in ["kept before", "kept after"] {
        assert!(section.contains(kept), "{section}");
    }
    for dropped in [
        "side chain",
        "meta entry",
        "the summary",
        "the system",
        "reminder text",
        "the result",
    ] {
        assert!(!section.contains(dropped), "{dropped}: {section}");
    }
}

#[test]
fn tools_and_tasks_are_told_apart() {
    let desk = Desk::with("[hydrate.budgets]\nsession = 4000\n");
    let todos = json!({"todos": [
        {"content": "a", "status": "completed", "activeForm": "A"},
        {"content": "write the parser", "status": "in_progress", "activeForm": "B"},
        {"content": "second in progress", "status": "in_progress", "activeForm": "C"},
        {"content": "d", "status": "pending", "activeForm": "D"}]});
    let section = session(
        &desk,
        PROMPT,
        &[
            user("start"),
            tool("Read", &json!({"file_path": "src/tip.rs"})),
            tool("TodoWrite", &todos),
            tool("Skill", &json!({"skill": "sql-lint"})),
        ],
    );
    let tools: Vec<_> = section
        .lines()
        .filter(|line| line.starts_with("  - "))
        .collect();
    assert_eq!(tools.len(), 1, "{section}");
    assert!(
        tools[0].contains("Read(") && tools[0].contains("src/tip.rs"),
        "{section}"
    );
    let tasks = section
        .lines()
        .find(|line| line.starts_with("Tasks: "))
        .unwrap();
    assert!(
        tasks.contains("1 pending")
            && tasks.contains("write the parser")
            && !tasks.contains("second"),
        "{tasks}"
    );
    assert!(section.contains("Active: Skill(\"sql-lint\")"), "{section}");
    let without = session(&desk, PROMPT, &[user("start")]);
    assert!(!without.contains("Tasks:"), "{without}");
}

#[test]
fn every_section_keeps_its_budget() {
    let desk = Desk::new();
    let notes = desk.folder().home().join("notes");
    std::fs::create_dir_all(&notes).unwrap();
    let paragraph =
        "The archive button has a tooltip that the archive page shows for a while. ".repeat(4);
    std::fs::write(notes.join("long.md"), format!("{paragraph}\n\n").repeat(40)).unwrap();
    for number in 0..2000 {
        let module = number / 50;
        let file = format!("tree/src/module_{module}/archive_tooltip_button_{number}.rs");
        desk.folder().put(&file, "x");
    }
    let mut entries = Vec::new();
    for number in 0..200 {
        entries.push(user(&format!("prompt {number} {}", "words ".repeat(100))));
        entries.push(agent(&format!(
            "reply {number} {} Shall I go on?",
            "words ".repeat(100)
        )));
        entries.push(tool(
            "Bash",
            &json!({"command": format!("cargo test {number}")}),
        ));
    }
    let lines: Vec<_> = entries.iter().map(Value::to_string).collect();
    desk.folder().put("t.jsonl", lines.join("\n"));
    let mut input = desk.input(PROMPT);
    input["transcript_path"] = json!(desk.folder().path("t.jsonl"));
    let hydrated = desk.hydrated(&input);
    let mut sum = 0;
    for (heading, budget) in [
        ("## Memory", 200),
        ("## Codebase", 150),
        ("## Session Context", 100),
    ] {
        let section = hydrated.section(heading);
        let used = tokens(&format!("{heading}\n{}", section.trim_end()));
        assert!(used <= budget, "{heading}: {used} tokens: {section}");
        assert!(!section.contains("(none)"), "{heading}: {section}");
        sum += used;
    }
    assert!(sum <= 450);
    desk.configure("[hydrate.budgets]\nmemory = 0\ncodebase = 0\nsession = 0\n");
    let hydrated = desk.hydrated(&input);
    for heading in ["## Memory", "## Codebase", "## Session Context"] {
        assert_eq!(hydrated.section(heading).trim(), "(none)");
    }
}

#[test]
fn a_confirmation_means_the_question_before_it() {
    let desk = Desk::new();
    let transcript = [
        user("clean the schema up"),
        agent("The index is unused. Shall I drop the old index as well?"),
    ];
    let lines: Vec<_> = transcript.iter().map(Value::to_string).collect();
    desk.folder().put("t.jsonl", lines.join("\n"));
    let mut input = desk.input("go for it");
    input["transcript_path"] = json!(desk.folder().path("t.jsonl"));
    let hydrated = desk.hydrated(&input);
    assert_eq!(hydrated.workflow(), "interactive-followup");
    assert!(
        hydrated.draft().contains("drop the old index"),
        "{}",
        hydrated.draft()
    );
    let alone = desk.prompt("go for it");
    assert_eq!(alone.workflow(), "plan-mode");
    assert!(alone.text.contains("abstained: yes"));
}
