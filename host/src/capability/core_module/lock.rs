//! Lock files: made exclusively, waited for, taken over when they are old (TA-34).
//!
//! A lock is a file next to what it guards, so that it also holds between processes and against the original
//! program. One that was left behind is taken over in place, under an advisory lock of the file: were it removed and
//! made anew, a second process that saw the same old file could remove the new one and hold the lock as well. So that
//! who was taken for dead leaves the lock of the other alone, each holder writes a token of its own into the file.

use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;

use crate::capability::{BudgetExceeded, Meter};

/// TA-34: tries, and the pause between two of them.
const TRIES: u32 = 50;
const PAUSE: Duration = Duration::from_millis(10);
/// TA-34: what is older than this was left behind.
const STALE: Duration = Duration::from_secs(120);

/// Bytes of a token in hex.
const TOKEN_BYTES: u64 = 32;

/// No link is followed, and nothing waits for the other end of a pipe.
const OPEN: OFlags = OFlags::RDWR
    .union(OFlags::NOFOLLOW)
    .union(OFlags::NONBLOCK)
    .union(OFlags::NOCTTY)
    .union(OFlags::CLOEXEC);

/// A held lock; it is given back when this is dropped.
#[derive(Debug)]
pub(super) struct Lock<'directory> {
    directory: &'directory OwnedFd,
    name: String,
    file: File,
    token: String,
}

impl<'directory> Lock<'directory> {
    /// Locks `file` in `directory`; none if somebody else keeps it locked, or the system has no file to give.
    ///
    /// # Errors
    /// The time is up.
    pub(super) fn take(
        directory: &'directory OwnedFd,
        file: &str,
        meter: &Meter,
    ) -> Result<Option<Self>, BudgetExceeded> {
        let name = format!("{file}.lock");
        let Some(token) = token() else {
            return Ok(None);
        };
        for _ in 0..TRIES {
            let left = meter.remaining()?;
            match attempt(directory, &name, &token) {
                Ok(Some(file)) => {
                    return Ok(Some(Self {
                        directory,
                        name,
                        file,
                        token,
                    }));
                }
                Ok(None) => std::thread::sleep(PAUSE.min(left)),
                Err(_) => return Ok(None),
            }
        }
        Ok(None)
    }
}

impl Drop for Lock<'_> {
    fn drop(&mut self) {
        // Whoever takes the file over holds the advisory lock for as long as that takes, which is short.
        let _ = self.file.lock();
        if is_at(&self.file, self.directory, &self.name) && holds(&mut self.file, &self.token) {
            // A lock that cannot be removed becomes stale.
            let _ = rustix::fs::unlinkat(self.directory, &self.name, AtFlags::empty());
        }
    }
}

/// Makes the lock file or takes a stale one over; none if somebody else holds it.
fn attempt(directory: &OwnedFd, name: &str, token: &str) -> io::Result<Option<File>> {
    let private = Mode::from_raw_mode(0o600);
    let create = OPEN | OFlags::CREATE | OFlags::EXCL;
    match rustix::fs::openat(directory, name, create, private) {
        Ok(made) => {
            let mut made = File::from(made);
            made.write_all(token.as_bytes())?;
            Ok(Some(made))
        }
        Err(Errno::EXIST) => take_over(directory, name, token),
        Err(error) => Err(error.into()),
    }
}

fn take_over(directory: &OwnedFd, name: &str, token: &str) -> io::Result<Option<File>> {
    let mut file = match rustix::fs::openat(directory, name, OPEN, Mode::empty()) {
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

/// None if the system has no random bytes.
fn token() -> Option<String> {
    let mut random = [0; 16];
    getrandom::fill(&mut random).ok()?;
    Some(format!("{:032x}", u128::from_le_bytes(random)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capability::testing::{AMPLE, meter};
    use std::fs;
    use std::path::Path;
    use std::time::SystemTime;

    fn directory() -> (tempfile::TempDir, OwnedFd) {
        let directory = tempfile::tempdir().unwrap();
        let handle = File::open(directory.path()).unwrap().into();
        (directory, handle)
    }

    fn aged(path: &Path, seconds: u64) {
        fs::write(path, "somebody's token").unwrap();
        let file = File::options().write(true).open(path).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(seconds))
            .unwrap();
    }

    #[test]
    fn ta_34_one_holds_the_lock_and_the_others_wait() {
        let (directory, handle) = directory();
        let meter = meter(AMPLE);
        let held = Lock::take(&handle, "x", &meter).unwrap().unwrap();
        assert!(directory.path().join("x.lock").exists());
        assert!(Lock::take(&handle, "x", &meter).unwrap().is_none());
        assert!(Lock::take(&handle, "y", &meter).unwrap().is_some());
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| Lock::take(&handle, "x", &meter).unwrap().is_some());
            std::thread::sleep(Duration::from_millis(50));
            drop(held);
            assert!(waiting.join().unwrap());
        });
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
    }

    #[test]
    fn ta_34_a_lock_of_120_seconds_is_taken_over_and_no_younger_one() {
        let (directory, handle) = directory();
        let meter = meter(AMPLE);
        let lock = directory.path().join("x.lock");
        for (age, taken) in [(110, false), (130, true)] {
            aged(&lock, age);
            let held = Lock::take(&handle, "x", &meter).unwrap();
            assert_eq!(held.is_some(), taken, "{age}");
            drop(held);
            assert_eq!(lock.exists(), !taken);
        }
    }

    #[test]
    fn ta_34_a_stale_lock_is_taken_over_by_one_only() {
        let (directory, handle) = directory();
        aged(&directory.path().join("x.lock"), 1000);
        let taken: Vec<_> = std::thread::scope(|scope| {
            let try_it = || attempt(&handle, "x.lock", &token().unwrap()).unwrap();
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(try_it)).collect();
            let joined = threads.into_iter().map(|thread| thread.join().unwrap());
            joined.collect()
        });
        assert_eq!(taken.iter().flatten().count(), 1);
    }

    #[test]
    fn ta_34_who_was_taken_for_dead_leaves_the_lock_of_the_other() {
        let (directory, handle) = directory();
        let meter = meter(AMPLE);
        let lock = directory.path().join("x.lock");
        let slow = Lock::take(&handle, "x", &meter).unwrap().unwrap();
        let then = SystemTime::now() - Duration::from_secs(130);
        slow.file.set_modified(then).unwrap();
        let new = Lock::take(&handle, "x", &meter).unwrap().unwrap();
        drop(slow);
        assert!(lock.exists());
        drop(new);
        assert!(!lock.exists());
        // The same where another program removes the file and makes its own.
        let slow = Lock::take(&handle, "x", &meter).unwrap().unwrap();
        fs::remove_file(&lock).unwrap();
        fs::write(&lock, "").unwrap();
        drop(slow);
        assert!(lock.exists());
    }

    #[test]
    fn ta_34_a_link_in_place_of_the_lock_is_not_followed() {
        let (directory, handle) = directory();
        let victim = directory.path().join("victim");
        aged(&victim, 1000);
        std::os::unix::fs::symlink("victim", directory.path().join("x.lock")).unwrap();
        assert!(Lock::take(&handle, "x", &meter(AMPLE)).unwrap().is_none());
        assert_eq!(fs::read(&victim).unwrap(), b"somebody's token");
    }
}
