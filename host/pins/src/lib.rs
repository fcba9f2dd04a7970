//! Pins: whether every byte below a root is what its signers pinned (`hydrant verify`).
//!
//! A root is verified against what the caller brings: the digest of the ring, the world of this host, the number of
//! signers. Nothing in the root says how the root is verified. Relies on `trust` for formats and signatures, on
//! `policy` for the forms of capabilities, and on a [`ComponentProbe`] for the two rules that run a component.
//!
//! A verification reads each file below the root once and writes nothing. It may also read a rebuilt root and a [`Baseline`], for
//! which it may start git. [`update`] and [`sign`](mod@sign) write, once
//! everything is decided: the copies of the ring, the lock and its signatures.

mod anchor;
mod baseline;
mod bundle_checks;
mod bundle_files;
mod component_checks;
mod description;
mod finding;
mod folder;
mod lock_checks;
mod opened_root;
mod pinned;
mod rebuilt;
pub mod report;
mod root;
pub mod sign;
mod stamp;
mod tree;
pub mod update;
mod widening;
mod world;

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, available_parallelism};

pub use anchor::{Anchor, KeysDigestError, MinSigners, MinSignersError};
pub use baseline::{Baseline, BaselineError};
use bundle_checks::{Checked, Subject, check_bundle};
pub use component_checks::check_component;
use component_checks::{MAX_WAITING, Starts};
pub use finding::{Class, Finding, Findings, Row};
use lock_checks::{PinDigests, believe, check_world};
pub use pinned::{PinError, PinnedBundle, PinnedLock, open_lock, verify_entry};
pub use root::RING;
#[cfg(test)]
use root::{LOCK, LOCK_SIGNATURE};
pub use root::{PINS, Root, RootError, SKILLS};
pub use stamp::{Stamp, stamp};
pub use world::world_id;

use hydrant_base::Digest;
use hydrant_policy::Policy;
use hydrant_trust::{Carried, KeyRing, Lock, LockEntry, Manifest, Wasm, WasmForm};

/// Instantiates components without any grant and asks them to describe themselves.
pub trait ComponentProbe {
    /// Returns what `describe` returned, within the budgets of a description.
    ///
    /// # Errors
    /// [`ProbeError`] says which of the two failed.
    fn instantiate_and_describe(&self, component: &Wasm) -> Result<String, ProbeError>;

    /// The components whose description is known without that, since the program was built with them.
    fn carried(&self) -> &'static [Carried] {
        &[]
    }
}

/// Why a component did not describe itself.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProbeError {
    /// Its imports cannot be linked, or its start fails (`TV-27`).
    #[error("does not instantiate: {0}")]
    DoesNotInstantiate(String),
    /// A trap, a limit, a host call.
    #[error("no description: {0}")]
    NoDescription(String),
}

/// Receives the progress of a verification, each time with `id@version` as the lock or the name of the folder has it.
pub trait Progress {
    /// The component of this skill is started next, which lasts seconds where it has to be compiled.
    fn starts(&self, skill: &str);

    /// All checks of this skill are done. Skills come in the order of the report's entries.
    fn done(&self, skill: &str);
}

/// The checks besides those that are always made, and who receives the progress.
#[derive(Default, Clone, Copy)]
pub struct Options<'a> {
    /// The policy that must trust the signers and allow every capability (`TV-30`, `TV-31`).
    pub policy: Option<&'a Policy>,
    /// The older pins that these must not widen (`TV-32`, `TV-33`).
    pub baseline: Option<&'a Baseline>,
    /// A rebuilt root, whose artifacts must be the pinned ones (`TV-34`).
    pub rebuilt: Option<&'a Root>,
    /// Receives the progress.
    pub progress: Option<&'a dyn Progress>,
}

/// The result of a verification.
#[derive(Debug, Clone)]
pub struct Verification {
    /// The findings, sorted, and the rules that were evaluated.
    pub findings: Findings,
    /// Of the lock file, if it could be read.
    pub lock_digest: Option<Digest>,
    /// Of the ring file, if it could be read.
    pub keys_digest: Option<Digest>,
    /// `id@version` of every entry, in the order of the lock; empty if the lock is not to be believed.
    pub entries: Vec<String>,
    /// How many signers were asked for.
    pub min_signers: MinSigners,
}

