//! A root that a lock command works on: opened, with the ring that the caller names.

use std::path::Path;

use super::Anchor;
use super::finding::Findings;
use super::lock_checks::{check_ring, read_ring};
use super::report::{Command, Report};
use super::root::{Root, RootError};
use hydrant_base::Digest;
use hydrant_trust::KeyRing;

/// The root, its ring, and what is wrong so far.
pub(super) struct Opened {
    command: Command,
    pub(super) root: Root,
    pub(super) ring: KeyRing,
    pub(super) findings: Findings,
}

impl Opened {
    /// Opens `directory` for `command`. The inner error says what is wrong with the ring: nothing of such a root is
    /// believed.
    ///
    /// # Errors
    /// [`RootError`]
    pub(super) fn open(
        directory: &Path,
        anchor: &Anchor,
        command: Command,
    ) -> Result<Result<Self, Report>, RootError> {
        let root = Root::open(directory)?;
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

    /// The report of what was found.
    pub(super) fn report(self) -> Report {
        let mut report = Report::new(self.command, self.findings);
        report.keys_digest = Some(self.ring.digest().clone());
        report
    }
}
