//! Opening a name beneath the directory of a rule, without ever opening what is no file or directory.
//!
//! One kernel operation resolves the whole path: there is no checked string, so a link that is
//! swapped in while we look makes no difference. A path without links lies where its text says. One with links is
//! resolved beneath the directory of the rule that allows it, to which no link leads, and what it leads to must be that
//! rule's as well: a link is no way from one part of a mount to another. The name is first opened as a mere reference
//! (`O_PATH`), which starts nothing: opening a tape or a watchdog, even without blocking, would. Only
//! what proves to be a regular file or a directory is opened for reading: a directory or a tool through
//! that same reference (on Linux this relies on `/proc`), a file to be read by a second lookup that must
//! find the same file, which costs half as much.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use cap_std::fs::Dir;
use rustix::fs::{FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

use super::{FsError, Symlinks, walk};
use hydrant_base::FileStamp;
use hydrant_policy::AllowedPath;

/// Times a lookup is tried again that a concurrent rename disturbed.
#[cfg(target_os = "linux")]
const DISTURBED_TRIES: usize = 8;

/// A regular file or a directory beneath a mount, looked up once.
#[derive(Debug)]
pub(crate) struct Found {
    reference: OwnedFd,
    stat: Stat,
    kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    File,
    Directory,
}

/// What can be looked up.
pub(crate) trait Name {
    /// Opens what has this name.
    ///
    /// # Errors
    /// What a lookup can end with; [`FsError::LeavesMount`] for a link to where this name may not lead, and
    /// [`FsError::Symlink`] for any link under [`Symlinks::Refuse`].
    fn open(&self, flags: OFlags, symlinks: Symlinks) -> Result<OwnedFd, FsError>;
}

/// A path beneath a directory; `""` is the directory itself. Links that stay beneath it are followed.
impl Name for (&Dir, &str) {
    fn open(&self, flags: OFlags, symlinks: Symlinks) -> Result<OwnedFd, FsError> {
        resolve(self.0, self.1, flags, symlinks)
    }
}

/// A path that rules allow. Links that stay in the directory of the rule are followed.
impl Name for AllowedPath {
    fn open(&self, flags: OFlags, symlinks: Symlinks) -> Result<OwnedFd, FsError> {
        let dir = self.mount().dir();
        match resolve(dir, self.relative(), flags, Symlinks::Refuse) {
            Err(FsError::Symlink) if symlinks == Symlinks::Follow => {}
            opened => return opened,
        }
        let (directory, rest) = self.rule();
        let directory = match resolve(dir, directory, REFERENCE, Symlinks::Refuse) {
            Err(FsError::Symlink) => return Err(FsError::LeavesMount),
            directory => directory?,
        };
        let opened = resolve(directory, rest, flags, Symlinks::Follow)?;
        match below(dir, &opened) {
            Some(below) if self.holds(&below) => Ok(opened),
            _ => Err(FsError::LeavesMount),
        }
    }
}

impl Found {
    /// Looks a name up; links are followed.
    ///
    /// # Errors
    /// Everything of [`FsError`] that a lookup can end with; [`FsError::Special`] for what is neither a
    /// file nor a directory.
    pub(crate) fn of(name: &impl Name) -> Result<Found, FsError> {
        Found::with(name, Symlinks::Follow)
    }

    /// Looks a name up.
    ///
    /// # Errors
    /// As [`Found::of`], and [`FsError::Symlink`] under [`Symlinks::Refuse`].
    pub(crate) fn with(name: &impl Name, symlinks: Symlinks) -> Result<Found, FsError> {
        let reference = name.open(REFERENCE, symlinks)?;
        let stat = rustix::fs::fstat(&reference).map_err(from_errno)?;
        let kind = match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => Kind::File,
            FileType::Directory => Kind::Directory,
            _ => return Err(FsError::Special),
        };
        Ok(Found {
            reference,
            stat,
            kind,
        })
    }

    /// The directory, for listing.
    ///
    /// # Errors
    /// [`FsError::NotDirectory`], or what the system says.
    pub(crate) fn into_directory(self) -> Result<OwnedFd, FsError> {
        match self.kind {
            Kind::File => Err(FsError::NotDirectory),
            Kind::Directory => self.reopen(OFlags::DIRECTORY),
        }
    }

    /// Whether this is a regular file.
    pub(crate) fn is_file(&self) -> bool {
        self.kind == Kind::File
    }

    /// Whether anybody may execute the file.
    pub(crate) fn is_executable(&self) -> bool {
        self.stat.st_mode & 0o111 != 0
    }

    /// The reference itself: a descriptor that names the file or directory and cannot be read from.
    pub(crate) fn reference(&self) -> &OwnedFd {
        &self.reference
    }

    /// The first four bytes, zeros where there are fewer; none if the file cannot be read.
    #[cfg(target_os = "linux")]
    pub(crate) fn first_bytes(&self) -> Option<[u8; 4]> {
        use std::io::Read;

        let mut file = File::from(open_again(&self.reference, OFlags::empty()).ok()?);
        let mut bytes = [0; 4];
        let mut rest = bytes.as_mut_slice();
        while !rest.is_empty() {
            match file.read(rest) {
                Ok(0) => break,
                Ok(amount) => rest = rest.get_mut(amount..).unwrap_or_default(),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return None,
            }
        }
        Some(bytes)
    }

    /// What the file holds, to be read from its beginning.
    ///
    /// # Errors
    /// What the system says.
    #[cfg(target_os = "linux")]
    pub(crate) fn contents(&self) -> io::Result<File> {
        File::open(descriptor_path(&self.reference))
    }

    /// Elsewhere what was looked up is open for reading already.
    #[cfg(not(target_os = "linux"))]
    pub(crate) fn contents(&self) -> io::Result<File> {
        self.reference.try_clone().map(File::from)
    }

    /// Whether this real path, links followed, names what was found.
    pub(crate) fn is_still_at(&self, path: &Path) -> bool {
        rustix::fs::stat(path)
            .is_ok_and(|stat| (stat.st_dev, stat.st_ino) == (self.stat.st_dev, self.stat.st_ino))
    }

    /// Opens for reading what the reference names, and nothing else.
    #[cfg(target_os = "linux")]
    fn reopen(self, flags: OFlags) -> Result<OwnedFd, FsError> {
        open_again(&self.reference, flags).map_err(from_errno)
    }

    /// Elsewhere there is no reference to reopen: what was looked up was opened for reading.
    #[cfg(not(target_os = "linux"))]
    fn reopen(self, _: OFlags) -> Result<OwnedFd, FsError> {
        Ok(self.reference)
    }
}

