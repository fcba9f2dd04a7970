//! The table of mounts of a policy: built once, from the document and the flags, then only asked.

use std::path::Path;
use std::sync::Arc;

use url::Url;

use super::base::below;
use super::cli::Role;
use super::open::open_directory;
use super::{AllowedPath, CliMount, MountHandle, MountTarget, MountedDirectory};
use crate::VirtualPath;
use crate::document::{Lined, Mode, MountRule, MountSource};
use crate::error::{Place, PolicyError};
use crate::grant::Location;

/// All mounts, the longest mount point first.
#[derive(Debug)]
pub(crate) struct MountTable {
    pub(super) mounts: Vec<Mounted>,
}

/// One mount.
#[derive(Clone, Debug)]
pub(crate) struct Mounted {
    pub(crate) at: VirtualPath,
    /// The line of the policy that maps it; none for a flag.
    pub(crate) line: Option<u64>,
    pub(crate) mode: Mode,
    pub(crate) mapped: Mapped,
}

/// What a mount maps to.
#[derive(Clone, Debug)]
pub(crate) enum Mapped {
    Directory(MountHandle),
    Https(Url),
    /// Nothing, because a tenant or run layer does not list it. It still hides what lies behind it.
    Unlisted,
    /// Nothing, because nobody named the directory of a `dir: "@cli"`.
    Unnamed,
}

/// What the names of directories are relative to, and what the flags add.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origins<'a> {
    /// The policy file as the operator named it.
    pub(crate) file: &'a str,
    /// Its directory, absolute and without links.
    pub(crate) directory: &'a Path,
    /// The working directory, absolute and without links.
    pub(crate) working_directory: &'a Path,
    pub(crate) flags: &'a [CliMount],
}

impl MountTable {
    /// Opens every mount. What the document maps no flag maps again, unless it says `@cli`; what it does not map, a
    /// flag may add at or below `/os`.
    pub(crate) fn open(
        rules: &[Lined<MountRule>],
        origins: Origins<'_>,
    ) -> Result<Self, PolicyError> {
        let mut mounts = Vec::with_capacity(rules.len() + origins.flags.len());
        for (index, flag) in origins.flags.iter().enumerate() {
            let fault = |rule: &str| {
                Err(PolicyError::Flag {
                    flag: flag.flag(),
                    rule: rule.to_owned(),
                })
            };
            if origins
                .flags
                .iter()
                .skip(index + 1)
                .any(|other| other.at == flag.at)
            {
                return fault("the same place is mapped twice");
            }
            match rules.iter().find(|rule| rule.value.at.0 == flag.at) {
                Some(rule) if rule.value.source() == MountSource::CommandLine => {}
                _ if matches!(flag.role, Role::Offer | Role::Granted) => {}
                Some(rule) => {
                    return fault(&format!(
                        "{}:{} maps it already, and not with dir: \"@cli\"",
                        origins.file, rule.line
                    ));
                }
                None if flag.role == Role::FillOrAdd && flag.at.starts_with(&VirtualPath::os()) => {
                    mounts.push(Mounted::from_flag(flag, None, Mode::ReadOnly, origins)?);
                }
                None => return fault("no mount of the policy is there with dir: \"@cli\""),
            }
        }
        for rule in rules {
            mounts.push(Mounted::from_rule(rule, origins)?);
        }
        mounts.sort_by_key(|mount| std::cmp::Reverse(mount.at.as_str().len()));
        Ok(Self { mounts })
    }

    /// The mount that holds `path`: the longest by whole segments. An https mount holds what is below its mount
    /// point and not the mount point itself, because its prefix ends with `/`.
    pub(crate) fn holding(&self, path: &VirtualPath) -> Option<&Mounted> {
        self.mounts
            .iter()
            .find(|mount| match path.strip_prefix(&mount.at) {
                Some("") => !matches!(mount.mapped, Mapped::Https(_)),
                Some(_) => true,
                None => false,
            })
    }

    /// Every mount, the longest mount point first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Mounted> {
        self.mounts.iter()
    }

    /// Every mounted directory.
    pub(crate) fn directories(&self) -> impl Iterator<Item = MountHandle> {
        self.mounts.iter().filter_map(|mount| match &mount.mapped {
            Mapped::Directory(handle) => Some(handle.clone()),
            Mapped::Https(_) | Mapped::Unlisted | Mapped::Unnamed => None,
        })
    }

    /// The mount at exactly this place.
    pub(crate) fn at(&self, at: &VirtualPath) -> Option<&Mounted> {
        self.mounts.iter().find(|mount| mount.at == *at)
    }

    /// The directories that are mounted read-only.
    pub(crate) fn read_only(&self) -> impl Iterator<Item = &MountHandle> {
        self.mounts.iter().filter_map(|mount| match &mount.mapped {
            Mapped::Directory(handle) if mount.mode == Mode::ReadOnly => Some(handle),
            _ => None,
        })
    }

    /// A read-only mount whose directory holds a real path, if there is one.
    pub(crate) fn read_only_over(&self, real: &Path) -> Option<&Mounted> {
        self.mounts
            .iter()
            .filter(|mount| mount.mode == Mode::ReadOnly)
            .find(|mount| mount.directory_holds(real))
    }

    /// Whether exactly this real directory is mounted at exactly this place.
    #[cfg(test)]
    pub(crate) fn mounts_at(&self, at: &VirtualPath, real: &Path) -> bool {
        self.mounts.iter().any(|mount| match &mount.mapped {
            Mapped::Directory(handle) => mount.at == *at && handle.real() == real,
            Mapped::Https(_) | Mapped::Unlisted | Mapped::Unnamed => false,
        })
    }

    /// The mounted directory that holds a real file, if one does.
    pub(crate) fn containing(&self, file: &Path) -> Option<&Mounted> {
        self.mounts.iter().find(|mount| mount.directory_holds(file))
    }
}

