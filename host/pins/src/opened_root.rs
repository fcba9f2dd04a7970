//! A root that a lock command works on: opened, with the ring that the caller names.

use std::borrow::Cow;
use std::path::Path;

use super::Anchor;
use super::finding::Findings;
use super::lock_checks::{check_document, check_ring, read_lock, read_ring};
use super::report::{Command, Report};
use super::root::{Root, RootError};
use hydrant_base::Digest;
use hydrant_trust::{Carried, KeyRing, Lock};

/// The root, its ring, and what is wrong so far.
pub(super) struct OpenedRoot {
    command: Command,
    pub(super) root: Root,
    pub(super) ring: KeyRing,
    pub(super) findings: Findings,
}

/// The present lock; its signatures are not checked.
pub(super) struct PresentLock {
    pub(super) bytes: Cow<'static, [u8]>,
    pub(super) digest: Digest,
    /// What it says, if it parses.
    pub(super) lock: Option<Lock>,
}

impl OpenedRoot {
    /// Opens `directory` for `command`, in a program that carries these components. The inner error is a report of what is wrong
    /// with the ring: nothing in such a root can be believed.
    ///
    /// # Errors
    /// [`RootError`]
    pub(super) fn open(
        directory: &Path,
        anchor: &Anchor,
        command: Command,
        carried: &'static [Carried],
    ) -> Result<Result<Self, Report>, RootError> {
        let root = Root::open(directory)?.carrying(carried);
        let mut findings = Findings::default();
        let keys = read_ring(&root, &mut findings);
        let minimum = anchor.min_signers.count();
        let ring = keys
            .as_ref()
            .and_then(|bytes| check_ring(bytes, &anchor.keys_digest, minimum, &mut findings));
        Ok(match ring {
            Some(ring) => Ok(Self {
                command,
                root,
                ring,
                findings,
            }),
            None => {
                let mut report = Report::new(command, findings);
                report.keys_digest = keys.map(|bytes| Digest::of(&bytes));
                Err(report)
            }
        })
    }

    /// Reads the present lock, and reports what is wrong with its file and its form.
    pub(super) fn present_lock(&mut self) -> Option<PresentLock> {
        let bytes = read_lock(&self.root, &mut self.findings)?;
        Some(PresentLock {
            digest: Digest::of(&bytes),
            lock: check_document(&bytes, &mut self.findings),
            bytes,
        })
    }

    /// The report of what was found, about the lock with this digest.
    pub(super) fn report(self, lock_digest: Option<Digest>) -> Report {
        let mut report = Report::new(self.command, self.findings);
        report.keys_digest = Some(self.ring.digest().clone());
        report.lock_digest = lock_digest;
        report
    }
}