/// A file beneath `dir` to be read from its beginning, and its length in bytes when it was opened.
///
/// # Errors
/// As [`Found::of`], and [`FsError::IsDirectory`].
pub(crate) fn file_beneath(dir: &Dir, relative: &str) -> Result<(File, u64), FsError> {
    let opened = OpenFile::of(&(dir, relative), Symlinks::Follow)?;
    Ok((opened.file, opened.length))
}

/// A regular file that is open for reading.
#[derive(Debug)]
pub(super) struct OpenFile {
    pub(super) file: File,
    /// Bytes, when it was opened.
    pub(super) length: u64,
    /// Its owner may execute it.
    pub(super) executable: bool,
    /// What it was when it was opened.
    pub(super) stamp: FileStamp,
}

impl OpenFile {
    /// Opens a file to be read from its beginning.
    ///
    /// # Errors
    /// As [`Found::with`], and [`FsError::IsDirectory`].
    #[cfg(target_os = "linux")]
    pub(super) fn of(name: &impl Name, symlinks: Symlinks) -> Result<OpenFile, FsError> {
        for _ in 0..DISTURBED_TRIES {
            let found = Found::with(name, symlinks)?;
            if !found.is_file() {
                return Err(FsError::IsDirectory);
            }
            let file = name.open(READ, symlinks)?;
            let stat = rustix::fs::fstat(&file).map_err(from_errno)?;
            // Another file has the name by now: look again. What was opened did not block, and is not read.
            if (stat.st_dev, stat.st_ino) == (found.stat.st_dev, found.stat.st_ino) {
                return Ok(OpenFile::new(file, &stat));
            }
        }
        Err(FsError::Io)
    }

