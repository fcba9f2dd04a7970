//! Numbers by what they are worth.

use super::*;

#[test]
fn numbers_are_compared_by_mathematical_value() {
    for (text, expected) in [
        ("1.0", json!(1)),
        ("1", json!(1.0)),
        ("10e-1", json!(1)),
        ("-0", json!(0)),
        ("-0.0", json!(0)),
        ("0e999999999999", json!(0)),
        ("9007199254740993.0", json!(9_007_199_254_740_993_u64)),
        ("18446744073709551615", json!(u64::MAX)),
        ("1844674407370955161.5e1", json!(u64::MAX)),
        ("0.10", json!(0.1)),
        ("1E-1", json!(0.1)),
        ("100000000000000000000", json!(1e20)),
    ] {
        assert!(
            is_valid(text, &json!({"const": expected})),
            "{text} {expected}"
        );
        assert!(
            is_valid(&format!("[{text}]"), &json!({"enum": [[], [expected]]})),
            "{text}"
        );
    }
    for (text, expected) in [
        ("9007199254740993", json!(9_007_199_254_740_992_u64)),
        ("9007199254740993.0", json!(9_007_199_254_740_992_u64)),
        ("18446744073709551616", json!(u64::MAX)),
        ("1e400", json!(1e308)),
        ("-1", json!(1)),
        ("0.5", json!(0)),
        ("1", json!("1")),
    ] {
        assert!(
            !is_valid(text, &json!({"const": expected})),
            "{text} {expected}"
        );
    }
}

#[test]
fn an_integer_is_what_has_no_fraction() {
    for text in [
        "1",
        "-5",
        "1.0",
        "1e2",
        "1.5e1",
        "-0.0",
        "100e-2",
        "1e400",
        "123456789012345678901234567890",
        "1e99999999999999999999",
    ] {
        assert!(is_valid(text, &json!({"type": "integer"})), "{text}");
    }
    for text in [
        "1.5",
        "1e-1",
        "15e-1",
        "1e-400",
        "123456789012345678901234567890.5",
        "1e-99999999999999999999",
    ] {
        assert!(!is_valid(text, &json!({"type": "integer"})), "{text}");
    }
    let draft_4 = json!({"$schema": "http://json-schema.org/draft-04/schema#", "type": "integer"});
    assert!(is_valid(
        "98249283749234923498293171823948729348710298301928331",
        &draft_4
    ));
    assert!(!is_valid("1.0", &draft_4));
}

#[test]
fn limits_hold_for_numbers_of_any_size() {
    for (text, schema, valid) in [
        ("1e400", json!({"maximum": 1e308}), false),
        ("1e400", json!({"minimum": 1e308}), true),
        ("-1e400", json!({"minimum": 0}), false),
        ("1e-400", json!({"minimum": 0}), true),
        (
            "18446744073709551615",
            json!({"maximum": 18_446_744_073_709_551_614_u64}),
            false,
        ),
        (
            "9007199254740993",
            json!({"exclusiveMinimum": 9_007_199_254_740_992_u64}),
            true,
        ),
        ("0.3", json!({"multipleOf": 0.1}), true),
        ("4.35", json!({"multipleOf": 0.01}), true),
        ("4.355", json!({"multipleOf": 0.01}), false),
        ("1e308", json!({"multipleOf": 0.123_456_789}), false),
        (
            "123456789012345678901234567890",
            json!({"multipleOf": 10}),
            true,
        ),
        (
            "123456789012345678901234567891",
            json!({"multipleOf": 10}),
            false,
        ),
        ("1e-400", json!({"multipleOf": 1}), false),
    ] {
        assert_eq!(is_valid(text, &schema), valid, "{text} {schema}");
    }
}

#[test]
fn unique_items_are_compared_by_value() {
    for (text, valid) in [
        ("[1,2,3]", true),
        ("[1,2,1.0]", false),
        ("[1,true,\"1\",[1],{\"a\":1}]", true),
        ("[0,false,null,\"\"]", true),
        ("[{\"a\":1,\"b\":2},{\"b\":2.0,\"a\":10e-1}]", false),
        ("[{\"a\":1,\"a\":2},{\"a\":2}]", false),
        ("[\"\\u0061\",\"a\"]", false),
        ("[[1,[]],[1,[]]]", false),
        ("[[1,2],[12]]", true),
        ("[\"a,\",\"a\"]", true),
        (
            "[123456789012345678901234567890,123456789012345678901234567891]",
            true,
        ),
        (
            "[123456789012345678901234567890,12345678901234567890123456789.0e1]",
            false,
        ),
        ("[1e400,1e401]", true),
        ("[1e400,10e399]", false),
        ("[0,-0.0]", false),
        ("[-1,1]", true),
    ] {
        assert_eq!(
            is_valid(text, &json!({"uniqueItems": true})),
            valid,
            "{text}"
        );
    }
}

#[test]
fn numbers_of_a_schema_keep_all_their_digits() {
    for (text, keyword, value, valid) in [
        (
            "123456789012345678901234567891",
            "const",
            "123456789012345678901234567891",
            true,
        ),
        (
            "123456789012345678901234567890",
            "const",
            "123456789012345678901234567891",
            false,
        ),
        (
            "123456789012345678901234567890",
            "enum",
            "[123456789012345678901234567891]",
            false,
        ),
        (
            "123456789012345678901234567891.0",
            "enum",
            "[[1],123456789012345678901234567891]",
            true,
        ),
        (
            "123456789012345678901234567890",
            "minimum",
            "123456789012345678901234567891",
            false,
        ),
        (
            "123456789012345678901234567891",
            "minimum",
            "123456789012345678901234567891",
            true,
        ),
        (
            "123456789012345678901234567892",
            "maximum",
            "123456789012345678901234567891",
            false,
        ),
        (
            "123456789012345678901234567891",
            "exclusiveMaximum",
            "123456789012345678901234567891",
            false,
        ),
        ("0.1000000000000000000001", "maximum", "0.1", false),
        (
            "36893488147419103233",
            "multipleOf",
            "36893488147419103232",
            false,
        ),
        (
            "73786976294838206464",
            "multipleOf",
            "36893488147419103232",
            true,
        ),
    ] {
        let request = json!({"json": text, "schema": {"x": 0}}).to_string();
        let request = request.replace("\"x\":0", &format!("\"{keyword}\":{value}"));
        let answer = run(request.as_bytes()).unwrap();
        let answer: Value = serde_json::from_slice(&answer).unwrap();
        assert_eq!(answer["valid"], valid, "{text} {keyword} {value}");
    }
}
