//! `hydrant map`.

use serde_json::{Value, json};

use crate::house::{House, code, list, string};

fn required(mapped: &Value) -> Vec<String> {
    let mut names: Vec<String> = list(&mapped["input-schema"]["required"])
        .iter()
        .map(string)
        .collect();
    names.sort();
    names
}

/// The codes of the diagnostics.
fn diagnosed(mapped: &Value) -> Vec<String> {
    list(&mapped["diagnostics"]).iter().map(code).collect()
}

#[test]
fn a_path_input_a_query_default_and_a_key_in_a_header() {
    let mapped = House::new().map(
        "curl -sS \"https://books.example.org/v2/items/{item_id}?lang=en\" -H \"X-Api-Key: $BOOKS_KEY\"",
    );
    assert_eq!(mapped["params"]["method"], "GET");
    assert_eq!(required(&mapped), ["item_id"]);
    let lang = &mapped["input-schema"]["properties"]["lang"];
    assert_eq!(lang["default"], "en", "{mapped}");
    assert_eq!(mapped["secrets"], json!(["BOOKS_KEY"]));
    assert_eq!(
        mapped["auth"],
        json!({"type": "header", "name": "X-Api-Key", "env_var": "BOOKS_KEY"})
    );
    assert_eq!(mapped["confidence"], 0.95);
}

#[test]
fn a_json_body_with_both_headers() {
    let mapped = House::new()
        .map("curl https://books.example.org/v2/items --json '{\"title\":\"Emma\",\"year\":1815}'");
    assert_eq!(mapped["params"]["method"], "POST");
    assert_eq!(required(&mapped), ["title", "year"]);
    let properties = &mapped["input-schema"]["properties"];
    assert_eq!(properties["title"]["type"], "string");
    assert_eq!(properties["year"]["type"], "integer");
    let headers = &mapped["params"]["headers"];
    assert_eq!(headers["Content-Type"], "application/json", "{mapped}");
    assert_eq!(headers["Accept"], "application/json");
}

#[test]
fn a_multipart_file() {
    let mapped = House::new().map("curl -F note=hi -F doc=@a.pdf https://files.example.org/up");
    assert_eq!(mapped["params"]["method"], "POST");
    let parts = list(&mapped["params"]["multipart"]);
    let doc = parts.iter().find(|part| part["name"] == "doc").unwrap();
    assert_eq!(doc["file"], "a.pdf");
    assert!(list(&mapped["requires"]).contains(&json!("file-read:a.pdf")));
}

#[test]
fn a_pipeline_of_three() {
    let mapped = House::new()
        .map("curl -s https://books.example.org/v2/items | jq -r '.[] | .title' | head -3");
    assert_eq!(
        mapped["maps-to"],
        json!([
            "ccos.network.http-fetch",
            "ccos.json.parse",
            "ccos.text.transform"
        ])
    );
    assert_eq!(mapped["confidence"], 0.7);
    let delegates: Vec<Value> = list(&mapped["pipeline"])
        .iter()
        .map(|stage| stage["maps-to"].clone())
        .collect();
    assert_eq!(Value::Array(delegates), mapped["maps-to"]);
}

#[test]
fn a_constant() {
    let mapped = House::new().map("BASE=https://books.example.org\ncurl \"$BASE/v2/ping\"");
    assert_eq!(
        mapped["params"],
        json!({"url": "https://books.example.org/v2/ping", "method": "GET"})
    );
    assert_eq!(mapped["confidence"], 0.7);
    assert!(
        diagnosed(&mapped).contains(&"constant".to_owned()),
        "{mapped}"
    );
}

#[test]
fn a_bare_verb_with_a_body() {
    let mapped = House::new().map("PUT /v2/items/:id\nBody: {\"year\":1816}");
    assert_eq!(mapped["params"]["method"], "PUT");
    assert_eq!(required(&mapped), ["id", "year"]);
    assert_eq!(mapped["confidence"], 0.9);
}

#[test]
fn a_loop_is_a_script() {
    let mapped =
        House::new().map("for i in 1 2; do curl https://books.example.org/v2/items/$i; done");
    assert_eq!(mapped["tier"], 3);
    assert_eq!(mapped["known"], false);
    assert_eq!(mapped["maps-to"], "ccos.sandbox.shell");
    let reasons = format!("{} {}", mapped["reason"], mapped["reasons"]);
    assert!(
        reasons.contains("loop") || reasons.contains("for"),
        "{mapped}"
    );
    let requires = list(&mapped["requires"]);
    assert!(
        requires.contains(&json!("egress:books.example.org:443")),
        "{mapped}"
    );
}

#[test]
fn an_unknown_tool_has_its_arguments_and_no_shell() {
    let mapped = House::new().map("convert in.png -resize {size} out.png");
    assert_eq!(mapped["tier"], 3);
    assert_eq!(mapped["known"], false);
    assert_eq!(mapped["requires-approval"], true);
    assert_eq!(mapped["confidence"], 0.3);
    assert_eq!(mapped["message"], "No mapping found for command");
    assert_eq!(required(&mapped), ["size"]);
    let stages = list(&mapped["stages"]);
    assert_eq!(stages.len(), 1);
    let stage = &stages[0];
    assert!(stage["script"].is_null(), "{stage}");
    let text = stage.to_string();
    for word in ["convert", "in.png", "-resize", "size", "out.png"] {
        assert!(text.contains(word), "{word} in {stage}");
    }
    assert!(
        !list(&mapped["requires"])
            .iter()
            .any(|one| string(one).starts_with("egress:"))
    );
}

