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
use crate::request::{CodebaseRequest, Mount, ParseRequest, Request, Tree};
use crate::text::Prompt;

pub use response::{Context, Failure, Found, Parsed, Response, SCHEMA, Skip, Warning};

/// characters of what a memory source is asked.
const QUERY_CHARS: usize = 512;

/// What the component says of itself: one JSON object (TS-07).
#[must_use]
pub fn describe() -> &'static str {
    include_str!("../describe.json").trim_ascii_end()
}

/// One call. Whatever the request is, the answer is a response; what cannot be done is `"ok":false`.
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
        Request::Codebase(request) => look(host, &request),
        Request::Hook(request) | Request::Plan(request) => planning::plan(host, &request),
        Request::Validate(request) => planning::validate(host, &request),
        Request::Route(request) => routing::route(host, &request),
        Request::CatalogCheck(request) => routing::check(host, &request),
    }
}

/// `parse`: the first of the hook's two calls.
fn parse(request: ParseRequest) -> Result<Response, Failure> {
    let input = Input::parse(&request.hook_stdin)?;
    drop(request.hook_stdin);
    let skip = input.skip(request.options.enabled);
    let query = match skip {
        Some(_) => String::new(),
        None => query(&input.prompt),
    };
    let event_warning = input.event_warning();
    let parsed = Parsed {
        session_id: input.session_id,
        transcript_path: input.transcript_path,
        cwd: input.cwd,
        query,
        prompt: input.prompt,
        event_warning,
    };
    Ok(Response {
        parsed: Some(parsed),
        skip: Some(skip),
        ..Response::default()
    })
}

///
fn query(prompt: &str) -> String {
    let prompt = Prompt::read(hook::routed_text(prompt));
    redact::excerpt(&prompt.main, QUERY_CHARS, "")
}

/// `codebase`
fn look(host: &mut impl ReadFiles, request: &CodebaseRequest) -> Result<Response, Failure> {
    check_mount("workspace", &request.workspace, Mount::Workspace)?;
    let prompt = Prompt::read(hook::routed_text(&request.prompt));
    let (codebase, warnings) = match codebase::look(host, &request.workspace, &prompt) {
        Ok(codebase) => (codebase, Vec::new()),
        Err(codebase::Unreadable) => (Default::default(), vec![unreadable()]),
    };
    Ok(Response {
        codebase: Some(codebase),
        warnings,
        ..Response::default()
    })
}

fn unreadable() -> Warning {
    Warning::new("codebase", "the working directory cannot be read")
}

/// Each kind of tree has a mount of its own.
fn check_mount(member: &str, tree: &Tree, allowed: Mount) -> Result<(), Failure> {
    match tree {
        Tree::Mount(mount) if *mount != allowed => Err(Failure::new(
            "request",
            &format!("{member}: expected mount {}", allowed.path()),
        )),
        Tree::Mount(_) | Tree::Inline(_) => Ok(()),
    }
}
