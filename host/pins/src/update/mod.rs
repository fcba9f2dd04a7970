//! `hydrant lock --update` and `--check`: the lock that the bundles on disk give.
//!
//! An update first decides everything and then writes. As long as anything is wrong (the present lock is not signed, a
//! bundle fails a check, a capability is wider, a signer is another one, a key is not the ring's) nothing at all is
//! written. Where nothing changes, nothing is written either: running it twice is running it once.

mod rebuild;
#[cfg(test)]
mod tests;
mod write;

pub(super) use write::write_signatures;

use std::path::Path;
use std::time::{Duration, SystemTime};

use super::baseline;
use super::component_checks::Starts;
use super::finding::{Finding, Findings, Row};
use super::lock_checks::{check_document, check_signatures, read_lock};
use super::opened_root::{OpenedRoot, PresentLock};
use super::report::{Command, Report};
use super::root::{LOCK, Root, RootError};
use super::sign::add_signatures;
use super::widening::{
    Declared, Gate, SignerChange, change_lines, differences, key_changes, signer_changes,
    signer_findings, widening_findings,
};
use super::{Anchor, ComponentProbe, Progress};
use hydrant_base::{Digest, FileError};
use hydrant_trust::{
    KeyError, KeyRing, Lock, LockEntry, LockSignatures, refuse_inside, signing_key_path,
};
use rebuild::Rebuilt;

/// Advice for a ring that is not the one of the anchor. It does not print the digest: who changed the ring can compute it, and
/// nobody else should be led past this protection.
const NEW_RING: &str =
    "a ring of your own is named with --keys-digest (`hydrant keys digest pins/public-keys.json`);";
/// What to do where the present lock was signed with another ring.
const OLD_RING: &str = "after a change of the key ring, --old-keys FILE and --old-keys-digest DIGEST name the ring that signed the present lock";
/// What to do where a bundle is not what its signers signed.
const CHANGED_BUNDLE: &str = "a bundle that was changed on purpose is made anew with `hydrant pack`, signed with `hydrant sign`, then pinned with `hydrant lock --update`; any other is restored";

/// What there is before an update.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Present {
    /// A lock, which is verified first.
    Locked,
    /// No lock yet: `--init`.
    Nothing,
}

/// Whether a gate was opened on the command line; one never opens the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// It is refused.
    Refused,
    /// Its flag was given.
    Allowed,
}

/// What an update is asked to do.
pub struct Update<'a> {
    /// What the present ring must be, how many must sign, and the world to pin.
    pub anchor: &'a Anchor,
    /// Starts components.
    pub probe: &'a dyn ComponentProbe,
    /// Who is told how far it is.
    pub progress: Option<&'a dyn Progress>,
    /// Whether there is a lock.
    pub present: Present,
    /// `--old-keys`, already held against `--old-keys-digest`: the ring that signed the present lock.
    pub old_ring: Option<&'a KeyRing>,
    /// `--allow-widen`.
    pub widening: Change,
    /// `--allow-signer-change`.
    pub signer_change: Change,
    /// `HYDRANT_SIGNING_KEYS`.
    pub signing_keys: Option<&'a Path>,
    /// The time that a changed lock says.
    pub now: SystemTime,
}

