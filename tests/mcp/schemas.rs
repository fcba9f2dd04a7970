//! Schemas of tools: under every policy there, and of the forms that clients for other models take.

use std::fs;

use serde_json::{Value, json};

use super::stdio::{Place, problem};
use crate::house::House;
use crate::http::Session;

/// A policy that says nothing of how tools are listed.
const SILENT: &str = "version: 1\ntrusted_signers: [hydrant.build, hydrant.release]\ncapability_ceiling:\n  fs: {read: [/os]}\n\
                      host:\n  mounts:\n    - {at: /os, dir: \"@cli\", mode: ro}\n";

/// Each schema in one, with where it stands.
fn each(schema: &Value, place: &str, seen: &mut dyn FnMut(&str, &Value)) {
    seen(place, schema);
    for (name, member) in schema["properties"].as_object().into_iter().flatten() {
        each(member, &format!("{place}.{name}"), seen);
    }
    for name in ["items", "additionalProperties"] {
        if schema[name].is_object() {
            each(&schema[name], &format!("{place}[]"), seen);
        }
    }
}

fn described(tools: &[Value]) {
    let skills = tools
        .iter()
        .filter(|tool| tool["_meta"]["hydrant/skill"].is_string());
    let mut count = 0;
    for tool in skills {
        count += 1;
        assert_ne!(
            tool["description"], tool["_meta"]["hydrant/skill"],
            "{tool}"
        );
        assert!(
            !tool["inputSchema"]["properties"]
                .as_object()
                .unwrap()
                .is_empty(),
            "{tool}"
        );
    }
    assert!(count >= 10, "{count}");
}

#[test]
fn tools_say_what_they_are_for_under_a_policy_file_and_for_tenants() {
    let place = Place::new();
    let policy = place.work().join("policy.yaml");
    for text in [SILENT.to_owned(), format!("{SILENT}  tools: skip\n")] {
        fs::write(&policy, text).unwrap();
        let mut client = place.client(&["--policy", policy.to_str().unwrap()]);
        described(&client.all("tools/list", "tools"));
    }
    let house = House::new();
    house.write(
        "own.yaml",
        "version: 1\ntrusted_signers: [hydrant.build]\ncapability_ceiling: {}\n",
    );
    house.tenants(&[
        ("alpha", "policy = \"own.yaml\"\nmounts = {}"),
        ("beta", "mounts = {}"),
    ]);
    house.write("server.yaml", SILENT);
    let policy = house.path("server.yaml");
    let server = house.serve_with(&["--policy", policy.to_str().unwrap()]);
    for tenant in ["alpha", "beta"] {
        let mut session = Session::begin(server.client(tenant, "caller"));
        let tools = session.result("tools/list", json!({}))["tools"].clone();
        described(tools.as_array().unwrap());
    }
}

#[test]
fn every_argument_has_one_type_and_every_answer_no_list_of_types() {
    let place = Place::new();
    for tool in place.client(&[]).all("tools/list", "tools") {
        let name = tool["name"].as_str().unwrap();
        each(&tool["inputSchema"], name, &mut |at, schema| {
            assert!(
                schema["type"].is_string() && schema["type"] != "null",
                "{at}: {schema}"
            );
            for word in ["anyOf", "oneOf", "const"] {
                assert!(schema.get(word).is_none(), "{at}: {schema}");
            }
            for value in schema["enum"].as_array().into_iter().flatten() {
                assert!(
                    value.is_string() && schema["type"] == "string",
                    "{at}: {schema}"
                );
            }
        });
        each(&tool["outputSchema"], name, &mut |at, schema| {
            assert!(!schema["type"].is_array(), "{at}: {schema}");
            assert!(
                schema.get("enum").is_none() || schema["type"].is_string(),
                "{at}: {schema}"
            );
        });
    }
}

#[test]
fn null_for_an_optional_argument_is_as_if_it_was_absent() {
    let place = Place::new();
    let mut client = place.client(&[]);
    let absent = client.call("fs_read_text", json!({ "path": "/os/skills/knots.md" }));
    let null = client.call(
        "fs_read_text",
        json!({ "path": "/os/skills/knots.md", "max_bytes": null, "encoding": null }),
    );
    assert_eq!(
        null["structuredContent"], absent["structuredContent"],
        "{null}"
    );
    let hydrated = client.call(
        "hydrate",
        json!({ "uri": "os://agents/captain.md", "depth": null, "checksums": null, "format": null }),
    );
    assert_eq!(hydrated["isError"], false, "{hydrated}");
    let turns = json!([{ "role": "user", "text": "before" }]);
    let plan = client.call(
        "plan",
        json!({ "prompt": "fix the bug", "workflow": null, "turns": turns }),
    );
    assert_eq!(plan["isError"], false, "{plan}");
    // What has to be there is not.
    let missing = client.call("fs_read_text", json!({ "path": null }));
    assert_eq!(problem(&missing)["code"], "invalid_request");
    let unknown = client.call("hydrate", json!({ "uri": "os://a", "root": null }));
    assert_eq!(problem(&unknown)["code"], "invalid-request");
}

#[test]
fn a_word_stands_for_a_value_of_another_type() {
    let place = Place::new();
    let diff = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n";
    for strip in [json!("1"), json!(1), json!("auto")] {
        let call = json!({ "unified_diff": diff, "strip": strip, "dry_run": true });
        let result = place.client(&[]).call("fs_write_patch", call);
        // Nothing is mounted to be written, and the request is one.
        assert_ne!(problem(&result)["code"], "invalid_request", "{result}");
    }
}
