//! Signing the lock: `hydrant lock --sign`, and the signatures that `lock --update` adds.
//!
//! Key files are read from a directory outside the root. A key whose public half is not the ring's key of that signer
//! signs nothing: its signature could never verify, and its use is a mistake or worse. No key byte leaves `SecretKey`.

use std::path::Path;

use super::Anchor;
use super::finding::{Class, Finding, Findings, Row};
use super::folder::Reason;
use super::lock_checks::{check_document, read_lock};
use super::opened::Opened;
use super::report::{Command, Report};
use super::root::{LOCK_SIGNATURE, RING, Root};
use super::update::{UpdateError, write_signatures};
use hydrant_base::Digest;
use hydrant_trust::limits::MAX_LOCK_SIGNATURE_BYTES;
use hydrant_trust::{
    KeyError, KeyRing, LockSignatures, SecretKey, refuse_inside, signing_key_path,
};

/// A key that is not the ring's, during an update.
const TW_07: Row = Row::new("TW-07", Class::Trust);
/// A key that is not the ring's, when asked to sign.
const TW_08: Row = Row::new("TW-08", Class::Trust);

/// `lock --sign`: adds or replaces the signature of one signer over the lock as it is. The lock stays as it is.
///
/// # Errors
/// [`UpdateError`]; what is wrong with the root or the key is no error but a finding of the report.
pub fn sign(
    directory: &Path,
    anchor: &Anchor,
    signer: &str,
    signing_keys: &Path,
) -> Result<Report, UpdateError> {
    refuse_inside(directory, signing_keys)?;
    let mut opened = match Opened::open(directory, anchor, Command::LockSign)? {
        Ok(opened) => opened,
        Err(refused) => return Ok(refused),
    };
    let Opened {
        root,
        ring,
        findings,
        ..
    } = &mut opened;
    let lock = read_lock(root, findings);
    // What `verify` could not read is not signed.
    let document = lock
        .as_ref()
        .and_then(|bytes| check_document(bytes, findings));
    let digest = lock.as_ref().map(|bytes| Digest::of(bytes));
    let mut signed = None;
    if let (Some(digest), Some(_), true) = (&digest, &document, findings.is_empty()) {
        findings.evaluate(TW_08, None);
        let signatures = present_signatures(root);
        match (signatures, ring_key(signer, signing_keys, ring, TW_08)?) {
            (Ok(mut signatures), Ok(key)) => {
                signatures.retain_valid(digest, ring);
                signatures.sign(signer, &key, digest);
                write_signatures(directory, &signatures)?;
                signed = Some(signatures.entries().len());
            }
            (signatures, key) => {
                let unreadable = signatures.err().map(|finding| *finding);
                for finding in [unreadable, key.err()].into_iter().flatten() {
                    findings.report(finding);
                }
            }
        }
    }
    let mut report = opened.report();
    if let (Some(digest), Some(signed)) = (&digest, signed) {
        report.summary.push(format!(
            "OK lock-sign signer={signer} digest={digest} signatures={signed}"
        ));
    }
    report.lock_digest = digest;
    Ok(report)
}

/// The signatures there are; a file in another form has none. One that cannot be read may have some, and is not
/// replaced.
fn present_signatures(root: &Root) -> Result<LockSignatures, Box<Finding>> {
    match root.read(LOCK_SIGNATURE, MAX_LOCK_SIGNATURE_BYTES) {
        Ok(bytes) => Ok(LockSignatures::parse(&bytes).unwrap_or_default()),
        Err(fault) if fault.reason == Reason::Missing => Ok(LockSignatures::default()),
        Err(fault) => Err(Box::new(Finding::new(TW_08, &fault).at(&fault.path))),
    }
}

/// Signs with every signer of the ring whose key file exists.
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

/// The secret key of a signer, only if its public half is what the ring has for it.
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