    /// Elsewhere what was looked up is open for reading already.
    #[cfg(not(target_os = "linux"))]
    pub(super) fn of(name: &impl Name, symlinks: Symlinks) -> Result<OpenFile, FsError> {
        let found = Found::with(name, symlinks)?;
        if !found.is_file() {
            return Err(FsError::IsDirectory);
        }
        Ok(OpenFile::new(found.reference, &found.stat))
    }

    fn new(file: OwnedFd, stat: &Stat) -> OpenFile {
        OpenFile {
            file: File::from(file),
            length: stat.st_size.try_into().unwrap_or(0),
            executable: stat.st_mode & 0o100 != 0,
            stamp: FileStamp::new(stat),
        }
    }
}

/// What a regular file is now, found as [`OpenFile::of`] finds it; it is not opened.
///
/// # Errors
/// As [`OpenFile::of`].
pub(super) fn stamp(name: &impl Name, symlinks: Symlinks) -> Result<FileStamp, FsError> {
    let found = Found::with(name, symlinks)?;
    if !found.is_file() {
        return Err(FsError::IsDirectory);
    }
    Ok(FileStamp::new(&found.stat))
}

/// A directory to be listed. Links are followed.
///
/// # Errors
/// As [`Found::of`], and [`FsError::NotDirectory`].
pub(super) fn directory(name: &impl Name) -> Result<OwnedFd, FsError> {
    // What is no directory is not opened by this, so one lookup is enough for what is one.
    #[cfg(target_os = "linux")]
    if let Ok(directory) = name.open(READ | OFlags::DIRECTORY, Symlinks::Follow) {
        return Ok(directory);
    }
    // Why it is none takes a closer look.
    Found::of(name)?.into_directory()
}

/// Where something that was opened beneath `dir` lies below it; none if it does not, or not any more.
#[cfg(target_os = "linux")]
pub(crate) fn below(dir: impl AsFd, opened: impl AsFd) -> Option<PathBuf> {
    let path = |opened| std::fs::read_link(descriptor_path(opened)).ok();
    let opened = path(opened.as_fd())?;
    Some(opened.strip_prefix(path(dir.as_fd())?).ok()?.to_owned())
}

/// Elsewhere nobody knows, so that what was found through a link is not used.
#[cfg(not(target_os = "linux"))]
pub(crate) fn below(_: impl AsFd, _: impl AsFd) -> Option<PathBuf> {
    None
}

/// How files are opened: no terminal becomes ours, and nothing blocks.
pub(crate) const READ: OFlags = OFlags::RDONLY
    .union(OFlags::NONBLOCK)
    .union(OFlags::NOCTTY)
    .union(OFlags::CLOEXEC);

#[cfg(target_os = "linux")]
pub(crate) fn open_again(reference: &OwnedFd, flags: OFlags) -> Result<OwnedFd, Errno> {
    match rustix::fs::open(descriptor_path(reference), READ | flags, Mode::empty()) {
        // What a descriptor names is always there: it is `/proc` that is missing.
        Err(Errno::NOENT) => Err(Errno::IO),
        opened => opened,
    }
}

/// The path under which this process, and a child before it executes, finds a descriptor of its own.
#[cfg(target_os = "linux")]
pub(crate) fn descriptor_path(descriptor: impl AsFd) -> String {
    use std::os::fd::AsRawFd;
    format!("/proc/self/fd/{}", descriptor.as_fd().as_raw_fd())
}

/// How a mere reference is opened. Where `O_PATH` does not exist, what is looked up is opened at once, without blocking.
#[cfg(target_os = "linux")]
pub(crate) const REFERENCE: OFlags = OFlags::PATH.union(OFlags::CLOEXEC);
#[cfg(not(target_os = "linux"))]
pub(crate) const REFERENCE: OFlags = READ;

