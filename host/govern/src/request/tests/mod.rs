//! Operations as the interpreter answered them: `answers/*.json` are its skills for the documents beside them, the
//! seed's `moltbook.yaml` and its OpenAPI fixture.

mod bodies;
mod files;
mod places;
mod requests;
mod schemas;
mod validation;

use secrecy::SecretString;
use serde_json::Value;

use super::{CallFiles, Fill, FilledRequest, Inputs, Schemas, http_request};
use crate::failure::{Code, Failure};
use hydrant_plan::{HttpStage, JudgedOperation, Stage};

/// An operation of one of the skills.
pub(crate) fn operation(skill: &str, id: &str) -> JudgedOperation {
    let text = match skill {
        "moltbook" => include_str!("answers/moltbook.json"),
        "books" => include_str!("answers/books.json"),
        "kit" => include_str!("answers/kit.json"),
        "forms" => include_str!("answers/forms.json"),
        "pages" => include_str!("answers/pages.json"),
        other => panic!("no skill {other}"),
    };
    let skill: Value = serde_json::from_str(text).unwrap();
    let operations: Vec<JudgedOperation> =
        serde_json::from_value(skill["operations"].clone()).unwrap();
    operations
        .into_iter()
        .find(|operation| operation.id == id)
        .unwrap_or_else(|| panic!("no operation {id}"))
}

/// Its first stage.
pub(crate) fn http_stage(operation: &JudgedOperation) -> &HttpStage {
    match operation.stages.first() {
        Some(Stage::Http(stage)) => stage,
        _ => panic!("no HTTP stage"),
    }
}

/// As of a call that is the first.
pub(crate) fn validate(operation: &JudgedOperation, params: &Value) -> Result<Inputs, Failure> {
    super::validate(&Schemas::default(), operation, &params.clone().into())
}

/// Each secret is `value of NAME/+`.
fn secret(name: &str) -> Result<SecretString, Failure> {
    Ok(SecretString::from(format!("value of {name}/+")))
}

/// The request that a call would send first.
fn requested(skill: &str, id: &str, params: Value) -> Result<FilledRequest, Failure> {
    requested_with(&operation(skill, id), params, &CallFiles::default())
}

fn requested_with(
    operation: &JudgedOperation,
    params: Value,
    files: &CallFiles,
) -> Result<FilledRequest, Failure> {
    let inputs = validate(operation, &params)?;
    filled(operation, &inputs, files)
}

fn filled(
    operation: &JudgedOperation,
    inputs: &Inputs,
    files: &CallFiles,
) -> Result<FilledRequest, Failure> {
    let fill = Fill {
        inputs,
        files,
        secrets: &secret,
        previous: b"of the stage before",
    };
    http_request(http_stage(operation), &operation.hosts, fill)
}

fn header(request: &FilledRequest, name: &str) -> Option<String> {
    let mut found = request
        .headers
        .iter()
        .filter(|header| header.name.eq_ignore_ascii_case(name));
    let first = found.next()?;
    assert!(found.next().is_none(), "{name} stands twice");
    Some(String::from_utf8(first.value.0.clone()).unwrap())
}

fn body(request: &FilledRequest) -> String {
    String::from_utf8(request.body.as_ref().unwrap().to_vec()).unwrap()
}

fn refusal(answer: Result<FilledRequest, Failure>) -> (Code, String) {
    match answer {
        Ok(request) => panic!("it would be sent: {}", request.url),
        Err(failure) => {
            assert!(failure.message.chars().count() <= 200, "{failure}");
            (failure.code, failure.path.unwrap_or_default().into())
        }
    }
}
