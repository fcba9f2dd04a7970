//! The JSON that the hook gets on stdin (section 2), and which prompts it passes over (section 4).

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{self, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::redact;
use crate::respond::{Failure, Skip};

/// bytes of stdin.
const MAX_BYTES: usize = 8 * 1024 * 1024;

/// The keys that are used.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Input {
    /// Empty: absent.
    pub prompt: String,
    /// Empty: absent.
    pub session_id: String,
    /// Of the transcript.
    pub transcript_path: Option<String>,
    /// Working directory of the user's session.
    pub cwd: Option<String>,
    /// Of a subagent.
    pub agent_id: Option<String>,
    /// Of a subagent.
    pub agent_type: Option<String>,
    /// `UserPromptSubmit`, if it says so.
    pub event: Option<String>,
}

impl Input {
    /// Reads stdin.
    ///
    /// # Errors
    /// `stdin` for what Q-15 calls bad input. The detail never quotes it.
    pub fn parse(stdin: &str) -> Result<Self, Failure> {
        if stdin.len() > MAX_BYTES {
            return Err(bad("over 8 MiB"));
        }
        let text = stdin.strip_prefix('\u{FEFF}').unwrap_or(stdin);
        if !text
            .trim_start_matches([' ', '\t', '\n', '\r'])
            .starts_with('{')
        {
            return Err(bad("not a JSON object"));
        }
        let Keys(keys) = serde_json::from_str(&without_lone_surrogates(text)).map_err(|error| {
            bad(&format!(
                "not JSON: line {} column {}",
                error.line(),
                error.column()
            ))
        })?;
        let [
            prompt,
            session_id,
            transcript_path,
            cwd,
            agent_id,
            agent_type,
            event,
        ] = keys;
        Ok(Self {
            prompt: prompt.required("prompt")?,
            session_id: session_id.required("session_id")?,
            transcript_path: transcript_path.text(),
            cwd: cwd.text(),
            agent_id: agent_id.text(),
            agent_type: agent_type.text(),
            event: event.text(),
        })
    }

    /// the name of another event, as one short line.
    #[must_use]
    pub fn event_warning(&self) -> Option<String> {
        let event = self.event.as_deref()?;
        (!["UserPromptSubmit", "BeforeAgent"].contains(&event))
            .then(|| redact::excerpt(event, 60, "..."))
    }

    /// The first rule by which the prompt is passed over (section 4).
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

    ///
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

fn bad(detail: &str) -> Failure {
    Failure::new("stdin", detail)
}

/// JSON with each escape of half a surrogate pair replaced by that of U+FFFD, which serde_json would refuse.
fn without_lone_surrogates(json: &str) -> Cow<'_, str> {
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

/// Replaces halves of surrogate pairs in one line of a transcript.
pub(crate) fn repaired(line: &str) -> Cow<'_, str> {
    without_lone_surrogates(line)
}

/// The unit of UTF-16 that `\uXXXX` at the beginning stands for.
fn unit(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    let all = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    all.then(|| u16::from_str_radix(digits, 16).ok())?
}

/// The value of a key.
#[derive(Debug, Default)]
enum Field {
    #[default]
    Absent,
    Text(String),
    Other,
}

impl Field {
    /// null and absent read as "".
    fn required(self, key: &str) -> Result<String, Failure> {
        match self {
            Self::Absent => Ok(String::new()),
            Self::Text(text) => Ok(text),
            Self::Other => Err(bad(&format!("{key} is not a string"))),
        }
    }

    /// a wrong type reads as absent.
    fn text(self) -> Option<String> {
        match self {
            Self::Text(text) => Some(text),
            Self::Absent | Self::Other => None,
        }
    }
}

/// The values of [`KEYS`]; of a key that is given twice, the last.
struct Keys([Field; 7]);

const KEYS: [&str; 7] = [
    "prompt",
    "session_id",
    "transcript_path",
    "cwd",
    "agent_id",
    "agent_type",
    "hook_event_name",
];

impl<'de> Deserialize<'de> for Keys {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(KeysVisitor)
    }
}

struct KeysVisitor;

impl<'de> Visitor<'de> for KeysVisitor {
    type Value = Keys;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Keys, A::Error> {
        let mut keys = Keys(Default::default());
        while let Some(key) = map.next_key::<Cow<'de, str>>()? {
            match keys.0.iter_mut().zip(KEYS).find(|(_, known)| *known == key) {
                Some((field, _)) => *field = map.next_value()?,
                // However deep it is: ignoring does not recurse.
                None => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(keys)
    }
}

impl<'de> Deserialize<'de> for Field {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(FieldVisitor)
    }
}

struct FieldVisitor;

impl<'de> Visitor<'de> for FieldVisitor {
    type Value = Field;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Field, E> {
        Ok(Field::Text(text.to_owned()))
    }

    fn visit_string<E: de::Error>(self, text: String) -> Result<Field, E> {
        Ok(Field::Text(text))
    }

    fn visit_unit<E: de::Error>(self) -> Result<Field, E> {
        Ok(Field::Absent)
    }

    fn visit_bool<E: de::Error>(self, _: bool) -> Result<Field, E> {
        Ok(Field::Other)
    }

    fn visit_i64<E: de::Error>(self, _: i64) -> Result<Field, E> {
        Ok(Field::Other)
    }

    fn visit_u64<E: de::Error>(self, _: u64) -> Result<Field, E> {
        Ok(Field::Other)
    }

    fn visit_f64<E: de::Error>(self, _: f64) -> Result<Field, E> {
        Ok(Field::Other)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Field, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Field::Other)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Field, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Field::Other)
    }
}

#[cfg(test)]
mod tests;