/// Opens a name beneath `dir` in one operation of the kernel; `""` is the directory itself.
#[cfg(target_os = "linux")]
pub(crate) fn resolve(
    dir: impl AsFd,
    relative: &str,
    flags: OFlags,
    symlinks: Symlinks,
) -> Result<OwnedFd, FsError> {
    use rustix::fs::ResolveFlags;

    let dir = dir.as_fd();
    let name = if relative.is_empty() { "." } else { relative };
    let links = match symlinks {
        Symlinks::Follow => ResolveFlags::empty(),
        Symlinks::Refuse => ResolveFlags::NO_SYMLINKS,
    };
    let beneath = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS | links;
    for _ in 0..DISTURBED_TRIES {
        match rustix::fs::openat2(dir, name, flags, Mode::empty(), beneath) {
            // A rename elsewhere disturbed the walk across a `..`; see openat2(2).
            Err(Errno::AGAIN | Errno::INTR) => {}
            // A kernel before 5.6, or a filter that does not know the call.
            Err(Errno::NOSYS | Errno::PERM) => return walk::open(dir, relative, flags, symlinks),
            Err(Errno::LOOP) if symlinks == Symlinks::Refuse => return Err(FsError::Symlink),
            other => return other.map_err(from_errno),
        }
    }
    Err(FsError::Io)
}

/// Elsewhere the path is walked.
#[cfg(not(target_os = "linux"))]
pub(crate) fn resolve(
    dir: impl AsFd,
    relative: &str,
    flags: OFlags,
    symlinks: Symlinks,
) -> Result<OwnedFd, FsError> {
    walk::open(dir.as_fd(), relative, flags, symlinks)
}

/// Read and written by its owner alone.
pub(crate) const PRIVATE: Mode = Mode::from_raw_mode(0o600);

/// Makes a private file, to be written, where nothing has this name.
///
/// # Errors
/// What the system says.
pub(crate) fn create_private(directory: impl AsFd, name: &str) -> Result<File, Errno> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(directory, name, flags, PRIVATE).map(File::from)
}

/// What a failed lookup means.
pub(crate) fn from_io(error: io::Error) -> FsError {
    match Errno::from_io_error(&error) {
        Some(errno) => from_errno(errno),
        // cap-std's own refusal has no number: the path led outside.
        None if error.kind() == io::ErrorKind::PermissionDenied => FsError::LeavesMount,
        None => FsError::Io,
    }
}

/// As [`from_io`].
pub(crate) fn from_errno(errno: Errno) -> FsError {
    match errno {
        // A name that is too long, or that lies below a file, names nothing.
        Errno::NOENT | Errno::NOTDIR | Errno::NAMETOOLONG => FsError::NotFound,
        // EXDEV is openat2's word for an escape; ELOOP stands for a magic link, and for links in a circle.
        Errno::XDEV | Errno::LOOP => FsError::LeavesMount,
        Errno::ACCESS | Errno::PERM => FsError::NotAccessible,
        Errno::ISDIR => FsError::IsDirectory,
        // A socket, or a device without a driver, where only an open tells.
        Errno::NXIO | Errno::NODEV => FsError::Special,
        _ => FsError::Io,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_failed_lookup_means() {
        for (errno, meaning) in [
            (Errno::NOENT, FsError::NotFound),
            (Errno::NOTDIR, FsError::NotFound),
            (Errno::XDEV, FsError::LeavesMount),
            (Errno::LOOP, FsError::LeavesMount),
            (Errno::ACCESS, FsError::NotAccessible),
            (Errno::NXIO, FsError::Special),
            (Errno::IO, FsError::Io),
        ] {
            assert_eq!(from_errno(errno), meaning, "{errno}");
        }
        let outside = io::Error::new(io::ErrorKind::PermissionDenied, "outside");
        assert_eq!(from_io(outside), FsError::LeavesMount);
    }
}
