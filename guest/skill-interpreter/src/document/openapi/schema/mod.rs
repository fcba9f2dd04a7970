//! Schemas of a description as JSON Schema 2020-12 (K-181, K-183).
//!
//! What a reference names is put in its place, so that a schema can be read on its own. What contains itself stands in
//! `$defs`; and where an operation would become too large with everything in its place, all that it refers to does.
//!
//! A description of 1 MiB can refer to all of itself from each of its operations. So what a schema takes in memory is
//! estimated while it is made and bounded for each operation and for all; and what stands in `$defs` is converted once for
//! the description, so that an operation only gathers what it needs.

mod keywords;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde_json::{Map, Value, json};

use super::reference::{Api, Target, Version};
use crate::document::tree::{self, Node};
use crate::failure::{Code, Failure};
use crate::limits::{self, REFERENCE_DEPTH};

/// What a key or an item takes in memory, about, besides its text, in bytes.
const NODE_BYTES: usize = 160;
/// What one operation may take with everything in its place.
const INLINE_BYTES: usize = 64 << 10;
/// What one operation may take with `$defs`.
const OPERATION_BYTES: usize = 1 << 20;
/// What all operations may take. The component has 64 MiB (K-03), and an answer is held more than once.
const TOTAL_BYTES: usize = 8 << 20;
/// Schemas within each other, in place; twice as many collections of JSON.
const INLINE_DEPTH: usize = 40;

/// The schemas of a description.
#[derive(Debug)]
pub(super) struct Schemas<'t> {
    api: Api<'t>,
    /// What is left of [`TOTAL_BYTES`].
    left: usize,
    /// What each reference that was followed names, by the reference's node.
    targets: BTreeMap<u32, Target<'t>>,
    /// What may stand in `$defs`, by its node.
    definitions: BTreeMap<u32, Definition>,
    /// Their names.
    names: BTreeMap<u32, String>,
    /// The names that are taken, and the number that was last added to each.
    taken: BTreeMap<String, u32>,
}

/// A schema that refers to others by their names in `$defs`.
#[derive(Debug)]
struct Definition {
    schema: Result<Value, Failure>,
    bytes: usize,
    refers_to: Vec<u32>,
}

/// Converts the schemas of one operation.
#[derive(Debug)]
pub(super) struct Converter<'s, 't> {
    schemas: &'s mut Schemas<'t>,
    references: References,
    /// In place: what is being put in its place, outermost first.
    stack: Vec<u32>,
    /// In place: what was found to contain itself, with its schema once that is made.
    cyclic: BTreeMap<u32, Value>,
    /// By name: what is referred to.
    refers_to: Vec<Node<'t>>,
    spent: usize,
    limit: usize,
}

/// What becomes of references.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum References {
    /// What they name is put in their place.
    InPlace,
    /// They stay, and what they name stands in `$defs`.
    ByName,
}

/// Why a schema was not converted.
#[derive(Debug)]
pub(super) enum Stop {
    /// It takes more than it may.
    TooLarge,
    /// It cannot be read at all.
    Failure(Failure),
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Self {
        Self::Failure(failure)
    }
}

impl<'t> Schemas<'t> {
    /// Of a description.
    pub(super) fn new(api: Api<'t>) -> Self {
        Self {
            api,
            left: TOTAL_BYTES,
            targets: BTreeMap::new(),
            definitions: BTreeMap::new(),
            names: BTreeMap::new(),
            taken: BTreeMap::new(),
        }
    }

    /// Builds something of schemas, and what has to stand in `$defs` with it.
    ///
    /// # Errors
    ///
    /// `openapi-ref`, `openapi-remote-ref`, `limit`.
    pub(super) fn convert<T>(
        &mut self,
        build: impl Fn(&mut Converter<'_, 't>) -> Result<T, Stop>,
    ) -> Result<(T, Map<String, Value>), Failure> {
        let mut in_place = Converter::new(self, References::InPlace, INLINE_BYTES);
        match build(&mut in_place) {
            Ok(built) => {
                let (cyclic, spent) = (in_place.cyclic, in_place.spent);
                self.left = self.left.saturating_sub(spent);
                let named = cyclic
                    .into_iter()
                    .map(|(node, schema)| (self.name_of(node), schema));
                return Ok((built, sorted(named)));
            }
            Err(Stop::Failure(failure)) => return Err(failure),
            Err(Stop::TooLarge) => {}
        }
        let mut by_name = Converter::new(self, References::ByName, OPERATION_BYTES);
        let built = build(&mut by_name);
        let (refers_to, spent) = (by_name.refers_to, by_name.spent);
        let gathered = built.and_then(|built| Ok((built, self.gather(refers_to, spent)?)));
        gathered.map_err(|stop| match stop {
            Stop::Failure(failure) => failure,
            Stop::TooLarge => limits::exceeded("bytes of schemas", OPERATION_BYTES.min(self.left)),
        })
    }

