//! Requests and responses, and stdin of the hook end to end.

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
use support::{Memory, PATH, answer, ask, ask_text, code, good, hook};

#[test]
fn what_is_no_request_is_refused_by_name() {
    let bad = [
        "",
        "[]",
        "null",
        "{",
        "{}",
        r#"{"schema":"hydrant.hydrate.request/1"}"#,
        r#"{"schema":"hydrant.hydrate.request/2","op":"parse","hook_stdin":"{}"}"#,
        r#"{"schema":"hydrant.hydrate.request/1","op":"eval"}"#,
        r#"{"schema":"hydrant.hydrate.request/1","op":7}"#,
        r#"{"schema":"hydrant.hydrate.request/1","op":"parse","op":"parse","hook_stdin":"{}"}"#,
        "\u{0}",
    ];
    for request in bad {
        let response = ask_text(&mut Memory::default(), request);
        assert_eq!(response["error"]["code"], "request", "{request}");
    }
    for (op, members) in [
        ("parse", json!({})),
        ("parse", json!({"hook_stdin": 7})),
        ("parse", json!({"hook_stdin": "{}", "prompt": "x"})),
        ("hook", json!({"prompt": "x"})),
        ("hook", json!({"file_path": PATH})),
        (
            "hook",
            json!({"prompt": "x", "file_path": PATH, "plan": "{}"}),
        ),
        ("plan", json!({"prompt": "x", "file_path": PATH})),
        ("plan", json!({"prompt": "x", "unknown": 1})),
        ("plan", json!({"prompt": "x", "options": {"unknown": 1}})),
        ("plan", json!({"prompt": "x", "options": {"max_todos": 13}})),
        ("plan", json!({"prompt": "x", "options": {"max_todos": 0}})),
        (
            "plan",
            json!({"prompt": "x", "options": {"budgets": {"memory": 4001}}}),
        ),
        ("plan", json!({"prompt": "x", "options": {"model": "a b"}})),
        (
            "plan",
            json!({"prompt": "x", "options": {"tracker": "a\nb"}}),
        ),
        (
            "plan",
            json!({"prompt": "x", "options": {"degraded": ["rain"]}}),
        ),
        (
            "plan",
            json!({"prompt": "x", "turns": [], "transcript_tail": ""}),
        ),
        (
            "plan",
            json!({"prompt": "x", "turns": [{"role": "system", "text": ""}]}),
        ),
        (
            "plan",
            json!({"prompt": "x", "codebase": {}, "workspace": {"inline": []}}),
        ),
        (
            "plan",
            json!({"prompt": "x", "catalog": {"mount": "/workspace"}}),
        ),
        (
            "plan",
            json!({"prompt": "x", "workspace": {"mount": "/catalog"}}),
        ),
        (
            "plan",
            json!({"prompt": "x", "workspace": {"mount": "/etc"}}),
        ),
        ("validate", json!({"prompt": "x"})),
        ("route", json!({})),
        ("route", json!({"rows": [{"prompt": "x"}]})),
        ("codebase", json!({"prompt": "x"})),
    ] {
        assert_eq!(code(op, members.clone()), "request", "{op} {members}");
    }
}

#[test]
fn requests_and_responses_have_the_schemas_that_describe_says() {
    let described: Value = serde_json::from_str(prompt_hydrate::describe()).unwrap();
    assert_eq!(described["name"], "prompt.hydrate");
    assert_eq!(described["input_schema"]["additionalProperties"], false);
    let output = &described["output_schema"];
    assert_eq!(output["additionalProperties"], false);
    let known = output["properties"].as_object().unwrap();
    for response in [
        answer("parse", json!({"hook_stdin": "{\"prompt\":\"fix a.rs\"}"})),
        answer("parse", json!({"hook_stdin": "["})),
        answer(
            "codebase",
            json!({"prompt": "x", "workspace": {"inline": []}}),
        ),
        answer("route", json!({"prompt": "fix a.rs"})),
        answer("catalog-check", json!({})),
        answer("validate", json!({"prompt": "fix a.rs", "plan": "no"})),
        hook("fix a.rs"),
    ] {
        for (member, value) in response.as_object().unwrap() {
            let schema = known.get(member).unwrap_or_else(|| panic!("{member}"));
            if let Some(members) = schema["properties"]
                .as_object()
                .filter(|_| value.is_object())
            {
                assert_eq!(schema["additionalProperties"], false, "{member}");
                for inner in value.as_object().unwrap().keys() {
                    assert!(members.contains_key(inner), "{member}.{inner}");
                }
            }
        }
    }
}

