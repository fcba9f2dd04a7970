//! JSON bodies: which members are inputs.

use serde_json::{Map, Value, json};

use super::credential;
use super::inputs::{InputRequest, Need};
use super::placeholder::{Place, scan};
use super::resolve::{Assembly, Position};
use super::secrets;
use crate::draft::{JsonDraft, Part, Template};
use crate::model::{Encoding, JsonMember, JsonNode, SecretKind, Segments};

/// What is within a value.
#[derive(Debug, Clone, Copy, Default)]
struct Holds {
    variable: bool,
    /// A string that mixes text and variables, or a file.
    mixture: bool,
    /// A secret, or a literal that may be one.
    secret: bool,
}

impl Holds {
    fn and(self, other: Self) -> Self {
        Self {
            variable: self.variable || other.variable,
            mixture: self.mixture || other.mixture,
            secret: self.secret || other.secret,
        }
    }
}

impl Assembly<'_> {
    /// The whole body.
    pub(super) fn json_body(&mut self, draft: JsonDraft) -> JsonNode {
        match self.prepared(draft) {
            JsonDraft::Object(members) => {
                let members = members
                    .into_iter()
                    .map(|(key, value)| JsonMember {
                        value: self.member(&key, &value),
                        key,
                    })
                    .collect();
                JsonNode::Object(members)
            }
            other => self.fixed("", &other),
        }
    }

    /// The value with its placeholders found and constants in their places.
    fn prepared(&self, draft: JsonDraft) -> JsonDraft {
        let template = |template: &Template| self.with_constants(&scan(template, Place::String));
        match draft {
            JsonDraft::Object(members) => JsonDraft::Object(
                members
                    .into_iter()
                    .map(|(key, value)| (key, self.prepared(value)))
                    .collect(),
            ),
            JsonDraft::Array(items) => {
                JsonDraft::Array(items.into_iter().map(|item| self.prepared(item)).collect())
            }
            JsonDraft::Text(text) => {
                let text = template(&text);
                text.as_literal()
                    .map_or(JsonDraft::Text(text), |text| JsonDraft::Value(text.into()))
            }
            JsonDraft::Any(text) => {
                let text = template(&text);
                // A constant in the place of a value: what it says as JSON, else a string.
                match text.as_literal() {
                    Some(text) => JsonDraft::Value(scalar_of(text)),
                    None if text.as_variable().is_some() => JsonDraft::Any(text),
                    None => JsonDraft::Text(text),
                }
            }
            other @ JsonDraft::Value(_) => other,
        }
    }

    /// A member of the body's object.
    fn member(&mut self, key: &str, value: &JsonDraft) -> JsonNode {
        let holds = self.holds(key, value);
        if holds.secret || holds.mixture {
            return self.fixed(key, value);
        }
        if let Some(node) = self.variable(key, value, Some(key)) {
            return node;
        }
        if self.inputs.are_declared() && !self.inputs.is_declared(key) {
            return self.fixed(key, value);
        }
        let request = InputRequest::new(key, "body", infer(value), Need::Required);
        let example = (!holds.variable).then(|| plain(value));
        JsonNode::Input(self.inputs.add(request.with_example(example)))
    }

    /// A value that stays as it is written, but for its variables and what may be a credential.
    fn fixed(&mut self, field: &str, value: &JsonDraft) -> JsonNode {
        match value {
            JsonDraft::Value(Value::String(text)) => self.literal_leaf(field, text),
            JsonDraft::Value(constant) => JsonNode::Value(constant.clone()),
            JsonDraft::Any(text) | JsonDraft::Text(text) => {
                if let Some(node) = self.variable(field, value, None) {
                    return node;
                }
                JsonNode::Text(self.segments(
                    text,
                    Encoding::JsonString,
                    Position::Body(field),
                    None,
                    escaped,
                ))
            }
            JsonDraft::Array(items) => {
                JsonNode::Array(items.iter().map(|item| self.fixed(field, item)).collect())
            }
            JsonDraft::Object(members) => {
                let members = members
                    .iter()
                    .map(|(key, value)| JsonMember {
                        key: key.clone(),
                        value: self.fixed(key, value),
                    })
                    .collect();
                JsonNode::Object(members)
            }
        }
    }

    /// The input of a value that is nothing but a variable, and no secret; `whole` is its name unless its own is declared.
    fn variable(
        &mut self,
        field: &str,
        value: &JsonDraft,
        whole: Option<&str>,
    ) -> Option<JsonNode> {
        let (text, schema) = match value {
            JsonDraft::Text(text) => (text, json!({"type": "string"})),
            JsonDraft::Any(text) => (text, json!({})),
            _ => return None,
        };
        let (variable, position) = (text.as_variable()?, Position::Body(field));
        let is_input = !self.is_secret(variable, position);
        is_input.then(|| JsonNode::Input(self.input(variable, position, whole, schema)))
    }

    /// A literal string.
    fn literal_leaf(&mut self, field: &str, text: &str) -> JsonNode {
        if let Some(secret) = self.literal_secret(Some(field), text, SecretKind::Body) {
            return JsonNode::Text(Segments::secret(secret, Encoding::JsonString));
        }
        if secrets::is_secret_field(field) {
            let schema = json!({"type": "string", "writeOnly": true});
            let request = InputRequest::new(field, "body", schema, Need::Required);
            return JsonNode::Input(self.inputs.add(request));
        }
        JsonNode::Value(text.into())
    }

    fn holds(&self, field: &str, value: &JsonDraft) -> Holds {
        match value {
            JsonDraft::Value(Value::String(text)) => Holds {
                secret: secrets::is_secret_field(field) || credential::looks_like_credential(text),
                ..Holds::default()
            },
            JsonDraft::Value(_) => Holds::default(),
            JsonDraft::Any(text) | JsonDraft::Text(text) => {
                let secret = text.parts.iter().any(|part| match part {
                    Part::Variable(variable) => self.is_secret(variable, Position::Body(field)),
                    Part::Literal(literal) => credential::looks_like_credential(&literal.text),
                });
                Holds {
                    variable: true,
                    mixture: text.as_variable().is_none(),
                    secret,
                }
            }
            JsonDraft::Array(items) => items
                .iter()
                .map(|item| self.holds(field, item))
                .fold(Holds::default(), Holds::and),
            JsonDraft::Object(members) => {
                let holds = members
                    .iter()
                    .map(|(key, value)| self.holds(key, value))
                    .fold(Holds::default(), Holds::and);
                Holds {
                    // Variables deep within refer to declared inputs by their own names.
                    mixture: holds.mixture || (holds.variable && self.inputs.are_declared()),
                    ..holds
                }
            }
        }
    }
}

