//! What was noticed on the way and does not end it. Never holds the value of a credential.

use crate::failure::Code;
use crate::limits;
pub use crate::model::{Diagnostic, Severity};

/// Characters of a document that a message may quote.
const EXCERPT_CHARACTERS: usize = 120;

/// What was noticed, in order; each thing once.
#[derive(Debug, Clone, Default)]
pub struct Diagnostics {
    list: Vec<Diagnostic>,
    seen: std::collections::BTreeSet<(Code, u32, String)>,
}

impl Diagnostics {
    /// Adds all of another list.
    pub fn append(&mut self, other: &Self) {
        for one in &other.list {
            self.add(one.severity, one.code, one.line, one.message.clone());
        }
    }

    /// Adds one, unless the same was added before or there are as many as an answer may have.
    pub fn add(&mut self, severity: Severity, code: Code, line: u32, message: impl Into<String>) {
        let message = message.into();
        if self.list.len() > limits::DIAGNOSTICS || !self.seen.insert((code, line, message.clone()))
        {
            return;
        }
        self.list.push(if self.list.len() < limits::DIAGNOSTICS {
            Diagnostic {
                code,
                severity,
                line,
                message,
            }
        } else {
            Diagnostic {
                code: Code::Limit,
                severity: Severity::Warn,
                line,
                message: format!("more than {} diagnostics", limits::DIAGNOSTICS),
            }
        });
    }

    /// Adds one of severity `info`.
    pub fn info(&mut self, code: Code, line: u32, message: impl Into<String>) {
        self.add(Severity::Info, code, line, message);
    }

    /// Adds one of severity `warn`.
    pub fn warn(&mut self, code: Code, line: u32, message: impl Into<String>) {
        self.add(Severity::Warn, code, line, message);
    }

    /// Adds one of severity `error`.
    pub fn error(&mut self, code: Code, line: u32, message: impl Into<String>) {
        self.add(Severity::Error, code, line, message);
    }

    /// All, in the order in which they were added.
    #[must_use]
    pub fn as_slice(&self) -> &[Diagnostic] {
        &self.list
    }
}

/// What a message may quote of a document: one line, 120 characters, no control characters.
#[must_use]
pub fn excerpt(text: &str) -> String {
    text.chars()
        .take(EXCERPT_CHARACTERS)
        .map(|c| if c.is_control() { '\u{FFFD}' } else { c })
        .collect()
}
