//! Listing a directory depth first, bounded in entries, levels, bytes and open directories.
//!
//! No recursion: the levels that are open stand on a stack of at most 64. Names of a level are held
//! sorted, and no more of them than can still be listed, so that a directory with a million names costs
//! no more memory than the answer. Symbolic links are listed and never followed.

#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::ffi::{CStr, CString, OsStr};
use std::ops::ControlFlow;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{Access, AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;

use super::names::Buffer;
use super::{Entry, EntryKind, FsError, Tree, TreeRequest, from_errno};
use crate::own_files::Opened;
use crate::{BudgetExceeded, Meter};

/// Entries of one listing.
const MAX_ENTRIES: u32 = 100_000;

/// Levels below the root, and so directories that are open at a time.
const MAX_DEPTH: u32 = 64;

/// Bytes of all paths of one answer: deep trees of long names multiply.
const MAX_PATH_BYTES: usize = 16 * 1024 * 1024;

/// Names that are read between two looks at the clock.
const NAMES_BETWEEN_LOOKS: usize = 1024;

/// How directories below the root are opened: what was swapped for a link is not followed.
const ENTER: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

/// Lists what is below `root`; what lies at `covered`, relative to it, is named and not entered.
///
/// # Errors
/// Outside: the deadline. Inside: what the system says of the root; a directory further down that
/// cannot be read is an entry with an error.
pub(super) fn list(
    root: OwnedFd,
    covered: &[&Path],
    request: &TreeRequest,
    own: &Opened<'_>,
    meter: &Meter,
) -> Result<Result<Tree, FsError>, BudgetExceeded> {
    let mut listing = Listing {
        depth: usize::try_from(request.max_depth.clamp(1, MAX_DEPTH)).unwrap_or(1),
        left: usize::try_from(request.max_entries.clamp(1, MAX_ENTRIES)).unwrap_or(1),
        path_bytes_left: MAX_PATH_BYTES,
        include_hidden: request.include_hidden,
        own,
        covered,
        meter,
        levels: Vec::new(),
        entries: Vec::new(),
        truncated: false,
        buffer: Buffer::default(),
    };
    if let Err(error) = listing.enter(root, String::new())? {
        return Ok(Err(error));
    }
    while let Some(level) = listing.levels.last_mut() {
        let Some(name) = level.names.pop_front() else {
            listing.levels.pop();
            continue;
        };
        if listing.left == 0 || listing.path_bytes_left == 0 {
            listing.truncated = true;
            break;
        }
        listing.visit(name)?;
    }
    Ok(Ok(Tree {
        entries: listing.entries,
        truncated: listing.truncated,
    }))
}

/// A name, and its kind as far as the directory tells.
type Name = (CString, FileType);

/// A directory that is being listed.
struct Level {
    directory: OwnedFd,
    /// Relative to the root; empty, or ending in `/`.
    prefix: String,
    /// What is still to be listed, in order.
    names: VecDeque<Name>,
}

struct Listing<'call> {
    depth: usize,
    /// Entries that may still be listed.
    left: usize,
    path_bytes_left: usize,
    include_hidden: bool,
    /// What is hydrant's own is not entered.
    own: &'call Opened<'call>,
    /// Where other mounts lie.
    covered: &'call [&'call Path],
    meter: &'call Meter,
    levels: Vec<Level>,
    entries: Vec<Entry>,
    truncated: bool,
    buffer: Buffer,
}

