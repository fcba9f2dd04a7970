//! A directory of a root, opened once, and the files in it.

use std::borrow::Cow;
use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;

use rustix::fs::{AtFlags, FileType, Mode, OFlags, fstat, openat, statat};
use rustix::io::{Errno, retry_on_intr};

use super::root::EmbeddedFiles;
use hydrant_base::{Digest, FileStamp, escaped, read_at_most};
use hydrant_trust::{Carried, Wasm};

/// The most names in one directory: a directory with more is made to exhaust its reader.
const MAX_MEMBERS: usize = 100_000;

/// An opened directory of a root.
#[derive(Debug)]
pub(super) struct Folder {
    path: String,
    handle: Handle,
    /// The components that this program carries.
    carried: &'static [Carried],
}

#[derive(Debug)]
enum Handle {
    Directory(OwnedFd),
    Embedded(EmbeddedFiles),
}

/// What a directory holds.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Member {
    /// Its name; what is not UTF-8 in it is replaced.
    pub(super) name: String,
    /// What it is.
    pub(super) kind: MemberKind,
}

/// What a member of a directory is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum MemberKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link, a device, a pipe, or something whose name is not UTF-8.
    Other,
}

/// A file or directory of a root that is not what it must be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{} {reason}", escaped(path))]
pub(super) struct FileFault {
    /// Relative to the root.
    pub(super) path: String,
    /// What is wrong with it.
    pub(super) reason: Reason,
}

/// What is wrong with a file or directory.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum Reason {
    /// There is nothing of that name.
    #[error("does not exist")]
    Missing,
    /// It, or a directory on the way to it, is a symbolic link.
    #[error("is a symbolic link")]
    Link,
    /// A directory, a pipe, a device.
    #[error("is not a regular file")]
    NotRegular,
    /// A file, where a directory is needed.
    #[error("is not a directory")]
    NotDirectory,
    /// Longer than such a file may be.
    #[error("exceeds maximum size ({bytes} bytes > {maximum} bytes)")]
    TooLarge {
        /// Its size, or as much of it as was read.
        bytes: u64,
        /// The limit.
        maximum: u64,
    },
    /// A directory with more names than are ever listed.
    #[error("holds more than {MAX_MEMBERS} names")]
    TooMany,
    /// `..`, an absolute path, an empty segment.
    #[error("is not a plain path below the root")]
    NotPlain,
    /// What the system says.
    #[error("cannot be read: {0}")]
    Io(String),
}

impl Folder {
    /// The top of a root.
    pub(super) const fn opened(handle: OwnedFd) -> Self {
        Self {
            path: String::new(),
            handle: Handle::Directory(handle),
            carried: &[],
        }
    }

    /// The top of an embedded root.
    pub(super) const fn embedded(files: EmbeddedFiles) -> Self {
        Self {
            path: String::new(),
            handle: Handle::Embedded(files),
            carried: &[],
        }
    }

    /// The same directory for a program that carries these components.
    pub(super) fn carrying(self, carried: &'static [Carried]) -> Self {
        Self { carried, ..self }
    }

    /// Relative to the root.
    #[must_use]
    pub(super) fn path(&self) -> &str {
        &self.path
    }

    /// The path of a member, relative to the root.
    #[must_use]
    pub(super) fn path_of(&self, name: &str) -> String {
        if self.path.is_empty() {
            name.to_owned()
        } else {
            format!("{}/{name}", self.path)
        }
    }

    /// Opens a directory in this one.
    ///
    /// # Errors
    /// [`FileFault`]: missing, no directory, a link, or no plain name.
    pub(super) fn folder(&self, name: &str) -> Result<Self, FileFault> {
        let path = self.path_of(name);
        let handle = match &self.handle {
            _ if !is_plain(name) => return Err(fault(path, Reason::NotPlain)),
            Handle::Embedded(files) => {
                let inside = |(file, _): &&(&str, &[u8])| is_inside(file, &path);
                if !files.iter().any(|file| inside(&file)) {
                    return Err(fault(path, Reason::Missing));
                }
                Handle::Embedded(files)
            }
            Handle::Directory(parent) => {
                let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                match retry_on_intr(|| openat(parent, name, flags, Mode::empty())) {
                    Ok(handle) => Handle::Directory(handle),
                    Err(error) => return Err(fault(path, why_no_directory(parent, name, error))),
                }
            }
        };
        Ok(Self {
            path,
            handle,
            carried: self.carried,
        })
    }

