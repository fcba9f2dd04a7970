//! The params of a call, validated, with defaults filled.

use std::collections::BTreeMap;

use hydrant_canonical::Json;
use secrecy::SecretString;
use serde_json::Value;

use super::schema::Schemas;
use super::{CallFiles, Fill, http_request};
use crate::failure::{Code, Failure};
use hydrant_plan::{JudgedOperation, Program, Segments, Stage};

/// How deep defaults are looked for.
const DEFAULT_DEPTH: u32 = 32;

/// What is said of an input that a text cannot do without.
pub(crate) const NEEDED: &str = "this input is needed there";

/// Params that passed [`validate`]: an object.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Inputs(Json);

impl Inputs {
    /// The value, if it is there and not `null`.
    #[must_use]
    pub fn present(&self, name: &str) -> Option<&Json> {
        self.0.get(name).filter(|value| **value != Json::Null)
    }

    /// The value, if it is there.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Json> {
        self.0.get(name)
    }

    /// All of them, defaults among them.
    #[must_use]
    pub fn as_json(&self) -> &Json {
        &self.0
    }

    /// What a call without any has: the defaults of a schema.
    pub(crate) fn defaults(schema: &Value) -> Self {
        let mut filled = Json::Object(Vec::new());
        fill_defaults(schema, &mut filled, 0);
        Self(filled)
    }

    #[cfg(test)]
    pub(crate) fn of(value: Value) -> Self {
        assert!(value.is_object());
        Self(value.into())
    }
}

/// Checks params against the operation and fills defaults.
///
/// Files are not opened: see [`CallFiles::open`].
///
/// # Errors
///
/// `missing-input` with `missing`; `invalid-input` with the path; `schema` and `limit` where the operation's own schema
/// cannot be applied.
pub fn validate(
    schemas: &Schemas,
    operation: &JudgedOperation,
    params: &Json,
) -> Result<Inputs, Failure> {
    let Json::Object(given) = params else {
        return Err(Failure::new(
            Code::InvalidInput,
            "params is one JSON object",
        ));
    };
    let schema = &operation.input_schema;
    let properties = schema.get("properties").and_then(Value::as_object);
    // Before anything is said to be missing.
    if schema.get("additionalProperties") == Some(&Value::Bool(false))
        && let Some((unknown, _)) = given
            .iter()
            .find(|(name, _)| properties.is_none_or(|known| !known.contains_key(name)))
    {
        let shown: String = unknown.chars().take(120).collect();
        return Err(
            Failure::new(Code::InvalidInput, "the operation has no such input").at_path(shown),
        );
    }
    let mut filled = params.clone();
    fill_defaults(schema, &mut filled, 0);
    let missing = missing(operation, &filled);
    if !missing.is_empty() {
        let message = format!("PROMPT_MISSING_INPUT: {}", missing.join(", "));
        return Err(Failure::new(Code::MissingInput, message).with_missing(missing));
    }
    let schema = schemas.compiled(schema)?;
    for value in filled.values() {
        schema.check(&value)?;
    }
    let inputs = Inputs(filled);
    places(operation, &inputs)?;
    Ok(inputs)
}

/// Defaults of absent members, of the object itself and of objects that are there.
fn fill_defaults(schema: &Value, value: &mut Json, depth: u32) {
    let (Some(properties), Json::Object(members)) =
        (schema.get("properties").and_then(Value::as_object), value)
    else {
        return;
    };
    if depth >= DEFAULT_DEPTH {
        return;
    }
    let given = members.iter().enumerate();
    let given: BTreeMap<String, usize> = given
        .map(|(index, (name, _))| (name.clone(), index))
        .collect();
    for (name, property) in properties {
        let given = given.get(name).and_then(|index| members.get_mut(*index));
        match (given, property.get("default")) {
            (Some((_, member)), _) => fill_defaults(property, member, depth.saturating_add(1)),
            (None, Some(default)) => members.push((name.clone(), default.clone().into())),
            (None, None) => {}
        }
    }
}

/// Required inputs, and required files, that are not there.
fn missing(operation: &JudgedOperation, filled: &Json) -> Vec<String> {
    let schema = &operation.input_schema;
    let absent = |schema: &Value, value: &Json| -> Vec<String> {
        schema
            .get("required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .filter(|name| value.get(name).is_none())
            .map(str::to_owned)
            .collect()
    };
    let mut missing = absent(schema, filled);
    if !operation.files.read.is_empty()
        && let (Some(files), Some(given)) =
            (schema.pointer("/properties/files"), filled.get("files"))
        && given.as_object().is_some()
    {
        missing.extend(
            absent(files, given)
                .into_iter()
                .map(|name| format!("files.{name}")),
        );
    }
    missing
}

/// Whether each value can stand in its place; everything is built once, with stand-ins for secrets and files.
fn places(operation: &JudgedOperation, inputs: &Inputs) -> Result<(), Failure> {
    let files = CallFiles::stand_ins(&operation.files.read);
    let secrets = |_: &str| Ok(SecretString::from("secret"));
    let fill = Fill {
        inputs,
        files: &files,
        secrets: &secrets,
        previous: b"0",
    };
    for stage in &operation.stages {
        let texts: Vec<&Segments> = match stage {
            Stage::Http(stage) => {
                http_request(stage, &operation.hosts, fill)?;
                stage.output_file.iter().map(|file| &file.path).collect()
            }
            Stage::JsonFilter { args, stdin, .. } => args.values().chain(stdin).collect(),
            Stage::TextTransform { args, stdin, .. } => args.iter().chain(stdin).collect(),
            Stage::Println { text } => vec![text],
            Stage::ReadFile(_) => Vec::new(),
            Stage::Sandbox(stage) => {
                let argv: &[Segments] = match &stage.program {
                    Program::Argv(argv) => argv,
                    _ => &[],
                };
                argv.iter().chain(&stage.args).chain(&stage.stdin).collect()
            }
        };
        for text in texts {
            fill.required(text, NEEDED)?;
        }
        if let Stage::Sandbox(stage) = stage {
            for name in &stage.env_inputs {
                if let Some(value) = inputs.present(name) {
                    super::text::scalar(name, value, hydrant_plan::Encoding::Argv)?;
                }
            }
        }
    }
    Ok(())
}
