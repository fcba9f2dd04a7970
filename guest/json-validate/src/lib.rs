//! The component `json.validate`: checks JSON against a JSON Schema.
//!
//! The keywords are those of the crate `jsonschema`; numbers keep the digits they are written with. Nothing is fetched:
//! a reference out of the schema is an error. No effects. A schema or text that leads too deep, or to more work or
//! memory than a call has, ends the call at the host's limits.

mod finding;
mod request;
mod schema;

#[cfg(test)]
#[cfg(feature = "exact")]
mod tests;

use kit::SkillError;
use kit::host::Host;

use finding::{Finding, Findings};
use kit::json_reader::{self, Names, Refusal};
use request::Request;
use schema::Schema;

kit::component!(crate::describe, crate::run_component);

/// What the component says of itself: one JSON object.
#[must_use]
pub fn describe() -> &'static str {
    include_str!("describe.json").trim_ascii_end()
}

/// [`run`] for a component, whose host it does not need.
#[cfg_attr(
    not(target_family = "wasm"),
    allow(dead_code, reason = "only a component has a host")
)]
fn run_component(_: &mut Host, request: &[u8]) -> Result<Vec<u8>, SkillError> {
    run(request)
}

/// The answer, members in this order.
#[derive(serde::Serialize)]
struct Response {
    valid: bool,
    errors: Vec<Finding>,
    truncated: bool,
    draft: &'static str,
}

/// Answers one request.
///
/// # Errors
///
/// `invalid_request` (request, or a schema that is not one), `unsupported` (draft, reference out of the schema),
/// `too_large` (nesting, a regular expression that takes too many steps).
pub fn run(request: &[u8]) -> Result<Vec<u8>, SkillError> {
    let request = Request::parse(request)?;
    let schema = Schema::new(&request)?;
    let findings = match json_reader::read(request.json.as_bytes(), Names::LastCounts) {
        Ok(instance) => schema.check(&instance, request.max_errors)?,
        Err(Refusal::TooDeep) => {
            return Err(SkillError::new(
                "too_large",
                "`json` is nested deeper than 128",
            ));
        }
        Err(refusal) => Findings {
            list: vec![Finding::of_text(&format!("not valid JSON: {refusal}"))],
            truncated: false,
        },
    };
    let response = Response {
        valid: findings.list.is_empty(),
        errors: findings.list,
        truncated: findings.truncated,
        draft: schema.draft(),
    };
    serde_json::to_vec(&response)
        .map_err(|error| SkillError::new("internal", &format!("cannot write the answer: {error}")))
}
