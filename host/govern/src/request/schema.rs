//! JSON Schema 2020-12 of a document that nobody vouches for.
//!
//! A schema is a program: references multiply, patterns backtrack. What it costs is bounded before it is compiled, and
//! again before it is applied to a value; nothing is ever fetched for it.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};

use crate::failure::{Code, Failure};
use crate::locked;

/// Subschemas, references followed.
const COMPILED: u64 = 50_000;
/// Patterns; compiling one may take a millisecond.
const PATTERNS: u64 = 100;
/// Bytes of a compiled pattern.
const PATTERN_BYTES: usize = 256 << 10;
/// Steps back of one match.
const BACKTRACKS: usize = 10_000;
/// Applications of a subschema to a value.
const APPLIED: u64 = 1_000_000;
/// What one match counts.
const MATCH: u64 = 200;
/// Subschemas within each other, references followed.
const DEPTH: u32 = 256;

/// Keywords whose value is one schema.
const ONE: [&str; 12] = [
    "not",
    "if",
    "then",
    "else",
    "items",
    "contains",
    "additionalProperties",
    "additionalItems",
    "propertyNames",
    "unevaluatedItems",
    "unevaluatedProperties",
    "contentSchema",
];
/// Keywords whose value is a list of schemas.
const LIST: [&str; 4] = ["allOf", "anyOf", "oneOf", "prefixItems"];
/// Keywords whose value is an object of schemas.
const MAP: [&str; 6] = [
    "properties",
    "patternProperties",
    "dependentSchemas",
    "dependencies",
    "$defs",
    "definitions",
];

/// Keywords whose schemas are applied to the value itself.
const IN_PLACE: [&str; 9] = [
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "then",
    "else",
    "dependentSchemas",
    "dependencies",
];

/// Schemas that [`Schemas`] keeps.
const KEPT: usize = 32;
/// Bytes of one, and its subschemas with references followed, at most.
const KEPT_BYTES: usize = 4096;
const KEPT_COMPILED: u64 = 1024;

/// Schemas that were compiled for earlier calls. They are found by all that they say: one that is kept is the same one.
#[derive(Default)]
pub struct Schemas(Mutex<VecDeque<Arc<Schema>>>);

impl Schemas {
    /// As [`Schema::compile`].
    ///
    /// # Errors
    ///
    /// As [`Schema::compile`].
    pub fn compiled(&self, root: &Value) -> Result<Arc<Schema>, Failure> {
        let kept = || locked(&self.0);
        if let Some(known) = kept().iter().find(|known| known.root == *root) {
            return Ok(Arc::clone(known));
        }
        let schema = Arc::new(Schema::compile(root)?);
        if schema.is_small() {
            let mut kept = kept();
            kept.truncate(KEPT - 1);
            kept.push_front(Arc::clone(&schema));
        }
        Ok(schema)
    }
}

/// A schema that can be applied.
pub struct Schema {
    root: Value,
    validator: jsonschema::Validator,
    /// Subschemas, references followed.
    compiled: u64,
    has_patterns: bool,
}

impl Schema {
    /// Reads a schema.
    ///
    /// # Errors
    ///
    /// `schema` where it is none, or refers to anything but a place in itself; `limit` where it is too much.
    pub fn compile(root: &Value) -> Result<Self, Failure> {
        let mut size = Size {
            root,
            left: COMPILED,
            patterns: PATTERNS,
            stack: Vec::new(),
        };
        size.visit(root, 0, 0)?;
        let validator = jsonschema::options()
            .with_draft(jsonschema::Draft::Draft202012)
            .offline()
            .with_pattern_options(
                jsonschema::PatternOptions::fancy_regex()
                    .backtrack_limit(BACKTRACKS)
                    .size_limit(PATTERN_BYTES)
                    .dfa_size_limit(PATTERN_BYTES),
            )
            .build(root)
            .map_err(|_| refused("it cannot be applied"))?;
        Ok(Self {
            root: root.clone(),
            validator,
            compiled: COMPILED.saturating_sub(size.left),
            has_patterns: size.patterns < PATTERNS,
        })
    }

    /// Whether it takes so little memory that it may be kept.
    fn is_small(&self) -> bool {
        !self.has_patterns
            && self.compiled <= KEPT_COMPILED
            && serde_json::to_vec(&self.root).is_ok_and(|bytes| bytes.len() <= KEPT_BYTES)
    }

