//! `route` and `catalog-check`.

use kit::host::ReadFiles;

use super::{Answer, Response, Warning, catalogue};
use crate::catalogue::{Catalogue, Skill, check as check_files, embedded_catalogue};
use crate::hook;
use crate::request::{CatalogCheckRequest, RouteRequest, Turn};
use crate::route::{Question, explain};
use crate::session::Facts;
use crate::text::Prompt;

/// `route`
pub(super) fn route(host: &mut impl ReadFiles, request: &RouteRequest) -> Response {
    let options = &request.options;
    let (catalogue, mut warnings) = catalogue::load(host, request.catalog.as_ref(), &options.packs);
    let prompt = request.prompt.as_str();
    let tail = request.transcript_tail.as_deref();
    let session = session(tail, request.turns.as_deref(), prompt);
    let (route, explain) = explain(&Question {
        prompt: &Prompt::read(hook::routed_text(prompt)),
        session: &session,
        catalogue: &catalogue,
        skills: skills_of(&catalogue, request.skills.as_deref()).as_deref(),
        workflow: options.workflow.as_deref(),
        slash_is_skill: options.slash_is_skill,
    });
    let route_warnings = route.warnings.iter();
    warnings.extend(route_warnings.map(|warning| Warning::new("route", warning)));
    Response::new(Answer::Explained { explain }, warnings)
}

/// Returns the facts of a session, in whichever form it comes.
pub(super) fn session(tail: Option<&str>, turns: Option<&[Turn]>, prompt: &str) -> Facts {
    match (tail, turns) {
        (Some(tail), _) => Facts::of_transcript(tail, prompt),
        (None, Some(turns)) => Facts::of_turns(turns, prompt),
        (None, None) => Facts::default(),
    }
}

/// Returns the skills of the request and of the catalogue; `None` where nobody lists any.
pub(super) fn skills_of(catalogue: &Catalogue, given: Option<&[Skill]>) -> Option<Vec<Skill>> {
    let skills = [given.unwrap_or_default(), &catalogue.skills].concat();
    (given.is_some() || !skills.is_empty()).then_some(skills)
}

/// `catalog-check`
pub(super) fn check(host: &mut impl ReadFiles, request: &CatalogCheckRequest) -> Response {
    let (files, unread) = match &request.catalog {
        Some(tree) => catalogue::files(host, tree),
        None => (embedded_catalogue(), Vec::new()),
    };
    let findings = check_files(&files);
    Response::new(Answer::Findings { findings }, catalogue::warnings(&unread))
}
