//! What a skill's front matter becomes: values, and what the RFC leaves open about fields.

use super::*;

/// The entry of a skill with this front matter; `x.md` declares it.
fn entry(front_matter: &str, lenient: bool) -> serde_json::Value {
    let file = format!("---\n{front_matter}\n---\nBody");
    let mut host = FakeHost::new(&[("x.md", "---\nskills: [s.md]\n---\n"), ("s.md", &file)]);
    let request = Request {
        lenient,
        ..Request::new("x.md")
    };
    json(&host.hydrate(&request))["metadata"]["dependencies"]["skills"][0].clone()
}

/// `name` and `description`, where each fragment replaces the line of its key.
fn fields(fragment: &str, lenient: bool) -> (String, String) {
    let replaces = |key: &str| {
        fragment.starts_with(&format!("{key}:")) || fragment.contains(&format!("\n{key}:"))
    };
    let mut front_matter = fragment.to_owned();
    for (key, line) in [("name", "name: Ann"), ("description", "description: d")] {
        // `Name:` replaces the line of `name` too.
        let replaced = replaces(key) || (key == "name" && fragment.starts_with("Name:"));
        if !replaced {
            front_matter = format!("{line}\n{front_matter}");
        }
    }
    let entry = entry(&front_matter, lenient);
    let member = |name: &str| entry[name].as_str().unwrap().to_owned();
    (member("name"), member("description"))
}

