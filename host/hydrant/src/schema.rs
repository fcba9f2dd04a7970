//! JSON Schemas (draft 2020-12) of the files that operators write, for their editors, and of what clients of the service
//! send.
//!
//! Each is made from the types that the file or the request is read into; that of policy documents is made by
//! [`crate::policy::schema`], from the types that their reader fills.

use schemars::generate::SchemaSettings;
use schemars::transform::{Transform, transform_subschemas};
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value};

/// The schema of a TOML file that is read into `T`.
#[must_use]
pub fn for_toml<T: JsonSchema>(title: &str) -> Value {
    let schema = plain()
        .with_transform(Plain)
        .into_generator()
        .into_root_schema_for::<T>();
    let mut members = Map::new();
    for first in ["$schema", "title", "description"] {
        members.extend(
            schema
                .get(first)
                .map(|value| (first.to_owned(), value.clone())),
        );
    }
    members.insert("title".to_owned(), title.into());
    for (name, value) in schema.as_object().into_iter().flatten() {
        members.entry(name).or_insert_with(|| value.clone());
    }
    Value::Object(members)
}

/// The schema of a request: an object, each of its members with one type.
#[must_use]
pub(crate) fn for_request<T: JsonSchema>() -> Value {
    let mut settings = plain();
    settings.meta_schema = None;
    let mut schema = settings
        .with_transform(Short)
        .with_transform(Plain)
        .into_generator()
        .into_root_schema_for::<T>();
    schema.remove("title");
    // There are clients that refuse an object without them.
    schema
        .ensure_object()
        .entry("properties")
        .or_insert_with(|| Map::new().into());
    schema.to_value()
}

/// The schema of an answer.
#[must_use]
pub(crate) fn for_response<T: JsonSchema>() -> Value {
    let mut settings = plain().for_serialize();
    settings.meta_schema = None;
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    schema.remove("title");
    schema.to_value()
}

fn plain() -> SchemaSettings {
    let mut settings = SchemaSettings::draft2020_12();
    // One tree without references is what every editor and every client understands.
    settings.inline_subschemas = true;
    settings
}

/// A schema as it is printed: laid out, with a line end.
#[must_use]
pub fn text(schema: &Value) -> String {
    format!("{schema:#}\n")
}

/// Makes a schema short: alternatives that are one value each become a list of values, without what is said of each, and
/// what holds of any schema is left out.
#[derive(Clone)]
struct Short;

impl Transform for Short {
    fn transform(&mut self, schema: &mut Schema) {
        transform_subschemas(self, schema);
        let is_empty = |value: &Value| value.as_array().is_some_and(Vec::is_empty);
        if schema.get("default").is_some_and(is_empty) {
            schema.remove("default");
        }
        if schema.get("additionalProperties") == Some(&Value::Bool(true)) {
            schema.remove("additionalProperties");
        }
        let alternatives = schema.get("oneOf").and_then(Value::as_array);
        let values = alternatives.and_then(|all| {
            let values = all.iter().map(|one| one.get("const").cloned());
            values.collect::<Option<Vec<_>>>()
        });
        if let Some(values) = values {
            schema.remove("oneOf");
            schema.insert("type".to_owned(), "string".into());
            schema.insert("enum".to_owned(), values.into());
        }
    }
}

/// Takes away what TOML cannot hold or an editor or a client cannot use: `null`, formats of Rust's numbers, line ends of
/// comments, and defaults that are not written as the file writes them.
#[derive(Clone)]
struct Plain;

impl Transform for Plain {
    fn transform(&mut self, schema: &mut Schema) {
        transform_subschemas(self, schema);
        schema.remove("format");
        if let Some(Value::String(description)) = schema.get_mut("description") {
            *description = description.replace('\n', " ");
        }
        if schema
            .get("default")
            .is_some_and(|default| default.is_object() || default.is_null())
        {
            schema.remove("default");
        }
        if let Some(kinds) = schema.get_mut("type")
            && let Some(kind) = kinds.as_array_mut().and_then(without_null)
        {
            *kinds = kind;
        }
        if let Some(choice) = schema.get_mut("anyOf").and_then(Value::as_array_mut)
            && let Some(Value::Object(mut only)) = without_null(choice)
        {
            schema.remove("anyOf");
            // What is said of the member goes before what is said of its type.
            for (name, value) in schema.ensure_object().iter() {
                only.insert(name.clone(), value.clone());
            }
            *schema = only.into();
        }
    }
}

/// What is left of `[T, null]`.
fn without_null(choice: &mut Vec<Value>) -> Option<Value> {
    let is_null =
        |value: &Value| value == "null" || value.get("type").is_some_and(|kind| kind == "null");
    let count = choice.len();
    choice.retain(|value| !is_null(value));
    match choice.as_slice() {
        [only] if count > 1 => Some(only.clone()),
        _ => None,
    }
}
