//! The bundle of one skill, before it starts: all checks of `verify` that need no engine.
//!
//! Every start of a skill goes through here, so only the lock and one entry are checked. A failed check is an error with its rule,
//! never a warning.

use super::bundle_checks::{Subject, check_bundle};
use super::finding::{Class, Finding, Findings, Row};
use super::lock_checks::{PinDigests, believe, check_world};
use super::root::Root;
use super::stamp::{Stamp, stamp_of_bundle, stamp_of_pins};
use super::{Anchor, MinSigners};
use hydrant_base::{Digest, escaped};
use hydrant_trust::{KeyRing, Lock, LockEntry, VerifiedBundle};

/// A lock that its signers vouch for, with the ring that says so.
#[derive(Debug, Clone)]
pub struct PinnedLock {
    lock: Lock,
    ring: KeyRing,
    digest: Digest,
    min_signers: MinSigners,
    stamp: Stamp,
}

/// A bundle that is pinned, signed, whole, and imports no more than it declares.
#[derive(Debug, Clone)]
pub struct PinnedBundle {
    /// The bundle.
    pub bundle: VerifiedBundle,
    /// Its entry in the lock.
    pub entry: LockEntry,
    /// Taken before the files were read; compare it with [`stamp`](super::stamp()) to notice that they changed.
    pub stamp: Stamp,
}

/// Why a pinned skill may not run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PinError {
    /// The lock is good and has no such entry.
    #[error("skill {skill} is not pinned; pinned are: {pinned}")]
    NotPinned {
        /// What was asked for, `id` or `id@version`, escaped.
        skill: String,
        /// Every `id@version` of the lock, separated by commas, escaped.
        pinned: String,
    },
    /// A check of `verify` failed.
    #[error("{} {}", .0.row, .0.message)]
    Failed(Box<Finding>),
}

impl PinError {
    /// The rule that failed, for `pin_failed:<row>`; none if there is no such pin.
    #[must_use]
    pub fn row(&self) -> Option<Row> {
        match self {
            Self::NotPinned { .. } => None,
            Self::Failed(finding) => Some(finding.row),
        }
    }

    /// The class that decides the exit code; none if there is no such pin.
    #[must_use]
    pub fn class(&self) -> Option<Class> {
        self.row().map(Row::class)
    }
}

/// Verifies ring, lock signature and lock of `root`.
///
/// # Errors
/// [`PinError::Failed`] with a rule of `TV-01` to `TV-08`.
pub fn open_lock(root: &Root, anchor: &Anchor) -> Result<PinnedLock, PinError> {
    let mut findings = Findings::default();
    let stamp = stamp_of_pins(root);
    let mut digests = PinDigests::default();
    let believed = believe(root, anchor, &mut digests, &mut findings);
    if let Some((lock, ..)) = &believed {
        check_world(lock, &anchor.world, &mut findings);
    }
    let (lock, ring, digest) = unless(findings, believed)?;
    Ok(PinnedLock {
        lock,
        ring,
        digest,
        min_signers: anchor.min_signers,
        stamp,
    })
}

/// Returns `made`, unless there is a finding.
fn unless<T>(findings: Findings, made: Option<T>) -> Result<T, PinError> {
    match (findings.into_decisive(), made) {
        (None, Some(made)) => Ok(made),
        (Some(finding), _) => Err(PinError::Failed(Box::new(finding))),
        // A check that makes nothing reports why. If one should forget to, nothing runs all the same.
        (None, None) => Err(PinError::Failed(Box::new(Finding::new(
            Row::TV_12,
            "the bundle could not be verified",
        )))),
    }
}

impl PinnedLock {
    /// The lock itself.
    #[must_use]
    pub fn lock(&self) -> &Lock {
        &self.lock
    }

    /// The digest of the lock file.
    #[must_use]
    pub fn digest(&self) -> &Digest {
        &self.digest
    }

    /// The ring.
    #[must_use]
    pub fn ring(&self) -> &KeyRing {
        &self.ring
    }

    /// The entry of a skill; without a version that of the highest in SemVer order.
    ///
    /// # Errors
    /// [`PinError::NotPinned`].
    pub fn entry(&self, id: &str, version: Option<&str>) -> Result<&LockEntry, PinError> {
        let entry = match version {
            Some(version) => self.lock.get(id, version),
            None => self.lock.newest(id),
        };
        entry.ok_or_else(|| {
            let pinned: Vec<_> = self.lock.skills.iter().map(LockEntry::skill).collect();
            let skill = version.map_or_else(|| id.to_owned(), |version| format!("{id}@{version}"));
            PinError::NotPinned {
                skill: escaped(&skill),
                pinned: escaped(&pinned.join(", ")),
            }
        })
    }

    /// Verifies the bundle of an entry of this lock; `root` is the one the lock was opened in.
    ///
    /// # Errors
    /// [`PinError::Failed`] with a rule of `TV-07` to `TV-26`.
    pub fn bundle(&self, root: &Root, entry: &LockEntry) -> Result<PinnedBundle, PinError> {
        let stamp = stamp_of_bundle(root, &entry.bundle_dir);
        let mut findings = Findings::default();
        let subject = Subject::pinned(entry);
        let minimum = self.min_signers.count();
        let checked = check_bundle(root, &self.ring, minimum, subject, &mut findings);
        let sound = checked.verified.filter(|_| checked.is_sound);
        Ok(PinnedBundle {
            bundle: unless(findings, sound)?,
            entry: entry.clone(),
            stamp: self.stamp.clone().and(stamp),
        })
    }
}

/// Verifies ring, lock and the entry of one skill.
///
/// # Errors
/// [`PinError`]: the rule that failed, or that there is no such pin.
pub fn verify_entry(
    root: &Root,
    anchor: &Anchor,
    id: &str,
    version: Option<&str>,
) -> Result<PinnedBundle, PinError> {
    let lock = open_lock(root, anchor)?;
    let entry = lock.entry(id, version)?;
    lock.bundle(root, entry)
}

#[cfg(test)]
mod tests;
