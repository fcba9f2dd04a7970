//! `fs-read`: files and directories below the mounts of a call.
//!
//! The policy decides on the virtual path alone, before the file system is touched; what is
//! opened afterwards is resolved by the kernel beneath the directory of the mount. A path on an
//! https mount is a fetch. Writing has a folder of its own, `write`.

mod contents;
mod names;
mod open;
mod reads;
mod remote;
#[cfg(test)]
mod tests;
mod tree;
mod walk;
mod write;

use std::time::Duration;

use self::open::OpenFile;
use super::{BudgetExceeded, Call, parallel};
use hydrant_policy::{AllowedPath, Location, VirtualPath};

pub(super) use self::contents::read as read_open_file;
pub(super) use self::open::{
    Found, PRIVATE, READ, REFERENCE, below, create_private, file_beneath, from_errno, resolve,
};
#[cfg(target_os = "linux")]
pub(super) use self::open::{descriptor_path, open_again};
pub use self::reads::Reads;
pub(super) use self::walk::step;
pub use self::write::{
    Change, Content, Expected, Failure, Journals, MAX_CHANGES, MAX_CONTENT_BYTES, MAX_DIRECTORIES,
    apply, recover,
};

pub use super::Overflow;

/// Bytes of one file, at most; a larger `max_bytes` counts as this.
pub const MAX_FILE_BYTES: u32 = 16 * 1024 * 1024;

/// Why a path could not be read or changed. Closed: no other reason exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FsError {
    /// The policy, the manifest or the lack of a mount forbids it; the file system was not touched.
    #[error("denied")]
    Denied,
    /// Nothing has that name.
    #[error("not found")]
    NotFound,
    /// The name is a directory where a file is needed.
    #[error("is a directory")]
    IsDirectory,
    /// The name is a file where a directory is needed.
    #[error("not a directory")]
    NotDirectory,
    /// The name is a FIFO, a socket or a device.
    #[error("a special file")]
    Special,
    /// A symbolic link on the way is absolute or leads out of its mount.
    #[error("leaves its mount")]
    LeavesMount,
    /// The operating system refuses the host itself.
    #[error("not accessible")]
    NotAccessible,
    /// Longer than `max_bytes`, under [`Overflow::Refuse`].
    #[error("too large")]
    TooLarge,
    /// Not a virtual path.
    #[error("not a virtual path")]
    InvalidPath,
    /// The path lies in an https mount and could not be fetched.
    #[error("could not be fetched")]
    FetchFailed,
    /// The file no longer is what the change expects.
    #[error("not as expected")]
    Conflict,
    /// A symbolic link on the way, or at its end, where none may be: [`Symlinks::Refuse`], and every write.
    #[error("a symbolic link")]
    Symlink,
    /// There is no room on the device, or in the user's quota; of a write.
    #[error("no room is left")]
    NoSpace,
    /// The file system can only be read; of a write.
    #[error("a read-only file system")]
    ReadOnly,
    /// The file or its directory cannot be changed, whatever its mode says: it is immutable, or somebody else's in a
    /// directory like `/tmp`; of a write.
    #[error("immutable")]
    Immutable,
    /// Any other failure of the device below.
    #[error("input or output failed")]
    Io,
}

/// What happens to symbolic links on the way to a file and at its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Symlinks {
    /// They are followed as long as they stay below the mount.
    Follow,
    /// The answer is [`FsError::Symlink`].
    Refuse,
}

/// One file to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadRequest {
    /// A virtual path.
    pub path: String,
    /// Bytes, at most [`MAX_FILE_BYTES`]; a larger value counts as that.
    pub max_bytes: u32,
    /// What happens to a longer file.
    pub overflow: Overflow,
    /// What happens to symbolic links. Behind an https mount there are none.
    pub symlinks: Symlinks,
}

/// A file as read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// Its first bytes, or all of them.
    pub bytes: Vec<u8>,
    /// The file holds at least one byte after `bytes`.
    pub truncated: bool,
    /// Its owner may execute it; never behind an https mount.
    pub executable: bool,
}

/// One directory to list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeRequest {
    /// A virtual path.
    pub root: String,
    /// 1 to 100,000 entries; other values count as the nearest.
    pub max_entries: u32,
    /// Levels below `root`, 1 to 64; other values count as the nearest.
    pub max_depth: u32,
    /// List names that begin with `.`; a directory `.git` is then listed and not entered.
    pub include_hidden: bool,
}

/// What kind of thing a name is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link, never followed.
    Symlink,
    /// A FIFO, a socket or a device.
    Other,
}

/// One name below the root of a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Relative to the root, `/`-separated; a name that is not UTF-8 shows U+FFFD.
    pub path: String,
    /// What it is.
    pub kind: EntryKind,
    /// Length in bytes, of files.
    pub bytes: Option<u64>,
    /// Why this directory could not be entered.
    pub error: Option<FsError>,
}

/// A directory as listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tree {
    /// Depth first, a directory before its contents, siblings by the bytes of their names.
    pub entries: Vec<Entry>,
    /// Something that belongs to the answer was left out because of a limit.
    pub truncated: bool,
}

