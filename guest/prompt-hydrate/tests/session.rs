//! Transcripts: what is taken of them, and how it is trimmed.

#![allow(
    missing_docs,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::panic,
    clippy::as_conversions,
    clippy::string_slice,
    unreachable_pub,
    reason = "tests"
)]

mod support;

use prompt_hydrate::document::session_section;
use prompt_hydrate::session::Facts;
use proptest::prelude::*;
use serde_json::{Value, json};
use support::{good, text, tokens};

fn user(content: impl Into<Value>) -> Value {
    json!({"type": "user", "message": {"role": "user", "content": content.into()}})
}

fn agent(content: impl Into<Value>) -> Value {
    json!({"type": "assistant", "message": {"role": "assistant", "content": content.into()}})
}

fn tool(name: &str, input: Value) -> Value {
    agent(json!([{"type": "tool_use", "id": "x", "name": name, "input": input}]))
}

fn lines(entries: &[Value]) -> String {
    entries.iter().map(|entry| format!("{entry}\n")).collect()
}

/// The text of the session section, with a budget that trims nothing.
fn session(transcript: &str, prompt: &str) -> String {
    section(transcript, prompt, 4000)
}

fn section(transcript: &str, prompt: &str, budget: usize) -> String {
    // As `turns_and_transcripts_tell_the_same` shows, a call does no more than this.
    let rendered = session_section(&Facts::of_transcript(transcript, prompt), prompt, budget);
    let section = rendered.section.as_str();
    assert!(
        section.ends_with("(none)") || tokens(section) <= budget,
        "{budget} {section}"
    );
    let body = section.strip_prefix("## Session Context\n\n").unwrap();
    if body == "(none)" {
        return String::new();
    }
    let body = body
        .strip_prefix("```text\n")
        .unwrap()
        .strip_suffix("\n```")
        .unwrap();
    body.to_owned()
}

#[test]
fn all_parts_in_their_order() {
    let transcript = lines(&[
        user("first"),
        agent("Done. Shall I also add a test?"),
        user(json!([{"type": "text", "text": "second\nline"}])),
        tool("Read", json!({"file_path": "/a/b.rs", "limit": 5})),
        tool("Skill", json!({"skill": "sql-lint"})),
        tool(
            "TodoWrite",
            json!({"todos": [
                {"content": "one", "status": "completed", "activeForm": "x"},
                {"content": "two", "status": "in_progress", "activeForm": "x"},
                {"content": "three", "status": "in_progress", "activeForm": "x"},
                {"content": "four", "status": "pending", "activeForm": "x"},
            ]}),
        ),
        agent(
            json!([{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "Read it. 1. Which one? The **second**?"}]),
        ),
    ]);
    let expected = "Recent prompts:\n1. \"first\"\n2. \"second line\"\nAgent questions (recent):\n1. The **second**?\n\
        Recent agent responses:\n1. \"Done. Shall I also add a test?\"\n2. \"Read it. 1. Which one? The **second**?\"\n\
        Recent tools:\n  - Read(file_path=\"/a/b.rs\", limit=\"5\")\nActive: Skill(\"sql-lint\") invoked recently\n\
        Tasks: 1 pending, 2 in_progress (\"two\"), 1 completed";
    assert_eq!(session(&transcript, "a longer prompt"), expected);
}

