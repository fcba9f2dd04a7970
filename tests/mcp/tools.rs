//! Tools: what is offered, called, answered and refused.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::stdio::{Place, names, problem};

fn find<'a>(tools: &'a [Value], name: &str) -> &'a Value {
    tools
        .iter()
        .find(|tool| tool["name"] == name)
        .unwrap_or_else(|| panic!("no {name}"))
}

#[test]
fn every_tool_has_a_name_and_schemas_that_clients_accept() {
    let place = Place::new();
    let tools = place.client(&[]).all("tools/list", "tools");
    let names: BTreeSet<_> = names(&tools).into_iter().collect();
    assert_eq!(names.len(), tools.len());
    for tool in &tools {
        let name = tool["name"].as_str().unwrap();
        let good = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
        assert!(
            (1..=64).contains(&name.len()) && name.bytes().all(good),
            "{name}"
        );
        assert!(!tool["description"].as_str().unwrap().is_empty(), "{name}");
        for schema in [Some(&tool["inputSchema"]), tool.get("outputSchema")]
            .into_iter()
            .flatten()
        {
            assert_eq!(schema["type"], "object", "{name}");
            assert!(schema.get("$schema").is_none(), "{name}");
        }
        assert!(tool["annotations"]["readOnlyHint"].is_boolean(), "{name}");
    }
    for name in [
        "hydrate",
        "plan",
        "graph",
        "skill_load",
        "skill_execute",
        "skill_onboard",
        "map_command",
    ] {
        assert!(names.contains(name), "{name}");
    }
}

#[test]
fn every_pinned_skill_is_a_tool_that_says_which() {
    let place = Place::new();
    let tools = place.client(&[]).all("tools/list", "tools");
    let read = find(&tools, "fs_read_text");
    assert_eq!(read["title"], "fs.read_text");
    assert_eq!(read["_meta"]["hydrant/skill"], "fs.read_text");
    assert_eq!(read["annotations"]["readOnlyHint"], true);
    assert!(
        read["inputSchema"]["properties"]["path"].is_object(),
        "{read}"
    );
    assert!(read["outputSchema"]["properties"].is_object(), "{read}");
    let write = find(&tools, "fs_write_patch");
    assert_eq!(write["annotations"]["destructiveHint"], true);
    assert_eq!(
        find(&tools, "http_fetch_text")["annotations"]["openWorldHint"],
        true
    );
    let described: BTreeSet<_> = tools
        .iter()
        .filter_map(|tool| tool["_meta"]["hydrant/skill"].as_str())
        .collect();
    let skills = place.command(&[]).get_program().to_owned();
    let output = std::process::Command::new(skills)
        .args(["skills", "--format", "json"])
        .env_clear()
        .env("HYDRANT_HOME", place.home())
        .env("XDG_CACHE_HOME", place.cache())
        .current_dir(place.work())
        .output()
        .unwrap();
    let pinned: Value = serde_json::from_slice(&output.stdout).unwrap();
    let pinned: BTreeSet<_> = pinned
        .as_array()
        .unwrap()
        .iter()
        .map(|skill| skill["id"].as_str().unwrap())
        .collect();
    // `hydrate`, `plan`, `skill_load` and `skill_execute` are made of these.
    let plumbing = [
        "content.hydrate",
        "data.filter",
        "prompt.hydrate",
        "prompt.hydrate.llm",
        "skill.interpret",
    ];
    assert!(plumbing.iter().all(|id| !described.contains(id)));
    let offered: BTreeSet<_> = described.into_iter().chain(plumbing).collect();
    assert_eq!(offered, pinned);
}

#[test]
fn the_list_of_tools_leaves_a_context_room() {
    let place = Place::new();
    let tools = place.client(&[]).all("tools/list", "tools");
    let bytes = serde_json::to_vec(&tools).unwrap().len();
    assert!(bytes < 24 * 1024, "{bytes}");
}

#[test]
fn what_other_tools_are_made_of_is_listed_where_it_is_named() {
    let place = Place::new();
    let tools = place
        .client(&["--tools", "skill.interpret,prompt*"])
        .all("tools/list", "tools");
    assert_eq!(names(&tools), ["skill_interpret"]);
}

#[test]
fn a_call_answers_text_and_structure_and_leaves_a_receipt() {
    let place = Place::new();
    let result = place
        .client(&[])
        .call("fs_read_text", json!({ "path": "/os/skills/knots.md" }));
    assert_eq!(result["isError"], false, "{result}");
    let text: Value = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(text, result["structuredContent"]);
    assert!(text.to_string().contains("Over, under."), "{text}");
    let receipt = result["_meta"]["hydrant/receipt"].as_str().unwrap();
    assert!(
        place
            .home()
            .join(format!("receipts/{receipt}.json"))
            .is_file(),
        "{receipt}"
    );
}

