//! Prompts routed with the default catalogue.
#![allow(
    dead_code,
    missing_docs,
    unreachable_pub,
    reason = "shared by several tests"
)]

use prompt_hydrate::catalogue::{Catalogue, Skill};
use prompt_hydrate::cues::{Cue, Cues};
use prompt_hydrate::route::{self, Explanation, Question, Route};
use prompt_hydrate::session::Facts;
use prompt_hydrate::text::Prompt;

/// A session whose agent said this last.
pub fn session(reply: &str) -> Facts {
    Facts {
        prompts: vec!["tidy the storage layer".to_owned()],
        replies: vec![reply.to_owned()],
        question: reply
            .split_inclusive(['.', '!', '?'])
            .rfind(|part| part.ends_with('?'))
            .map(|part| part.trim().to_owned()),
        ..Facts::default()
    }
}

pub fn skill(name: &str, triggers: &[&str]) -> Skill {
    Skill {
        name: name.to_owned(),
        triggers: triggers
            .iter()
            .map(|trigger| (*trigger).to_owned())
            .collect(),
    }
}

/// The route of a prompt, outside the hook.
pub fn routed(
    prompt: &str,
    session: &Facts,
    skills: Option<&[Skill]>,
    catalogue: &Catalogue,
) -> (Route, Explanation) {
    let prompt = Prompt::read(prompt);
    route::explain(&Question {
        prompt: &prompt,
        session,
        catalogue,
        skills,
        workflow: None,
        slash_is_skill: true,
    })
}

/// With the default catalogue and nothing else.
pub fn route_of(prompt: &str) -> Route {
    routed(prompt, &Facts::default(), None, &Catalogue::embedded(&[])).0
}

pub fn cues_of(prompt: &str) -> Cues {
    Cues::read(&Prompt::read(prompt))
}

pub fn names(cues: &Cues) -> Vec<&'static str> {
    cues.iter().map(|(cue, _)| Cue::name(cue)).collect()
}
