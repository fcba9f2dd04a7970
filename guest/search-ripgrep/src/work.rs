//! How much one search may do.

/// Files that are searched or skipped.
const MAX_FILES: u32 = 200_000;

/// Bytes that are read of them.
const MAX_READ_BYTES: u64 = 2 * 1024 * 1024 * 1024;

/// Directories that are listed, ignore files that are read, and files that have to be read again.
/// With those of [`MAX_FILES`] they stay below the hostcalls that a call has.
const MAX_LOOKUPS: usize = 250_000;

/// What is left to do.
#[derive(Debug)]
pub(crate) struct Work {
    files: u32,
    bytes: u64,
    lookups: usize,
}

impl Default for Work {
    fn default() -> Self {
        Self {
            files: MAX_FILES,
            bytes: MAX_READ_BYTES,
            lookups: MAX_LOOKUPS,
        }
    }
}

impl Work {
    /// Takes one file of so many bytes; false if that is too much.
    pub(crate) fn take_file(&mut self, bytes: u64) -> bool {
        let left = self.files.checked_sub(1).zip(self.bytes.checked_sub(bytes));
        if let Some((files, bytes)) = left {
            self.files = files;
            self.bytes = bytes;
        }
        left.is_some()
    }

    /// Takes so many lookups; false if that is too much.
    pub(crate) fn take_lookups(&mut self, count: usize) -> bool {
        let left = self.lookups.checked_sub(count);
        self.lookups = left.unwrap_or(self.lookups);
        left.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_work_is_bounded_in_files_and_in_bytes() {
        let mut work = Work::default();
        assert_eq!((0..).take_while(|_| work.take_file(0)).count(), 200_000);
        let mut work = Work::default();
        assert!(work.take_file(MAX_READ_BYTES));
        assert!(!work.take_file(1));
        assert!(work.take_file(0));
        assert!(!work.take_lookups(MAX_LOOKUPS + 1));
        assert!(work.take_lookups(MAX_LOOKUPS));
        assert!(!work.take_lookups(1));
    }
}
