//! The session as text of the file, trimmed to its budget.

use super::{Facts, is_short};
use crate::redact::cut;

/// Returns the text of the section; empty when nothing is known or nothing fits. `fits` is asked whether a text does.
///
/// What matters least goes first, one thing at a time, until the text fits.
#[must_use]
pub fn render(facts: &Facts, prompt: &str, fits: impl Fn(&str) -> bool) -> String {
    let mut shown = Shown {
        facts: facts.clone(),
        limit: usize::MAX,
        keeps_question: is_short(prompt),
    };
    let mut text = shown.text();
    for step in STEPS {
        while !text.is_empty() && !fits(&text) && step(&mut shown) {
            text = shown.text();
        }
    }
    if fits(&text) { text } else { String::new() }
}

/// What is still shown.
struct Shown {
    facts: Facts,
    /// Characters of each prompt.
    limit: usize,
    /// The prompt says little without the agent's question.
    keeps_question: bool,
}

/// Takes something away; false when there is nothing left of its kind.
type Step = fn(&mut Shown) -> bool;

const STEPS: &[Step] = &[
    |shown| !std::mem::take(&mut shown.facts.replies).is_empty(),
    |shown| remove_first(&mut shown.facts.tools, 0),
    |shown| shown.shorten_prompts(200),
    |shown| shown.shorten_prompts(120),
    |shown| shown.shorten_prompts(80),
    |shown| shown.shorten_prompts(60),
    |shown| shown.facts.skill.take().is_some(),
    |shown| remove_first(&mut shown.facts.prompts, 3),
    |shown| shown.shorten_prompts(40),
    |shown| remove_first(&mut shown.facts.prompts, 1),
    |shown| !shown.keeps_question && shown.facts.question.take().is_some(),
    |shown| {
        let tasks = shown.facts.tasks.as_mut();
        tasks.is_some_and(|tasks| tasks.current.take().is_some())
    },
    |shown| remove_first(&mut shown.facts.prompts, 0),
    |shown| shown.facts.question.take().is_some(),
    |shown| shown.facts.tasks.take().is_some(),
];

/// Removes the oldest text where there are more than `most`.
fn remove_first(texts: &mut Vec<String>, most: usize) -> bool {
    let is_over = texts.len() > most;
    if is_over {
        texts.remove(0);
    }
    is_over
}

impl Shown {
    fn shorten_prompts(&mut self, limit: usize) -> bool {
        let is_shorter = limit < self.limit;
        self.limit = limit.min(self.limit);
        is_shorter
    }

    fn text(&self) -> String {
        let facts = &self.facts;
        let mut lines = Vec::new();
        let mut list = |title: &str, texts: &mut dyn Iterator<Item = String>| {
            let mut texts = texts.peekable();
            if texts.peek().is_some() {
                lines.push(title.to_owned());
            }
            lines.extend(
                (1..)
                    .zip(texts)
                    .map(|(number, text): (u32, _)| format!("{number}. {text}")),
            );
        };
        let quoted = |text: &str| format!("\"{text}\"");
        let prompts = facts.prompts.iter();
        list(
            "Recent prompts:",
            &mut prompts.map(|text| quoted(&self.shortened(text))),
        );
        list(
            "Agent questions (recent):",
            &mut facts.question.iter().cloned(),
        );
        list(
            "Recent agent responses:",
            &mut facts.replies.iter().map(|text| quoted(text)),
        );
        if !facts.tools.is_empty() {
            lines.push("Recent tools:".to_owned());
            lines.extend(facts.tools.iter().map(|tool| format!("  - {tool}")));
        }
        if let Some(skill) = &facts.skill {
            lines.push(format!("Active: Skill(\"{skill}\") invoked recently"));
        }
        if let Some(tasks) = &facts.tasks {
            let current = tasks.current.as_ref().map(|text| format!(" (\"{text}\")"));
            lines.push(format!(
                "Tasks: {} pending, {} in_progress{}, {} completed",
                tasks.pending,
                tasks.in_progress,
                current.unwrap_or_default(),
                tasks.completed
            ));
        }
        lines.join("\n")
    }

    /// A prompt cut to the limit; long ones have their own `...` already.
    fn shortened(&self, prompt: &str) -> String {
        let whole = prompt.strip_suffix("...").unwrap_or(prompt);
        if whole.chars().nth(self.limit).is_none() {
            return prompt.to_owned();
        }
        cut(whole, self.limit, "...")
    }
}
