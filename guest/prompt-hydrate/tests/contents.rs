//! What goes into a call and what comes out of it, part by part, the parts of the file, and plans of what
//! could be had.
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

use serde_json::{Value, json};
use support::{Memory, PATH, answer, ask, code, good, hook, text};

const PROMPT: &str = "shorten the tooltip on the archive button to one line";

/// Each untrusted text comes as it is, and what is wrong with it is told in an answer.
#[test]
fn untrusted_bytes_are_parsed_here_and_never_end_in_a_trap() {
    let odd = "\u{0}{\"[[\u{202e}\n---\n```{{x}}";
    assert_eq!(code("parse", json!({"hook_stdin": odd})), "stdin");
    let transcript = good(
        "plan",
        json!({"prompt": PROMPT, "transcript_tail": format!(
            "{odd}\n{}\n{odd}", json!({"type": "user", "message": {"content": "we are in the settings"}})
        )}),
    );
    let session = text(&transcript["context"], "session");
    assert!(session.contains("we are in the settings"), "{session}");
    let catalog =
        json!({"inline": [{"path": "workflows/x.md", "text": odd}, {"path": odd, "text": odd}]});
    let catalogue = good("plan", json!({"prompt": PROMPT, "catalog": catalog}));
    assert_eq!(catalogue["plan"]["degraded"], json!(["catalog"]));
    assert_eq!(catalogue["plan"]["workflow"], "minor-edit");
    let template = json!({"prompt": PROMPT, "file_path": PATH, "templates": {"context": odd}});
    assert_eq!(code("hook", template), "template");
    let reply = answer("validate", json!({"prompt": PROMPT, "plan": odd}));
    assert!(!reply["failed"].as_array().unwrap().is_empty(), "{reply}");
    let tree = json!({"inline": [{"path": ".gitignore", "text": odd}, {"path": "tooltip.rs", "text": odd}]});
    let tree = good("plan", json!({"prompt": PROMPT, "workspace": tree}));
    assert!(text(&tree["context"], "codebase").contains("tooltip.rs"));
}

/// Each `op` answers with its own members.
#[test]
fn an_answer_has_the_members_of_its_op() {
    let catalogue =
        json!({"inline": [{"path": "workflows/x.md", "text": "---\nsteps: [{name: Go}]\n---\n"}]});
    let stdin = json!({"prompt": "x", "session_id": "s", "transcript_path": "/t", "cwd": "/w"});
    for (op, request, members) in [
        (
            "parse",
            json!({"hook_stdin": stdin.to_string()}),
            &["parsed", "skip"][..],
        ),
        (
            "plan",
            json!({"prompt": PROMPT}),
            &["plan", "markdown", "context"],
        ),
        (
            "hook",
            json!({"prompt": PROMPT, "file_path": PATH}),
            &["plan", "markdown", "context", "file_text", "instruction"],
        ),
        ("route", json!({"prompt": PROMPT}), &["explain"]),
        (
            "catalog-check",
            json!({"catalog": catalogue}),
            &["findings"],
        ),
    ] {
        let response = good(op, request);
        let mut expected = [members, &["schema", "ok", "warnings"]].concat();
        expected.sort_unstable();
        let mut found: Vec<_> = response.as_object().unwrap().keys().collect();
        found.sort();
        assert_eq!(found, expected, "{op}");
    }
    let parsed = &good("parse", json!({"hook_stdin": stdin.to_string()}))["parsed"];
    for member in ["session_id", "transcript_path", "cwd", "query"] {
        assert!(parsed[member].is_string(), "{member}: {parsed}");
    }
    let response = hook(PROMPT);
    assert_eq!(response["plan"]["schema"], "hydrant.plan/1");
    assert!(text(&response, "markdown").starts_with("## Prompt Hydration\n"));
    for (member, heading) in [
        ("session", "## Session Context"),
        ("memory", "## Memory"),
        ("codebase", "## Codebase"),
    ] {
        assert!(text(&response["context"], member).starts_with(heading));
    }
    let failed = answer("plan", json!({"prompt": 1}));
    let mut members: Vec<_> = failed["error"].as_object().unwrap().keys().collect();
    members.sort();
    assert_eq!(members, ["code", "detail"]);
    assert!(failed["plan"].is_null() && failed["markdown"].is_null());
}

/// The file of a prompt by this template alone.
fn filled(template: &str) -> String {
    let request = json!({"prompt": PROMPT, "file_path": PATH, "templates": {"context": template}});
    text(&good("hook", request), "file_text").to_owned()
}

