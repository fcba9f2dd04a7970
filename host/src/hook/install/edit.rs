//! Putting the hook into the text of a settings file and taking it out again, without touching anything else in it.

use std::ops::Range;

use serde_json::{Value, json};

use super::spans::{Member, elements, members, root};

/// The event, as settings name it.
const EVENT: &str = "UserPromptSubmit";
/// seconds.
const TIMEOUT: u64 = 20;

/// Why a text cannot be changed.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    /// It is no JSON.
    #[error("it is not valid JSON: {0}")]
    Json(String),
    /// It is JSON of another form.
    #[error("{0}")]
    Form(&'static str),
}

/// The entry of settings files for a command.
#[must_use]
pub fn entry(command: &str) -> Value {
    json!({ "hooks": [{ "type": "command", "command": command, "timeout": TIMEOUT }] })
}

/// All that a settings file needs for a command.
#[must_use]
pub fn settings(command: &str, event: &str) -> Value {
    json!({ "hooks": { event: [entry(command)] } })
}

/// The commands of this hook that the text has.
///
/// # Errors
/// [`EditError`]
pub(super) fn installed(text: &str) -> Result<Vec<String>, EditError> {
    let found = Found::in_text(text)?;
    Ok(found.ours.into_iter().map(|(_, command)| command).collect())
}

/// The text with the hook at the end of the list of its event.
///
/// # Errors
/// [`EditError`]
pub(super) fn with_hook(text: &str, command: &str) -> Result<String, EditError> {
    let found = Found::in_text(text)?;
    let layout = Layout::of(text);
    let entry = entry(command);
    let (container, depth, addition) = match (found.hooks, found.event) {
        (_, Some(event)) => (event, 3, layout.value(&entry, 3)),
        (Some(hooks), None) => (hooks, 2, layout.member(EVENT, &json!([entry]), 2)),
        (None, None) => {
            let hooks = json!({ EVENT: [entry] });
            (found.root, 1, layout.member("hooks", &hooks, 1))
        }
    };
    let changed = layout.insert(text, &container, depth, &addition);
    // What was there is there still; a text that would be anything else is not written.
    let (mut before, after) = (parse(text)?, parse(&changed)?);
    add(&mut before, &entry);
    if before == after {
        Ok(changed)
    } else {
        Err(EditError::Form("it cannot be changed in place"))
    }
}

/// The text without the hook, and without the lists that it leaves empty; none if it has none.
///
/// # Errors
/// [`EditError`]
pub(super) fn without_hook(text: &str) -> Result<Option<String>, EditError> {
    let mut current = text.to_owned();
    let mut changed = false;
    // One at a time: each moves what comes after it.
    while let Some((range, _)) = Found::in_text(&current)?.ours.into_iter().next() {
        current.replace_range(range, "");
        changed = true;
    }
    Ok(changed.then_some(current))
}

fn parse(text: &str) -> Result<Value, EditError> {
    serde_json::from_str(text).map_err(|error| EditError::Json(error.to_string()))
}

fn add(settings: &mut Value, entry: &Value) {
    if let Some(list) = settings
        .as_object_mut()
        .map(|root| root.entry("hooks").or_insert_with(|| json!({})))
        .and_then(Value::as_object_mut)
        .map(|hooks| hooks.entry(EVENT).or_insert_with(|| json!([])))
        .and_then(Value::as_array_mut)
    {
        list.push(entry.clone());
    }
}

/// What concerns the hook in a text.
struct Found {
    root: Range<usize>,
    hooks: Option<Range<usize>>,
    event: Option<Range<usize>>,
    /// What to take out for each command of ours, and the command.
    ours: Vec<(Range<usize>, String)>,
}

impl Found {
    fn in_text(text: &str) -> Result<Self, EditError> {
        let odd = EditError::Form("it cannot be read in place");
        let value = parse(text)?;
        if !value.is_object() {
            return Err(EditError::Form("it is not a JSON object"));
        }
        let (Some(root), true) = (root(text), text.is_char_boundary(0)) else {
            return Err(odd);
        };
        let top = members(text, &root).ok_or(odd)?;
        let mut found = Self {
            root,
            hooks: None,
            event: None,
            ours: Vec::new(),
        };
        let Some((index, hooks)) = named(&top, "hooks") else {
            return Ok(found);
        };
        let inner = members(text, &hooks.value).ok_or(EditError::Form("hooks is not an object"))?;
        found.hooks = Some(hooks.value.clone());
        let Some((inner_index, event)) = named(&inner, EVENT) else {
            return Ok(found);
        };
        let entries = elements(text, &event.value)
            .ok_or(EditError::Form("hooks.UserPromptSubmit is not a list"))?;
        found.event = Some(event.value.clone());
        for (entry_index, entry) in entries.iter().enumerate() {
            let Some(list) = members(text, entry)
                .as_deref()
                .and_then(|members| named(members, "hooks"))
                .and_then(|(_, list)| elements(text, &list.value))
            else {
                continue;
            };
            for (command_index, hook) in list.iter().enumerate() {
                let Some(command) = text.get(hook.clone()).and_then(command_of) else {
                    continue;
                };
                // The innermost that holds nothing else goes as a whole.
                let wholes = |members: &[Member]| -> Vec<_> {
                    members.iter().map(|member| member.whole.clone()).collect()
                };
                let range = if list.len() > 1 {
                    without(&list, command_index)
                } else if entries.len() > 1 {
                    without(&entries, entry_index)
                } else if inner.len() > 1 {
                    without(&wholes(&inner), inner_index)
                } else {
                    let range = without(&wholes(&top), index);
                    // Nothing is left: neither is the space.
                    if top.len() > 1 {
                        range
                    } else {
                        inside(&found.root)
                    }
                };
                found.ours.push((range, command));
            }
        }
        Ok(found)
    }
}

