//! What the component says of itself.

use super::*;

#[test]
fn describe_is_compact_json_of_four_members() {
    let text = crate::describe();
    assert!(text.len() <= 65_536 && !text.contains('\n'));
    let describe = json(text);
    // Compact, and the members in this order.
    assert_eq!(serde_json::to_string(&describe).unwrap(), text);
    let members: Vec<&String> = describe.as_object().unwrap().keys().collect();
    assert_eq!(
        members,
        ["name", "description", "input_schema", "output_schema"]
    );
    assert_eq!(describe["name"], "content.hydrate");
    let description = describe["description"].as_str().unwrap();
    assert!((1..=1_024).contains(&description.chars().count()));
    assert_eq!(describe["input_schema"]["additionalProperties"], false);
}

#[test]
fn every_member_of_the_input_schema_is_a_member_of_the_request() {
    let schema = json(crate::describe())["input_schema"]["properties"].clone();
    for (member, schema) in schema.as_object().unwrap() {
        let value = schema.get("default").cloned().unwrap_or("a.md".into());
        let request = serde_json::json!({ "uri": "a.md", member: value });
        crate::run(&mut FakeHost::default(), request.to_string().as_bytes()).unwrap();
    }
}