    /// Reads a file, once.
    ///
    /// # Errors
    /// [`FileFault`]: missing, no regular file, a link, no plain name, larger than `maximum` bytes, unreadable.
    pub(super) fn read(&self, name: &str, maximum: u64) -> Result<Cow<'static, [u8]>, FileFault> {
        let failed = |reason| fault(self.path_of(name), reason);
        match self.open(name, maximum)? {
            OpenedFile::Embedded(bytes) => Ok(Cow::Borrowed(bytes)),
            OpenedFile::Component(component) => {
                Ok(Cow::Owned(Wasm::carried(component).bytes().to_vec()))
            }
            // The file may grow while it is read.
            OpenedFile::File { file, size } => match read_at_most(file, size, maximum) {
                Ok(Some(bytes)) => Ok(Cow::Owned(bytes)),
                Ok(None) => {
                    let bytes = maximum.saturating_add(1);
                    Err(failed(Reason::TooLarge { bytes, maximum }))
                }
                Err(error) => Err(failed(Reason::Io(error.to_string()))),
            },
        }
    }

    /// Reads a `skill.wasm`. The bytes of one that this program carries are not kept, wherever they were read.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub(super) fn read_wasm(&self, name: &str, maximum: u64) -> Result<Wasm, FileFault> {
        let same = match self.open(name, maximum)? {
            OpenedFile::Component(component) => Some(component),
            OpenedFile::File { file, size } if self.carries_any_of(size) => {
                let digest = Digest::of_reader(file.take(size.saturating_add(1)))
                    .map_err(|error| fault(self.path_of(name), Reason::Io(error.to_string())))?;
                let mut carried = self.carried.iter();
                carried.find(|component| component.digest == digest.as_str())
            }
            _ => None,
        };
        match same {
            Some(component) => Ok(Wasm::carried(component)),
            None => self.read(name, maximum).map(Wasm::from),
        }
    }

    /// Whether a component that this program carries has this many bytes.
    fn carries_any_of(&self, size: u64) -> bool {
        let mut carried = self.carried.iter();
        carried.any(|component| u64::try_from(component.length) == Ok(size))
    }

    /// Whether [`read`](Self::read) would refuse the file, without reading it.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub(super) fn check(&self, name: &str, maximum: u64) -> Result<(), FileFault> {
        self.open(name, maximum).map(drop)
    }

    fn open(&self, name: &str, maximum: u64) -> Result<OpenedFile, FileFault> {
        let failed = |reason| fault(self.path_of(name), reason);
        match &self.handle {
            _ if !is_plain(name) => Err(failed(Reason::NotPlain)),
            Handle::Embedded(files) => {
                let path = self.path_of(name);
                if let Some((_, bytes)) = files.iter().find(|(file, _)| *file == path) {
                    check_size(bytes.len(), maximum).map_err(failed)?;
                    return Ok(OpenedFile::Embedded(bytes));
                }
                let mut carried = self.carried.iter();
                let component = carried
                    .find(|component| component.path == path)
                    .ok_or_else(|| failed(Reason::Missing))?;
                check_size(component.length, maximum).map_err(failed)?;
                Ok(OpenedFile::Component(component))
            }
            Handle::Directory(parent) => {
                // Non-blocking: opening a pipe must not wait for its writer.
                let flags = OFlags::RDONLY
                    | OFlags::NOFOLLOW
                    | OFlags::NONBLOCK
                    | OFlags::NOCTTY
                    | OFlags::CLOEXEC;
                let file = retry_on_intr(|| openat(parent, name, flags, Mode::empty()))
                    .map_err(|error| failed(why_no_file(parent, name, error)))?;
                let stat = fstat(&file).map_err(|error| failed(Reason::Io(error.to_string())))?;
                if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
                    return Err(failed(Reason::NotRegular));
                }
                let size = u64::try_from(stat.st_size).unwrap_or_default();
                check_size(size, maximum).map_err(failed)?;
                let file = File::from(file);
                Ok(OpenedFile::File { file, size })
            }
        }
    }

    /// Everything in this directory, sorted.
    ///
    /// # Errors
    /// [`FileFault`] when it cannot be listed or holds too many names.
    pub(super) fn members(&self) -> Result<Vec<Member>, FileFault> {
        let mut members = match &self.handle {
            Handle::Embedded(files) => embedded_members(files, &self.path),
            Handle::Directory(directory) => {
                listed(directory).map_err(|reason| fault(self.path.clone(), reason))?
            }
        };
        members.sort();
        members.dedup();
        Ok(members)
    }

    /// The stamp of a member; none if there is no such member, and none of embedded files, which never change.
    pub(super) fn stamp(&self, name: &str) -> Option<FileStamp> {
        match &self.handle {
            Handle::Embedded(_) => None,
            Handle::Directory(directory) => statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)
                .ok()
                .map(|stat| FileStamp::new(&stat)),
        }
    }
}

