use super::*;

const COMMAND: &str = "hydrant hook user-prompt-submit";

fn installed(text: &str) -> Result<Vec<String>, EditError> {
    let found = Found::in_text(text, COMMAND)?;
    Ok(found.ours.into_iter().map(|ours| ours.command).collect())
}

fn taken_out(text: &str) -> Option<String> {
    without_hook(text, COMMAND).unwrap()
}

fn round_trip(text: &str) {
    let with = with_hook(text, COMMAND).unwrap();
    assert_eq!(installed(&with).unwrap(), [COMMAND], "{with}");
    let without = taken_out(&with).unwrap();
    let value = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    assert!(installed(&without).unwrap().is_empty());
    // Lists that the hook needed may be gone with it.
    let mut before = value(text);
    if before.get("hooks") == Some(&json!({}))
        || before.get("hooks") == Some(&json!({"UserPromptSubmit": []}))
    {
        before.as_object_mut().unwrap().shift_remove("hooks");
    }
    assert_eq!(value(&without), before, "{without}");
}

#[test]
fn the_settings_are_those_of_the_manual() {
    assert_eq!(
        settings(COMMAND, EVENT).to_string(),
        r#"{"hooks":{"UserPromptSubmit":[{"hooks":[{"type":"command","command":"hydrant hook user-prompt-submit","timeout":20}]}]}}"#
    );
    assert_eq!(
        serde_json::from_str::<Value>(&with_hook("{}", COMMAND).unwrap()).unwrap(),
        settings(COMMAND, EVENT)
    );
}

#[test]
fn what_is_not_the_hook_stays_letter_for_letter() {
    let text = "{\n    \"model\": \"opus\",\n    \"odd\" : [1.0,1e2 , \"\\u00e9\"],\n    \"hooks\": {\n        \"Stop\": [ { \"hooks\": [] } ]\n    }\n}\n";
    let with = with_hook(text, COMMAND).unwrap();
    for line in text.lines().take(5) {
        assert!(with.contains(line), "{line}");
    }
    assert!(
        with.contains("\n        \"UserPromptSubmit\": [\n            {\n"),
        "{with}"
    );
    assert!(with.ends_with("}\n"));
    assert_eq!(taken_out(&with).unwrap(), text);
}

#[test]
fn every_layout_is_kept_and_can_be_undone() {
    for text in [
        "{}",
        "{ }\n",
        "{\"a\":1}",
        "{\n\t\"a\": 1\n}\n",
        "{\r\n  \"a\": 1\r\n}\r\n",
        "{\"hooks\":{}}",
        "{\"hooks\":{\"UserPromptSubmit\":[]}}",
        "{\n  \"hooks\": {\n    \"UserPromptSubmit\": [\n      {\n        \"hooks\": [\n          {\"type\": \"command\", \"command\": \"other\"}\n        ]\n      }\n    ]\n  }\n}",
        "{\"hooks\":{\"Stop\":[]},\"z\":\"}]\\\"{\"}",
        "{\"hooks\":1,\"hooks\":{\"Stop\":[]}}",
    ] {
        round_trip(text);
    }
}

#[test]
fn a_hook_among_others_goes_alone() {
    let text = r#"{"hooks":{"UserPromptSubmit":[{"hooks":[{"command":"a"},{"command":"/opt/bin/hydrant hook user-prompt-submit --mode inline"},{"command":"b"}]}]}}"#;
    assert_eq!(
        taken_out(text).unwrap(),
        r#"{"hooks":{"UserPromptSubmit":[{"hooks":[{"command":"a"},{"command":"b"}]}]}}"#
    );
    // Two entries of ours.
    let twice = with_hook(&with_hook("{\"a\":1}", COMMAND).unwrap(), COMMAND).unwrap();
    assert_eq!(installed(&twice).unwrap().len(), 2);
    assert_eq!(taken_out(&twice).unwrap(), "{\"a\":1,}".replace(",}", "}"));
}

#[test]
fn commands_of_others_are_not_ours() {
    for command in [
        "hydrant hook user-prompt-submitted",
        "nothydrant hook user-prompt-submit",
        "hydrant run x",
        "echo hydrant",
        "echo hydrant hook user-prompt-submit",
        "/bin/sh hook user-prompt-submit",
    ] {
        let text = json!({ "hooks": { EVENT: [entry(command)] } }).to_string();
        assert_eq!(taken_out(&text), None, "{command}");
    }
    for command in [
        "hydrant hook user-prompt-submit",
        "'/a b/hydrant' hook user-prompt-submit",
        "env HYDRANT_TMPDIR=/x hydrant hook user-prompt-submit --mode inline",
        "/usr/bin/env -u A B='c d' hydrant hook user-prompt-submit",
        "A=1 hydrant hook user-prompt-submit",
        "/nowhere/hydrant-0.1 hook user-prompt-submit",
    ] {
        let text = json!({ "hooks": { EVENT: [entry(command)] } }).to_string();
        assert_eq!(installed(&text).unwrap(), [command]);
    }
}

#[test]
fn only_a_program_that_is_gone_is_replaced() {
    for (there, repaired) in [
        (
            "/nowhere/hydrant hook user-prompt-submit",
            Some("hydrant hook user-prompt-submit"),
        ),
        (
            "env A='b c' '/no where/hydrant' hook user-prompt-submit --mode inline",
            Some("env A='b c' hydrant hook user-prompt-submit --mode inline"),
        ),
        (
            "A=1 /no\\ where/h hook user-prompt-submit",
            Some("A=1 hydrant hook user-prompt-submit"),
        ),
        ("hydrant hook user-prompt-submit", None),
        ("/bin/sh hook user-prompt-submit", None),
    ] {
        assert_eq!(
            super::repaired(there, COMMAND).as_deref(),
            repaired,
            "{there}"
        );
    }
}

#[test]
fn a_text_of_another_form_is_refused() {
    for text in [
        "",
        "[]",
        "{",
        "{} x",
        "null",
        "{\"hooks\":[]}",
        "{\"hooks\":{\"UserPromptSubmit\":{}}}",
        "{\"a\":1,}",
        "// x\n{}",
    ] {
        assert!(with_hook(text, COMMAND).is_err(), "{text}");
    }
}
