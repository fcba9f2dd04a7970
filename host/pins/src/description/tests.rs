//! What a component may return as its description, text by text.

use super::*;
use crate::testing::description;

const ID: &str = "a.skill";

/// The description with some of its text replaced.
fn with(old: &str, new: &str) -> Result<(), DescriptionFault> {
    check(&description(ID).replacen(old, new, 1), ID)
}

fn input(schema: &str) -> Result<(), DescriptionFault> {
    with(r#"{"type":"object","additionalProperties":false}"#, schema)
}

#[test]
fn a_description_of_the_form_is_accepted() {
    assert_eq!(check(&description(ID), ID), Ok(()));
    let schema = r#"{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","required":["a"],"additionalProperties":false,"properties":{"a":{"type":"integer","minimum":1,"maximum":9,"default":3},"b":{"type":"string","description":"with a \" and \\"},"c":true}}"#;
    assert_eq!(input(schema), Ok(()));
    assert_eq!(with("does nothing", &"é".repeat(1024)), Ok(()));
}

#[test]
fn it_is_compact_strict_json() {
    for (bad, at) in [
        (format!(" {}", description(ID)), 0),
        (format!("{}\n", description(ID)), description(ID).len()),
        (description(ID).replacen(':', ": ", 1), 8),
    ] {
        assert_eq!(check(&bad, ID), Err(DescriptionFault::NotCompact(at)));
    }
    for bad in ["", "{", "[]", "null", "{\"name\":\"a\",\"name\":\"a\"}"] {
        let fault = check(bad, ID).unwrap_err();
        assert!(matches!(fault, DescriptionFault::Json(_)), "{bad}: {fault}");
    }
}

#[test]
fn it_has_four_members_in_order() {
    for (old, new) in [
        ("\"description\":\"does nothing\",", ""),
        (",\"output_schema\":{}", ""),
        ("{\"name\"", "{\"extra\":1,\"name\""),
        (
            "\"name\":\"a.skill\",\"description\":\"does nothing\"",
            "\"description\":\"x\",\"name\":\"a.skill\"",
        ),
    ] {
        let fault = with(old, new).unwrap_err();
        assert!(
            matches!(fault, DescriptionFault::Members(_)),
            "{new}: {fault}"
        );
    }
}

#[test]
fn its_name_is_the_id() {
    for bad in ["\"A.skill\"", "\"\"", "1"] {
        let fault = with("\"a.skill\"", bad).unwrap_err();
        assert!(
            matches!(fault, DescriptionFault::Name { .. }),
            "{bad}: {fault}"
        );
    }
}

#[test]
fn its_text_is_one_line_of_1_to_1024_characters() {
    let long = "x".repeat(1025);
    for bad in ["", &long, "a\\nb", "a\\rb", "a\\u2028b", "a\\u0000b"] {
        assert_eq!(
            with("does nothing", bad),
            Err(DescriptionFault::Text),
            "{bad}"
        );
    }
    assert_eq!(with("\"does nothing\"", "1"), Err(DescriptionFault::Text));
}

#[test]
fn the_input_schema_is_closed_and_has_ranges() {
    for (bad, said) in [
        ("true", "is not an object"),
        ("{}", "type is not object"),
        (r#"{"type":"object"}"#, "additionalProperties is not false"),
        (
            r#"{"type":"object","additionalProperties":{}}"#,
            "additionalProperties is not false",
        ),
        (
            r#"{"type":"object","additionalProperties":false,"properties":[]}"#,
            "properties is not an object",
        ),
        (
            r#"{"type":"object","additionalProperties":false,"properties":{"n":{"type":"integer","minimum":1}}}"#,
            "the integer \"n\" has no maximum",
        ),
        (
            r#"{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","additionalProperties":false}"#,
            "$schema is not JSON Schema 2020-12",
        ),
    ] {
        let fault = input(bad).unwrap_err().to_string();
        assert_eq!(fault, format!("input_schema: {said}"));
    }
    let fault = with("\"output_schema\":{}", "\"output_schema\":[]").unwrap_err();
    assert_eq!(fault.to_string(), "output_schema: is not an object");
}

#[test]
fn it_has_at_most_65536_bytes() {
    let padded = |length: usize| {
        let text = description(ID);
        let comment = "\"output_schema\":{\"$comment\":\"\"}";
        let padding = length - (text.replace("\"output_schema\":{}", comment).len());
        let filled = format!(
            "\"output_schema\":{{\"$comment\":\"{}\"}}",
            "x".repeat(padding)
        );
        text.replace("\"output_schema\":{}", &filled)
    };
    assert_eq!(check(&padded(65_536), ID), Ok(()));
    assert_eq!(
        check(&padded(65_537), ID),
        Err(DescriptionFault::TooLarge(65_537))
    );
}