/// The flag that maps `at`, as the commands that know it take it.
fn command_line_form(at: &VirtualPath) -> String {
    match at.strip_prefix(&VirtualPath::os()) {
        Some("") => "--root DIR, or by --mount /os=DIR of `run`".to_owned(),
        Some(below) => format!("--mount /{below}/=TARGET, or by --mount {at}=DIR of `run`"),
        None => format!("--mount {at}=DIR"),
    }
}

impl Mounted {
    fn from_rule(rule: &Lined<MountRule>, origins: Origins<'_>) -> Result<Self, PolicyError> {
        let at = &rule.value.at.0;
        let constraint = |text: String| PolicyError::Constraint {
            place: Place {
                file: origins.file.to_owned(),
                line: rule.line,
            },
            member: format!("the mount {at}"),
            rule: text,
        };
        let mapped = match rule.value.source() {
            MountSource::Https(base) => Mapped::Https(base.clone()),
            MountSource::Directory(directory) => {
                Mapped::directory(at, origins.directory, Path::new(directory), false)
                    .map_err(constraint)?
            }
            MountSource::CommandLine => {
                let flag = origins
                    .flags
                    .iter()
                    .find(|flag| flag.at == *at)
                    .ok_or_else(|| {
                        constraint(format!("must be given by {}", command_line_form(at)))
                    })?;
                return Self::from_flag(flag, Some(rule.line), rule.value.mode(), origins);
            }
        };
        Ok(Self {
            at: at.clone(),
            line: Some(rule.line),
            mode: rule.value.mode(),
            mapped,
        })
    }

    fn from_flag(
        flag: &CliMount,
        line: Option<u64>,
        mode: Mode,
        origins: Origins<'_>,
    ) -> Result<Self, PolicyError> {
        let mapped = match &flag.target {
            MountTarget::Https(base) => Mapped::Https(base.clone()),
            MountTarget::Nothing => Mapped::Unnamed,
            MountTarget::Directory(directory) => {
                let granted = flag.role == Role::Granted;
                Mapped::directory(&flag.at, origins.working_directory, directory, granted).map_err(
                    |rule| PolicyError::Flag {
                        flag: flag.flag(),
                        rule: format!("the target {rule}"),
                    },
                )?
            }
        };
        Ok(Self {
            at: flag.at.clone(),
            line,
            mode,
            mapped,
        })
    }

    /// Where `path`, which this mount holds, is read from; none if its URL cannot be built. `covered` are mount points
    /// below this one.
    pub(crate) fn locate(&self, path: &VirtualPath, covered: Vec<String>) -> Option<Location> {
        match &self.mapped {
            Mapped::Directory(mount) => {
                AllowedPath::new(mount.clone(), path, covered).map(Location::Directory)
            }
            Mapped::Https(base) => {
                below(base, path.strip_prefix(&self.at)?).map(|url| Location::Https { url })
            }
            Mapped::Unlisted | Mapped::Unnamed => None,
        }
    }

    /// Whether it is a directory with mode rw, not unmounted by a layer.
    pub(crate) fn is_writable(&self) -> bool {
        self.mode == Mode::ReadWrite && matches!(self.mapped, Mapped::Directory(_))
    }

    /// Whether the mount is a directory that is or holds the real path. By whole components; real paths have no links.
    fn directory_holds(&self, real: &Path) -> bool {
        match &self.mapped {
            Mapped::Directory(handle) => real.starts_with(handle.real()),
            Mapped::Https(_) | Mapped::Unlisted | Mapped::Unnamed => false,
        }
    }
}

impl Mapped {
    fn directory(
        at: &VirtualPath,
        base: &Path,
        directory: &Path,
        granted: bool,
    ) -> Result<Self, String> {
        let (directory, real) =
            open_directory(base, directory).map_err(|error| error.to_string())?;
        Ok(Self::Directory(MountHandle(Arc::new(MountedDirectory {
            at: at.clone(),
            directory,
            real,
            granted,
        }))))
    }
}

#[cfg(test)]
mod tests;
