//! Signing the lock: `hydrant lock --sign`, and the signatures that `lock --update` adds (TW-07, TW-08).
//!
//! Key files are read from a directory outside the root. A key whose public half is not the ring's key of that signer
//! signs nothing: its signature could never verify, and its use is a mistake or worse. No key byte leaves `SecretKey`.

use std::path::Path;

use super::Anchor;
use super::finding::{Class, Finding, Findings, Row};
use super::lock_checks::{check_document, read_lock, read_ring};
use super::report::{Command, Report};
use super::root::{LOCK_SIGNATURE, RING, Root};
use super::update::{UpdateError, refuse_keys_inside, verified_ring, write_signatures};
use crate::trust::limits::MAX_LOCK_SIGNATURE_BYTES;
use crate::trust::{Digest, KeyError, KeyRing, LockSignatures, SecretKey, signing_key_path};

/// A key that is not the ring's, during an update.
const TW_07: Row = Row::new("TW-07", Class::Trust);
/// A key that is not the ring's, when asked to sign.
const TW_08: Row = Row::new("TW-08", Class::Trust);

/// `lock --sign`: adds or replaces the signature of one signer over the lock as it is (TW-08). The lock stays as it is.
///
/// # Errors
/// [`UpdateError`]; what is wrong with the root or the key is no error but a finding of the report.
pub fn sign(
    directory: &Path,
    anchor: &Anchor,
    signer: &str,
    signing_keys: &Path,
) -> Result<Report, UpdateError> {
    refuse_keys_inside(directory, Some(signing_keys))?;
    let root = Root::open(directory)?;
    let mut findings = Findings::default();
    let keys = read_ring(&root, &mut findings);
    let keys_digest = keys.as_ref().map(|bytes| Digest::of(bytes));
    let ring = keys.and_then(|bytes| verified_ring(&bytes, anchor, &mut findings));
    let Some(ring) = ring else {
        let mut report = Report::new(Command::LockSign, findings);
        report.keys_digest = keys_digest;
        return Ok(report);
    };
    let lock = read_lock(&root, &mut findings);
    // What `verify` could not read is not signed.
    let document = lock
        .as_ref()
        .and_then(|bytes| check_document(bytes, &mut findings));
    let digest = lock.as_ref().map(|bytes| Digest::of(bytes));
    let mut signed = None;
    if let (Some(digest), Some(_), true) = (&digest, &document, findings.is_empty()) {
        let mut signatures = root
            .read(LOCK_SIGNATURE, MAX_LOCK_SIGNATURE_BYTES)
            .ok()
            .and_then(|bytes| LockSignatures::parse(&bytes).ok())
            .unwrap_or_default();
        signatures.retain_valid(digest, &ring);
        findings.evaluate(TW_08, None);
        match ring_key(signer, signing_keys, &ring, TW_08)? {
            Err(finding) => findings.report(finding),
            Ok(key) => {
                signatures.sign(signer, &key, digest);
                write_signatures(directory, &signatures)?;
                signed = Some(signatures.entries().len());
            }
        }
    }
    let mut report = Report::new(Command::LockSign, findings);
    report.keys_digest = keys_digest;
    if let (Some(digest), Some(signed)) = (&digest, signed) {
        report.summary.push(format!(
            "OK lock-sign signer={signer} digest={digest} signatures={signed}"
        ));
    }
    report.lock_digest = digest;
    Ok(report)
}

/// TW-07: signs with every signer of the ring whose key file exists.
///
/// # Errors
/// A key file that is there and cannot be used.
pub(super) fn signed_by_all(
    signatures: &mut LockSignatures,
    directory: &Path,
    ring: &KeyRing,
    lock: &Digest,
    findings: &mut Findings,
) -> Result<(), KeyError> {
    findings.evaluate(TW_07, None);
    for signer in ring.names() {
        if signing_key_path(directory, signer)?
            .symlink_metadata()
            .is_err()
        {
            continue;
        }
        match ring_key(signer, directory, ring, TW_07)? {
            Err(finding) => findings.report(finding),
            Ok(key) => signatures.sign(signer, &key, lock),
        }
    }
    Ok(())
}

/// TW-08: the secret key of a signer, only if its public half is what the ring has for it.
fn ring_key(
    signer: &str,
    directory: &Path,
    ring: &KeyRing,
    row: Row,
) -> Result<Result<SecretKey, Finding>, KeyError> {
    let refused = |message: String| Ok(Err(Finding::new(row, message).at(RING)));
    let Some(public) = ring.get(signer) else {
        return refused(format!("{signer} is not in the ring"));
    };
    let key = SecretKey::read(&signing_key_path(directory, signer)?)?;
    if *public == key.public() {
        Ok(Ok(key))
    } else {
        refused(format!(
            "the signing key of {signer} is not the key that the ring has for it"
        ))
    }
}

#[cfg(test)]
mod tests;
