//! What the host fills in for `{{memory:K}}`, `{{user_input}}` and `{{run_id}}`. What comes of it are params as any
//! caller could give them: they are checked and encoded like those.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use serde_json::Value;

use super::NAME;
use crate::failure::{Code, Failure};

/// Bytes that params may have once they are filled in, as for those of any caller.
const FILLED: usize = 1 << 20;

/// What the host has to fill in.
pub(crate) struct Given<'a> {
    /// Of the skill, by key; kept once it was looked up.
    memory: &'a dyn Fn(&str) -> Result<Option<Value>, Failure>,
    known: RefCell<BTreeMap<String, Option<Value>>>,
    /// Of whoever asks for the onboarding to go on.
    user_input: Option<&'a Value>,
    /// Of the session.
    run: &'a str,
    left: Cell<usize>,
}

impl<'a> Given<'a> {
    pub(crate) fn new(
        memory: &'a dyn Fn(&str) -> Result<Option<Value>, Failure>,
        user_input: Option<&'a Value>,
        run: &'a str,
    ) -> Self {
        Self {
            memory,
            known: RefCell::default(),
            user_input,
            run,
            left: Cell::new(FILLED),
        }
    }

    /// The params with everything filled in. A text that is nothing but one placeholder becomes the value itself; in any
    /// other the value becomes part of the text.
    ///
    /// # Errors
    ///
    /// `missing-input` with path where there is no such value yet, or none that a text can hold; `limit` where more than 1 MiB
    /// would come of it.
    pub(crate) fn fill(&self, value: &Value, path: &str) -> Result<Value, Failure> {
        Ok(match value {
            Value::String(text) => self.text(text, path)?,
            Value::Array(items) => items
                .iter()
                .enumerate()
                .map(|(index, item)| self.fill(item, &format!("{path}[{index}]")))
                .collect::<Result<_, _>>()?,
            Value::Object(members) => members
                .iter()
                .map(|(name, member)| {
                    let filled = self.fill(member, &format!("{path}.{name}"))?;
                    Ok((name.clone(), filled))
                })
                .collect::<Result<_, Failure>>()?,
            other => other.clone(),
        })
    }

    fn text(&self, text: &str, path: &str) -> Result<Value, Failure> {
        let mut filled = String::new();
        let mut rest = text;
        while let Some((before, name, after)) = placeholder(rest) {
            let value = self.value(name, path)?;
            if before.is_empty() && after.is_empty() && filled.is_empty() {
                return Ok(value);
            }
            filled.push_str(before);
            match value {
                Value::String(text) => filled.push_str(&text),
                Value::Number(_) | Value::Bool(_) => filled.push_str(&value.to_string()),
                _ => return Err(missing(name, path)),
            }
            rest = after;
        }
        filled.push_str(rest);
        Ok(Value::String(filled))
    }

    fn value(&self, name: &str, path: &str) -> Result<Value, Failure> {
        let value = match name {
            "user_input" => self.user_input.cloned(),
            "run_id" => Some(Value::String(self.run.to_owned())),
            name => self.remembered(name.strip_prefix("memory:").unwrap_or_default().trim())?,
        };
        let value = value.ok_or_else(|| missing(name, path))?;
        let length = serde_json::to_vec(&value).map_or(usize::MAX, |text| text.len());
        let left = self.left.get().checked_sub(length).ok_or_else(|| {
            Failure::new(
                Code::Limit,
                format!("what is filled in has more than {FILLED} bytes"),
            )
            .at_path(path)
        })?;
        self.left.set(left);
        Ok(value)
    }

    fn remembered(&self, key: &str) -> Result<Option<Value>, Failure> {
        if let Some(known) = self.known.borrow().get(key) {
            return Ok(known.clone());
        }
        let found = (self.memory)(key)?;
        self.known
            .borrow_mut()
            .insert(key.to_owned(), found.clone());
        Ok(found)
    }
}

/// Numbers and truth values become text where the operation takes nothing else: an answer's `"id": 7` is kept as it is, and
/// the command that it goes into has a text there.
pub(crate) fn fit(params: &mut Value, input_schema: &Value) {
    let Value::Object(members) = params else {
        return;
    };
    for (name, value) in members {
        let wanted = input_schema
            .get("properties")
            .and_then(|properties| properties.get(name)?.get("type"));
        if wanted.is_some_and(|wanted| wanted == "string")
            && matches!(value, Value::Number(_) | Value::Bool(_))
        {
            *value = Value::String(value.to_string());
        }
    }
}

/// The first placeholder: the text before it, its name, the text behind. Other text in braces stays as it is.
fn placeholder(text: &str) -> Option<(&str, &str, &str)> {
    text.match_indices("{{").find_map(|(at, _)| {
        let (before, rest) = text.split_at(at);
        let rest = rest.strip_prefix("{{")?;
        // A name is short: what has no end nearby is none.
        let near = rest.get(..rest.floor_char_boundary(NAME)).unwrap_or(rest);
        let (name, _) = near.split_once("}}")?;
        let after = rest.get(name.len().saturating_add(2)..)?;
        let name = name.trim();
        let is_ours = matches!(name, "user_input" | "run_id") || name.starts_with("memory:");
        is_ours.then_some((before, name, after))
    })
}

fn missing(name: &str, path: &str) -> Failure {
    let name: String = name.chars().take(64).collect();
    let failure = Failure::new(
        Code::MissingInput,
        format!("there is no value for {name} yet"),
    )
    .at_path(path)
    .with_missing(vec![name.clone()]);
    if name == "user_input" {
        failure.with_hint("give it: `hydrant skill onboard SKILL --input JSON`, or `user-input` of ccos.skill.onboard")
    } else {
        failure
    }
}