    /// Checks a value.
    ///
    /// # Errors
    ///
    /// `invalid-input` with the path of what does not fit, without its value; `limit`.
    pub fn check(&self, value: &Value) -> Result<(), Failure> {
        let mut cost = Cost {
            root: &self.root,
            left: APPLIED,
        };
        cost.visit(&self.root, value, 0)?;
        let Err(error) = self.validator.validate(value) else {
            return Ok(());
        };
        let mut path: Vec<String> = error
            .instance_path()
            .as_str()
            .split('/')
            .skip(1)
            .map(|step| step.replace("~1", "/").replace("~0", "~"))
            .collect();
        use jsonschema::error::ValidationErrorKind as Kind;
        match error.kind() {
            Kind::AdditionalProperties { unexpected }
            | Kind::UnevaluatedProperties { unexpected } => {
                path.extend(unexpected.first().cloned());
            }
            Kind::Required { property } => path.extend(property.as_str().map(str::to_owned)),
            _ => {}
        }
        let message: String = error.masked().to_string().chars().take(120).collect();
        let path: String = path.join(".").chars().take(120).collect();
        let failure = Failure::new(Code::InvalidInput, message);
        Err(if path.is_empty() {
            failure
        } else {
            failure.at_path(path)
        })
    }
}

fn refused(why: &str) -> Failure {
    Failure::new(Code::Schema, format!("the schema: {why}"))
}

fn exceeded(what: &str) -> Failure {
    Failure::new(
        Code::Limit,
        format!("the schema is too much to apply: {what}"),
    )
}

/// What a reference names; none if the schema has none.
fn referenced<'s>(
    root: &'s Value,
    schema: &'s Map<String, Value>,
) -> Result<Option<&'s Value>, Failure> {
    let Some(reference) = schema.get("$ref") else {
        return Ok(None);
    };
    let fragment = reference
        .as_str()
        .and_then(|reference| reference.strip_prefix('#'))
        .ok_or_else(|| refused("$ref to another document"))?;
    let pointer = percent_decode_str(fragment)
        .decode_utf8()
        .map_err(|_| refused("$ref names nothing"))?;
    if !(pointer.is_empty() || pointer.starts_with('/')) {
        return Err(refused("$ref by anchor"));
    }
    root.pointer(&pointer)
        .map(Some)
        .ok_or_else(|| refused("$ref names nothing"))
}

/// How much there is to compile, each reference followed but on a way that it was followed on already.
struct Size<'s> {
    root: &'s Value,
    left: u64,
    patterns: u64,
    /// Schemas that a reference led to, and how far down in a value.
    stack: Vec<(*const Value, u32)>,
}

impl<'s> Size<'s> {
    /// `down`: how many members and items down in a value the schema is applied.
    fn visit(&mut self, schema: &'s Value, depth: u32, down: u32) -> Result<(), Failure> {
        self.left = self
            .left
            .checked_sub(1)
            .ok_or_else(|| exceeded("too many subschemas"))?;
        if depth > DEPTH {
            return Err(exceeded("nested too deeply"));
        }
        let Value::Object(members) = schema else {
            return Ok(());
        };
        // Both would give `#` another meaning below.
        let is_root = std::ptr::eq(schema, self.root);
        if members.contains_key("$id") && !is_root || members.contains_key("$dynamicRef") {
            return Err(refused("$id and $dynamicRef are not supported"));
        }
        let patterns = members
            .get("patternProperties")
            .and_then(Value::as_object)
            .map_or(0, Map::len)
            .saturating_add(usize::from(members.contains_key("pattern")));
        self.patterns = self
            .patterns
            .checked_sub(u64::try_from(patterns).unwrap_or(u64::MAX))
            .ok_or_else(|| exceeded("too many patterns"))?;
        let deeper = depth.saturating_add(1);
        if let Some(target) = referenced(self.root, members)? {
            let identity = std::ptr::from_ref(target);
            match self.stack.iter().find(|(known, _)| *known == identity) {
                // No value has an end at which it would be left.
                Some((_, known)) if *known == down => {
                    return Err(refused("a $ref leads back to itself"));
                }
                Some(_) => {}
                None => {
                    self.stack.push((identity, down));
                    self.visit(target, deeper, down)?;
                    self.stack.pop();
                }
            }
        }
        for (keyword, below) in subschemas(members) {
            let down = down.saturating_add(u32::from(!IN_PLACE.contains(&keyword)));
            self.visit(below, deeper, down)?;
        }
        Ok(())
    }
}

/// Every schema directly below one, with its keyword.
fn subschemas(members: &Map<String, Value>) -> impl Iterator<Item = (&str, &Value)> {
    members.iter().flat_map(|(keyword, value)| {
        let keyword = keyword.as_str();
        let one = ONE
            .contains(&keyword)
            .then_some(value)
            .filter(|value| !value.is_array());
        // `items` of older drafts is a list.
        let list = (LIST.contains(&keyword) || ONE.contains(&keyword))
            .then(|| value.as_array())
            .flatten();
        let map = MAP
            .contains(&keyword)
            .then(|| value.as_object())
            .flatten()
            .map(Map::values);
        one.into_iter()
            .chain(list.into_iter().flatten())
            .chain(map.into_iter().flatten())
            .map(move |below| (keyword, below))
    })
}