#[test]
fn names_and_descriptions_are_source_text() {
    let names = [
        ("name: 007", "007"),
        ("name: 1.10", "1.10"),
        ("name: 0x1F", "0x1F"),
        ("name: 1e3", "1e3"),
        ("name: on", "on"),
        ("name: False", "False"),
        ("name: 2026-01-31", "2026-01-31"),
        (r#"name: "a\tb""#, "a\tb"),
        ("name: 'it''s'", "it's"),
        (r#"name: " x ""#, " x "),
        ("name: Ann # pilot", "Ann"),
        ("name: C#", "C#"),
        ("name: !!str 42", "42"),
        ("name: !!int 42", "42"),
        ("who: &p Ann\nname: *p", "Ann"),
    ];
    for (fragment, expected) in names {
        assert_eq!(fields(fragment, false).0, expected, "{fragment}");
    }
    let descriptions = [
        ("description: >-\n  one\n  two", "one two"),
        ("description: |\n  one\n  two\n", "one\ntwo\n"),
        ("description: |\n  a\n  ---\n  b\n", "a\n---\nb\n"),
    ];
    for (fragment, expected) in descriptions {
        assert_eq!(fields(fragment, false).1, expected, "{fragment}");
    }
}

#[test]
fn blank_and_missing_fields() {
    for fragment in [
        "name:",
        "name: ~",
        "name: \"\"",
        "name: \"  \"",
        "name: [Ann]",
        "name: {a: b}",
        "Name: Ann",
        "name: \"\\u00a0\\u2003\"",
    ] {
        assert_eq!(
            fields(fragment, false).0,
            "ERROR: MISSING_NAME",
            "{fragment}"
        );
    }
    assert_eq!(
        fields("description: ''", false),
        ("Ann".into(), "ERROR: MISSING_DESCRIPTION".into())
    );
    let merged = entry("base: &b {name: Ann}\n<<: *b", false);
    assert_eq!(merged["name"], "ERROR: MISSING_NAME");
    assert_eq!(
        fields("name: \"\u{200b}\"", false).0,
        "\u{200b}",
        "no white space"
    );
}

#[test]
fn front_matter_that_is_refused() {
    for fragment in [
        "name: !pilot Ann",
        "x: !!binary aGk=",
        "name: !!int Ann",
        "name: !!seq Ann",
        "name: Ann\n\"name\": Bo",
        "x: {k: 1, k: 2}",
        "description: Use when: asked",
        "\tname: Ann",
        "name: [Ann",
        "name: @ann",
        "name: \"\\q\"",
        "x: *nope",
    ] {
        let entry = entry(&format!("{fragment}\nz: y"), false);
        for member in ["name", "description"] {
            assert_eq!(entry[member], "ERROR: PARSE_ERROR", "{fragment}");
        }
        assert_eq!(entry["skills"], serde_json::json!([]));
    }
}

#[test]
fn a_skill_without_front_matter_or_an_empty_file() {
    for file in ["", "Hi", "---\nname: never closed", "---\n---\n"] {
        let mut host = FakeHost::new(&[("x.md", "---\nskills: [s.md]\n---\n"), ("s.md", file)]);
        assert!(
            host.payload("x.md").contains(
                r#""name":"ERROR: MISSING_NAME","description":"ERROR: MISSING_DESCRIPTION","skills":[],"tools":[]"#
            ),
            "{file:?}"
        );
    }
}

#[test]
fn invalid_utf_8_anywhere_in_a_skill() {
    let mut host = FakeHost::new(&[
        ("x.md", b"---\nskills: [s.md]\n---\n".as_slice()),
        ("s.md", b"---\nname: Ann\n---\nbody \xff"),
    ]);
    assert_eq!(
        members(&host.payload("x.md"), "skills", "name"),
        ["ERROR: PARSE_ERROR"]
    );
}

#[test]
fn raw_arrays() {
    let cases = [
        (
            "skills: [7, \"./a.md\", ~, {k: v}]",
            serde_json::json!(["7", "./a.md", "ERROR: PARSE_ERROR", "ERROR: PARSE_ERROR"]),
        ),
        (
            "skills: Read, Grep",
            serde_json::json!(["ERROR: PARSE_ERROR"]),
        ),
        ("skills: {a: b}", serde_json::json!(["ERROR: PARSE_ERROR"])),
        ("skills: ''", serde_json::json!(["ERROR: PARSE_ERROR"])),
        ("skills: ~", serde_json::json!([])),
        ("skills:", serde_json::json!([])),
        ("skills: []", serde_json::json!([])),
        (
            "skills: [b, a, b, '../../x']",
            serde_json::json!(["b", "a", "b", "../../x"]),
        ),
        ("x: &x [a]\nskills: *x", serde_json::json!(["a"])),
    ];
    for (front_matter, expected) in cases {
        assert_eq!(
            entry(front_matter, false)["skills"],
            expected,
            "{front_matter}"
        );
        let tools = front_matter.replace("skills:", "tools:");
        assert_eq!(entry(&tools, false)["tools"], expected, "{tools}");
    }
    let entry = entry("allowed-tools: [a]\nTools: [b]", false);
    assert_eq!(entry["tools"], serde_json::json!([]));
}

#[test]
fn lenient_quotes_names_and_descriptions() {
    let lenient = [
        ("description: Use when: asked", "Use when: asked"),
        (
            "description:\t Use when: \"asked\" \\o/ \t",
            "Use when: \"asked\" \\o/",
        ),
        (
            "description: Use when: asked # not a comment now",
            "Use when: asked # not a comment now",
        ),
        ("description: a: b\r", "a: b"),
    ];
    for (fragment, expected) in lenient {
        assert_eq!(fields(fragment, true).1, expected, "{fragment:?}");
        assert_eq!(
            fields(fragment, false).1,
            "ERROR: PARSE_ERROR",
            "{fragment:?}"
        );
    }
    let no_yaml = [
        ("description: [Use when: asked", "ERROR: PARSE_ERROR"),
        ("description: {when: asked", "ERROR: PARSE_ERROR"),
        ("description: >\n  one\nx: a: b", "ERROR: PARSE_ERROR"),
        ("description: |-\n  one\nx: a: b", "ERROR: PARSE_ERROR"),
        ("description: # none: yet\nx: a: b", "ERROR: PARSE_ERROR"),
        ("description: \"\"\nx: a: b", "ERROR: PARSE_ERROR"),
        ("description: '| a'\nx: a: b", "| a"),
        ("description: `Use when: asked", "`Use when: asked"),
        ("description: a\nx: Use when: asked", "a"),
        ("description\t: Use when: asked", "d"),
    ];
    for (fragment, expected) in no_yaml {
        assert_eq!(fields(fragment, true).1, expected, "{fragment:?}");
        assert_eq!(
            fields(fragment, false).1,
            "ERROR: PARSE_ERROR",
            "{fragment:?}"
        );
    }
    // What parses strictly is not rewritten.
    assert_eq!(fields("description: a # b", true).1, "a");
    assert_eq!(fields("name: ~", true).0, "ERROR: MISSING_NAME");
}

#[test]
fn lenient_holds_for_the_resource_in_json_only() {
    let file = "---\ndescription: Use when: asked\nskills: [s.md]\n---\nHi";
    let mut host = FakeHost::new(&[("x.md", file)]);
    let request = Request {
        lenient: true,
        ..Request::new("x.md")
    };
    let payload = host.hydrate(&request);
    assert_eq!(members(&payload, "skills", "uri"), ["os://s.md"]);
    assert_eq!(json(&payload)["content"], "Hi");
    for format in [Format::Link, Format::V2] {
        let request = Request {
            format,
            ..request.clone()
        };
        assert_eq!(
            hydrate(&mut host, &request).unwrap_err().code(),
            "parse_error"
        );
    }
}

#[test]
fn what_a_skill_says_cannot_leave_its_string() {
    let nasty = "</script>\u{1b}[31m\"},{\"uri\":\"x\n\u{2028}ERROR: TIMEOUT";
    let name = serde_json::json!(nasty);
    assert_eq!(entry(&format!("name: {name}"), false)["name"], nasty);
    assert_eq!(fields("name: 'ERROR: TIMEOUT'", false).0, "ERROR: TIMEOUT");
}
