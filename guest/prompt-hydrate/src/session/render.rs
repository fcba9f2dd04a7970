//! The session as text of the file, trimmed to its budget.

use super::{Facts, is_short};
use crate::redact::cut;

/// Q-76 (3)
const LIMITS: [usize; 4] = [200, 120, 80, 60];

/// The text of the section; empty when nothing is known or nothing fits. `fits` is asked whether a text does.
///
/// Steps are taken one at a time, in the order of Q-76, and end as soon as the text fits.
#[must_use]
pub fn render(facts: &Facts, prompt: &str, fits: impl Fn(&str) -> bool) -> String {
    let mut shown = Shown {
        facts: facts.clone(),
        limit: usize::MAX,
    };
    let mut steps = Steps::default();
    loop {
        let text = shown.text();
        if text.is_empty() || fits(&text) {
            return text;
        }
        if !steps.take_next(&mut shown, is_short(prompt)) {
            return String::new();
        }
    }
}

/// What is still shown.
struct Shown {
    facts: Facts,
    /// Characters of each prompt.
    limit: usize,
}

/// How far the trimming has come.
#[derive(Default)]
struct Steps {
    at: usize,
}

impl Steps {
    /// Makes the text one step shorter; false when nothing is left to take.
    fn take_next(&mut self, shown: &mut Shown, keep_question: bool) -> bool {
        loop {
            let facts = &mut shown.facts;
            let done = match self.at {
                0 => !std::mem::take(&mut facts.replies).is_empty(),
                // Stays at this step as long as there is something to take.
                1 => {
                    if remove_first(&mut facts.tools) {
                        return true;
                    }
                    false
                }
                2..=5 => {
                    let limit = LIMITS.get(self.at.saturating_sub(2)).copied();
                    shown.limit(limit.unwrap_or(60))
                }
                6 => facts.skill.take().is_some(),
                7 => {
                    if facts.prompts.len() > 3 {
                        return remove_first(&mut facts.prompts);
                    }
                    false
                }
                8 => shown.limit(40),
                9 => {
                    if facts.prompts.len() > 1 {
                        return remove_first(&mut facts.prompts);
                    }
                    false
                }
                10 => !keep_question && facts.question.take().is_some(),
                11 => facts
                    .tasks
                    .as_mut()
                    .is_some_and(|tasks| tasks.current.take().is_some()),
                12 => remove_first(&mut facts.prompts),
                13 => facts.question.take().is_some(),
                14 => facts.tasks.take().is_some(),
                _ => return false,
            };
            self.at = self.at.saturating_add(1);
            if done {
                return true;
            }
        }
    }
}

fn remove_first(texts: &mut Vec<String>) -> bool {
    let any = !texts.is_empty();
    if any {
        texts.remove(0);
    }
    any
}

impl Shown {
    fn limit(&mut self, limit: usize) -> bool {
        self.limit = limit;
        true
    }

    ///
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

    /// A prompt cut to the limit; those of Q-72 have their own `...` already.
    fn shortened(&self, prompt: &str) -> String {
        let whole = prompt.strip_suffix("...").unwrap_or(prompt);
        if whole.chars().nth(self.limit).is_none() {
            return prompt.to_owned();
        }
        cut(whole, self.limit, "...")
    }
}
