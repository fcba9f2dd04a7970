//! What kind of document it is, through the component's entry.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a failed expectation is a failed test, in a fixture as in the test itself"
)]

mod requests;

use requests::{error, load, load_bytes, skill};
use serde_json::{Value, json};

const YAML: &str = "name: x\ncapabilities: [a]\n";
const JSON: &str = r#"{"name": "x", "capabilities": ["a"]}"#;
const OPENAPI: &str = "openapi: 3.0.0\ninfo: {title: Pets, version: '1'}\npaths: {}\n";

fn format(url: &str, text: &str, content_type: Option<&str>) -> String {
    let members = content_type.map_or(json!({}), |value| json!({"content-type": value}));
    let answer = load(url, text, members).unwrap();
    match answer["ok"].as_bool() {
        Some(true) => answer["skill"]["format"].as_str().unwrap().to_owned(),
        _ => answer["error"]["code"].as_str().unwrap().to_owned(),
    }
}

#[test]
fn bytes_that_are_no_document() {
    let code = |bytes: &[u8]| {
        let answer = load_bytes("https://e.org/a.yaml", bytes, json!({}));
        match answer {
            Ok(answer) => answer["error"]["code"].as_str().map(str::to_owned),
            Err(code) => Some(code),
        }
    };
    let expect = |bytes: &[u8], expected: &str| {
        assert_eq!(code(bytes).as_deref(), Some(expected));
    };
    expect(b"name: \xFF\n", "not-utf8");
    expect(b"name: x\0\n", "not-text");
    expect("name: é".as_bytes().split_last().unwrap().1, "not-utf8");
    let mut large = YAML.as_bytes().to_vec();
    large.resize((1 << 20) + 1, b'\n');
    expect(&large, "too_large");
    large.pop();
    assert_eq!(code(&large), None);
    large.resize(3 << 20, b'\n');
    expect(&large, "too_large");
    for html in [
        "<!DOCTYPE html>",
        "\n  <!doctype html><p>",
        "<HTML lang=en>",
    ] {
        expect(html.as_bytes(), "html");
    }
    let bom = [b"\xEF\xBB\xBF", YAML.as_bytes()].concat();
    assert_eq!(code(&bom), None);
}

#[test]
fn openapi_goes_before_the_suffix() {
    for url in [
        "https://e.org/a.yaml",
        "https://e.org/a.json",
        "https://e.org/a",
    ] {
        assert_eq!(format(url, OPENAPI, None), "openapi", "{url}");
    }
    let json = r#"{"swagger": "2.0", "info": {"title": "Pets"}, "paths": {}}"#;
    assert_eq!(format("https://e.org/a", json, None), "openapi");
    assert_eq!(
        format("https://e.org/a.yml", json, Some("text/markdown")),
        "openapi"
    );
    // Not in Markdown.
    assert_ne!(format("https://e.org/a.md", OPENAPI, None), "openapi");
    for other in [
        "openapi: 3.0",
        "openapi: 2.0.0",
        "openapi: 4.0.0",
        "swagger: 2.0",
        "swagger: '1.2'",
        "openapi: {}",
        "openapi: 3.9.0",
    ] {
        let text = OPENAPI.replace("openapi: 3.0.0", other);
        assert_eq!(
            format("https://e.org/a.yaml", &text, None),
            "openapi-version",
            "{other}"
        );
    }
    let newer = OPENAPI.replace("3.0.0", "3.2.0");
    let newer = skill("https://e.org/a.yaml", &newer);
    assert_eq!(requests::codes(&newer), ["openapi-newer"]);
    assert_eq!(newer["format-version"], "3.2.0");
}

#[test]
fn a_suffix_binds() {
    for (url, text, expected) in [
        ("https://e.org/skill.json", YAML, "json"),
        ("https://e.org/SKILL.JSON?x=.yaml#y.md", JSON, "json"),
        ("https://e.org/skill.YML?v=2", YAML, "yaml"),
        ("https://e.org/skill.yaml", JSON, "yaml"),
        ("/home/a/skills/x.yaml", YAML, "yaml"),
        ("file:///home/a/x.yaml", YAML, "yaml"),
    ] {
        assert_eq!(format(url, text, Some("text/markdown")), expected, "{url}");
    }
    let refused = error("https://e.org/skill.json", "{\n\"name\": x}");
    assert_eq!(refused["code"], "json");
    assert_eq!(refused["line"], 2);
    assert_eq!(error("https://e.org/skill.yaml", "a: [\n")["code"], "yaml");
}

#[test]
fn a_content_type_decides_without_a_suffix() {
    let url = "https://e.org/skill?format=.json";
    for (content_type, expected) in [
        ("application/json", "json"),
        ("Application/YAML; charset=utf-8", "yaml"),
        ("application/x-yaml", "yaml"),
        ("text/yaml", "yaml"),
    ] {
        assert_eq!(
            format(url, JSON, Some(content_type)),
            expected,
            "{content_type}"
        );
    }
    // Others do not count: the text decides.
    for content_type in ["text/plain", "application/octet-stream", "", "x"] {
        assert_eq!(
            format(url, JSON, Some(content_type)),
            "json",
            "{content_type}"
        );
        assert_eq!(
            format(url, YAML, Some(content_type)),
            "yaml",
            "{content_type}"
        );
    }
}

