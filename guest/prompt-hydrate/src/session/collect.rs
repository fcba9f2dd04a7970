//! Collects the facts of a session from its turns and tool calls, the newest first.

use serde_json::Value;

use super::tasks::TaskCalls;
use super::{Facts, is_short};
use crate::hook;
use crate::redact;

const PROMPTS: usize = 5;
const REPLIES: usize = 3;
const TOOLS: usize = 10;

/// Characters that are kept of each.
const PROMPT_CHARS: usize = 400;
const REPLY_CHARS: usize = 300;
const REPLY_CHARS_OF_SHORT_PROMPT: usize = 2_000;
const QUESTION_CHARS: usize = 300;
const TOOL_VALUE_CHARS: usize = 60;
const TOOL_NAME_CHARS: usize = 80;
const TOOL_VALUES: usize = 8;

/// User texts that begin so were not typed by the user.
const NOT_TYPED: &[&str] = &[
    "<agent-notification>",
    "<task-notification>",
    "<ide_selection>",
    "<ide_opened_file>",
    "<system-reminder>",
    "<local-command-stdout>",
];

/// Inputs of tools that are left out.
const LEFT_OUT: &[&str] = &[
    "description",
    "prompt",
    "content",
    "old_string",
    "new_string",
];

/// What is collected so far; everything comes newest first.
#[derive(Debug)]
pub(super) struct Collector<'a> {
    prompt: &'a str,
    /// A user text was met: only the very last one can be the current prompt.
    user_was_met: bool,
    facts: Facts,
    tool_calls: usize,
    tasks: TaskCalls,
}

impl<'a> Collector<'a> {
    pub(super) fn new(prompt: &'a str) -> Self {
        Self {
            prompt,
            user_was_met: false,
            facts: Facts::default(),
            tool_calls: 0,
            tasks: TaskCalls::default(),
        }
    }

    /// Nothing older can add to what was said.
    pub(super) fn has_talk(&self) -> bool {
        self.facts.prompts.len() >= PROMPTS && self.facts.replies.len() >= REPLIES
    }

    /// Nothing older can add to what was called, but for tasks.
    pub(super) fn has_tools(&self) -> bool {
        self.facts.tools.len() >= TOOLS
    }

    pub(super) fn has_tasks(&self) -> bool {
        self.tasks.are_known()
    }

    /// A text of the user.
    pub(super) fn user(&mut self, text: &str) {
        let text = text.trim();
        if text.is_empty() || NOT_TYPED.iter().any(|mark| text.starts_with(mark)) {
            return;
        }
        let typed = hook::arguments_of_command(text).unwrap_or(text);
        let is_current = !self.user_was_met && text == self.prompt.trim();
        self.user_was_met = true;
        if typed.is_empty() || is_current || self.facts.prompts.len() >= PROMPTS {
            return;
        }
        let line = redact::excerpt(typed, PROMPT_CHARS, "...");
        push(&mut self.facts.prompts, line);
    }

    /// A reply of the agent.
    pub(super) fn reply(&mut self, text: &str) {
        if self.facts.replies.len() >= REPLIES {
            return;
        }
        let is_newest = self.facts.replies.is_empty();
        let most = if is_newest && is_short(self.prompt) {
            REPLY_CHARS_OF_SHORT_PROMPT
        } else {
            REPLY_CHARS
        };
        push(&mut self.facts.replies, redact::excerpt(text, most, "..."));
        if is_newest && !self.facts.replies.is_empty() {
            self.facts.question = last_question(text);
        }
    }

