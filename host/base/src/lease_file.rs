//! Leases: lock files that are made exclusively, and taken over when they are old.
//!
//! Who creates the file holds the lock, so that it also holds between processes and against the original program. A
//! file older than two minutes is left over from a process that died. It is taken over in place, under an advisory
//! lock of the file: were it removed and made anew, a second process that saw the same old file could remove the new
//! one and hold the lock as well. So that who was taken for dead leaves the lock of the other alone, each holder
//! writes a token of its own into the file, and removes only a file with that token. Nothing here waits: how long to
//! try again is the caller's matter.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::{Errno, retry_on_intr};

use super::digest::random_hex;

/// What is older than this was left behind.
const STALE: Duration = Duration::from_secs(120);

/// Bytes of a token in hex.
const TOKEN_BYTES: u64 = 32;

/// The mode of the file: it is for the owner alone.
const PRIVATE: Mode = Mode::from_raw_mode(0o600);

/// No link is followed, and nothing waits for the other end of a pipe.
const OPEN: OFlags = OFlags::RDWR
    .union(OFlags::NOFOLLOW)
    .union(OFlags::NONBLOCK)
    .union(OFlags::NOCTTY)
    .union(OFlags::CLOEXEC);

/// A lease that is held; it is given back when this is dropped.
#[derive(Debug)]
pub struct LeaseFile<'directory> {
    directory: &'directory OwnedFd,
    name: String,
    file: File,
    token: String,
}

impl<'directory> LeaseFile<'directory> {
    /// Makes the lock file `name` in `directory` or takes a stale one over; none if somebody else holds it.
    ///
    /// # Errors
    /// The system does not let the file be made, opened or written, or something else has its name.
    pub fn attempt(
        directory: &'directory OwnedFd,
        name: &str,
    ) -> io::Result<Option<LeaseFile<'directory>>> {
        let token = random_hex::<16>()?;
        let create = OPEN | OFlags::CREATE | OFlags::EXCL;
        let made = retry_on_intr(|| rustix::fs::openat(directory, name, create, PRIVATE));
        let file = match made {
            Ok(made) => Some(marked(directory, name, made.into(), &token)?),
            Err(Errno::EXIST) => take_over(directory, name, &token)?,
            Err(error) => return Err(error.into()),
        };
        Ok(file.map(|file| LeaseFile {
            directory,
            name: name.to_owned(),
            file,
            token,
        }))
    }
}

impl Drop for LeaseFile<'_> {
    fn drop(&mut self) {
        // Whoever has the advisory lock is about to take the file over. What is not removed becomes stale.
        if self.file.try_lock().is_ok()
            && is_at(&self.file, self.directory, &self.name)
            && holds(&mut self.file, &self.token)
        {
            let _ = rustix::fs::unlinkat(self.directory, &self.name, AtFlags::empty());
        }
    }
}

/// Writes the token into the new file; where that fails, the file would be a lock that nobody holds.
fn marked(directory: &OwnedFd, name: &str, mut made: File, token: &str) -> io::Result<File> {
    if let Err(error) = made.write_all(token.as_bytes()) {
        let _ = rustix::fs::unlinkat(directory, name, AtFlags::empty());
        return Err(error);
    }
    Ok(made)
}

fn take_over(directory: &OwnedFd, name: &str, token: &str) -> io::Result<Option<File>> {
    let opened = retry_on_intr(|| rustix::fs::openat(directory, name, OPEN, Mode::empty()));
    let mut file = match opened {
        Ok(opened) => File::from(opened),
        // It was given back in this moment.
        Err(Errno::NOENT) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    if !is_stale(&file)? || file.try_lock().is_err() {
        return Ok(None);
    }
    // Both again, now that nobody else can take it over.
    if !is_stale(&file)? || !is_at(&file, directory, name) {
        return Ok(None);
    }
    file.set_len(0)?;
    // This makes it a young file.
    file.write_all(token.as_bytes())?;
    file.unlock()?;
    Ok(Some(file))
}

fn is_stale(file: &File) -> io::Result<bool> {
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(io::Error::other("not a regular file"));
    }
    // A time in the future is not old.
    let age = metadata.modified()?.elapsed().unwrap_or_default();
    Ok(age > STALE)
}

