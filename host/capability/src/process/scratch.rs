//! A private directory for one execution, removed afterwards whatever happened.
//!
//! What a child leaves in it is hostile: it may be deep, huge, unreadable, or still growing. So removal
//! holds few directories open, follows no link, needs no recursion, and gives up after a while.
//!
//! A child may also have moved the directory. It is emptied through the handle that was opened when it was
//! made, wherever it is by now; it is removed by its name only while that name is still its own, and what
//! else has got the name is left alone. A directory that was moved stays behind, empty.

use std::ffi::CString;
use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use cap_std::ambient_authority;
use cap_std::fs::{Dir, DirBuilder, DirBuilderExt};
use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;

/// How long a removal may take; what is left then is reported in the log.
const REMOVAL_TIME: Duration = Duration::from_secs(5);

/// Names of one directory that are dealt with before it is read again.
const BATCH: usize = 1024;

/// Directories that a removal holds open below the top.
const MAX_OPEN: usize = 32;

/// Tries for a name that nobody has.
const NAME_TRIES: u32 = 16;

const OPEN: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

/// An empty directory that only this user can enter, in the system's directory for temporary files.
#[derive(Debug)]
pub struct Scratch {
    parent: Dir,
    name: String,
    directory: Dir,
    real: PathBuf,
}

impl Scratch {
    /// Makes the directory, mode 0700.
    ///
    /// # Errors
    /// What the system says; there is no directory then.
    pub fn create() -> io::Result<Scratch> {
        Self::create_in(&std::env::temp_dir())
    }

    /// As [`Scratch::create`], in another directory.
    ///
    /// # Errors
    /// What the system says; there is no directory then.
    pub(crate) fn create_in(temporary: &Path) -> io::Result<Scratch> {
        // Children see this path and may print it: it has to be the one the system would print, so that it can be replaced.
        let temporary = temporary.canonicalize()?;
        let parent = Dir::open_ambient_dir(&temporary, ambient_authority())?;
        let mut builder = DirBuilder::new();
        builder.mode(0o700);
        let mut tries = 0;
        let name = loop {
            let name = format!("hydrant-{:016x}{:016x}", unpredictable(), unpredictable());
            match parent.create_dir_with(&name, &builder) {
                Ok(()) => break name,
                Err(error)
                    if error.kind() == io::ErrorKind::AlreadyExists && tries < NAME_TRIES =>
                {
                    tries += 1;
                }
                Err(error) => return Err(error),
            }
        };
        // Readable, so that it can be emptied through it: a directory handle may well be a mere reference.
        let directory = rustix::fs::openat(&parent, &name, OPEN, Mode::empty())?;
        let directory = Dir::from_std_file(File::from(directory));
        let real = temporary.join(&name);
        Ok(Scratch {
            parent,
            name,
            directory,
            real,
        })
    }

    /// The handle.
    pub(crate) fn directory(&self) -> &Dir {
        &self.directory
    }

    /// The real path, absolute and without links; never shown to a guest.
    pub fn real(&self) -> &Path {
        &self.real
    }
}

impl Scratch {
    /// Removes the directory with everything in it.
    fn remove(&self) -> io::Result<()> {
        // A child may have taken our own permissions away.
        rustix::fs::fchmod(&self.directory, Mode::RWXU)?;
        empty(self.directory.as_fd())?;
        let own = rustix::fs::fstat(&self.directory)?;
        let named = rustix::fs::statat(&self.parent, &self.name, AtFlags::SYMLINK_NOFOLLOW);
        if named.is_ok_and(|named| (named.st_dev, named.st_ino) == (own.st_dev, own.st_ino)) {
            Ok(rustix::fs::unlinkat(
                &self.parent,
                &self.name,
                AtFlags::REMOVEDIR,
            )?)
        } else if own.st_nlink == 0 {
            // The child has removed it.
            Ok(())
        } else {
            Err(io::Error::other("it was moved; it is empty now"))
        }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if let Err(error) = self.remove() {
            tracing::warn!(path = %self.real.display(), %error, "a scratch directory is left behind");
        }
    }
}

/// 64 bits that nobody can guess: the keys of a hasher are random.
fn unpredictable() -> u64 {
    RandomState::new().hash_one(())
}

/// Removes everything in the directory `top`.
///
/// Goes down at most [`MAX_OPEN`] levels; what is deeper is moved up to the top and met there again.
fn empty(top: BorrowedFd<'_>) -> io::Result<()> {
    let started = Instant::now();
    let mut below: Vec<(OwnedFd, CString)> = Vec::new();
    loop {
        let directory = below.last().map_or(top, |(directory, _)| directory.as_fd());
        match first_full(directory)? {
            Some(full) if below.len() < MAX_OPEN => {
                let inner = open(directory, &full)?;
                below.push((inner, full));
            }
            Some(full) => {
                // Moving a directory writes to it: its `..` changes.
                drop(open(directory, &full)?);
                let up = format!("{:016x}{:016x}", unpredictable(), unpredictable());
                rustix::fs::renameat(directory, &full, top, up)?;
            }
            None => match below.pop() {
                // What is written to meanwhile stays, and is met again in its parent.
                Some((_, name)) => {
                    let outer = below.last().map_or(top, |(directory, _)| directory.as_fd());
                    is_gone(outer, &name)?;
                }
                None => return Ok(()),
            },
        }
        if started.elapsed() > REMOVAL_TIME {
            return Err(io::ErrorKind::TimedOut.into());
        }
    }
}

