//! Redaction: what is written or answered holds no value of a secret.
//!
//! [`Redactor`] knows values and replaces them in each form in which they may come back; [`shapes`] knows no value
//! and finds what looks like one, for logs and errors.

mod forms;
pub mod shapes;
mod unescape;

#[cfg(test)]
mod tests;

use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;

use crate::failure::Failure;
use forms::{Form, forms};

/// What takes the place of a value.
pub const REDACTED: &str = "***REDACTED***";

/// Bytes of a value; shorter ones would be found everywhere.
pub(crate) const SHORTEST: usize = 6;

/// Replaces values.
#[derive(Default)]
pub struct Redactor {
    /// Longest first, so that no value hides a part of another.
    forms: Vec<Form>,
}

impl Redactor {
    /// For these values, of 6 bytes or more each.
    #[must_use]
    pub fn new<'a>(values: impl IntoIterator<Item = &'a SecretString>) -> Self {
        let mut all: Vec<Form> = values
            .into_iter()
            .flat_map(|value| forms(value.expose_secret()))
            .collect();
        all.sort_by_key(|form| std::cmp::Reverse(form.len()));
        Self { forms: all }
    }

    /// Whether there is nothing to look for.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.forms.is_empty()
    }

    /// The bytes without any value; none where none is in them.
    #[must_use]
    pub fn bytes(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        let mut replaced: Option<Vec<u8>> = None;
        for form in &self.forms {
            if let Some(new) = form.replace(replaced.as_deref().unwrap_or(bytes)) {
                replaced = Some(new);
            }
        }
        replaced
    }

    /// The text without any value.
    #[must_use]
    pub fn text(&self, text: &str) -> String {
        self.replaced(text).unwrap_or_else(|| text.to_owned())
    }

    /// The text without any value; none where none is in it.
    fn replaced(&self, text: &str) -> Option<String> {
        let bytes = self.bytes(text.as_bytes())?;
        // Each form is text, so what is left is.
        Some(String::from_utf8(bytes).unwrap_or_else(|_| REDACTED.to_owned()))
    }

    /// Every string in a value, and no name: for what has names of our own.
    pub fn texts(&self, value: &mut Value) {
        match value {
            Value::String(text) => {
                if let Some(replaced) = self.replaced(text) {
                    *text = replaced;
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.texts(item)),
            Value::Object(members) => members.values_mut().for_each(|member| self.texts(member)),
            Value::Number(_) | Value::Bool(_) | Value::Null => {}
        }
    }

    /// A failure, also without what only looks like a secret.
    #[must_use]
    pub fn failure(&self, mut failure: Failure) -> Failure {
        let clean = |text: &str| shapes::hide(&self.text(text)).into_owned();
        failure.message = clean(&failure.message);
        failure.hint = failure.hint.map(|hint| clean(&hint).into());
        failure.path = failure.path.map(|path| self.text(&path).into());
        for name in &mut failure.missing {
            *name = self.text(name);
        }
        failure
    }
}
