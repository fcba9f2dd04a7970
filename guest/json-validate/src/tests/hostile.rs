//! Instances and schemas that were written to hurt.

use super::*;

/// As much stack as a component has; more where frames are not optimised.
const STACK: usize = if cfg!(debug_assertions) { 32 } else { 1 } * 1024 * 1024;

/// Runs on a small stack: one that is overrun ends the test.
fn on_small_stack(work: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(STACK).spawn(work);
    thread.unwrap().join().unwrap();
}

#[test]
fn patterns_without_look_around_run_in_linear_time() {
    let text = format!("\"{}!\"", "a".repeat(200_000));
    for pattern in [
        "^(a+)+$",
        "^(a|aa)+$",
        "^(a|a?)+$",
        "(.*a){12}$",
        "^([a-zA-Z]+)*$",
    ] {
        let schema = json!({"pattern": pattern});
        assert!(!is_valid(&text, &schema), "{pattern}");
        let names = json!({"patternProperties": {pattern: false}});
        assert!(is_valid(&format!("{{{text}:1}}"), &names), "{pattern}");
    }
}

#[test]
fn look_around_and_back_references_are_known() {
    for (pattern, yes, no) in [
        ("^(?!x-)", "\"a\"", "\"x-a\""),
        ("(?=.*[0-9])(?=.*[a-z])^.{4,}$", "\"abc1\"", "\"abcd\""),
        ("^(['|])[a-z]*\\1$", "\"|a|\"", "\"|a'\""),
        ("(?<!b)a$", "\"ca\"", "\"ba\""),
    ] {
        let schema = json!({"pattern": pattern});
        assert!(
            is_valid(yes, &schema) && !is_valid(no, &schema),
            "{pattern}"
        );
        let names = json!({"patternProperties": {pattern: false}});
        assert!(
            !is_valid(&format!("{{{yes}:1}}"), &names) && is_valid(&format!("{{{no}:1}}"), &names),
            "{pattern}"
        );
    }
    let shown = errors("\"x-a\"", &json!({"pattern": "^(?!x-)"}));
    assert_eq!(shown, [" /pattern \"x-a\" does not match \"^(?!x-)\""]);
}

#[test]
fn the_step_limit_is_never_an_answer() {
    let evil = "^(x+x+)+\\1y$";
    let text = format!("\"{}\"", "x".repeat(40));
    let (many, one) = (format!("{{{text}:1}}"), format!("[{text}]"));
    for (json, schema) in [
        (&text, json!({"pattern": evil})),
        (&text, json!({"not": {"pattern": evil}})),
        (
            &text,
            json!({"anyOf": [{"pattern": evil}, {"maxLength": 1}]}),
        ),
        (&text, json!({"if": {"pattern": evil}, "then": false})),
        (&one, json!({"contains": {"pattern": evil}})),
        (
            &one,
            json!({"items": {"$ref": "#/$defs/e"}, "$defs": {"e": {"pattern": evil}}}),
        ),
        (&many, json!({"propertyNames": {"pattern": evil}})),
        (
            &many,
            json!({"patternProperties": {evil: true}, "additionalProperties": false}),
        ),
        (
            &many,
            json!({"patternProperties": {evil: true}, "unevaluatedProperties": false}),
        ),
        (
            &many,
            json!({"allOf": [{"not": {"patternProperties": {evil: false}}}]}),
        ),
    ] {
        let (code, details) = refusal(&json!({"json": json, "schema": schema}));
        assert_eq!(
            (code.as_str(), details),
            ("too_large", json!({"reason": "regex"})),
            "{schema}"
        );
    }
}

#[test]
fn what_no_outcome_of_an_unfinished_match_would_change_is_answered() {
    let evil = "^(x+x+)+\\1y$";
    let text = format!("\"{}\"", "x".repeat(40));
    let schema = json!({"allOf": [{"maxLength": 1}, {"pattern": evil}]});
    let errors = errors(&text, &schema);
    assert!(errors.len() == 1 && errors[0].starts_with(" /allOf/0/maxLength"));
    let many = format!("{{{text}:1}}");
    assert!(is_valid(&many, &json!({"patternProperties": {evil: true}})));
}

