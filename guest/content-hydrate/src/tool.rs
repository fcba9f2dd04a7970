//! P-3c: what tools say of themselves (§10.1).
//!
//! Whether a tool may run, and how, is the host's to decide (TD-02 to TD-09). This file decides what is asked
//! and what the answers mean.

use std::collections::BTreeMap;

use kit::host::process::{Command, Ending, Exit, ProcessError, Target, Tool as ToolCommand};
use kit::{SkillError, text};
use serde::Serialize;

use crate::{
    Effects,
    budget::Budget,
    checksum,
    code::Code,
    reading::{self, BATCH},
    reference::{MAX_DEPENDENCIES, Reference},
    search::Found,
    uri::{Place, Unresolved, Uri},
};

/// L-08
const TIMEOUT_MS: u32 = 5_000;

/// L-07
const MAX_OUTPUT_BYTES: u32 = 64 << 10;

/// An entry of `tools`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Tool {
    pub(crate) uri: String,
    pub(crate) description: String,
    /// Of its bytes, if asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) checksum: Option<String>,
}

/// A declared tool and the URI of the document that declares it.
struct Declared<'d> {
    reference: Reference,
    declared_by: &'d str,
}

/// A tool on the way to its description.
enum State {
    /// To be asked with `--help` (H-37).
    NeedsHelp,
    /// It has been found and did something; its bytes may be read (C-04).
    Ran(Result<String, Code>),
    /// Nothing of it was read.
    Failed(Code),
}

/// Describes every tool that was found, as far as there is room for it (H-35).
pub(crate) fn describe(
    effects: &mut impl Effects,
    budget: &mut Budget,
    resource: &Uri,
    checksum: Option<&str>,
    found: &mut Found,
) -> Result<Vec<Tool>, SkillError> {
    let room = MAX_DEPENDENCIES.saturating_sub(found.skills.len());
    let (candidates, cut) = std::mem::take(&mut found.tools).take(room);
    let tools: Vec<Declared<'_>> = candidates
        .into_iter()
        .map(|tool| Declared {
            declared_by: found
                .document(tool.declared_by)
                .unwrap_or(resource.as_str()),
            reference: tool.reference,
        })
        .collect();
    let paths: Vec<Result<String, Code>> = tools.iter().map(|tool| path(&tool.reference)).collect();
    let mut states = probe(effects, &tools, &paths);
    ask_for_help(effects, &tools, &paths, &mut states);
    let mut checksums = match checksum {
        None => Vec::new(),
        Some(checksum) => {
            let known = known_checksums(resource, checksum, found);
            digests(effects, budget, &tools, &states, &known)?
        }
    }
    .into_iter();
    let entry = |(tool, state): (Declared<'_>, State)| Tool {
        uri: tool.reference.into_emitted(),
        description: match state {
            State::Ran(Ok(text)) => text,
            State::Ran(Err(code)) | State::Failed(code) => code.text(),
            State::NeedsHelp => Code::ExecutionFailed.text(),
        },
        checksum: checksums.next(),
    };
    let mut entries: Vec<Tool> = tools.into_iter().zip(states).map(entry).collect();
    if cut {
        // P-4: last, whatever sorts after it.
        let code = Code::LimitExceeded;
        entries.push(Tool {
            uri: code.text(),
            description: code.text(),
            checksum: checksum.map(|_| code.text()),
        });
    }
    Ok(entries)
}

/// Digests of what has been read already: the resource and its skills. No URI is read twice.
fn known_checksums<'f>(
    resource: &'f Uri,
    checksum: &'f str,
    found: &'f Found,
) -> BTreeMap<&'f str, &'f str> {
    let skills = found
        .skills
        .iter()
        .filter_map(|skill| Some((skill.uri.as_str(), skill.checksum.as_deref()?)));
    skills.chain([(resource.as_str(), checksum)]).collect()
}

