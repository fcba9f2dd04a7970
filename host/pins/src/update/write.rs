//! The only place where `lock --update` writes, once everything was decided.

use std::path::Path;

use super::UpdateError;
use crate::finding::{Finding, Findings, Row};
use crate::folder::Reason;
use crate::root::{LOCK, LOCK_SIGNATURE, Root};
use hydrant_base::{FileError, read_bounded, write_replacing};
use hydrant_trust::limits::MAX_JSON_BYTES;
use hydrant_trust::{KeyRing, Lock, LockSignatures};

/// The mode of files in a bundle: they are for the owner alone.
const BUNDLE_FILE: u32 = 0o600;
/// The mode of lock and signature: everybody may verify.
const PIN_FILE: u32 = 0o644;

/// The ring copies that are missing or other than the ring, relative to the root.
pub(super) fn ring_copies(
    root: &Root,
    ring: &KeyRing,
    lock: &Lock,
    findings: &mut Findings,
) -> Vec<String> {
    let mut copies = Vec::new();
    for entry in &lock.skills {
        let path = format!("{}/{}", entry.bundle_dir, entry.keys_file);
        match root.read(&path, MAX_JSON_BYTES) {
            Ok(bytes) if *bytes == *ring.bytes() => {}
            Ok(_) => copies.push(path),
            Err(fault) if matches!(fault.reason, Reason::Missing | Reason::TooLarge { .. }) => {
                copies.push(path);
            }
            // A link or a directory is not replaced.
            Err(fault) => {
                let finding = Finding::new(Row::TV_11, &fault).of(Some(&entry.skill()));
                findings.report(finding.at(&path));
            }
        }
    }
    copies
}

/// The ring copies, the lock, then its signatures: a crash in between leaves a lock that does not verify,
/// never one that does and is not meant.
pub(super) fn write(
    directory: &Path,
    ring: &KeyRing,
    copies: &[String],
    lock: &[u8],
    signatures: &LockSignatures,
) -> Result<(), UpdateError> {
    for path in copies {
        write_replacing(&directory.join(path), ring.bytes(), BUNDLE_FILE)?;
    }
    write_changed(&directory.join(LOCK), lock)?;
    write_signatures(directory, signatures)?;
    Ok(())
}

/// Writes the signatures of the lock; without any there is no file.
pub(crate) fn write_signatures(
    directory: &Path,
    signatures: &LockSignatures,
) -> Result<(), FileError> {
    let path = directory.join(LOCK_SIGNATURE);
    if !signatures.entries().is_empty() {
        return write_changed(&path, &signatures.to_bytes());
    }
    match std::fs::remove_file(&path) {
        Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
            Err(FileError::Io { path, source })
        }
        _ => Ok(()),
    }
}

/// A file that already says so is left alone, with its times.
fn write_changed(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    if read_bounded(path, MAX_JSON_BYTES).is_ok_and(|present| present == bytes) {
        return Ok(());
    }
    write_replacing(path, bytes, PIN_FILE)
}