    /// `$defs`: what is referred to, and what that refers to.
    fn gather(&mut self, first: Vec<Node<'t>>, spent: usize) -> Result<Map<String, Value>, Stop> {
        let limit = OPERATION_BYTES.min(self.left);
        let mut bytes = spent;
        let mut gathered: BTreeSet<u32> = first.iter().map(Node::identity).collect();
        let mut waiting: VecDeque<(u32, usize)> = VecDeque::new();
        for node in first {
            self.define(node);
            waiting.push_back((node.identity(), 1));
        }
        // The nearest first, so that each is counted by its shortest way.
        while let Some((identity, deep)) = waiting.pop_front() {
            let Some(definition) = self.definitions.get(&identity) else {
                continue;
            };
            if let Err(failure) = &definition.schema {
                return Err(failure.clone().into());
            }
            // K-181
            if deep > REFERENCE_DEPTH {
                return Err(limits::exceeded("$ref within $ref", REFERENCE_DEPTH).into());
            }
            bytes = bytes.saturating_add(definition.bytes);
            if bytes > limit {
                return Err(Stop::TooLarge);
            }
            let next = definition
                .refers_to
                .iter()
                .filter(|next| gathered.insert(**next));
            waiting.extend(next.map(|next| (*next, deep.saturating_add(1))));
        }
        self.left = self.left.saturating_sub(bytes);
        let named = gathered.iter().map(|identity| {
            let definition = self.definitions.get(identity);
            let schema = definition.and_then(|definition| definition.schema.as_ref().ok());
            let name = self.names.get(identity).cloned().unwrap_or_default();
            (name, schema.cloned().unwrap_or_default())
        });
        Ok(sorted(named))
    }

    /// Converts a schema for `$defs` and all that it refers to, unless that was done before.
    fn define(&mut self, node: Node<'t>) {
        let mut waiting = vec![node];
        while let Some(node) = waiting.pop() {
            if self.definitions.contains_key(&node.identity()) {
                continue;
            }
            // A schema alone is not larger than the document.
            let mut converter = Converter::new(self, References::ByName, usize::MAX);
            let schema = converter.schema(node);
            let (refers_to, bytes) = (converter.refers_to, converter.spent);
            let schema = schema.map_err(|stop| match stop {
                Stop::Failure(failure) => failure,
                Stop::TooLarge => limits::exceeded("bytes of schemas", OPERATION_BYTES),
            });
            let definition = Definition {
                schema,
                bytes,
                refers_to: refers_to.iter().map(Node::identity).collect(),
            };
            self.definitions.insert(node.identity(), definition);
            waiting.extend(refers_to);
        }
    }

