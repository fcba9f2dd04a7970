//! The prompt hook in the settings of Claude Code, or of another agent with settings of the same form.

use std::ops::Range;
use std::path::Path;

use serde_json::{Value, json};

use super::json::{Dialect, Document, named, wholes};
use super::{Change, Edit, EditError, SetupError};

/// The event, as settings name it.
const EVENT: &str = "UserPromptSubmit";
/// Seconds that the agent waits for the hook.
const TIMEOUT: u64 = 20;
/// What follows the program in a command of ours.
const ARGUMENTS: &str = " hook user-prompt-submit";
/// What chooses who plans.
const MODE: &str = " --mode ";

/// The change that puts the hook into `file`; none if it is there. With `subagent`, a subagent plans: a hook that is there
/// already is told so. One whose program is gone gets that of `command`.
///
/// # Errors
/// [`SetupError`]
pub fn install(file: &Path, command: &str, subagent: bool) -> Result<Option<Change>, SetupError> {
    Change::of(file, |text| {
        let text = text.unwrap_or("{}\n");
        let found = Found::in_text(text, command)?;
        let wanted = |there: &str| {
            let repaired = repaired(there, command).unwrap_or_else(|| there.to_owned());
            if subagent {
                of_subagent(&repaired)
            } else {
                repaired
            }
        };
        let Some(ours) = found.ours.first() else {
            return Ok(Edit::Text(with_hook(text, &wanted(command))?));
        };
        let wanted = wanted(&ours.command);
        if wanted == ours.command {
            return Ok(Edit::Nothing);
        }
        let changed = found.with_command(ours, &wanted);
        Ok(changed.map_or(Edit::Nothing, Edit::Text))
    })
}

/// The change that takes the hook out of `file`; none if it is not there. Where nothing else has changed since it was put
/// in, the result is what was there before, byte for byte.
///
/// # Errors
/// [`SetupError`]
pub fn uninstall(file: &Path, command: &str) -> Result<Option<Change>, SetupError> {
    Change::undoing(
        file,
        |text| without_hook(text, command),
        |copy, text| {
            let found = Found::in_text(text, command).ok()?;
            with_hook(copy, &found.ours.first()?.command).ok()
        },
    )
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

/// The command with a subagent that plans, whoever planned before.
#[must_use]
pub fn of_subagent(command: &str) -> String {
    match command.split_once(MODE) {
        Some((before, mode)) => {
            let rest = mode.split_once(' ').map(|(_, rest)| format!(" {rest}"));
            format!("{before}{MODE}subagent{}", rest.unwrap_or_default())
        }
        None => format!("{command}{MODE}subagent"),
    }
}

/// The text with the hook at the end of the list of its event.
fn with_hook(text: &str, command: &str) -> Result<String, EditError> {
    let found = Found::in_text(text, command)?;
    let document = &found.document;
    let layout = document.layout();
    let entry = entry(command);
    let changed = match (&found.hooks, &found.event) {
        (_, Some(event)) => document.with(event, 3, &layout.value(&entry, 3)),
        (Some(hooks), None) => document.with(hooks, 2, &layout.member(EVENT, &json!([entry]), 2)),
        (None, None) => {
            let hooks = json!({ EVENT: [entry] });
            document.with(&document.root, 1, &layout.member("hooks", &hooks, 1))
        }
    };
    // What was there is there still; a text that would be anything else is not written.
    let mut expected = document.value.clone();
    add(&mut expected, &entry);
    if Document::parse(&changed, Dialect::Json)?.value == expected {
        Ok(changed)
    } else {
        Err(EditError::InPlace)
    }
}

/// The text without the hook, and without the lists that it leaves empty; none if it has none.
fn without_hook(text: &str, command: &str) -> Result<Option<String>, EditError> {
    let mut current = text.to_owned();
    let mut changed = false;
    // One at a time: each moves what comes after it.
    loop {
        let found = Found::in_text(&current, command)?;
        let Some(ours) = found.ours.first() else {
            return Ok(changed.then_some(current));
        };
        current = found.without(ours);
        changed = true;
    }
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
struct Found<'a> {
    document: Document<'a>,
    hooks: Option<Range<usize>>,
    event: Option<Range<usize>>,
    ours: Vec<Ours>,
}

/// A command of ours.
struct Ours {
    command: String,
    /// Where the entry of the event is that holds it.
    entry: usize,
    /// Where it is in the list of that entry.
    index: usize,
    list: Vec<Range<usize>>,
}

impl<'a> Found<'a> {
    /// `command` counts as ours, whatever its program is called.
    fn in_text(text: &'a str, command: &str) -> Result<Self, EditError> {
        let document = Document::parse(text, Dialect::Json)?;
        let top = document.members(&document.root).ok_or(EditError::InPlace)?;
        let mut found = Self {
            document,
            hooks: None,
            event: None,
            ours: Vec::new(),
        };
        let Some((_, hooks)) = named(&top, "hooks") else {
            return Ok(found);
        };
        let document = &found.document;
        let inner = document
            .members(&hooks.value)
            .ok_or(EditError::Form("hooks is not an object"))?;
        found.hooks = Some(hooks.value.clone());
        let Some((_, event)) = named(&inner, EVENT) else {
            return Ok(found);
        };
        let entries = document
            .elements(&event.value)
            .ok_or(EditError::Form("hooks.UserPromptSubmit is not a list"))?;
        found.event = Some(event.value.clone());
        for (entry, range) in entries.iter().enumerate() {
            let Some(list) = document
                .members(range)
                .as_deref()
                .and_then(|members| named(members, "hooks"))
                .and_then(|(_, list)| document.elements(&list.value))
            else {
                continue;
            };
            for (index, hook) in list.iter().enumerate() {
                let there = document.value_at(hook).and_then(|hook| {
                    let command = hook.get("command")?.as_str()?;
                    Some(command.to_owned())
                });
                if let Some(command) = there.filter(|there| is_ours(there, command)) {
                    found.ours.push(Ours {
                        command,
                        entry,
                        index,
                        list: list.clone(),
                    });
                }
            }
        }
        Ok(found)
    }

    /// The text without a command: the innermost that holds nothing else goes as a whole.
    fn without(&self, ours: &Ours) -> String {
        let document = &self.document;
        let event = self.event.clone().unwrap_or_default();
        let entries = document.elements(&event).unwrap_or_default();
        let hooks = self.hooks.clone().unwrap_or_default();
        let inner = document.members(&hooks).unwrap_or_default();
        let top = document.members(&document.root).unwrap_or_default();
        if ours.list.len() > 1 {
            document.without(&ours.list, ours.index)
        } else if entries.len() > 1 {
            document.without(&entries, ours.entry)
        } else if inner.len() > 1 {
            let (index, _) = named(&inner, EVENT).unzip();
            document.without(&wholes(&inner), index.unwrap_or_default())
        } else {
            let (index, _) = named(&top, "hooks").unzip();
            document.without_top(&top, index.unwrap_or_default())
        }
    }

    /// The text with another command in the place of one of ours.
    fn with_command(&self, ours: &Ours, wanted: &str) -> Option<String> {
        let hook = self.document.members(ours.list.get(ours.index)?)?;
        let (_, command) = named(&hook, "command")?;
        let wanted = Value::from(wanted);
        Some(self.document.with_value(&command.value, &wanted, 0))
    }
}

/// A command of a shell that starts a program as the hook.
struct Started<'a> {
    /// What comes before the program: `env` and variables.
    before: &'a str,
    program: String,
    /// What follows [`ARGUMENTS`].
    arguments: &'a str,
}

