//! Schemas as clients take them, and arguments as a skill takes them.
//!
//! There are clients that pass a tool's schema on to a model which knows less of JSON Schema: each member has one type, said
//! by name, and `null` is none. So what is offered for arguments may be narrower than what the skill takes, and for an
//! answer is the same in other words.

use hydrant_canonical::Json;
use rmcp::model::JsonObject;
use serde_json::{Value, json};

/// A schema that clients take: of an object, and in the dialect that is the protocol's default, which needs no name; there
/// are clients that refuse all tools for one that names it.
fn of_object(schema: &Value) -> Option<JsonObject> {
    let mut schema = schema.as_object()?.clone();
    if schema.get("type").and_then(Value::as_str) != Some("object") {
        return None;
    }
    schema.shift_remove("$schema");
    Some(schema)
}

/// The schema of a tool's arguments, in which every member has one type. How long a text may be, the skill says when one is
/// too long.
pub(super) fn of_arguments(schema: &Value) -> Option<JsonObject> {
    let mut schema = of_object(schema)?;
    each_below(&mut schema, &mut |schema| {
        simplify(schema);
        schema.shift_remove("maxLength");
    });
    Some(schema)
}

/// The schema of a tool's answer: each alternative has one type, and no bounds are said. They would take up the context of
/// a model, to which an answer that exists says more.
pub(super) fn of_answer(schema: &Value) -> Option<JsonObject> {
    let mut schema = of_object(schema)?;
    leave_out_bounds(&mut schema);
    each_below(&mut schema, &mut |schema| {
        spell_out(schema);
        leave_out_bounds(schema);
        schema.shift_remove("required");
    });
    Some(schema)
}

fn leave_out_bounds(schema: &mut JsonObject) {
    for name in [
        "minimum",
        "maximum",
        "minLength",
        "maxLength",
        "minItems",
        "maxItems",
    ] {
        schema.shift_remove(name);
    }
    if schema.get("additionalProperties") == Some(&Value::Bool(false)) {
        schema.shift_remove("additionalProperties");
    }
}

/// `arguments` as `schema` has them: `null` for what may be left out is as if it was left out, and a word of a list of values
/// is the value that it stands for.
pub(super) fn fit(schema: &Value, arguments: &mut Json) {
    let named = |member: &str| schema.get(member);
    match arguments {
        Json::Object(members) => {
            let Some(properties) = named("properties").and_then(Value::as_object) else {
                return;
            };
            let required = named("required").and_then(Value::as_array);
            let is_required =
                |name: &str| required.is_some_and(|all| all.iter().any(|one| one == name));
            members.retain(|(name, value)| {
                *value != Json::Null || is_required(name) || !properties.contains_key(name)
            });
            for (name, value) in members {
                if let Some(schema) = properties.get(name) {
                    fit(schema, value);
                }
            }
        }
        Json::Array(items) => {
            if let Some(schema) = named("items") {
                items.iter_mut().for_each(|item| fit(schema, item));
            }
        }
        Json::String(word) => {
            let values = named("enum").and_then(Value::as_array);
            let meant = values.and_then(|values| values.iter().find(|value| text(value) == *word));
            let is_one = values.is_some_and(|values| values.iter().any(|value| value == &*word));
            if let Some(meant) = meant.filter(|_| !is_one) {
                *arguments = meant.clone().into();
            }
        }
        _ => {}
    }
}

/// Changes each schema that stands in this one.
fn each_below(schema: &mut JsonObject, change: &mut dyn FnMut(&mut JsonObject)) {
    let mut visit = |schema: &mut Value| {
        if let Value::Object(schema) = schema {
            change(schema);
            each_below(schema, change);
        }
    };
    for name in ["properties", "patternProperties", "$defs"] {
        if let Some(Value::Object(all)) = schema.get_mut(name) {
            all.values_mut().for_each(&mut visit);
        }
    }
    for name in ["anyOf", "oneOf", "allOf", "prefixItems"] {
        if let Some(Value::Array(all)) = schema.get_mut(name) {
            all.iter_mut().for_each(&mut visit);
        }
    }
    for name in ["items", "additionalProperties"] {
        if let Some(schema) = schema.get_mut(name) {
            visit(schema);
        }
    }
}

/// Gives a schema of arguments one type.
fn simplify(schema: &mut JsonObject) {
    for name in ["anyOf", "oneOf"] {
        if let Some(Value::Array(alternatives)) = schema.shift_remove(name) {
            for (name, value) in one_of(alternatives) {
                schema.entry(name).or_insert(value);
            }
        }
    }
    if let Some(value) = schema.shift_remove("const") {
        schema.insert("enum".into(), Value::Array(vec![value]));
    }
    if let Some(Value::Array(types)) = schema.get("type") {
        let first = types.iter().find(|name| *name != "null").cloned();
        schema.insert("type".into(), first.unwrap_or_else(|| "string".into()));
    }
    if let Some(Value::Array(values)) = schema.get_mut("enum") {
        values.retain(|value| !value.is_null());
        if type_of_all(values).is_none() {
            values
                .iter_mut()
                .for_each(|value| *value = text(value).into());
        }
    }
    if schema.get("default").is_some_and(Value::is_null) {
        schema.shift_remove("default");
    }
    if !schema.contains_key("type") && !schema.contains_key("$ref") {
        let kind = match schema.get("enum").and_then(Value::as_array) {
            Some(values) => type_of_all(values).unwrap_or("string"),
            None if schema.contains_key("properties") => "object",
            None if schema.contains_key("items") => "array",
            // Any value is allowed, so text is.
            None => "string",
        };
        schema.insert("type".into(), kind.into());
    }
}

