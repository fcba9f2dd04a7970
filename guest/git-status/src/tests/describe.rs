//! What the component says of itself.

use super::*;

#[test]
fn describe_is_compact_json_of_four_members() {
    let text = crate::describe();
    let describe: Value = serde_json::from_str(text).unwrap();
    assert_eq!(serde_json::to_string(&describe).unwrap(), text);
    let members: Vec<&String> = describe.as_object().unwrap().keys().collect();
    assert_eq!(
        members,
        ["name", "description", "input_schema", "output_schema"]
    );
    assert_eq!(describe["name"], "git.status");
    assert_eq!(describe["input_schema"]["additionalProperties"], false);
    let answer = status_of(b"", false);
    let shown: Vec<&String> = answer.as_object().unwrap().keys().collect();
    let required: Vec<_> = describe["output_schema"]["required"]
        .as_array()
        .unwrap()
        .iter()
        .map(|name| name.as_str().unwrap())
        .collect();
    assert_eq!(shown, required);
}

#[test]
fn every_member_of_the_input_schema_is_a_member_of_the_request() {
    let describe: Value = serde_json::from_str(crate::describe()).unwrap();
    for (member, schema) in describe["input_schema"]["properties"].as_object().unwrap() {
        let request = serde_json::json!({ member: schema["default"] });
        crate::run(&mut answering(b"", false), request.to_string().as_bytes()).unwrap();
    }
}
