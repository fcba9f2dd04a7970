//! Noticing that a file changed, without reading it.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::fs::Stat;

/// What the file system says of a file and changes with it: device, inode, size, and the times of the last change of the
/// content (`mtime`) and of anything (`ctime`), in seconds and nanoseconds.
///
/// Nobody can set `ctime`, but it is as coarse as the kernel's clock: a file that changed just before its stamp was taken may
/// change again without a trace, which [`changed_before`](Self::changed_before) tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileStamp {
    device: u64,
    inode: u64,
    size: i64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl FileStamp {
    /// The stamp of the file with this status.
    #[must_use]
    #[allow(
        clippy::unnecessary_fallible_conversions,
        clippy::useless_conversion,
        reason = "the types differ between platforms"
    )]
    pub fn new(stat: &Stat) -> Self {
        let nanoseconds = |number| i64::try_from(number).unwrap_or(i64::MAX);
        Self {
            device: u64::try_from(stat.st_dev).unwrap_or(u64::MAX),
            inode: u64::try_from(stat.st_ino).unwrap_or(u64::MAX),
            size: i64::try_from(stat.st_size).unwrap_or(i64::MAX),
            modified: (
                i64::try_from(stat.st_mtime).unwrap_or(i64::MAX),
                nanoseconds(stat.st_mtime_nsec),
            ),
            changed: (
                i64::try_from(stat.st_ctime).unwrap_or(i64::MAX),
                nanoseconds(stat.st_ctime_nsec),
            ),
        }
    }

    /// Whether the last change of anything was longer than `age` before `now`, counted in whole seconds.
    #[must_use]
    pub fn changed_before(&self, now: SystemTime, age: Duration) -> bool {
        let seconds = u64::try_from(self.changed.0).unwrap_or(u64::MAX);
        let since = seconds.checked_add(1).map(Duration::from_secs);
        let end = since
            .and_then(|since| since.checked_add(age))
            .and_then(|end| UNIX_EPOCH.checked_add(end));
        end.is_some_and(|end| end <= now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_shows_another_file_and_another_content() {
        let folder = tempfile::tempdir().unwrap();
        let stamp =
            |name: &str| FileStamp::new(&rustix::fs::stat(folder.path().join(name)).unwrap());
        std::fs::write(folder.path().join("one"), "a").unwrap();
        std::fs::write(folder.path().join("other"), "a").unwrap();
        let before = stamp("one");
        assert_eq!(before, stamp("one"));
        assert_ne!(before, stamp("other"));
        std::fs::write(folder.path().join("one"), "ab").unwrap();
        assert_ne!(before, stamp("one"));
    }

    #[test]
    fn a_change_is_old_when_no_other_could_have_the_same_time() {
        let folder = tempfile::tempdir().unwrap();
        let stamp = FileStamp::new(&rustix::fs::stat(folder.path()).unwrap());
        let (now, age) = (SystemTime::now(), Duration::from_secs(2));
        assert!(!stamp.changed_before(now, age));
        assert!(stamp.changed_before(now + Duration::from_secs(4), age));
    }
}
