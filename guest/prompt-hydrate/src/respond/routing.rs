//! `route` and `catalog-check`.

use kit::host::ReadFiles;

use super::{Failure, Found, Response, Warning, catalogue};
use crate::catalogue::{Catalogue, Skill, check as check_files, embedded_catalogue};
use crate::hook;
use crate::request::{CatalogCheckRequest, RouteRequest, Row, SkillEntry, Turn};
use crate::route::{Question, explain};
use crate::session::Facts;
use crate::text::Prompt;

/// `route`: one prompt, or many.
pub(super) fn route(
    host: &mut impl ReadFiles,
    request: &RouteRequest,
) -> Result<Response, Failure> {
    let options = &request.options;
    let (catalogue, mut warnings) =
        catalogue::load(host, request.catalog.as_ref(), &options.packs)?;
    let mut explained = |prompt: &str, session: &Facts, skills: Option<&[SkillEntry]>| {
        let prompt = Prompt::read(hook::routed_text(prompt));
        let skills = skills_of(&catalogue, skills);
        let (route, explanation) = explain(&Question {
            prompt: &prompt,
            session,
            catalogue: &catalogue,
            skills: skills.as_deref(),
            workflow: options.workflow.as_deref(),
            slash_is_skill: options.slash_is_skill,
        });
        for warning in route.warnings {
            warnings.push(Warning::new("route", &warning));
        }
        explanation
    };
    let skills = request.skills.as_deref();
    let mut response = Response::default();
    if let Some(rows) = &request.rows {
        let routes = rows.iter().map(
            |Row {
                 prompt,
                 turns,
                 skills: own,
             }| {
                let session = session(None, turns.as_deref(), prompt);
                explained(prompt, &session, own.as_deref().or(skills))
            },
        );
        response.routes = Some(routes.collect());
    } else {
        let prompt = request.prompt.as_deref().unwrap_or_default();
        let tail = request.transcript_tail.as_deref();
        let session = session(tail, request.turns.as_deref(), prompt);
        response.explain = Some(explained(prompt, &session, skills));
    }
    response.warnings = warnings;
    Ok(response)
}

/// The facts of a session, in whichever form it comes.
pub(super) fn session(tail: Option<&str>, turns: Option<&[Turn]>, prompt: &str) -> Facts {
    match (tail, turns) {
        (Some(tail), _) => Facts::of_transcript(tail, prompt),
        (None, Some(turns)) => Facts::of_turns(turns, prompt),
        (None, None) => Facts::default(),
    }
}

/// The skills of the request and of the catalogue; `None` where nobody lists any.
pub(super) fn skills_of(catalogue: &Catalogue, given: Option<&[SkillEntry]>) -> Option<Vec<Skill>> {
    let given_skills = given.unwrap_or_default().iter().map(|skill| Skill {
        name: skill.name.clone(),
        triggers: skill.triggers.clone(),
    });
    let skills: Vec<Skill> = given_skills
        .chain(catalogue.skills.iter().cloned())
        .collect();
    (given.is_some() || !skills.is_empty()).then_some(skills)
}

/// `catalog-check`.
pub(super) fn check(
    host: &mut impl ReadFiles,
    request: &CatalogCheckRequest,
) -> Result<Response, Failure> {
    let (files, warnings) = match &request.catalog {
        Some(tree) => {
            let found = catalogue::files(host, tree)?;
            (found.files, found.warnings)
        }
        None => (embedded_catalogue(), Vec::new()),
    };
    let findings = check_files(&files).into_iter().map(Found::from);
    Ok(Response {
        findings: Some(findings.collect()),
        warnings: warnings
            .iter()
            .map(|message| Warning::new("catalog", message))
            .collect(),
        ..Response::default()
    })
}
