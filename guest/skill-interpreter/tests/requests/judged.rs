//! Answers of `load` and `map` as the host says them: judged for an operator who configured nothing.

use std::collections::BTreeMap;

use hydrant_plan::judge::{Load, Unconfigured, judge};
use hydrant_plan::{Diagnostic, JudgedOperation, Operation, show};
use serde_json::{Value, json};

/// The operations of an answer, judged.
fn operations(operations: &Value, request: &Value, base_url: Option<&str>) -> Vec<JudgedOperation> {
    let texts = |name: &str| -> BTreeMap<String, String> {
        serde_json::from_value(request[name].clone()).unwrap_or_default()
    };
    let (constants, files) = (texts("constants"), texts("files"));
    let load = Load {
        base_url,
        constants: &constants,
        files: &files,
        mapping_version: "2",
        is_command: request["op"] == "map",
    };
    let operations: Vec<Operation> = serde_json::from_value(operations.clone()).unwrap();
    let judged = operations
        .into_iter()
        .map(|operation| judge(operation, load, &Unconfigured));
    judged.collect()
}

/// The answer to a request.
pub(crate) fn judged(mut answer: Value, request: &Value) -> Value {
    if answer["ok"] != true {
        return answer;
    }
    if answer["skill"].is_object() {
        let base_url = answer["skill"]["base-url"].as_str();
        let judged = operations(&answer["skill"]["operations"], request, base_url);
        answer["skill"]["operations"] = json!(judged);
    } else if answer["operations"].is_array() {
        let judged = operations(&answer["operations"], request, None);
        let diagnostics: Vec<Diagnostic> =
            serde_json::from_value(answer["diagnostics"].clone()).unwrap();
        let mut mapped = show::mapping(&judged, &diagnostics);
        mapped.insert("ok".to_owned(), true.into());
        answer = mapped.into();
    }
    answer
}
