//! Denials one can act on: what was asked, which line decided, and which line would allow it.
//!
//! A denial holds virtual paths, URLs and program names. It never holds the directory or the URL that a mount stands for.

use std::fmt;

/// The rule that decided: where it stands and what it says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The policy file as the operator named it, `the default policy`, `the manifest`, or a flag.
    pub source: String,
    /// The line of `source`, from 1, where it has lines that a person can look up.
    pub line: Option<u64>,
    /// What the rule says about the question, in words.
    pub reason: String,
    /// The text of that line without the blanks around it; empty where there is none.
    pub text: String,
}

impl Rule {
    /// A rule that is not a line of a policy.
    pub(super) fn of(source: &str, reason: impl Into<String>) -> Self {
        Self {
            source: source.to_owned(),
            line: None,
            reason: reason.into(),
            text: String::new(),
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.source)?;
        if let Some(line) = self.line {
            write!(formatter, ":{line}")?;
        }
        write!(formatter, " ({})", self.reason)
    }
}

/// An operation the grant does not cover.
///
/// Displays as one sentence, for example ``fs.read:/home is denied by policy.yaml:4 (capability_ceiling.fs.read does not
/// cover it); to allow it, add "/home" to capability_ceiling.fs.read``.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", sentence(.0))]
pub struct Denial(Box<Parts>);

// Boxed because answers are mostly leave, and a `Result` is as large as its larger half.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Parts {
    capability: String,
    rule: Rule,
    remedy: String,
}

/// A path may hold control characters, and denials are read on terminals.
fn sentence(parts: &Parts) -> String {
    let Parts {
        capability,
        rule,
        remedy,
    } = parts;
    let text = format!("{capability} is denied by {rule}; to allow it, {remedy}");
    let mut sentence = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_control() {
            sentence.extend(character.escape_default());
        } else {
            sentence.push(character);
        }
    }
    sentence
}

impl Denial {
    pub(super) fn new(capability: String, rule: Rule, remedy: String) -> Self {
        Self(Box::new(Parts {
            capability,
            rule,
            remedy,
        }))
    }

    /// What was asked, as `kind:value`: `fs.read:/home`, `net.http:https://…`, `exec.safe:git`.
    pub fn capability(&self) -> &str {
        &self.0.capability
    }

    /// The rule that decided.
    pub fn decided_by(&self) -> &Rule {
        &self.0.rule
    }

    /// What would allow it, as an instruction: `add "/home" to capability_ceiling.fs.read`.
    pub fn would_allow(&self) -> &str {
        &self.0.remedy
    }
}

/// Why a program may not be started, or cannot be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProgramDenial {
    /// No rule, or not the manifest, allows the program.
    #[error("{0}")]
    Program(Denial),
    /// A rule names the program, but none with these arguments.
    #[error("{0}")]
    Arguments(Denial),
    /// A rule names the program and its arguments, but not in this directory.
    #[error("{0}")]
    Directory(Denial),
    /// A rule allows it, and no such program was installed when the policy was loaded.
    #[error("the program is not installed")]
    NotFound,
}

impl ProgramDenial {
    /// The denial, unless the program is merely not installed.
    pub fn denial(&self) -> Option<&Denial> {
        match self {
            Self::Program(denial) | Self::Arguments(denial) | Self::Directory(denial) => {
                Some(denial)
            }
            Self::NotFound => None,
        }
    }
}
