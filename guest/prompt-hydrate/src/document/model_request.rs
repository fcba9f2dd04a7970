//! What a language model is told and asked: the duty of the file's reader, and the same context, with secrets taken
//! out of the prompt as well, because this text leaves the machine.
//!
//! The component `prompt.hydrate.llm` puts both into a request; it knows neither catalogue nor prompt.

use serde::Serialize;

use super::Parts;
use super::file::{draft, index};
use super::section::{fenced, section};
use crate::catalogue::one_line;
use crate::redact::{cut, secrets};

/// Characters of a prompt that are sent; routing reads about as many.
const PROMPT_CHARS: usize = 20_000;

/// The duty, the form of the reply, and its rules.
const SYSTEM: &str = include_str!("templates/model.md");

/// The two texts of a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ModelRequest {
    /// The duty, the form of the reply, and its rules.
    pub system: String,
    /// Prompt, context, workflows, guardrails and draft, fenced.
    pub user: String,
}

/// The texts for a plan that is the draft.
#[must_use]
pub fn model_request(parts: Parts<'_>) -> ModelRequest {
    let prompt = secrets(&cut(parts.prompt, PROMPT_CHARS, "…"));
    let registry = parts
        .catalogue
        .guardrails
        .iter()
        .map(|(name, definition)| format!("- `{name}`: {}", one_line(definition)));
    let sections = [
        section("User Prompt", &fenced(&prompt, "text", 3)),
        parts.context.session.clone(),
        parts.context.memory.clone(),
        parts.context.codebase.clone(),
        section("Workflow Index", &index(parts.catalogue)),
        section("Guardrails", &registry.collect::<Vec<_>>().join("\n")),
        section("Draft Plan", &secrets(&draft(parts.plan))),
    ];
    let user: Vec<_> = sections.iter().map(|section| section.trim_end()).collect();
    ModelRequest {
        system: SYSTEM.to_owned(),
        user: format!("{}\n", user.join("\n\n")),
    }
}