/// How much it is to apply a schema to a value, if nothing ends early. Keywords are looked up by name and members by those of
/// the value: what else a schema holds, such as thousands of definitions, is not walked for every value.
struct Cost<'s> {
    root: &'s Value,
    left: u64,
}

impl Cost<'_> {
    fn spend(&mut self, cost: u64) -> Result<(), Failure> {
        self.left = self
            .left
            .checked_sub(cost)
            .ok_or_else(|| exceeded("too many steps for these params"))?;
        Ok(())
    }

    fn visit(&mut self, schema: &Value, value: &Value, depth: u32) -> Result<(), Failure> {
        self.spend(1)?;
        if depth > DEPTH {
            return Err(exceeded("nested too deeply"));
        }
        let Value::Object(members) = schema else {
            return Ok(());
        };
        let deeper = depth.saturating_add(1);
        if let Some(target) = referenced(self.root, members)? {
            self.visit(target, value, deeper)?;
        }
        // What is not evaluated is known once everything in place was applied again.
        let again = members.contains_key("unevaluatedProperties")
            || members.contains_key("unevaluatedItems");
        for _ in 0..=u8::from(again) {
            self.in_place(members, value, deeper)?;
        }
        if let Some(choices) = members.get("enum").and_then(Value::as_array) {
            self.spend(length(choices.len()))?;
        }
        match value {
            Value::String(text) if members.contains_key("pattern") => {
                self.spend(MATCH.saturating_add(length(text.len()) / 64))
            }
            Value::Object(object) => self.object(members, object, deeper),
            Value::Array(items) => self.array(members, items, deeper),
            _ => Ok(()),
        }
    }

    fn in_place(
        &mut self,
        members: &Map<String, Value>,
        value: &Value,
        depth: u32,
    ) -> Result<(), Failure> {
        for keyword in ["allOf", "anyOf", "oneOf"] {
            for schema in members
                .get(keyword)
                .and_then(Value::as_array)
                .into_iter()
                .flatten()
            {
                self.visit(schema, value, depth)?;
            }
        }
        for keyword in ["not", "if", "then", "else"] {
            if let Some(schema) = members.get(keyword) {
                self.visit(schema, value, depth)?;
            }
        }
        for keyword in ["dependentSchemas", "dependencies"] {
            for schema in members
                .get(keyword)
                .and_then(Value::as_object)
                .into_iter()
                .flat_map(Map::values)
            {
                self.visit(schema, value, depth)?;
            }
        }
        Ok(())
    }

    fn object(
        &mut self,
        members: &Map<String, Value>,
        object: &Map<String, Value>,
        depth: u32,
    ) -> Result<(), Failure> {
        let schemas = |keyword: &str| members.get(keyword).and_then(Value::as_object);
        let properties = schemas("properties");
        let patterns = schemas("patternProperties");
        let others = ["additionalProperties", "unevaluatedProperties"];
        for (name, value) in object {
            if let Some(schema) = properties.and_then(|known| known.get(name)) {
                self.visit(schema, value, depth)?;
            }
            for schema in patterns.into_iter().flat_map(Map::values) {
                self.spend(MATCH.saturating_add(length(name.len()) / 64))?;
                self.visit(schema, value, depth)?;
            }
            for schema in others.iter().filter_map(|keyword| members.get(*keyword)) {
                self.visit(schema, value, depth)?;
            }
            if let Some(schema) = members.get("propertyNames") {
                self.visit(schema, &Value::from(name.as_str()), depth)?;
            }
        }
        Ok(())
    }

    fn array(
        &mut self,
        members: &Map<String, Value>,
        items: &[Value],
        depth: u32,
    ) -> Result<(), Failure> {
        for keyword in ["items", "additionalItems", "unevaluatedItems", "contains"] {
            match members.get(keyword) {
                Some(Value::Array(schemas)) => {
                    for (schema, item) in schemas.iter().zip(items) {
                        self.visit(schema, item, depth)?;
                    }
                }
                Some(schema) => {
                    for item in items {
                        self.visit(schema, item, depth)?;
                    }
                }
                None => {}
            }
        }
        if let Some(Value::Array(schemas)) = members.get("prefixItems") {
            for (schema, item) in schemas.iter().zip(items) {
                self.visit(schema, item, depth)?;
            }
        }
        if members.get("uniqueItems") == Some(&Value::Bool(true)) {
            self.spend(length(items.len()).saturating_mul(8))?;
        }
        Ok(())
    }
}

fn length(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}
