//! An advisory lock on a file (`flock`), waited for no longer than the caller likes.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use rustix::fs::FlockOperation;
use rustix::io::{Errno, retry_on_intr};

/// Threads that wait for locks at a time, in the whole process. One whose caller gave up ends when the lock is free, so that a
/// holder that never lets go must not cost a thread for each call.
pub const MAX_WAITING: usize = 32;
/// How often the caller is asked whether it still waits, and how often one that found no thread tries again.
const SLICE: Duration = Duration::from_millis(10);

/// Threads that wait now.
static WAITING: AtomicUsize = AtomicUsize::new(0);

/// Who else may hold the lock meanwhile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockKind {
    /// Nobody.
    Exclusive,
    /// Others that ask for a shared lock.
    Shared,
}

/// A held lock; dropping it gives the lock back.
#[derive(Debug)]
pub struct FileLock {
    file: OwnedFd,
}

impl FileLock {
    /// Waits for the lock of the open file `file`, in the kernel, which wakes the waiter whenever the lock is given back.
    /// `remaining` is asked now and then how long the caller still waits; none ends
    /// the wait, and so does no time. Answers none where the wait ended before the lock was free.
    ///
    /// # Errors
    /// The system refuses the lock.
    pub fn wait(
        file: OwnedFd,
        kind: LockKind,
        mut remaining: impl FnMut() -> Option<Duration>,
    ) -> io::Result<Option<Self>> {
        let (attempt, blocking) = match kind {
            LockKind::Exclusive => (
                FlockOperation::NonBlockingLockExclusive,
                FlockOperation::LockExclusive,
            ),
            LockKind::Shared => (
                FlockOperation::NonBlockingLockShared,
                FlockOperation::LockShared,
            ),
        };
        let mut queued = None;
        loop {
            if queued.is_none() {
                match rustix::fs::flock(&file, attempt) {
                    Ok(()) => return Ok(Some(Self { file })),
                    Err(Errno::AGAIN | Errno::INTR) => {}
                    Err(error) => return Err(error.into()),
                }
            }
            let Some(left) = remaining().filter(|left| !left.is_zero()) else {
                return Ok(None);
            };
            if queued.is_none() {
                queued = Waiter::start(&file, blocking);
            }
            let slice = left.min(SLICE);
            match &queued {
                None => thread::sleep(slice),
                Some(waiter) => match waiter.locked.recv_timeout(slice) {
                    Ok(locked) => return locked.map(|()| Some(Self { file })),
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => {
                        return Err(io::Error::other("a thread that waits for a lock ended"));
                    }
                },
            }
        }
    }

    /// The locked file.
    #[must_use]
    pub fn file(&self) -> &OwnedFd {
        &self.file
    }
}

/// A thread that waits for a lock.
struct Waiter {
    locked: mpsc::Receiver<io::Result<()>>,
}

impl Waiter {
    /// None where as many threads wait as may, or the system gives no thread.
    fn start(file: &OwnedFd, operation: FlockOperation) -> Option<Self> {
        let place = Place::take()?;
        let (tell, locked) = mpsc::sync_channel(1);
        // Of the same open file: its lock is that of `file`. Where the caller has gone, the lock is given back at once.
        let own = file.try_clone().ok()?;
        let started = thread::Builder::new()
            .name("hydrant-lock".to_owned())
            .spawn(move || {
                let _place = place;
                let outcome = retry_on_intr(|| rustix::fs::flock(&own, operation));
                // Closed first, so that a caller who drops the lock gives it back.
                drop(own);
                let _ = tell.send(outcome.map_err(io::Error::from));
            });
        started.is_ok().then_some(Self { locked })
    }
}

/// A thread's place among those that may wait.
struct Place;

impl Place {
    fn take() -> Option<Self> {
        let more = |waiting: usize| (waiting < MAX_WAITING).then(|| waiting.saturating_add(1));
        let taken = WAITING.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more);
        taken.ok().map(|_| Self)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        WAITING.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::path::Path;
    use std::time::Instant;

    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    fn open(path: &Path) -> OwnedFd {
        File::create(path).unwrap().into()
    }

    fn hold(path: &Path, kind: LockKind) -> FileLock {
        FileLock::wait(open(path), kind, || Some(LONG))
            .unwrap()
            .unwrap()
    }

    fn attempt(path: &Path, kind: LockKind) -> Option<FileLock> {
        FileLock::wait(open(path), kind, || None).unwrap()
    }

    #[test]
    fn one_holds_an_exclusive_lock_and_many_a_shared_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let held = hold(&path, LockKind::Exclusive);
        assert!(attempt(&path, LockKind::Exclusive).is_none());
        assert!(attempt(&path, LockKind::Shared).is_none());
        drop(held);
        let shared = [hold(&path, LockKind::Shared), hold(&path, LockKind::Shared)];
        assert!(attempt(&path, LockKind::Exclusive).is_none());
        drop(shared);
        assert!(attempt(&path, LockKind::Exclusive).is_some());
    }

    #[test]
    fn a_wait_ends_when_the_caller_says_so_and_leaves_no_lock_behind() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let held = hold(&path, LockKind::Exclusive);
        let until = Instant::now() + Duration::from_millis(50);
        let left = || until.checked_duration_since(Instant::now());
        let waited = FileLock::wait(open(&path), LockKind::Exclusive, left).unwrap();
        assert!(waited.is_none());
        drop(held);
        drop(hold(&path, LockKind::Exclusive));
    }

    /// Whoever only tries now and then loses to others that take the lock as soon as they have given it back.
    #[test]
    #[cfg(target_os = "linux")]
    fn a_waiter_blocks_in_the_kernel_and_gets_the_lock_when_it_is_free() {
        use std::os::unix::fs::MetadataExt as _;

        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let held = hold(&path, LockKind::Exclusive);
        let inode = format!(":{} ", path.metadata().unwrap().ino());
        let is_waited_for = || {
            let locks = std::fs::read_to_string("/proc/locks").unwrap();
            let mut lines = locks.lines();
            lines.any(|line| line.contains("-> FLOCK") && line.contains(&inode))
        };
        thread::scope(|scope| {
            let waiter = scope.spawn(|| hold(&path, LockKind::Exclusive));
            let until = Instant::now() + LONG;
            while !is_waited_for() {
                assert!(Instant::now() < until, "nobody waits in the kernel");
                thread::yield_now();
            }
            drop(held);
            drop(waiter.join().unwrap());
        });
    }

    #[test]
    fn a_lock_that_is_never_free_costs_a_bounded_number_of_threads() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let held = hold(&path, LockKind::Exclusive);
        for _ in 0..(MAX_WAITING * 2) {
            let until = Instant::now() + Duration::from_millis(2);
            let left = || until.checked_duration_since(Instant::now());
            assert!(
                FileLock::wait(open(&path), LockKind::Exclusive, left)
                    .unwrap()
                    .is_none()
            );
        }
        assert!(WAITING.load(Ordering::Relaxed) <= MAX_WAITING);
        drop(held);
        // Those that gave up hand it on.
        drop(hold(&path, LockKind::Exclusive));
    }
}