#[test]
fn parse_gives_the_fields_and_the_decision() {
    let stdin = r#"{"session_id":"s","transcript_path":"/t.jsonl","cwd":"/w","prompt":"please fix the parser",
        "hook_event_name":"Other","extra":{"a":[1]}}"#;
    let response = good("parse", json!({ "hook_stdin": stdin }));
    assert_eq!(response["skip"], Value::Null);
    assert!(response.as_object().unwrap().contains_key("skip"));
    let parsed = &response["parsed"];
    assert_eq!(parsed["session_id"], "s");
    assert_eq!(parsed["transcript_path"], "/t.jsonl");
    assert_eq!(parsed["cwd"], "/w");
    assert_eq!(parsed["prompt"], "please fix the parser");
    assert_eq!(parsed["event_warning"], "Other");
    assert!(parsed["query"].as_str().unwrap().contains("fix the parser"));

    let skipped = good("parse", json!({"hook_stdin": "{\"prompt\":\" /x\"}"}));
    assert_eq!(skipped["skip"], json!({"rule": "slash"}));
    let disabled = json!({"hook_stdin": "{\"prompt\":\"x\"}", "options": {"enabled": false}});
    assert_eq!(good("parse", disabled)["skip"]["rule"], "disabled");
    assert_eq!(
        code("parse", json!({"hook_stdin": "{\"prompt\":1}"})),
        "stdin"
    );
}

#[test]
fn the_query_is_bounded_and_without_secrets() {
    let prompt = format!("rotate ghp_{} in {}", "a1".repeat(18), "word ".repeat(500));
    let stdin = json!({ "prompt": prompt }).to_string();
    let response = good("parse", json!({ "hook_stdin": stdin }));
    let query = response["parsed"]["query"].as_str().unwrap();
    assert!(
        query.contains("[REDACTED:token]") && !query.contains("ghp_"),
        "{query}"
    );
    assert!(query.chars().count() <= 512);
    assert_eq!(response["parsed"]["prompt"], prompt);
}

#[test]
fn errors_never_quote_the_prompt() {
    for stdin in [
        "{\"prompt\":\"hush-hush\"",
        "{\"prompt\":[\"hush-hush\"]}",
        "hush-hush",
        "{\"hush-hush\"}",
    ] {
        let response = answer("parse", json!({ "hook_stdin": stdin }));
        assert_eq!(response["error"]["code"], "stdin");
        assert!(!response.to_string().contains("hush"), "{response}");
    }
}

#[test]
fn equal_requests_give_equal_bytes() {
    let request = json!({
        "schema": "hydrant.hydrate.request/1", "op": "hook", "prompt": "fix the type error in src/parser.py",
        "file_path": PATH, "memory": [{"text": "the parser is old", "source": "notes.md", "score": 1.5}],
        "turns": [{"role": "user", "text": "hello"}, {"role": "assistant", "text": "Shall I?"}],
        "workspace": {"inline": [{"path": "src/parser.py", "text": ""}, {"path": "pyproject.toml", "text": ""}]},
    })
    .to_string();
    let run = || prompt_hydrate::run(&mut Memory::default(), request.as_bytes()).unwrap();
    let first = run();
    for _ in 0..100 {
        assert!(run() == first);
    }
}