#[test]
fn what_a_skill_refuses_is_a_tool_error_with_its_code() {
    let place = Place::new();
    let mut client = place.client(&[]);
    for (tool, arguments, code) in [
        (
            "fs_read_text",
            json!({ "path": "/os/nothing.md" }),
            "not_found",
        ),
        ("fs_read_text", json!({ "path": 7 }), "invalid_request"),
        (
            "fs_read_text",
            json!({ "path": "/os/a", "root": "/" }),
            "invalid_request",
        ),
        (
            "http_fetch_text",
            json!({ "url": "https://example.org/" }),
            "denied",
        ),
        ("hydrate", json!({ "url": "os://a" }), "invalid-request"),
        (
            "hydrate",
            json!({ "uri": "os://a", "depth": 99 }),
            "invalid-request",
        ),
        ("skill_show", json!({ "skill": "nobody" }), "unknown-skill"),
    ] {
        let result = client.call(tool, arguments);
        assert_eq!(problem(&result)["code"], code, "{result}");
        let text = result["content"][0]["text"].as_str().unwrap();
        assert!(
            !text.contains(place.home().parent().unwrap().to_str().unwrap()),
            "{text}"
        );
    }
}

/// There are clients that put another error in the place of one that does not fit the schema of the answers.
#[test]
fn an_error_says_all_in_its_text_and_an_answer_fits_the_schema_that_was_listed() {
    let place = Place::new();
    let mut client = place.client(&[]);
    let refused = client.call("http_fetch_text", json!({ "url": "https://example.org/" }));
    let problem = problem(&refused);
    assert_eq!(
        problem["details"]["capability"], "net.http:https://example.org/",
        "{refused}"
    );
    assert!(
        problem["receipt"].as_str().unwrap().starts_with("rcpt_"),
        "{refused}"
    );
    let tools = client.all("tools/list", "tools");
    let read = client.call("fs_read_text", json!({ "path": "/os/skills/knots.md" }));
    let schema = &find(&tools, "fs_read_text")["outputSchema"];
    for required in schema["required"].as_array().unwrap() {
        assert!(
            read["structuredContent"]
                .get(required.as_str().unwrap())
                .is_some(),
            "{read}"
        );
    }
}

#[test]
fn a_tool_that_is_not_there_is_an_error_of_the_protocol() {
    let place = Place::new();
    let mut client = place.client(&[]);
    for name in ["nothing", "fs.read_text", "approvals_approve", ""] {
        let error = client.error("tools/call", json!({ "name": name, "arguments": {} }));
        assert_eq!(error["code"], -32602, "{error}");
    }
}

#[test]
fn a_hydration_is_the_payload_or_the_document() {
    let place = Place::new();
    let mut client = place.client(&[]);
    let payload = client.call("hydrate", json!({ "uri": "os://agents/captain.md" }));
    let skill = &payload["structuredContent"]["metadata"]["dependencies"]["skills"][0];
    assert_eq!(skill["description"], "Ties what must hold");
    let document = client.call(
        "hydrate",
        json!({ "uri": "os://agents/captain.md", "format": "link" }),
    );
    let text = document["content"][0]["text"].as_str().unwrap();
    assert!(
        text.starts_with("---\n") && text.contains("Ties what must hold"),
        "{text}"
    );
    assert!(document.get("structuredContent").is_none());
    let graph = client.call(
        "graph",
        json!({ "uri": "agents/captain.md", "format": "mermaid" }),
    );
    assert!(
        graph["content"][0]["text"]
            .as_str()
            .unwrap()
            .starts_with("flowchart"),
        "{graph}"
    );
    let mapped = client.call(
        "map_command",
        json!({ "command": "curl https://example.org/" }),
    );
    assert_eq!(mapped["isError"], false, "{mapped}");
}

#[test]
fn a_plan_is_text_for_a_model() {
    let place = Place::new();
    let plan = place
        .client(&[])
        .call("plan", json!({ "prompt": "fix the crash in the parser" }));
    assert_eq!(plan["isError"], false, "{plan}");
    assert!(
        plan["content"][0]["text"]
            .as_str()
            .unwrap()
            .contains("fix the crash in the parser"),
        "{plan}"
    );
}

#[test]
fn a_foreign_skill_waits_for_an_approval_that_no_client_can_give() {
    let place = Place::new();
    let mut client = place.client(&[]);
    let library = std::fs::read_to_string(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../examples/skills/library.yaml"
    ))
    .unwrap();
    let open = library
        .replace("  secrets: [LIBRARY_TOKEN]\n", "")
        .replace("      auth: {type: bearer, env_var: LIBRARY_TOKEN}\n", "");
    assert!(!open.contains("TOKEN"), "{open}");
    for (id, text) in [("library", &open), ("secretive", &library)] {
        let loaded = client.call("skill_load", json!({ "text": text, "id": id }));
        assert_eq!(loaded["isError"], false, "{loaded}");
    }
    let shown = client.call("skill_show", json!({ "skill": "library" }));
    assert_eq!(shown["isError"], false, "{shown}");
    // Of agents on this machine, what takes a secret is for those in a jail only, with or without an approval.
    for (skill, refused) in [("library", "approval"), ("secretive", "client-not-jailed")] {
        let executed = client.call(
            "skill_execute",
            json!({ "skill": skill, "operation": "search", "params": { "query": "whales" } }),
        );
        let problem = problem(&executed);
        assert!(
            problem["code"].as_str().unwrap().contains(refused),
            "{executed}"
        );
        // What to do is said.
        let hint = problem["hint"].as_str().unwrap_or_default();
        let expected = if skill == "secretive" {
            "jailed_clients"
        } else {
            ""
        };
        assert!(hint.contains(expected), "{executed}");
    }
    for tool in client.all("tools/list", "tools") {
        let name = tool["name"].as_str().unwrap();
        assert!(
            !name.contains("approv") && !name.contains("secret"),
            "{name}"
        );
    }
}
