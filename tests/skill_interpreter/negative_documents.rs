//! Documents and commands that a public predecessor reads otherwise.

use serde_json::{Value, json};

use crate::house::{House, capability, code, list, shown, string};

const URL: &str = "https://books.example.org/v2/items";

fn ids(loaded: &Value) -> Vec<String> {
    let all = list(&loaded["capabilities"]);
    all.iter().map(|one| string(&one["id"])).collect()
}

/// A skill `books` whose text is this.
fn books(body: &str) -> String {
    format!("# Books\n\n{body}\n")
}

#[test]
fn frontmatter_and_body_are_both_read() {
    let house = House::new();
    let text = format!(
        "---\nname: books\ndescription: Books.\nversion: 2.1.0\n---\n\n# Title\n\n## Ping\n\n```bash\ncurl {URL}\n```\n"
    );
    let loaded = house.load("skill.md", &text);
    assert_eq!(ids(&loaded), ["books.ping"]);
    assert_eq!(loaded["version"], "2.1.0");
}

#[test]
fn a_response_fence_is_an_example_and_no_operation() {
    let house = House::new();
    let text = books(&format!(
        "## Ping\n\n```bash\ncurl {URL}\n```\n\nResponse:\n\n```json\n{{\"pong\": 41}}\n```\n"
    ));
    let loaded = house.load("skill.md", &text);
    assert_eq!(ids(&loaded), ["books.ping"]);
    let examples = list(&shown(&house, "books", "books.ping")["examples"]);
    let outputs: Vec<&Value> = examples
        .iter()
        .filter(|example| example.to_string().contains("pong"))
        .collect();
    assert_eq!(outputs.len(), 1, "{examples:?}");
}

#[test]
fn quotes_around_the_url_change_nothing() {
    let house = House::new();
    let plain = house.map(&format!("curl {URL}"));
    for quoted in [format!("curl '{URL}'"), format!("curl \"{URL}\"")] {
        assert_eq!(house.map(&quoted), plain, "{quoted}");
    }
}

#[test]
fn data_means_post() {
    let mapped = House::new().map(&format!("curl {URL} -d a=1"));
    assert_eq!(mapped["params"]["method"], "POST");
}

#[test]
fn pieces_of_data_are_joined() {
    let mapped = House::new().map(&format!("curl -d a=1 -d b=2 {URL}"));
    assert_eq!(mapped["params"]["body"], "a=1&b=2");
}

#[test]
fn a_comment_is_a_name() {
    let house = House::new();
    let mapped = house.map(&format!("# List them\ncurl {URL}"));
    assert_eq!(mapped["maps-to"], "ccos.network.http-fetch");
    let text = books(&format!(
        "## Items\n\n```bash\n# List them\ncurl {URL}\n# Read one\ncurl {URL}/1\n```\n"
    ));
    assert_eq!(
        ids(&house.load("skill.md", &text)),
        ["books.list-them", "books.read-one"]
    );
}

#[test]
fn a_label_is_not_part_of_the_body() {
    let house = House::new();
    for label in ["Returns:", "Response:"] {
        let mapped = house.map(&format!(
            "POST /v2/items\nBody: {{\"year\": 1816}}\n{label} {{\"id\": 7}}"
        ));
        let body: Value = serde_json::from_str(mapped["params"]["body"].as_str().unwrap()).unwrap();
        assert_eq!(body, json!({"year": 1816}), "{mapped}");
    }
}

#[test]
fn every_verb_is_kept() {
    let house = House::new();
    for verb in ["PATCH", "HEAD", "OPTIONS", "DELETE", "PUT"] {
        for command in [format!("{verb} /v2/items"), format!("curl -X {verb} {URL}")] {
            assert_eq!(house.map(&command)["params"]["method"], verb, "{command}");
        }
    }
}

#[test]
fn a_quoted_bar_is_part_of_the_program() {
    let mapped = House::new().map(&format!("curl {URL} | jq '.a | .b'"));
    let stages = list(&mapped["pipeline"]);
    assert_eq!(stages.len(), 2, "{mapped}");
    assert_eq!(stages[1]["params"]["path"], ".a | .b");
}

#[test]
fn what_the_shell_joins_is_a_script_as_a_whole() {
    let house = House::new();
    for rest in [
        "&& rm x", "| bash", "> file", "; cmd", "|| true", "| tee x", "&",
    ] {
        let mapped = house.map(&format!("curl {URL} {rest}"));
        assert_eq!(mapped["tier"], 3, "{rest}");
        assert_eq!(mapped["maps-to"], "ccos.sandbox.shell", "{rest}");
        assert!(mapped.get("operations").is_none(), "{rest}");
        assert!(
            !mapped["stages"].to_string().contains("\"http\""),
            "{mapped}"
        );
    }
}