impl Listing<'_> {
    /// Lists one name of the innermost level, and enters it if it is a directory.
    fn visit(&mut self, (name, kind): Name) -> Result<(), BudgetExceeded> {
        let Some(Level {
            directory, prefix, ..
        }) = self.levels.last()
        else {
            return Ok(());
        };
        // What vanished meanwhile is skipped.
        let Ok((kind, bytes)) = examine(directory, &name, kind) else {
            return Ok(());
        };
        let covered = self.covered.iter().any(|other| {
            let name = Path::new(OsStr::from_bytes(name.to_bytes()));
            Path::new(prefix).join(name) == **other
        });
        // `.git` is listed and not entered.
        let may_enter = kind == EntryKind::Directory && name.to_bytes() != b".git" && !covered;
        let entered = may_enter && self.levels.len() < self.depth && self.left > 1;
        // Whether something is left out here, a look inside tells, unless it is known already.
        let opened = (entered || (may_enter && !self.truncated)).then(|| {
            let opened = rustix::fs::openat(directory, &name, ENTER, Mode::empty())?;
            // As one that the system does not let the host enter.
            let own = self.own.check_child(&opened);
            own.map(|()| opened).map_err(|_| Errno::ACCESS)
        });
        let refusal = match &opened {
            Some(Ok(_)) => None,
            Some(Err(errno)) => Some(*errno),
            None if may_enter => refusal(directory, &name),
            None => None,
        };
        if refusal == Some(Errno::NOENT) {
            return Ok(());
        }
        let path = joined(prefix, name);
        let at = self.entries.len();
        let prefix = entered.then(|| format!("{path}/"));
        self.left = self.left.saturating_sub(1);
        self.path_bytes_left = self.path_bytes_left.saturating_sub(path.len());
        self.entries.push(Entry {
            path,
            kind,
            bytes,
            error: refusal.map(unreadable),
        });
        let Some(Ok(directory)) = opened else {
            return Ok(());
        };
        let Some(prefix) = prefix else {
            if let Ok((names, more)) = self.names(&directory, 0)? {
                self.truncated |= more || !names.is_empty();
            }
            return Ok(());
        };
        let error = self.enter(directory, prefix)?.err();
        if let Some(entry) = self.entries.get_mut(at) {
            entry.error = error;
        }
        Ok(())
    }

    /// Reads the names of `directory` and makes it the innermost level.
    fn enter(
        &mut self,
        directory: OwnedFd,
        prefix: String,
    ) -> Result<Result<(), FsError>, BudgetExceeded> {
        let (names, more) = match self.names(&directory, self.left)? {
            Ok(names) => names,
            Err(errno) => return Ok(Err(unreadable(errno))),
        };
        self.truncated |= more;
        // These names come before all that wait on outer levels. Of those, the last ones give way, so
        // that no more names wait in all than can still be listed.
        let mut room = self.left.saturating_sub(names.len());
        for level in self.levels.iter_mut().rev() {
            self.truncated |= level.names.len() > room;
            level.names.truncate(room);
            level.names.shrink_to_fit();
            room = room.saturating_sub(level.names.len());
        }
        self.levels.push(Level {
            directory,
            prefix,
            names,
        });
        Ok(Ok(()))
    }

    /// The first `most` visible names by their bytes, and whether there are more.
    fn names(
        &mut self,
        directory: &OwnedFd,
        most: usize,
    ) -> Result<Result<(VecDeque<Name>, bool), Errno>, BudgetExceeded> {
        let mut names: Vec<Name> = Vec::new();
        let mut more = false;
        let mut seen = 0_usize;
        let (include_hidden, meter) = (self.include_hidden, self.meter);
        let read = self.buffer.read(directory, |name, kind| {
            seen = seen.wrapping_add(1);
            if seen.is_multiple_of(NAMES_BETWEEN_LOOKS)
                && let Err(exceeded) = meter.remaining()
            {
                return ControlFlow::Break(Some(exceeded));
            }
            if !include_hidden && name.to_bytes().starts_with(b".") {
                return ControlFlow::Continue(());
            }
            if most == 0 {
                more = true;
                return ControlFlow::Break(None);
            }
            names.push((name.to_owned(), kind));
            // Twice as many are held before the last are dropped, so that dropping them costs little for each.
            if names.len() >= most.saturating_mul(2).max(NAMES_BETWEEN_LOOKS) {
                keep_first(&mut names, most);
                more = true;
            }
            ControlFlow::Continue(())
        });
        match read {
            Err(errno) => return Ok(Err(errno)),
            Ok(Some(Some(exceeded))) => return Err(exceeded),
            Ok(Some(None) | None) => {}
        }
        more |= names.len() > most;
        keep_first(&mut names, most);
        Ok(Ok((names.into(), more)))
    }
}

/// Sorts by the bytes of the names and keeps the first `most`.
fn keep_first(names: &mut Vec<Name>, most: usize) {
    names.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
    names.truncate(most);
}

/// What a name is, and the length of a file. Only where the directory did not tell enough, the system is asked.
fn examine(
    directory: &OwnedFd,
    name: &CStr,
    kind: FileType,
) -> Result<(EntryKind, Option<u64>), Errno> {
    match kind {
        FileType::Directory => return Ok((EntryKind::Directory, None)),
        FileType::Symlink => return Ok((EntryKind::Symlink, None)),
        FileType::RegularFile | FileType::Unknown => {}
        _ => return Ok((EntryKind::Other, None)),
    }
    let stat = rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)?;
    Ok(match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => (EntryKind::File, u64::try_from(stat.st_size).ok()),
        FileType::Directory => (EntryKind::Directory, None),
        FileType::Symlink => (EntryKind::Symlink, None),
        _ => (EntryKind::Other, None),
    })
}

/// Why a directory that is not entered could not be; it is not opened for that.
fn refusal(directory: &OwnedFd, name: &CStr) -> Option<Errno> {
    let flags = AtFlags::EACCESS | AtFlags::SYMLINK_NOFOLLOW;
    match rustix::fs::accessat(directory, name, Access::READ_OK, flags) {
        Err(errno @ (Errno::ACCESS | Errno::NOENT)) => Some(errno),
        _ => None,
    }
}

/// `prefix` and the name; without a prefix the name is not copied.
fn joined(prefix: &str, name: CString) -> String {
    if prefix.is_empty() {
        let lossy =
            |name: std::ffi::IntoStringError| name.into_cstring().to_string_lossy().into_owned();
        return name.into_string().unwrap_or_else(lossy);
    }
    format!("{prefix}{}", name.to_string_lossy())
}

/// Why a directory is listed and not entered: there are two reasons, not accessible, and the rest.
fn unreadable(errno: Errno) -> FsError {
    match from_errno(errno) {
        FsError::NotAccessible => FsError::NotAccessible,
        _ => FsError::Io,
    }
}
