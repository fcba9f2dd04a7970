//! `export agentskills`: installed skills as folders that agents read, each with a wrapper that runs the
//! skill under a policy of its own.
//!
//! What stands in a folder is text that an agent obeys, so nothing of a manifest gets into it that could
//! add a line or end a quotation: names have letters, digits, `.`, `_` and `-` only, everything else is escaped. All
//! skills are read and checked before the first file is written, and nothing is written through a link.

mod policy;
mod skill_md;
mod wrapper;

use hydrant_base::{Digest, FileError, escaped_path, excerpt, read_bounded_as, write_replacing};
use std::fmt;
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use super::archive::PackageFile;
use super::store::{IndexEntry, Store, StoreError};
use super::{Manifest, ManifestError, WasmForm};

/// Readable for the agent, which need not run as the user who exports (`/etc/codex/skills`).
const FILE_MODE: u32 = 0o644;
const SCRIPT_MODE: u32 = 0o755;
const DIRECTORY_MODE: u32 = 0o755;

/// Hex digits of the skill's digest in the name of its folder.
const DIGITS: usize = 12;

/// Whose skills: `--agent`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Agent {
    /// `claude`
    Claude,
    /// `codex`
    Codex,
    /// `cursor`
    Cursor,
}

/// For whom: `--scope`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// `user`: below the home directory.
    User,
    /// `repo`: below the working directory.
    Repo,
    /// `admin`: for everybody on this machine.
    Admin,
}

/// Why there is no export.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// Not an agent.
    #[error("unsupported --agent; expected claude, codex, or cursor: {}", excerpt(.0))]
    Agent(String),
    /// Not a scope.
    #[error("unsupported --scope; expected user, repo, or admin: {}", excerpt(.0))]
    Scope(String),
    /// Only codex has a folder for the whole machine.
    #[error("scope=admin is only supported for agent=codex")]
    AdminScope,
    /// Scope `user`, and nobody's home.
    #[error("could not resolve home directory; set HOME")]
    NoHome,
    /// Nothing is installed, and nothing ever was.
    #[error("no installed skills found in {}; run install first", escaped_path(.0))]
    NothingInstalled(PathBuf),
    /// The index cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A file of the store cannot be read, or one of the export cannot be written.
    #[error(transparent)]
    File(#[from] FileError),
    /// What is in the store is not what was installed.
    #[error("the skill in {} is not what was installed; install it again", escaped_path(.0))]
    Changed(PathBuf),
    /// The stored manifest is none, or holds a name that may not stand in another file.
    #[error("{} in {}", .source, escaped_path(.path))]
    Manifest {
        /// The manifest's file.
        path: PathBuf,
        /// What is wrong with it.
        source: ManifestError,
    },
    /// A directory of the export cannot be made.
    #[error("failed to create {}: {source}", escaped_path(.path))]
    Directory {
        /// The directory.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A link in place of a directory of the export would lead the files elsewhere.
    #[error("refusing to write through symlink: {}", escaped_path(.0))]
    Symlink(PathBuf),
}

/// The word of each variant on the command line.
macro_rules! words {
    ($type:ident: $($variant:ident = $word:literal),*) => {
        impl fmt::Display for $type {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(match self {
                    $(Self::$variant => $word,)*
                })
            }
        }

        impl FromStr for $type {
            type Err = ExportError;

            fn from_str(text: &str) -> Result<Self, ExportError> {
                match text {
                    $($word => Ok(Self::$variant),)*
                    _ => Err(ExportError::$type(text.to_owned())),
                }
            }
        }
    };
}

words!(Agent: Claude = "claude", Codex = "codex", Cursor = "cursor");
words!(Scope: User = "user", Repo = "repo", Admin = "admin");

/// Where an agent looks for skills. `user_home` is `$HOME`, `working` the working directory.
///
/// # Errors
/// [`ExportError::AdminScope`], or [`ExportError::NoHome`] where the home directory is needed.
pub fn target(
    agent: Agent,
    scope: Scope,
    user_home: Option<&Path>,
    working: &Path,
) -> Result<PathBuf, ExportError> {
    let base = match (scope, agent) {
        (Scope::Admin, Agent::Codex) => return Ok(PathBuf::from("/etc/codex/skills")),
        (Scope::Admin, _) => return Err(ExportError::AdminScope),
        (Scope::User, _) => user_home.ok_or(ExportError::NoHome)?,
        (Scope::Repo, _) => working,
    };
    let folder = match agent {
        Agent::Claude => ".claude",
        Agent::Codex => ".agents",
        Agent::Cursor => ".cursor",
    };
    Ok(base.join(folder).join("skills"))
}

