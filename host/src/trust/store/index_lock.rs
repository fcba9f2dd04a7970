//! `index.json.lock`: whose turn it is to change the index (TA-34).
//!
//! Who creates the file holds the lock. A file older than two minutes is left over from a process that
//! died. It is taken over in place, under an advisory lock of the file: were it removed and made anew, a
//! second process that saw the same old file could remove the new one and hold the lock as well. For the
//! same reason each holder writes a token into the file, and removes only a file with its own.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

use super::{FILE_MODE, StoreError};

const ATTEMPTS: u32 = 50;
const PAUSE: Duration = Duration::from_millis(10);
const STALE: Duration = Duration::from_secs(120);

/// Token bytes in hex.
const TOKEN_BYTES: u64 = 32;

/// The lock; it is given back when this is dropped.
pub(super) struct IndexLock {
    path: PathBuf,
    file: File,
    token: String,
}

impl IndexLock {
    /// Waits for the lock, about half a second at most.
    pub(super) fn acquire(path: PathBuf) -> Result<Self, StoreError> {
        let token = token().map_err(failed(&path))?;
        for _ in 0..ATTEMPTS {
            if let Some(file) = attempt(&path, &token).map_err(failed(&path))? {
                return Ok(Self { path, file, token });
            }
            sleep(PAUSE);
        }
        Err(StoreError::Locked(path))
    }
}

impl Drop for IndexLock {
    fn drop(&mut self) {
        // Whoever takes the file over holds the advisory lock for as long as that takes, which is short.
        let _ = self.file.lock();
        if is_at(&self.file, &self.path) && holds(&mut self.file, &self.token) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Makes the lock file or takes a stale one over; none if somebody else holds it.
fn attempt(path: &Path, token: &str) -> io::Result<Option<File>> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).mode(FILE_MODE);
    match options.create_new(true).open(path) {
        Ok(mut file) => {
            file.write_all(token.as_bytes())?;
            Ok(Some(file))
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => take_over(path, token),
        Err(error) => Err(error),
    }
}

fn take_over(path: &Path, token: &str) -> io::Result<Option<File>> {
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    // No link is followed, and nothing waits for the other end of a pipe.
    options.custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
    let mut file = match options.open(path) {
        Ok(file) => file,
        // It was given back in this moment.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    if !is_stale(&file)? || file.try_lock().is_err() {
        return Ok(None);
    }
    // Both again, now that nobody else can take it over.
    if !is_stale(&file)? || !is_at(&file, path) {
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

/// Whether the file is still the one that the path leads to.
fn is_at(file: &File, path: &Path) -> bool {
    match (file.metadata(), path.symlink_metadata()) {
        (Ok(held), Ok(found)) => held.dev() == found.dev() && held.ino() == found.ino(),
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

fn token() -> io::Result<String> {
    let mut random = [0; 16];
    getrandom::fill(&mut random)?;
    Ok(format!("{:032x}", u128::from_le_bytes(random)))
}

fn failed(path: &Path) -> impl FnOnce(io::Error) -> StoreError {
    let path = path.to_owned();
    move |source| StoreError::Lock { path, source }
}

#[cfg(test)]
mod tests {
    use std::time::{Instant, SystemTime};

    use super::*;

    fn acquire(path: &Path) -> Result<IndexLock, StoreError> {
        IndexLock::acquire(path.to_owned())
    }

    fn aged(path: &Path, age: Duration) {
        fs::write(path, "somebody's token").unwrap();
        let file = OpenOptions::new().write(true).open(path).unwrap();
        file.set_modified(SystemTime::now() - age).unwrap();
    }

    fn in_a_directory(test: impl FnOnce(&Path)) {
        let directory = tempfile::tempdir().unwrap();
        test(&directory.path().join("index.json.lock"));
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
    }

    #[test]
    fn ta_34_the_lock_is_a_private_file_and_is_gone_at_the_end() {
        in_a_directory(|path| {
            let lock = acquire(path).unwrap();
            assert_eq!(path.metadata().unwrap().mode() & 0o777, 0o600);
            drop(lock);
        });
    }

    #[test]
    fn ta_34_who_does_not_get_it_gives_up_after_half_a_second() {
        in_a_directory(|path| {
            let lock = acquire(path).unwrap();
            let start = Instant::now();
            let error = acquire(path).err().unwrap().to_string();
            assert!(start.elapsed() >= Duration::from_millis(500));
            assert!(
                error.starts_with("failed to acquire index lock "),
                "{error}"
            );
            drop(lock);
        });
    }

    #[test]
    fn ta_34_a_lock_older_than_two_minutes_is_taken_over() {
        in_a_directory(|path| {
            aged(path, Duration::from_secs(110));
            assert!(acquire(path).is_err());
            aged(path, Duration::from_secs(130));
            let lock = acquire(path).unwrap();
            assert!(acquire(path).is_err(), "it is a new lock");
            drop(lock);
        });
    }

    #[test]
    fn ta_34_a_stale_lock_is_taken_over_by_one_only() {
        in_a_directory(|path| {
            aged(path, Duration::from_secs(1000));
            let attempts: Vec<_> = std::thread::scope(|scope| {
                let threads: Vec<_> = (0..8)
                    .map(|_| scope.spawn(|| attempt(path, &token().unwrap()).unwrap()))
                    .collect();
                threads
                    .into_iter()
                    .map(|thread| thread.join().unwrap())
                    .collect()
            });
            assert_eq!(attempts.iter().flatten().count(), 1);
            fs::remove_file(path).unwrap();
        });
    }

    #[test]
    fn ta_34_a_holder_that_was_taken_for_dead_leaves_the_new_lock_alone() {
        in_a_directory(|path| {
            let slow = acquire(path).unwrap();
            slow.file
                .set_modified(SystemTime::now() - Duration::from_secs(130))
                .unwrap();
            let new = acquire(path).unwrap();
            drop(slow);
            assert!(path.exists());
            drop(new);

            // The same where another program removes the file and makes its own.
            let slow = acquire(path).unwrap();
            fs::remove_file(path).unwrap();
            fs::write(path, "").unwrap();
            drop(slow);
            assert!(path.exists());
            fs::remove_file(path).unwrap();
        });
    }

    #[test]
    fn ta_34_a_link_in_place_of_the_lock_is_not_followed() {
        let directory = tempfile::tempdir().unwrap();
        let victim = directory.path().join("victim");
        aged(&victim, Duration::from_secs(1000));
        let path = directory.path().join("index.json.lock");
        std::os::unix::fs::symlink(&victim, &path).unwrap();
        assert!(matches!(acquire(&path), Err(StoreError::Lock { .. })));
        assert_eq!(fs::read(&victim).unwrap(), b"somebody's token");
    }
}
