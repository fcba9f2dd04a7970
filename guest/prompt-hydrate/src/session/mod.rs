//! What an agent's transcript tells of its session.
//!
//! A transcript is what others wrote: every text is cleaned, freed of secrets and cut before it is kept. It is read from its
//! end, and no further than it has to be.

mod collect;
mod render;
mod tasks;
mod transcript;

use crate::request::Turn;

pub use render::render;

/// What is known of a session, untrimmed. Oldest first; each text is one clean line without secrets.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Facts {
    /// The last user prompts, without the current one: at most 5, each ≤ 400 chars and `...`.
    pub prompts: Vec<String>,
    /// The last agent replies: at most 3, each ≤ 300 chars and `...`; the newest ≤ 2,000 when the prompt is short.
    pub replies: Vec<String>,
    /// The last question sentence of the newest agent reply, ≤ 300 chars and `...`.
    pub question: Option<String>,
    /// The last tool calls, rendered: at most 10.
    pub tools: Vec<String>,
    /// The newest `Skill` call among the last 10 tool calls.
    pub skill: Option<String>,
    /// The task state.
    pub tasks: Option<Tasks>,
}

/// The task state of a session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tasks {
    /// Not begun.
    pub pending: usize,
    /// Begun.
    pub in_progress: usize,
    /// Done.
    pub completed: usize,
    /// Text of the first item in progress, ≤ 200 chars and `...`.
    pub current: Option<String>,
}

impl Facts {
    /// Of the end of a transcript, and the prompt that it is read for.
    #[must_use]
    pub fn of_transcript(tail: &str, prompt: &str) -> Self {
        transcript::read(tail, prompt)
    }

    /// Of turns, oldest first, and the prompt that they are read for.
    #[must_use]
    pub fn of_turns(turns: &[Turn], prompt: &str) -> Self {
        let mut collector = collect::Collector::new(prompt);
        for turn in turns.iter().rev() {
            match turn.role {
                crate::request::Role::User => collector.user(&turn.text),
                crate::request::Role::Assistant => collector.reply(&turn.text),
            }
        }
        collector.finish()
    }

    /// Whether there is an earlier turn.
    #[must_use]
    pub fn has_turns(&self) -> bool {
        !self.prompts.is_empty() || !self.replies.is_empty()
    }
}

/// Whether a prompt is too short to stand without what the agent asked.
#[must_use]
pub fn is_short(prompt: &str) -> bool {
    prompt.trim().chars().nth(10).is_none()
}