/// Writes a folder for every installed skill of `home` into `target`; answers how many.
///
/// # Errors
/// [`ExportError`]; nothing is written if a skill cannot be read or has a name that may not stand in another file.
pub fn export(home: &Path, target: &Path) -> Result<usize, ExportError> {
    let index = Store::new(home)?.index()?;
    if index.entries().is_empty() {
        return Err(ExportError::NothingInstalled(home.join("index.json")));
    }
    let skills = index.entries().iter().map(Skill::read);
    let skills: Vec<_> = skills.collect::<Result<_, _>>()?;
    DirBuilder::new()
        .recursive(true)
        .mode(DIRECTORY_MODE)
        .create(target)
        .map_err(failed(target))?;
    for skill in &skills {
        skill.write(target)?;
    }
    Ok(skills.len())
}

/// What an export knows of an installed skill. Its names have letters, digits, `.`, `_` and `-` only.
struct Skill {
    digest: Digest,
    /// The bundle directory in the store.
    store: String,
    manifest: Manifest,
    form: WasmForm,
}

impl Skill {
    fn read(entry: &IndexEntry) -> Result<Self, ExportError> {
        let store = Path::new(&entry.store);
        let read = |file: PackageFile| {
            read_bounded_as(&store.join(file.name()), file.maximum(), file.name())
        };
        let refused = |source| ExportError::Manifest {
            path: store.join(PackageFile::Manifest.name()),
            source,
        };
        let manifest = Manifest::parse(&read(PackageFile::Manifest)?).map_err(refused)?;
        // The store may have been changed since the installation.
        manifest.check_names().map_err(refused)?;
        let wasm = read(PackageFile::Wasm)?;
        let actual = Digest::of(&wasm);
        if manifest.artifact != actual
            || (&manifest.name, &manifest.version)
                != (&entry.manifest_name, &entry.manifest_version)
        {
            return Err(ExportError::Changed(store.to_owned()));
        }
        Ok(Self {
            digest: entry.skill.clone(),
            store: entry.store.clone(),
            form: WasmForm::of(&wasm),
            manifest,
        })
    }

    fn write(&self, target: &Path) -> Result<(), ExportError> {
        let folder = target.join(self.folder());
        for directory in [&folder, &folder.join("scripts"), &folder.join("references")] {
            make_directory(directory)?;
        }
        let mount = policy::mounts_workspace(&self.manifest, self.form);
        let policy = policy::ide_safe(&self.manifest, mount);
        let files = [
            ("SKILL.md", skill_md::skill_md(self).into_bytes(), FILE_MODE),
            (
                "scripts/run.sh",
                wrapper::run_sh(&self.store, mount).into_bytes(),
                SCRIPT_MODE,
            ),
            (
                "scripts/run.ps1",
                wrapper::run_ps1(&self.store, mount).into_bytes(),
                FILE_MODE,
            ),
            (
                "references/README.md",
                skill_md::readme(self).into_bytes(),
                FILE_MODE,
            ),
            ("references/ide-safe.policy.json", policy, FILE_MODE),
        ];
        for (name, bytes, mode) in files {
            write_replacing(&folder.join(name), &bytes, mode)?;
        }
        Ok(())
    }

    /// The name of its folder: its own name as a slug, and the beginning of its digest.
    fn folder(&self) -> String {
        let digits = self.digest.hex().get(..DIGITS).unwrap_or_default();
        format!("{}-{digits}", slug(&self.manifest.name))
    }
}

/// A name for a folder that no agent trips over.
fn slug(name: &str) -> String {
    let mut slug = String::with_capacity(name.len());
    for character in name.chars() {
        match character.to_ascii_lowercase() {
            plain @ ('a'..='z' | '0'..='9') => slug.push(plain),
            _ if slug.ends_with('-') => {}
            _ => slug.push('-'),
        }
    }
    match slug.trim_matches('-') {
        "" => "skill".to_owned(),
        trimmed => trimmed.to_owned(),
    }
}

fn make_directory(path: &Path) -> Result<(), ExportError> {
    let mut builder = DirBuilder::new();
    builder.mode(DIRECTORY_MODE);
    match builder.create(path) {
        // An earlier export made it, unless it is something else.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            let metadata = fs::symlink_metadata(path).map_err(failed(path))?;
            if metadata.is_symlink() {
                return Err(ExportError::Symlink(path.to_owned()));
            }
            metadata
                .is_dir()
                .then_some(())
                .ok_or_else(|| failed(path)(error))
        }
        made => made.map_err(failed(path)),
    }
}

fn failed(path: &Path) -> impl FnOnce(io::Error) -> ExportError {
    let path = path.to_owned();
    move |source| ExportError::Directory { path, source }
}

#[cfg(test)]
mod tests;