/// Reads files; each answer stands alone, in the order asked.
///
/// # Errors
/// [`BudgetExceeded`] ends the call: hostcalls (one for each item), bytes read, egress (of https
/// mounts), or the deadline.
pub fn read(
    call: &Call,
    requests: Vec<ReadRequest>,
) -> Result<Vec<Result<File, FsError>>, BudgetExceeded> {
    call.meter
        .hostcalls(u64::try_from(requests.len()).unwrap_or(u64::MAX))?;
    let items: Vec<_> = requests
        .into_iter()
        .map(|request| (locate(call, &request.path), request))
        .collect();
    let any_remote = items
        .iter()
        .any(|(location, _)| matches!(location, Ok(Location::Https { .. })));
    // A fetch is never quick; files mostly are.
    let alone = if any_remote {
        Duration::ZERO
    } else {
        parallel::FILES_ALONE
    };
    parallel::map(items, parallel::AT_ONCE, alone, |(location, request)| {
        call.meter.remaining()?;
        let max_bytes = request.max_bytes.min(MAX_FILE_BYTES);
        match location {
            Err(error) => Ok(Err(error)),
            Ok(Location::Https { url }) => {
                call.journal.not_repeatable();
                remote::read(call, &url, max_bytes, request.overflow)
            }
            Ok(Location::Directory(path)) => {
                let file = (path, request.symlinks);
                read_allowed(call, file, &request.path, max_bytes, request.overflow)
            }
        }
    })
}

/// Lists directories; each answer stands alone, in the order asked. Symbolic links are listed and never followed.
///
/// A directory behind an https mount cannot be listed: [`FsError::FetchFailed`].
///
/// # Errors
/// [`BudgetExceeded`] ends the call: hostcalls (one for each item), or the deadline.
pub fn tree(
    call: &Call,
    requests: Vec<TreeRequest>,
) -> Result<Vec<Result<Tree, FsError>>, BudgetExceeded> {
    call.meter
        .hostcalls(u64::try_from(requests.len()).unwrap_or(u64::MAX))?;
    let alone = parallel::FILES_ALONE;
    call.journal.not_repeatable();
    parallel::map(requests, parallel::AT_ONCE, alone, |request| {
        call.meter.remaining()?;
        let root = match locate(call, &request.root) {
            Err(error) => Err(error),
            Ok(Location::Https { .. }) => Err(FsError::FetchFailed),
            Ok(Location::Directory(path)) => noted(call, open::directory(&path), &request.root)
                .and_then(|root| {
                    call.check_own(&path, &root)?;
                    let own = call.own.in_mount(path.mount())?;
                    Ok((root, path, own))
                }),
        };
        match root {
            Err(error) => Ok(Err(error)),
            Ok((root, path, own)) => {
                // Where nobody says what a link led to, the text of the path counts.
                let below = below(path.mount().dir(), &root);
                let below = below.unwrap_or_else(|| path.relative().into());
                let covered = path.covered_in(&below);
                tree::list(root, &covered, &request, &own, &call.meter)
            }
        }
    })
}

/// Reads one file that is allowed; links are followed as far as rules allow. `name` is what denials call it.
///
/// # Errors
/// As [`read`] for one item.
pub(super) fn read_allowed(
    call: &Call,
    (path, symlinks): (AllowedPath, Symlinks),
    name: &str,
    max_bytes: u32,
    overflow: Overflow,
) -> Result<Result<File, FsError>, BudgetExceeded> {
    let opened = noted(call, OpenFile::of(&path, symlinks), name).and_then(|opened| {
        call.check_own(&path, &opened.file)?;
        Ok(opened)
    });
    let found = opened
        .as_ref()
        .map(|file| file.stamp)
        .map_err(|error| *error);
    call.journal.read(path, symlinks, found);
    let OpenFile {
        file,
        length,
        executable,
        ..
    } = match opened {
        Ok(opened) => opened,
        Err(error) => return Ok(Err(error)),
    };
    let contents = contents::read(file, length, max_bytes.into(), overflow, &call.meter)?;
    Ok(contents.map(|contents| File {
        bytes: contents.bytes,
        truncated: contents.truncated,
        executable,
    }))
}

/// Notes it as a denial where a link led to what no rule allows.
fn noted<T>(call: &Call, opened: Result<T, FsError>, name: &str) -> Result<T, FsError> {
    if matches!(opened, Err(FsError::LeavesMount)) {
        call.journal.denied_capability(format!("fs.read:{name}"));
    }
    opened
}

/// Where a virtual path lies, by its text alone.
fn locate(call: &Call, path: &str) -> Result<Location, FsError> {
    let path = VirtualPath::parse(path).map_err(|_| FsError::InvalidPath)?;
    let location = call.grant.read(&path).map_err(|denial| {
        call.journal.denied(&denial);
        FsError::Denied
    })?;
    call.journal.used("fs.read");
    Ok(location)
}
