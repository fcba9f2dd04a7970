//! The state of core modules: values by key and queues by topic, in files of the user.
//!
//! The directories belong to the user alone, the files are opened beneath their handle without following a link, and
//! a lock file guards each. The forms are those of the original program, which may share the directories.

use std::env;
use std::ffi::OsString;
use std::fs::{DirBuilder, File};
use std::io::Write;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt, FileExt};
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags};
use rustix::io::Errno;

use super::lock;
use super::replace::replace;
use super::{CoreCall, CoreKind, Ended};
use crate::fs::{PRIVATE, read_open_file};
use crate::{BudgetExceeded, Meter, Overflow};
use hydrant_base::Digest;

/// Bytes of a value.
const MAX_VALUE: usize = 1024 * 1024;
/// Bytes of a message, and of the file that holds a topic's messages.
const MAX_MESSAGE: usize = 256 * 1024;
const MAX_QUEUE: u64 = 8 * 1024 * 1024;

/// Where the state is. Without a directory, every operation has no answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StateDirectories {
    /// One file for each key.
    pub kv: Option<PathBuf>,
    /// One file for each topic.
    pub queue: Option<PathBuf>,
}

impl StateDirectories {
    /// `$PROVENACT_KV_DIR` and `$PROVENACT_QUEUE_DIR`, else directories below `home`. Never the
    /// system's directory for temporary files.
    #[must_use]
    pub fn from_environment(home: Option<&Path>) -> Self {
        Self::resolve(home, |name| env::var_os(name))
    }

    fn resolve(home: Option<&Path>, variable: impl Fn(&str) -> Option<OsString>) -> Self {
        let directory = |name: &str, below: &str| {
            let named = variable(name).filter(|value| !value.is_empty());
            named.map_or_else(
                || home.map(|home| home.join("runtime").join(below)),
                |value| Some(PathBuf::from(value)),
            )
        };
        Self {
            kv: directory("PROVENACT_KV_DIR", "kv"),
            queue: directory("PROVENACT_QUEUE_DIR", "queue"),
        }
    }
}

/// What happens to a directory that is not there.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Absent {
    Keep,
    Make,
}

impl CoreCall {
    /// Keeps `value` under `key`.
    ///
    /// # Errors
    /// [`Ended`].
    pub fn put(&self, key: &[u8], value: &[u8]) -> Result<Option<()>, Ended> {
        self.require_name(CoreKind::KvWrite, key)?;
        if value.len() > MAX_VALUE {
            return Ok(None);
        }
        let file = file_name(key, "bin");
        let directory = directory(self.state.kv.as_deref(), Absent::Make);
        self.locked(directory, &file, |directory| {
            if !is_file_or_absent(directory, &file) {
                return Ok(None);
            }
            Ok(replace(directory, &file, value, PRIVATE).ok())
        })
    }

    /// The value under `key`, unless it is longer than `room`.
    ///
    /// # Errors
    /// [`Ended`].
    pub fn get(&self, key: &[u8], room: usize) -> Result<Option<Vec<u8>>, Ended> {
        self.require_name(CoreKind::KvRead, key)?;
        let file = file_name(key, "bin");
        let directory = directory(self.state.kv.as_deref(), Absent::Keep);
        let room = u64::try_from(room).unwrap_or(u64::MAX);
        self.locked(directory, &file, |directory| {
            read(directory, &file, room, &self.meter)
        })
    }

    /// Adds `message` to the end of a queue.
    ///
    /// # Errors
    /// [`Ended`].
    pub fn publish(&self, topic: &[u8], message: &[u8]) -> Result<Option<()>, Ended> {
        self.require_name(CoreKind::QueuePublish, topic)?;
        if message.len() > MAX_MESSAGE {
            return Ok(None);
        }
        let file = file_name(topic, "log");
        let directory = directory(self.state.queue.as_deref(), Absent::Make);
        self.locked(directory, &file, |directory| {
            Ok(append(directory, &file, message))
        })
    }

    /// Takes the first message of a queue, unless it is longer than `room`: then it stays.
    ///
    /// # Errors
    /// [`Ended`].
    pub fn consume(&self, topic: &[u8], room: usize) -> Result<Option<Vec<u8>>, Ended> {
        self.require_name(CoreKind::QueueConsume, topic)?;
        let file = file_name(topic, "log");
        let directory = directory(self.state.queue.as_deref(), Absent::Keep);
        self.locked(directory, &file, |directory| {
            let Some(lines) = read(directory, &file, MAX_QUEUE, &self.meter)? else {
                return Ok(None);
            };
            let Some((message, rest)) = first_message(&lines) else {
                return Ok(None);
            };
            if message.len() > room {
                return Ok(None);
            }
            let taken = replace(directory, &file, rest, PRIVATE);
            Ok(taken.ok().map(|()| message))
        })
    }

    /// Works on a file while it is locked; no answer without a directory or without the lock.
    fn locked<T>(
        &self,
        directory: Option<OwnedFd>,
        file: &str,
        work: impl FnOnce(&OwnedFd) -> Result<Option<T>, BudgetExceeded>,
    ) -> Result<Option<T>, Ended> {
        let Some(directory) = directory else {
            return Ok(None);
        };
        let Some(_lock) = lock::take(&directory, file, &self.meter)? else {
            return Ok(None);
        };
        Ok(work(&directory)?)
    }
}

