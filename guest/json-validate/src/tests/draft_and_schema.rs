//! The schema.

use super::*;

fn with_schema(schema: Value) -> Value {
    json!({"json": "1", "schema": schema})
}

#[test]
fn the_draft_is_that_of_the_root() {
    for (uri, draft) in [
        ("https://json-schema.org/draft/2020-12/schema", "2020-12"),
        ("https://json-schema.org/draft/2020-12/schema#", "2020-12"),
        ("https://json-schema.org/draft/2019-09/schema", "2019-09"),
        ("http://json-schema.org/draft-07/schema", "7"),
        ("http://json-schema.org/draft-07/schema#", "7"),
        ("http://json-schema.org/draft-06/schema#", "6"),
        ("http://json-schema.org/draft-04/schema#", "4"),
    ] {
        assert_eq!(
            answer(&with_schema(json!({"$schema": uri})))["draft"],
            draft
        );
    }
    for schema in [json!(true), json!({})] {
        assert_eq!(answer(&with_schema(schema))["draft"], "2020-12");
    }
    for uri in [
        "http://json-schema.org/draft-03/schema#",
        "http://json-schema.org/draft-07/schema##",
        "",
        "draft-07",
        "https://json-schema.org/draft-07/schema",
        "https://example.com/meta",
    ] {
        let (code, details) = refusal(&with_schema(json!({"$schema": uri})));
        assert_eq!(
            (code.as_str(), details),
            ("unsupported", json!({"reason": "draft"})),
            "{uri}"
        );
    }
    let (code, _) = refusal(&with_schema(json!({"$schema": 7})));
    assert_eq!(code, "invalid_request");
}

#[test]
fn a_schema_is_valid_against_its_metaschema() {
    let (code, details) = refusal(&with_schema(
        json!({"type": "strin", "properties": {"a": {"minLength": -1}}}),
    ));
    assert_eq!(code, "invalid_request");
    assert_eq!(details["reason"], "schema");
    let errors = details["errors"].as_array().unwrap();
    let places: Vec<&str> = errors
        .iter()
        .map(|error| error["instance_path"].as_str().unwrap())
        .collect();
    assert_eq!(places, ["/properties/a/minLength", "/type"]);
    for error in errors {
        let members: Vec<&String> = error.as_object().unwrap().keys().collect();
        assert_eq!(members[..3], ["instance_path", "schema_path", "message"]);
    }
    // What is right in one draft is wrong in another.
    for (uri, schema, wrong) in [
        (
            "http://json-schema.org/draft-04/schema#",
            json!({"exclusiveMinimum": 1}),
            true,
        ),
        (
            "http://json-schema.org/draft-06/schema#",
            json!({"exclusiveMinimum": 1}),
            false,
        ),
        (
            "http://json-schema.org/draft-07/schema#",
            json!({"if": 1}),
            true,
        ),
        (
            "http://json-schema.org/draft-06/schema#",
            json!({"if": 1}),
            false,
        ),
        (
            "https://json-schema.org/draft/2019-09/schema",
            json!({"items": [true]}),
            false,
        ),
        (
            "https://json-schema.org/draft/2020-12/schema",
            json!({"items": [true]}),
            true,
        ),
    ] {
        let mut schema = schema;
        schema["$schema"] = json!(uri);
        assert_eq!(
            run(with_schema(schema.clone()).to_string().as_bytes()).is_err(),
            wrong,
            "{schema}"
        );
    }
}

#[test]
fn details_hold_at_most_20_errors_and_stay_within_their_bound() {
    for name in ["", "long name ", "\u{1}"] {
        let properties: serde_json::Map<String, Value> = (0..1000)
            .map(|n| (format!("{}{n}", name.repeat(200)), json!({"type": 7})))
            .collect();
        let (code, details) = refusal(&with_schema(json!({"properties": properties})));
        assert_eq!(code, "invalid_request");
        let errors = details["errors"].as_array().unwrap().len();
        assert!((1..=20).contains(&errors) && details.to_string().len() <= 16_384);
        assert_eq!(errors == 20, name.is_empty());
    }
}

#[test]
fn a_pattern_that_cannot_be_compiled_counts() {
    for schema in [
        json!({"pattern": "["}),
        json!({"properties": {"a": {"pattern": "(?<a"}}}),
        json!({"patternProperties": {"(": true}}),
        json!({"pattern": "((((a{1000}){1000}){1000}){1000})"}),
        json!({"pattern": "(?=("}),
    ] {
        let (code, details) = refusal(&with_schema(schema.clone()));
        assert_eq!(
            (code.as_str(), &details["reason"]),
            ("invalid_request", &json!("schema")),
            "{schema}"
        );
        assert_eq!(details["errors"].as_array().unwrap().len(), 1);
    }
}

