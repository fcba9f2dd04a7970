//! The checks before any entry is believed: lock file, ring, lock signature, lock document.
//!
//! A check returns nothing if the next ones are not possible, and has then reported why.

use std::borrow::Cow;

use super::Anchor;
use super::finding::{Finding, Findings, Row};
use super::root::{LOCK, LOCK_SIGNATURE, RING, Root};
use hydrant_base::Digest;
use hydrant_trust::limits::{MAX_JSON_BYTES, MAX_LOCK_SIGNATURE_BYTES};
use hydrant_trust::{KeyRing, Lock, LockSignatures};

/// What a lock names as the repository of its host world.
const SUBSTRATE: &str = "hydrant";

/// The digests of what was read of a root, whether or not it is believed.
#[derive(Default)]
pub(super) struct PinDigests {
    pub(super) lock: Option<Digest>,
    pub(super) keys: Option<Digest>,
}

/// Returns lock, ring and the digest of the lock, if both can be believed (`TV-01` to `TV-06`).
pub(super) fn believe(
    root: &Root,
    anchor: &Anchor,
    digests: &mut PinDigests,
    findings: &mut Findings,
) -> Option<(Lock, KeyRing, Digest)> {
    let minimum = anchor.min_signers.count();
    let lock = read_lock(root, findings)?;
    let digest = Digest::of(&lock);
    digests.lock = Some(digest.clone());
    let ring = read_ring(root, findings)?;
    digests.keys = Some(Digest::of(&ring));
    let ring = check_ring(&ring, &anchor.keys_digest, minimum, findings)?;
    check_signatures(root, &digest, &ring, minimum, findings)?;
    let lock = check_document(&lock, findings)?;
    Some((lock, ring, digest))
}

/// The bytes of the lock.
pub(super) fn read_lock(root: &Root, findings: &mut Findings) -> Option<Cow<'static, [u8]>> {
    read(root, Row::TV_01, LOCK, MAX_JSON_BYTES, findings)
}

/// The bytes of the ring, which may be anybody's.
pub(super) fn read_ring(root: &Root, findings: &mut Findings) -> Option<Cow<'static, [u8]>> {
    read(root, Row::TV_02, RING, MAX_JSON_BYTES, findings)
}

fn read(
    root: &Root,
    row: Row,
    path: &str,
    maximum: u64,
    findings: &mut Findings,
) -> Option<Cow<'static, [u8]>> {
    findings.evaluate(row, None);
    root.read(path, maximum)
        .map_err(|fault| findings.report(Finding::new(row, &fault).at(&fault.path)))
        .ok()
}

/// Checks that the ring is the one that the anchor names, and fit for pins.
pub(super) fn check_ring(
    bytes: &[u8],
    anchor: &Digest,
    min_signers: usize,
    findings: &mut Findings,
) -> Option<KeyRing> {
    findings.evaluate(Row::TV_02, None);
    let actual = Digest::of(bytes);
    // The digest before anything is parsed.
    if actual != *anchor {
        let message =
            format!("{RING}: public keys digest mismatch: expected {anchor}, got {actual}");
        findings.report(
            Finding::new(Row::TV_02, message)
                .at(RING)
                .because(anchor, actual),
        );
        return None;
    }
    findings.evaluate(Row::TV_03, None);
    let ring = KeyRing::parse(bytes).and_then(|ring| {
        ring.check_pins_form(min_signers)?;
        Ok(ring)
    });
    ring.map_err(|error| {
        findings.report(Finding::new(Row::TV_03, format!("{RING}: {error}")).at(RING));
    })
    .ok()
}

/// Checks that the lock with this digest has enough signatures, all of them valid.
pub(super) fn check_signatures(
    root: &Root,
    lock: &Digest,
    ring: &KeyRing,
    min_signers: usize,
    findings: &mut Findings,
) -> Option<LockSignatures> {
    let row = Row::TV_04;
    let bytes = read(
        root,
        row,
        LOCK_SIGNATURE,
        MAX_LOCK_SIGNATURE_BYTES,
        findings,
    )?;
    let signatures = LockSignatures::parse(&bytes).and_then(|signatures| {
        signatures.verify(lock, ring, min_signers)?;
        Ok(signatures)
    });
    signatures
        .map_err(|error| {
            let message = format!("{LOCK_SIGNATURE}: {error}");
            findings.report(Finding::new(row, message).at(LOCK_SIGNATURE));
        })
        .ok()
}

/// Parses the lock. Faults of its form are reported and stop nothing.
pub(super) fn check_document(bytes: &[u8], findings: &mut Findings) -> Option<Lock> {
    findings.evaluate(Row::TV_05, None);
    let lock = match Lock::parse(bytes) {
        Ok(lock) => lock,
        Err(error) => {
            findings.report(Finding::new(Row::TV_05, format!("{LOCK}: {error}")).at(LOCK));
            return None;
        }
    };
    findings.evaluate(Row::TV_06, None);
    for fault in lock.check_form(bytes) {
        let finding = Finding::new(Row::TV_06, format!("{LOCK}: {fault}"));
        findings.report(finding.of(fault.skill.as_deref()).at(LOCK));
    }
    Some(lock)
}

/// Checks that the pins were made for the world of this host.
pub(super) fn check_world(lock: &Lock, world: &str, findings: &mut Findings) {
    let row = Row::TV_08;
    findings.evaluate(row, None);
    let pin = &lock.substrate_pin;
    if pin.repo != SUBSTRATE || pin.commit != world {
        let message = format!("{LOCK}: substrate_pin is not that of this host");
        let expected = format!("{SUBSTRATE} {world}");
        let actual = format!("{} {}", pin.repo, pin.commit);
        findings.report(
            Finding::new(row, message)
                .at(LOCK)
                .because(expected, actual),
        );
    }
}
