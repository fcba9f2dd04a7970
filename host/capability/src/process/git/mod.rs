//! The git guard: a hostile repository makes no child start anything.
//!
//! It holds for every child whose program name is `git`, whichever rule of the policy allowed it, and no policy turns
//! it off. In this order:
//!
//! 1. **Arguments** ([`arguments`]). Only commands that read, and of these no option that writes a file, reads one
//!    outside the repository, enters a submodule or starts a program. So an alias, an external command, a hook of a
//!    command that writes, an editor, a merge tool, a credential helper and a transport have nobody to start them.
//!    Which of the commands and options that are left a component may use is the policy author's business.
//! 2. **Environment** ([`environment`]). No configuration but the repository's, no transport, no editor, no pager; fixed
//!    values for what the repository could configure. A rule's `env` adds no variable whose name begins with `GIT_`:
//!    some of them start programs (`GIT_EXTERNAL_DIFF`), others leave the mounts (`GIT_DIR`), and what one does
//!    changes with git's version.
//! 3. **Place** ([`absolute`], [`contents`], [`repository`]). Git directory, common directory, top level, alternates and
//!    what their links lead to lie inside the mount of the working directory, and nothing in them makes git wait. Where
//!    there is no repository, what git says of that is the answer, and the command is not started: `git diff` would
//!    compare any two files there.
//! 4. **Drivers** ([`drivers`]). Filters, textconv programs, diff and merge drivers have names that the repository
//!    chooses; those that it configures are listed, and each is emptied. A repository whose settings name no such section
//!    is not asked for them ([`plain`]).
//!
//! The guard's own commands are started like the command itself and share its deadline; they make no hostcall of their
//! own. None of them starts a program or looks at an object.
//!
//! It does not hold against somebody who changes the repository between these steps and the command. That a child
//! executes git and nothing else, and that it cannot read outside the mounts or write to a repository, is for
//! the jail to enforce.

mod absolute;
mod arguments;
mod contents;
mod drivers;
mod environment;
mod plain;
mod repository;
#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::child::{Ended, Start};
use super::{Bounds, Ending, ProcessError};
use hydrant_jail::Captured;

pub(super) use self::arguments::Checked;
use self::repository::{Looked, Repository};

/// The program that is guarded.
pub(super) const PROGRAM: &str = "git";

/// Links from the index that git is told of to the real one. Git follows at most five to find out what it would have
/// to replace.
const INDEX_LINKS: u32 = 8;

/// A command about to be guarded.
pub(super) struct Guarded<'call> {
    /// The child as the policy allows it.
    pub(super) start: Start<'call>,
    /// What of its arguments is the command.
    pub(super) checked: Checked,
    /// The mount that holds the working directory.
    pub(super) place: Place<'call>,
    /// The child's private directory outside of a jail. In one it can write to no repository anyway.
    pub(super) scratch: Option<&'call Path>,
}

/// A mount, as the child names it and as this process does; outside of a jail both are the same.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place<'call> {
    pub(super) inside: &'call Path,
    pub(super) real: &'call Path,
}

impl Place<'_> {
    /// Where a path of the child's really is, without links; none if that is not in the mount.
    fn real(self, path: &Path) -> Option<PathBuf> {
        let below = path.strip_prefix(self.inside).ok()?;
        let real = self.real.join(below).canonicalize().ok()?;
        real.starts_with(self.real).then_some(real)
    }
}

impl Guarded<'_> {
    /// Runs the command, or answers for it where there is no repository.
    ///
    /// # Errors
    /// [`ProcessError::DirectoryDenied`] when a part of the repository lies outside of the mount or cannot be made harmless;
    /// [`ProcessError::ArgumentsDenied`] when `git diff` would compare files outside of it;
    /// [`ProcessError::NotStartable`].
    pub(super) fn run(mut self, bounds: Bounds) -> Result<Ended, ProcessError> {
        let clock = Clock {
            started: Instant::now(),
            time: bounds.time,
        };
        environment::guard(&mut self.start.environment, self.place.inside);
        let directory = if self.place.inside == self.place.real {
            // Outside of a jail it is named by a descriptor.
            self.start.directory.canonicalize().map_err(not_startable)?
        } else {
            self.start.directory.clone()
        };
        let told = absolute::variables(self.place, &directory, clock)?;
        self.start.environment.extend(told);
        let repository = match self.look(clock)? {
            Looked::Repository(repository) => repository,
            Looked::Answer(ended) => return Ok(ended),
        };
        let (git_directory, common) = (&repository.git_directory, &repository.common_directory);
        absolute::check(self.place, git_directory, common, clock)?;
        if self.checked.leaves(&self.start.arguments, repository.depth) {
            return Err(ProcessError::ArgumentsDenied);
        }
        if repository.has_linked_index().map_err(not_startable)? {
            return Err(ProcessError::DirectoryDenied);
        }
        let drivers = match self.list_drivers(&repository, clock)? {
            Some(drivers) => drivers,
            None => return Ok(late(clock)),
        };
        environment::configure(&mut self.start.environment, &drivers);
        if let Some(scratch) = self.scratch
            && self.checked.refreshes_the_index()
        {
            let index = only_read(&repository, scratch).map_err(not_startable)?;
            self.start
                .environment
                .insert("GIT_INDEX_FILE".into(), index);
        }
        self.checked.complete(&mut self.start.arguments);
        match clock.left() {
            Some(left) => Ok(self.start.run(left, bounds.keep)?),
            None => Ok(late(clock)),
        }
    }

    /// Runs a command of the guard's own, in the same place; none if its time is up.
    fn ask(
        &self,
        arguments: &[&str],
        clock: Clock,
        keep: usize,
    ) -> Result<Option<Ended>, ProcessError> {
        let Some(left) = clock.left() else {
            return Ok(None);
        };
        let arguments = arguments.iter().map(OsString::from).collect();
        let ended = self.start.with_arguments(arguments).run(left, keep)?;
        Ok((ended.ending != Ending::TimedOut).then_some(ended))
    }
}

/// The time of the command and of all that the guard asks before.
#[derive(Debug, Clone, Copy)]
struct Clock {
    started: Instant,
    time: Duration,
}

impl Clock {
    fn left(self) -> Option<Duration> {
        self.time
            .checked_sub(self.started.elapsed())
            .filter(|left| !left.is_zero())
    }
}

/// The answer when the time is up before the command has begun.
fn late(clock: Clock) -> Ended {
    Ended {
        ending: Ending::TimedOut,
        stdout: Captured::default(),
        stderr: Captured::default(),
        took: clock.started.elapsed(),
    }
}

fn not_startable(error: io::Error) -> ProcessError {
    tracing::debug!(%error, "git could not be started");
    ProcessError::NotStartable
}

/// A name in `scratch` that git reads the index by and does not find its way back from: what it would write to the
/// index, which no setting forbids to `git diff`, replaces a link.
fn only_read(repository: &Repository, scratch: &Path) -> io::Result<OsString> {
    let mut to = repository.git_directory.join("index");
    for number in 0..INDEX_LINKS {
        let link = scratch.join(format!("index-{number}"));
        symlink(&to, &link)?;
        to = link;
    }
    Ok(to.into())
}
