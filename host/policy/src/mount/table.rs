//! The table of mounts of a policy: built once, from the document and the flags, then only asked.

use std::path::Path;

use url::Url;

use super::base::below;
use super::cli::Role;
use super::{AllowedPath, CliMount, MountHandle, MountTarget};
use crate::VirtualPath;
use crate::document::{Lined, Mode, MountRule, MountSource};
use crate::error::PolicyError;
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
            let fault = |rule: &str| Err(PolicyError::flag(flag.flag(), rule));
            let mut others = origins.flags.iter().skip(index + 1);
            if others.any(|other| other.at == flag.at) {
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
        let handles = self.mounts.iter().filter_map(Mounted::handle);
        handles.cloned()
    }

    /// The mount at exactly this place.
    pub(crate) fn at(&self, at: &VirtualPath) -> Option<&Mounted> {
        self.mounts.iter().find(|mount| mount.at == *at)
    }

    /// The directories that are mounted read-only.
    pub(crate) fn read_only(&self) -> impl Iterator<Item = &MountHandle> {
        let mounts = self.mounts.iter();
        let read_only = mounts.filter(|mount| mount.mode == Mode::ReadOnly);
        read_only.filter_map(Mounted::handle)
    }

    /// A read-only mount whose directory holds a real path, if there is one.
    pub(crate) fn read_only_over(&self, real: &Path) -> Option<&Mounted> {
        let mut mounts = self.mounts.iter();
        mounts.find(|mount| mount.mode == Mode::ReadOnly && mount.directory_holds(real))
    }

    /// Whether exactly this real directory is mounted at exactly this place.
    #[cfg(test)]
    pub(crate) fn mounts_at(&self, at: &VirtualPath, real: &Path) -> bool {
        let mut handles = self.mounts.iter().filter_map(Mounted::handle);
        handles.any(|handle| handle.at() == at && handle.real() == real)
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
        let constraint = |text: String| {
            let member = format!("the mount {at}");
            PolicyError::constraint(origins.file, rule.line, member, text)
        };
        let mapped = match rule.value.source() {
            MountSource::Https(base) => Mapped::Https(base.clone()),
            MountSource::Directory(directory) => {
                let opened = MountHandle::open(at, origins.directory, Path::new(directory), false);
                Mapped::Directory(opened.map_err(|error| constraint(error.to_string()))?)
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
                let base = origins.working_directory;
                let opened = MountHandle::open(&flag.at, base, directory, granted);
                Mapped::Directory(opened.map_err(|error| {
                    PolicyError::flag(flag.flag(), format!("the target {error}"))
                })?)
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
        self.mode == Mode::ReadWrite && self.handle().is_some()
    }

    /// The directory that is mounted, if one is.
    fn handle(&self) -> Option<&MountHandle> {
        match &self.mapped {
            Mapped::Directory(handle) => Some(handle),
            Mapped::Https(_) | Mapped::Unlisted | Mapped::Unnamed => None,
        }
    }

    /// Whether the mount is a directory that is or holds the real path. By whole components; real paths have no links.
    fn directory_holds(&self, real: &Path) -> bool {
        self.handle()
            .is_some_and(|handle| real.starts_with(handle.real()))
    }
}

#[cfg(test)]
mod tests;
