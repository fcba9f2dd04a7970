//! The keywords of a schema, each as it is in JSON Schema 2020-12 (K-183).

use serde_json::{Map, Value, json};

use super::{Converter, NODE_BYTES, Stop, Version};
use crate::document::schema_keyword::{Keyword, keyword};
use crate::document::tree::{self, Node};

/// Nodes of an example that is worth keeping.
const EXAMPLE_NODES: usize = 200;

impl<'t> Converter<'_, 't> {
    pub(super) fn keywords(
        &mut self,
        node: Node<'t>,
        depth: usize,
        without: &[&str],
    ) -> Result<Value, Stop> {
        let mut schema = Map::new();
        let mut nullable = false;
        for (key, value) in node.entries() {
            if without.contains(&key.text) {
                continue;
            }
            self.spend(NODE_BYTES.saturating_add(key.text.len()))?;
            match key.text {
                "type" => self.set_type(value, &mut schema)?,
                "nullable" => nullable = matches!(value.value(), tree::Value::Bool(true)),
                "properties" => {
                    let properties = self.map_of_schemas(value, depth)?;
                    schema.insert("properties".to_owned(), properties);
                }
                "items" if value.is_list() => {
                    let items = self.list_of_schemas(value, depth)?;
                    schema.insert("prefixItems".to_owned(), items);
                }
                "items" => {
                    let items = self.nested(value, depth.saturating_add(1))?;
                    schema.insert("items".to_owned(), items);
                }
                "required" => {
                    let names: Vec<&str> = value.items().filter_map(|n| n.as_text()).collect();
                    if !names.is_empty() {
                        self.spend_nodes(value)?;
                        schema.insert("required".to_owned(), json!(names));
                    }
                }
                "example" if self.is_small(value) && !schema.contains_key("examples") => {
                    self.spend_nodes(value)?;
                    schema.insert("examples".to_owned(), json!([value.to_json()]));
                }
                _ => {
                    if let Some(kind) = keyword(key.text)
                        && let Some(value) = self.keyword(kind, key.text, value, depth)?
                    {
                        schema.insert(key.text.to_owned(), value);
                    }
                }
            }
        }
        exclusive_bounds(&mut schema);
        if nullable && self.schemas.api.version != Version::ThreeOne {
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
        depth: usize,
    ) -> Result<Option<Value>, Stop> {
        Ok(match (kind, value.value()) {
            (Keyword::Schema, tree::Value::Bool(flag)) => Some(Value::Bool(flag)),
            (Keyword::Schema, tree::Value::Map) => {
                Some(self.nested(value, depth.saturating_add(1))?)
            }
            (Keyword::Schemas, tree::Value::List) if value.items().next().is_some() => {
                Some(self.list_of_schemas(value, depth)?)
            }
            // References go to the whole document, so that definitions within a schema are found from there.
            (Keyword::SchemaMap, tree::Value::Map) if !matches!(name, "$defs" | "definitions") => {
                Some(self.map_of_schemas(value, depth)?)
            }
            (Keyword::Count, tree::Value::Integer(_)) => {
                Some(value.to_json()).filter(Value::is_u64)
            }
            (Keyword::Number, tree::Value::Integer(_) | tree::Value::Number(_)) => {
                Some(value.to_json()).filter(Value::is_number)
            }
            // 2.0 and 3.0: of a bound, whether it is itself excluded.
            (Keyword::Number, tree::Value::Bool(flag)) if name.starts_with("exclusive") => {
                Some(Value::Bool(flag))
            }
            (Keyword::Text, tree::Value::Text(text)) => {
                self.spend(text.len())?;
                Some(json!(text))
            }
            (Keyword::Flag, tree::Value::Bool(flag)) => Some(Value::Bool(flag)),
            (Keyword::Values, tree::Value::List) if name == "examples" => {
                if !self.is_small(value) {
                    return Ok(None);
                }
                self.spend_nodes(value)?;
                Some(value.to_json())
            }
            (Keyword::Values, tree::Value::List) | (Keyword::Data, _) => {
                self.spend_nodes(value)?;
                Some(value.to_json())
            }
            _ => None,
        })
    }

    fn map_of_schemas(&mut self, node: Node<'t>, depth: usize) -> Result<Value, Stop> {
        let mut map = Map::new();
        for (key, value) in node.entries() {
            self.spend(key.text.len())?;
            let schema = self.nested(value, depth.saturating_add(1))?;
            map.insert(key.text.to_owned(), schema);
        }
        Ok(Value::Object(map))
    }

    fn list_of_schemas(&mut self, node: Node<'t>, depth: usize) -> Result<Value, Stop> {
        node.items()
            .map(|item| self.nested(item, depth.saturating_add(1)))
            .collect::<Result<Vec<_>, _>>()
            .map(Value::Array)
    }

    fn set_type(&mut self, node: Node<'t>, schema: &mut Map<String, Value>) -> Result<(), Stop> {
        let is_type = |name: &str| {
            matches!(
                name,
                "string" | "integer" | "number" | "boolean" | "array" | "object" | "null"
            )
        };
        match node.value() {
            // 2.0: bytes of a form part.
            tree::Value::Text("file") => {
                schema.insert("type".to_owned(), json!("string"));
                schema.insert("format".to_owned(), json!("binary"));
            }
            tree::Value::Text(name) if is_type(name) => {
                schema.insert("type".to_owned(), json!(name));
            }
            tree::Value::List => {
                let mut names: Vec<&str> = node.items().filter_map(|n| n.as_text()).collect();
                names.retain(|name| is_type(name));
                names.sort_unstable();
                names.dedup();
                if !names.is_empty() {
                    self.spend_nodes(node)?;
                    schema.insert("type".to_owned(), json!(names));
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn is_small(&self, node: Node<'t>) -> bool {
        let mut left = EXAMPLE_NODES;
        count(node, &mut left, &mut 0);
        left > 0
    }

    /// What a value takes that is copied as it is.
    fn spend_nodes(&mut self, node: Node<'t>) -> Result<(), Stop> {
        let room = self.limit.saturating_sub(self.spent) / NODE_BYTES;
        let (mut left, mut text) = (room.saturating_add(1), 0);
        count(node, &mut left, &mut text);
        let nodes = room.saturating_add(1).saturating_sub(left);
        self.spend(nodes.saturating_mul(NODE_BYTES).saturating_add(text))
    }
}

/// Takes a node and all below from `left`, until nothing is left; and adds up their texts.
fn count(node: Node<'_>, left: &mut usize, text: &mut usize) {
    *left = left.saturating_sub(1);
    if let Some(own) = node.as_text() {
        *text = text.saturating_add(own.len());
    }
    for item in node.items() {
        if *left == 0 {
            return;
        }
        count(item, left, text);
    }
    for (key, value) in node.entries() {
        if *left == 0 {
            return;
        }
        *text = text.saturating_add(key.text.len());
        count(value, left, text);
    }
}

/// K-183: `minimum: 1, exclusiveMinimum: true` is `exclusiveMinimum: 1`.
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

/// K-183: `nullable: true`.
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
