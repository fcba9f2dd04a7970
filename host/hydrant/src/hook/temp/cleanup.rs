//! Taking old files away: each run does a little of it.

use std::ffi::CStr;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rustix::fs::{AtFlags, Dir, FileType, statat, unlinkat};

use super::TempFolder;

/// How much a run does.
#[derive(Debug, Clone, Copy)]
pub struct CleanupLimits {
    /// Files older than this go.
    pub age: Duration,
    /// Entries looked at.
    pub entries: usize,
    /// Time spent.
    pub time: Duration,
}

impl Default for CleanupLimits {
    fn default() -> Self {
        Self {
            age: Duration::from_secs(3600),
            entries: 1000,
            time: Duration::from_millis(50),
        }
    }
}

impl TempFolder {
    /// Removes old files of earlier runs. Whatever goes wrong with one is no reason to stop.
    pub fn clean_up(&self, limits: CleanupLimits) {
        let started = Instant::now();
        let Some(oldest) = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .ok()
            .and_then(|now| now.checked_sub(limits.age))
            .and_then(|oldest| i64::try_from(oldest.as_secs()).ok())
        else {
            return;
        };
        let Ok(entries) = Dir::read_from(&self.handle) else {
            return;
        };
        for entry in entries.take(limits.entries) {
            if started.elapsed() > limits.time {
                return;
            }
            if let Ok(entry) = entry
                && is_ours(entry.file_name())
                && let Ok(found) =
                    statat(&self.handle, entry.file_name(), AtFlags::SYMLINK_NOFOLLOW)
                && FileType::from_raw_mode(found.st_mode) == FileType::RegularFile
                && found.st_mtime < oldest
            {
                let _ = unlinkat(&self.handle, entry.file_name(), AtFlags::empty());
            }
        }
    }
}

/// `hydrate_*.md`
fn is_ours(name: &CStr) -> bool {
    let name = name.to_bytes();
    name.len() >= b"hydrate_.md".len() && name.starts_with(b"hydrate_") && name.ends_with(b".md")
}