/// The schema of what a document has in the place of an input.
fn infer(value: &JsonDraft) -> Value {
    match value {
        JsonDraft::Value(Value::String(_)) | JsonDraft::Text(_) => json!({"type": "string"}),
        JsonDraft::Value(Value::Bool(_)) => json!({"type": "boolean"}),
        JsonDraft::Value(Value::Number(number)) if number.is_f64() => json!({"type": "number"}),
        JsonDraft::Value(Value::Number(_)) => json!({"type": "integer"}),
        JsonDraft::Array(items) => match items.first() {
            Some(first) => json!({"type": "array", "items": infer(first)}),
            None => json!({"type": "array"}),
        },
        JsonDraft::Object(members) => {
            let properties: Map<String, Value> = members
                .iter()
                .map(|(key, value)| (key.clone(), infer(value)))
                .collect();
            let required: Vec<&str> = members.iter().map(|(key, _)| key.as_str()).collect();
            if required.is_empty() {
                json!({"type": "object"})
            } else {
                json!({"type": "object", "properties": properties, "required": required})
            }
        }
        _ => json!({}),
    }
}

/// A value without variables.
fn plain(value: &JsonDraft) -> Value {
    match value {
        JsonDraft::Value(value) => value.clone(),
        JsonDraft::Array(items) => items.iter().map(plain).collect(),
        JsonDraft::Object(members) => members
            .iter()
            .map(|(key, value)| (key.clone(), plain(value)))
            .collect::<Map<_, _>>()
            .into(),
        _ => Value::Null,
    }
}

/// A constant in the place of a value: a number or a keyword, else a string.
fn scalar_of(text: String) -> Value {
    match serde_json::from_str(&text) {
        Ok(value @ (Value::Bool(_) | Value::Number(_) | Value::Null)) => value,
        _ => Value::String(text),
    }
}

/// Text as it stands between the quotes of a JSON string.
fn escaped(text: &str) -> String {
    let quoted = Value::from(text).to_string();
    quoted
        .strip_prefix('"')
        .and_then(|inner| inner.strip_suffix('"'))
        .unwrap_or_default()
        .to_owned()
}
