//! The JSON that the hook gets on stdin, and which prompts it passes over.

use std::borrow::Cow;

use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};

use crate::redact;
use crate::respond::{Failure, Skip};

/// Bytes of stdin.
const MAX_BYTES: usize = 8 * 1024 * 1024;

/// The keys that are used.
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Input {
    /// Empty: absent.
    #[serde(deserialize_with = "text")]
    pub prompt: String,
    /// Empty: absent.
    #[serde(deserialize_with = "text")]
    pub session_id: String,
    /// Of the transcript.
    #[serde(deserialize_with = "text_or_nothing")]
    pub transcript_path: Option<String>,
    /// Working directory of the user's session.
    #[serde(deserialize_with = "text_or_nothing")]
    pub cwd: Option<String>,
    /// Of a subagent.
    #[serde(deserialize_with = "text_or_nothing")]
    pub agent_id: Option<String>,
    /// Of a subagent.
    #[serde(deserialize_with = "text_or_nothing")]
    pub agent_type: Option<String>,
    /// `UserPromptSubmit`, if it says so.
    #[serde(rename = "hook_event_name", deserialize_with = "text_or_nothing")]
    pub event: Option<String>,
}

/// Reads a text; null is an empty one.
fn text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    Option::deserialize(deserializer).map(Option::unwrap_or_default)
}

/// Reads a text; a value of another type is as good as none.
fn text_or_nothing<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Field {
        Text(String),
        Other(IgnoredAny),
    }
    Ok(match Field::deserialize(deserializer)? {
        Field::Text(text) => Some(text),
        Field::Other(_) => None,
    })
}

impl Input {
    /// Reads stdin.
    ///
    /// # Errors
    /// `stdin` for input that is no JSON object of the hook. The detail never quotes it.
    pub fn parse(stdin: &str) -> Result<Self, Failure> {
        if stdin.len() > MAX_BYTES {
            return Err(bad("over 8 MiB"));
        }
        let stdin = stdin.strip_prefix('\u{FEFF}').unwrap_or(stdin);
        let json = without_lone_surrogates(stdin);
        // serde reads a struct from an array too.
        if !json.trim_ascii_start().starts_with('{') {
            return Err(bad("not a JSON object"));
        }
        let mut reader = serde_json::Deserializer::from_str(&json);
        let input = serde_path_to_error::deserialize(&mut reader).map_err(|error| {
            match error.path().to_string().as_str() {
                path @ ("prompt" | "session_id") if error.inner().is_data() => {
                    bad(&format!("{path} is not a string"))
                }
                _ => not_json(error.inner()),
            }
        })?;
        reader.end().map_err(|error| not_json(&error))?;
        Ok(input)
    }

    /// Returns the name of another event, as one short line.
    #[must_use]
    pub fn event_warning(&self) -> Option<String> {
        let event = self.event.as_deref()?;
        (!["UserPromptSubmit", "BeforeAgent"].contains(&event))
            .then(|| redact::excerpt(event, 60, "..."))
    }

    /// The first rule by which the prompt is passed over.
    #[must_use]
    pub fn skip(&self, enabled: bool) -> Option<Skip> {
        let prompt = self.prompt.trim_start();
        let begins = |marks: &[&str]| marks.iter().any(|mark| prompt.starts_with(mark));
        let rule = if begins(&["<agent-notification>", "<task-notification>"]) {
            "notification"
        } else if begins(&["/"]) {
            "slash"
        } else if begins(&["."]) {
            "dot"
        } else if begins(&["# /", "### /"])
            || (begins(COMMAND_MARKS) && command_arguments(prompt).is_none())
        {
            "command"
        } else if begins(&["<loaded_context>", "<system-reminder>"]) {
            "injected"
        } else if self.is_of_subagent() {
            "subagent"
        } else if !enabled {
            "disabled"
        } else {
            return None;
        };
        Some(Skip { rule })
    }

    /// Whether the prompt is that of a subagent.
    fn is_of_subagent(&self) -> bool {
        let given = |text: &Option<String>| text.as_deref().is_some_and(|text| !text.is_empty());
        let path = self.transcript_path.as_deref().unwrap_or_default();
        let name = path.rsplit('/').next().unwrap_or_default();
        given(&self.agent_id)
            || given(&self.agent_type)
            || path.contains("/subagents/")
            || name.starts_with("agent-")
    }
}

/// What begins the block that an expanded command leaves.
pub const COMMAND_MARKS: &[&str] = &["<command-name>", "<command-message>"];

/// The text that is routed: the arguments of an expanded command where they say something, else the prompt.
#[must_use]
pub fn routed_text(prompt: &str) -> &str {
    command_arguments(prompt.trim_start()).unwrap_or(prompt)
}

/// The `<command-args>` of a block that begins with a command's mark, if they hold two or more words.
fn command_arguments(prompt: &str) -> Option<&str> {
    let arguments = arguments_of_command(prompt)?;
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '\'' | '_');
    let words = arguments
        .split(|c| !is_word(c))
        .filter(|word| !word.is_empty());
    (words.take(2).count() == 2).then_some(arguments)
}

/// The `<command-args>` of a block that begins with a command's mark, trimmed; empty where there are none.
#[must_use]
pub fn arguments_of_command(text: &str) -> Option<&str> {
    if !COMMAND_MARKS.iter().any(|mark| text.starts_with(mark)) {
        return None;
    }
    let arguments = text
        .split_once("<command-args>")
        .map_or("", |(_, rest)| rest);
    let end = arguments.find("</command-args>").unwrap_or(arguments.len());
    arguments.get(..end).map(str::trim)
}

fn not_json(error: &serde_json::Error) -> Failure {
    let (line, column) = (error.line(), error.column());
    bad(&format!("not JSON: line {line} column {column}"))
}

fn bad(detail: &str) -> Failure {
    Failure::new("stdin", detail)
}

/// JSON with each escape of half a surrogate pair replaced by that of U+FFFD, which serde_json would refuse.
pub(crate) fn without_lone_surrogates(json: &str) -> Cow<'_, str> {
    if !json.contains("\\ud") && !json.contains("\\uD") {
        return Cow::Borrowed(json);
    }
    let mut out = String::with_capacity(json.len());
    let mut rest = json;
    while let Some((before, escape)) = rest.find('\\').and_then(|at| rest.split_at_checked(at)) {
        out.push_str(before);
        let length = match (unit(escape), escape.get(6..).and_then(unit)) {
            (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => 12,
            (Some(0xD800..=0xDFFF), _) => {
                out.push_str("\\ufffd");
                rest = escape.get(6..).unwrap_or_default();
                continue;
            }
            (Some(_), _) => 6,
            // A backslash and the character that it escapes.
            (None, _) => escape.chars().take(2).map(char::len_utf8).sum(),
        };
        let (whole, after) = escape.split_at_checked(length).unwrap_or((escape, ""));
        out.push_str(whole);
        rest = after;
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// The unit of UTF-16 that `\uXXXX` at the beginning stands for.
fn unit(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    let all = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    all.then(|| u16::from_str_radix(digits, 16).ok())?
}

#[cfg(test)]
mod tests;
