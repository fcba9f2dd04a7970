//! One call: a request in JSON, answered in JSON.

mod catalogue;
mod planning;
mod response;
mod routing;

use kit::SkillError;
use kit::host::ReadFiles;

use crate::codebase;
use crate::hook::{self, Input};
use crate::redact;
use crate::request::{CodebaseRequest, ParseRequest, Request};
use crate::text::Prompt;

pub(crate) use response::one_line;
use response::{Answer, Parsed, Planned, Response, Warning};
pub use response::{Context, Failure, SCHEMA, Skip};

/// Characters of what a memory source is asked.
const QUERY_CHARS: usize = 512;

/// Returns what the component says of itself: one JSON object.
#[must_use]
pub fn describe() -> &'static str {
    include_str!("../describe.json").trim_ascii_end()
}

/// Answers one call. Whatever the request is, the answer is a response; what cannot be done is `"ok":false`.
///
/// # Errors
/// `internal` if the response cannot be written as JSON, which no input causes.
pub fn run(host: &mut impl ReadFiles, request: &[u8]) -> Result<Vec<u8>, SkillError> {
    let response = Request::parse(request)
        .and_then(|request| answer(host, request))
        .unwrap_or_else(Response::from);
    serde_json::to_vec(&response).map_err(|error| SkillError::new("internal", &error.to_string()))
}

fn answer(host: &mut impl ReadFiles, request: Request) -> Result<Response, Failure> {
    match request {
        Request::Parse(request) => parse(request),
        Request::Codebase(request) => Ok(look(host, &request)),
        Request::Plan(request) => planning::plan(host, &request),
        Request::Route(request) => Ok(routing::route(host, &request)),
        Request::CatalogCheck(request) => Ok(routing::check(host, &request)),
    }
}

/// `parse`: the first of the hook's two calls.
fn parse(request: ParseRequest) -> Result<Response, Failure> {
    let input = Input::parse(&request.hook_stdin)?;
    let skip = input.skip(request.options.enabled);
    let query = match skip {
        Some(_) => String::new(),
        None => {
            let prompt = Prompt::read(hook::routed_text(&input.prompt));
            redact::excerpt(&prompt.main, QUERY_CHARS, "")
        }
    };
    let parsed = Parsed {
        event_warning: input.event_warning(),
        session_id: input.session_id,
        transcript_path: input.transcript_path,
        cwd: input.cwd,
        query,
        prompt: input.prompt,
    };
    Ok(Response::new(Answer::Parsed { parsed, skip }, Vec::new()))
}

/// `codebase`
fn look(host: &mut impl ReadFiles, request: &CodebaseRequest) -> Response {
    let prompt = Prompt::read(hook::routed_text(&request.prompt));
    let (codebase, warnings) = match codebase::look(host, &request.workspace, &prompt) {
        Ok(codebase) => (codebase, Vec::new()),
        Err(codebase::Unreadable) => (Default::default(), vec![unreadable()]),
    };
    Response::new(Answer::Codebase { codebase }, warnings)
}

fn unreadable() -> Warning {
    Warning::new("codebase", "the working directory cannot be read")
}