/// What the host is asked to run, or the code of a reference that names nothing (TD-01).
fn path(reference: &Reference) -> Result<String, Code> {
    match reference {
        Reference::Resolved(uri) => match uri.place() {
            Place::File(path) => Ok(path),
            Place::Web => Ok(uri.as_str().to_owned()),
            Place::Nowhere => Err(Code::NotFound),
        },
        Reference::NotAScalar => Err(Code::ParseError),
        Reference::Unresolved(_, Unresolved::Scheme) => Err(Code::UnsupportedScheme),
        Reference::Unresolved(_, Unresolved::Escape) => Err(Code::PermissionDenied),
        Reference::Unresolved(_, Unresolved::Failed) => Err(Code::FetchFailed),
    }
}

/// TD-10, TD-14: `--description`, of all tools in one list.
fn probe(
    effects: &mut impl Effects,
    tools: &[Declared<'_>],
    paths: &[Result<String, Code>],
) -> Vec<State> {
    let commands: Vec<Command> = tools
        .iter()
        .zip(paths)
        .filter_map(|(tool, path)| Some(command(tool, path.as_deref().ok()?, "--description")))
        .collect();
    let mut answers = run(effects, &commands).into_iter();
    tools
        .iter()
        .zip(paths)
        .map(|(tool, path)| match path {
            Err(code) => State::Failed(*code),
            Ok(_) => match answers.next() {
                Some(Ok(exit)) if is_component(&tool.reference) => State::Ran(component(&exit)),
                Some(Ok(exit)) => described(&exit),
                Some(Err(error)) => refused(error),
                None => State::Failed(Code::ExecutionFailed),
            },
        })
        .collect()
}

/// TD-12: `--help`, of all tools that need it in one list.
fn ask_for_help(
    effects: &mut impl Effects,
    tools: &[Declared<'_>],
    paths: &[Result<String, Code>],
    states: &mut [State],
) {
    let commands: Vec<Command> = tools
        .iter()
        .zip(paths)
        .zip(&*states)
        .filter(|(_, state)| matches!(state, State::NeedsHelp))
        .filter_map(|((tool, path), _)| Some(command(tool, path.as_deref().ok()?, "--help")))
        .collect();
    let mut answers = run(effects, &commands).into_iter();
    for state in states {
        if matches!(state, State::NeedsHelp) {
            *state = match answers.next() {
                Some(Ok(exit)) => State::Ran(helped(&exit)),
                Some(Err(error)) => refused(error),
                None => State::Failed(Code::ExecutionFailed),
            };
        }
    }
}

fn run(effects: &mut impl Effects, commands: &[Command]) -> Vec<Result<Exit, ProcessError>> {
    if commands.is_empty() {
        Vec::new()
    } else {
        effects.run(commands)
    }
}

fn command(tool: &Declared<'_>, path: &str, flag: &str) -> Command {
    Command {
        target: Target::Tool(ToolCommand {
            path: path.to_owned(),
            declared_by: tool.declared_by.to_owned(),
        }),
        arguments: vec![flag.to_owned()],
        timeout_ms: TIMEOUT_MS,
        max_output_bytes: MAX_OUTPUT_BYTES,
    }
}

fn is_component(reference: &Reference) -> bool {
    matches!(reference, Reference::Resolved(uri) if uri.names_a_component())
}

/// TD-10
fn described(exit: &Exit) -> State {
    match exit.ending {
        Ending::TimedOut => State::Ran(Err(Code::Timeout)),
        Ending::Exited(0) => {
            let text = text::clean(&exit.stdout);
            if text::is_blank(&text) {
                State::NeedsHelp
            } else {
                State::Ran(Ok(text::first_characters(&text).to_owned()))
            }
        }
        Ending::Exited(_) | Ending::Signaled(_) => State::NeedsHelp,
    }
}

/// TD-12, H-38
fn helped(exit: &Exit) -> Result<String, Code> {
    match exit.ending {
        Ending::TimedOut => Err(Code::Timeout),
        Ending::Exited(0) => {
            let text = text::clean(&exit.stdout);
            let paragraph = text.split_once("\n\n").map_or(&*text, |(first, _)| first);
            let paragraph = paragraph.trim();
            if paragraph.is_empty() {
                return Err(Code::NoOutput);
            }
            Ok(text::first_characters_with_indicator(paragraph))
        }
        Ending::Exited(_) | Ending::Signaled(_) => Err(Code::ExecutionFailed),
    }
}

/// TD-14, TD-15: standard output is what the component's `describe` returned.
fn component(exit: &Exit) -> Result<String, Code> {
    #[derive(serde::Deserialize)]
    struct Description {
        description: String,
    }
    match exit.ending {
        Ending::TimedOut => return Err(Code::Timeout),
        Ending::Exited(0) if !exit.stdout_truncated => {}
        Ending::Exited(_) | Ending::Signaled(_) => return Err(Code::ExecutionFailed),
    }
    // serde reads a struct from an array too; here an object is needed.
    let first = exit.stdout.iter().find(|byte| !byte.is_ascii_whitespace());
    if first != Some(&b'{') {
        return Err(Code::ExecutionFailed);
    }
    let description: Description =
        serde_json::from_slice(&exit.stdout).map_err(|_| Code::ExecutionFailed)?;
    let text = text::clean(description.description.as_bytes());
    if text::is_blank(&text) {
        return Err(Code::NoOutput);
    }
    Ok(text::first_characters(&text).to_owned())
}

/// EC-02, EC-06 to EC-08, EC-11: why nothing ran.
fn refused(error: ProcessError) -> State {
    match error {
        ProcessError::Denied
        | ProcessError::ArgumentsDenied
        | ProcessError::DirectoryDenied
        | ProcessError::Unconfined => State::Failed(Code::ExecutionSkipped),
        ProcessError::NotFound => State::Failed(Code::NotFound),
        ProcessError::NotPermitted => State::Failed(Code::PermissionDenied),
        ProcessError::FetchFailed => State::Failed(Code::FetchFailed),
        // It was found, so it has bytes (C-04).
        ProcessError::NotStartable => State::Ran(Err(Code::ExecutionFailed)),
        ProcessError::NoDirectory | ProcessError::NotDirectory | ProcessError::InvalidRequest => {
            State::Failed(Code::ExecutionFailed)
        }
    }
}

/// C-03, C-04: one for each tool.
fn digests(
    effects: &mut impl Effects,
    budget: &mut Budget,
    tools: &[Declared<'_>],
    states: &[State],
    known: &BTreeMap<&str, &str>,
) -> Result<Vec<String>, SkillError> {
    let to_read = |tool: &'_ Declared<'_>, state: &State| match (&tool.reference, state) {
        (Reference::Resolved(uri), State::Ran(_)) if !known.contains_key(uri.as_str()) => {
            Some(uri.clone())
        }
        _ => None,
    };
    let wanted: Vec<Uri> = tools
        .iter()
        .zip(states)
        .filter_map(|(tool, state)| to_read(tool, state))
        .collect();
    let mut read = Vec::with_capacity(wanted.len());
    for batch in wanted.chunks(BATCH) {
        let uris: Vec<&Uri> = batch.iter().collect();
        for bytes in reading::read(effects, budget, &uris)? {
            // One that ran and cannot be read is too long, or its mount may not be read.
            read.push(bytes.map_or_else(|| Code::FetchFailed.text(), |bytes| checksum::of(&bytes)));
        }
    }
    let mut read = read.into_iter();
    let digest = |(tool, state): (&Declared<'_>, &State)| match state {
        State::Failed(code) => code.text(),
        State::NeedsHelp | State::Ran(_) => match known.get(tool.reference.emitted()) {
            Some(checksum) => (*checksum).to_owned(),
            None => read.next().unwrap_or_else(|| Code::FetchFailed.text()),
        },
    };
    Ok(tools.iter().zip(states).map(digest).collect())
}
