//! What the answer to `load` holds, whatever the format, and the members of a skill that are only kept.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a failed expectation is a failed test, in a fixture as in the test itself"
)]

mod requests;

use std::collections::BTreeSet;

use requests::{codes, error, operation, skill, skill_with};
use serde_json::{Value, json};

const URL: &str = "https://e.org/skill.yaml";

/// One operation of each kind of stage, a policy, an example, a secret, and one that cannot be used.
const EVERYTHING: &str = "---\nname: Everything\ndescription: All of it.\nversion: 2.1\ndata_class: pii\nmetadata: {x: {requires: {env: \
    [OTHER_TOKEN]}}}\n---\n\n# Everything\n\nWhat it is for.\n\n## Find\n\n```bash\ncurl -s -X POST \
    \"https://api.e.org/v1/{kind}/find?lang=en\" -u \"$E_USER:$E_PASSWORD\" -H \"X-Trace: a-$TRACE\" -b \"sid=$SID_TOKEN\" -d \
    '{\"q\": \"x\", \"deep\": {\"n\": 1}}'\n```\n\nResponse:\n\n```json\n{\"found\": []}\n```\n\n## Form\n\n```bash\ncurl \
    https://api.e.org/v1/form -d \"a=$A\" 2>/dev/null\n```\n\n## Shown\n\n```bash\ncurl -s https://api.e.org/v1/x | jq -r \
    .a | head -3\n```\n\n## Said\n\n```bash\necho \"hi $WHO\"\n```\n\n## Read\n\n```bash\ncat notes.txt\n```\n\n## Tool\n\n\
    ```bash\nfrobnicate --to=$TARGET x\n```\n\n## Script\n\n```bash\nfor i in 1 2; do frobnicate $i; done\n```\n";

fn everything() -> Value {
    skill("https://e.org/skill.md", EVERYTHING)
}

fn names(value: &Value) -> BTreeSet<&str> {
    value
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect()
}

fn assert_has(value: &Value, expected: &[&str]) {
    let names = names(value);
    for name in expected {
        assert!(names.contains(name), "{name} is not in {names:?}");
    }
}

#[test]
fn a_skill_has_these_members() {
    let skill = everything();
    assert_has(
        &skill,
        &[
            "id",
            "name",
            "version",
            "description",
            "instructions",
            "format",
            "data-classifications",
            "declared-capabilities",
            "secrets",
            "operations",
            "diagnostics",
        ],
    );
    assert_eq!(skill["format"], "markdown");
    assert_eq!(
        (&skill["id"], &skill["version"]),
        (&json!("everything"), &json!("2.1"))
    );
    // The text without front matter.
    let instructions = skill["instructions"].as_str().unwrap();
    assert!(
        instructions.trim_start().starts_with("# Everything"),
        "{instructions}"
    );
    assert!(!instructions.contains("data_class"));
    let secrets: Vec<&str> = skill["secrets"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(Value::as_str)
        .collect();
    for name in ["E_USER", "E_PASSWORD", "SID_TOKEN", "OTHER_TOKEN"] {
        assert!(secrets.contains(&name), "{name}: {secrets:?}");
    }
    // The structured field, and the version of the format where it has one.
    let structured = self::skill(URL, "name: x\ncapabilities: [a]\ninstructions: Be kind.\n");
    assert_eq!(
        (&structured["instructions"], &structured["format"]),
        (&json!("Be kind."), &json!("yaml"))
    );
    let api = r#"{"openapi":"3.1.0","info":{"title":"Api","version":"7"},"servers":[{"url":"https://e.org"}],
        "paths":{"/a":{"get":{"responses":{}}}}}"#;
    let api = self::skill("https://e.org/api.json", api);
    assert_eq!(
        (&api["format"], &api["format-version"]),
        (&json!("openapi"), &json!("3.1.0"))
    );
}

