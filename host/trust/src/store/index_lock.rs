//! `index.json.lock`: whose turn it is to change the index.

use hydrant_base::LeaseFile;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use super::StoreError;

const NAME: &str = "index.json.lock";
const ATTEMPTS: u32 = 50;
const PAUSE: Duration = Duration::from_millis(10);

/// Does `work` while the index of `home` is locked; waits for the lock about half a second at most.
pub(super) fn locked<T>(
    home: &Path,
    work: impl FnOnce() -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    let path = home.join(NAME);
    let failed = |source: io::Error| StoreError::Lock {
        path: path.clone(),
        source,
    };
    let directory = OwnedFd::from(File::open(home).map_err(failed)?);
    for _ in 0..ATTEMPTS {
        if let Some(_lock) = LeaseFile::attempt(&directory, NAME).map_err(failed)? {
            return work();
        }
        sleep(PAUSE);
    }
    Err(StoreError::Locked(path))
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    #[test]
    fn who_does_not_get_the_lock_gives_up_after_half_a_second() {
        let directory = tempfile::tempdir().unwrap();
        let home = directory.path();
        locked(home, || {
            let start = Instant::now();
            let error = locked(home, || Ok(())).unwrap_err().to_string();
            assert!(start.elapsed() >= Duration::from_millis(500));
            assert!(
                error.starts_with("failed to acquire index lock "),
                "{error}"
            );
            Ok(())
        })
        .unwrap();
        assert!(!home.join(NAME).exists());
    }

    #[test]
    fn a_link_in_place_of_the_lock_is_an_error_at_once() {
        let directory = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink("victim", directory.path().join(NAME)).unwrap();
        let error = locked(directory.path(), || Ok(())).unwrap_err();
        assert!(matches!(error, StoreError::Lock { .. }), "{error}");
    }
}