#[test]
fn the_text_decides_last() {
    let url = "https://e.org/skill";
    for (text, expected) in [
        (JSON, "json"),
        ("\n  [1, 2]", "not-a-skill"),
        ("{a: 1}", "json"),
        (YAML, "yaml"),
        (
            "# a comment\nskill:\n  name: x\n  capabilities: [a]\n",
            "yaml",
        ),
        ("# a comment\nname: x\ninstructions: y\n", "no-operations"),
        ("---\nname: x\ncapabilities: [a]\n", "yaml"),
        ("---\nname: x\ncapabilities: [a]\n---\n\n", "yaml"),
        ("just words", "format-unknown"),
        ("name: x\nother: y\n", "format-unknown"),
        ("", "format-unknown"),
        ("    # indented code", "format-unknown"),
        ("#no heading", "format-unknown"),
    ] {
        assert_eq!(format(url, text, None), expected, "{text:?}");
    }
    for text in [
        "# Skill\n\nwords",
        "words\n   ###### six\n",
        "words\n```\nx\n```\n",
        "~~~\nx\n",
        "---\nname: x\n---\nwords\n",
    ] {
        let format = format(url, text, None);
        let is_markdown = matches!(
            format.as_str(),
            "markdown" | "no-operations" | "name-missing"
        );
        assert!(is_markdown, "{text:?}: {format}");
    }
}

#[test]
fn what_two_readers_could_understand_differently_is_refused() {
    for (url, text, code, line) in [
        (
            "https://e.org/a.json",
            "{\"name\": \"x\",\n \"name\": \"y\"}",
            "json",
            2,
        ),
        ("https://e.org/a.yaml", "name: x\nname: y\n", "yaml", 2),
        ("https://e.org/a.yaml", "name: x\n---\nname: y\n", "yaml", 2),
        ("https://e.org/a.yaml", "name: !!python/name x\n", "yaml", 1),
        (
            "https://e.org/a.yaml",
            "name: x\noperations: !custom []\n",
            "yaml",
            2,
        ),
    ] {
        let refused = error(url, text);
        assert_eq!(refused["code"], code, "{text}");
        assert_eq!(refused["line"], line, "{text}");
    }
}

#[test]
fn limits_are_named() {
    let deep = format!("{{\"name\": {}1{}}}", "[".repeat(200), "]".repeat(200));
    let bomb = (0..20).fold("a0: &a0 [x]\n".to_owned(), |mut text, level| {
        let aliases = format!("*a{level}, ").repeat(10);
        text.push_str(&format!("a{}: &a{} [{aliases}]\n", level + 1, level + 1));
        text
    });
    let many = format!(
        "name: x\noperations:\n{}",
        (0..513)
            .map(|n| format!(" - {{name: o{n}, endpoint: /x}}\n"))
            .collect::<String>()
    );
    for (url, text) in [
        ("https://e.org/a.json", &deep),
        ("https://e.org/a.yaml", &bomb),
        ("https://e.org/a.yaml", &many),
    ] {
        let refused = error(url, text);
        assert_eq!(refused["code"], "limit");
        assert!(
            refused["message"].as_str().unwrap().contains("more than"),
            "{refused}"
        );
    }
    let fits = many.replace(" - {name: o512, endpoint: /x}\n", "");
    assert_eq!(
        skill("https://e.org/a.yaml", &fits)["operations"]
            .as_array()
            .map(Vec::len),
        Some(512)
    );
}

#[test]
fn a_malformed_request_is_an_error_of_the_call() {
    let content = "bmFtZTogeA==";
    let call = |request: Value| {
        let request = serde_json::to_vec(&request).unwrap();
        skill_interpreter::run(&request).map_err(|error| error.code().to_owned())
    };
    let refused = Err("invalid_request".to_owned());
    let url = "https://e.org/a.yaml";
    for request in [
        json!([]),
        json!({}),
        json!({"op": 1}),
        json!({"op": "loads", "source-url": url, "content-b64": content}),
        json!({"op": "load", "source-url": url}),
        json!({"op": "load", "content-b64": content}),
        json!({"op": "load", "source-url": url, "content-b64": "***"}),
        json!({"op": "load", "source-url": url, "content-b64": content, "extra": 1}),
        json!({"op": "load", "source-url": url, "source_url": url, "content-b64": content}),
        json!({"op": "load", "source-url": url, "content-b64": content, "constants": {"A": 1}}),
        json!({"op": "load", "source-url": url, "content-b64": content, "files": {"a.py": "x"}}),
        json!({"op": "load", "source-url": url, "content-b64": content, "base-url": "ftp://x"}),
    ] {
        assert_eq!(call(request.clone()), refused, "{request}");
    }
    // A constant cannot be a secret.
    let text = "name: x\noperations: []\ncapabilities: [a]\nsecrets: [A]\n";
    let constants = json!({"constants": {"A": "1"}});
    assert_eq!(load(url, text, constants).unwrap_err(), "invalid_request");
}

#[test]
fn keys_of_a_request_may_be_written_with_an_underscore() {
    let request = |dash: &str| {
        let mut request = serde_json::Map::new();
        for (key, value) in [
            ("op", json!("load")),
            ("source-url", json!("https://e.org/a")),
            ("content-b64", json!("bmFtZTogeApjYXBhYmlsaXRpZXM6IFthXQo=")),
            ("content-type", json!("application/yaml")),
            ("base-url", json!("https://b.example")),
        ] {
            request.insert(key.replace('-', dash), value);
        }
        skill_interpreter::run(&serde_json::to_vec(&request).unwrap()).unwrap()
    };
    assert_eq!(request("-"), request("_"));
}
