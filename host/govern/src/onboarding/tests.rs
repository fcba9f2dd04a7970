//! Steps as documents write them, and what is filled in.

use serde_json::{Value, json};

use super::{Given, Onboarding, Path, StepKind, StoreTarget, fit};
use crate::failure::{Code, Failure};
use hydrant_plan::Format;

/// Of a skill without operations.
fn read(data: &Value) -> Result<Onboarding, Failure> {
    let onboarding = Onboarding::read(data, Format::Yaml)?;
    onboarding.check(&[])?;
    Ok(onboarding)
}

fn refused(data: &Value) -> (Code, String) {
    let failure = read(data).unwrap_err();
    let path = failure.path.map(String::from).unwrap_or_default();
    (failure.code, path)
}

#[test]
fn what_cannot_be_gone_through_is_refused_with_its_place() {
    let human = |id: &str| json!({"id": id, "type": "human_action"});
    let cases = [
        (json!({"steps": [{"id": "a"}]}), "onboarding"),
        (
            json!({"steps": [human("a"), human("a")]}),
            "onboarding.steps[1].id",
        ),
        (
            json!({"steps": [{"id": "a", "type": "api_call"}]}),
            "onboarding.steps[0]",
        ),
        (
            json!({"steps": [{"id": "a", "type": "api_call", "operation": "no"}]}),
            "onboarding.steps[0].operation",
        ),
        (
            json!({"steps": [{"id": "a", "type": "condition", "verify_on_success": "no"}]}),
            "onboarding.steps[0].verify_on_success",
        ),
        (
            json!({"steps": [{"id": "a", "type": "human_action", "store": [{"from": "k", "to": "file:k"}]}]}),
            "onboarding.steps[0].store[0].to",
        ),
        (
            json!({"steps": [{"id": "a", "type": "human_action", "store": [{"from": "k", "to": "secret:a b"}]}]}),
            "onboarding.steps[0].store[0].to",
        ),
        (
            json!({"steps": [{"id": "a", "type": "human_action", "store": [{"from": "k[x]", "to": "memory:k"}]}]}),
            "onboarding.steps[0].store[0].from",
        ),
        (
            json!({"steps": [{"id": "a", "type": "human_action", "action": {"required_response": {"type": 7}}}]}),
            "onboarding.steps[0].action.required_response",
        ),
        (
            json!({"steps": [{"id": "a", "type": "condition", "store": [{"to": "memory:k"}]}]}),
            "onboarding.steps[0].store",
        ),
        (
            json!({"steps": [{"id": "a", "type": "human_action", "depends_on": ["b"]},
                {"id": "b", "type": "human_action", "depends_on": ["a"]}]}),
            "onboarding.steps[0].depends_on",
        ),
        (
            json!({"steps": [{"id": "a", "type": "human_action", "depends_on": ["c"]}]}),
            "onboarding.steps[0].depends_on",
        ),
        (
            json!({"steps": [{"id": "a", "type": "human_action", "store": [{"from": "k", "to": "secret:A"},
                {"from": "k.x", "to": "secret:B"}]}]}),
            "onboarding.steps[0].store[1].from",
        ),
        (
            json!({"steps": [{"id": "a", "type": "human_action", "store": [{"from": "k", "to": "secret:A"},
                {"from": "l", "to": "secret:A"}]}]}),
            "onboarding.steps[0].store[1].to",
        ),
        (
            json!({"steps": [{"id": "a", "type": "human_action", "store": [{"from": "k.*", "to": "secret:A"}]}]}),
            "onboarding.steps[0].store[0].from",
        ),
        (
            json!({"steps": [{"id": "a", "type": "human_action",
                "action": {"required_response": {"description": "x".repeat(20_000)}}}]}),
            "onboarding.steps[0].action.required_response",
        ),
        (
            json!({"steps": (0..65).map(|number| human(&number.to_string())).collect::<Vec<_>>()}),
            "onboarding.steps",
        ),
    ];
    for (data, path) in cases {
        assert_eq!(refused(&data), (Code::Schema, path.to_owned()), "{data}");
    }
}

#[test]
fn null_is_nothing() {
    let data = json!({"required": null, "steps": [{"id": "a", "type": "human_action", "store": null, "depends_on": null,
        "params": null, "action": {"title": null}}]});
    assert_eq!(read(&data).unwrap().steps[0].store, []);
    assert!(read(&json!({"steps": null})).unwrap().steps.is_empty());
}