#[test]
fn each_name_stands_for_its_section_and_the_prompt_for_its_fence() {
    let whole = hook(PROMPT);
    let file = text(&whole, "file_text");
    let padding = "filler ".repeat(80);
    for (name, heading) in [
        ("session_context", "## Session Context"),
        ("memory", "## Memory"),
        ("codebase", "## Codebase"),
        ("workflow_index", "## Workflow Index"),
        ("workflow_body", "## Workflow: minor-edit"),
        ("guardrails", "## Guardrails"),
        ("draft_plan", "## Draft Plan"),
    ] {
        let alone = filled(&format!("{padding}{{{{prompt}}}}<{{{{{name}}}}}>"));
        let (_, section) = alone.split_once('<').unwrap();
        let section = section.strip_suffix('>').unwrap();
        assert!(section.starts_with(&format!("{heading}\n\n")), "{section}");
        // The same as in the default file, and nothing of the next section.
        assert!(file.contains(section), "{name}: {section}");
        assert!(section.matches("\n## ").count() == usize::from(name == "draft_plan"));
    }
    let alone = filled(&format!("{padding}<{{{{prompt}}}}>"));
    assert!(
        alone.ends_with(&format!("<```text\n{PROMPT}\n```>")),
        "{alone}"
    );
    // Names of the one template are none of the other.
    for name in ["path", "preview", "model"] {
        let template = format!("{padding}{{{{prompt}}}}{{{{{name}}}}}");
        let request =
            json!({"prompt": PROMPT, "file_path": PATH, "templates": {"context": template}});
        assert_eq!(code("hook", request), "template", "{name}");
    }
    for name in ["memory", "draft_plan", "workflow_index"] {
        let template = format!("{{{{path}}}}{{{{{name}}}}}");
        let request =
            json!({"prompt": PROMPT, "file_path": PATH, "templates": {"instruction": template}});
        assert_eq!(code("hook", request), "template", "{name}");
    }
}

#[test]
fn other_braces_are_text() {
    let padding = "filler ".repeat(80);
    for literal in [
        "{content: 1}",
        "{{",
        "}}",
        "{prompt}",
        "{{ prompt }}",
        "{{Prompt}}",
        "{{prompt2}}",
        "{{}}",
        "{{{",
        "%s $1 \\1",
    ] {
        let file = filled(&format!("{padding}{{{{prompt}}}}|{literal}|"));
        assert!(file.ends_with(&format!("|{literal}|")), "{literal}: {file}");
    }
}

/// The section of a plan's workflow, from a catalogue with this body.
fn body_section(body: &str) -> String {
    let workflow = format!(
        "---\nid: x\nquality_gate: Ok\nmodifies_files: no\ntriggers: [\"shorten the tooltip\"]\nsteps: [{{name: Go}}]\n---\n{body}"
    );
    let request = json!({"prompt": PROMPT, "file_path": PATH,
        "catalog": {"inline": [{"path": "workflows/x.md", "text": workflow}]}});
    let response = good("hook", request);
    let file = text(&response, "file_text");
    let (_, section) = file.split_once("## Workflow: x\n\n").unwrap();
    let (section, _) = section.split_once("\n## Guardrails\n").unwrap();
    section.trim().to_owned()
}

#[test]
fn the_body_of_the_chosen_file_stands_in_the_file_up_to_4000_characters() {
    let section = body_section("\n# How to\n\nDo *it* well.\n");
    assert_eq!(section, "```markdown\n# How to\n\nDo *it* well.\n```");
    for (length, kept) in [
        (3_999, 3_999),
        (4_000, 4_000),
        (4_001, 4_000),
        (20_000, 4_000),
    ] {
        let section = body_section(&"é".repeat(length));
        assert_eq!(section.matches('é').count(), kept, "{length}");
    }
    assert_eq!(body_section(""), "(none)");
    // That of the default catalogue, for the workflow that was chosen.
    let files = prompt_hydrate::catalogue::embedded_catalogue();
    let chosen = files
        .iter()
        .find(|one| one.path == "workflows/minor-edit.md")
        .unwrap();
    let (_, body) = chosen.text[4..].split_once("\n---\n").unwrap();
    let start: String = body.trim().chars().take(300).collect();
    assert!(text(&hook(PROMPT), "file_text").contains(&start), "{start}");
}

#[test]
fn each_selected_guardrail_has_one_line_with_its_definition() {
    for (prompt, lines) in [
        (
            PROMPT,
            "- `verify_before_complete`: Look at the real state and show the evidence before saying the work is done.\n\
             - `test_changes`: Run the checks that cover what was changed, and add one if none does.",
        ),
        (
            "/sql-lint reports/",
            "- `require_skill:sql-lint`: Do it with that skill.",
        ),
        ("what workflows are available?", "(none)"),
    ] {
        // The hook never routes a leading slash to a skill, an argument does.
        let request = json!({"prompt": prompt.replace("/sql-lint", "use the sql-lint skill on"), "file_path": PATH});
        let response = good("hook", request);
        let (_, section) = text(&response, "file_text")
            .split_once("\n## Guardrails\n\n")
            .unwrap();
        let (section, _) = section.split_once("\n\n## ").unwrap();
        assert_eq!(section, lines, "{prompt}");
    }
}

