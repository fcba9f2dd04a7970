//! The rows, through [`run`].

mod draft_and_schema;
mod errors;
mod hostile;
mod numbers;
mod properties;
mod text;

use serde_json::{Value, json};

use crate::run;

/// The answer to a request.
fn answer(request: &Value) -> Value {
    let answer = run(request.to_string().as_bytes()).unwrap();
    serde_json::from_slice(&answer).unwrap()
}

/// Code and details of the error that a request ends with.
fn refusal(request: &Value) -> (String, Value) {
    let error = run(request.to_string().as_bytes()).unwrap_err();
    let details = error.details().map_or(Value::Null, |details| {
        serde_json::from_str(details).unwrap()
    });
    (error.code().to_owned(), details)
}

fn is_valid(json: &str, schema: &Value) -> bool {
    answer(&json!({"json": json, "schema": schema}))["valid"] == true
}

/// The errors as lines of `instance_path schema_path message`.
fn errors(json: &str, schema: &Value) -> Vec<String> {
    let answer = answer(&json!({"json": json, "schema": schema}));
    answer["errors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|error| {
            ["instance_path", "schema_path", "message"]
                .map(|member| error[member].as_str().unwrap())
                .join(" ")
        })
        .collect()
}