/// Verifies all of a root. All checks of files come before the first component starts.
#[must_use]
pub fn verify(
    root: &Root,
    anchor: &Anchor,
    options: &Options<'_>,
    probe: &dyn ComponentProbe,
) -> Verification {
    let mut verification = Verification {
        findings: Findings::default(),
        lock_digest: None,
        keys_digest: None,
        entries: Vec::new(),
        min_signers: anchor.min_signers,
    };
    // `TV-01` to `TV-05` stop: nothing in such a lock may be believed.
    let mut digests = PinDigests::default();
    let believed = believe(root, anchor, &mut digests, &mut verification.findings);
    verification.lock_digest = digests.lock;
    verification.keys_digest = digests.keys;
    if let Some((lock, ring, _)) = believed {
        verification.entries = lock.skills.iter().map(escaped_skill).collect();
        let findings = &mut verification.findings;
        check_world(&lock, &anchor.world, findings);
        let mut starts = Starts::new(probe, options.progress);
        verify_entries(root, anchor, (&lock, &ring), options, &mut starts, findings);
        tree::check(root, &lock, findings);
        tree::check_texts(root, &lock, findings);
        if let Some(rebuilt) = options.rebuilt {
            rebuilt::check(rebuilt, &lock, findings);
        }
        starts.finish(findings);
    }
    verification.findings.sort();
    verification
}

fn escaped_skill(entry: &LockEntry) -> String {
    hydrant_base::escaped(&entry.skill())
}

/// Makes all checks of files for every entry, the policy's and the baseline's included; the components go to `starts`.
fn verify_entries(
    root: &Root,
    anchor: &Anchor,
    (lock, ring): (&Lock, &KeyRing),
    options: &Options<'_>,
    starts: &mut Starts<'_>,
    findings: &mut Findings,
) {
    let mut capabilities = BTreeMap::new();
    let minimum = anchor.min_signers.count();
    let mut entries = lock.skills.iter();
    while entries.len() > 0 {
        let batch = check_batch(root, ring, minimum, entries.as_slice());
        for ((mut checked, found), entry) in batch.into_iter().zip(&mut entries) {
            findings.extend(found);
            starts.push(Subject::pinned(entry), &mut checked, findings);
            let Some(manifest) = checked.manifest else {
                continue;
            };
            if let Some(policy) = options.policy {
                let signed = checked.signers.as_deref();
                check_policy(policy, entry, &manifest, signed, findings);
            }
            capabilities.insert(entry.skill(), manifest.capabilities);
        }
    }
    if let Some(baseline) = options.baseline {
        findings.evaluate(Row::TV_33, None);
        for skill in lock.skills.iter().map(LockEntry::skill) {
            findings.evaluate(Row::TV_33, Some(&skill));
            if capabilities.contains_key(&skill) {
                findings.evaluate(Row::TV_32, Some(&skill));
            }
        }
        let of = |entry: &LockEntry| capabilities.get(&entry.skill()).cloned();
        findings.report_all(baseline.check(lock, ring, &of));
    }
}

/// Checks the bundles of the first of `entries`, on all processors: most of the time goes into reading and hashing them.
/// A batch ends with the last entry, or when it holds [`MAX_WAITING`] bytes of components; it has at least one entry.
fn check_batch(
    root: &Root,
    ring: &KeyRing,
    min_signers: usize,
    entries: &[LockEntry],
) -> Vec<(Checked, Findings)> {
    let (next, bytes) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let check_some = || {
        let mut done = Vec::new();
        while bytes.load(Ordering::Relaxed) <= MAX_WAITING {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(entry) = entries.get(index) else {
                break;
            };
            let mut findings = Findings::default();
            let subject = Subject::pinned(entry);
            let checked = check_bundle(root, ring, min_signers, subject, &mut findings);
            bytes.fetch_add(checked.wasm_bytes(), Ordering::Relaxed);
            done.push((index, (checked, findings)));
        }
        done
    };
    let threads = available_parallelism()
        .map_or(1, NonZeroUsize::get)
        .min(entries.len());
    let mut done = thread::scope(|scope| {
        // If no further thread can be started, the calling one checks all of them.
        let helpers: Vec<_> = (1..threads)
            .filter_map(|_| thread::Builder::new().spawn_scoped(scope, check_some).ok())
            .collect();
        let mut done = check_some();
        for helper in helpers {
            done.extend(helper.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        done
    });
    done.sort_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, checked)| checked).collect()
}

/// Checks an entry against the policy: its signers (`TV-30`) and its capabilities (`TV-31`).
fn check_policy(
    policy: &Policy,
    entry: &LockEntry,
    manifest: &Manifest,
    signed: Option<&[String]>,
    findings: &mut Findings,
) {
    let skill = entry.skill();
    let file = format!("{}/manifest.json", entry.bundle_dir);
    let mut report = |row, message: String| {
        let finding = Finding::new(row, message).of(Some(&skill)).at(&file);
        findings.report(finding);
    };
    // If the signatures are unreadable, `TV-11` or `TV-12` has reported that.
    let trusted = signed.map(|signed| policy.check_signers(&manifest.signers, signed));
    if let Some(Err(error)) = &trusted {
        report(Row::TV_30, error.to_string());
    }
    // `TV-23` refuses everything but components.
    for denied in policy.denied_by_ceiling(&manifest.capabilities, WasmForm::Component) {
        report(Row::TV_31, format!("capability denied: {denied}"));
    }
    if trusted.is_some() {
        findings.evaluate(Row::TV_30, Some(&skill));
    }
    findings.evaluate(Row::TV_31, Some(&skill));
}

#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