#[test]
fn the_model_is_haiku_or_a_name_of_at_most_64_plain_characters() {
    let named = |model: &str| {
        let request = json!({"prompt": PROMPT, "file_path": PATH, "options": {"model": model}});
        answer("hook", request)
    };
    assert!(text(&hook(PROMPT), "instruction").contains("model=\"haiku\""));
    for model in ["a", "Vendor/model-4.5:latest_1", &"m".repeat(64)] {
        let instruction = named(model);
        let expected = format!("model=\"{model}\"");
        assert!(text(&instruction, "instruction").contains(&expected));
    }
    for model in ["", "a b", "x\"", "x\n", "é", &"m".repeat(65)] {
        assert_eq!(named(model)["error"]["code"], "request", "{model:?}");
    }
}

/// What the budget leaves no room for is known all the same.
#[test]
fn the_planner_sees_what_was_trimmed_away() {
    let question = "Shall I drop the old index as well?";
    let turns = json!([
        {"role": "user", "text": "clean the schema up"},
        {"role": "assistant", "text": format!("{} {question}", "The index is unused. ".repeat(60))},
    ]);
    let planned = |budget: u32| {
        good(
            "plan",
            json!({"prompt": "sounds good, go for it", "turns": turns, "options": {"budgets": {"session": budget}}}),
        )
    };
    let (none, much) = (planned(0), planned(4000));
    assert!(text(&none["context"], "session").ends_with("(none)"));
    assert!(text(&much["context"], "session").contains(question));
    for response in [&none, &much] {
        assert_eq!(response["plan"]["workflow"], "interactive-followup");
        assert!(text(&response["plan"], "intent").contains(question));
    }
    assert_eq!(none["plan"]["todos"], much["plan"]["todos"]);
}

#[test]
fn another_task_tool_changes_the_words_around_the_plan_only() {
    let with = |tool: &str| {
        let request = json!({"prompt": PROMPT, "file_path": PATH, "options": {"task_tool": tool}});
        good("hook", request)
    };
    let (one, other) = (with("TodoWrite"), with("update_plan"));
    assert_eq!(one["markdown"], other["markdown"]);
    assert_eq!(one["plan"], other["plan"]);
    assert!(text(&other, "markdown").contains("\nTodoWrite(todos=[\n"));
    let file = text(&other, "file_text");
    assert!(file.contains("update_plan or the host's"), "{file}");
    assert_ne!(one["file_text"], other["file_text"]);
}

/// Any of what a plan is made from may be missing, alone or with the others.
#[test]
fn every_subset_of_the_sources_may_fail() {
    for subset in 0..32_u32 {
        let fails = |place: u32| subset & (1 << place) != 0;
        let mut expected = Vec::new();
        let mut told = Vec::new();
        let mut host = Memory::default();
        host.put("/workspace/tooltip.rs", support::Node::File(Vec::new()));
        let mut request =
            json!({"prompt": PROMPT, "file_path": PATH, "workspace": {"mount": "/workspace"}});
        if fails(0) {
            // A mount that holds nothing.
            request["catalog"] = json!({"mount": "/catalog"});
            expected.push("catalog");
        }
        if fails(1) {
            host = Memory::default();
            expected.push("codebase");
        }
        for (place, word) in [(2, "llm"), (3, "memory"), (4, "session")] {
            if fails(place) {
                told.push(word);
                expected.push(word);
            }
        }
        if !fails(3) {
            request["memory"] =
                json!([{"text": "tooltips are short", "source": "ui.md", "score": 1}]);
        }
        request["options"] = json!({"degraded": told});
        let response = ask(&mut host, "hook", request);
        assert_eq!(response["ok"], true, "{response}");
        let plan = &response["plan"];
        assert_eq!(plan["degraded"], json!(expected));
        assert_eq!(
            (&plan["workflow"], &plan["commit_required"]),
            (&json!("minor-edit"), &json!(true))
        );
        let context = plan["relevant_context"].to_string();
        assert_eq!(context.contains("ui.md"), !fails(3), "{context}");
        assert_eq!(context.contains("tooltip.rs"), !fails(1), "{context}");
        let same: Value = good("plan", json!({"prompt": PROMPT}))["plan"]["todos"].clone();
        assert_eq!(plan["todos"], same);
    }
}
