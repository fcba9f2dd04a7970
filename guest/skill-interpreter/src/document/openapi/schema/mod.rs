//! Schemas of a description as JSON Schema 2020-12.
//!
//! A reference becomes one to `$defs`, where an operation has all that its schemas refer to. Each schema is converted once for
//! the description, however many operations use it, and its bytes count for each that does. The schema of a whole input or output
//! stands where the reference to it stood, so that its type and properties are seen there.

mod keywords;

use std::collections::BTreeMap;
use std::rc::Rc;

use serde_json::{Map, Value, json};

use super::reference::{Api, Version};
use crate::failure::{Code, Failure};
use kit::yaml::{self, Node};

/// Bytes of the schemas of one operation, `$defs` included: a description can refer to all of itself from each of its
/// operations.
const OPERATION_BYTES: usize = 256 << 10;
/// Bytes of the schemas of all operations.
const TOTAL_BYTES: usize = 2 << 20;

/// The schemas of a description.
#[derive(Debug)]
pub(super) struct Schemas<'t> {
    api: Api<'t>,
    /// What is left of [`TOTAL_BYTES`].
    left: usize,
    /// What was converted, by its node and what for.
    converted: BTreeMap<(u32, Purpose), Rc<Converted<'t>>>,
    /// Bytes of the schemas of the operation that is being built, and how many there may be.
    spent: usize,
    limit: usize,
    /// The names in `$defs`, by node.
    names: BTreeMap<u32, String>,
    /// The names that are taken, and the number that was last added to each.
    taken: BTreeMap<String, u32>,
    /// What was referred to since this was last emptied.
    referred: Vec<Node<'t>>,
}

/// What a schema is converted for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Purpose {
    /// As it is.
    Schema,
    /// For the keywords beside its reference.
    Beside,
    /// As a parameter of 2.0.
    Parameter,
}

/// A schema that was converted.
#[derive(Debug)]
struct Converted<'t> {
    /// A failure instead of one that is too large for any operation.
    schema: Result<Value, Failure>,
    bytes: usize,
    refers_to: Vec<Node<'t>>,
}

impl<'t> Schemas<'t> {
    /// Of a description.
    pub(super) fn new(api: Api<'t>) -> Self {
        Self {
            api,
            left: TOTAL_BYTES,
            converted: BTreeMap::new(),
            spent: 0,
            limit: 0,
            names: BTreeMap::new(),
            taken: BTreeMap::new(),
            referred: Vec::new(),
        }
    }

    /// Builds something of schemas, and what has to stand in `$defs` with it.
    ///
    /// # Errors
    ///
    /// `openapi-ref`, `openapi-remote-ref`, `limit`.
    pub(super) fn convert<T>(
        &mut self,
        build: impl FnOnce(&mut Self) -> Result<T, Failure>,
    ) -> Result<(T, Map<String, Value>), Failure> {
        self.referred.clear();
        self.spent = 0;
        self.limit = OPERATION_BYTES.min(self.left);
        let built = build(self)?;
        let mut waiting = std::mem::take(&mut self.referred);
        let mut needed: BTreeMap<u32, Rc<Converted<'t>>> = BTreeMap::new();
        while let Some(node) = waiting.pop() {
            if needed.contains_key(&node.identity()) {
                continue;
            }
            let definition = self.once(node, Purpose::Schema);
            self.spend(definition.bytes)?;
            waiting.extend_from_slice(&definition.refers_to);
            needed.insert(node.identity(), definition);
        }
        self.left = self.left.saturating_sub(self.spent);
        let named = needed.iter().map(|(identity, definition)| {
            let name = self.names.get(identity).cloned().unwrap_or_default();
            Ok((name, definition.schema.clone()?))
        });
        let sorted = named.collect::<Result<BTreeMap<_, _>, Failure>>()?;
        Ok((built, sorted.into_iter().collect()))
    }

    /// Counts bytes of the operation that is being built.
    fn spend(&mut self, bytes: usize) -> Result<(), Failure> {
        self.spent = self.spent.saturating_add(bytes);
        if self.spent > self.limit {
            return Err(Failure::exceeded("bytes of schemas", self.limit));
        }
        Ok(())
    }

