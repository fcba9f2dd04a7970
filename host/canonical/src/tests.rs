use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::*;

fn text(value: &Value) -> String {
    String::from_utf8(to_vec(value, Integers::Exact).unwrap()).unwrap()
}

#[test]
fn members_are_sorted_and_arrays_are_not() {
    let value: Value = serde_json::from_str("{ \"b\": [3, 1,\n 2], \"a\": null }").unwrap();
    assert_eq!(text(&value), r#"{"a":null,"b":[3,1,2]}"#);
    assert_eq!(text(&json!({})), "{}");
    assert_eq!(text(&json!([])), "[]");
    let nested = json!({"z": {"b": {"y": 1, "x": 2}, "a": [{"d": 1, "c": {}}]}, "b": 1, "a": 2});
    assert_eq!(
        text(&nested),
        r#"{"a":2,"b":1,"z":{"a":[{"c":{},"d":1}],"b":{"x":2,"y":1}}}"#
    );
}

#[test]
fn integers_are_exact_where_that_is_asked_for() {
    let value = json!([
        0,
        u64::MAX,
        9_007_199_254_740_993_u64,
        i64::MIN,
        1_u64 << 53
    ]);
    assert_eq!(
        text(&value),
        "[0,18446744073709551615,9007199254740993,-9223372036854775808,9007199254740992]"
    );
    let doubles = to_vec(&value, Integers::AsDoubles).unwrap();
    assert_eq!(
        String::from_utf8(doubles).unwrap(),
        "[0,18446744073709552000,9007199254740992,-9223372036854776000,9007199254740992]"
    );
}

#[test]
fn fractions_are_printed_as_rfc_8785_says() {
    assert_eq!(
        text(&json!([1.0, -0.0, 0.1, 1e21, 1e-7, 333_333_333.333_333_3])),
        "[1,0,0.1,1e+21,1e-7,333333333.3333333]"
    );
}

#[test]
fn only_control_characters_quotes_and_backslashes_are_escaped() {
    let given = "\u{8}\t\n\u{c}\r\"\\\u{0}\u{b}\u{1f}/\u{7f}\u{2028}\u{2029}\u{1f600}";
    assert_eq!(
        text(&json!(given)),
        "\"\\b\\t\\n\\f\\r\\\"\\\\\\u0000\\u000b\\u001f/\u{7f}\u{2028}\u{2029}\u{1f600}\""
    );
}

#[test]
fn members_are_ordered_by_utf_16_units_and_not_by_serialised_bytes() {
    // An astral character is a surrogate (0xd83d), which sorts before U+FB33 in UTF-16 and after it in UTF-8.
    let value = json!({"\u{fb33}": 1, "\u{1f600}": 2, "\u{20ac}": 3, "a!": 4, "a": 5, "a ": 6});
    assert_eq!(
        text(&value),
        "{\"a\":5,\"a \":6,\"a!\":4,\"\u{20ac}\":3,\"\u{1f600}\":2,\"\u{fb33}\":1}"
    );
    // A line feed is written with a backslash, which sorts behind the letters that a line feed sorts before.
    assert_eq!(text(&json!({"X": 1, "\n": 2})), "{\"\\n\":2,\"X\":1}");
}

#[test]
fn two_members_of_one_name_are_refused() {
    struct Twice(&'static [&'static str]);
    impl Serialize for Twice {
        fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.collect_map(self.0.iter().map(|name| (name, 1)))
        }
    }
    for names in [&["a", "a"], &["\u{20ac}", "\u{20ac}"]] {
        assert!(to_vec(&Twice(names), Integers::Exact).is_err());
    }
    let apart = to_vec(&Twice(&["b", "a"]), Integers::Exact).unwrap();
    assert_eq!(apart, br#"{"a":1,"b":1}"#);
}

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    let name = prop_oneof![
        "[ -~]{0,4}",
        any::<String>(),
        "[\u{d000}-\u{ffff}\u{1f600}]{0,3}"
    ];
    leaf.prop_recursive(5, 60, 8, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((name.clone(), inner), 0..8)
                .prop_map(|members| Value::from(Map::from_iter(members))),
        ]
    })
}

proptest! {
    #[test]
    fn it_is_what_the_library_writes(value in values()) {
        let theirs = serde_json_canonicalizer::to_vec(&value).unwrap();
        prop_assert_eq!(to_vec(&value, Integers::AsDoubles).unwrap(), theirs);
    }
}

#[test]
fn a_number_stays_as_it_was_written() {
    let text = r#"{"id":12345678901234567890123456789,"a":[-0,1.0,1E2,0.10,"7\"8",{"3":9007199254740993}],"n":null}"#;
    let json = Json::parse(text.as_bytes()).unwrap();
    assert_eq!(json.to_string(), text);
    assert_eq!(
        json.canonical(),
        r#"{"a":[-0,1.0,1E2,0.10,"7\"8",{"3":9007199254740993}],"id":12345678901234567890123456789,"n":null}"#
    );
}

#[test]
fn what_no_double_is_lies_between_two() {
    let values = |text: &str| Json::parse(text.as_bytes()).unwrap().values();
    for exact in [
        "1",
        "-0",
        "1.50",
        "1e2",
        "0.1",
        "18446744073709551615",
        "1e23",
        "-1.5E-3",
        "0e9",
    ] {
        assert_eq!(values(exact).len(), 1, "{exact}");
    }
    for (text, below, above) in [
        ("100.00000000000000000001", 100.0, 100.0_f64.next_up()),
        ("99.99999999999999999999", 100.0_f64.next_down(), 100.0),
        (
            "-100.00000000000000000001",
            (-100.0_f64).next_down(),
            -100.0,
        ),
        ("0.10000000000000001", 0.1, 0.1_f64.next_up()),
        ("1e-400", 0.0, 0.0_f64.next_up()),
        ("-1e-99999999999999999999", 0.0_f64.next_down(), -0.0),
        (
            "12345678901234567890123456789",
            1.234567890123456e28,
            1.2345678901234568e28,
        ),
    ] {
        let [low, high] = &values(text)[..] else {
            panic!("{text}");
        };
        let (low, high) = (low.as_f64().unwrap(), high.as_f64().unwrap());
        assert!(
            (low, high) == (below, above) || low.next_up() == high && text.len() > 28,
            "{text}: {low} {high}"
        );
    }
}

#[test]
fn what_is_no_json_or_says_a_thing_twice_is_refused() {
    for text in [
        "",
        "{",
        "1e400",
        "1 2",
        "01",
        r#"{"a":1,"\u0061":2}"#,
        r#"[{"a":{"b":1,"b":1}}]"#,
    ] {
        assert!(Json::parse(text.as_bytes()).is_err(), "{text}");
    }
    assert!(Json::parse(&[b'"', 0xff, b'"']).is_err());
    let deep = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    assert!(Json::parse(deep(127).as_bytes()).is_ok());
    assert!(Json::parse(deep(129).as_bytes()).is_err());
}

/// The features of `serde_json` that keep the text of a number read such members as something else, past every bound. They
/// are unified over a build: a dependency that wants one would give it to all.
#[test]
fn a_member_of_a_magic_name_is_a_member() {
    for name in [
        "$serde_json::private::RawValue",
        "$serde_json::private::Number",
    ] {
        let text = format!(r#"{{"{name}":"[1]"}}"#);
        let value: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value[name], "[1]");
    }
    let number: Value = serde_json::from_str("12345678901234567890123456789").unwrap();
    assert_eq!(number.to_string(), "1.2345678901234568e+28");
}