#[test]
fn what_was_not_typed_is_dropped() {
    let mut entries = vec![
        user("kept"),
        json!({"type": "summary", "summary": "SUMMARY", "leafUuid": "x"}),
        json!({"type": "system", "content": "SYSTEM", "message": {"content": "SYSTEM"}}),
        json!({"type": "progress", "message": {"content": "OTHER"}}),
        user(json!([{"type": "tool_result", "tool_use_id": "x", "content": "RESULT"}])),
        user(json!([{"type": "tool_result", "content": [{"type": "text", "text": "RESULT"}]}])),
        user(""),
        user(" \n"),
        user("<command-name>/x</command-name><command-args></command-args>"),
        user("<command-message>x</command-message> DROPPED"),
    ];
    for mark in [
        "agent-notification",
        "task-notification",
        "ide_selection",
        "ide_opened_file",
        "system-reminder",
        "local-command-stdout",
    ] {
        entries.push(user(format!("<{mark}>DROPPED")));
        entries.push(user(
            json!([{"type": "text", "text": format!(" <{mark}>DROPPED")}]),
        ));
    }
    for key in ["isMeta", "isSidechain", "isCompactSummary"] {
        let mut entry = user("DROPPED");
        entry[key] = json!(true);
        entries.push(entry);
        let mut entry = agent(
            json!([{"type": "text", "text": "DROPPED?"}, {"type": "tool_use", "name": "DROPPED", "input": {}}]),
        );
        entry[key] = json!(true);
        entries.push(entry);
    }
    entries.push(user(
        "<command-name>/fix</command-name>\n<command-args> the lease </command-args>",
    ));
    assert_eq!(
        session(&lines(&entries), "a longer prompt"),
        "Recent prompts:\n1. \"kept\"\n2. \"the lease\""
    );
}

#[test]
fn the_current_prompt_is_left_out_once() {
    let transcript = lines(&[user("again"), agent("ok"), user("again")]);
    assert!(session(&transcript, "again").starts_with("Recent prompts:\n1. \"again\"\nRecent"));
    let transcript = lines(&[user("again"), user("other")]);
    assert_eq!(
        session(&transcript, "again"),
        "Recent prompts:\n1. \"again\"\n2. \"other\""
    );
    let command = "<command-name>/x</command-name><command-args>do it all</command-args>";
    assert_eq!(
        session(&lines(&[user("a"), user(command)]), command),
        "Recent prompts:\n1. \"a\""
    );
}

#[test]
fn numbers_and_lengths() {
    let mut entries: Vec<Value> = (0..9)
        .map(|n| user(format!("p{n} {}", "x".repeat(500))))
        .collect();
    entries.extend((0..9).map(|n| agent(format!("r{n} {}", "y".repeat(500)))));
    entries.extend((0..14).map(|n| tool("Bash", json!({"command": format!("c{n}")}))));
    let text = session(&lines(&entries), "a longer prompt");
    let quoted = |mark: char, most: usize, name: &str| {
        let own: Vec<&str> = text
            .lines()
            .filter(|line| line.contains(&format!(". \"{mark}")))
            .collect();
        for line in &own {
            assert!(line.ends_with("...\""), "{line}");
            let inner = line
                .split_once('"')
                .unwrap()
                .1
                .strip_suffix("...\"")
                .unwrap();
            assert_eq!(inner.chars().count(), most, "{name}");
        }
        own.len()
    };
    assert_eq!(quoted('p', 400, "prompts"), 5);
    assert_eq!(quoted('r', 300, "replies"), 3);
    assert!(text.contains("1. \"p4 ") && text.contains("5. \"p8 ") && text.contains("3. \"r8 "));
    assert_eq!(text.matches("  - Bash(").count(), 10);
    assert!(text.contains("c4\"") && text.contains("c13\"") && !text.contains("c3\""));
    // A short prompt answers something: the newest reply counts more.
    let long = session(&lines(&entries), "do it now!");
    let newest = long.lines().find(|line| line.contains("\"r8")).unwrap();
    assert!(newest.chars().count() > 500);
}

#[test]
fn the_last_question_of_the_newest_reply() {
    for (reply, question) in [
        ("Shall I?", Some("Shall I?")),
        ("One? Two? Done.", Some("Two?")),
        ("**Shall I drop it?**\n\nThanks.", Some("Shall I drop it?")),
        ("- (a) keep it\n- Should we wait?", Some("Should we wait?")),
        ("See https://x.example/a?b=c for more.", None),
        ("```\nis_it?\n```\nNo.", None),
        ("Did it. Version 1.2 or 2.0?", Some("Version 1.2 or 2.0?")),
        ("What? ".repeat(3).as_str(), Some("What?")),
        ("?", None),
        ("Plain.", None),
    ] {
        let found = session(&lines(&[agent(reply)]), "a longer prompt");
        let found = found
            .split_once("Agent questions (recent):\n1. ")
            .map(|(_, rest)| rest.lines().next().unwrap().to_owned());
        assert_eq!(found.as_deref(), question, "{reply}");
    }
    let older = lines(&[agent("Old one?"), agent("Newer, no question.")]);
    assert!(!session(&older, "a longer prompt").contains("questions"));
}