/// A file that may be read.
enum OpenedFile {
    File { file: File, size: u64 },
    Embedded(&'static [u8]),
    Component(&'static Carried),
}

fn fault(path: String, reason: Reason) -> FileFault {
    FileFault { path, reason }
}

fn check_size(bytes: impl TryInto<u64>, maximum: u64) -> Result<(), Reason> {
    let bytes = bytes.try_into().unwrap_or(u64::MAX);
    if bytes > maximum {
        return Err(Reason::TooLarge { bytes, maximum });
    }
    Ok(())
}

/// A name and nothing else: no way up, no way down.
fn is_plain(name: &str) -> bool {
    !matches!(name, "" | "." | "..") && !name.contains(['/', '\0'])
}

/// Whether an embedded file lies below the directory `path`.
fn is_inside(file: &str, path: &str) -> bool {
    within(file, path).is_some()
}

/// The path of an embedded file below the directory `path`.
fn within<'a>(file: &'a str, path: &str) -> Option<&'a str> {
    if path.is_empty() {
        return Some(file);
    }
    file.strip_prefix(path)?.strip_prefix('/')
}

fn embedded_members(files: EmbeddedFiles, path: &str) -> Vec<Member> {
    files
        .iter()
        .filter_map(|(file, _)| within(file, path))
        .map(|rest| match rest.split_once('/') {
            Some((name, _)) => (name, MemberKind::Directory),
            None => (rest, MemberKind::File),
        })
        .map(|(name, kind)| Member {
            name: name.to_owned(),
            kind,
        })
        .collect()
}

fn listed(directory: &OwnedFd) -> Result<Vec<Member>, Reason> {
    let failed = |error: Errno| Reason::Io(error.to_string());
    let mut members = Vec::new();
    for entry in rustix::fs::Dir::read_from(directory).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name();
        if matches!(name.to_bytes(), b"." | b"..") {
            continue;
        }
        if members.len() >= MAX_MEMBERS {
            return Err(Reason::TooMany);
        }
        // Not every file system tells the types of names in its listing.
        let kind = match statat(directory, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) if name.to_str().is_ok() => match FileType::from_raw_mode(stat.st_mode) {
                FileType::RegularFile => MemberKind::File,
                FileType::Directory => MemberKind::Directory,
                _ => MemberKind::Other,
            },
            _ => MemberKind::Other,
        };
        members.push(Member {
            name: name.to_string_lossy().into_owned(),
            kind,
        });
    }
    Ok(members)
}

/// Why a directory was not opened; systems differ in what they answer for a link.
fn why_no_directory(parent: &OwnedFd, name: &str, error: Errno) -> Reason {
    match file_type(parent, name) {
        Some(FileType::Symlink) => Reason::Link,
        Some(FileType::Directory) => Reason::Io(error.to_string()),
        Some(_) => Reason::NotDirectory,
        None => missing_or(error),
    }
}

/// Why a file was not opened.
fn why_no_file(parent: &OwnedFd, name: &str, error: Errno) -> Reason {
    match file_type(parent, name) {
        Some(FileType::Symlink) => Reason::Link,
        Some(FileType::RegularFile) => Reason::Io(error.to_string()),
        Some(_) => Reason::NotRegular,
        None => missing_or(error),
    }
}

fn missing_or(error: Errno) -> Reason {
    match error {
        Errno::NOENT | Errno::NOTDIR => Reason::Missing,
        error => Reason::Io(error.to_string()),
    }
}

fn file_type(parent: &OwnedFd, name: &str) -> Option<FileType> {
    let stat = statat(parent, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
    Some(FileType::from_raw_mode(stat.st_mode))
}