/// Why a lock command could not do its work; its exit status is 1.
#[derive(Debug, thiserror::Error)]
pub enum UpdateError {
    /// The root.
    #[error(transparent)]
    Root(#[from] RootError),
    /// Nothing to start from.
    #[error("{LOCK} does not exist; the first lock of a root is made with --init")]
    NoLock,
    /// `--init` would pass over what is pinned.
    #[error("{LOCK} exists; --init is only for a root without a lock")]
    LockExists,
    /// A directory or file of signing keys.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// A file that could not be written.
    #[error(transparent)]
    File(#[from] FileError),
    /// `SOURCE_DATE_EPOCH` is no time.
    #[error("SOURCE_DATE_EPOCH must be seconds since 1970 before the year 10000, not {:?}", .0.escape_default().to_string())]
    Epoch(String),
}

/// The last second that `generated_at` can write, with its four digits for the year.
const LAST_SECOND: u64 = 253_402_300_799;

/// What the clock says, or `SOURCE_DATE_EPOCH`.
///
/// # Errors
/// [`UpdateError::Epoch`] when the variable is no such number.
pub fn now(source_date_epoch: Option<&str>) -> Result<SystemTime, UpdateError> {
    let Some(text) = source_date_epoch else {
        return Ok(SystemTime::now());
    };
    text.parse()
        .ok()
        .filter(|seconds| *seconds <= LAST_SECOND)
        .and_then(|seconds| SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(seconds)))
        .ok_or_else(|| UpdateError::Epoch(text.to_owned()))
}

/// The lock as it was, and what its manifests declared.
#[derive(Default)]
struct Before {
    /// The digest of the file and what it says; none with `--init`.
    lock: Option<(Digest, Lock)>,
    signatures: LockSignatures,
    declared: Vec<Declared>,
}

impl Before {
    fn lock_digest(&self) -> Option<Digest> {
        self.lock.as_ref().map(|(digest, _)| digest.clone())
    }
}

/// `lock --update`: pins every bundle on disk, or says why not and writes nothing.
///
/// # Errors
/// [`UpdateError`]; what is wrong with the root is no error but a finding of the report.
pub fn update(directory: &Path, update: &Update<'_>) -> Result<Report, UpdateError> {
    if let Some(keys) = update.signing_keys {
        refuse_inside(directory, keys)?;
    }
    let exists = directory.join(LOCK).symlink_metadata().is_ok();
    match (update.present, exists) {
        (Present::Locked, false) => return Err(UpdateError::NoLock),
        (Present::Nothing, true) => return Err(UpdateError::LockExists),
        _ => {}
    }
    let mut opened = match OpenedRoot::open(
        directory,
        update.anchor,
        Command::LockUpdate,
        update.probe.carried(),
    )? {
        Ok(opened) => opened,
        Err(mut refused) => {
            let is_other = refused.keys_digest.as_ref() != Some(&update.anchor.keys_digest);
            if is_other && refused.keys_digest.is_some() && update.old_ring.is_none() {
                refused.notes.push(format!("{NEW_RING} {OLD_RING}"));
            }
            return Ok(refused);
        }
    };
    let OpenedRoot {
        root,
        ring,
        findings,
        ..
    } = &mut opened;
    let before = match update.present {
        Present::Nothing => Some(Before::default()),
        Present::Locked => {
            let old_ring = update.old_ring.unwrap_or(ring);
            let minimum = update.anchor.min_signers.count();
            verified(directory, root, old_ring, minimum, findings)
        }
    };
    let Some(before) = before else {
        let mut report = opened.report(None);
        let advice = "the present lock does not verify: sign it with `lock --sign`, or restore it";
        report.notes.push(advice.to_owned());
        if update.old_ring.is_none() {
            report.notes.push(OLD_RING.to_owned());
        }
        return Ok(report);
    };
    let old_lock = before.lock.as_ref().map(|(_, lock)| lock);
    let starts = Starts::new(update.probe, update.progress);
    let rebuilt = rebuild::rebuild(root, ring, update.anchor, starts, findings);
    if !findings.is_empty() {
        // What cannot be pinned would look as if it were to be unpinned.
        let mut report = opened.report(before.lock_digest());
        report.entries = rebuilt.entries;
        return Ok(report);
    }
    let rebuilt = rebuilt.dated(old_lock, update.now);
    let differences = differences(&before.declared, &rebuilt.declared);
    findings.evaluate(Gate::Update.widening_row(), None);
    findings.evaluate(Gate::Update.signer_row(), None);
    if update.widening == Change::Refused {
        findings.report_all(widening_findings(&differences, Gate::Update));
    }
    let changes = all_signer_changes(&before, &rebuilt, update.old_ring, ring);
    if update.signer_change == Change::Refused {
        findings.report_all(signer_findings(&changes, Gate::Update));
    }
    let copies = write::ring_copies(root, ring, &rebuilt.lock, findings);
    let bytes = rebuilt.lock.to_bytes();
    rebuild::check_form(&rebuilt.lock, &bytes, findings);
    let digest = Digest::of(&bytes);
    let mut signatures = before.signatures.clone();
    // An unchanged lock keeps the signatures it has; they are gone from a changed one.
    signatures.retain_valid(&digest, ring);
    if let (Some(keys), true) = (update.signing_keys, findings.is_empty()) {
        findings.evaluate(Row::TW_07, None);
        let signers = signers_with_keys(keys, ring)?;
        add_signatures(
            &mut signatures,
            signers,
            keys,
            ring,
            &digest,
            Row::TW_07,
            findings,
        )?;
    }
    let written = findings.is_empty();
    if written {
        write::write(directory, ring, &copies, &bytes, &signatures)?;
    }
    let mut notes = change_lines(&differences);
    notes.extend(signer_lines(&changes));
    notes.extend(added_keys(update.old_ring, ring));
    // The digest of the lock that is on disk now.
    let on_disk = if written {
        Some(digest.clone())
    } else {
        before.lock_digest()
    };
    let mut report = opened.report(on_disk);
    report.entries = rebuilt.entries;
    report.notes = notes;
    let count = rebuilt.lock.skills.len();
    let signed = signatures.entries().len();
    report.summary.push(format!(
        "OK lock count={count} digest={digest} signatures={signed}"
    ));
    if signed == 0 {
        report.summary.push(format!("UNSIGNED lock={digest}"));
    }
    Ok(report)
}

/// The signers of the ring whose key files exist.
fn signers_with_keys<'a>(keys: &Path, ring: &'a KeyRing) -> Result<Vec<&'a str>, KeyError> {
    let mut signers = Vec::new();
    for signer in ring.names() {
        let file = signing_key_path(keys, signer)?;
        if file.symlink_metadata().is_ok() {
            signers.push(signer);
        }
    }
    Ok(signers)
}

