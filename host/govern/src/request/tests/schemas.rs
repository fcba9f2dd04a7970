//! Schemas of documents that nobody vouches for.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::super::{Schema, Schemas};
use crate::failure::Code;

/// What comes of it; nothing here takes long.
fn checked(schema: Value, value: Value) -> Result<(), Code> {
    let started = Instant::now();
    let answer = Schema::compile(&schema)
        .and_then(|schema| schema.check(&value))
        .map_err(|failure| failure.code);
    ended_soon(started.elapsed());
    answer
}

/// Without a limit the schemas here take minutes or more.
fn ended_soon(elapsed: Duration) {
    assert!(elapsed < Duration::from_secs(5), "{elapsed:?}");
}

#[test]
fn the_dialect_is_2020_12() {
    let schema = json!({
        "type": "array",
        "prefixItems": [{"type": "integer"}, {"enum": ["a", "b"]}],
        "items": false,
    });
    assert_eq!(checked(schema.clone(), json!([1, "a"])), Ok(()));
    for value in [json!(["1", "a"]), json!([1, "c"]), json!([1, "a", 1])] {
        assert_eq!(checked(schema.clone(), value), Err(Code::InvalidInput));
    }
}

#[test]
fn recursive_schemas_of_the_interpreter_are_applied() {
    let schema = json!({
        "$ref": "#/$defs/Node",
        "$defs": {"Node": {
            "type": "object",
            "properties": {
                "left": {"$ref": "#/$defs/Node"},
                "right": {"$ref": "#/$defs/Node"},
                "n": {"type": "integer"},
            },
        }},
    });
    let mut tree = json!({"n": 0});
    for _ in 0..10 {
        tree = json!({"left": tree.clone(), "right": tree});
    }
    assert_eq!(checked(schema.clone(), tree), Ok(()));
    assert_eq!(
        checked(schema, json!({"left": {"right": {"n": "x"}}})),
        Err(Code::InvalidInput)
    );
}

#[test]
fn nothing_is_fetched_for_a_schema() {
    for reference in [
        "https://127.0.0.1:9/x.json",
        "http://json-schema.org/draft-07/schema#",
        "file:///etc/passwd",
        "other.json#/A",
        "#anchor",
        "#/$defs/None",
        "#/%ZZ",
    ] {
        let schema = json!({"properties": {"a": {"$ref": reference}}});
        assert_eq!(checked(schema, json!({})), Err(Code::Schema), "{reference}");
    }
    let schema = json!({"properties": {"a": {"$id": "https://x.example/", "$ref": "#/b"}}});
    assert_eq!(checked(schema, json!({})), Err(Code::Schema));
    // Whatever it says of itself, it is read as JSON Schema 2020-12.
    let schema = json!({"$schema": "https://x.example/meta", "type": "object"});
    assert_eq!(checked(schema.clone(), json!({})), Ok(()));
    assert_eq!(checked(schema, json!([])), Err(Code::InvalidInput));
}

#[test]
fn references_that_multiply_are_a_limit() {
    let mut definitions = serde_json::Map::new();
    for level in 0..40 {
        let next = json!({"$ref": format!("#/$defs/d{}", level + 1)});
        definitions.insert(format!("d{level}"), json!({"allOf": [next, next]}));
    }
    definitions.insert("d40".to_owned(), json!({"type": "string"}));
    let schema = json!({"$ref": "#/$defs/d0", "$defs": definitions});
    assert_eq!(checked(schema, json!("x")), Err(Code::Limit));
}

#[test]
fn a_recursion_that_multiplies_with_the_value_is_a_limit() {
    let again = json!({"$ref": "#"});
    let schema = json!({"properties": {"a": {"allOf": [again, again, again]}}});
    let mut deep = json!({});
    for _ in 0..60 {
        deep = json!({"a": deep});
    }
    assert_eq!(checked(schema.clone(), deep), Err(Code::Limit));
    assert_eq!(checked(schema, json!({"a": {"a": {}}})), Ok(()));
}

#[test]
fn a_schema_that_refers_to_itself_in_place_is_none() {
    for schema in [
        json!({"allOf": [{"$ref": "#"}]}),
        json!({"dependencies": {"a": {"$ref": "#"}}}),
    ] {
        assert_eq!(checked(schema, json!({})), Err(Code::Schema));
    }
}

#[test]
fn patterns_that_explode_end() {
    let evil = format!("{}!", "a".repeat(40_000));
    for pattern in ["^(a+)+$", "^(a|aa)+$", r"^(?=(a+)+b)a*$", r"(a*)*\1b"] {
        let answer = checked(json!({"pattern": pattern}), json!(evil));
        assert_eq!(answer, Err(Code::InvalidInput), "{pattern}");
    }
    for pattern in [
        r"\w{5000}{5000}",
        "((a{100}){100}){100}",
        "(",
        "a{99999}{9999}",
    ] {
        assert_eq!(
            checked(json!({"pattern": pattern}), json!("a")),
            Err(Code::Schema),
            "{pattern}"
        );
    }
    let many: serde_json::Map<String, Value> =
        (0..200).map(|n| (format!("^{n}"), json!({}))).collect();
    let schema = json!({"patternProperties": many});
    assert_eq!(checked(schema, json!({})), Err(Code::Limit));
    let schema = json!({"items": {"pattern": r"^(?=(a+)+b)a*$"}});
    let value: Vec<String> = vec!["a".repeat(30); 20_000];
    assert_eq!(checked(schema, json!(value)), Err(Code::Limit));
}

#[test]
fn a_deep_schema_is_a_limit() {
    let mut schema = json!({});
    for _ in 0..600 {
        schema = json!({"not": schema});
    }
    assert_eq!(checked(schema, json!({})), Err(Code::Limit));
}

#[test]
fn what_is_no_schema_is_said_so() {
    for schema in [
        json!({"type": "nothing"}),
        json!({"required": "a"}),
        json!({"properties": []}),
        json!([]),
        json!({"minimum": "x"}),
    ] {
        assert_eq!(
            checked(schema.clone(), json!({})),
            Err(Code::Schema),
            "{schema}"
        );
    }
}

/// A schema that is kept is the very same schema, whatever operation has it.
#[test]
fn a_schema_is_compiled_once_and_another_one_is_another_one() {
    let schemas = Schemas::default();
    let short = json!({"properties": {"name": {"maxLength": 3}}});
    let long = json!({"properties": {"name": {"maxLength": 30}}});
    let name = json!({"name": "longer"});
    let first = schemas.compiled(&short).unwrap();
    assert_eq!(first.check(&name).unwrap_err().code, Code::InvalidInput);
    schemas.compiled(&long).unwrap().check(&name).unwrap();
    assert!(Arc::ptr_eq(&first, &schemas.compiled(&short).unwrap()));
}

#[test]
fn what_takes_much_memory_is_not_kept() {
    let schemas = Schemas::default();
    let many: Vec<_> = (0..1100).map(|_| json!({})).collect();
    for schema in [
        json!({"pattern": "a{100}"}),
        json!({"anyOf": many}),
        json!({"enum": ["x".repeat(5000)]}),
    ] {
        let first = schemas.compiled(&schema).unwrap();
        assert!(!Arc::ptr_eq(&first, &schemas.compiled(&schema).unwrap()));
    }
    let first = schemas.compiled(&json!({"const": 0})).unwrap();
    for number in 1..=32 {
        schemas.compiled(&json!({"const": number})).unwrap();
    }
    assert!(!Arc::ptr_eq(
        &first,
        &schemas.compiled(&json!({"const": 0})).unwrap()
    ));
}