#[test]
fn references_resolve_inside_the_schema() {
    for schema in [
        json!({"$ref": "#/$defs/a", "$defs": {"a": {"minimum": 2}}}),
        json!({"$ref": "#/definitions/a", "definitions": {"a": {"minimum": 2}}}),
        json!({"$ref": "#/x-any/where", "x-any": {"where": {"minimum": 2}}}),
        json!({"$ref": "#a", "$defs": {"x": {"$anchor": "a", "minimum": 2}}}),
        json!({"$id": "https://example.com/root/", "$ref": "../other", "$defs": {"x": {"$id": "https://example.com/other", "minimum": 2}}}),
        json!({"$id": "https://example.com/a/b.json", "$ref": "b.json#/$defs/x", "$defs": {"x": {"minimum": 2}}}),
        json!({"$ref": "urn:example:x", "$defs": {"x": {"$id": "urn:example:x", "minimum": 2}}}),
        json!({"$dynamicRef": "#n", "$defs": {"x": {"$dynamicAnchor": "n", "minimum": 2}}}),
        json!({"$schema": "http://json-schema.org/draft-04/schema#", "allOf": [{"$ref": "x.json"}],
            "id": "http://example.com/", "definitions": {"x": {"id": "x.json", "minimum": 2}}}),
        json!({"$schema": "https://json-schema.org/draft/2019-09/schema", "minimum": 2, "not": {"type": "object"},
            "properties": {"a": {"$recursiveRef": "#"}}}),
    ] {
        assert!(
            is_valid("2", &schema) && !is_valid("1", &schema),
            "{schema}"
        );
    }
}

#[test]
fn the_five_metaschemas_are_known() {
    for uri in [
        "https://json-schema.org/draft/2020-12/schema",
        "https://json-schema.org/draft/2019-09/schema",
        "http://json-schema.org/draft-07/schema#",
        "http://json-schema.org/draft-06/schema#",
        "http://json-schema.org/draft-04/schema#",
    ] {
        let schema = json!({"$ref": uri});
        assert!(is_valid("{\"type\":\"object\"}", &schema), "{uri}");
        assert!(!is_valid("{\"type\":\"objec\"}", &schema), "{uri}");
    }
}

#[test]
fn any_other_reference_is_unsupported_used_or_not() {
    for (schema, reference) in [
        (
            json!({"$ref": "https://example.com/a.json"}),
            "https://example.com/a.json",
        ),
        (json!({"$ref": "a.json"}), "a.json"),
        (json!({"$ref": "file:///etc/passwd"}), "file:///etc/passwd"),
        (
            json!({"$defs": {"unused": {"$ref": "https://example.com/a"}}}),
            "https://example.com/a",
        ),
        (
            json!({"definitions": {"unused": {"$ref": "https://example.com/a"}}}),
            "https://example.com/a",
        ),
        (
            json!({"not": {"items": {"$dynamicRef": "https://example.com/a#x"}}}),
            "https://example.com/a",
        ),
        (
            json!({"$id": "https://example.com/r", "properties": {"a": {"$ref": "b"}}}),
            "https://example.com/b",
        ),
        (json!({"properties": {"$ref": {"$ref": "b:c"}}}), "b:c"),
        (
            json!({"$schema": "http://json-schema.org/draft-07/schema#", "definitions": {"u": {"$ref": "https://example.com/a"}}}),
            "https://example.com/a",
        ),
        (
            json!({"$schema": "http://json-schema.org/draft-07/schema#", "if": {"$ref": "https://example.com/a"}}),
            "https://example.com/a",
        ),
        (
            json!({"dependentSchemas": {"a": {"contains": {"prefixItems": [{"$ref": "x:y"}]}}}}),
            "x:y",
        ),
    ] {
        let (code, details) = refusal(&with_schema(schema.clone()));
        assert_eq!(code, "unsupported", "{schema}");
        assert_eq!(
            details,
            json!({"reason": "remote_ref", "ref": reference}),
            "{schema}"
        );
    }
}

#[test]
fn what_is_no_reference_is_left_alone() {
    for schema in [
        json!({"properties": {"$ref": {"type": "string"}}}),
        json!({"enum": [1, {"$ref": "https://example.com/a"}]}),
        json!({"default": {"$ref": "https://example.com/a"}, "examples": [{"$ref": "https://example.com/a"}]}),
        json!({"not": {"const": {"$ref": "https://example.com/a"}}}),
    ] {
        assert!(is_valid("1", &schema), "{schema}");
    }
}

#[test]
fn a_reference_to_nowhere_inside_is_no_schema() {
    for reference in ["#/$defs/missing", "#missing", "#/$defs/%ff"] {
        let (code, details) = refusal(&with_schema(json!({"$ref": reference, "$defs": {}})));
        assert_eq!(
            (code.as_str(), &details["reason"]),
            ("invalid_request", &json!("schema")),
            "{reference}"
        );
    }
}
