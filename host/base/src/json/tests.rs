use serde_json::Value;

use super::*;
use proptest::prelude::*;
use serde::Deserialize;

#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Known {
    a: u64,
    free: Option<Value>,
}

fn value(text: &str) -> Result<Value, JsonError> {
    parse(text.as_bytes())
}

fn message(text: &str) -> String {
    value(text).unwrap_err().to_string()
}

#[test]
fn duplicate_names_are_refused_at_every_level() {
    for (text, expected) in [
        (
            r#"{"a":1,"a":1}"#,
            "duplicate member `a` at line 1 column 8",
        ),
        (
            "{\"a\":[\n {\"b\":1,\n  \"b\":2}]}",
            "duplicate member `b` at line 3 column 3",
        ),
        (
            r#"[{"x":{},"y":[],"x":null}]"#,
            "duplicate member `x` at line 1 column 17",
        ),
        (
            r#"{"a":1,"\u0061":2}"#,
            "duplicate member `a` at line 1 column 8",
        ),
        (
            r#"{"\"":1,"\"":2}"#,
            "duplicate member `\"` at line 1 column 9",
        ),
        (
            r#"{"é":1,"\u00e9":2}"#,
            r"duplicate member `\u{e9}` at line 1 column 9",
        ),
        (
            r#"{"":1 , "" : 2}"#,
            "duplicate member `` at line 1 column 9",
        ),
    ] {
        assert_eq!(message(text), expected);
    }
    let free = parse::<Known>(br#"{"a":1,"free":{"b":[{"c":1,"c":2}]}}"#).unwrap_err();
    assert_eq!(free.to_string(), "duplicate member `c` at line 1 column 28");
}

#[test]
fn the_same_name_in_two_objects_and_as_a_value_is_no_duplicate() {
    for text in [
        r#"{"a":{"a":{"a":"a"}},"b":"a"}"#,
        r#"[{"a":1},{"a":1}]"#,
        r#"["a","a",["a"]]"#,
        r#"{"a":["b","b"],"b":"{\"b\":1,\"b\":2}"}"#,
        r#"{"a\\":1,"a":"x\\"}"#,
    ] {
        assert!(value(text).is_ok(), "{text}");
    }
}

#[test]
fn nesting_ends_at_128() {
    for (open, close) in [("[", "]"), (r#"{"a":"#, "}")] {
        let nested = |depth: usize| {
            let middle = if open == "[" { "" } else { "0" };
            format!("{}{middle}{}", open.repeat(depth), close.repeat(depth))
        };
        assert!(value(&nested(127)).is_ok(), "{open}");
        let deepest = value(&nested(128)).unwrap();
        let plain: Value = value(&nested(127)).unwrap();
        let inner = if open == "[" {
            &deepest[0]
        } else {
            &deepest["a"]
        };
        assert_eq!(*inner, plain);
        assert!(message(&nested(129)).starts_with("nested deeper than 128 at line 1 column "));
        // Far too deep must not exhaust the stack either.
        assert!(message(&open.repeat(100_000)).starts_with("nested deeper than 128"));
    }
    // Counting ends where an array ends.
    assert!(value(&format!("[{}1]", "[1],".repeat(1000))).is_ok());
}

#[test]
fn the_deepest_level_is_read_as_strictly_as_the_others() {
    let inner = format!("{}{}", "[".repeat(127), "]".repeat(127));
    let known = format!(r#"{{"a":1,"free":{inner}}}"#);
    assert_eq!(parse::<Known>(known.as_bytes()).unwrap().a, 1);
    for bad in [
        format!(r#"{{"a":1,"free":{inner},"more":1}}"#),
        format!(r#"{{"a":1,"free":{inner},"a":1}}"#),
        format!(r#"{{"a":1,"free":{inner}}} 1"#),
        format!(r#"{{"a":-1,"free":{inner}}}"#),
        format!("[{inner},]"),
    ] {
        assert!(parse::<Known>(bad.as_bytes()).is_err(), "{bad}");
    }
}

#[test]
fn only_utf_8_without_byte_order_mark() {
    assert_eq!(message("\u{feff}{}"), "begins with a byte order mark");
    let error = parse::<Value>(b"{\n\"a\":\"\xff\"}").unwrap_err();
    assert_eq!(error.to_string(), "not UTF-8 at line 2 column 6");
    let utf_16: Vec<u8> = "{}".encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert!(parse::<Value>(&utf_16).is_err());
}

#[test]
fn one_value_and_white_space() {
    assert_eq!(value(" \t\r\n1\n \n").unwrap(), 1);
    for bad in [
        "",
        " ",
        "1 2",
        "{}{}",
        "{} x",
        "[1,]",
        "{\"a\":1,}",
        "// c\n1",
        "'a'",
        "NaN",
        "01",
    ] {
        assert!(message(bad).contains(" at line "), "{bad}");
    }
}

#[test]
fn unknown_members_are_named_with_line_and_column() {
    let error = parse::<Known>(b"{\"a\": 1,\n \"B\": 2}").unwrap_err();
    assert!(
        matches!(&error, JsonError::Invalid { message, line: 2, column: 4 }
            if message.starts_with("unknown field `B`")),
        "{error}"
    );
    assert!(parse::<Known>(b"{}").is_err());
    assert!(parse::<Known>(br#"{"a":"1"}"#).is_err());
}

#[test]
fn broken_strings_are_refused_before_anything_after_them_is_read() {
    for bad in [
        r#"{"a"#,
        r#"{"\ud800":1,"b":1}"#,
        r#"{"\x":1}"#,
        "{\"\n\":1}",
        r#"{"a\"#,
    ] {
        assert!(
            matches!(value(bad), Err(JsonError::Invalid { .. })),
            "{bad}"
        );
    }
}

#[test]
fn a_message_repeats_at_most_200_characters_of_the_input_escaped() {
    let long = "\u{1b}".repeat(5000);
    let name = serde_json::to_string(&long).unwrap();
    let unknown = parse::<Known>(format!("{{{name}:1}}").as_bytes()).unwrap_err();
    let duplicate = value(&format!("{{{name}:1,{name}:2}}")).unwrap_err();
    for message in [unknown.to_string(), duplicate.to_string()] {
        assert!(message.matches(r"\u{1b}").count() <= 200, "{message}");
        assert!(
            message.contains(r"\u{1b}...") && !message.contains('\u{1b}'),
            "{message}"
        );
    }
}

#[test]
fn written_json_has_two_spaces_no_final_newline_and_short_empty_arrays() {
    let value = serde_json::json!({"b": [], "a": {"c": [1, "x"]}});
    let written = String::from_utf8(pretty(&value)).unwrap();
    assert_eq!(
        written,
        "{\n  \"b\": [],\n  \"a\": {\n    \"c\": [\n      1,\n      \"x\"\n    ]\n  }\n}"
    );
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::btree_map(any::<String>(), inner, 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn whatever_is_written_reads_back(value in any_value()) {
        let canonical = crate::canonical_json(&value);
        prop_assert_eq!(&parse::<Value>(&canonical).unwrap(), &value);
        prop_assert_eq!(parse::<Value>(&pretty(&value)).unwrap(), value);
    }

    #[test]
    fn a_member_written_twice_is_never_accepted(
        members in prop::collection::btree_map(any::<String>(), any_value(), 1..5),
        again in any::<prop::sample::Index>(),
    ) {
        let text = serde_json::to_string(&members).unwrap();
        let name = serde_json::to_string(again.get(&members.keys().collect::<Vec<_>>())).unwrap();
        let twice = text.replacen('{', &format!("{{{name}:null,"), 1);
        prop_assert!(matches!(value(&twice), Err(JsonError::Duplicate { .. })), "{}", twice);
    }

    #[test]
    fn no_bytes_break_the_reader(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = parse::<Value>(&bytes);
    }
}

/// A member of a magic name is a member like any other, and its text is not parsed a second time.
#[test]
fn no_member_name_is_magic() {
    for name in [
        "$serde_json::private::RawValue",
        "$serde_json::private::Number",
    ] {
        let text = format!(r#"{{"{name}":"{{\"a\":1,\"a\":2}}"}}"#);
        let value: Value = parse(text.as_bytes()).unwrap();
        assert!(value.get(name).is_some_and(Value::is_string), "{value}");
    }
}