#[test]
fn skill_calls_count_among_the_last_ten() {
    let reads = |count: usize| vec![tool("Read", json!({"file_path": "x"})); count];
    let mut near = vec![
        tool("Skill", json!({"skill": "old"})),
        tool("Skill", json!({"command": "new"})),
    ];
    near.extend(reads(9));
    assert!(
        session(&lines(&near), "a longer prompt")
            .contains("Active: Skill(\"new\") invoked recently")
    );
    let mut far = vec![tool("Skill", json!({"skill": "far"}))];
    far.extend(reads(10));
    assert!(!session(&lines(&far), "a longer prompt").contains("Active"));
}

#[test]
fn the_newest_task_state() {
    let list = |text: &str| {
        tool(
            "TodoWrite",
            json!({"todos": [{"content": text, "status": "in_progress"}]}),
        )
    };
    let empty = tool("TodoWrite", json!({"todos": []}));
    let create = |text: &str| tool("TaskCreate", json!({"subject": text, "description": "d"}));
    let update =
        |id: &str, status: &str| tool("TaskUpdate", json!({"taskId": id, "status": status}));
    for (entries, expected) in [
        (
            vec![list("a"), list("b")],
            "Tasks: 0 pending, 1 in_progress (\"b\"), 0 completed",
        ),
        (
            vec![list("a"), empty.clone()],
            "Tasks: 0 pending, 1 in_progress (\"a\"), 0 completed",
        ),
        (
            vec![
                create("a"),
                create("b"),
                create("c"),
                update("1", "completed"),
                update("2", "in_progress"),
            ],
            "Tasks: 1 pending, 1 in_progress (\"b\"), 1 completed",
        ),
        (
            vec![create("a"), create("b"), update("1", "deleted")],
            "Tasks: 1 pending, 0 in_progress, 0 completed",
        ),
        (
            vec![create("a"), list("x")],
            "Tasks: 0 pending, 1 in_progress (\"x\"), 0 completed",
        ),
        (
            vec![list("x"), create("a")],
            "Tasks: 1 pending, 0 in_progress, 0 completed",
        ),
        (
            vec![update("7", "in_progress")],
            "Tasks: 0 pending, 1 in_progress, 0 completed",
        ),
        (
            vec![
                empty,
                tool("TodoWrite", json!({"todos": "x"})),
                tool("Task", json!({"prompt": "x"})),
            ],
            "",
        ),
    ] {
        assert_eq!(session(&lines(&entries), "a longer prompt"), expected);
    }
    // Far before everything else that is collected.
    let mut entries = vec![list("early")];
    for n in 0..30 {
        entries.extend([user(format!("u{n}")), agent("r"), tool("Read", json!({}))]);
    }
    assert!(session(&lines(&entries), "a longer prompt").ends_with("(\"early\"), 0 completed"));
}

#[test]
fn tool_lines() {
    let input = json!({
        "command": format!("echo \"{}\"", "z".repeat(100)), "description": "D", "prompt": "P", "content": "C",
        "old_string": "O", "new_string": "N", "flag": true, "list": [1, {"a": 2}], "api_key": "hunter2", "nothing": null,
    });
    let line = session(&lines(&[tool("mcp__x__Do it`", input)]), "a longer prompt");
    let expected = format!(
        "Recent tools:\n  - mcp__x__Doit(command=\"echo '{}...\", flag=\"true\", list=\"[1,{{'a':2}}]\", \
         api_key=\"[REDACTED:api-key]\", nothing=\"null\")",
        "z".repeat(54)
    );
    assert_eq!(line, expected);
}

