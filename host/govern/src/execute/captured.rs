//! Secrets that an operation returns are taken out before anything else sees them.

use std::collections::BTreeSet;

use secrecy::SecretString;
use serde_json::{Value, json};

use super::plan::Run;
use crate::chain::Event;

/// How many one call may return. Where there are more the answer is withheld: what is not kept might stand in it twice.
const CAPTURED: usize = 64;

/// A secret that came back.
#[derive(Debug)]
pub struct Captured {
    /// What the onboarding calls it, else `<SKILL>_<PROPERTY>`, in upper snake case.
    pub name: String,
    /// Pending until an operator grants it.
    pub value: SecretString,
}

impl Run<'_> {
    /// The same bytes, with a reference in place of each returned secret. In what is not JSON nobody knows where it is: such
    /// an answer is withheld.
    pub(super) fn capture(&mut self, bytes: Vec<u8>) -> Vec<u8> {
        let pointers = &self.call.operation.returns_secret;
        if pointers.is_empty() || bytes.is_empty() {
            return bytes;
        }
        let Ok(mut value) = serde_json::from_slice::<Value>(&bytes) else {
            return self
                .withhold("it should return a secret, and is not the JSON that it is taken from");
        };
        let mut taken = 0_usize;
        let mut is_full = false;
        for pointer in pointers {
            let steps: Vec<String> = pointer
                .split('/')
                .skip(1)
                .map(|step| step.replace("~1", "/").replace("~0", "~"))
                .collect();
            let property = steps
                .iter()
                .rev()
                .find(|step| *step != "*" && step.parse::<usize>().is_err());
            let base = match self.call.operation.secret_names.get(pointer) {
                Some(name) => name.clone(),
                None => upper_snake(&format!(
                    "{}_{}",
                    self.call.skill_id,
                    property.map_or("SECRET", String::as_str)
                )),
            };
            let mut found = Vec::new();
            take(&mut value, &steps, &mut |leaf| {
                // No secret, and nothing that could be used as one; or another pointer found it already.
                if matches!(leaf, Value::Null | Value::Bool(_)) || self.is_taken(leaf, &found) {
                    return;
                }
                // Whatever a service sends, nothing is compared with more than these.
                is_full = is_full || self.captured.len().saturating_add(found.len()) >= CAPTURED;
                if is_full {
                    return;
                }
                let name = self.free_name(&base, &found);
                let text = match leaf {
                    Value::String(text) => std::mem::take(text),
                    _ => leaf.to_string(),
                };
                *leaf = reference(&name);
                found.push(Captured {
                    name,
                    value: SecretString::from(text),
                });
            });
            taken = taken.saturating_add(found.len());
            for captured in found {
                self.keep(captured);
            }
        }
        if is_full {
            return self.withhold(&format!("it may return more than {CAPTURED} secrets"));
        }
        if taken == 0 {
            return bytes;
        }
        // Also where it stands a second time.
        self.echo.bytes(value.to_string().into_bytes())
    }

    fn withhold(&mut self, why: &str) -> Vec<u8> {
        self.warnings.push(format!("the answer is withheld: {why}"));
        Vec::new()
    }

    fn keep(&mut self, captured: Captured) {
        self.echo.add(&captured.name, &captured.value, true);
        self.record(Event::SecretCaptured, captured.name.clone());
        self.captured.push(captured);
    }

    /// Whether it is what stands in place of one.
    fn is_taken(&self, leaf: &Value, found: &[Captured]) -> bool {
        let mut known = self.captured.iter().chain(found);
        leaf.is_object() && known.any(|captured| *leaf == reference(&captured.name))
    }

    /// The name, with a number behind it if it was given already.
    fn free_name(&self, base: &str, found: &[Captured]) -> String {
        let known: BTreeSet<&str> = self
            .captured
            .iter()
            .chain(found)
            .map(|captured| captured.name.as_str())
            .collect();
        if !known.contains(base) {
            return base.to_owned();
        }
        (2_u64..)
            .map(|number| format!("{base}_{number}"))
            .find(|name| !known.contains(name.as_str()))
            .unwrap_or_else(|| base.to_owned())
    }
}

/// What stands in place of a secret.
pub(crate) fn reference(name: &str) -> Value {
    json!({ "secret-ref": format!("secret:{name}") })
}

/// Calls `leaf` with each value that the steps lead to; `*` is each element.
fn take(value: &mut Value, steps: &[String], leaf: &mut dyn FnMut(&mut Value)) {
    let Some((step, rest)) = steps.split_first() else {
        leaf(value);
        return;
    };
    match value {
        Value::Object(members) => {
            if let Some(member) = members.get_mut(step) {
                take(member, rest, leaf);
            }
        }
        Value::Array(items) if step == "*" => {
            for item in items {
                take(item, rest, leaf);
            }
        }
        Value::Array(items) => {
            if let Some(item) = step
                .parse()
                .ok()
                .and_then(|index: usize| items.get_mut(index))
            {
                take(item, rest, leaf);
            }
        }
        _ => {}
    }
}

fn upper_snake(text: &str) -> String {
    let mut name = String::with_capacity(text.len());
    let mut before = None;
    for c in text.chars() {
        // `accessToken` is `ACCESS_TOKEN`.
        if c.is_uppercase() && before.is_some_and(|c: char| c.is_lowercase() || c.is_numeric()) {
            name.push('_');
        }
        if c.is_alphanumeric() {
            name.extend(c.to_uppercase());
        } else if !name.ends_with('_') {
            name.push('_');
        }
        before = Some(c);
    }
    name
}
