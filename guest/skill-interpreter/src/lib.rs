//! The component `skill.interpret`: what foreign skill documents and commands would do, as data.
//!
//! A skill document, a command or an OpenAPI description is what a stranger wrote. It is parsed here and nowhere else; the
//! answer is JSON that the host treats as derived from hostile input. Nothing is executed,
//! fetched or written, and nothing that a document says is believed to be harmless because it looks so.
//!
//! How a document becomes operations:
//!
//! 1. [`document`] reads bytes into a [`document::Document`]: what is said of the skill, and its candidates for operations,
//!    each a [`draft::Draft`] (what is to be done, as written) with a [`draft::Declaration`] (what is said about it).
//!    Commands on the way go through [`shell`], which calls [`http_command`] and [`tools`].
//! 2. [`assemble`] makes a [`model::Operation`] of each: variables become inputs and secrets, URLs and bodies become
//!    segments, and the schema of the inputs is derived. What an operation may do is the host's to judge.
//! 3. [`load`] names them, refuses collisions and answers; [`mapping`] answers for one command.
//!
//! Every step is total, takes time about linear in its input, and recurses no deeper than [`limits`] say.

pub mod assemble;
pub mod context;
pub mod diagnostic;
pub mod document;
pub mod draft;
pub mod http_command;
pub mod identifier;
pub mod limits;
pub mod load;
pub mod mapping;
pub mod request;
pub mod shell;
pub mod tools;

pub use hydrant_plan as model;
pub use hydrant_plan::failure;

#[cfg(test)]
#[path = "../tests/processor_time/mod.rs"]
mod processor_time;

use kit::SkillError;
use kit::host::Host;
use serde_json::{Value, json};

use crate::diagnostic::Diagnostics;
use crate::failure::{Code, Failure};
use crate::request::Request;

kit::component!(crate::describe, crate::run_in_host);

/// What the component says of itself.
#[must_use]
pub fn describe() -> &'static str {
    include_str!("describe.json").trim_ascii_end()
}

/// One call: a request in JSON, answered in JSON.
///
/// # Errors
///
/// `invalid_request` for a malformed request or an unknown `op`, `too_large` for a document beyond the limits as a whole.
pub fn run(request: &[u8]) -> Result<Vec<u8>, SkillError> {
    let mut diagnostics = Diagnostics::default();
    let answer = match Request::parse(request)? {
        // A skill is written as it is: as a value it would be held twice.
        Request::Load(load) => match load::skill(&load, &mut diagnostics) {
            Ok(skill) => {
                let answer = kit::json::response(&load::Answer::of(&skill));
                // An instance answers one call: what is left in it goes as a whole.
                #[cfg(target_family = "wasm")]
                std::mem::forget(skill);
                return answer;
            }
            Err(failure) => Err(failure),
        },
        Request::Map(map) => mapping::answer(&map, &mut diagnostics),
    };
    let answer = match answer {
        Ok(answer) => answer,
        Err(failure) => refusal(&failure, &diagnostics)?,
    };
    kit::json::response(&answer)
}

/// `{"ok":false,…}`; what is beyond a limit as a whole, and a bad request, are errors of the call instead.
fn refusal(failure: &Failure, diagnostics: &Diagnostics) -> Result<Value, SkillError> {
    match failure.code {
        Code::TooLarge => Err(SkillError::new("too_large", &failure.message)),
        Code::InvalidRequest => Err(SkillError::new(
            kit::request::INVALID_REQUEST,
            &failure.message,
        )),
        _ => Ok(json!({"ok": false, "error": failure, "diagnostics": diagnostics.as_slice()})),
    }
}

#[cfg_attr(
    not(target_family = "wasm"),
    allow(dead_code, reason = "what the component exports")
)]
fn run_in_host(_: &mut Host, request: &[u8]) -> Result<Vec<u8>, SkillError> {
    run(request)
}
