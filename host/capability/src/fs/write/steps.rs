//! Every step that changes something passes through here, so that tests can end the process, or fail, at each of them.

use super::FsError;

/// What befalls the steps of one transaction: outside of tests nothing.
#[derive(Debug, Default)]
pub(super) struct Steps {
    #[cfg(test)]
    pub(super) faults: faults::Faults,
}

impl Steps {
    /// Before a step that may fail.
    ///
    /// # Errors
    /// Only what a test asked for.
    #[cfg_attr(
        not(test),
        expect(clippy::unused_self, reason = "tests let steps fail")
    )]
    pub(super) fn pass(&self) -> Result<(), FsError> {
        #[cfg(test)]
        return self.faults.befall();
        #[cfg(not(test))]
        Ok(())
    }

    /// Before a step that undoes or cleans up.
    pub(super) fn mark(&self) {
        #[cfg(test)]
        self.faults.end_here();
    }

    /// Whether renames that exchange or refuse to replace are to be tried.
    pub(super) fn may_use_flags(&self) -> bool {
        #[cfg(test)]
        return !self.faults.without_flags;
        #[cfg(not(test))]
        true
    }
}

#[cfg(test)]
pub(super) mod faults {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use rustix::process::{Signal, getpid, kill_process};

    use super::FsError;

    /// Counted from 1; 0 is never.
    #[derive(Debug, Default)]
    pub(in crate::fs::write) struct Faults {
        pub(in crate::fs::write) fail_at: usize,
        pub(in crate::fs::write) kill_at: usize,
        pub(in crate::fs::write) without_flags: bool,
        pub(in crate::fs::write) taken: AtomicUsize,
    }

    impl Faults {
        pub(super) fn befall(&self) -> Result<(), FsError> {
            if self.end_here() == self.fail_at {
                return Err(FsError::Io);
            }
            Ok(())
        }

        pub(super) fn end_here(&self) -> usize {
            let step = self.taken.fetch_add(1, Ordering::SeqCst) + 1;
            if step == self.kill_at {
                kill_process(getpid(), Signal::KILL).unwrap();
                std::thread::sleep(std::time::Duration::from_secs(60));
            }
            step
        }
    }
}