/// The last member of a name counts, as for whoever reads the file.
fn named<'a>(members: &'a [Member], name: &str) -> Option<(usize, &'a Member)> {
    let mut all = members.iter().enumerate();
    all.rfind(|(_, member)| member.name == name)
}

/// What to take out so that part `index` is gone, and one comma with it.
fn without(parts: &[Range<usize>], index: usize) -> Range<usize> {
    let part = parts.get(index).cloned().unwrap_or_default();
    let before = index.checked_sub(1).and_then(|index| parts.get(index));
    match (before, parts.get(index.saturating_add(1))) {
        (Some(before), _) => before.end..part.end,
        (None, Some(next)) => part.start..next.start,
        (None, None) => part,
    }
}

fn inside(container: &Range<usize>) -> Range<usize> {
    container.start.saturating_add(1)..container.end.saturating_sub(1)
}

/// The command of a hook of ours: a program called `hydrant`, with `hook user-prompt-submit`.
fn command_of(hook: &str) -> Option<String> {
    let hook: Value = serde_json::from_str(hook).ok()?;
    let command = hook.get("command")?.as_str()?;
    let (program, arguments) = command.split_once(" hook user-prompt-submit")?;
    let ends = arguments.is_empty() || arguments.starts_with(' ');
    let program = program.trim_matches(['\'', '"']);
    let name = program.rsplit('/').next()?;
    (ends && name == "hydrant").then(|| command.to_owned())
}

/// How a text is laid out.
struct Layout {
    /// One level; empty: all on one line.
    indent: String,
    newline: &'static str,
}

impl Layout {
    fn of(text: &str) -> Self {
        let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let trimmed = text.trim();
        // Of an empty object nothing is known: as most have it.
        let is_empty = trimmed.trim_matches(['{', '}']).trim().is_empty();
        let indent = text.lines().skip(1).find_map(|line| {
            let space = line.len().saturating_sub(line.trim_start().len());
            line.get(..space).filter(|indent| !indent.is_empty())
        });
        Self {
            indent: match indent {
                Some(indent) => indent.to_owned(),
                None if is_empty || trimmed.contains('\n') => "  ".to_owned(),
                None => String::new(),
            },
            newline,
        }
    }

    fn member(&self, name: &str, value: &Value, depth: usize) -> String {
        let space = if self.indent.is_empty() { "" } else { " " };
        format!("\"{name}\":{space}{}", self.value(value, depth))
    }

    /// A value that begins at this depth.
    fn value(&self, value: &Value, depth: usize) -> String {
        if self.indent.is_empty() {
            return value.to_string();
        }
        let mut pretty = Vec::new();
        let formatter = serde_json::ser::PrettyFormatter::with_indent(self.indent.as_bytes());
        let mut serializer = serde_json::Serializer::with_formatter(&mut pretty, formatter);
        let written = serde::Serialize::serialize(value, &mut serializer);
        match (written, String::from_utf8(pretty)) {
            (Ok(()), Ok(text)) => {
                let line_end = format!("{}{}", self.newline, self.indent.repeat(depth));
                text.replace('\n', &line_end)
            }
            _ => value.to_string(),
        }
    }

    /// The text with an addition at the end of a container whose parts stand at this depth.
    fn insert(&self, text: &str, container: &Range<usize>, depth: usize, addition: &str) -> String {
        let inner = inside(container);
        let content = text.get(inner.clone()).unwrap_or_default();
        let kept = inner
            .start
            .saturating_add(content.trim_end().len())
            .max(inner.start);
        let comma = if content.trim().is_empty() { "" } else { "," };
        let line = |depth: usize| match self.indent.as_str() {
            "" => String::new(),
            indent => format!("{}{}", self.newline, indent.repeat(depth)),
        };
        format!(
            "{}{comma}{}{addition}{}{}",
            text.get(..kept).unwrap_or_default(),
            line(depth),
            line(depth.saturating_sub(1)),
            text.get(inner.end..).unwrap_or_default(),
        )
    }
}

#[cfg(test)]
mod tests;