#[test]
fn trimming_goes_step_by_step() {
    let mut entries: Vec<Value> = (0..5)
        .map(|n| user(format!("p{n} {}", "x".repeat(300))))
        .collect();
    entries.extend([
        tool("Skill", json!({"skill": "sk"})),
        tool("Read", json!({"file_path": "t0"})),
        tool("Read", json!({"file_path": "t1"})),
        tool(
            "TodoWrite",
            json!({"todos": [{"content": "current task", "status": "in_progress"}]}),
        ),
        agent("Reply with a question in it, which is of some length: shall I go on with this?"),
    ]);
    let transcript = lines(&entries);
    let states: Vec<String> = (1..=600)
        .rev()
        .map(|budget| section(&transcript, "a longer prompt", budget))
        .collect();
    // Whatever is gone stays gone, in the order of the row.
    let marks: [(&str, &str); 12] = [
        ("replies", "Recent agent responses"),
        ("oldest tool", "\"t0\""),
        ("newest tool", "\"t1\""),
        ("limit 400", &"x".repeat(290)),
        ("limit 200", &"x".repeat(190)),
        ("limit 120", &"x".repeat(110)),
        ("limit 80", &"x".repeat(70)),
        ("active", "Active:"),
        ("oldest prompt", "p0 "),
        ("second prompt", "p1 "),
        ("limit 60", &"x".repeat(50)),
        ("third prompt", "p2 "),
    ];
    let rest = [
        ("question", "Agent questions"),
        ("current", "current task"),
        ("prompts", "Recent prompts"),
        ("tasks", "Tasks: 0"),
    ];
    let gone = |mark: &str| {
        states
            .iter()
            .position(|state| !state.contains(mark))
            .unwrap()
    };
    let order: Vec<(usize, &str)> = marks
        .iter()
        .chain(&rest)
        .map(|(name, mark)| (gone(mark), *name))
        .collect();
    assert!(order.is_sorted_by_key(|(at, _)| *at), "{order:?}");
    for (_, mark) in marks.iter().chain(&rest) {
        assert!(
            states[gone(mark)..]
                .iter()
                .all(|state| !state.contains(mark)),
            "{mark}"
        );
    }
    // As much as fits: every state but the shortest is near its budget when the next step is small.
    assert!(
        states
            .iter()
            .any(|state| state == "Tasks: 0 pending, 1 in_progress, 0 completed")
    );
    // A short prompt keeps the question longer than the prompts.
    let short: Vec<String> = (1..=600)
        .rev()
        .map(|budget| section(&transcript, "go on", budget))
        .collect();
    let gone = |mark: &str| {
        short
            .iter()
            .position(|state| !state.contains(mark))
            .unwrap()
    };
    assert!(gone("Recent prompts") <= gone("Agent questions"));
    assert!(gone("current task") <= gone("Agent questions"));
}

#[test]
fn by_default_three_prompts_or_more_fit() {
    let mut entries: Vec<Value> = (0..8)
        .map(|n| user(format!("prompt number {n} {}", "words ".repeat(40))))
        .collect();
    entries.push(tool(
        "TodoWrite",
        json!({"todos": [{"content": "current task", "status": "in_progress"}]}),
    ));
    let text = section(&lines(&entries), "a longer prompt", 100);
    let kept = text.matches("\"prompt number").count();
    assert!(
        kept >= 3 && text.contains(&format!("{kept}. \"prompt number 7")),
        "{text}"
    );
    assert!(
        text.contains("Tasks: 0 pending, 1 in_progress (\"current task\")"),
        "{text}"
    );
}