    /// A schema, converted unless that was done before.
    fn once(&mut self, node: Node<'t>, purpose: Purpose) -> Rc<Converted<'t>> {
        let place = (node.identity(), purpose);
        if let Some(known) = self.converted.get(&place) {
            return Rc::clone(known);
        }
        let referred = std::mem::take(&mut self.referred);
        let mut schema = match purpose {
            Purpose::Schema => self.schema(node),
            Purpose::Beside => self.keywords(node, &["$ref"]),
            Purpose::Parameter => {
                self.keywords(node, &["name", "in", "required", "collectionFormat"])
            }
        };
        let bytes = schema.as_ref().map_or(0, |schema| schema.to_string().len());
        if bytes > OPERATION_BYTES {
            schema = Err(Failure::exceeded("bytes of schemas", OPERATION_BYTES));
        }
        let converted = Rc::new(Converted {
            schema,
            bytes,
            refers_to: std::mem::replace(&mut self.referred, referred),
        });
        self.converted.insert(place, Rc::clone(&converted));
        converted
    }

    /// A schema of the operation that is being built.
    fn counted(&mut self, node: Node<'t>, purpose: Purpose) -> Result<Value, Failure> {
        // Where nothing is left nothing is converted.
        self.spend(1)?;
        let converted = self.once(node, purpose);
        self.spend(converted.bytes)?;
        self.referred.extend_from_slice(&converted.refers_to);
        converted.schema.clone()
    }

    /// The schema of an input or an output: what a reference names stands in its place.
    ///
    /// # Errors
    ///
    /// `openapi-ref`, `openapi-remote-ref`, `limit`.
    pub(super) fn whole(&mut self, node: Node<'t>) -> Result<Value, Failure> {
        let Some(target) = self.api.target(node)? else {
            return self.counted(node, Purpose::Schema);
        };
        let schema = self.counted(self.api.resolve(target.node)?, Purpose::Schema)?;
        if self.api.version != Version::ThreeOne {
            return Ok(schema);
        }
        let beside = self.counted(node, Purpose::Beside)?;
        Ok(with_beside(schema, beside))
    }

    /// A parameter of 2.0, which is its schema as well.
    ///
    /// # Errors
    ///
    /// As [`Self::whole`].
    pub(super) fn parameter(&mut self, node: Node<'t>) -> Result<Value, Failure> {
        self.counted(node, Purpose::Parameter)
    }

    fn schema(&mut self, node: Node<'t>) -> Result<Value, Failure> {
        match node.value() {
            yaml::Value::Bool(value) => Ok(Value::Bool(value)),
            yaml::Value::Map => match self.api.target(node)? {
                Some(target) => {
                    let name = self.name(target.node, target.pointer);
                    let reference = json!({ "$ref": format!("#/$defs/{name}") });
                    self.referred.push(target.node);
                    if self.api.version != Version::ThreeOne {
                        return Ok(reference);
                    }
                    Ok(with_beside(reference, self.keywords(node, &["$ref"])?))
                }
                None => self.keywords(node, &[]),
            },
            // A file may be imperfect where it matters little: what is no schema restricts nothing.
            _ => Ok(json!({})),
        }
    }

    /// The name in `$defs` of what a pointer names: of two that are written alike, the later one gets a number.
    fn name(&mut self, node: Node<'t>, pointer: &str) -> String {
        if let Some(name) = self.names.get(&node.identity()) {
            return name.clone();
        }
        let wanted = plain_name(pointer);
        let mut name = wanted.clone();
        while self.taken.contains_key(&name) {
            let number = self.taken.entry(wanted.clone()).or_insert(1);
            *number = number.saturating_add(1);
            name = format!("{wanted}-{number}");
        }
        self.taken.insert(name.clone(), 1);
        self.names.insert(node.identity(), name.clone());
        name
    }
}

/// A schema with the keywords that stand beside a reference to it: since 3.1 they hold as well, before they were ignored.
fn with_beside(schema: Value, beside: Value) -> Value {
    let mut beside = match beside {
        Value::Object(beside) if !beside.is_empty() => beside,
        _ => return schema,
    };
    let is_constraint = |key: &String| !matches!(key.as_str(), "description" | "title");
    let schema = match schema {
        Value::Object(mut schema) if !beside.keys().any(is_constraint) => {
            schema.extend(beside);
            return Value::Object(schema);
        }
        schema => schema,
    };
    match beside.get_mut("allOf").and_then(Value::as_array_mut) {
        Some(all) => all.push(schema),
        None => {
            beside.insert("allOf".to_owned(), Value::Array(vec![schema]));
        }
    }
    Value::Object(beside)
}

/// A name for `$defs` that needs no escape in a reference: of a schema among others its own, else all of the pointer.
fn plain_name(pointer: &str) -> String {
    let own = ["/components/schemas/", "/definitions/"]
        .iter()
        .find_map(|before| pointer.strip_prefix(before))
        .filter(|name| !name.contains('/'));
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    own.unwrap_or(pointer.trim_start_matches('/'))
        .chars()
        .map(|c| if is_plain(c) { c } else { '_' })
        .collect()
}

/// The failure of what is not as a description has to be.
pub(super) fn malformed(node: Node<'_>, path: &str, expected: &str) -> Failure {
    let got = node.type_name();
    Failure::new(
        Code::Openapi,
        format!("{path}: expected {expected}, got {got}"),
    )
    .at_path(path)
    .at_line(node.line())
}