    /// What a value refers to, one step.
    fn target(&mut self, node: Node<'t>) -> Result<Option<Target<'t>>, Failure> {
        let Some(reference) = node.get("$ref") else {
            return Ok(None);
        };
        if let Some(target) = self.targets.get(&reference.identity()) {
            return Ok(Some(*target));
        }
        let target = self.api.target(node)?;
        if let Some(target) = target {
            self.targets.insert(reference.identity(), target);
            if !self.names.contains_key(&target.node.identity()) {
                let name = self.free_name(&plain_name(target.pointer));
                self.names.insert(target.node.identity(), name);
            }
        }
        Ok(target)
    }

    fn free_name(&mut self, wanted: &str) -> String {
        let mut name = wanted.to_owned();
        while self.taken.contains_key(&name) {
            let number = self.taken.entry(wanted.to_owned()).or_insert(1);
            *number = number.saturating_add(1);
            name = format!("{wanted}-{number}");
        }
        self.taken.insert(name.clone(), 1);
        name
    }

    fn name_of(&self, identity: u32) -> String {
        self.names.get(&identity).cloned().unwrap_or_default()
    }
}

fn sorted(named: impl Iterator<Item = (String, Value)>) -> Map<String, Value> {
    let named: BTreeMap<String, Value> = named.collect();
    named.into_iter().collect()
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

impl<'s, 't> Converter<'s, 't> {
    fn new(schemas: &'s mut Schemas<'t>, references: References, limit: usize) -> Self {
        let limit = match limit {
            usize::MAX => usize::MAX,
            limit => limit.min(schemas.left),
        };
        Self {
            schemas,
            references,
            stack: Vec::new(),
            cyclic: BTreeMap::new(),
            refers_to: Vec::new(),
            spent: 0,
            limit,
        }
    }

    /// One schema.
    ///
    /// # Errors
    ///
    /// `openapi-ref`, `openapi-remote-ref`, `limit`.
    pub(super) fn schema(&mut self, node: Node<'t>) -> Result<Value, Stop> {
        self.nested(node, 0)
    }

    /// A parameter of 2.0, which is its schema as well.
    ///
    /// # Errors
    ///
    /// As [`Self::schema`].
    pub(super) fn parameter(&mut self, node: Node<'t>) -> Result<Value, Stop> {
        self.keywords(node, 0, &["name", "in", "required", "collectionFormat"])
    }

    fn nested(&mut self, node: Node<'t>, depth: usize) -> Result<Value, Stop> {
        if self.references == References::InPlace && depth > INLINE_DEPTH {
            return Err(Stop::TooLarge);
        }
        self.spend(NODE_BYTES)?;
        match node.value() {
            tree::Value::Bool(value) => Ok(Value::Bool(value)),
            tree::Value::Map => match self.schemas.target(node)? {
                Some(target) => self.reference(node, target.node, depth),
                None => self.keywords(node, depth, &[]),
            },
            // A file may be imperfect where it matters little: what is no schema restricts nothing.
            _ => Ok(json!({})),
        }
    }

    fn reference(&mut self, node: Node<'t>, target: Node<'t>, depth: usize) -> Result<Value, Stop> {
        let schema = match self.references {
            References::InPlace => self.in_place(target, depth)?,
            References::ByName => {
                self.refers_to.push(target);
                self.by_name(target)
            }
        };
        // 3.1: keywords beside a reference hold as well. Before, they were ignored.
        if self.schemas.api.version != Version::ThreeOne {
            return Ok(schema);
        }
        let mut beside = match self.keywords(node, depth, &["$ref"])? {
            Value::Object(beside) if !beside.is_empty() => beside,
            _ => return Ok(schema),
        };
        let is_constraint = |key: &String| !matches!(key.as_str(), "description" | "title");
        if let Value::Object(schema) = &schema
            && !beside.keys().any(is_constraint)
        {
            let mut schema = schema.clone();
            schema.extend(beside);
            return Ok(Value::Object(schema));
        }
        match beside.get_mut("allOf").and_then(Value::as_array_mut) {
            Some(all) => all.push(schema),
            None => {
                beside.insert("allOf".to_owned(), Value::Array(vec![schema]));
            }
        }
        Ok(Value::Object(beside))
    }

    fn in_place(&mut self, target: Node<'t>, depth: usize) -> Result<Value, Stop> {
        let identity = target.identity();
        if self.stack.contains(&identity) {
            self.cyclic.entry(identity).or_default();
        }
        if self.cyclic.contains_key(&identity) {
            return Ok(self.by_name(target));
        }
        // By another way it may be less deep: that is found where references stay.
        if self.stack.len() >= REFERENCE_DEPTH {
            return Err(Stop::TooLarge);
        }
        self.stack.push(identity);
        let schema = self.nested(target, depth.saturating_add(1));
        self.stack.pop();
        let schema = schema?;
        match self.cyclic.get_mut(&identity) {
            None => Ok(schema),
            Some(definition) => {
                *definition = schema;
                Ok(self.by_name(target))
            }
        }
    }

    fn by_name(&self, target: Node<'t>) -> Value {
        let name = self.schemas.name_of(target.identity());
        json!({ "$ref": format!("#/$defs/{name}") })
    }

    fn spend(&mut self, bytes: usize) -> Result<(), Stop> {
        self.spent = self.spent.saturating_add(bytes);
        if self.spent > self.limit {
            return Err(Stop::TooLarge);
        }
        Ok(())
    }
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
