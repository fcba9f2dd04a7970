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
fn ts_128_patterns_without_look_around_run_in_linear_time() {
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
fn ts_128_look_around_and_back_references_are_known() {
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
fn ts_128_the_step_limit_is_never_an_answer() {
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
        (
            &text,
            json!({"allOf": [{"maxLength": 1}, {"pattern": evil}]}),
        ),
        (&text, json!({"if": {"pattern": evil}, "then": false})),
        (&one, json!({"contains": {"pattern": evil}})),
        (
            &one,
            json!({"items": {"$ref": "#/$defs/e"}, "$defs": {"e": {"pattern": evil}}}),
        ),
        (&many, json!({"propertyNames": {"pattern": evil}})),
        (&many, json!({"patternProperties": {evil: true}})),
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
fn ts_126_a_million_failures_are_counted_and_not_kept() {
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
fn ts_126_what_is_found_past_the_bound_is_not_reported() {
    // Once containers look empty, `contains` and `required` find less than there is; nothing of it may show.
    let text = format!("[{}{{\"a\":[1]}}]", "{\"a\":[1],\"b\":0},".repeat(300_000));
    let schema = json!({"items": {"properties": {"b": {"type": "string"}, "a": {"contains": {"const": 1}}}, "required": ["a"]}});
    let answer = answer(&json!({"json": text, "schema": schema, "max_errors": 1000}));
    assert_eq!(answer["truncated"], true);
    for error in answer["errors"].as_array().unwrap() {
        assert_eq!(error["schema_path"], "/items/properties/b/type");
    }
}

#[test]
fn long_paths_and_large_values_do_not_multiply() {
    let name = "n".repeat(1_000_000);
    let text = format!("{{\"{name}\":{{\"{name}\":[{}0]}}}}", "0,".repeat(100_000));
    let schema =
        json!({"additionalProperties": {"additionalProperties": {"items": {"type": "string"}}}});
    let answer = run(json!({"json": text, "schema": schema, "max_errors": 1000})
        .to_string()
        .as_bytes())
    .unwrap();
    assert!(answer.len() < 32 * 1024 * 1024, "{}", answer.len());
    let branches: Vec<Value> = (0..1000)
        .map(|n| json!({"maxProperties": n % 2 - 1, "type": "string"}))
        .map(|_| json!({"type": "string"}))
        .collect();
    assert!(!is_valid(&text, &json!({"anyOf": branches})));
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

#[test]
fn ts_124_schemas_that_lead_too_far_are_too_large() {
    let deep = format!("{}1{}", "[".repeat(127), "]".repeat(127));
    let chain = |length: usize, link: fn(String) -> Value| {
        let mut defs: serde_json::Map<String, Value> = (0..length)
            .map(|n| (format!("r{n}"), link(format!("#/$defs/r{}", n + 1))))
            .collect();
        defs.insert(format!("r{length}"), json!({"items": {"$ref": "#"}}));
        json!({"$ref": "#/$defs/r0", "$defs": defs})
    };
    let mut one_of = json!({"type": "array", "items": {"$ref": "#"}});
    for _ in 0..9 {
        one_of = json!({"oneOf": [one_of]});
    }
    let refs = |to| json!({"$ref": to});
    let mixed = |to| json!({"allOf": [{"anyOf": [{"$ref": to}]}]});
    let both = |to: String| json!({"anyOf": [{"$ref": to}, {"$ref": to}]});
    let patterns = vec![json!({"pattern": "a"}); 20_001];
    for (json, schema, reason) in [
        (deep.as_str(), one_of, "depth"),
        (&deep, chain(30, refs), "depth"),
        ("1", chain(3000, refs), "depth"),
        ("1", chain(1000, mixed), "depth"),
        ("1", chain(30, both), "work"),
        ("1", json!({"anyOf": patterns}), "work"),
        (
            "1",
            json!({"enum": (0..200_001).collect::<Vec<_>>()}),
            "work",
        ),
    ] {
        let (code, details) = refusal(&json!({"json": json, "schema": schema}));
        assert_eq!(
            (code.as_str(), details),
            ("too_large", json!({"reason": reason}))
        );
    }
    on_small_stack(move || {
        assert!(is_valid(&deep, &chain(4, refs)));
        assert!(is_valid("[[1]]", &chain(100, refs)));
    });
}
