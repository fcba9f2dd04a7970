//! TS-125, TS-126: the errors of an instance.

use super::*;

#[test]
fn ts_125_paths_are_json_pointers_and_end_in_the_failing_keyword() {
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
        [" /additionalItems Additional items are not allowed (more than 1)"]
    );
}

#[test]
fn ts_125_a_message_is_one_line_of_at_most_512_characters() {
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
fn ts_126_errors_are_sorted_and_cut_and_not_repeated() {
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
fn ts_127_format_and_content_are_annotations() {
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
fn ts_126_errors_of_branches_that_take_all_room_still_make_an_answer() {
    let tree =
        json!({"type": "array", "anyOf": [{"items": {"$ref": "#"}}, {"items": {"$ref": "#"}}]});
    let deep = format!("{}1{}", "[".repeat(18), "]".repeat(18));
    let many = format!("[{}0]", "0,".repeat(66_000));
    for (text, schema) in [
        (deep.as_str(), tree),
        (many.as_str(), json!({"unevaluatedItems": false})),
        (
            "1",
            json!({"anyOf": vec![json!({"type": "string"}); 90_000]}),
        ),
    ] {
        let answer = answer(&json!({"json": text, "schema": schema}));
        assert_eq!(answer["valid"], false);
        assert_eq!(answer["truncated"], true);
        assert!(!answer["errors"].as_array().unwrap().is_empty());
    }
}