    /// A tool call.
    pub(super) fn tool(&mut self, name: &str, input: &Value) {
        self.tool_calls = self.tool_calls.saturating_add(1);
        let is_of_tasks = name == "TodoWrite" || name.starts_with("Task");
        if is_of_tasks {
            self.tasks.call(name, input);
        } else if name == "Skill" {
            if self.facts.skill.is_none() && self.tool_calls <= TOOLS {
                let skill = ["skill", "command", "name"]
                    .iter()
                    .find_map(|key| input.get(key)?.as_str());
                let skill = redact::excerpt(skill.unwrap_or_default(), TOOL_NAME_CHARS, "...");
                self.facts.skill = (!skill.is_empty()).then(|| skill.replace('"', "'"));
            }
        } else if self.facts.tools.len() < TOOLS {
            push(&mut self.facts.tools, tool_line(name, input));
        }
    }

    pub(super) fn finish(mut self) -> Facts {
        self.facts.prompts.reverse();
        self.facts.replies.reverse();
        self.facts.tools.reverse();
        self.facts.tasks = self.tasks.state();
        self.facts
    }
}

fn push(texts: &mut Vec<String>, text: String) {
    if !text.is_empty() {
        texts.push(text);
    }
}

/// `Name(key="value", …)`
fn tool_line(name: &str, input: &Value) -> String {
    let name: String = name
        .chars()
        .filter(|c| c.is_alphanumeric() || "_.:-".contains(*c))
        .take(TOOL_NAME_CHARS)
        .collect();
    if name.is_empty() {
        return name;
    }
    let values = input.as_object().into_iter().flatten();
    let values: Vec<String> = values
        .filter(|(key, _)| !LEFT_OUT.contains(&key.as_str()))
        .take(TOOL_VALUES)
        .map(|(key, value)| {
            let key = redact::excerpt(key, TOOL_NAME_CHARS, "...");
            let value = match value {
                Value::String(text) => redact::excerpt(text, TOOL_VALUE_CHARS, "..."),
                other => redact::excerpt(&other.to_string(), TOOL_VALUE_CHARS, "..."),
            };
            format!("{key}=\"{}\"", value.replace('"', "'"))
        })
        .collect();
    // Once more: a key may say that its value is a secret.
    redact::secrets(&format!("{name}({})", values.join(", ")))
}

/// Returns the last sentence of a reply that ends with a question mark, outside fences.
fn last_question(reply: &str) -> Option<String> {
    const LOOK_AT_BYTES: usize = 16_384;
    let start = reply.len().saturating_sub(LOOK_AT_BYTES);
    let reply = reply.get(reply.ceil_char_boundary(start)..)?;
    let mut in_fence = false;
    let mut last = None;
    for line in reply.lines() {
        if line.trim_start().starts_with("```") {
            in_fence = !in_fence;
        } else if !in_fence {
            last = last_question_of_line(line).or(last);
        }
    }
    let question = redact::excerpt(last?, QUESTION_CHARS, "...");
    (question.chars().count() > 1).then_some(question)
}

fn last_question_of_line(line: &str) -> Option<&str> {
    // What may follow the mark of a sentence, or come before its first word.
    let closes = |c: char| "*_\"')]`”’".contains(c);
    let ends = |rest: &str| {
        let rest = rest.trim_start_matches(closes);
        rest.is_empty() || rest.starts_with(char::is_whitespace)
    };
    let after = |at: usize| line.get(at.saturating_add(1)..).unwrap_or_default();
    let (end, _) = line.match_indices('?').rfind(|(at, _)| ends(after(*at)))?;
    let before = line.get(..end)?;
    let start = before
        .match_indices(['.', '!', '?'])
        .rfind(|(at, _)| ends(after(*at)) && !is_list_number(before, *at))
        .map_or(0, |(at, _)| at.saturating_add(1));
    let sentence = line.get(start..end.saturating_add(1))?;
    let sentence =
        sentence.trim_start_matches(|c: char| c.is_whitespace() || closes(c) || "-#>".contains(c));
    (sentence != "?").then_some(sentence)
}

/// Whether the full stop at this place is that of `1.` at the beginning of a line.
fn is_list_number(line: &str, at: usize) -> bool {
    let number = line.get(..at).unwrap_or_default().trim_start();
    !number.is_empty() && number.chars().all(|c| c.is_ascii_digit())
}
