//! Files below a directory, where nothing on the way may be a link.
//!
//! Each directory on the way is opened from the one before without following links, so that nobody who changes the tree
//! meanwhile leads a call out of it.

use std::fs::File;
use std::io;
use std::path::{Component, Path};

use rustix::fd::OwnedFd;
use rustix::fs::{CWD, Mode, OFlags};

/// Passing through a directory needs no leave to list it, where the system can say so.
#[cfg(target_os = "linux")]
const PASS: OFlags = OFlags::PATH;
#[cfg(not(target_os = "linux"))]
const PASS: OFlags = OFlags::RDONLY;

const DIRECTORY: OFlags = PASS
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);
// A FIFO does not block, a terminal takes no control.
const FILE: OFlags = OFlags::NOFOLLOW
    .union(OFlags::CLOEXEC)
    .union(OFlags::NONBLOCK)
    .union(OFlags::NOCTTY);

/// Opens a regular file to read. `directory` is canonical, `below` relative and without `..`.
pub(crate) fn open_file(directory: &Path, below: &Path) -> io::Result<File> {
    let (parent, name) = walk(directory, below, |_, _| Ok(()))?;
    let flags = OFlags::RDONLY.union(FILE);
    regular(rustix::fs::openat(&parent, name, flags, Mode::empty())?)
}

/// Writes a file, 0600, in place of one that is there; directories on the way are made, 0700.
pub(crate) fn write_file(directory: &Path, below: &Path, bytes: &[u8]) -> io::Result<()> {
    use std::io::Write as _;
    let (parent, name) = walk(directory, below, |parent, name| {
        match rustix::fs::mkdirat(parent, name, Mode::RWXU) {
            Ok(()) | Err(rustix::io::Errno::EXIST) => Ok(()),
            Err(error) => Err(error.into()),
        }
    })?;
    let flags = (OFlags::WRONLY | OFlags::CREATE).union(FILE);
    let mode = Mode::RUSR | Mode::WUSR;
    let mut file = regular(rustix::fs::openat(&parent, name, flags, mode)?)?;
    file.set_len(0)?;
    file.write_all(bytes)
}

/// The directory that the file stands in, and its name there.
fn walk<'p>(
    directory: &Path,
    below: &'p Path,
    mut before: impl FnMut(&OwnedFd, &Path) -> io::Result<()>,
) -> io::Result<(OwnedFd, &'p Path)> {
    let refused = || io::Error::from(io::ErrorKind::InvalidInput);
    let mut current = rustix::fs::openat(CWD, directory, DIRECTORY, Mode::empty())?;
    let name = below.file_name().ok_or_else(refused)?;
    for part in below.parent().into_iter().flat_map(Path::components) {
        let Component::Normal(part) = part else {
            return Err(refused());
        };
        let part = Path::new(part);
        before(&current, part)?;
        current = rustix::fs::openat(&current, part, DIRECTORY, Mode::empty())?;
    }
    Ok((current, Path::new(name)))
}

fn regular(file: OwnedFd) -> io::Result<File> {
    let file = File::from(file);
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(io::Error::from(io::ErrorKind::InvalidInput))
    }
}