fn file_name(name: &[u8], extension: &str) -> String {
    format!("{}.{extension}", Digest::of(name).hex())
}

/// Opens a directory that nobody but its owner, this user or root, decides about; it is made for this user alone.
fn directory(path: Option<&Path>, absent: Absent) -> Option<OwnedFd> {
    // Without a slash at the end, which would follow a link.
    let path: PathBuf = path?.components().collect();
    if absent == Absent::Make {
        let mut builder = DirBuilder::new();
        builder.recursive(true).mode(0o700).create(&path).ok()?;
    }
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = rustix::fs::openat(CWD, &path, flags, Mode::empty()).ok()?;
    let stat = rustix::fs::fstat(&opened).ok()?;
    let world_writable = Mode::from_raw_mode(stat.st_mode).contains(Mode::WOTH);
    let owner = stat.st_uid;
    let own = owner == 0 || owner == rustix::process::geteuid().as_raw();
    if world_writable || !own {
        tracing::warn!(
            directory = %path.display(),
            "state is not kept in a directory of others"
        );
        return None;
    }
    Some(opened)
}

fn is_file_or_absent(directory: &OwnedFd, file: &str) -> bool {
    match rustix::fs::statat(directory, file, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile,
        Err(error) => error == Errno::NOENT,
    }
}

/// Opens a regular file that is no link, and tells its length.
fn open(directory: &OwnedFd, file: &str, access: OFlags) -> Option<(File, u64)> {
    let flags = access | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let opened = File::from(rustix::fs::openat(directory, file, flags, PRIVATE).ok()?);
    let metadata = opened.metadata().ok()?;
    metadata.is_file().then_some((opened, metadata.len()))
}

fn read(
    directory: &OwnedFd,
    file: &str,
    most: u64,
    meter: &Meter,
) -> Result<Option<Vec<u8>>, BudgetExceeded> {
    let Some((opened, length)) = open(directory, file, OFlags::RDONLY) else {
        return Ok(None);
    };
    let contents = read_open_file(opened, length, most, Overflow::Refuse, meter)?;
    Ok(contents.ok().map(|contents| contents.bytes))
}

/// Adds a line to a queue; what could not be written whole is taken back.
fn append(directory: &OwnedFd, file: &str, message: &[u8]) -> Option<()> {
    let access = OFlags::RDWR | OFlags::APPEND | OFlags::CREATE;
    let (mut opened, length) = open(directory, file, access)?;
    let mut line = STANDARD.encode(message);
    line.push('\n');
    let mut last = [b'\n'];
    if let Some(before) = length.checked_sub(1) {
        opened.read_exact_at(&mut last, before).ok()?;
    }
    if last != [b'\n'] {
        // Another program was interrupted while it wrote.
        line.insert(0, '\n');
    }
    let more = u64::try_from(line.len()).unwrap_or(u64::MAX);
    if length.saturating_add(more) > MAX_QUEUE {
        return None;
    }
    let written = opened.write_all(line.as_bytes());
    if written.is_err() {
        let _ = opened.set_len(length);
    }
    written.ok()
}

/// The first line that is a message, and what follows it. A line that is none is passed over: it would block the
/// queue for ever.
fn first_message(mut lines: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    while !lines.is_empty() {
        let end = lines.iter().position(|byte| *byte == b'\n');
        let (line, rest) = match end.and_then(|end| lines.split_at_checked(end)) {
            Some((line, rest)) => (line, rest.get(1..).unwrap_or_default()),
            None => (lines, &[][..]),
        };
        if let Ok(message) = STANDARD.decode(line) {
            return Some((message, rest));
        }
        lines = rest;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_directories_are_named_or_below_the_home_and_never_elsewhere() {
        let variable = |name: &str| match name {
            "PROVENACT_KV_DIR" => Some(OsString::from("/k")),
            _ => Some(OsString::new()),
        };
        let none = |_: &str| None;
        let home = Some(Path::new("/home/me/.hydrant"));
        let state = StateDirectories::resolve(home, variable);
        assert_eq!(state.kv, Some(PathBuf::from("/k")));
        assert_eq!(
            state.queue,
            Some(PathBuf::from("/home/me/.hydrant/runtime/queue"))
        );
        assert_eq!(
            StateDirectories::resolve(None, none),
            StateDirectories::default()
        );
    }

    #[test]
    fn lines_that_are_no_message_do_not_block_a_queue() {
        let (message, rest) = first_message(b"!\nYQ==\nYg==\n").unwrap();
        assert_eq!((message.as_slice(), rest), (&b"a"[..], &b"Yg==\n"[..]));
        let (message, rest) = first_message(rest).unwrap();
        assert_eq!((message.as_slice(), rest), (&b"b"[..], &b""[..]));
        assert!(first_message(rest).is_none());
        // An empty message is an empty line; a last line may have no end.
        assert_eq!(first_message(b"\nYQ==").unwrap().0, b"");
        assert_eq!(first_message(b"YQ==").unwrap().0, b"a");
        assert!(first_message(b"!\n!").is_none());
    }
}
