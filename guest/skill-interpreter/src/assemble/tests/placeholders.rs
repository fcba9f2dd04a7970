//! Which text is a variable.

use crate::assemble::placeholder::{Place, document_text, scan};
use crate::draft::{Part, Quoting, Template};

/// The variables found, and the text with each as `{NAME}`.
fn found(text: &str, place: Place) -> (Vec<String>, String) {
    let scanned = scan(&document_text(text), place);
    assert_eq!(scan(&scanned, place), scanned, "idempotent");
    let names = scanned
        .parts
        .iter()
        .filter_map(|part| match part {
            Part::Variable(variable) => Some(variable.name.clone()),
            Part::Literal(_) => None,
        })
        .collect();
    (names, scanned.display())
}

#[test]
fn the_forms_of_a_variable() {
    let cases = [
        ("a $X b", "X"),
        ("a${X}b", "X"),
        ("a{x_1.y-z}b", "x_1.y-z"),
        ("{{ X }}", "X"),
        ("{{X}}", "X"),
        ("hi <user.name>!", "user.name"),
        ("Bearer YOUR_API_KEY", "YOUR_API_KEY"),
        ("your-token-here", "your-token-here"),
        ("your_city_here", "your_city_here"),
    ];
    for (text, name) in cases {
        assert_eq!(found(text, Place::Value).0, [name], "{text}");
    }
}

#[test]
fn what_is_no_variable() {
    let cases = [
        "$5 and $",
        "${X//a/b}",
        "${}",
        "{}",
        "{a b}",
        "{1a}",
        "{a,b}",
        "a < b > c",
        "<1>",
        "<b>bold</b>",
        "IN_YOUR_FACE",
        "yours",
        "your-",
    ];
    for text in cases {
        let (names, display) = found(text, Place::Value);
        assert!(names.is_empty(), "{text}: {names:?}");
        assert_eq!(display, text);
    }
}

#[test]
fn whole_path_segments() {
    for (text, name) in [(":id", "id"), ("USER_ID", "USER_ID"), ("ITEMID", "ITEMID")] {
        assert_eq!(found(text, Place::Segment).0, [name]);
        assert!(found(text, Place::Value).0.is_empty());
    }
    for text in [":id:x", "AB_", "JSON", "Users_ID", "v1:batch"] {
        assert!(found(text, Place::Segment).0.is_empty(), "{text}");
    }
}

#[test]
fn in_json_a_brace_is_a_variable_only_within_a_string() {
    let (names, _) = found(
        r#"{"a":"{x}","b":{y},"c":{"d":"\"{z}"},"e":{{w}},"f":<v>}"#,
        Place::Json,
    );
    assert_eq!(names, ["x", "z", "w", "v"]);
}

#[test]
fn single_quoted_dollars_are_text() {
    let mut word = Template::default();
    word.push_literal("$X {y}", Quoting::Single);
    let scanned = scan(&word, Place::Value);
    assert_eq!(scanned.display(), "$X {y}");
    assert_eq!(scanned.parts.len(), 2);
}

#[test]
fn exact_text_has_no_forms() {
    let mut word = Template::default();
    word.push_literal(":id {x} <y> YOUR_KEY", Quoting::Exact);
    assert!(scan(&word, Place::Segment).as_literal().is_some());
}

#[test]
fn defaults() {
    for text in ["${X:-a b}", "${X-a b}"] {
        let template = document_text(text);
        let variable = template.as_variable().unwrap();
        assert_eq!(variable.default.as_deref(), Some("a b"));
    }
}

#[test]
fn braces_of_code_in_a_json_string_are_no_variables() {
    let none: [&str; 0] = [];
    let cases: [(&str, &[&str]); 9] = [
        (r#"{"q":"query {user {id}}"}"#, &none),
        (r#"{"q":"{user{id}}","name":"{name}"}"#, &["name"]),
        (r#"{"name":"{name}","q":"{user{id}}"}"#, &["name"]),
        (
            r#"{"q":"query {user(id: $ID, of: <of>) {id}}"}"#,
            &["ID", "of"],
        ),
        (r#"{"q":"Hi {{name}}, {if x} {y} {end}"}"#, &["name"]),
        (r#"{"q":"Hi {{name}}, {if x} {{y} }"}"#, &["name"]),
        (r#"{"q":"Hi {a} and {b}"}"#, &["a", "b"]),
        (r#"{"q":"{\"text\":\"{message}\"} {id}"}"#, &["message"]),
        (r#"{"q":{"r":["{a}"]}, "s": "{b}"}"#, &["a", "b"]),
    ];
    for (text, names) in cases {
        assert_eq!(found(text, Place::Json).0, names, "{text}");
    }
    assert_eq!(found("query {user {id}}", Place::String).0, none);
    assert_eq!(
        found("query {user(name:\"{name}\") {id}}", Place::String).0,
        ["name"]
    );
    assert_eq!(found("of {id}", Place::String).0, ["id"]);
}