#[test]
fn garbage_costs_nothing_but_itself() {
    let good_line = user("kept").to_string();
    let big = user("b".repeat(900 * 1024)).to_string();
    for transcript in [
        format!("{{\"type\":\"us\n{good_line}\n{{\"type\":\"user\",\"mess"),
        format!("\u{0}\u{fffd}\u{1b}\n\n[]\n7\nnull\n\"x\"\n{{}}\n{good_line}\r\n"),
        format!("{}\n{good_line}", "{".repeat(100_000)),
        format!("{}\n{good_line}", "{\"message\":".repeat(50_000)),
        format!("{}\n{good_line}", "\n".repeat(500_000)),
        format!(
            "{{\"type\":7}}\n{{\"type\":\"user\"}}\n{{\"type\":\"user\",\"message\":7}}\n{good_line}"
        ),
        format!(
            "{{\"type\":\"user\",\"message\":{{\"content\":[null,7,[],\"\",{{}}]}}}}\n{good_line}"
        ),
        format!(
            "{{\"type\":\"assistant\",\"message\":{{\"content\":[{{\"type\":\"tool_use\"}}]}}}}\n{good_line}"
        ),
        format!(
            "{}\n{good_line}",
            user(json!([{"type": "tool_result", "content": "c".repeat(500_000)}]))
        ),
        // The first line of what is left is a part of one.
        format!("{}\n{good_line}", "y".repeat(1024 * 1024)),
    ] {
        assert_eq!(
            session(&transcript, "a longer prompt"),
            "Recent prompts:\n1. \"kept\"",
            "{transcript:.60}"
        );
    }
    let text = session(&format!("{big}\n"), "a longer prompt");
    assert!(text.starts_with("Recent prompts:\n1. \"bbb") && text.ends_with("b...\""));
    assert_eq!(session("", "x"), "");
    assert_eq!(
        session(
            &user("x".repeat(2 * 1024 * 1024)).to_string(),
            "a longer prompt"
        ),
        ""
    );
}

#[test]
fn half_pairs_in_a_transcript_are_read() {
    let line = r#"{"type":"user","message":{"content":"smile \ud83d and \ud83d\ude00"}}"#;
    assert_eq!(
        session(line, "a longer prompt"),
        "Recent prompts:\n1. \"smile \u{fffd} and 😀\""
    );
}

#[test]
fn texts_of_the_session_are_clean() {
    let secret = format!("sk-{}", "a1".repeat(20));
    let text = format!("one\n\n```rust\nlet x;\n``` \u{202e}\u{7} password=hunter2 {secret} ok?");
    let transcript = lines(&[
        user(text.clone()),
        agent(text.clone()),
        tool("Bash", json!({"command": text, "note": secret})),
    ]);
    let shown = session(&transcript, "a longer prompt");
    assert!(!shown.contains("```") && shown.contains("'''rust"));
    assert!(!shown.contains(&secret) && !shown.contains("hunter2") && !shown.contains('\u{202e}'));
    assert!(shown.contains("[REDACTED:password]") && shown.contains("[REDACTED:token]"));
}

#[test]
fn turns_and_transcripts_tell_the_same() {
    let transcript = lines(&[
        user("first thing"),
        agent("Shall I go on with that?"),
        user("yes"),
    ]);
    let turns = json!([
        {"role": "user", "text": "first thing"},
        {"role": "assistant", "text": "Shall I go on with that?"},
        {"role": "user", "text": "yes"},
    ]);
    let one = good(
        "plan",
        json!({"prompt": "yes", "transcript_tail": transcript}),
    );
    let other = good("plan", json!({"prompt": "yes", "turns": turns}));
    assert_eq!(one, other);
    let facts = Facts::of_transcript(&transcript, "yes");
    assert_eq!(
        text(&one["context"], "session"),
        session_section(&facts, "yes", 100).section
    );
}

proptest! {
    #[test]
    fn no_transcript_ends_the_process(
        parts in proptest::collection::vec(
            prop_oneof![
                any::<String>(),
                Just(user("a prompt").to_string()), Just(agent("Reply?").to_string()), Just("\n".to_owned()),
                Just(tool("TaskUpdate", json!({"taskId": 7})).to_string()), Just("{\"type\":\"user\",".to_owned()),
                Just(tool("TodoWrite", json!({"todos": [7, {"status": "pending"}]})).to_string()),
            ],
            0..20,
        ),
        budget in 0usize..300,
    ) {
        section(&parts.concat(), "fix it", budget);
    }
}
