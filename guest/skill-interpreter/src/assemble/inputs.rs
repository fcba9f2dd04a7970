//! The inputs of an operation while it is assembled, and the schema they make.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use crate::draft::InputDeclaration;

/// What fits a place in a text.
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

/// An input that a part of an operation needs.
#[derive(Debug)]
pub(super) struct InputRequest<'a> {
    name: &'a str,
    place: &'static str,
    variable: Option<&'a str>,
    schema: Value,
    need: Need,
    example: Option<Value>,
}

impl<'a> InputRequest<'a> {
    /// An input in the place of a literal. Its name is this one, if that is free, else the place (`query`, `body`, …) precedes
    /// it; its schema and whether it is required count unless the document declares it.
    pub(super) fn new(name: &'a str, place: &'static str, schema: Value, need: Need) -> Self {
        Self {
            name,
            place,
            variable: None,
            schema,
            need,
            example: None,
        }
    }

    /// The input stands for this variable: wherever that occurs it is the same one.
    pub(super) fn of_variable(self, variable: &'a str) -> Self {
        Self {
            variable: Some(variable),
            ..self
        }
    }

    /// The document has this in its place, for `examples`.
    pub(super) fn with_example(self, example: Option<Value>) -> Self {
        Self { example, ..self }
    }
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
    pub(super) fn add(&mut self, request: InputRequest<'_>) -> String {
        let name = self.name(&request);
        if let Some(example) = request.example {
            self.examples.entry(name.clone()).or_insert(example);
        }
        if self.is_declared(&name) {
            self.place(&name);
        } else if let Some(known) = self
            .positions
            .get(&name)
            .and_then(|position| self.list.get_mut(*position))
        {
            if request.need == Need::Required {
                known.need = Need::Required;
            }
        } else {
            self.positions.insert(name.clone(), self.list.len());
            self.list.push(Input {
                name: name.clone(),
                schema: request.schema,
                need: request.need,
                variable: request.variable.map(str::to_owned),
            });
        }
        name
    }

    /// A name used in two places gets `<in>-<name>` for the later one. One variable is one input.
    fn name(&self, request: &InputRequest<'_>) -> String {
        if self.is_declared(request.name) {
            return request.name.to_owned();
        }
        let fits = |name: &str| {
            self.positions
                .get(name)
                .and_then(|position| self.list.get(*position))
                .is_none_or(|input| {
                    input.variable.is_some() && input.variable.as_deref() == request.variable
                })
                && !(self.is_declared(name) || name == "files")
        };
        if fits(request.name) {
            return request.name.to_owned();
        }
        let placed = format!("{}-{}", request.place, request.name);
        if fits(&placed) {
            return placed;
        }
        (2_u32..)
            .map(|count| format!("{placed}-{count}"))
            .find(|name| fits(name))
            .unwrap_or(placed)
    }

    /// Adds a file of the call.
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

    /// What the document has in the places of inputs.
    pub(super) fn examples(&self) -> &Map<String, Value> {
        &self.examples
    }

    /// The schema, an object without further properties.
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

/// `{name: {path} or {content-b64}}`.
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
