//! What a command maps to, for people.

use serde_json::{Map, Value, json};

use super::params::params_with;
use crate::{Diagnostic, JudgedOperation, Operation, Stage, Status};

/// What the operations of a command would do: members of one, or a list of several.
#[must_use]
pub fn mapping(operations: &[JudgedOperation], diagnostics: &[Diagnostic]) -> Map<String, Value> {
    let mut answer = match operations {
        [operation] => one(operation),
        several => {
            let operations: Vec<Value> = several.iter().map(|each| one(each).into()).collect();
            Map::from_iter([("operations".to_owned(), operations.into())])
        }
    };
    answer.insert("diagnostics".to_owned(), json!(diagnostics));
    answer
}

fn one(operation: &JudgedOperation) -> Map<String, Value> {
    let mut result = Map::new();
    let mut put = |name: &str, value: Value| {
        result.insert(name.to_owned(), value);
    };
    if let Status::Unusable { error, .. } = &operation.status {
        put("error", json!(error));
        return result;
    }
    let values = written_values(operation);
    let params = |stage: &Stage| params_with(stage, &values);
    match operation.stages.as_slice() {
        [stage] => {
            put("maps-to", stage.capability().into());
            put("params", params(stage).into());
        }
        stages => {
            let list: Vec<&str> = stages.iter().map(Stage::capability).collect();
            put("maps-to", list.into());
            let stage =
                |stage: &Stage| json!({"maps-to": stage.capability(), "params": params(stage)});
            put("pipeline", stages.iter().map(stage).collect());
        }
    }
    put("confidence", json!(operation.confidence));
    let known = operation.tier < 3;
    put("known", known.into());
    put("tier", operation.tier.into());
    put("requires-approval", (!operation.reasons.is_empty()).into());
    if !known {
        put("reason", json!(approval_reason(&operation.reasons)));
        let is_tool = |reason: &String| reason.starts_with("unknown-tool:");
        if operation.reasons.iter().any(is_tool) {
            put("message", "No mapping found for command".into());
        }
    }
    put("reasons", json!(operation.reasons));
    put("requires", json!(operation.requires));
    put("effects", json!(operation.effects));
    let secrets = operation.secrets.iter().map(|secret| secret.name.as_str());
    put("secrets", secrets.collect());
    let request = operation.stages.iter().find_map(|stage| match stage {
        Stage::Http(stage) => Some(stage),
        _ => None,
    });
    if let Some(auth) = request.and_then(|stage| stage.auth.as_ref()) {
        put("auth", json!(auth));
    }
    put("input-schema", operation.input_schema.clone());
    if let Some(input) = request.and_then(|stage| stage.url_input.as_ref()) {
        put("needs", json!([input]));
    }
    if let Some(file) = operation.files.write.first() {
        put("output-file", file.as_str().into());
    }
    if let Some(policy) = &operation.policy {
        put("policy", json!(policy));
    }
    if !operation.notes.is_empty() {
        put("notes", json!(operation.notes));
    }
    put("explanation", explanation(operation).into());
    put("stages", json!(operation.stages));
    result
}

/// The values that the author wrote in the places of inputs: defaults, and those of the first example.
fn written_values(operation: &Operation) -> Map<String, Value> {
    let properties = operation.input_schema.get("properties");
    let properties = properties.and_then(Value::as_object).into_iter().flatten();
    let mut values: Map<String, Value> = properties
        .filter_map(|(name, schema)| Some((name.clone(), schema.get("default")?.clone())))
        .collect();
    let example = operation
        .examples
        .first()
        .and_then(|example| example.input.as_ref());
    if let Some(Value::Object(example)) = example {
        values.extend(example.clone());
    }
    values
}

/// What a command would do, stage by stage; of Tier 3, why it needs approval.
fn explanation(operation: &JudgedOperation) -> String {
    match approval_reason(&operation.reasons) {
        Some(reason) if operation.tier >= 3 => reason,
        _ => {
            let stages: Vec<String> = operation.stages.iter().map(stage).collect();
            stages.join(", then ")
        }
    }
}

fn stage(stage: &Stage) -> String {
    match stage {
        Stage::Http(stage) => match &stage.url_input {
            Some(input) => format!("{} request to the address given as {input}", stage.method),
            None => format!("{} request to {}", stage.method, stage.url.display()),
        },
        Stage::JsonFilter { .. } => "a jq program".to_owned(),
        Stage::TextTransform { tool, .. } => format!("the text tool {tool}"),
        Stage::Println { .. } => "text that is put out".to_owned(),
        Stage::ReadFile(_) => "files that are read".to_owned(),
        Stage::Sandbox(stage) => format!("{} in the sandbox", stage.runtime.as_str()),
    }
}

/// The heaviest reason, in one sentence; none where there is none.
#[must_use]
pub fn approval_reason(reasons: &[String]) -> Option<String> {
    let all = |prefix: &str| -> Vec<&str> {
        let reasons = reasons.iter();
        reasons
            .filter_map(|reason| reason.strip_prefix(prefix))
            .collect()
    };
    let first = |prefix: &str| all(prefix).first().copied();
    Some(if reasons.is_empty() {
        return None;
    } else if let Some(tool) = first("unknown-tool:") {
        format!("Unknown tool '{tool}' requires sandboxed execution")
    } else if reasons.iter().any(|reason| reason == "script") {
        match all("script:").as_slice() {
            [] => "A script requires sandboxed execution".to_owned(),
            constructs => format!(
                "A script ({}) requires sandboxed execution",
                constructs.join(", ")
            ),
        }
    } else if let Some(runtime) = first("sandbox:") {
        format!("Code for {runtime} requires sandboxed execution")
    } else if first("package:").is_some() {
        let packages = all("package:");
        let name = |package: &&str| {
            package
                .split_once(':')
                .map_or(*package, |(_, name)| name)
                .to_owned()
        };
        let names: Vec<String> = packages.iter().map(name).collect();
        format!(
            "Installing packages ({}) requires sandboxed execution",
            names.join(", ")
        )
    } else if let Some(secret) = first("secret:") {
        format!("Secret '{secret}' is new for this skill and these hosts")
    } else if let Some(host) = first("host:") {
        format!("Host '{host}' is not among the safe hosts")
    } else {
        format!("Approval is required: {}", reasons.join(", "))
    })
}
