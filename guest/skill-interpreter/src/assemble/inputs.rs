//! The inputs of an operation while it is assembled, and the schema they make (K-183, K-198 to K-203, K-207).

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use crate::draft::InputDeclaration;

/// K-201, K-206: what fits a place in a text.
pub(super) fn scalar() -> Value {
    json!({"type": ["string", "number", "boolean"]})
}

/// Whether a caller has to give an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Need {
    Required,
    Optional,
}

#[derive(Debug, Clone)]
struct Input {
    name: String,
    schema: Value,
    need: Need,
    /// Which variable it stands for; none for a literal that became an input.
    variable: Option<String>,
}

/// What is wished for an input.
#[derive(Debug)]
pub(super) struct Wish<'a> {
    /// Its name, if that is free.
    pub(super) name: &'a str,
    /// `path`, `query`, `header`, `body`: precedes its name if that is taken (K-183).
    pub(super) place: &'static str,
    /// The variable it stands for.
    pub(super) variable: Option<&'a str>,
    /// Its schema, unless one is declared.
    pub(super) schema: Value,
    /// Whether it is required, unless that is declared.
    pub(super) need: Need,
    /// What the document has in its place, for `examples` (K-199).
    pub(super) example: Option<Value>,
}

/// The inputs.
#[derive(Debug, Default)]
pub(super) struct Inputs {
    declared: Option<Map<String, Value>>,
    list: Vec<Input>,
    /// Where in `list` a name stands: a body may have very many members.
    positions: BTreeMap<String, usize>,
    /// Names of declared inputs that have a place.
    placed: BTreeSet<String>,
    examples: Map<String, Value>,
    files: BTreeMap<String, Need>,
    /// Their names in the order of the document.
    file_names: Vec<String>,
}

impl Inputs {
    pub(super) fn new(declaration: Option<&InputDeclaration>) -> Self {
        Self {
            declared: declaration.map(|declaration| declaration.schema.clone()),
            ..Self::default()
        }
    }

    /// Whether the document declares inputs.
    pub(super) fn are_declared(&self) -> bool {
        self.declared.is_some()
    }

    /// Whether the document declares this one.
    pub(super) fn is_declared(&self, name: &str) -> bool {
        self.declared_properties()
            .is_some_and(|properties| properties.contains_key(name))
    }

    /// Declared inputs that have no place yet, in the order of the document.
    pub(super) fn unplaced(&self) -> Vec<String> {
        self.declared_properties()
            .into_iter()
            .flat_map(Map::keys)
            .filter(|name| !self.placed.contains(name.as_str()))
            .cloned()
            .collect()
    }

    /// Says that a declared input has a place.
    pub(super) fn place(&mut self, name: &str) {
        self.placed.insert(name.to_owned());
    }

    /// Adds an input, or finds it again; its name in the schema.
    pub(super) fn add(&mut self, wish: Wish<'_>) -> String {
        let name = self.name(&wish);
        if let Some(example) = wish.example {
            self.examples.entry(name.clone()).or_insert(example);
        }
        if self.is_declared(&name) {
            self.place(&name);
        } else if let Some(known) = self
            .positions
            .get(&name)
            .and_then(|position| self.list.get_mut(*position))
        {
            if wish.need == Need::Required {
                known.need = Need::Required;
            }
        } else {
            self.positions.insert(name.clone(), self.list.len());
            self.list.push(Input {
                name: name.clone(),
                schema: wish.schema,
                need: wish.need,
                variable: wish.variable.map(str::to_owned),
            });
        }
        name
    }

    /// K-183: a name used in two places gets `<in>-<name>` for the later one. One variable is one input.
    fn name(&self, wish: &Wish<'_>) -> String {
        if self.is_declared(wish.name) {
            return wish.name.to_owned();
        }
        let fits = |name: &str| {
            self.positions
                .get(name)
                .and_then(|position| self.list.get(*position))
                .is_none_or(|input| {
                    input.variable.is_some() && input.variable.as_deref() == wish.variable
                })
                && !(self.is_declared(name) || name == "files")
        };
        if fits(wish.name) {
            return wish.name.to_owned();
        }
        let placed = format!("{}-{}", wish.place, wish.name);
        if fits(&placed) {
            return placed;
        }
        (2_u32..)
            .map(|count| format!("{placed}-{count}"))
            .find(|name| fits(name))
            .unwrap_or(placed)
    }

    /// K-207: adds a file of the call.
    pub(super) fn add_file(&mut self, name: &str, need: Need) {
        match self.files.get_mut(name) {
            Some(known) if need == Need::Required => *known = need,
            Some(_) => {}
            None => {
                self.files.insert(name.to_owned(), need);
                self.file_names.push(name.to_owned());
            }
        }
    }

    /// K-199: what the document has in the places of inputs.
    pub(super) fn examples(&self) -> &Map<String, Value> {
        &self.examples
    }

    /// K-203: the schema, an object without further properties.
    pub(super) fn schema(self) -> Value {
        let mut schema = self.declared.unwrap_or_default();
        schema.shift_remove("$schema");
        let mut properties = take_object(&mut schema, "properties");
        let mut required = match schema.shift_remove("required") {
            Some(Value::Array(names)) => names,
            _ => Vec::new(),
        };
        for input in self.list {
            if input.need == Need::Required {
                required.push(input.name.clone().into());
            }
            properties.insert(input.name, input.schema);
        }
        if !self.files.is_empty() {
            let needed: Vec<&String> = self
                .file_names
                .iter()
                .filter(|name| self.files.get(*name) == Some(&Need::Required))
                .collect();
            if !needed.is_empty() {
                required.push("files".into());
            }
            properties.insert("files".to_owned(), files_schema(&self.file_names, &needed));
        }
        let mut whole = Map::new();
        whole.insert("type".to_owned(), "object".into());
        whole.insert("properties".to_owned(), properties.into());
        if !required.is_empty() {
            whole.insert("required".to_owned(), required.into());
        }
        for (key, value) in schema {
            whole.entry(key).or_insert(value);
        }
        whole.insert("additionalProperties".to_owned(), false.into());
        whole.into()
    }

    fn declared_properties(&self) -> Option<&Map<String, Value>> {
        self.declared.as_ref()?.get("properties")?.as_object()
    }
}

fn take_object(map: &mut Map<String, Value>, key: &str) -> Map<String, Value> {
    match map.shift_remove(key) {
        Some(Value::Object(object)) => object,
        _ => Map::new(),
    }
}

/// K-207: `{name: {path} or {content-b64}}`.
fn files_schema(files: &[String], needed: &[&String]) -> Value {
    let file = json!({
        "type": "object",
        "properties": {"path": {"type": "string"}, "content-b64": {"type": "string"}},
        "minProperties": 1,
        "maxProperties": 1,
        "additionalProperties": false,
    });
    let properties: Map<String, Value> = files
        .iter()
        .map(|name| (name.clone(), file.clone()))
        .collect();
    let mut schema = json!({"type": "object", "properties": properties});
    if let Value::Object(schema) = &mut schema {
        if !needed.is_empty() {
            schema.insert("required".to_owned(), json!(needed));
        }
        schema.insert("additionalProperties".to_owned(), false.into());
    }
    schema
}
