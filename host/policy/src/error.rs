//! Why a policy is refused.
//!
//! These messages are for the operator who wrote the policy: they name the file, the line, the member and the rule, and
//! may name directories of the host. What a skill gets to see is a [`Denial`](super::Denial).

use std::fmt;
use std::io;

/// Bytes of a policy file at most.
pub(super) const MAXIMUM_DOCUMENT_BYTES: u64 = 1_048_576;

/// A place in a policy file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file as the operator named it.
    pub file: String,
    /// The line, from 1.
    pub line: u64,
}

impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.file, self.line)
    }
}

/// Why there is no policy to run under. Nothing of it is in force: a policy is taken whole or refused whole.
#[derive(Debug, thiserror::Error)]
pub enum PolicyError {
    /// The file cannot be read.
    #[error("cannot read the policy {file}: {source}")]
    Unreadable {
        /// The file as the operator named it.
        file: String,
        /// What the operating system says.
        source: io::Error,
    },
    /// The file is longer than 1,048,576 bytes.
    #[error("policy exceeds maximum size ({size} bytes > {maximum} bytes): {file}")]
    TooLarge {
        /// The file as the operator named it.
        file: String,
        /// Its size in bytes, as far as it was read.
        size: u64,
        /// The most it may have.
        maximum: u64,
    },
    /// The text has not the shape of a policy.
    #[error("invalid policy document: {fault} ({place})")]
    Document {
        /// Where.
        place: Place,
        /// What.
        fault: DocumentFault,
    },
    /// `version` is not 1.
    #[error("unsupported policy version: {found} ({place})")]
    Version {
        /// Where.
        place: Place,
        /// The version as written.
        found: String,
    },
    /// The shape is right, and a value breaks a rule.
    #[error("policy constraint violation: {member} {rule} ({place})")]
    Constraint {
        /// Where.
        place: Place,
        /// The member, as a path from the top: `policy.host.mounts`.
        member: String,
        /// The rule, with the value that breaks it.
        rule: String,
    },
    /// A flag of the command line that maps a directory or a URL is wrong: a usage error.
    #[error("invalid mount `{flag}`: {rule}")]
    Flag {
        /// The flag's value, as given or in the same form.
        flag: String,
        /// The rule it breaks.
        rule: String,
    },
}

impl PolicyError {
    pub(super) fn constraint(
        file: &str,
        line: u64,
        member: impl Into<String>,
        rule: impl Into<String>,
    ) -> Self {
        let (file, member, rule) = (file.to_owned(), member.into(), rule.into());
        let place = Place { file, line };
        Self::Constraint {
            place,
            member,
            rule,
        }
    }

    /// The member of this path must be there and is not.
    pub(super) fn missing(file: &str, line: u64, member: &str) -> Self {
        let file = file.to_owned();
        Self::Document {
            place: Place { file, line },
            fault: DocumentFault::MissingMember(member.to_owned()),
        }
    }

    pub(super) fn flag(flag: impl Into<String>, rule: impl Into<String>) -> Self {
        let (flag, rule) = (flag.into(), rule.into());
        Self::Flag { flag, rule }
    }

    pub(super) fn unreadable(file: &str, source: io::Error) -> Self {
        let file = file.to_owned();
        Self::Unreadable { file, source }
    }

    /// Whether the command line is at fault and not the policy: that is a usage error.
    pub fn is_usage(&self) -> bool {
        matches!(self, Self::Flag { .. })
    }
}

/// What is wrong with the shape of a document.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DocumentFault {
    /// Not UTF-8.
    #[error("not UTF-8")]
    NotUtf8,
    /// Neither JSON nor YAML.
    #[error("{0}")]
    Syntax(String),
    /// Something of YAML that a policy may not use: anchors, aliases, tags, merge keys, a second document.
    #[error("{0} are not allowed")]
    Forbidden(&'static str),
    /// Collections nested too deep, or too many values.
    #[error("{0}")]
    TooMuch(&'static str),
    /// A member occurs twice.
    #[error("duplicate member `{0}`")]
    Duplicate(String),
    /// A member nobody knows.
    #[error("unknown member `{member}` at line {line}{}", suggested(suggestion))]
    UnknownMember {
        /// The member as written.
        member: String,
        /// The line, from 1.
        line: u64,
        /// The known member that is closest, if one is close.
        suggestion: Option<&'static str>,
    },
    /// A member that must be there is not.
    #[error("missing member `{0}`")]
    MissingMember(String),
    /// A value of the wrong type.
    #[error("{member} must be {expected}")]
    WrongType {
        /// The member, as a path from the top.
        member: String,
        /// What it must be.
        expected: &'static str,
    },
}

fn suggested(suggestion: &Option<&'static str>) -> String {
    suggestion.map_or_else(String::new, |known| format!("; did you mean `{known}`?"))
}
