//! The component `json.validate`: checks JSON against a JSON Schema.
//!
//! The instance is read into a compact table over its own text (`document`), which costs 16 bytes a value however
//! the text looks, keeps numbers as they are written, and bounds what the errors of a call may hold. The keywords are
//! those of the crate `jsonschema`, which sees the table through its representation trait (`node`). Nothing is
//! fetched: a reference out of the schema is an error (TS-123). No effects. Same request, same bytes.

mod chains;
mod compare;
mod describe;
mod document;
mod finding;
mod metaschemas;
mod node;
mod number;
mod pattern;
mod reader;
mod request;
mod schema;

#[cfg(test)]
mod tests;

use document::Document;
use finding::{Finding, Findings};
use kit::SkillError;
use kit::host::Host;
use pattern::StepLimit;
use reader::Refusal;
use request::Request;
use schema::{Outcome, Schema};

pub use describe::describe;

kit::component!(crate::describe, crate::run_component);

/// [`run`] for a component, whose host it does not need.
#[cfg_attr(
    not(target_family = "wasm"),
    allow(dead_code, reason = "only a component has a host")
)]
fn run_component(_: &mut Host, request: &[u8]) -> Result<Vec<u8>, SkillError> {
    run(request)
}

/// What is answered (TS-03: members in this order).
#[derive(serde::Serialize)]
struct Response {
    valid: bool,
    errors: Vec<Finding>,
    truncated: bool,
    draft: &'static str,
}

/// One call: a request in JSON, answered in JSON.
///
/// # Errors
///
/// `invalid_request` (request, or a schema that is not one: TS-122), `unsupported` (draft, reference out of the
/// schema: TS-121, TS-123), `too_large` (nesting, a schema that leads too far, a regular expression over its step
/// limit: TS-124, TS-128).
pub fn run(request: &[u8]) -> Result<Vec<u8>, SkillError> {
    let request = Request::parse(request)?;
    let document = Document::read(request.json);
    let longest = document.as_ref().map_or(0, Document::longest_text);
    let limit = StepLimit::for_texts_of(longest);
    let schema = Schema::new(&request.schema, request.assert_formats, &limit)?;
    let draft = schema.draft().name();
    let response = match document {
        Ok(document) => answer(schema.check(&document, request.max_errors)?, draft),
        Err(Refusal::Syntax(what)) => Response {
            valid: false,
            errors: vec![Finding::of_text(&format!("not valid JSON: {what}"))],
            truncated: false,
            draft,
        },
        Err(Refusal::TooDeep) => {
            return Err(SkillError::new(
                "too_large",
                "`json` is nested deeper than 128",
            ));
        }
    };
    serde_json::to_vec(&response)
        .map_err(|error| SkillError::new("internal", &format!("cannot write the answer: {error}")))
}

fn answer(outcome: Outcome, draft: &'static str) -> Response {
    let Findings { list, truncated } = match outcome {
        Outcome::Valid => Findings::default(),
        Outcome::Invalid(findings) => findings,
    };
    Response {
        valid: list.is_empty(),
        errors: list,
        truncated,
        draft,
    }
}