#[test]
fn an_operation_has_these_members() {
    let skill = everything();
    for one in skill["operations"].as_array().unwrap() {
        assert_has(
            one,
            &[
                "id",
                "aliases",
                "title",
                "description",
                "line",
                "stages",
                "input-schema",
                "secrets",
                "hosts",
                "files",
                "tier",
                "effects",
                "reasons",
                "confidence",
                "examples",
                "status",
                "digest",
            ],
        );
        assert_eq!(names(&one["files"]), BTreeSet::from(["read", "write"]));
        for secret in one["secrets"].as_array().unwrap() {
            assert_eq!(names(secret), BTreeSet::from(["hosts", "kind", "name"]));
        }
        // A policy with a sandbox stage, and only then; a code where it cannot be used, and only then.
        let has_sandbox = one["stages"]
            .as_array()
            .unwrap()
            .iter()
            .any(|stage| stage["kind"] == "sandbox");
        assert_eq!(one["policy"].is_object(), has_sandbox, "{one}");
        assert_eq!(
            one["status"] == "unusable",
            one["code"].is_string(),
            "{one}"
        );
    }
    let find = operation(&skill, "find");
    assert_eq!(find["hosts"], json!(["api.e.org:443"]));
    assert_eq!(find["line"], 16, "the line of its command");
    let kinds: BTreeSet<(&str, &str)> = find["secrets"]
        .as_array()
        .unwrap()
        .iter()
        .map(|secret| {
            (
                secret["name"].as_str().unwrap(),
                secret["kind"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        kinds,
        BTreeSet::from([
            ("E_PASSWORD", "basic"),
            ("E_USER", "basic"),
            ("SID_TOKEN", "cookie")
        ])
    );
    let outputs: Vec<&Value> = find["examples"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|example| example.get("output"))
        .collect();
    assert_eq!(outputs, [&json!({"found": []})], "{find}");
    assert_eq!(operation(&skill, "tool")["tier"], 3);
}

/// Every object of a value, with the name of the member it was found below.
fn objects<'a>(value: &'a Value, found: &mut Vec<&'a serde_json::Map<String, Value>>) {
    match value {
        Value::Object(members) => {
            found.push(members);
            members.values().for_each(|member| objects(member, found));
        }
        Value::Array(list) => list.iter().for_each(|one| objects(one, found)),
        _ => {}
    }
}

#[test]
fn stages_are_of_six_kinds_and_their_texts_are_segments() {
    let skill = everything();
    let mut kinds = BTreeSet::new();
    let mut encodings = BTreeSet::new();
    let mut inputs = BTreeSet::new();
    for one in skill["operations"].as_array().unwrap() {
        for stage in one["stages"].as_array().unwrap() {
            kinds.insert(stage["kind"].as_str().unwrap());
            // No text of a stage holds a variable in its spelling; those of a script are the shell's.
            if stage["program"]["script"].is_null() {
                let text = stage.to_string();
                for spelling in ["$TRACE", "{kind}", "$E_USER", "$WHO", "$TARGET", "$A"] {
                    assert!(!text.contains(spelling), "{spelling} in {text}");
                }
            }
            let mut all = Vec::new();
            objects(stage, &mut all);
            for object in all.iter().filter(|object| object.contains_key("enc")) {
                let names: BTreeSet<&str> = object.keys().map(String::as_str).collect();
                assert!(
                    names == BTreeSet::from(["enc", "input"])
                        || names == BTreeSet::from(["enc", "secret"]),
                    "{object:?}"
                );
                encodings.insert(object["enc"].as_str().unwrap());
                inputs.extend(object.get("input").and_then(Value::as_str));
            }
        }
    }
    assert_eq!(
        kinds,
        BTreeSet::from([
            "http",
            "json-filter",
            "text-transform",
            "println",
            "read-file",
            "sandbox"
        ])
    );
    let known = [
        "path",
        "query",
        "header",
        "form",
        "json-string",
        "argv",
        "none",
    ];
    assert!(
        encodings.iter().all(|enc| known.contains(enc)),
        "{encodings:?}"
    );
    for enc in ["path", "query", "header", "form", "argv"] {
        assert!(encodings.contains(enc), "{enc}: {encodings:?}");
    }
    for input in ["kind", "TRACE", "lang", "WHO", "TARGET"] {
        assert!(inputs.contains(input), "{input}: {inputs:?}");
    }
}

#[test]
fn an_error_has_code_message_path_and_line_and_nothing_else() {
    for (text, path, line) in [
        (
            "name: x\noperations:\n  - name: a\n    method: 5\n",
            json!("operations[0].method"),
            json!(4),
        ),
        ("name: x\nname: y\n", Value::Null, json!(2)),
        ("words\n", Value::Null, Value::Null),
    ] {
        let error = error(URL, text);
        let allowed = BTreeSet::from(["code", "hint", "line", "message", "missing", "path"]);
        assert!(names(&error).is_subset(&allowed), "{error}");
        assert!(
            error["message"].is_string() && error["code"].is_string(),
            "{error}"
        );
        if !path.is_null() {
            assert_eq!(error["path"], path, "{error}");
        }
        if !line.is_null() {
            assert_eq!(error["line"], line, "{error}");
        }
    }
}

#[test]
fn slugs() {
    let long = "x".repeat(70);
    for (name, id) in [
        ("Search  Notebooks!", "search-notebooks"),
        ("--A_b.c--", "a-b-c"),
        ("Ünïcode 日本", "ünïcode-日本"),
        (long.as_str(), &long[..64]),
        ("cafe\u{301}", "café"),
    ] {
        let loaded = skill(
            URL,
            &json!({"name": name, "capabilities": ["a"]}).to_string(),
        );
        assert_eq!(loaded["id"], id, "{name}");
    }
    // An empty one counts as absent.
    let nothing = json!({"name": "!?", "capabilities": ["a"]}).to_string();
    assert_eq!(error(URL, &nothing)["code"], "name-missing");
}

#[test]
fn a_map_is_taken_in_the_order_of_its_names_and_a_list_in_its_own() {
    let ids = |operations: &str| -> Vec<String> {
        let skill = skill(URL, &format!("name: x\noperations: {operations}\n"));
        let all = skill["operations"].as_array().unwrap();
        all.iter()
            .map(|one| one["id"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(
        ids("{b: {command: echo b}, a: {command: echo a}}"),
        ["a", "b"]
    );
    assert_eq!(
        ids("[{name: b, command: echo b}, {name: a, command: echo a}]"),
        ["b", "a"]
    );
    // Verbatim.
    assert_eq!(ids("[{name: Get_It.v2, command: echo b}]"), ["Get_It.v2"]);
    assert_eq!(ids("{Get_It.v2: {command: echo b}}"), ["Get_It.v2"]);
    let nameless = error(URL, "name: x\noperations: [{command: echo b}]\n");
    assert_eq!(nameless["path"], "operations[0].name");
}

#[test]
fn capabilities_grant_nothing_effects_add_and_secrets_ask() {
    let text = "name: x\ncapabilities: [ccos.sandbox.shell, anything]\neffects: [speech]\nsecrets: [A_KEY, B_KEY]\noperations:\n  \
        a: {endpoint: 'https://api.e.org/x'}\n";
    let with = skill(URL, text);
    assert_eq!(
        with["declared-capabilities"],
        json!(["ccos.sandbox.shell", "anything"])
    );
    assert_eq!(with["secrets"], json!(["A_KEY", "B_KEY"]));
    let operation = operation(&with, "a").clone();
    assert_eq!(operation["tier"], 1);
    let effects: BTreeSet<&str> = operation["effects"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(Value::as_str)
        .collect();
    assert_eq!(effects, BTreeSet::from(["network-egress", "speech"]));
    // Declared capabilities change nothing of the operation.
    let without = skill(
        URL,
        &text.replace("capabilities: [ccos.sandbox.shell, anything]\n", ""),
    );
    assert_eq!(
        operation["digest"],
        self::operation(&without, "a")["digest"]
    );
}

#[test]
fn what_is_only_recorded() {
    let text = "name: x\ncapabilities: [a]\nexamples: [1]\ndisplay: {icon: i}\nmetadata: {k: v}\nlicense: MIT\nhomepage: \
        https://e.org\nonboarding: {steps: [{id: s, type: human_action}]}\n";
    let skill = skill(URL, text);
    assert_eq!(codes(&skill), Vec::<&str>::new());
    assert_eq!(
        skill["recorded"],
        json!({"examples": [1], "display": {"icon": "i"}, "metadata": {"k": "v"}, "license": "MIT",
            "homepage": "https://e.org"})
    );
    assert_eq!(skill["onboarding"]["steps"][0]["id"], "s");
}

#[test]
fn output_schemas_have_the_forms_of_inputs() {
    let schema = |lines: &str| {
        let text =
            format!("name: x\noperations:\n  a:\n    endpoint: https://api.e.org/x\n    {lines}\n");
        operation(&skill(URL, &text), "a")["output-schema"].clone()
    };
    assert_eq!(schema("method: GET"), Value::Null);
    for form in [
        "output: {n: int}",
        "output_schema: {type: object, properties: {n: {type: integer}}}",
        "output: {type: map, entries: [{key: n, value_type: int, optional: true}]}",
    ] {
        let schema = schema(form);
        assert_eq!(schema["type"], "object", "{form}");
        assert_eq!(
            schema["properties"],
            json!({"n": {"type": "integer"}}),
            "{form}"
        );
    }
}

#[test]
fn a_script_is_the_text_as_it_stands() {
    let text = "name: x\noperations:\n  a:\n    runtime: python\n    script: |\n      import os\n      print('{x}', \"$HOME\")\n";
    let skill = skill(URL, text);
    let stage = &operation(&skill, "a")["stages"][0];
    assert_eq!(
        stage["program"]["code"],
        "import os\nprint('{x}', \"$HOME\")\n"
    );
}

#[test]
fn further_members_of_the_request_count() {
    let text = "name: x\noperations:\n  a: {endpoint: 'https://${WHERE}/{BASE_URL}'}\n  c: {command: \
        python main.py}\n";
    let with = skill_with(
        URL,
        text,
        json!({"as": "mine", "constants": {"WHERE": "api.e.org"},
            "files": {"main.py": format!("sha256:{}", "ab".repeat(32))}}),
    );
    assert_eq!(with["id"], "mine");
    assert_eq!(operation(&with, "a")["hosts"], json!(["api.e.org:443"]));
    let code = operation(&with, "c")["stages"][0].to_string();
    assert!(code.contains(&"ab".repeat(32)), "{code}");
}
