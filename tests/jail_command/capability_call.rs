//! `Capability.Call` on `hydrant syscall`.

use serde_json::{Value, json};

use crate::cell::Cell;

/// A cell whose policy names the directory of the workspace itself.
fn cell() -> Cell {
    let cell = Cell::new();
    let workspace = format!("{:?}", cell.folder().argument("ws"));
    let text = cell
        .folder()
        .text("policy.json")
        .replace("\"@cli\"", &workspace);
    cell.folder().put("policy.json", text);
    cell
}

/// The answers to these payloads, in the OsEvent dialect or the other one.
fn answers(cell: &Cell, options: &[&str], payloads: &[Value], message: bool) -> Vec<Value> {
    let request = |payload: &Value| {
        let request = if message {
            json!({"kind": "query", "type": "Capability.Call", "data": payload})
        } else {
            json!({"type": "query", "name": "Capability.Call", "payload": payload})
        };
        format!("{request}\n")
    };
    let requests: String = payloads.iter().map(request).collect();
    let run = cell.syscall(options, &requests);
    run.stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn call(capability: &str, input: &Value) -> Value {
    json!({"capability": capability, "input": input})
}

#[test]
fn a_pinned_skill_is_called_by_its_id() {
    let cell = cell();
    let payloads = [
        call("fs.read_text", &json!({"path": "a.txt"})),
        call("fs.read_text@0.1.0", &json!({"path": "a.txt"})),
        call("content.hydrate", &json!({"uri": "os://crew/cook.md"})),
        call(
            "content.hydrate",
            &json!({"uri": "os://crew/cook.md", "format": "link"}),
        ),
    ];
    let events = answers(&cell, &[], &payloads, false);
    assert_eq!(
        events[0]["payload"]["text"], "of the workspace\n",
        "{events:?}"
    );
    assert_eq!(events[1]["payload"], events[0]["payload"]);
    assert_eq!(events[2]["payload"]["content"], "Cook.");
    assert_eq!(events[3]["payload"], "---\ntype: Agent\n---\nCook.");
    let messages = answers(&cell, &[], &payloads, true);
    for (event, message) in std::iter::zip(&events, &messages) {
        assert_eq!(message["kind"], "reply");
        assert_eq!(message["data"], event["payload"]);
    }
}

#[test]
fn an_error_has_a_code_a_number_and_the_error_object() {
    let cell = cell();
    let cases = [
        (call("no.such", &json!({})), "unknown-skill", 404),
        (call("fs.read_text@9.9.9", &json!({})), "unknown-skill", 404),
        (
            call("fs.read_text", &json!({"path": "/etc/passwd"})),
            "denied",
            403,
        ),
        (
            call("fs.read_text", &json!({"path": 7})),
            "invalid_request",
            422,
        ),
        (
            json!({"capability": "fs.read_text"}),
            "invalid_request",
            422,
        ),
        (
            call("fs.read_text", &json!({"path": "none"})),
            "not_found",
            500,
        ),
        (
            call(
                "content.hydrate",
                &json!({"uri": "os://x.md", "format": "link"}),
            ),
            "fetch_failed",
            500,
        ),
        (json!({"capability": 7}), "SCHEMA_VIOLATION", 422),
        (json!({"capability": ""}), "SCHEMA_VIOLATION", 422),
        (json!(null), "SCHEMA_VIOLATION", 422),
        (
            call("content.hydrate", &json!({"uri": "os://x.md", "root": "/"})),
            "SCHEMA_VIOLATION",
            422,
        ),
    ];
    let payloads: Vec<Value> = cases.iter().map(|(payload, ..)| payload.clone()).collect();
    let events = answers(&cell, &[], &payloads, false);
    let messages = answers(&cell, &[], &payloads, true);
    for (index, (payload, code, number)) in cases.iter().enumerate() {
        let (event, message) = (&events[index], &messages[index]);
        assert_eq!(event["type"], "error", "{payload}: {event}");
        assert_eq!(event["payload"]["code"], *code, "{payload}: {event}");
        assert_eq!(message["kind"], "error", "{payload}");
        assert_eq!(message["data"]["code"], *number, "{payload}: {message}");
        assert_eq!(message["data"]["details"], event["payload"]["details"]);
        if *code != "SCHEMA_VIOLATION" {
            assert_eq!(event["payload"]["details"]["code"], *code);
        }
    }
}

#[test]
fn an_answer_over_the_limit_of_its_dialect_is_line_too_long() {
    let cell = cell();
    cell.folder().put("ws/large.txt", "x".repeat(20_000));
    let payloads = [call("fs.read_text", &json!({"path": "large.txt"}))];
    assert_eq!(answers(&cell, &[], &payloads, false)[0]["type"], "response");
    assert_eq!(answers(&cell, &[], &payloads, true)[0]["data"]["code"], 413);
}

#[test]
fn a_call_cannot_undo_what_the_operator_said() {
    let cell = cell();
    // What the operator said holds for a hydration that says nothing.
    let hydrate = [
        call("content.hydrate", &json!({"uri": "os://crew/cook.md"})),
        call(
            "content.hydrate",
            &json!({"uri": "os://crew/cook.md", "checksums": false}),
        ),
    ];
    let answers = answers(&cell, &["--checksums"], &hydrate, false);
    assert!(answers[0].to_string().contains("sha256"), "{answers:?}");
    assert!(!answers[1].to_string().contains("sha256"), "{answers:?}");
}

#[test]
fn a_change_of_files_by_a_call_is_made_and_recorded() {
    let cell = cell();
    let patch = "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-of the workspace\n+of the call\n";
    let payloads = [call("fs.write_patch", &json!({"unified_diff": patch}))];
    let answers = answers(&cell, &[], &payloads, false);
    assert_eq!(
        cell.folder().text("ws/a.txt"),
        "of the call\n",
        "{answers:?}"
    );
    assert_eq!(cell.audited().len(), 1);
}