/// `lock --check`: whether the lock on disk is the one the bundles give. Writes nothing.
///
/// Signatures over the lock are not asked: that is the work of `verify`.
///
/// # Errors
/// [`UpdateError`]; what is wrong with the root is no error but a finding of the report.
pub fn check(
    directory: &Path,
    anchor: &Anchor,
    probe: &dyn ComponentProbe,
    progress: Option<&dyn Progress>,
) -> Result<Report, UpdateError> {
    let mut opened = match OpenedRoot::open(directory, anchor, Command::LockCheck, probe.carried())?
    {
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
    let mut notes = Vec::new();
    let mut entries = Vec::new();
    if let Some(PresentLock {
        bytes,
        digest,
        lock: Some(lock),
    }) = &present
    {
        let sound = findings.is_empty();
        let starts = Starts::new(probe, progress);
        let mut rebuilt = rebuild::rebuild(root, ring, anchor, starts, findings);
        entries = rebuilt.entries;
        // The time is that of the last change, which no tree tells. No clock is asked: the same tree gives the same report.
        rebuilt.lock.generated_at.clone_from(&lock.generated_at);
        // A lock without a bundle that failed says nothing.
        if sound && findings.is_empty() {
            findings.evaluate(Row::TW_08, None);
            let expected = rebuilt.lock.to_bytes();
            if expected != **bytes {
                let what = what_differs(lock, &rebuilt.lock);
                findings.report(not_the_lock(&expected, bytes, digest, &what));
                notes = change_lines(&differences(&undeclared(lock), &undeclared(&rebuilt.lock)));
            }
        } else if findings.found().iter().any(|found| found.skill.is_some()) {
            notes.push(CHANGED_BUNDLE.to_owned());
        }
    }
    let mut report = opened.report(present.map(|present| present.digest));
    report.entries = entries;
    report.notes = notes;
    if let Some(digest) = &report.lock_digest {
        let line = format!("OK lock-check digest={digest}");
        report.summary.push(line);
    }
    Ok(report)
}

/// The finding of `lock --check`.
fn not_the_lock(expected: &[u8], present: &[u8], digest: &Digest, what: &str) -> Finding {
    let line = first_other_line(expected, present);
    let message = format!(
        "the lock is not what the bundles on disk give, first at line {line} ({what}); `hydrant lock --update` pins what is there"
    );
    let finding = Finding::new(Row::TW_08, message).at(LOCK);
    finding.because(Digest::of(expected), digest)
}

/// Entries that a message names, at most.
const MOST_NAMED: usize = 5;

/// The entries that are not what they were, each with its members that differ.
fn what_differs(old: &Lock, new: &Lock) -> String {
    let mut all = Vec::new();
    for entry in &new.skills {
        match old.get(&entry.id, &entry.version) {
            None => all.push(format!("{} is not pinned", entry.skill())),
            Some(before) if before == entry => {}
            Some(before) => all.push(format!(
                "{}: {}",
                entry.skill(),
                other_members(before, entry).join(", ")
            )),
        }
    }
    let gone = old.skills.iter();
    let gone = gone.filter(|entry| new.get(&entry.id, &entry.version).is_none());
    all.extend(gone.map(|entry| format!("{} has no bundle", entry.skill())));
    if all.is_empty() {
        let is_pin = old.substrate_pin != new.substrate_pin;
        return if is_pin { "substrate_pin" } else { "its form" }.to_owned();
    }
    let more = all.len().saturating_sub(MOST_NAMED);
    all.truncate(MOST_NAMED);
    if more > 0 {
        all.push(format!("{more} more"));
    }
    all.join("; ")
}

/// The names of the members that two entries do not have in common.
fn other_members(one: &LockEntry, other: &LockEntry) -> Vec<&'static str> {
    let members = [
        ("bundle_dir", one.bundle_dir == other.bundle_dir),
        ("artifact", one.artifact == other.artifact),
        ("manifest_hash", one.manifest_hash == other.manifest_hash),
        ("keys_file", one.keys_file == other.keys_file),
        ("keys_digest", one.keys_digest == other.keys_digest),
        ("signers", one.signers == other.signers),
        ("skill_md", one.skill_md == other.skill_md),
    ];
    let differing = members.into_iter().filter(|(_, is_same)| !is_same);
    differing.map(|(name, _)| name).collect()
}

