//! The schema that editors read against the reader of documents.

use serde_json::{Value as Json, json};

use super::super::hash::as_parsed;
use super::*;
use crate::text;

/// A valid document that has every member there is.
fn full() -> Json {
    let names = [
        "fuel",
        "memory_bytes",
        "wall_ms",
        "output_bytes",
        "http_bytes",
        "http_ms",
        "process_ms",
        "process_output_bytes",
        "process_count",
        "hostcalls",
        "egress_bytes",
        "process_memory_bytes",
        "process_pids",
    ];
    let limits: serde_json::Map<String, Json> = names
        .map(|name| (name.to_owned(), 1.into()))
        .into_iter()
        .collect();
    json!({
        "version": 1,
        "trusted_signers": ["a"],
        "capability_ceiling": {
            "fs": {"read": ["/os", "/a/../b"], "write": ["/workspace"]},
            "net": ["https://docs.example/"],
            "kv": {"read": ["*"], "write": ["k"]},
            "queue": {"publish": ["t"], "consume": ["t"]},
            "env": ["HOME"],
            "exec": true,
            "time": true,
            "random": false,
        },
        "host": {
            "mounts": [
                {"at": "/workspace", "dir": "@cli", "mode": "rw"},
                {"at": "/os/lib", "url": "https://docs.example/os/"},
            ],
            "net": [{"url": "https://docs.example/guide/", "methods": ["GET", "HEAD"]}],
            "process": [{
                "program": "git",
                "args": [["status", "..."], []],
                "cwd": ["/workspace"],
                "env": {"CI": "1"},
                "network": true,
                "writable": ["/workspace"],
            }],
            "discovery": {
                "run": ["/os/tools"],
                "runners": {".ts": ["deno"], ".js": ["node"], ".py": ["python3", "-B"], ".sh": ["sh"]},
                "remote": true,
                "env": {"LANG": "C"},
            },
            "jail": {"process": "required"},
            "tls_roots": ["ca.pem"],
            "limits": limits,
            "tools": "skip",
        },
    })
}

/// Each pointer to a value of the document, the document itself first.
fn pointers(value: &Json, at: &str) -> Vec<String> {
    let mut all = vec![at.to_owned()];
    let below: Vec<_> = match value {
        Json::Object(members) => members
            .iter()
            .map(|(name, value)| (name.clone(), value))
            .collect(),
        Json::Array(items) => items
            .iter()
            .enumerate()
            .map(|(index, value)| (index.to_string(), value))
            .collect(),
        _ => Vec::new(),
    };
    for (name, value) in below {
        all.extend(pointers(
            value,
            &format!("{at}/{}", name.replace('/', "~1")),
        ));
    }
    all
}

/// The document without the value at a pointer.
fn without(document: &Json, pointer: &str) -> Option<Json> {
    let mut changed = document.clone();
    let (parent, name) = pointer.rsplit_once('/')?;
    match changed.pointer_mut(parent)? {
        Json::Object(members) => members.remove(name).map(drop),
        Json::Array(items) => {
            items.remove(name.parse().ok()?);
            Some(())
        }
        _ => None,
    }?;
    Some(changed)
}

#[test]
fn the_schema_for_editors_accepts_what_the_reader_accepts_and_refuses_what_has_no_place_or_type() {
    let schema = schema();
    let validator = jsonschema::draft202012::new(&schema).unwrap();
    let full = full();
    assert!(parse(&full.to_string()).is_ok());
    assert!(validator.is_valid(&full));

    let mut changed = Vec::new();
    for pointer in pointers(&full, "") {
        changed.extend(without(&full, &pointer));
        let others = [
            json!(null),
            json!(true),
            json!(0),
            json!(2),
            json!(u64::MAX),
            json!("x"),
            json!("/os"),
            json!(""),
            json!([]),
            json!(["x"]),
            json!(["/os", "/os"]),
            json!([[1]]),
            json!({}),
            json!({"unheard": 1}),
        ];
        for other in others {
            let mut document = full.clone();
            *document.pointer_mut(&pointer).unwrap() = other;
            changed.push(document);
        }
        let mut document = full.clone();
        if let Some(Json::Object(members)) = document.pointer_mut(&pointer) {
            members.insert("unheard_of".to_owned(), json!("x"));
            changed.push(document);
        }
    }
    let (mut accepted, mut refused) = (0, 0);
    for document in &changed {
        let valid = validator.is_valid(document);
        match parse(&document.to_string()) {
            Ok(_) => {
                accepted += 1;
                assert!(valid, "only the reader accepts {document}");
            }
            Err(PolicyError::Document { .. } | PolicyError::Version { .. }) => {
                refused += 1;
                assert!(!valid, "only the schema accepts {document}");
            }
            // Rules that the schema need not know.
            Err(_) => {}
        }
    }
    assert!(
        accepted > 100 && refused > 300,
        "{accepted} accepted, {refused} refused"
    );
}

#[test]
fn each_member_of_the_schema_is_described_and_stands_in_a_document_that_the_reader_accepts() {
    fn look(schema: &Json, values: &[&Json], at: &str) {
        let properties = schema["properties"].as_object().into_iter().flatten();
        for (name, member) in properties {
            let found: Vec<_> = values.iter().filter_map(|value| value.get(name)).collect();
            assert!(
                !found.is_empty(),
                "{at}.{name} is in no document of this test"
            );
            assert!(member["description"].is_string(), "{at}.{name}");
            look(member, &found, &format!("{at}.{name}"));
            let items = found.iter().filter_map(|value| value.as_array()).flatten();
            look(
                &member["items"],
                &items.collect::<Vec<_>>(),
                &format!("{at}.{name}[]"),
            );
        }
    }
    look(&schema(), &[&full()], "policy");
}

#[test]
fn the_examples_are_valid_by_the_schema() {
    let schema = schema();
    let validator = jsonschema::draft202012::new(&schema).unwrap();
    let mut count = 0;
    for folder in [
        "examples/policies",
        "examples/serve/policies",
        "deploy/kubernetes",
    ] {
        for file in std::fs::read_dir(format!("../../{folder}")).unwrap() {
            let file = file.unwrap().path();
            let content = std::fs::read_to_string(&file).unwrap();
            if !content.contains("capability_ceiling") || !content.contains("\nversion: 1\n") {
                continue;
            }
            count += 1;
            let document = as_parsed(&text::read(content.as_bytes()).unwrap());
            let errors: Vec<_> = validator
                .iter_errors(&document)
                .map(|error| error.to_string())
                .collect();
            assert_eq!(errors, [""; 0], "{}", file.display());
            let first = content.lines().next().unwrap();
            let named = first
                .strip_prefix("# yaml-language-server: $schema=")
                .unwrap();
            assert!(
                file.with_file_name(named).is_file(),
                "{}: {first}",
                file.display()
            );
        }
    }
    assert!(count >= 10, "{count}");
}
