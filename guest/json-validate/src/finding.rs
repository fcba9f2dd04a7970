//! What is wrong with an instance: errors as they are answered (TS-125, TS-126).

use std::collections::BTreeSet;
use std::fmt::{self, Write};

use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind;
use serde_json::Value;

/// Characters of a message at most.
const MESSAGE_CHARACTERS: usize = 512;

/// Characters of a value that a message shows.
const PREVIEW_CHARACTERS: usize = 96;

/// Bytes of a value that are looked at to show it: white space is left out.
const PREVIEW_BYTES: usize = 1024;

/// In place of a value: the error was found when errors held as much as they may, and is not reported. No value
/// is shown like this, because the text of a value has no control character.
pub(crate) const UNREPORTED: &str = "\0";

/// One error; ordered as the answer is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
pub(crate) struct Finding {
    instance_path: String,
    schema_path: String,
    message: String,
}

impl Finding {
    /// Of the text as a whole.
    pub(crate) fn of_text(message: &str) -> Self {
        Self {
            instance_path: String::new(),
            schema_path: String::new(),
            message: one_line(&message),
        }
    }

    /// Of a schema that could not be compiled there.
    pub(crate) fn of_schema(path: &str, message: &dyn fmt::Display) -> Self {
        Self {
            instance_path: path.to_owned(),
            schema_path: String::new(),
            message: one_line(message),
        }
    }
}

/// The errors of one instance that are answered.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    pub(crate) list: Vec<Finding>,
    /// There are more.
    pub(crate) truncated: bool,
}

impl Findings {
    /// The first `most` errors by path and message; never holds more than one more of them.
    pub(crate) fn collect<'a>(
        errors: impl Iterator<Item = ValidationError<'a>>,
        most: usize,
    ) -> Self {
        let mut kept = BTreeSet::new();
        let mut truncated = false;
        for error in errors {
            if is_unreported(&error) {
                truncated = true;
                continue;
            }
            let (instance, schema) = (error.instance_path().as_str(), error.schema_path().as_str());
            let is_behind = |last: &Finding| {
                (instance, schema) > (last.instance_path.as_str(), last.schema_path.as_str())
            };
            if kept.len() > most && kept.last().is_some_and(is_behind) {
                continue;
            }
            kept.insert(Finding {
                instance_path: instance.to_owned(),
                schema_path: schema.to_owned(),
                message: one_line(&Message(&error)),
            });
            if kept.len() > most.saturating_add(1) {
                kept.pop_last();
            }
        }
        if kept.len() > most {
            truncated = true;
            kept.pop_last();
        }
        Self {
            list: kept.into_iter().collect(),
            truncated,
        }
    }
}

fn is_unreported(error: &ValidationError<'_>) -> bool {
    error.instance().as_str() == Some(UNREPORTED)
}

/// The message of an error, with the value as [`preview`] shows it.
struct Message<'a, 'e>(&'a ValidationError<'e>);

impl fmt::Display for Message<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(error) = self;
        match error.kind() {
            ValidationErrorKind::PropertyNames { error } => {
                write!(f, "a name is not allowed: {}", Message(error))
            }
            ValidationErrorKind::AdditionalItems { limit } => {
                write!(f, "Additional items are not allowed (more than {limit})")
            }
            _ => match &**error.instance() {
                Value::String(shown) => error.masked_with(shown.as_str()).fmt(f),
                _ => error.masked().fmt(f),
            },
        }
    }
}

/// As much of a JSON text as a message shows, without white space between its tokens.
pub(crate) fn preview(source: &str) -> String {
    let mut shown = String::new();
    let (mut in_string, mut escaped, mut left) = (false, false, PREVIEW_CHARACTERS);
    for (at, character) in source.char_indices() {
        if !in_string && character.is_ascii_whitespace() && at < PREVIEW_BYTES {
            continue;
        }
        if left == 0 || at >= PREVIEW_BYTES {
            shown.push('…');
            break;
        }
        left = left.saturating_sub(1);
        shown.push(character);
        match character {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => in_string = !in_string,
            _ => {}
        }
    }
    shown
}

/// A string as [`preview`] shows it.
pub(crate) fn preview_string(text: &str) -> String {
    let mut written = Vec::new();
    kit::json::write_string(&mut written, kit::cut::at_bytes(text, PREVIEW_BYTES));
    preview(&String::from_utf8_lossy(&written))
}

/// A message on one line, cut at its limit. What is written does not get longer in memory than that.
fn one_line(message: &dyn fmt::Display) -> String {
    let mut line = Line {
        text: String::new(),
        left: MESSAGE_CHARACTERS.saturating_sub(1),
    };
    // Fails when the line is full, and then needs no more.
    let _ = write!(line, "{message}");
    line.text
}

struct Line {
    text: String,
    /// Characters that fit, but for the mark that the rest was cut.
    left: usize,
}

impl Write for Line {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for character in text.chars() {
            if self.left == 0 {
                self.text.push('…');
                return Err(fmt::Error);
            }
            self.left = self.left.saturating_sub(1);
            self.text.push(if character.is_control() {
                '\u{FFFD}'
            } else {
                character
            });
        }
        Ok(())
    }
}
