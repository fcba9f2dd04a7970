//! The errors of an instance.

use super::*;

#[test]
fn paths_are_json_pointers_and_end_in_the_failing_keyword() {
    for (text, schema, expected) in [
        (
            "1",
            json!({"type": "string"}),
            " /type 1 is not of type \"string\"",
        ),
        ("1", json!(false), "  False schema does not allow 1"),
        (
            "{\"a\":1}",
            json!({"properties": {"a": false}}),
            "/a /properties/a False schema does not allow 1",
        ),
        (
            "{\"a/~b\":{\"c\":[0,\"x\"]}}",
            json!({"properties": {"a/~b": {"additionalProperties": {"items": {"type": "integer"}}}}}),
            "/a~1~0b/c/1 /properties/a~1~0b/additionalProperties/items/type \"x\" is not of type \"integer\"",
        ),
        (
            "{}",
            json!({"required": ["a\n"]}),
            " /required \"a\\n\" is a required property",
        ),
        (
            "{\"a\\nb\":1}",
            json!({"properties": {"z": true}, "additionalProperties": false}),
            " /additionalProperties Additional properties are not allowed ('a\u{fffd}b' was unexpected)",
        ),
        (
            "{\"ab\":1}",
            json!({"propertyNames": {"maxLength": 1}}),
            " /propertyNames/maxLength a name is not allowed: \"ab\" is longer than 1 character",
        ),
        (
            "[1]",
            json!({"anyOf": [{"type": "string"}, {"maxItems": 0}]}),
            " /anyOf [1] is not valid under any of the schemas listed in the 'anyOf' keyword",
        ),
        (
            "{ \"a\" : [ 1 , \"b c\" ] }",
            json!({"maxProperties": 0}),
            " /maxProperties {\"a\":[1,\"b c\"]} has more than 0 properties",
        ),
        (
            "[1,1]",
            json!({"uniqueItems": true}),
            " /uniqueItems [1,1] has non-unique elements",
        ),
        (
            "5",
            json!({"$ref": "#/$defs/a", "$defs": {"a": {"maximum": 4}}}),
            " /$defs/a/maximum 5 is greater than the maximum of 4",
        ),
    ] {
        assert_eq!(errors(text, &schema), [expected], "{schema}");
    }
    let draft_7 = json!({"$schema": "http://json-schema.org/draft-07/schema#", "items": [true], "additionalItems": false});
    assert_eq!(
        errors("[1,2,3]", &draft_7),
        [" /additionalItems Additional items are not allowed (2 items)"]
    );
}

#[test]
fn a_message_is_one_line_of_at_most_512_characters() {
    let long = "é".repeat(600);
    for (text, schema) in [
        (format!("\"{long}\""), json!({"maxLength": 1})),
        (
            format!("{{\"{long}\":1}}"),
            json!({"properties": {"z": true}, "additionalProperties": false}),
        ),
        ("1".to_owned(), json!({"const": long})),
        (
            format!("[{}1]", "1,\n".repeat(100_000)),
            json!({"type": "object"}),
        ),
        (
            format!("{{\"{long}\":1}}"),
            json!({"propertyNames": {"maxLength": 1}}),
        ),
    ] {
        let answer = answer(&json!({"json": text, "schema": schema}));
        let message = answer["errors"][0]["message"].as_str().unwrap();
        assert!(
            message.chars().count() <= 512 && !message.contains('\n'),
            "{message}"
        );
        assert!(message.contains('…'), "{message}");
    }
    let shown = errors(&format!("\"{long}\""), &json!({"maxLength": 1})).remove(0);
    assert!(shown.ends_with("… is longer than 1 character"), "{shown}");
}

