//! The policy: the file an operator writes, and the question "may this call do that, and which line says so".
//!
//! A policy is read whole, checked whole and its mounts opened before the first question is answered; what it does not
//! name is denied. Questions are then answered from text alone, through a [`Grant`]: no file system, no network. The
//! document is parsed here because it is the operator's own; nothing else that is parsed on this side is (rule 1 of the
//! design).
//!
//! Relies on `saphyr-parser` for YAML, on `url` for URLs, on `cap-std` for the handles of mounts.

mod denial;
mod document;
mod error;
mod explain;
mod grant;
mod limits;
mod mount;
mod path;
mod program;
mod text;
mod url_prefix;

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

pub use denial::{Denial, ProgramDenial, Rule};
use document::{Document, Mode, ProcessRule};
use error::MAXIMUM_DOCUMENT_BYTES;
pub use error::{DocumentFault, Place, PolicyError};
pub use explain::{Explanation, Question, explain};
pub use grant::{Confinement, Grant, Location, Method, ProgramLeave, Reach, Runner, ToolLeave};
pub use limits::Limits;
pub use mount::{CliMount, MountHandle, MountTarget};
use mount::{MountTable, Origins};
pub use path::{InvalidPath, VirtualPath};

/// The text of the default policy (TP-39).
const DEFAULT: &str = include_str!("default.yaml");
/// Characters of a line that an explanation shows; a policy in JSON may be one long line.
const SHOWN_OF_A_LINE: usize = 200;
/// What messages call it.
const DEFAULT_SOURCE: &str = "the default policy";

/// A policy that was read, checked, and whose mounts are open. `Send` and `Sync`; share it in an `Arc`.
#[derive(Debug)]
pub struct Policy {
    source: String,
    lines: Vec<String>,
    document: Document,
    mounts: MountTable,
    programs: Vec<ProgramRule>,
    runners: BTreeMap<String, Runner>,
    tls_roots: Vec<PathBuf>,
}

/// Whether pinned components may be instantiated to list what they are (TP-35).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tools {
    /// They may, with an empty grant.
    Describe,
    /// They may not: name and version come from the manifest only.
    Skip,
}

/// A rule of `host.process` and the file its program is.
#[derive(Debug)]
struct ProgramRule {
    line: u64,
    rule: ProcessRule,
    /// Without links; none if the program was not installed when the policy was loaded.
    executable: Option<PathBuf>,
}

impl Policy {
    /// Reads `--policy FILE`; `cli` are the `--mount` and `--root` flags, relative to the working directory.
    ///
    /// # Errors
    /// Why the whole policy is refused; [`PolicyError::is_usage`] tells a wrong flag from a wrong policy.
    pub fn load(file: &Path, cli: &[CliMount]) -> Result<Self, PolicyError> {
        let source = file.display().to_string();
        let unreadable = |error| PolicyError::Unreadable {
            file: source.clone(),
            source: error,
        };
        let bytes = read_bounded(file, &source)?;
        let parent = file
            .parent()
            .filter(|parent| !parent.as_os_str().is_empty());
        let directory = fs::canonicalize(parent.unwrap_or(Path::new("."))).map_err(unreadable)?;
        let working_directory = fs::canonicalize(".").map_err(unreadable)?;
        let document = Document::parse(&source, &bytes)?;
        let origins = Origins {
            file: &source,
            directory: &directory,
            working_directory: &working_directory,
            flags: cli,
        };
        Self::assemble(document, &bytes, origins)
    }

    /// The default policy (TP-39): `/workspace` is the working directory and, if it exists, `/os` is `./os`, both read
    /// only, unless a flag maps them elsewhere.
    ///
    /// # Errors
    /// When a directory cannot be mounted, or a flag maps what it may not.
    pub fn built_in(working_directory: &Path, cli: &[CliMount]) -> Result<Self, PolicyError> {
        let source = DEFAULT_SOURCE;
        let directory =
            fs::canonicalize(working_directory).map_err(|error| PolicyError::Unreadable {
                file: source.to_owned(),
                source: error,
            })?;
        let mut document = Document::parse(source, DEFAULT.as_bytes())?;
        let mut flags = cli.to_vec();
        for rule in &document.host.mounts.items {
            let at = &rule.value.at;
            let target = if *at == VirtualPath::os() {
                directory.join("os")
            } else {
                directory.clone()
            };
            if !cli.iter().any(|flag| flag.at == *at) && target.is_dir() {
                flags.push(CliMount {
                    at: at.clone(),
                    target: MountTarget::Directory(target),
                });
            }
        }
        document
            .host
            .mounts
            .items
            .retain(|rule| flags.iter().any(|flag| flag.at == rule.value.at));
        let origins = Origins {
            file: source,
            directory: &directory,
            working_directory: &directory,
            flags: &flags,
        };
        Self::assemble(document, DEFAULT.as_bytes(), origins)
    }