/// One schema for alternatives: of objects one that has the members of all, else the first that is not `null`.
fn one_of(alternatives: Vec<Value>) -> JsonObject {
    let mut objects = alternatives.into_iter().filter_map(|one| match one {
        Value::Object(schema) if schema.get("type") != Some(&json!("null")) => Some(schema),
        _ => None,
    });
    let mut merged = objects.next().unwrap_or_default();
    for other in objects {
        if let (Some(Value::Object(members)), Some(Value::Object(more))) =
            (merged.get_mut("properties"), other.get("properties"))
        {
            for (name, schema) in more {
                members
                    .entry(name.clone())
                    .or_insert_with(|| schema.clone());
            }
            merged.shift_remove("required");
        }
    }
    merged
}

/// Writes several types as alternatives, and names the type of a list of values.
fn spell_out(schema: &mut JsonObject) {
    if let Some(Value::Array(types)) = schema.get("type")
        && !schema.contains_key("anyOf")
    {
        let alternatives = types.iter().map(|name| json!({ "type": name })).collect();
        schema.shift_remove("type");
        schema.insert("anyOf".into(), alternatives);
    }
    if !schema.contains_key("type") {
        let one = schema.get("const").map(std::slice::from_ref);
        let all = schema
            .get("enum")
            .and_then(Value::as_array)
            .map(Vec::as_slice);
        if let Some(kind) = one.or(all).and_then(type_of_all) {
            schema.insert("type".into(), kind.into());
        }
    }
}

/// The type that all of these have.
fn type_of_all(values: &[Value]) -> Option<&'static str> {
    let of = |value: &Value| match value {
        Value::String(_) => Some("string"),
        Value::Bool(_) => Some("boolean"),
        Value::Number(number) if number.is_f64() => Some("number"),
        Value::Number(_) => Some("integer"),
        _ => None,
    };
    let first = of(values.first()?)?;
    values
        .iter()
        .all(|value| of(value) == Some(first))
        .then_some(first)
}

/// A value as a word.
fn text(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offered(member: Value) -> Value {
        let schema = json!({ "type": "object", "properties": { "a": member } });
        of_arguments(&schema).unwrap()["properties"]["a"].clone()
    }

    #[test]
    fn a_member_of_the_arguments_has_one_type() {
        for (member, expected) in [
            (
                json!({ "type": ["string", "null"] }),
                json!({ "type": "string" }),
            ),
            (
                json!({ "enum": ["x", null] }),
                json!({ "enum": ["x"], "type": "string" }),
            ),
            (
                json!({ "enum": ["auto", 0, 1] }),
                json!({ "enum": ["auto", "0", "1"], "type": "string" }),
            ),
            (
                json!({ "const": "x" }),
                json!({ "enum": ["x"], "type": "string" }),
            ),
            (
                json!({ "description": "any" }),
                json!({ "description": "any", "type": "string" }),
            ),
            (
                json!({ "anyOf": [{ "type": "null" }, { "type": "integer", "minimum": 1 }] }),
                json!({ "type": "integer", "minimum": 1 }),
            ),
            (
                json!({ "type": "array", "items": { "type": ["integer", "null"] } }),
                json!({ "type": "array", "items": { "type": "integer" } }),
            ),
        ] {
            assert_eq!(offered(member.clone()), expected, "{member}");
        }
        let either = offered(json!({ "oneOf": [
            { "type": "object", "required": ["x"], "properties": { "x": { "const": 1 } } },
            { "type": "object", "required": ["y"], "properties": { "y": { "type": "string" } } },
        ]}));
        assert_eq!(either["properties"]["x"]["type"], "integer");
        assert_eq!(either["properties"]["y"]["type"], "string");
        assert!(either.get("required").is_none());
    }

    #[test]
    fn the_schema_of_an_answer_allows_the_same_in_other_words() {
        let schema = json!({ "type": "object", "properties": {
            "a": { "type": ["string", "null"], "description": "x" }, "b": { "enum": [1, 2] },
        }});
        let offered = of_answer(&schema).unwrap();
        let expected =
            json!({ "description": "x", "anyOf": [{ "type": "string" }, { "type": "null" }] });
        assert_eq!(offered["properties"]["a"], expected);
        assert_eq!(offered["properties"]["b"]["type"], "integer");
    }

    #[test]
    fn null_is_absent_where_a_member_may_be() {
        let schema = json!({ "type": "object", "required": ["r"], "properties": {
            "r": {}, "o": { "type": "integer" }, "strip": { "enum": ["auto", 0, 1] },
            "list": { "items": { "type": "object", "properties": { "x": {} } } },
        }});
        let arguments =
            json!({ "r": null, "o": null, "unknown": null, "strip": "1", "list": [{ "x": null }] });
        let mut arguments = arguments.into();
        fit(&schema, &mut arguments);
        let expected = json!({ "r": null, "unknown": null, "strip": 1, "list": [{}] });
        assert_eq!(arguments, expected.into());
    }
}
