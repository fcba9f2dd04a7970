//! The text of the instance.

use super::*;

#[test]
fn a_text_that_is_no_json_is_not_valid_and_says_where() {
    for (text, line) in [
        ("", 1),
        (" \n ", 2),
        ("{\"a\":1,}", 1),
        ("{\"a\" 1}", 1),
        ("[1 2]", 1),
        ("{\"a\":1]", 1),
        ("1 2", 1),
        ("\u{feff}1", 1),
        ("nul", 1),
        ("NaN", 1),
        ("-", 1),
        ("01", 1),
        ("1.", 1),
        ("1e+", 1),
        ("+1", 1),
        ("\n\n\"a", 3),
        ("\"\\x\"", 1),
        ("\"\\u00g0\"", 1),
        ("\"\\ud800\"", 1),
        ("\"\\udc00\"", 1),
        ("\"\t\"", 1),
    ] {
        let answer = answer(&json!({"json": text, "schema": true}));
        assert_eq!(answer["valid"], false, "{text}");
        let [error] = answer["errors"].as_array().unwrap().as_slice() else {
            panic!("{answer}")
        };
        assert_eq!([&error["instance_path"], &error["schema_path"]], ["", ""]);
        let message = error["message"].as_str().unwrap();
        assert!(message.starts_with("not valid JSON: "), "{message}");
        assert!(
            message.contains(&format!(" at line {line} column ")),
            "{message}"
        );
    }
}

#[test]
fn an_object_that_looks_like_how_a_number_is_carried_stays_an_object() {
    for text in [
        r#"{"$serde_json::private::Number":"1"}"#,
        r#"{"\u0024serde_json::private::Number":"1"}"#,
        r#"{"$serde_json::private::Number":1}"#,
        r#"{"$serde_json::private::Number":{"$serde_json::private::Number":"1"}}"#,
        r#"{"$serde_json::private::Number":[1,2]}"#,
    ] {
        assert!(
            is_valid(text, &json!({"type": "object", "minProperties": 1})),
            "{text}"
        );
        assert!(!is_valid(text, &json!({"type": "number"})), "{text}");
        // In a schema too.
        let request = format!(r#"{{"json":"1","schema":{{"const":{text}}}}}"#);
        let answer = run(request.as_bytes()).unwrap();
        let answer: Value = serde_json::from_slice(&answer).unwrap();
        assert_eq!(answer["valid"], false, "{text}");
    }
}

#[test]
fn every_json_value_is_read() {
    for text in [
        "null",
        "true",
        " false ",
        "0",
        "-0",
        "-1.5e-3",
        "1E+9",
        "\"\"",
        "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\ud83d\\ude00\"",
        "[]",
        "[ ]",
        "{}",
        "{ }",
        "[1,[2,{\"a\":[]}],{}]",
        "{\"\":{\"\":0}}",
        "\t[\r\n1 , 2]\n",
    ] {
        assert!(is_valid(text, &json!(true)), "{text}");
    }
}

#[test]
fn nesting_over_128_is_too_large() {
    let nested = |levels: usize| json!({"json": format!("{}{}", "[".repeat(levels), "]".repeat(levels)), "schema": true});
    assert_eq!(answer(&nested(128))["valid"], true);
    assert_eq!(refusal(&nested(129)).0, "too_large");
    assert_eq!(refusal(&nested(1_000_000)).0, "too_large");
}

#[test]
fn of_members_with_one_name_the_last_one_counts() {
    let schema = json!({"properties": {"a": {"const": 3}}, "maxProperties": 1, "minProperties": 1});
    assert!(is_valid("{\"a\":1,\"\\u0061\":2,\"a\":3}", &schema));
    assert!(!is_valid("{\"a\":3,\"a\":1}", &schema));
    assert!(is_valid("{\"a\":{\"a\":1,\"a\":2},\"a\":3}", &schema));
    // The names of a large object are looked up in another way.
    let many: Vec<String> = (0..100).map(|n| format!("\"n{n}\":{n}")).collect();
    let text = format!("{{\"n7\":0,{},\"n9\":0}}", many.join(","));
    let schema = json!({
        "properties": {"n7": {"const": 7}, "n9": {"const": 0}, "n99": {"const": 99}},
        "required": ["n0", "n99"], "minProperties": 100, "maxProperties": 100,
        "additionalProperties": {"minimum": 0}, "propertyNames": {"pattern": "^n"}
    });
    assert!(is_valid(&text, &schema));
    assert!(!is_valid(&text, &json!({"required": ["n100"]})));
    assert!(!is_valid(&text, &json!({"properties": {"n50": false}})));
}

#[test]
fn a_request_is_taken_within_its_bounds() {
    let base = json!({"json": "1", "schema": true});
    assert_eq!(answer(&base)["valid"], true);
    for (member, value) in [
        ("json", json!(1)),
        ("schema", json!("{}")),
        ("schema", json!(null)),
        ("schema", json!([])),
        ("max_errors", json!(0)),
        ("max_errors", json!(1001)),
        ("max_errors", json!(1.5)),
        ("assert_formats", json!("yes")),
        ("other", json!(1)),
        ("json", json!("a\u{0}")),
        ("json", json!(" ".repeat(8 * 1024 * 1024 + 1))),
    ] {
        let mut request = base.clone();
        request[member] = value;
        let (code, details) = refusal(&request);
        assert_eq!(
            (code.as_str(), &details["member"]),
            ("invalid_request", &json!(member))
        );
    }
    for member in ["json", "schema"] {
        let mut request = base.clone();
        request.as_object_mut().unwrap().remove(member);
        assert_eq!(refusal(&request).1["member"], member);
    }
}

#[test]
fn describe_is_compact_json_of_four_members_that_takes_and_matches_its_own() {
    let text = crate::describe();
    let describe: Value = serde_json::from_str(text).unwrap();
    assert_eq!(describe.to_string(), text);
    let members: Vec<&String> = describe.as_object().unwrap().keys().collect();
    assert_eq!(
        members,
        ["name", "description", "input_schema", "output_schema"]
    );
    assert_eq!(describe["name"], "json.validate");
    assert!(describe["description"].as_str().unwrap().chars().count() <= 1024);
    let request =
        json!({"json": "{\"a\":\"b\"}", "schema": {"properties": {"a": {"type": "integer"}}}});
    assert!(is_valid(&request.to_string(), &describe["input_schema"]));
    assert!(!is_valid(
        "{\"json\":\"1\",\"schema\":true,\"x\":1}",
        &describe["input_schema"]
    ));
    let answer = answer(&request);
    assert_eq!(answer["valid"], false);
    assert!(is_valid(&answer.to_string(), &describe["output_schema"]));
}
