//! Reading and writing single files.
//!
//! The declared values decide on the text of the path alone, before the file system is touched. Reading
//! follows links that stay below the declared directory; writing follows none.

use std::fs::File;
use std::os::fd::OwnedFd;
use std::path::Path;

use cap_std::fs::Dir;
#[cfg(target_os = "linux")]
use rustix::fs::OFlags;
use rustix::fs::{AtFlags, FileType, Mode};
use rustix::io::Errno;

use super::place;
use super::replace::{PERMISSIONS, replace};
use super::{CoreCall, CoreKind, Ended, declared, denied};
use crate::Overflow;
#[cfg(target_os = "linux")]
use crate::fs::open_again;
use crate::fs::{Found, FsError, file_beneath, from_errno, read_open_file};
use hydrant_policy::VirtualPath;

/// The permissions of a file that was not there.
const NEW_FILE: Mode = Mode::from_raw_mode(0o644);

/// What a declared path is.
enum Root {
    Directory(Dir),
    /// A reference to the file.
    File(OwnedFd),
}

/// Why one declared value does not give what was asked for.
enum Miss {
    /// It grants nothing here: it has a link in it, or the path leaves it by one.
    Denied,
    /// There is no such thing, or it cannot be read.
    Unusable,
}

impl CoreCall {
    /// The whole file, unless it is longer than `room`.
    ///
    /// # Errors
    /// [`Ended`].
    pub fn read_file(&self, path: &[u8], room: usize) -> Result<Option<Vec<u8>>, Ended> {
        let Some(path) = declared::path(path) else {
            return Ok(None);
        };
        let opened = self.below_roots(&path, |value, rest| {
            let (file, length) = open_file(value, rest)?;
            self.own.anywhere().check(&file)?;
            Ok((file, length))
        });
        let opened = self.noted(CoreKind::FsRead, opened)?;
        let Some((file, length)) = opened else {
            return Ok(None);
        };
        let room = u64::try_from(room).unwrap_or(u64::MAX);
        let contents = read_open_file(file, length, room, Overflow::Refuse, &self.meter)?;
        Ok(contents.ok().map(|contents| contents.bytes))
    }

    /// Replaces the file or makes it, with the directories that lead to it.
    ///
    /// # Errors
    /// [`Ended`].
    pub fn write_file(&self, path: &[u8], bytes: &[u8]) -> Result<Option<()>, Ended> {
        let Some(path) = declared::path(path) else {
            return Ok(None);
        };
        let kind = CoreKind::FsWrite;
        // What lies in `.git` decides what git does next.
        let is_git = |segment: &str| segment.eq_ignore_ascii_case(".git");
        if self.declared.roots(kind, &path).is_empty() || path.segments().any(is_git) {
            return Err(denied(kind, path.as_str()));
        }
        let outcome = match self.write(&path, bytes) {
            Ok(()) => Ok(Some(())),
            Err(Miss::Denied) => Err(denied(kind, path.as_str())),
            Err(Miss::Unusable) => Ok(None),
        };
        self.noted(kind, outcome)
    }

    /// A directory that may be read, to be listed.
    pub(super) fn directory(&self, value: &VirtualPath, rest: &str) -> Result<OwnedFd, LookError> {
        let directory = find_directory(value, rest)?;
        self.own.anywhere().check(&directory)?;
        Ok(directory)
    }

    /// Writes a file no component of whose path is a link.
    fn write(&self, path: &VirtualPath, bytes: &[u8]) -> Result<(), Miss> {
        let Some((parent, name)) = path
            .as_str()
            .rsplit_once('/')
            .filter(|(_, name)| !name.is_empty())
        else {
            return Err(Miss::Unusable);
        };
        let parent = VirtualPath::normalise(&format!("/{parent}")).map_err(|_| Miss::Unusable)?;
        if self.own.hold(Path::new(path.as_str())) {
            return Err(Miss::Denied);
        }
        let directory = place::make_directory(&parent)?;
        let own = self.own.anywhere();
        own.check(&directory)
            .and_then(|()| own.check_name(&directory, name))
            .map_err(|_| Miss::Denied)?;
        let permissions = match rustix::fs::statat(&directory, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => match FileType::from_raw_mode(stat.st_mode) {
                FileType::RegularFile => Mode::from_raw_mode(stat.st_mode) & PERMISSIONS,
                FileType::Symlink => return Err(Miss::Denied),
                _ => return Err(Miss::Unusable),
            },
            Err(Errno::NOENT) => NEW_FILE,
            Err(_) => return Err(Miss::Unusable),
        };
        replace(&directory, name, bytes, permissions).map_err(|_| Miss::Unusable)
    }

    /// Asks `look` below each declared value that holds `path`, the widest first; the first that gives something wins.
    /// Only where none of them grants anything, the path is denied.
    pub(super) fn below_roots<T>(
        &self,
        path: &VirtualPath,
        look: impl Fn(&VirtualPath, &str) -> Result<T, LookError>,
    ) -> Result<Option<T>, Ended> {
        let mut granted = false;
        for root in self.declared.roots(CoreKind::FsRead, path) {
            self.meter.remaining()?;
            match look(&root, path.strip_prefix(&root).unwrap_or_default()) {
                Ok(found) => return Ok(Some(found)),
                Err(LookError(Miss::Unusable)) => granted = true,
                Err(LookError(Miss::Denied)) => {}
            }
        }
        if granted {
            Ok(None)
        } else {
            Err(denied(CoreKind::FsRead, path.as_str()))
        }
    }
}

/// Why nothing was found below one declared value.
pub(super) struct LookError(Miss);

impl From<FsError> for LookError {
    fn from(error: FsError) -> Self {
        Self(error.into())
    }
}

impl From<FsError> for Miss {
    fn from(error: FsError) -> Self {
        match error {
            FsError::Symlink | FsError::LeavesMount | FsError::Denied => Self::Denied,
            _ => Self::Unusable,
        }
    }
}

/// Looks a declared value up, without following a link.
fn root(path: &VirtualPath) -> Result<Root, LookError> {
    let reference = place::refer(path)?;
    let stat = rustix::fs::fstat(&reference).map_err(from_errno)?;
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::Directory => Ok(Root::Directory(Dir::from_std_file(File::from(reference)))),
        FileType::RegularFile => Ok(Root::File(reference)),
        _ => Err(FsError::Special.into()),
    }
}

/// A file below a declared value, and its length.
fn open_file(value: &VirtualPath, rest: &str) -> Result<(File, u64), LookError> {
    match root(value)? {
        Root::Directory(directory) => Ok(file_beneath(&directory, rest)?),
        Root::File(reference) if rest.is_empty() => Ok(reopen(reference)?),
        Root::File(_) => Err(FsError::NotFound.into()),
    }
}

/// A directory below a declared value, to be listed.
fn find_directory(value: &VirtualPath, rest: &str) -> Result<OwnedFd, LookError> {
    match root(value)? {
        Root::Directory(directory) => Ok(Found::of(&(&directory, rest))?.into_directory()?),
        Root::File(_) => Err(FsError::NotDirectory.into()),
    }
}

/// Opens the file that a reference names, and nothing else; with its length.
fn reopen(reference: OwnedFd) -> Result<(File, u64), FsError> {
    // Elsewhere it was opened for reading.
    #[cfg(target_os = "linux")]
    let reference = open_again(&reference, OFlags::empty()).map_err(from_errno)?;
    let file = File::from(reference);
    let length = file.metadata().map_err(|_| FsError::Io)?.len();
    Ok((file, length))
}
