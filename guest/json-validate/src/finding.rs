//! What is wrong with an instance: errors as they are answered.

use std::collections::BTreeSet;
use std::fmt::{self, Write};

use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind;

/// Characters of a message at most.
const MESSAGE_CHARACTERS: usize = 512;

/// Characters of a value that a message shows.
const PREVIEW_CHARACTERS: usize = 96;

/// Errors of branches that are told with one of `anyOf` or `oneOf`.
const BRANCH_ERRORS: usize = 20;

/// One error; ordered as the answer is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
pub(crate) struct Finding {
    instance_path: String,
    schema_path: String,
    message: String,
    /// Why each branch of `anyOf` or `oneOf` failed, in their order; those have none of their own.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    branches: Vec<Finding>,
}

impl Finding {
    /// An error of the text as a whole.
    pub(crate) fn of_text(message: &str) -> Self {
        Self::of_schema("", &message)
    }

    /// An error of a schema that cannot be compiled there.
    pub(crate) fn of_schema(path: &str, message: &dyn fmt::Display) -> Self {
        Self {
            instance_path: path.to_owned(),
            schema_path: String::new(),
            message: one_line(message, MESSAGE_CHARACTERS),
            branches: Vec::new(),
        }
    }

    fn new(error: &ValidationError<'_>) -> Self {
        let mut branches = Vec::new();
        add_branches(error, &mut branches);
        Self {
            branches,
            ..Self::alone(error)
        }
    }

    /// The error without those of its branches.
    fn alone(error: &ValidationError<'_>) -> Self {
        Self {
            instance_path: error.instance_path().as_str().to_owned(),
            schema_path: error.schema_path().as_str().to_owned(),
            message: one_line(&Message(error), MESSAGE_CHARACTERS),
            branches: Vec::new(),
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
        for error in errors {
            let (instance, schema) = (error.instance_path().as_str(), error.schema_path().as_str());
            let is_behind = |last: &Finding| {
                (instance, schema) > (last.instance_path.as_str(), last.schema_path.as_str())
            };
            if kept.len() > most && kept.last().is_some_and(is_behind) {
                continue;
            }
            kept.insert(Finding::new(&error));
            if kept.len() > most.saturating_add(1) {
                kept.pop_last();
            }
        }
        let truncated = kept.len() > most;
        Self {
            list: kept.into_iter().take(most).collect(),
            truncated,
        }
    }
}

/// Adds why the branches of `anyOf` and `oneOf` failed, as far as there is room: of a branch that is another `anyOf`,
/// its branches instead.
fn add_branches(error: &ValidationError<'_>, branches: &mut Vec<Finding>) {
    let (ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context }) =
        error.kind()
    else {
        return;
    };
    for error in context.iter().flatten() {
        if branches.len() >= BRANCH_ERRORS {
            return;
        }
        let before = branches.len();
        add_branches(error, branches);
        if branches.len() == before {
            branches.push(Finding::alone(error));
        }
    }
}

/// The message of an error, with the beginning of the value.
struct Message<'a, 'e>(&'a ValidationError<'e>);

impl fmt::Display for Message<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(error) = self;
        if let ValidationErrorKind::PropertyNames { error } = error.kind() {
            return write!(f, "a name is not allowed: {}", Message(error));
        }
        let value = one_line(error.instance().as_ref(), PREVIEW_CHARACTERS);
        error.masked_with(value).fmt(f)?;
        if let ValidationErrorKind::OneOfMultipleValid { context } = error.kind() {
            let valid = (0..).zip(context).filter(|(_, errors)| errors.is_empty());
            let valid: Vec<String> = valid
                .map(|(branch, _): (usize, _)| branch.to_string())
                .collect();
            write!(f, ": under {}", valid.join(" and "))?;
        }
        Ok(())
    }
}

/// A text on one line, cut at its limit. What is written does not get longer in memory than that.
fn one_line(text: &dyn fmt::Display, most: usize) -> String {
    let mut line = Line {
        text: String::new(),
        left: most.saturating_sub(1),
    };
    // Fails when the line is full, and then needs no more.
    let _ = write!(line, "{text}");
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