/// The entries alone: their capabilities are the matter of an update.
fn undeclared(lock: &Lock) -> Vec<Declared> {
    let entries = lock.skills.iter();
    let undeclared = entries.map(|entry| Declared {
        pin: entry.clone(),
        capabilities: None,
    });
    undeclared.collect()
}

/// The present lock, only if it verifies.
fn verified(
    directory: &Path,
    root: &Root,
    ring: &KeyRing,
    minimum: usize,
    findings: &mut Findings,
) -> Option<Before> {
    let bytes = read_lock(root, findings)?;
    let digest = Digest::of(&bytes);
    let signatures = check_signatures(root, &digest, ring, minimum, findings)?;
    let lock = check_document(&bytes, findings)?;
    findings.is_empty().then(|| Before {
        declared: baseline::declared(directory, &lock),
        lock: Some((digest, lock)),
        signatures,
    })
}

/// Of the entries, and after a change of the ring also of the keys that signed the old lock.
fn all_signer_changes(
    before: &Before,
    rebuilt: &Rebuilt,
    old_ring: Option<&KeyRing>,
    ring: &KeyRing,
) -> Vec<SignerChange> {
    let mut changes = signer_changes(&before.declared, &rebuilt.declared);
    if let Some(old_ring) = old_ring {
        let pinned = before.declared.iter().flat_map(|entry| &entry.pin.signers);
        let of_lock = before.signatures.entries().iter();
        let of_lock = of_lock.map(|entry| &entry.signer);
        let signers = pinned.chain(of_lock).map(String::as_str);
        changes.extend(key_changes(signers, old_ring, ring));
    }
    changes
}

fn signer_lines(changes: &[SignerChange]) -> Vec<String> {
    let line = |change: &SignerChange| match change {
        SignerChange::Signers {
            skill,
            before,
            after,
        } => format!(
            "  {skill} signers {} -> {}",
            before.join(","),
            after.join(",")
        ),
        SignerChange::Key { signer, after, .. } => match after {
            Some(key) => format!("rekeyed {signer} {key}"),
            None => format!("unkeyed {signer}"),
        },
    };
    changes.iter().map(line).collect()
}

/// A name that is new in the ring changes nobody's signature, so no gate holds it back; it is shown all the same.
fn added_keys(old: Option<&KeyRing>, new: &KeyRing) -> Vec<String> {
    let Some(old) = old else {
        return Vec::new();
    };
    let added = new.names().filter(|name| old.get(name).is_none());
    added.map(|name| format!("keyed {name}")).collect()
}

/// Counted from 1.
fn first_other_line(one: &[u8], other: &[u8]) -> usize {
    let same = one.iter().zip(other).take_while(|(a, b)| a == b);
    same.filter(|(byte, _)| **byte == b'\n').count() + 1
}