#[test]
fn numbered_items_come_one_after_another_and_require_nothing() {
    let steps = json!([{"id": "a", "type": "human_action"}, {"id": "b", "type": "human_action"}]);
    let text = json!({"text": "1. **A**", "steps": steps});
    let written = Onboarding::read(&text, Format::Markdown).unwrap();
    assert!(!written.required);
    assert_eq!(written.steps[1].depends_on, ["a"]);
    // A document of data may have a member of that name.
    let data = read(&text).unwrap();
    assert!(data.required);
    assert!(data.steps[1].depends_on.is_empty());
    assert_eq!(data.steps[0].kind, StepKind::HumanAction);
    assert_eq!(data.steps[0].action, json!({"title": "a"}));
}

#[test]
fn values_go_to_memory_or_to_the_secrets() {
    let data = json!({"steps": [{"id": "a", "type": "human_action", "store": [
        {"from": "$.user.key", "to": "secret:A_KEY"}, {"to": "memory: name "}]}]});
    let steps = read(&data).unwrap().steps;
    assert_eq!(
        steps[0].store[0].to,
        StoreTarget::Secret("A_KEY".to_owned())
    );
    assert_eq!(steps[0].store[0].from.pointer(), "/user/key");
    assert_eq!(steps[0].store[1].to, StoreTarget::Memory("name".to_owned()));
    assert_eq!(steps[0].store[1].from.pointer(), "");
}

#[test]
fn paths_are_pointers_or_dotted() {
    for (text, pointer) in [
        ("", Some("")),
        ("$", Some("")),
        ("/a~1b/0", Some("/a~1b/0")),
        ("a.b", Some("/a/b")),
        ("$.a[0][1].b", Some("/a/0/1/b")),
        ("$[2].a", Some("/2/a")),
        ("a/b", Some("/a~1b")),
        ("a..b", None),
        ("a.", None),
        ("$a", None),
        ("a[", None),
        ("a[-1]", None),
        ("a[01]", None),
        ("a[+1]", None),
        ("a[0]b", None),
        ("a[*]", None),
    ] {
        let found = Path::parse(text).map(|path| path.pointer());
        assert_eq!(found.as_deref(), pointer, "{text}");
    }
}

fn filled(value: &Value) -> Result<Value, Failure> {
    let input = json!("Ann");
    let memory = |key: &str| {
        Ok(match key {
            "id" => Some(json!(7)),
            "user" => Some(json!({"name": "Ann"})),
            "long" => Some(json!("x".repeat(60_000))),
            _ => None,
        })
    };
    Given::new(&memory, Some(&input), "r-1").fill(value, "params")
}

#[test]
fn placeholders_are_values_or_parts_of_a_text() {
    let params = json!({"a": "{{memory:id}}", "b": ["x-{{ memory:id }}-{{user_input}}"], "c": "{{memory:user}}",
        "d": "{{run_id}}", "e": "{{other}} {{", "f": 3});
    assert_eq!(
        filled(&params).unwrap(),
        json!({"a": 7, "b": ["x-7-Ann"], "c": {"name": "Ann"}, "d": "r-1", "e": "{{other}} {{", "f": 3})
    );
    for (params, path) in [
        (json!({"a": ["{{memory:none}}"]}), "params.a[0]"),
        (json!({"a": "so {{memory:user}}"}), "params.a"),
    ] {
        let failure = filled(&params).unwrap_err();
        assert_eq!(failure.code, Code::MissingInput);
        assert_eq!(failure.path.as_deref(), Some(path));
    }
}

#[test]
fn a_number_is_text_where_an_operation_takes_text() {
    let schema = json!({"properties": {"id": {"type": "string"}, "count": {"type": "integer"}, "on": {"type": "string"},
        "any": {}, "both": {"type": ["string", "integer"]}}});
    let mut params = json!({"id": 7, "count": 7, "on": true, "any": 7, "both": 7, "other": 7});
    fit(&mut params, &schema);
    assert_eq!(
        params,
        json!({"id": "7", "count": 7, "on": "true", "any": 7, "both": 7, "other": 7})
    );
}

#[test]
fn what_is_filled_in_is_not_looked_at_again() {
    let input = json!("{{memory:id}}");
    let memory = |_: &str| Ok(Some(json!("of another step")));
    let given = Given::new(&memory, Some(&input), "r-1");
    let value = given.fill(&json!("a {{user_input}}"), "params").unwrap();
    assert_eq!(value, json!("a {{memory:id}}"));
}

#[test]
fn what_is_filled_in_is_bounded() {
    let many = json!({"a": "{{memory:long}} ".repeat(16)});
    assert!(filled(&many).is_ok());
    let failure = filled(&json!({"a": "{{memory:long}} ".repeat(18)})).unwrap_err();
    assert_eq!(failure.code, Code::Limit);
    let failure = filled(&json!({"a": vec!["{{memory:long}}"; 18]})).unwrap_err();
    assert_eq!(failure.code, Code::Limit);
    // Text that only looks like many placeholders is read once.
    let braces = "{".repeat(1 << 20);
    assert_eq!(filled(&json!(braces)).unwrap(), json!(braces));
}
