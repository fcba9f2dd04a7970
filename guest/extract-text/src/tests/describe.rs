use serde_json::Value;

#[test]
fn describe_is_compact_json_of_four_members() {
    let text = crate::describe();
    assert!(text.len() <= 65_536 && !text.contains('\n'));
    let describe: Value = serde_json::from_str(text).unwrap();
    assert_eq!(serde_json::to_string(&describe).unwrap(), text);
    let members: Vec<&String> = describe.as_object().unwrap().keys().collect();
    assert_eq!(
        members,
        ["name", "description", "input_schema", "output_schema"]
    );
    assert_eq!(describe["name"], "extract.text");
    assert_eq!(describe["input_schema"]["additionalProperties"], false);
}

#[test]
fn the_members_of_the_response_are_those_of_the_schema_in_their_order() {
    let describe: Value = serde_json::from_str(crate::describe()).unwrap();
    let response = super::call("text/html", b"<h1>a</h1>", None).unwrap();
    let same = |schema: &Value, value: &Value| {
        let members: Vec<&String> = value.as_object().unwrap().keys().collect();
        let required: Vec<&str> = schema["required"]
            .as_array()
            .unwrap()
            .iter()
            .map(|name| name.as_str().unwrap())
            .collect();
        assert_eq!(members, required);
    };
    let schema = &describe["output_schema"];
    let hints = &schema["properties"]["hints"];
    same(schema, &response);
    same(hints, &response["hints"]);
    same(
        &hints["properties"]["sections"]["items"],
        &response["hints"]["sections"][0],
    );
}