/// Removes what can be removed at once, up to the first directory that is not empty; none when nothing
/// is left.
fn first_full(directory: BorrowedFd<'_>) -> io::Result<Option<CString>> {
    loop {
        let names = names(directory)?;
        if names.is_empty() {
            return Ok(None);
        }
        for name in names {
            if !is_gone(directory, &name)? {
                return Ok(Some(name));
            }
        }
    }
}

/// Removes a file, a link or an empty directory; answers whether nothing of that name is left.
fn is_gone(directory: BorrowedFd<'_>, name: &CString) -> io::Result<bool> {
    for flags in [AtFlags::empty(), AtFlags::REMOVEDIR] {
        match rustix::fs::unlinkat(directory, name, flags) {
            Ok(()) | Err(Errno::NOENT) => return Ok(true),
            // A directory, in the words of Linux and of POSIX; and one that is not empty.
            Err(Errno::ISDIR | Errno::PERM | Errno::NOTEMPTY | Errno::EXIST) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
    Ok(false)
}

/// Opens a directory for emptying, whatever permissions a child left on it.
fn open(parent: impl AsFd, name: &CString) -> io::Result<OwnedFd> {
    let opened = match rustix::fs::openat(&parent, name, OPEN, Mode::empty()) {
        Err(Errno::ACCESS) => {
            permit(&parent, name)?;
            rustix::fs::openat(&parent, name, OPEN, Mode::empty())
        }
        other => other,
    }?;
    rustix::fs::fchmod(&opened, Mode::RWXU)?;
    Ok(opened)
}

/// Gives us access to a directory of ours, and to nothing that was put in its place.
#[cfg(target_os = "linux")]
fn permit(parent: impl AsFd, name: &CString) -> io::Result<()> {
    use crate::fs::descriptor_path;

    let reference = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let reference = rustix::fs::openat(parent, name, reference, Mode::empty())?;
    Ok(rustix::fs::chmod(descriptor_path(&reference), Mode::RWXU)?)
}

/// As on Linux.
#[cfg(not(target_os = "linux"))]
fn permit(parent: impl AsFd, name: &CString) -> io::Result<()> {
    Ok(rustix::fs::chmodat(
        parent,
        name,
        Mode::RWXU,
        AtFlags::SYMLINK_NOFOLLOW,
    )?)
}

/// Some names of a directory; none only if it is empty.
fn names(directory: BorrowedFd<'_>) -> io::Result<Vec<CString>> {
    let mut names = Vec::new();
    for entry in rustix::fs::Dir::read_from(directory)? {
        let entry = entry?;
        let name = entry.file_name();
        if !matches!(name.to_bytes(), b"." | b"..") {
            names.push(name.to_owned());
        }
        if names.len() >= BATCH {
            break;
        }
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn a_scratch_directory_is_private_and_goes_away() {
        let scratch = Scratch::create().unwrap();
        let real = scratch.real().to_owned();
        let mode = fs::metadata(&real).unwrap().permissions().mode();
        assert_eq!(mode & 0o7777, 0o700);
        assert_eq!(fs::read_dir(&real).unwrap().count(), 0);
        drop(scratch);
        assert!(!real.exists());
    }

    #[test]
    fn what_a_tool_left_behind_is_removed_and_links_are_not_followed() {
        let elsewhere = tempfile::tempdir().unwrap();
        fs::write(elsewhere.path().join("kept"), "x").unwrap();
        let scratch = Scratch::create().unwrap();
        let real = scratch.real().to_owned();
        symlink(elsewhere.path(), real.join("link")).unwrap();
        fs::create_dir_all(real.join("a/b/c/d")).unwrap();
        fs::write(real.join("a/b/c/d/file"), "x").unwrap();
        for name in 0..2000 {
            fs::write(real.join(format!("a/b/{name}")), "").unwrap();
        }
        for locked in ["a/b/c/d", "a/b/c", "a/b", "a"] {
            fs::set_permissions(real.join(locked), fs::Permissions::from_mode(0o0)).unwrap();
        }
        drop(scratch);
        assert!(!real.exists());
        assert!(elsewhere.path().join("kept").exists());
    }

    #[test]
    fn a_moved_directory_is_emptied_and_what_has_its_name_is_left_alone() {
        let elsewhere = tempfile::tempdir().unwrap();
        let scratch = Scratch::create().unwrap();
        let real = scratch.real().to_owned();
        fs::create_dir(real.join("full")).unwrap();
        fs::write(real.join("full/file"), "x").unwrap();
        let moved = elsewhere.path().join("moved");
        fs::rename(&real, &moved).unwrap();
        fs::create_dir(&real).unwrap();
        fs::write(real.join("kept"), "x").unwrap();
        fs::set_permissions(&moved, fs::Permissions::from_mode(0o0)).unwrap();
        assert!(scratch.remove().is_err());
        drop(scratch);
        assert_eq!(fs::read_dir(&moved).unwrap().count(), 0);
        assert!(real.join("kept").exists());
        fs::remove_dir_all(&real).unwrap();
    }

    #[test]
    fn a_directory_that_the_child_has_removed_is_no_failure() {
        let scratch = Scratch::create().unwrap();
        fs::remove_dir(scratch.real()).unwrap();
        scratch.remove().unwrap();
    }

    #[test]
    fn a_very_deep_tree_is_removed_without_recursion() {
        let scratch = Scratch::create().unwrap();
        let real = scratch.real().to_owned();
        let mut inner = scratch.directory().try_clone().unwrap();
        for _ in 0..300 {
            inner.create_dir("d").unwrap();
            inner = inner.open_dir("d").unwrap();
        }
        drop(inner);
        drop(scratch);
        assert!(!real.exists());
    }
}
