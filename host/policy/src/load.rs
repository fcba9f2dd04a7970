//! From a policy file to a [`Policy`]: read, parsed, its mounts opened, its programs looked up.
//!
//! Whatever is wrong with any of it refuses the whole policy.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use hydrant_base::FileError;

use super::document::{Document, Mode, MountSource, Runners};
use super::error::{MAXIMUM_DOCUMENT_BYTES, PolicyError};
use super::grant::Confinement;
use super::mount::{CliMount, MountTable, Origins, is_of_processes};
use super::program::Program;
use super::{DEFAULT_SOURCE, Policy, ProgramRule, Runner, VirtualPath};

/// The text of the default policy.
const DEFAULT: &str = include_str!("default.yaml");
/// Characters of a line that an explanation shows; a policy in JSON may be one long line.
const SHOWN_OF_A_LINE: usize = 200;

impl Policy {
    /// Reads `--policy FILE`; `cli` are the `--mount` and `--root` flags, relative to the working directory.
    ///
    /// # Errors
    /// Why the whole policy is refused; [`PolicyError::is_usage`] tells a wrong flag from a wrong policy.
    pub fn load(file: &Path, cli: &[CliMount]) -> Result<Self, PolicyError> {
        Self::load_file(file, cli, None)
    }

    /// Reads a policy for its signers, its ceiling and its hash only: no mount is opened and no program looked up, so it
    /// can be read where there are no such directories. A [`Grant`](super::Grant) under it has neither files nor programs.
    ///
    /// # Errors
    /// Why the document is refused.
    pub fn load_unmounted(file: &Path) -> Result<Self, PolicyError> {
        let source = file.display().to_string();
        Self::without_mounts(&source, &read_bounded(file, &source)?)
    }

    /// The default policy, for its signers, its ceiling and its hash only.
    pub(super) fn built_in_unmounted() -> Result<Self, PolicyError> {
        Self::without_mounts(DEFAULT_SOURCE, DEFAULT.as_bytes())
    }

    fn without_mounts(source: &str, bytes: &[u8]) -> Result<Self, PolicyError> {
        let mut document = Document::parse(source, bytes)?;
        let host = &mut document.host;
        host.mounts.value.clear();
        host.lists_mounts = false;
        host.process.value.clear();
        host.discovery.runners = Runners::default();
        host.tls_roots.clear();
        let nowhere = Path::new("/");
        let origins = Origins {
            file: source,
            directory: nowhere,
            working_directory: nowhere,
            flags: &[],
        };
        Self::assemble(document, bytes, origins, None)
    }

    /// Reads a policy file; above `policy`, a layer that narrows it (`--tenant FILE`, `--grant FILE`) and takes of the flags
    /// those that its own mounts ask for with `dir: "@cli"`.
    pub(super) fn load_file(
        file: &Path,
        cli: &[CliMount],
        policy: Option<&Self>,
    ) -> Result<Self, PolicyError> {
        let source = file.display().to_string();
        let unreadable = |error| PolicyError::unreadable(&source, error);
        let bytes = read_bounded(file, &source)?;
        let parent = file
            .parent()
            .filter(|parent| !parent.as_os_str().is_empty());
        let directory = fs::canonicalize(parent.unwrap_or(Path::new("."))).map_err(unreadable)?;
        let working_directory = fs::canonicalize(".").map_err(unreadable)?;
        let document = Document::parse(&source, &bytes)?;
        let mut flags = cli.to_vec();
        if policy.is_some() {
            let rules = &document.host.mounts.value;
            flags.retain(|flag| {
                let mut rules = rules.iter().map(|rule| &rule.value);
                rules.any(|rule| rule.at.0 == flag.at && rule.source() == MountSource::CommandLine)
            });
        }
        let origins = Origins {
            file: &source,
            directory: &directory,
            working_directory: &working_directory,
            flags: &flags,
        };
        Self::assemble(document, &bytes, origins, policy)
    }