#[test]
fn inline_and_mounted_trees_give_the_same_plan() {
    let files = [
        ("src/session_state.py", ""),
        ("src/other.py", ""),
        ("build.log", ""),
        (".gitignore", "*.log\n"),
        ("pyproject.toml", ""),
    ];
    let inline: Vec<Value> = files
        .iter()
        .map(|(path, text)| json!({"path": path, "text": text}))
        .collect();
    let prompt = "fix the session state, see build.log";
    let by_value = good(
        "plan",
        json!({"prompt": prompt, "workspace": {"inline": inline}}),
    );
    let mounted: Vec<(String, &str)> = files
        .iter()
        .map(|(path, text)| (format!("/workspace/{path}"), *text))
        .collect();
    let mut host = Memory::with(mounted.iter().map(|(path, text)| (path.as_str(), *text)));
    let by_mount = ask(
        &mut host,
        "plan",
        json!({"prompt": prompt, "workspace": {"mount": "/workspace"}}),
    );
    assert_eq!(by_value, by_mount);
    // The host's two calls are the same again.
    let found = ask(
        &mut host,
        "codebase",
        json!({"prompt": prompt, "workspace": {"mount": "/workspace"}}),
    );
    let handed = good(
        "plan",
        json!({"prompt": prompt, "codebase": found["codebase"]}),
    );
    assert_eq!(by_value, handed);
    assert!(
        by_value["markdown"]
            .as_str()
            .unwrap()
            .contains("src/session_state.py"),
        "{by_value}"
    );
}

const WORKFLOW: &str = "---\nid: release-train\ntitle: Release train\ndescription: Cuts a release.\ncategory: operations\n\
    quality_gate: Train left\nmodifies_files: no\ntriggers: [cut the train]\nsteps:\n  - name: Cut it\n---\n\n# Release train\n";

#[test]
fn a_catalogue_is_read_from_its_mount_or_by_value() {
    let prompt = "cut the train for 4.2";
    let mut host = Memory::with([
        ("/catalog/workflows/release-train.md", WORKFLOW),
        ("/catalog/notes.bin", "x"),
    ]);
    let by_mount = ask(
        &mut host,
        "plan",
        json!({"prompt": prompt, "catalog": {"mount": "/catalog"}}),
    );
    assert_eq!(by_mount["plan"]["workflow"], "release-train", "{by_mount}");
    assert_eq!(host.read, ["/catalog/workflows/release-train.md"]);
    let inline = json!([{"path": "workflows/release-train.md", "text": WORKFLOW}]);
    let by_value = good(
        "plan",
        json!({"prompt": prompt, "catalog": {"inline": inline}}),
    );
    assert_eq!(by_mount, by_value);
    assert_ne!(
        good("plan", json!({"prompt": prompt}))["plan"]["workflow"],
        "release-train"
    );
}

#[test]
fn a_catalogue_that_cannot_be_read_is_the_embedded_one_with_a_warning() {
    let mut unreadable = Memory::default();
    unreadable.put(
        "/catalog/workflows/x.md",
        support::Node::File(b"\xff\xfe".to_vec()),
    );
    unreadable.put("/catalog/workflows/y.md", support::Node::Symlink);
    for mut host in [Memory::default(), unreadable] {
        let request = json!({"prompt": "why is the sky blue?", "catalog": {"mount": "/catalog"}});
        let response = ask(&mut host, "plan", request);
        assert_eq!(response["ok"], true, "{response}");
        assert_eq!(response["plan"]["degraded"], json!(["catalog"]));
        assert_eq!(response["warnings"][0]["code"], "catalog");
        assert_eq!(response["plan"]["workflow"], "simple-question");
    }
}

#[test]
fn what_the_host_went_without_stands_in_the_plan_sorted_and_once() {
    let options = json!({"degraded": ["time", "memory", "memory"]});
    let mut host = Memory::default();
    let request =
        json!({"prompt": "fix a.rs", "options": options, "workspace": {"mount": "/workspace"}});
    let response = ask(&mut host, "plan", request);
    assert_eq!(
        response["plan"]["degraded"],
        json!(["codebase", "memory", "time"])
    );
    assert_eq!(response["warnings"][0]["code"], "codebase");
}

#[test]
fn the_arguments_of_a_command_are_routed_and_the_file_keeps_all() {
    let prompt = "<command-message>ask</command-message>\n<command-name>/ask</command-name>\n\
        <command-args>what does the cache store?</command-args>";
    let response = hook(prompt);
    assert_eq!(response["plan"]["workflow"], "simple-question");
    assert!(response["file_text"].as_str().unwrap().contains(prompt));
    let explained = good("route", json!({ "prompt": prompt }));
    assert_eq!(explained["explain"]["workflow"], "simple-question");
}
