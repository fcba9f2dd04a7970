//! Noticing that a pinned file changed, without reading it again.
//!
//! A stamp is taken *before* the files are read, so a change while they are read shows in the next stamp too. It
//! proves nothing about bytes and lets no new byte in: another stamp is a reason to read and verify again, and as long
//! as it is equal, the bytes that were verified stay in use.

use super::root::{LOCK, LOCK_SIGNATURE, PINS, RING, Root};
use hydrant_base::FileStamp;
use hydrant_trust::{BUNDLE_FILES, LockEntry};

/// What the file system says of the lock, its signature, the ring, a bundle's directory and the files in it. Equal
/// stamps of one root mean that nothing was written in between; an embedded root has one stamp for ever.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stamp(Vec<Option<FileStamp>>);

/// The stamp of what decides about `entry` in `root`.
#[must_use]
pub fn stamp(root: &Root, entry: &LockEntry) -> Stamp {
    let mut stamp = stamp_of_pins(root);
    stamp.0.extend(stamp_of_bundle(root, &entry.bundle_dir).0);
    stamp
}

/// The part of the stamp that all entries share.
pub(super) fn stamp_of_pins(root: &Root) -> Stamp {
    let names = [LOCK, LOCK_SIGNATURE, RING].map(|path| path.rsplit('/').next().unwrap_or(path));
    stamp_of(root, PINS, &names)
}

/// The part of the stamp that belongs to one bundle. Its directory shows when a file is added.
pub(super) fn stamp_of_bundle(root: &Root, bundle_dir: &str) -> Stamp {
    let mut names = vec!["."];
    names.extend(BUNDLE_FILES);
    stamp_of(root, bundle_dir, &names)
}

impl Stamp {
    pub(super) fn and(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }
}

fn stamp_of(root: &Root, folder: &str, names: &[&str]) -> Stamp {
    let Ok(folder) = root.folder(folder) else {
        return Stamp(names.iter().map(|_| None).collect());
    };
    Stamp(names.iter().map(|name| folder.stamp(name)).collect())
}

#[cfg(test)]
mod tests;