    /// The effective limits of a call under this policy.
    pub fn limits(&self) -> Limits {
        self.document.host.limits
    }

    /// PEM files with roots that `fetch` trusts besides its own (TP-38).
    pub fn tls_roots(&self) -> &[PathBuf] {
        &self.tls_roots
    }

    /// The file as the operator named it, or `the default policy`.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Whether components may be instantiated to be listed (TP-35).
    pub fn tools(&self) -> Tools {
        self.document.host.tools
    }

    /// The signers of which a skill needs one (TP-05, TP-12).
    pub fn trusted_signers(&self) -> &[String] {
        &self.document.trusted_signers
    }

    /// Opens the mounts, looks the programs up, and checks the rules that need both.
    fn assemble(
        document: Document,
        text: &[u8],
        origins: Origins<'_>,
    ) -> Result<Self, PolicyError> {
        let mounts = MountTable::open(&document.host.mounts.items, origins)?;
        let constraint = |line, member: &str, rule| PolicyError::Constraint {
            place: Place {
                file: origins.file.to_owned(),
                line,
            },
            member: member.to_owned(),
            rule,
        };
        // TP-27: a program that a mount holds could be exchanged by whoever writes there.
        let outside_mounts = |line, name: &str, executable: Option<&PathBuf>| match executable
            .and_then(|file| mounts.containing(file))
        {
            Some(mount) => Err(constraint(
                line,
                &format!("the program {name}"),
                format!("must not lie inside the mount {}", mount.at),
            )),
            None => Ok(()),
        };
        let mut programs = Vec::new();
        for lined in &document.host.process.items {
            let rule = &lined.value;
            let executable = rule.program.look_up();
            outside_mounts(lined.line, rule.program.name(), executable.as_ref())?;
            for directory in &rule.writable {
                if mounts
                    .holding(directory)
                    .is_none_or(|mount| mount.mode != Mode::ReadWrite)
                {
                    let rule =
                        format!("must lie in a mount with mode: rw, which {directory} does not");
                    return Err(constraint(
                        lined.line,
                        "policy.host.process: writable",
                        rule,
                    ));
                }
            }
            programs.push(ProgramRule {
                line: lined.line,
                rule: rule.clone(),
                executable,
            });
        }
        let mut runners = BTreeMap::new();
        for (ending, lined) in &document.host.discovery.runners {
            let executable = lined.value.program.look_up();
            outside_mounts(lined.line, lined.value.program.name(), executable.as_ref())?;
            let runner = Runner {
                executable,
                arguments: lined.value.arguments.clone(),
            };
            runners.insert(ending.clone(), runner);
        }
        Ok(Self {
            source: origins.file.to_owned(),
            lines: String::from_utf8_lossy(text)
                .lines()
                .map(|line| line.trim().chars().take(SHOWN_OF_A_LINE).collect())
                .collect(),
            tls_roots: document
                .host
                .tls_roots
                .iter()
                .map(|file| origins.directory.join(file))
                .collect(),
            document,
            mounts,
            programs,
            runners,
        })
    }

    /// A line of this policy as the rule that decided. The default policy has no file to look the line up in.
    fn rule(&self, line: u64, reason: impl Into<String>) -> Rule {
        let index = usize::try_from(line.saturating_sub(1)).ok();
        let text = index
            .and_then(|index| self.lines.get(index))
            .cloned()
            .unwrap_or_default();
        let line = (self.source != DEFAULT_SOURCE).then_some(line);
        Rule {
            source: self.source.clone(),
            line,
            reason: reason.into(),
            text,
        }
    }

    /// An instruction to change this policy; the default policy has to become a file first.
    fn remedy(&self, instruction: &str) -> String {
        if self.source == DEFAULT_SOURCE {
            format!("write a policy file (--policy FILE) and {instruction}")
        } else {
            instruction.to_owned()
        }
    }
}

/// TP-01: at most 1,048,576 bytes, and no more than that is ever read.
fn read_bounded(file: &Path, source: &str) -> Result<Vec<u8>, PolicyError> {
    let unreadable = |error| PolicyError::Unreadable {
        file: source.to_owned(),
        source: error,
    };
    let mut bytes = Vec::new();
    let opened = fs::File::open(file).map_err(unreadable)?;
    opened
        .take(MAXIMUM_DOCUMENT_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(unreadable)?;
    let size = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
    if size > MAXIMUM_DOCUMENT_BYTES {
        let size = fs::metadata(file).map_or(size, |metadata| metadata.len().max(size));
        return Err(PolicyError::TooLarge {
            file: source.to_owned(),
            size,
            maximum: MAXIMUM_DOCUMENT_BYTES,
        });
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests;
