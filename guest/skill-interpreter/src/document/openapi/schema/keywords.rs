//! The keywords of a schema, each as it is in JSON Schema 2020-12 .

use serde_json::{Map, Value, json};

use super::{Schemas, Version};
use crate::document::schema_keyword::{Keyword, keyword};
use crate::failure::Failure;
use kit::yaml::{self, Node};

/// Bytes of an example that is worth keeping.
const EXAMPLE_BYTES: usize = 4 << 10;

impl<'t> Schemas<'t> {
    pub(super) fn keywords(&mut self, node: Node<'t>, without: &[&str]) -> Result<Value, Failure> {
        let mut schema = Map::new();
        let mut nullable = false;
        for (key, value) in node.entries() {
            let value = match key.text {
                name if without.contains(&name) => None,
                "nullable" => {
                    nullable = matches!(value.value(), yaml::Value::Bool(true));
                    None
                }
                "type" => {
                    set_type(value, &mut schema);
                    None
                }
                "properties" => Some(self.map_of_schemas(value)?),
                "items" if value.is_list() => {
                    let items = self.list_of_schemas(value)?;
                    schema.insert("prefixItems".to_owned(), items);
                    None
                }
                "items" => Some(self.schema(value)?),
                "required" => {
                    let names: Vec<&str> = value.items().filter_map(|n| n.as_text()).collect();
                    (!names.is_empty()).then(|| json!(names))
                }
                "example" => {
                    let examples = exact(value).map(|example| json!([example]));
                    if let Some(examples) = examples.filter(is_small) {
                        schema.entry("examples").or_insert(examples);
                    }
                    None
                }
                name => match keyword(name) {
                    Some(kind) => self.keyword(kind, name, value)?,
                    None => None,
                },
            };
            if let Some(value) = value {
                schema.insert(key.text.to_owned(), value);
            }
        }
        exclusive_bounds(&mut schema);
        if nullable && self.api.version != Version::ThreeOne {
            return Ok(with_null(schema));
        }
        Ok(Value::Object(schema))
    }

    /// The value of a keyword; none where it is not what the keyword takes, which restricts nothing then.
    fn keyword(
        &mut self,
        kind: Keyword,
        name: &str,
        value: Node<'t>,
    ) -> Result<Option<Value>, Failure> {
        Ok(match (kind, value.value()) {
            (Keyword::Schema, yaml::Value::Bool(_) | yaml::Value::Map) => Some(self.schema(value)?),
            (Keyword::Schemas, yaml::Value::List) if value.items().next().is_some() => {
                Some(self.list_of_schemas(value)?)
            }
            // References go to the whole document, so that definitions within a schema are found from there.
            (Keyword::SchemaMap, yaml::Value::Map) if !matches!(name, "$defs" | "definitions") => {
                Some(self.map_of_schemas(value)?)
            }
            (Keyword::Count, yaml::Value::Integer(_)) => {
                Some(value.to_json()).filter(Value::is_u64)
            }
            (Keyword::Number, yaml::Value::Integer(_) | yaml::Value::Number(_)) => exact(value),
            // 2.0 and 3.0: of a bound, whether it is itself excluded.
            (Keyword::Number, yaml::Value::Bool(flag)) if name.starts_with("exclusive") => {
                Some(Value::Bool(flag))
            }
            (Keyword::Text, yaml::Value::Text(text)) => Some(json!(text)),
            (Keyword::Flag, yaml::Value::Bool(flag)) => Some(Value::Bool(flag)),
            (Keyword::Values, yaml::Value::List) if name == "examples" => {
                exact(value).filter(is_small)
            }
            (Keyword::Values, yaml::Value::List) | (Keyword::Data, _) => exact(value),
            _ => None,
        })
    }

    fn map_of_schemas(&mut self, node: Node<'t>) -> Result<Value, Failure> {
        let schemas: Result<Map<_, _>, Failure> = node
            .entries()
            .map(|(key, value)| Ok((key.text.to_owned(), self.schema(value)?)))
            .collect();
        schemas.map(Value::Object)
    }

    fn list_of_schemas(&mut self, node: Node<'t>) -> Result<Value, Failure> {
        let schemas: Result<Vec<_>, _> = node.items().map(|item| self.schema(item)).collect();
        schemas.map(Value::Array)
    }
}

fn set_type(node: Node<'_>, schema: &mut Map<String, Value>) {
    let is_type = |name: &str| {
        matches!(
            name,
            "string" | "integer" | "number" | "boolean" | "array" | "object" | "null"
        )
    };
    match node.value() {
        // 2.0: bytes of a form part.
        yaml::Value::Text("file") => {
            schema.insert("type".to_owned(), json!("string"));
            schema.insert("format".to_owned(), json!("binary"));
        }
        yaml::Value::Text(name) if is_type(name) => {
            schema.insert("type".to_owned(), json!(name));
        }
        yaml::Value::List => {
            let mut names: Vec<&str> = node.items().filter_map(|n| n.as_text()).collect();
            names.retain(|name| is_type(name));
            names.sort_unstable();
            names.dedup();
            if !names.is_empty() {
                schema.insert("type".to_owned(), json!(names));
            }
        }
        _ => {}
    }
}

/// A value as JSON; none where it has a number that would become another one.
fn exact(node: Node<'_>) -> Option<Value> {
    node.inexact().is_none().then(|| node.to_json())
}

fn is_small(example: &Value) -> bool {
    example.to_string().len() <= EXAMPLE_BYTES
}

/// `minimum: 1, exclusiveMinimum: true` is `exclusiveMinimum: 1`.
fn exclusive_bounds(schema: &mut Map<String, Value>) {
    for (bound, exclusive) in [
        ("minimum", "exclusiveMinimum"),
        ("maximum", "exclusiveMaximum"),
    ] {
        let Some(Value::Bool(is_exclusive)) = schema.get(exclusive) else {
            continue;
        };
        let is_exclusive = *is_exclusive;
        schema.shift_remove(exclusive);
        if is_exclusive && let Some(value) = schema.shift_remove(bound) {
            schema.insert(exclusive.to_owned(), value);
        }
    }
}

/// `nullable: true`.
fn with_null(mut schema: Map<String, Value>) -> Value {
    if let Some(Value::Array(values)) = schema.get_mut("enum")
        && !values.contains(&Value::Null)
    {
        values.push(Value::Null);
    }
    match schema.get_mut("type") {
        Some(Value::String(name)) => {
            let names = json!([name, "null"]);
            schema.insert("type".to_owned(), names);
        }
        Some(Value::Array(names)) => {
            if !names.iter().any(|name| name == "null") {
                names.push(json!("null"));
            }
        }
        _ => {
            let composed = ["allOf", "anyOf", "oneOf"];
            if composed.iter().any(|key| schema.contains_key(*key)) {
                return json!({"anyOf": [schema, {"type": "null"}]});
            }
        }
    }
    Value::Object(schema)
}
