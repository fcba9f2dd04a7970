//! Values that went out are searched for in what comes back, and replaced.

use std::collections::BTreeSet;

use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;

use crate::failure::Failure;
use crate::redact::{REDACTED, Redactor};

/// The values of a call, and which of them came back.
#[derive(Default)]
pub(super) struct Echo {
    /// Longest first, so that no value hides a part of another.
    values: Vec<Known>,
    echoed: BTreeSet<String>,
}

struct Known {
    name: String,
    value: SecretString,
    redactor: Redactor,
    /// It came back because the operation returns it: that is no echo.
    returned: bool,
}

impl Echo {
    /// Adds a value that is sent, or that was taken out of a response because the operation returns it.
    pub(super) fn add(&mut self, name: &str, value: &SecretString, returned: bool) {
        let redactor = Redactor::new([value]);
        let is_known = self
            .values
            .iter()
            .any(|known| known.value.expose_secret() == value.expose_secret());
        if redactor.is_empty() || is_known {
            return;
        }
        self.values.push(Known {
            name: name.to_owned(),
            value: value.clone(),
            redactor,
            returned,
        });
        self.values
            .sort_by_key(|known| std::cmp::Reverse(known.value.expose_secret().len()));
    }

    /// Whether there is nothing to search for.
    pub(super) fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The names that came back since this was asked last.
    pub(super) fn take_echoed(&mut self) -> BTreeSet<String> {
        std::mem::take(&mut self.echoed)
    }

    /// The same bytes without any of the values.
    pub(super) fn bytes(&mut self, mut bytes: Vec<u8>) -> Vec<u8> {
        for known in &self.values {
            if let Some(replaced) = known.redactor.bytes(&bytes) {
                bytes = replaced;
                if !known.returned {
                    self.echoed.insert(known.name.clone());
                }
            }
        }
        bytes
    }

    /// The same text without any of the values.
    pub(super) fn text(&mut self, text: String) -> String {
        // Each form of a value is text, so what is left is.
        String::from_utf8(self.bytes(text.into_bytes())).unwrap_or_else(|_| REDACTED.to_owned())
    }

    /// At most 300 characters of a host that somebody else named, for the chain: in hosts, case is lost.
    pub(super) fn folded(&self, host: &str) -> String {
        let folded: Vec<SecretString> = self
            .values
            .iter()
            .map(|known| SecretString::from(known.value.expose_secret().to_lowercase()))
            .collect();
        let exact = self.values.iter().map(|known| &known.value);
        let redactor = Redactor::new(folded.iter().chain(exact));
        redactor.text(host).chars().take(300).collect()
    }

    /// The names of headers, in which case is lost, without any of the values.
    pub(super) fn header_names<'a>(&mut self, names: impl Iterator<Item = &'a mut String>) {
        if self.values.is_empty() {
            return;
        }
        let folded: Vec<(String, Redactor)> = self
            .values
            .iter()
            .map(|known| {
                let value = SecretString::from(known.value.expose_secret().to_ascii_lowercase());
                (known.name.clone(), Redactor::new([&value]))
            })
            .collect();
        for name in names {
            for (secret, redactor) in &folded {
                let clean = redactor.text(name);
                if clean != *name {
                    self.echoed.insert(secret.clone());
                    *name = clean;
                }
            }
        }
    }

    /// Every string, name and number in a value: escapes that the bytes had are undone there.
    pub(super) fn value(&mut self, value: &mut Value) {
        if self.is_empty() {
            return;
        }
        match value {
            Value::String(text) => *text = self.text(std::mem::take(text)),
            Value::Array(items) => {
                for item in items {
                    self.value(item);
                }
            }
            Value::Object(members) => {
                let old = std::mem::take(members);
                for (name, mut member) in old {
                    self.value(&mut member);
                    members.insert(self.text(name), member);
                }
            }
            Value::Number(number) => {
                let written = number.to_string();
                if self.text(written.clone()) != written {
                    *value = REDACTED.into();
                }
            }
            Value::Bool(_) | Value::Null => {}
        }
    }

    /// A failure without any of the values.
    pub(super) fn failure(&self, failure: Failure) -> Failure {
        let redactor = Redactor::new(self.values.iter().map(|known| &known.value));
        redactor.failure(failure)
    }
}
