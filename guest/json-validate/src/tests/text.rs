//! TS-124: the text of the instance.

use super::*;

#[test]
fn ts_124_a_text_that_is_no_json_is_not_valid_and_says_where() {
    for (text, message) in [
        ("", "not valid JSON: expected a value at line 1, byte 1"),
        (" \n ", "not valid JSON: expected a value at line 2, byte 2"),
        (
            "{\"a\":1,}",
            "not valid JSON: expected a name in quotes at line 1, byte 8",
        ),
        (
            "{\"a\" 1}",
            "not valid JSON: expected `:` at line 1, byte 6",
        ),
        (
            "[1 2]",
            "not valid JSON: expected `,` or `]` at line 1, byte 4",
        ),
        (
            "{\"a\":1]",
            "not valid JSON: expected `,` or `}` at line 1, byte 7",
        ),
        (
            "1 2",
            "not valid JSON: expected the end of the text at line 1, byte 3",
        ),
        (
            "\u{feff}1",
            "not valid JSON: expected a value at line 1, byte 1",
        ),
        ("nul", "not valid JSON: expected a value at line 1, byte 1"),
        ("NaN", "not valid JSON: expected a value at line 1, byte 1"),
        ("-", "not valid JSON: expected a digit at line 1, byte 2"),
        (
            "01",
            "not valid JSON: expected the end of the text at line 1, byte 2",
        ),
        ("1.", "not valid JSON: expected a digit at line 1, byte 3"),
        ("1e+", "not valid JSON: expected a digit at line 1, byte 4"),
        ("+1", "not valid JSON: expected a value at line 1, byte 1"),
        (
            "\"a",
            "not valid JSON: expected the end of a string at line 1, byte 3",
        ),
        (
            "\"\\x\"",
            "not valid JSON: expected an escape at line 1, byte 3",
        ),
        (
            "\"\\u00g0\"",
            "not valid JSON: expected four hexadecimal digits at line 1, byte 3",
        ),
        (
            "\"\\ud800\"",
            "not valid JSON: expected the second half of a surrogate pair at line 1, byte 9",
        ),
        (
            "\"\\udc00\"",
            "not valid JSON: expected the first half of a surrogate pair at line 1, byte 8",
        ),
        (
            "\"\t\"",
            "not valid JSON: expected an escape instead of a control character at line 1, byte 2",
        ),
    ] {
        let answer = answer(&json!({"json": text, "schema": true}));
        let error = json!({"instance_path": "", "schema_path": "", "message": message});
        assert_eq!(
            answer,
            json!({"valid": false, "errors": [error], "truncated": false, "draft": "2020-12"}),
            "{text}"
        );
    }
}

#[test]
fn ts_124_every_json_value_is_read() {
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
fn ts_124_nesting_over_128_is_too_large() {
    let nested = |levels: usize| json!({"json": format!("{}{}", "[".repeat(levels), "]".repeat(levels)), "schema": true});
    assert_eq!(answer(&nested(128))["valid"], true);
    assert_eq!(refusal(&nested(129)).0, "too_large");
    assert_eq!(refusal(&nested(1_000_000)).0, "too_large");
}

#[test]
fn ts_124_of_members_with_one_name_the_last_one_counts() {
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
fn ts_02_a_request_is_taken_within_its_bounds() {
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
fn ts_07_describe_is_compact_json_of_four_members_that_takes_and_matches_its_own() {
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
