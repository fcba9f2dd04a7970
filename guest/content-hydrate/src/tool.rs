//! What tools say of themselves (RFC 0020 §6.2).
//!
//! Whether a tool may run, and how, is the host's to decide. This file decides what is asked
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

/// What a tool is asked for first.
const DESCRIPTION: &str = "--description";

/// What it is asked for if it does not describe itself.
const HELP: &str = "--help";

/// How long a tool may run.
const TIMEOUT_MS: u32 = 5_000;

/// Bytes of a tool's output at most.
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

/// A declared tool on the way to its description.
struct Declared {
    reference: Reference,
    /// The URI of the document that declares it.
    declared_by: String,
    state: State,
}

enum State {
    /// The host is to be asked what it prints for this flag, at this path.
    Asked(&'static str, String),
    /// It has been found and did something; its bytes may be read.
    Ran(Result<String, Code>),
    /// Nothing of it was read.
    Failed(Code),
}

/// Describes every tool that was found, as far as there is room for it.
pub(crate) fn describe(
    effects: &mut impl Effects,
    budget: &mut Budget,
    resource: &Uri,
    checksum: Option<&str>,
    found: &mut Found,
) -> Result<Vec<Tool>, SkillError> {
    let room = MAX_DEPENDENCIES.saturating_sub(found.skills.len());
    let (candidates, cut) = std::mem::take(&mut found.tools).take(room);
    let mut tools: Vec<Declared> = candidates
        .into_iter()
        .map(|tool| Declared {
            declared_by: found
                .document(tool.declared_by)
                .unwrap_or(resource.as_str())
                .to_owned(),
            state: state(&tool.reference),
            reference: tool.reference,
        })
        .collect();
    ask(effects, &mut tools);
    // Those that say nothing of themselves are asked for their help.
    ask(effects, &mut tools);
    let mut checksums = match checksum {
        None => Vec::new(),
        Some(checksum) => {
            let known = known_checksums(resource, checksum, found);
            digests(effects, budget, &tools, &known)?
        }
    }
    .into_iter();
    let entry = |tool: Declared| Tool {
        uri: tool.reference.into_emitted(),
        description: match tool.state {
            State::Ran(Ok(text)) => text,
            State::Ran(Err(code)) | State::Failed(code) => code.text(),
            State::Asked(..) => Code::ExecutionFailed.text(),
        },
        checksum: checksums.next(),
    };
    let mut entries: Vec<Tool> = tools.into_iter().map(entry).collect();
    if cut {
        // Last, whatever sorts after it.
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

/// Where a tool begins: with what the host is asked to run, or with the code of a reference that names nothing.
fn state(reference: &Reference) -> State {
    match reference {
        Reference::Resolved(uri) => match uri.place() {
            Place::File(path) => State::Asked(DESCRIPTION, path),
            Place::Web => State::Asked(DESCRIPTION, uri.as_str().to_owned()),
            Place::Nowhere => State::Failed(Code::NotFound),
        },
        Reference::NotAScalar => State::Failed(Code::ParseError),
        Reference::Unresolved(_, Unresolved::Scheme) => State::Failed(Code::UnsupportedScheme),
        Reference::Unresolved(_, Unresolved::Escape) => State::Failed(Code::PermissionDenied),
        Reference::Unresolved(_, Unresolved::Failed) => State::Failed(Code::FetchFailed),
    }
}

/// Asks all tools that are to be asked, in one list.
fn ask(effects: &mut impl Effects, tools: &mut [Declared]) {
    let command = |tool: &Declared| match &tool.state {
        State::Asked(flag, path) => Some(Command {
            target: Target::Tool(ToolCommand {
                path: path.clone(),
                declared_by: tool.declared_by.clone(),
            }),
            arguments: vec![(*flag).to_owned()],
            timeout_ms: TIMEOUT_MS,
            max_output_bytes: MAX_OUTPUT_BYTES,
        }),
        State::Ran(_) | State::Failed(_) => None,
    };
    let asked = tools.iter_mut();
    let asked = asked.filter_map(|tool| command(tool).map(|command| (tool, command)));
    let (asked, commands): (Vec<&mut Declared>, Vec<Command>) = asked.unzip();
    if commands.is_empty() {
        return;
    }
    let mut answers = effects.run(&commands).into_iter();
    for tool in asked {
        tool.state = match answers.next() {
            Some(Ok(exit)) => answered(tool, &exit),
            Some(Err(error)) => refused(error),
            None => State::Failed(Code::ExecutionFailed),
        };
    }
}

fn answered(tool: &Declared, exit: &Exit) -> State {
    match &tool.state {
        State::Asked(DESCRIPTION, _) if is_component(&tool.reference) => {
            State::Ran(component(exit))
        }
        State::Asked(DESCRIPTION, path) => described(path, exit),
        _ => State::Ran(helped(exit)),
    }
}

fn is_component(reference: &Reference) -> bool {
    matches!(reference, Reference::Resolved(uri) if uri.names_a_component())
}

/// Reads what a tool printed for `--description`.
fn described(path: &str, exit: &Exit) -> State {
    match exit.ending {
        Ending::TimedOut => State::Ran(Err(Code::Timeout)),
        Ending::Exited(0) => {
            let text = text::clean(&exit.stdout);
            if text::is_blank(&text) {
                State::Asked(HELP, path.to_owned())
            } else {
                State::Ran(Ok(text::first_characters(&text).to_owned()))
            }
        }
        Ending::Exited(_) | Ending::Signaled(_) => State::Asked(HELP, path.to_owned()),
    }
}

/// Reads what a tool printed for `--help`: its first paragraph.
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

/// Standard output is what the component's `describe` returned.
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

/// Why nothing ran.
fn refused(error: ProcessError) -> State {
    match error {
        ProcessError::Denied
        | ProcessError::ArgumentsDenied
        | ProcessError::DirectoryDenied
        | ProcessError::Unconfined => State::Failed(Code::ExecutionSkipped),
        ProcessError::NotFound => State::Failed(Code::NotFound),
        ProcessError::NotPermitted => State::Failed(Code::PermissionDenied),
        ProcessError::FetchFailed => State::Failed(Code::FetchFailed),
        // It was found, so it has bytes.
        ProcessError::NotStartable => State::Ran(Err(Code::ExecutionFailed)),
        ProcessError::NoDirectory | ProcessError::NotDirectory | ProcessError::InvalidRequest => {
            State::Failed(Code::ExecutionFailed)
        }
    }
}

/// Returns a digest for each tool, or the code that stands for it.
fn digests(
    effects: &mut impl Effects,
    budget: &mut Budget,
    tools: &[Declared],
    known: &BTreeMap<&str, &str>,
) -> Result<Vec<String>, SkillError> {
    let to_read = |tool: &'_ Declared| match (&tool.reference, &tool.state) {
        (Reference::Resolved(uri), State::Ran(_)) if !known.contains_key(uri.as_str()) => {
            Some(uri.clone())
        }
        _ => None,
    };
    let wanted: Vec<Uri> = tools.iter().filter_map(to_read).collect();
    let mut read = Vec::with_capacity(wanted.len());
    for batch in wanted.chunks(BATCH) {
        let uris: Vec<&Uri> = batch.iter().collect();
        for bytes in reading::read(effects, budget, &uris)? {
            // One that ran and cannot be read is too long, or its mount may not be read.
            read.push(bytes.map_or_else(|| Code::FetchFailed.text(), |bytes| checksum::of(&bytes)));
        }
    }
    let mut read = read.into_iter();
    let digest = |tool: &Declared| match &tool.state {
        State::Failed(code) => code.text(),
        _ => match known.get(tool.reference.emitted()) {
            Some(checksum) => (*checksum).to_owned(),
            None => read.next().unwrap_or_else(|| Code::FetchFailed.text()),
        },
    };
    Ok(tools.iter().map(digest).collect())
}