/// Whether the file is still the one that has the name.
fn is_at(file: &File, directory: &OwnedFd, name: &str) -> bool {
    let named = rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW);
    match (rustix::fs::fstat(file), named) {
        (Ok(held), Ok(found)) => {
            FileType::from_raw_mode(found.st_mode) == FileType::RegularFile
                && (held.st_dev, held.st_ino) == (found.st_dev, found.st_ino)
        }
        _ => false,
    }
}

fn holds(file: &mut File, token: &str) -> bool {
    let mut text = String::new();
    let read = file
        .rewind()
        .and_then(|()| file.take(TOKEN_BYTES).read_to_string(&mut text));
    read.is_ok() && text == token
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::MetadataExt as _;
    use std::path::{Path, PathBuf};
    use std::time::SystemTime;

    const NAME: &str = "index.json.lock";

    /// A directory, a handle of it, and the path of the lock in it.
    fn directory() -> (tempfile::TempDir, OwnedFd, PathBuf) {
        let directory = tempfile::tempdir().unwrap();
        let handle = File::open(directory.path()).unwrap().into();
        let lock = directory.path().join(NAME);
        (directory, handle, lock)
    }

    fn attempt(handle: &OwnedFd) -> Option<LeaseFile<'_>> {
        LeaseFile::attempt(handle, NAME).unwrap()
    }

    fn aged(path: &Path, seconds: u64) {
        fs::write(path, "somebody's token").unwrap();
        let file = File::options().write(true).open(path).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(seconds))
            .unwrap();
    }

    #[test]
    fn one_holds_the_lock_as_a_private_file_that_is_gone_at_the_end() {
        let (_directory, handle, lock) = directory();
        let held = attempt(&handle).unwrap();
        assert_eq!(lock.metadata().unwrap().mode() & 0o777, 0o600);
        assert!(attempt(&handle).is_none());
        assert!(LeaseFile::attempt(&handle, "another").unwrap().is_some());
        drop(held);
        assert!(!lock.exists());
        assert!(attempt(&handle).is_some());
    }

    #[test]
    fn a_lock_of_120_seconds_is_taken_over_and_no_younger_one() {
        let (_directory, handle, lock) = directory();
        aged(&lock, 110);
        assert!(attempt(&handle).is_none());
        assert!(lock.exists());
        aged(&lock, 130);
        let held = attempt(&handle).unwrap();
        assert!(attempt(&handle).is_none(), "it is a new lock");
        drop(held);
        assert!(!lock.exists());
    }

    #[test]
    fn a_stale_lock_is_taken_over_by_one_only() {
        let (_directory, handle, lock) = directory();
        aged(&lock, 1000);
        let attempts: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(|| attempt(&handle))).collect();
            let joined = threads.into_iter().map(|thread| thread.join().unwrap());
            joined.collect()
        });
        assert_eq!(attempts.iter().flatten().count(), 1);
    }

    #[test]
    fn who_was_taken_for_dead_leaves_the_lock_of_the_other() {
        let (_directory, handle, lock) = directory();
        let slow = attempt(&handle).unwrap();
        let then = SystemTime::now() - Duration::from_secs(130);
        slow.file.set_modified(then).unwrap();
        let new = attempt(&handle).unwrap();
        drop(slow);
        assert!(lock.exists());
        drop(new);
        assert!(!lock.exists());
        // The same where another program removes the file and makes its own.
        let slow = attempt(&handle).unwrap();
        fs::remove_file(&lock).unwrap();
        fs::write(&lock, "").unwrap();
        drop(slow);
        assert!(lock.exists());
    }

    #[test]
    fn a_link_in_place_of_the_lock_is_not_followed() {
        let (directory, handle, lock) = directory();
        let victim = directory.path().join("victim");
        aged(&victim, 1000);
        std::os::unix::fs::symlink("victim", &lock).unwrap();
        assert!(LeaseFile::attempt(&handle, NAME).is_err());
        assert_eq!(fs::read(&victim).unwrap(), b"somebody's token");
    }

    #[test]
    fn a_lock_whose_token_cannot_be_written_is_not_left_behind() {
        let (_directory, handle, lock) = directory();
        fs::write(&lock, "").unwrap();
        let unwritable = File::open(&lock).unwrap();
        assert!(marked(&handle, NAME, unwritable, "token").is_err());
        assert!(!lock.exists());
    }

    #[test]
    fn giving_the_lock_back_waits_for_nobody() {
        let (_directory, handle, lock) = directory();
        let held = attempt(&handle).unwrap();
        let other = File::open(&lock).unwrap();
        other.lock().unwrap();
        drop(held);
        assert!(lock.exists());
    }
}