    /// The default policy: `/workspace` is the working directory and, if it exists, `/os` is `./os`, both read
    /// only, unless a flag maps them elsewhere.
    ///
    /// # Errors
    /// When a directory cannot be mounted, or a flag maps what it may not.
    pub fn built_in(working_directory: &Path, cli: &[CliMount]) -> Result<Self, PolicyError> {
        let source = DEFAULT_SOURCE;
        let directory = fs::canonicalize(working_directory)
            .map_err(|error| PolicyError::unreadable(source, error))?;
        let mut document = Document::parse(source, DEFAULT.as_bytes())?;
        let mut flags = cli.to_vec();
        for rule in &document.host.mounts.value {
            let at = &rule.value.at.0;
            let target = if *at == VirtualPath::os() {
                directory.join("os")
            } else {
                directory.clone()
            };
            if !cli.iter().any(|flag| flag.at == *at) && target.is_dir() {
                flags.push(CliMount::named(at.clone(), target));
            }
        }
        document
            .host
            .mounts
            .value
            .retain(|rule| flags.iter().any(|flag| flag.at == rule.value.at.0));
        let origins = Origins {
            file: source,
            directory: &directory,
            working_directory: &directory,
            flags: &flags,
        };
        Self::assemble(document, DEFAULT.as_bytes(), origins, None)
    }

    /// Opens the mounts, looks the programs up, and checks the rules that need both. A layer above `policy` has the
    /// policy's mounts as well.
    pub(super) fn assemble(
        document: Document,
        text: &[u8],
        origins: Origins<'_>,
        policy: Option<&Self>,
    ) -> Result<Self, PolicyError> {
        let mounts = MountTable::open(&document.host.mounts.value, origins)?;
        let below = policy.map(|policy| &policy.mounts);
        let mounts_of_the_call = match below {
            Some(below) if !document.host.lists_mounts => below,
            _ => &mounts,
        };
        let constraint =
            |line, member: &str, rule| PolicyError::constraint(origins.file, line, member, rule);
        // A program that a mount holds could be exchanged by whoever writes there.
        let look_up = |line, program: &Program| {
            let executable = program.look_up();
            let mount = executable
                .as_ref()
                .and_then(|file| mounts.containing(file).or_else(|| below?.containing(file)));
            match mount {
                None => Ok(executable),
                // The working directory, which is mounted then, may be any, `/usr` as well.
                Some(_) if origins.file == DEFAULT_SOURCE => Ok(None),
                Some(mount) => Err(constraint(
                    line,
                    &format!("the program {}", program.name()),
                    format!("must not lie inside the mount {}", mount.at),
                )),
            }
        };
        let mut programs = Vec::new();
        for lined in &document.host.process.value {
            let rule = &lined.value;
            let executable = look_up(lined.line, &rule.program)?;
            for directory in &rule.writable {
                if mounts_of_the_call
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
        // Where no program may be started nobody minds.
        if !programs.is_empty() && document.host.jail.process == Confinement::Required {
            for mount in mounts.iter() {
                if let (Some(line), true) = (mount.line, is_of_processes(&mount.at)) {
                    let rule = "must not lie where every process has a directory of the system, \
                                as long as host.process has rules"
                        .to_owned();
                    return Err(constraint(line, &format!("the mount {}", mount.at), rule));
                }
            }
        }
        let mut runners = BTreeMap::new();
        for (ending, line, rule) in document.host.discovery.runners.iter() {
            let runner = Runner {
                executable: look_up(line, &rule.program)?,
                arguments: rule.arguments.clone(),
            };
            runners.insert(ending.to_owned(), runner);
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
}

/// At most 1,048,576 bytes of a regular file.
fn read_bounded(file: &Path, source: &str) -> Result<Vec<u8>, PolicyError> {
    hydrant_base::read_bounded(file, MAXIMUM_DOCUMENT_BYTES).map_err(|error| match error {
        FileError::TooLarge { bytes, maximum, .. } => PolicyError::TooLarge {
            file: source.to_owned(),
            size: bytes,
            maximum,
        },
        FileError::Io { source: error, .. } => PolicyError::unreadable(source, error),
        FileError::NotRegular { .. } | FileError::Symlink { .. } => {
            let error = io::Error::other("it is not a regular file");
            PolicyError::unreadable(source, error)
        }
    })
}