impl<'a> Started<'a> {
    fn parse(command: &'a str) -> Option<Self> {
        let (start, arguments) = command.split_once(ARGUMENTS)?;
        if !(arguments.is_empty() || arguments.starts_with(' ')) {
            return None;
        }
        let mut words = shlex::split(start)?;
        let program = words.pop()?;
        let is_env = words.first().is_some_and(|first| file_name(first) == "env");
        if !is_env && !words.iter().all(|word| word.contains('=')) {
            return None;
        }
        // The program as it is written: the last part of the text that means this word.
        let spaces = start
            .rmatch_indices(' ')
            .map(|(at, _)| at.saturating_add(1));
        let mut starts = spaces.chain([0]);
        let at = starts.find(|at| {
            let written = start.get(*at..).and_then(shlex::split);
            written.is_some_and(|words| words == [program.as_str()])
        })?;
        Some(Self {
            before: start.get(..at)?,
            program,
            arguments,
        })
    }

    /// Whether nothing is where the program was.
    fn is_gone(&self) -> bool {
        let program = Path::new(&self.program);
        program.is_absolute() && !program.exists()
    }
}

/// The command with the program of `own`; none if its program is there, or may be.
fn repaired(command: &str, own: &str) -> Option<String> {
    let started = Started::parse(command).filter(Started::is_gone)?;
    let (program, _) = own.split_once(ARGUMENTS)?;
    let Started {
        before, arguments, ..
    } = started;
    Some(format!("{before}{program}{ARGUMENTS}{arguments}"))
}

/// Whether a command starts the hook: it is `own`, whoever plans, or that of a program which is called `hydrant` or gone.
fn is_ours(command: &str, own: &str) -> bool {
    let started = Started::parse(command);
    let is_hydrant = started
        .is_some_and(|started| file_name(&started.program) == "hydrant" || started.is_gone());
    is_hydrant || of_subagent(command) == of_subagent(own)
}

fn file_name(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}

#[cfg(test)]
mod tests;
