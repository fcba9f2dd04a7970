//! What a verification of pins found, as a document: text, JSON, SARIF or JUnit.
//!
//! Relies on findings that are already made; judges nothing. The same findings give the same bytes: there are no times,
//! no durations and no host paths in any document, and the order never depends on the order of the checks.

mod json;
mod junit;
pub mod sarif;
#[cfg(test)]
mod tests;
mod text;

use super::finding::Findings;
use hydrant_base::Digest;

pub use text::{Line, Stream, line_of_entry};

/// The form of the document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Lines for people.
    Text,
    /// One JSON object.
    Json,
    /// SARIF 2.1.0, for code scanning.
    Sarif,
    /// JUnit XML, for continuous integration.
    Junit,
}

/// The command that a report is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Command {
    /// `verify` of pins.
    Verify,
    /// `lock --update`.
    LockUpdate,
    /// `lock --check`.
    LockCheck,
    /// `lock --sign`.
    LockSign,
}

impl Command {
    /// As it is typed.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Verify => "verify",
            Self::LockUpdate => "lock --update",
            Self::LockCheck => "lock --check",
            Self::LockSign => "lock --sign",
        }
    }

    /// As it stands in the lines `OK …` and `FAIL …`.
    const fn label(self) -> &'static str {
        match self {
            Self::Verify => "verify-pins",
            Self::LockUpdate => "lock",
            Self::LockCheck => "lock-check",
            Self::LockSign => "lock-sign",
        }
    }
}

/// Everything a document tells.
#[derive(Debug, Clone)]
pub struct Report {
    /// The command that was run.
    pub command: Command,
    /// The digest of the lock file, when it could be read.
    pub lock_digest: Option<Digest>,
    /// The digest of the pins ring, when it could be read.
    pub keys_digest: Option<Digest>,
    /// `id@version` of each entry that was looked at, in order.
    pub entries: Vec<String>,
    /// Lines for people that are no findings, such as `repinned ...`; only the text form has them.
    pub notes: Vec<String>,
    /// The last lines of a text without findings, such as `OK verify-pins count=1`.
    pub summary: Vec<String>,
    findings: Findings,
}

impl Report {
    /// A report of these findings, sorted by skill, row and path, and of nothing else yet.
    #[must_use]
    pub fn new(command: Command, mut findings: Findings) -> Self {
        findings.sort();
        Self {
            command,
            lock_digest: None,
            keys_digest: None,
            entries: Vec::new(),
            notes: Vec::new(),
            summary: Vec::new(),
            findings,
        }
    }

    /// The exit status of the command.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        self.findings.exit_code()
    }

    /// The document in this form, with a line end.
    #[must_use]
    pub fn document(&self, format: Format) -> Vec<u8> {
        let mut bytes = match format {
            Format::Text => return text::document(self),
            Format::Json => json::document(self),
            Format::Sarif => sarif::document(self),
            Format::Junit => junit::document(self),
        };
        bytes.push(b'\n');
        bytes
    }

    /// The lines for people, each for stdout or stderr.
    #[must_use]
    pub fn lines(&self) -> Vec<Line> {
        text::lines(self)
    }
}
