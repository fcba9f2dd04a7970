//! jq programs and text tools: run by the component `data.filter`, which has no capability.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

use super::no_jail;
use super::plan::{Produced, Run, filled};
use crate::failure::{Code, Failure};
use crate::ports::{Component, Components};
use crate::request::{CallFiles, Inputs};
use hydrant_plan::{FILTER_OPTIONS, Segments};

impl Run<'_> {
    pub(super) fn json_filter(
        &mut self,
        program: &str,
        options: &[String],
        args: &BTreeMap<String, Segments>,
        json_args: &Map<String, Value>,
        stdin: Option<&Segments>,
    ) -> Result<Produced, Failure> {
        let mut named = Map::new();
        for (name, segments) in args {
            self.without_secret(segments)?;
            named.insert(name.clone(), self.filled(segments)?.into());
        }
        for (name, value) in json_args {
            named.insert(name.clone(), value.clone());
        }
        let mut request = json!({
            "op": "filter",
            "path": program,
            "input-b64": self.encoded_input(stdin)?,
            "args": named,
        });
        if let Value::Object(members) = &mut request {
            for option in options {
                if !FILTER_OPTIONS.contains(&option.as_str()) {
                    return Err(Failure::new(Code::JsonFilter, "an unknown option"));
                }
                members.insert(option.clone(), true.into());
            }
        }
        let answer: Value = self.call.components.answer(Component::Filter, &request)?;
        let bytes = output(&answer, Code::JsonFilter)?;
        let mut produced = Produced::plain(bytes);
        if !options
            .iter()
            .any(|option| option == "raw" || option == "join")
        {
            produced.media = Some("application/json".to_owned());
        }
        Ok(produced)
    }

    pub(super) fn text_transform(
        &mut self,
        tool: &str,
        args: &[Segments],
        stdin: Option<&Segments>,
    ) -> Result<Produced, Failure> {
        let mut words = Vec::new();
        for segments in args {
            self.without_secret(segments)?;
            words.push(self.filled(segments)?);
        }
        let request = json!({
            "op": "transform",
            "tool": tool,
            "args": words,
            "input-b64": self.encoded_input(stdin)?,
        });
        let answer: Value = self.call.components.answer(Component::Filter, &request)?;
        if answer.get("built-in") != Some(&Value::Bool(false)) {
            return output(&answer, Code::Transform).map(Produced::plain);
        }
        // In the jail, with no files, no network and no secrets.
        let input = self.standard_input(stdin)?;
        let caps = self.caps_left();
        let jails = self.call.jails.ok_or_else(no_jail)?;
        let (bytes, used) = jails.text_tool(tool, &words, &input, caps)?;
        self.used.cpu_ms = self.used.cpu_ms.saturating_add(used.cpu_ms);
        Ok(Produced::plain(bytes))
    }

    fn encoded_input(&self, stdin: Option<&Segments>) -> Result<String, Failure> {
        if let Some(segments) = stdin {
            self.without_secret(segments)?;
        }
        Ok(STANDARD.encode(self.standard_input(stdin)?))
    }

    /// `data.filter` never holds a secret, nor does a tool that was not granted one.
    pub(super) fn without_secret(&self, segments: &Segments) -> Result<(), Failure> {
        if segments.has_secret() {
            return Err(Failure::new(
                Code::SecretUnbound,
                "a filter or a program cannot be given a secret",
            ));
        }
        Ok(())
    }
}

/// Whether a jq program can be run at all: it is compiled, and run over no document.
///
/// # Errors
///
/// `json-filter` for a program that is none, `limit`; `interpreter-limit`, `invalid-plan`, `store-unavailable`.
pub(crate) fn check_program<'a>(
    components: &dyn Components,
    program: &str,
    variables: impl Iterator<Item = &'a String>,
) -> Result<(), Failure> {
    let args: Map<String, Value> = variables.map(|name| (name.clone(), "".into())).collect();
    let request = json!({ "op": "filter", "path": program, "input-b64": "", "args": args });
    let answer: Value = components.answer(Component::Filter, &request)?;
    output(&answer, Code::JsonFilter).map(drop)
}

/// Whether `data.filter` does itself what a text tool with these arguments does. What it refuses is said when it is asked to.
///
/// # Errors
///
/// Those of an input that an argument needs; `interpreter-limit`, `invalid-plan`.
pub(crate) fn is_built_in(
    components: &dyn Components,
    tool: &str,
    args: &[Segments],
    inputs: &Inputs,
    files: &CallFiles,
) -> Result<bool, Failure> {
    if args.iter().any(Segments::has_secret) {
        // Refused as a stage.
        return Ok(true);
    }
    let words = args
        .iter()
        .map(|segments| filled(segments, inputs, files, &[]))
        .collect::<Result<Vec<_>, _>>()?;
    let request = json!({ "op": "transform", "tool": tool, "args": words, "input-b64": "" });
    let answer: Value = components.answer(Component::Filter, &request)?;
    Ok(answer.get("built-in") != Some(&Value::Bool(false)))
}

/// The bytes of an answer, or its error under its code.
fn output(answer: &Value, otherwise: Code) -> Result<Vec<u8>, Failure> {
    if answer.get("ok") == Some(&Value::Bool(true)) {
        return answer
            .get("output-b64")
            .and_then(Value::as_str)
            .and_then(|text| STANDARD.decode(text).ok())
            .ok_or_else(|| {
                Failure::new(Code::InvalidPlan, "data.filter: the answer has no output")
            });
    }
    let error = answer.get("error");
    let text = |key: &str| error.and_then(|error| error.get(key)?.as_str());
    let code = text("code").and_then(Code::parse).unwrap_or(otherwise);
    let message: String = text("message")
        .unwrap_or("data.filter gave no reason")
        .chars()
        .take(120)
        .collect();
    Err(Failure::new(code, message))
}
