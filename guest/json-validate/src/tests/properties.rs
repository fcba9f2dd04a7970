//! Any schema and any instance: an answer or an error, the same twice.

use proptest::prelude::*;

use super::*;

const KEYWORDS: [&str; 40] = [
    "type",
    "enum",
    "const",
    "multipleOf",
    "maximum",
    "exclusiveMinimum",
    "maxLength",
    "minLength",
    "pattern",
    "items",
    "prefixItems",
    "additionalItems",
    "maxItems",
    "uniqueItems",
    "contains",
    "minContains",
    "required",
    "properties",
    "patternProperties",
    "additionalProperties",
    "propertyNames",
    "dependentSchemas",
    "dependencies",
    "if",
    "then",
    "else",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "$ref",
    "$dynamicRef",
    "$recursiveRef",
    "$defs",
    "definitions",
    "$id",
    "$anchor",
    "unevaluatedProperties",
    "unevaluatedItems",
    "format",
];

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-3..9_i64).prop_map(Value::from),
        any::<f64>().prop_map(|n| json!(n)),
        prop::sample::select(vec![
            "",
            "a",
            "string",
            "object",
            "#",
            "#/$defs/a",
            "#a",
            "^a+$",
            "(?=a)",
            "x:y",
            "email",
            "http://json-schema.org/draft-07/schema#"
        ])
        .prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ]
}

fn value() -> impl Strategy<Value = Value> {
    scalar().prop_recursive(5, 40, 5, |inner| {
        let name = prop_oneof![
            prop::sample::select(KEYWORDS.to_vec()).prop_map(str::to_owned),
            "[ab]"
        ];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((name, inner), 0..5)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// A schema that its metaschema accepts more often than not.
fn schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        any::<bool>().prop_map(Value::from),
        prop::sample::select(vec![
            "string", "number", "integer", "object", "array", "null"
        ])
        .prop_map(|name| json!({"type": name})),
        scalar().prop_map(|value| json!({"const": value})),
        (0..4_u32).prop_map(
            |n| json!({"maxLength": n, "minItems": n, "multipleOf": n + 1, "uniqueItems": true})
        ),
        prop::sample::select(vec!["#", "#/$defs/a", "#/properties/a"])
            .prop_map(|name| json!({"$ref": name})),
        prop::sample::select(vec!["^a", "(?!a)", "(a+)+\\1"])
            .prop_map(|name| json!({"pattern": name, "patternProperties": {name: false}})),
    ];
    leaf.prop_recursive(4, 24, 3, |inner| {
        let list = prop::collection::vec(inner.clone(), 1..3);
        prop_oneof![
            (
                prop::sample::select(vec!["allOf", "anyOf", "oneOf", "prefixItems"]),
                list
            )
                .prop_map(|(name, list)| json!({name: list})),
            (
                prop::sample::select(vec![
                    "not",
                    "items",
                    "contains",
                    "additionalProperties",
                    "propertyNames",
                    "unevaluatedProperties",
                    "unevaluatedItems",
                    "if"
                ]),
                inner.clone()
            )
                .prop_map(|(name, schema)| json!({name: schema})),
            (inner.clone(), inner.clone()).prop_map(
                |(a, b)| json!({"properties": {"a": a}, "$defs": {"a": b}, "required": ["b"]})
            ),
            (inner.clone(), inner.clone(), inner)
                .prop_map(|(a, b, c)| json!({"if": a, "then": b, "else": c})),
        ]
    })
}

fn check(json: &str, schema: &Value, most: u32, formats: bool) {
    let request =
        json!({"json": json, "schema": schema, "max_errors": most, "assert_formats": formats})
            .to_string();
    let first = run(request.as_bytes());
    assert_eq!(first, run(request.as_bytes()));
    let Ok(answer) = first else { return };
    let answer: Value = serde_json::from_slice(&answer).unwrap();
    let errors = answer["errors"].as_array().unwrap();
    assert_eq!(answer["valid"] == true, errors.is_empty());
    assert!(errors.len() <= usize::try_from(most).unwrap());
    for error in errors {
        let message = error["message"].as_str().unwrap();
        assert!(message.chars().count() <= 512 && !message.contains(char::is_control));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn any_schema_and_any_instance_get_an_answer(instance in value(), schema in schema(), most in 1..5_u32, formats: bool) {
        check(&instance.to_string(), &schema, most, formats);
    }

    #[test]
    fn anything_for_a_schema_gets_an_answer(instance in value(), schema in value(), formats: bool) {
        check(&instance.to_string(), &schema, 5, formats);
    }

    #[test]
    fn any_text_is_read_as_serde_json_reads_it(text in "[\\[\\]{}\",:0-9eE+.\\\\ua-ftrunls \\n-]{0,24}") {
        let expected: Option<Value> = serde_json::from_str(&text).ok();
        let found = kit::json_reader::read(text.as_bytes(), kit::json_reader::Names::LastCounts).ok();
        prop_assert_eq!(found, expected, "{}", text);
    }
}