#[test]
fn code_without_its_quotes() {
    let mapped = House::new().map("python3 -c 'print(2)'");
    assert_eq!(mapped["maps-to"], "ccos.sandbox.python");
    assert_eq!(mapped["params"]["code"], "print(2)");
}

#[test]
fn names_in_an_authentication_section() {
    let house = House::new();
    let text = books(&format!(
        "## Authentication\n\nSet `BOOKS_TOKEN` and `OTHER_KEY`.\n\n## Ping\n\n\
         ```bash\ncurl {URL} -H \"X-Thing: $BOOKS_TOKEN\"\n```\n"
    ));
    let loaded = house.load("skill.md", &text);
    let requires = list(&capability(&loaded, "books.ping")["requires"]);
    assert!(
        requires.contains(&json!("secret:BOOKS_TOKEN")),
        "{requires:?}"
    );
    assert!(
        !requires.contains(&json!("secret:OTHER_KEY")),
        "{requires:?}"
    );
    let secrets = list(&house.ok(&["skill", "show", "books"])["secrets"]);
    for name in ["BOOKS_TOKEN", "OTHER_KEY"] {
        assert!(secrets.contains(&json!(name)), "{secrets:?}");
    }
}

#[test]
fn a_mapping_that_is_no_skill() {
    let house = House::new();
    for text in ["a: 1\nb: [2]\n", "name: only\n", "id: only\nversion: 1\n"] {
        let code = code(&house.refused("skill.yaml", text));
        assert_eq!(code, "not-a-skill", "{text}");
    }
    assert_eq!(house.ok(&["skill", "list"])["skills"], json!([]));
}

#[test]
fn a_wrong_type_is_no_empty_list() {
    let house = House::new();
    let error = house.refused("skill.yaml", "name: a\noperations: 7\n");
    assert_eq!(code(&error), "schema");
    assert_eq!(error["path"], "operations");
    assert!(
        string(&error["message"]).contains("operations: expected list or map, got integer"),
        "{error}"
    );
    let error = house.refused(
        "skill.yaml",
        "name: a\noperations:\n- name: x\n  endpoint: https://a.example.org/\n- name: y\n  endpoint: [1]\n",
    );
    assert_eq!(error["path"], "operations[1].endpoint");
}

#[test]
fn a_json_schema_is_enforced() {
    let house = House::new();
    let text = format!(
        "name: books\noperations:\n- name: find\n  endpoint: {URL}\n  method: POST\n  input_schema:\n    type: object\n    \
         properties:\n      year: {{type: integer, minimum: 1000}}\n      title: {{type: string, maxLength: 4}}\n    \
         required: [year]\n"
    );
    house.load("skill.yaml", &text);
    for (params, expected) in [
        (json!({}), "missing-input"),
        (json!({"year": "1815"}), "invalid-input"),
        (json!({"year": 999}), "invalid-input"),
        (json!({"year": 1815, "title": "Emmas"}), "invalid-input"),
        (json!({"year": 1815, "other": 1}), "invalid-input"),
        (json!({"year": 1815, "title": "Emma"}), "approval-required"),
    ] {
        let error = house.denied("books", "find", &params);
        assert_eq!(code(&error), expected, "{params}: {error}");
    }
    let error = house.denied("books", "find", &json!({}));
    assert_eq!(error["missing"], json!(["year"]));
    assert_eq!(error["message"], "PROMPT_MISSING_INPUT: year");
}

#[test]
fn options_glued_and_long() {
    let house = House::new();
    let params = |command: &str| house.map(command)["params"].clone();
    assert_eq!(params(&format!("curl -XPUT {URL}"))["method"], "PUT");
    assert_eq!(
        params(&format!("curl --request=PUT {URL}"))["method"],
        "PUT"
    );
    assert_eq!(params(&format!("curl -sSL {URL}"))["method"], "GET");
    assert_eq!(params(&format!("curl --url {URL}"))["url"], URL);
    assert_eq!(params(&format!("curl -I {URL}"))["method"], "HEAD");
    let get = params(&format!("curl -G -d q=1 {URL}"));
    assert_eq!(
        (&get["method"], &get["url"]),
        (&json!("GET"), &json!(format!("{URL}?q=1")))
    );
    let json = params(&format!("curl --json '{{\"a\":1}}' {URL}"));
    assert_eq!(
        (&json["method"], &json["body"]),
        (&json!("POST"), &json!("{\"a\":1}"))
    );
    assert_eq!(
        params(&format!("curl -F a=b {URL}"))["multipart"][0]["name"],
        "a"
    );
    let basic = house.map(&format!("curl -u me:pw {URL}"));
    assert_eq!(basic["auth"]["type"], "basic", "{basic}");
    assert_eq!(list(&basic["secrets"]).len(), 2);
    assert!(!basic.to_string().contains("\"pw\""), "{basic}");
    let file = house.map(&format!("curl -d @f {URL}"));
    assert!(
        list(&file["requires"]).contains(&json!("file-read:f")),
        "{file}"
    );
}