#[test]
fn a_million_failures_are_counted_and_not_kept() {
    let text = format!("[{}0]", "0,".repeat(1_000_000));
    let answer = answer(
        &json!({"json": text, "schema": {"items": {"type": "string", "enum": ["a"]}}, "max_errors": 3}),
    );
    assert_eq!(answer["truncated"], true);
    assert_eq!(answer["valid"], false);
    let errors = answer["errors"].as_array().unwrap();
    assert_eq!(errors.len(), 3);
    assert_eq!(errors[0]["instance_path"], "/0");
}

#[test]
fn unique_items_and_names_are_not_quadratic() {
    let numbers: Vec<String> = (0..200_000).map(|n| n.to_string()).collect();
    let text = format!("[{}]", numbers.join(","));
    assert!(is_valid(&text, &json!({"uniqueItems": true})));
    assert!(!is_valid(
        &text.replace("[0,", "[199999.0,"),
        &json!({"uniqueItems": true})
    ));
    let members: Vec<String> = (0..200_000)
        .map(|n| format!("\"\\u0061{n}\":{n}"))
        .collect();
    let text = format!("{{{}}}", members.join(","));
    let required: Vec<String> = (0..20_000).map(|n| format!("a{n}")).collect();
    assert!(is_valid(
        &text,
        &json!({"required": required, "additionalProperties": {"type": "integer"}})
    ));
    let same = format!("{{{}\"a\":1}}", "\"a\":0,".repeat(500_000));
    assert!(is_valid(
        &same,
        &json!({"maxProperties": 1, "properties": {"a": {"const": 1}}})
    ));
}

#[test]
fn deep_instances_and_deep_schemas_fit_on_the_stack() {
    on_small_stack(|| {
        let text = format!("{}1{}", "[".repeat(128), "]".repeat(128));
        let mut all_of = json!({"items": {"$ref": "#"}});
        for _ in 0..5 {
            all_of = json!({"allOf": [all_of]});
        }
        assert!(is_valid(&text, &all_of));
        let mut nested = json!({"type": "integer"});
        for _ in 0..120 {
            nested = json!({"items": nested});
        }
        assert!(!is_valid(&text, &nested));
        let objects = format!("{}1{}", "{\"a\":".repeat(128), "}".repeat(128));
        let tree = json!({"$dynamicAnchor": "node", "additionalProperties": {"$dynamicRef": "#node"}, "unevaluatedProperties": false});
        assert!(is_valid(&objects, &tree));
        assert!(is_valid(
            &text,
            &json!({"uniqueItems": true, "items": {"$ref": "#"}})
        ));
        let deep: Value = serde_json::from_str(text.get(5..text.len() - 5).unwrap()).unwrap();
        assert!(!is_valid(&text, &json!({"const": deep})));
    });
}

#[test]
fn schemas_that_refer_to_themselves_end() {
    on_small_stack(|| {
        for schema in [
            json!({"$ref": "#"}),
            json!({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}),
            json!({"$dynamicAnchor": "a", "$dynamicRef": "#a"}),
            json!({"allOf": [{"$ref": "#"}, {"$ref": "#"}], "anyOf": [{"$ref": "#"}, {"$ref": "#"}]}),
            json!({"$schema": "https://json-schema.org/draft/2019-09/schema", "$recursiveAnchor": true, "$recursiveRef": "#"}),
            json!({"$dynamicAnchor": "a", "anyOf": [{"$dynamicRef": "#a"}], "unevaluatedItems": {"$dynamicRef": "#a"}}),
        ] {
            for text in ["1", "[[1],{\"a\":[2]}]", "{}"] {
                // Whichever it is: the specification leaves it open.
                answer(&json!({"json": text, "schema": schema}));
            }
        }
    });
}