#[test]
fn errors_are_sorted_and_cut_and_not_repeated() {
    let text = "{\"b\":1,\"a\":[1,2,3],\"é\":1,\"B\":1}";
    let schema = json!({
        "properties": {"a": {"items": {"type": "string"}}},
        "allOf": [{"$ref": "#/$defs/x"}, {"$ref": "#/$defs/x"}],
        "patternProperties": {"^[bBé]$": false},
        "$defs": {"x": {"required": ["c"]}}
    });
    let all = errors(text, &schema);
    assert_eq!(all.len(), 7);
    let mut sorted = all.clone();
    sorted.sort();
    sorted.dedup();
    assert_eq!(all, sorted);
    for most in 1..=8 {
        let answer = answer(&json!({"json": text, "schema": schema, "max_errors": most}));
        let kept = answer["errors"].as_array().unwrap();
        assert_eq!(kept.len(), most.min(7));
        assert_eq!(answer["truncated"], most < 7, "{most}");
        for (kept, error) in kept.iter().zip(&all) {
            assert!(error.starts_with(kept["instance_path"].as_str().unwrap()));
        }
    }
}

#[test]
fn format_and_content_are_annotations() {
    let schema = json!({"format": "ipv4", "contentEncoding": "base64", "contentMediaType": "application/json"});
    assert!(is_valid("\"%\"", &schema));
    let asked = |text: &str, format: &str| {
        answer(&json!({"json": text, "schema": {"format": format}, "assert_formats": true}))["valid"]
            == true
    };
    assert!(!asked("\"%\"", "ipv4") && asked("\"127.0.0.1\"", "ipv4") && asked("1", "ipv4"));
    assert!(!asked("\"x\"", "date-time") && asked("\"2020-02-29T00:00:00Z\"", "date-time"));
    assert!(asked("\"x\"", "no-such-format"));
    let draft_7 = json!({"$schema": "http://json-schema.org/draft-07/schema#",
        "contentEncoding": "base64", "contentMediaType": "application/json", "format": "email"});
    assert!(is_valid("\"%\"", &draft_7));
}

#[test]
fn a_failing_union_says_why_each_branch_failed() {
    let schema = json!({
        "properties": {"a": {"oneOf": [
            {"type": "string"},
            {"required": ["b"], "properties": {"c": {"type": "string"}}},
            {"anyOf": [{"type": "null"}, {"maxProperties": 0}]},
        ]}}
    });
    let found = answer(&json!({"json": "{\"a\":{\"c\":1}}", "schema": schema}));
    let [error] = found["errors"].as_array().unwrap().as_slice() else {
        panic!("{found}")
    };
    assert_eq!(error["schema_path"], "/properties/a/oneOf");
    let branches: Vec<String> = error["branches"]
        .as_array()
        .unwrap()
        .iter()
        .map(|branch| {
            ["instance_path", "schema_path", "message"]
                .map(|member| branch[member].as_str().unwrap())
                .join(" ")
        })
        .collect();
    assert_eq!(
        branches,
        [
            "/a /properties/a/oneOf/0/type {\"c\":1} is not of type \"string\"",
            "/a /properties/a/oneOf/1/required \"b\" is a required property",
            "/a/c /properties/a/oneOf/1/properties/c/type 1 is not of type \"string\"",
            "/a /properties/a/oneOf/2/anyOf/0/type {\"c\":1} is not of type \"null\"",
            "/a /properties/a/oneOf/2/anyOf/1/maxProperties {\"c\":1} has more than 0 properties",
        ]
    );
}

#[test]
fn a_value_that_several_branches_take_says_which() {
    let schema = json!({"oneOf": [{"type": "integer"}, {"type": "string"}, {"minimum": 2}]});
    let shown = errors("3", &schema);
    assert_eq!(shown.len(), 1);
    assert!(shown[0].ends_with(": under 0 and 2"), "{shown:?}");
}

#[test]
fn the_errors_of_many_branches_are_bounded() {
    let schema = json!({"anyOf": vec![json!({"type": "string"}); 90_000]});
    let found = answer(&json!({"json": "1", "schema": schema}));
    assert_eq!(found["errors"][0]["branches"].as_array().unwrap().len(), 20);
}
