//! The lock of one file of the state, waited for as long as the run has time.

use std::os::fd::OwnedFd;
use std::time::Duration;

use crate::{BudgetExceeded, Meter};
use hydrant_base::LeaseFile;

/// Tries, and the pause between two of them.
const TRIES: u32 = 50;
const PAUSE: Duration = Duration::from_millis(10);

/// Locks `file` in `directory`; none if somebody else keeps it locked, or the system has no file to give.
///
/// # Errors
/// The time is up.
pub(super) fn take<'directory>(
    directory: &'directory OwnedFd,
    file: &str,
    meter: &Meter,
) -> Result<Option<LeaseFile<'directory>>, BudgetExceeded> {
    let name = format!("{file}.lock");
    for _ in 0..TRIES {
        let left = meter.remaining()?;
        match LeaseFile::attempt(directory, &name) {
            Ok(None) => std::thread::sleep(PAUSE.min(left)),
            taken => return Ok(taken.ok().flatten()),
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{AMPLE, meter};
    use std::fs::{self, File};

    #[test]
    fn one_holds_the_lock_and_the_others_wait() {
        let directory = tempfile::tempdir().unwrap();
        let handle = OwnedFd::from(File::open(directory.path()).unwrap());
        let meter = meter(AMPLE);
        let held = take(&handle, "x", &meter).unwrap().unwrap();
        assert!(directory.path().join("x.lock").exists());
        assert!(take(&handle, "x", &meter).unwrap().is_none());
        assert!(take(&handle, "y", &meter).unwrap().is_some());
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| take(&handle, "x", &meter).unwrap().is_some());
            std::thread::sleep(Duration::from_millis(50));
            drop(held);
            assert!(waiting.join().unwrap());
        });
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_link_in_place_of_the_lock_is_no_answer() {
        let directory = tempfile::tempdir().unwrap();
        let handle = OwnedFd::from(File::open(directory.path()).unwrap());
        std::os::unix::fs::symlink("victim", directory.path().join("x.lock")).unwrap();
        assert!(take(&handle, "x", &meter(AMPLE)).unwrap().is_none());
    }
}
