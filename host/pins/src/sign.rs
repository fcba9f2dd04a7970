//! Signing the lock: `hydrant lock --sign`, and the signatures that `lock --update` adds.
//!
//! Key files are read from a directory outside the root. A key whose public half is not the ring's key of that signer
//! signs nothing: its signature could never verify, and its use is a mistake or worse. No key byte leaves `SecretKey`.

use std::path::Path;

use super::Anchor;
use super::finding::{Finding, Findings, Row};
use super::folder::Reason;
use super::opened_root::OpenedRoot;
use super::report::{Command, Report};
use super::root::{LOCK_SIGNATURE, RING, Root};
use super::update::{UpdateError, write_signatures};
use hydrant_base::Digest;
use hydrant_trust::limits::MAX_LOCK_SIGNATURE_BYTES;
use hydrant_trust::{
    KeyError, KeyRing, LockSignatures, SecretKey, refuse_inside, signing_key_path,
};

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
    let mut opened = match OpenedRoot::open(directory, anchor, Command::LockSign, &[])? {
        Ok(opened) => opened,
        Err(refused) => return Ok(refused),
    };
    let present = opened.present_lock();
    let OpenedRoot {
        root,
        ring,
        findings,
        ..
    } = &mut opened;
    let mut summary = Vec::new();
    // A lock that `verify` could not read is not signed.
    if let (Some(present), true) = (&present, findings.is_empty()) {
        findings.evaluate(Row::TW_08_SIGN, None);
        let digest = &present.digest;
        let mut signatures = present_signatures(root, findings);
        signatures.retain_valid(digest, ring);
        add_signatures(
            &mut signatures,
            [signer],
            signing_keys,
            ring,
            digest,
            Row::TW_08_SIGN,
            findings,
        )?;
        if findings.is_empty() {
            write_signatures(directory, &signatures)?;
            let signed = signatures.entries().len();
            summary.push(format!(
                "OK lock-sign signer={signer} digest={digest} signatures={signed}"
            ));
        }
    }
    let mut report = opened.report(present.map(|present| present.digest));
    report.summary = summary;
    Ok(report)
}

/// The signatures there are; a file in another form has none. One that cannot be read may have some: that is a finding, so
/// that it is not replaced.
fn present_signatures(root: &Root, findings: &mut Findings) -> LockSignatures {
    match root.read(LOCK_SIGNATURE, MAX_LOCK_SIGNATURE_BYTES) {
        Ok(bytes) => LockSignatures::parse(&bytes).unwrap_or_default(),
        Err(fault) => {
            if fault.reason != Reason::Missing {
                findings.report(Finding::new(Row::TW_08_SIGN, &fault).at(&fault.path));
            }
            LockSignatures::default()
        }
    }
}

/// Signs the lock with the keys of these signers, only where a key is the one that the ring has for its signer: anything else
/// is a finding under `row`.
///
/// # Errors
/// A key file that cannot be used.
pub(super) fn add_signatures<'a>(
    signatures: &mut LockSignatures,
    signers: impl IntoIterator<Item = &'a str>,
    directory: &Path,
    ring: &KeyRing,
    lock: &Digest,
    row: Row,
    findings: &mut Findings,
) -> Result<(), KeyError> {
    for signer in signers {
        let problem = match ring.get(signer) {
            None => format!("{signer} is not in the ring"),
            Some(public) => {
                let key = SecretKey::read(&signing_key_path(directory, signer)?)?;
                if *public == key.public() {
                    signatures.sign(signer, &key, lock);
                    continue;
                }
                format!("the signing key of {signer} is not the key that the ring has for it")
            }
        };
        findings.report(Finding::new(row, problem).at(RING));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