#[test]
fn a_refused_option_is_an_error() {
    let house = House::new();
    let error = house.error(&[
        "map",
        "curl --proxy http://p.example https://books.example.org/",
    ]);
    assert_eq!(code(&error), "curl-option-refused");
    assert!(string(&error["message"]).contains("--proxy"), "{error}");
}

#[test]
fn what_is_refused_has_its_code_and_exit_status_1() {
    let house = House::new();
    for (command, expected) in [
        ("", "empty-command"),
        ("Authorization: Bearer x", "not-an-operation"),
        ("curl https://a.example.org/ 'unclosed", "shell-syntax"),
        (
            "curl --no-such-option https://a.example.org/",
            "curl-option-unknown",
        ),
        (
            "curl -I -d a=1 https://a.example.org/",
            "curl-option-conflict",
        ),
        (
            "wget --mirror https://a.example.org/",
            "wget-option-refused",
        ),
        ("jq -f prog.jq", "jq-option-refused"),
        ("curl https://user:pw@a.example.org/", "url-userinfo"),
        ("curl 'https://a.example.org/[1-9]'", "url-glob"),
        (
            "curl -H 'Host: b.example.org' https://a.example.org/",
            "header-refused",
        ),
        ("curl \"https://$WHERE/v1\"", "host-variable"),
    ] {
        assert_eq!(house.code(&["map", command]), expected, "{command}");
    }
}

#[test]
fn section_2_2_a_usage_error_has_exit_status_2() {
    let house = House::new();
    for arguments in [
        &["map"][..],
        &["map", "--list", "echo hi"],
        &["map", "--nothing", "echo hi"],
        &["skill"],
        &["skill", "execute", "one"],
        &["approvals", "approve"],
        &["approvals", "approve", "ap-0", "--scope", "forever"],
        &["approvals", "approve", "ap-0", "--ttl", "soon"],
        &["secrets", "bind", "NAME"],
        &["audit"],
    ] {
        let run = house.folder().run(arguments);
        assert_eq!(run.status, 2, "{arguments:?}: {run:?}");
        assert_eq!(run.stdout, "", "{arguments:?}");
    }
}

#[test]
fn several_requests_are_several_operations() {
    let mapped = House::new().map("curl https://a.example.org/one\ncurl https://a.example.org/two");
    let urls: Vec<Value> = list(&mapped["operations"])
        .iter()
        .map(|one| one["params"]["url"].clone())
        .collect();
    assert_eq!(
        urls,
        [
            json!("https://a.example.org/one"),
            json!("https://a.example.org/two")
        ]
    );
}

#[test]
fn printing_options_cost_confidence_once() {
    let house = House::new();
    let mapped = house.map("curl -i -v https://a.example.org/");
    assert_eq!(mapped["confidence"], 0.8);
    assert_eq!(house.map("curl a.example.org")["confidence"], 0.7);
    assert_eq!(
        house.map("wget -qO- https://a.example.org/")["confidence"],
        0.8
    );
    assert_eq!(house.map("python3 -c 'print(1)'")["confidence"], 0.85);
}

#[test]
fn the_list_has_the_table_and_counts_unknown_tools() {
    let house = House::new();
    let before = house.ok(&["map", "--list"]);
    assert_eq!(before["unmapped"], json!([]), "{before}");
    assert!(!before["mapping-version"].is_null(), "{before}");
    for command in [
        "frobnicate a",
        "frobnicate b",
        "quux",
        "curl https://a.example.org/",
    ] {
        house.map(command);
    }
    let after = house.ok(&["map", "--list"]);
    let met: Vec<(String, u64)> = list(&after["unmapped"])
        .iter()
        .map(|one| (string(&one["tool"]), one["count"].as_u64().unwrap()))
        .collect();
    assert_eq!(met, [("frobnicate".into(), 2), ("quux".into(), 1)]);
    // The line that would lower it, and it does.
    let line = string(&after["unmapped"][0]["hint"]);
    house.govern(&format!("{line}\n"));
    assert_eq!(house.map("frobnicate a")["tier"], 2);
    assert_eq!(house.map("quux")["tier"], 3);
}

#[test]
fn mapping_records_nothing() {
    let house = House::new();
    house.map("curl https://a.example.org/ -H \"Authorization: Bearer $TOKEN\"");
    assert_eq!(house.chain(), Vec::<Value>::new());
    assert_eq!(house.ok(&["approvals", "list"]), json!([]));
}

#[test]
fn a_known_tool_lowers_no_script() {
    let house = House::with("known_tools = ['frobnicate', 'sh', 'pip', 'npx']\n");
    assert_eq!(house.map("frobnicate a")["tier"], 2);
    for command in [
        "frobnicate a && frobnicate b",
        "sh -c 'frobnicate a'",
        "pip install requests",
        "npx frobnicate",
    ] {
        assert_eq!(house.map(command)["tier"], 3, "{command}");
    }
}
