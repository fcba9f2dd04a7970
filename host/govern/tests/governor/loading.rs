//! Documents on their way into the registry: who reads them, and what happens when that fails.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hydrant_govern::failure::{Code, Failure};
use serde_json::{Value, json};

use crate::house::{API, House, document, operator, ready};

fn generation(house: &House) -> Value {
    house.governor.list(&operator(), None).unwrap()["generation"].clone()
}

#[test]
fn documents_commands_and_programs_are_read_by_the_interpreter_alone() {
    let house = House::new();
    // Bytes that no parser would take for a skill: the governor hands them on as they are.
    let text = "\u{1}} not: [a skill\n";
    let skill = {
        let other = House::new();
        other.load(&document());
        let request = other
            .asked()
            .into_iter()
            .find(|request| request["op"] == "load")
            .unwrap();
        let answer = skill_interpreter::run(request.to_string().as_bytes())
            .unwrap_or_else(|_| panic!("no answer"));
        serde_json::from_slice::<Value>(&answer).unwrap()
    };
    house.interpreter_says(Ok(skill));
    let loaded = house.load(text);
    assert_eq!(loaded["skill-id"], "one");
    let asked = house
        .asked()
        .into_iter()
        .find(|request| request["op"] == "load")
        .unwrap();
    assert_eq!(asked["content-b64"], STANDARD.encode(text));
    // Commands too, and jq programs when they run.
    let command = "curl 'unfinished";
    assert_eq!(
        house.governor.map(command).unwrap_err().code,
        Code::ShellSyntax
    );
    assert_eq!(house.asked().pop().unwrap()["command"], command);
    let house = House::new();
    house.load(&format!(
        "name: one\noperations:\n- {{name: read, command: \"curl {API} | jq '.ok | not'\"}}\n"
    ));
    house.approve_all();
    let result = house.execute("one", "read", json!({})).unwrap();
    let asked = house.asked().pop().unwrap();
    assert_eq!(
        (&asked["op"], &asked["path"]),
        (&json!("filter"), &json!(".ok | not"))
    );
    assert!(result["output"].to_string().contains("false"), "{result}");
}

#[test]
fn an_interpreter_that_reaches_a_limit_registers_nothing() {
    let house = ready("");
    let before = (
        generation(&house),
        house.governor.list(&operator(), None).unwrap(),
    );
    for code in [
        Code::InterpreterLimit,
        Code::InvalidPlan,
        Code::TooLarge,
        Code::Limit,
    ] {
        house.interpreter_says(Err(Failure::new(code, "it was ended")));
        assert_eq!(
            house
                .try_load(&document().replace("name: open", "name: other"))
                .unwrap_err()
                .code,
            code
        );
        let rejected = house.events("skill-rejected").pop().unwrap();
        assert_eq!(rejected["code"], json!(code));
    }
    assert_eq!(
        (
            generation(&house),
            house.governor.list(&operator(), None).unwrap()
        ),
        before
    );
    assert!(
        house.execute("one", "open", json!({})).is_ok(),
        "what was loaded stays"
    );
}

#[test]
fn an_answer_that_is_no_skill_registers_nothing() {
    let house = House::new();
    for answer in [
        json!({}),
        json!([]),
        json!({"ok": true}),
        json!({"ok": true, "skill": {"id": "one"}, "diagnostics": []}),
        json!({"ok": true, "skill": {"id": "one", "operations": 7}}),
        // A whole skill, of another mapping: what it does not say would be taken for unsaid.
        json!({"ok": true, "mapping-version": "1", "diagnostics": [], "skill": {"id": "one", "name": "one", "version": "1",
            "description": "", "instructions": "", "format": "yaml", "data-classifications": [], "declared-capabilities": [],
            "secrets": [], "operations": [], "diagnostics": []}}),
        json!({"ok": false}),
    ] {
        house.interpreter_says(Ok(answer.clone()));
        assert_eq!(
            house.try_load(&document()).unwrap_err().code,
            Code::InvalidPlan,
            "{answer}"
        );
    }
    assert_eq!(
        house.governor.list(&operator(), None).unwrap()["skills"],
        json!([])
    );
}

#[test]
fn loading_mapping_and_showing_ask_no_server() {
    let house = House::new();
    house.load(&format!(
        "name: one\nhomepage: {API}/home\noperations:\n- name: read\n  endpoint: {API}/read\n- name: tool\n  command: touch \
         /tmp/x\n- name: both\n  command: curl {API}/a && rm -rf /tmp/x\n"
    ));
    house.governor.map(&format!("curl {API}/map")).unwrap();
    house.governor.show(&operator(), "one").unwrap();
    house.governor.list(&operator(), None).unwrap();
    for one in house.pending() {
        house
            .governor
            .approval(one["id"].as_str().unwrap())
            .unwrap();
    }
    assert_eq!(house.sent().len(), 0);
}

#[test]
fn sed_and_awk_transform_streams_and_files_make_scripts() {
    let house = House::new();
    let loaded = house.load(
        "name: one\noperations:\n- {name: stream, command: \"echo a | sed s/a/b/\"}\n- {name: file, command: \"sed -i s/a/b/ f\"}\n",
    );
    let tier = |index: usize| loaded["capabilities"][index]["tier"].clone();
    assert_eq!((tier(0), tier(1)), (json!(1), json!(3)));
}
