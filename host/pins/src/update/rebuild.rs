//! The lock that the bundles on disk give, in memory.

use std::time::SystemTime;

use crate::Anchor;
use crate::bundle_checks::{Subject, check_bundle, owned_signers};
use crate::component_checks::Starts;
use crate::finding::{Finding, Findings, Row};
use crate::root::{LOCK, Root};
use crate::tree;
use crate::widening::Declared;
use hydrant_trust::file_names::KEYS;
use hydrant_trust::{KeyRing, Lock, LockEntry, SubstratePin};

/// The lock that the bundles on disk give. It is complete only if no finding was reported while it was made.
pub(super) struct Rebuilt {
    pub(super) lock: Lock,
    pub(super) declared: Vec<Declared>,
    /// `id@version` of every bundle that was looked at.
    pub(super) entries: Vec<String>,
}

/// Scans and verifies every bundle, and starts their components when that is done; what cannot be pinned is a finding,
/// never left out in silence.
pub(super) fn rebuild(
    root: &Root,
    ring: &KeyRing,
    anchor: &Anchor,
    mut starts: Starts<'_>,
    findings: &mut Findings,
) -> Rebuilt {
    let mut rebuilt = Rebuilt {
        lock: Lock {
            generated_at: String::new(),
            substrate_pin: SubstratePin {
                repo: "hydrant".to_owned(),
                commit: anchor.world.clone(),
            },
            skills: Vec::new(),
        },
        declared: Vec::new(),
        entries: Vec::new(),
    };
    findings.evaluate(Row::TV_22, None);
    let tree = match tree::scan(root) {
        Ok(tree) => tree,
        Err(fault) => {
            findings.report(Finding::new(Row::TV_22, &fault).at(&fault.path));
            return rebuilt;
        }
    };
    for stray in &tree.stray {
        findings.report(Finding::new(Row::TV_22, format!("stray entry: {stray}")).at(stray));
    }
    for (id, version) in &tree.bundles {
        let skill = format!("{id}@{version}");
        let subject = Subject {
            id,
            version,
            pin: None,
        };
        let minimum = anchor.min_signers.count();
        let mut checked = check_bundle(root, ring, minimum, subject, findings);
        findings.evaluate(Row::TV_22, Some(&skill));
        let skill_md = match tree::skill_md(root, id) {
            Ok(digest) => Some(digest),
            Err(fault) => {
                let finding = Finding::new(Row::TV_22, format!("SKILL.md mismatch: {fault}"));
                findings.report(finding.of(Some(&skill)).at(&fault.path));
                None
            }
        };
        if let (Some(bundle), Some(skill_md)) = (checked.sound(), skill_md) {
            let entry = LockEntry {
                id: id.clone(),
                version: version.clone(),
                bundle_dir: format!("skills/{id}/{version}"),
                artifact: bundle.artifact().clone(),
                manifest_hash: bundle.manifest_hash().clone(),
                keys_file: KEYS.to_owned(),
                keys_digest: ring.digest().clone(),
                signers: owned_signers(bundle.signatures()),
                skill_md,
            };
            rebuilt.lock.skills.push(entry.clone());
            rebuilt.declared.push(Declared {
                pin: entry,
                capabilities: Some(bundle.manifest().capabilities.clone()),
            });
        }
        starts.push(subject, &mut checked, findings);
        rebuilt.entries.push(skill);
    }
    starts.finish(findings);
    rebuilt.lock.sort();
    rebuilt
}

impl Rebuilt {
    /// Keeps the old time if nothing else differs.
    pub(super) fn dated(mut self, old: Option<&Lock>, now: SystemTime) -> Self {
        if let Some(old) = old {
            self.lock.generated_at.clone_from(&old.generated_at);
            if self.lock == *old {
                return self;
            }
        }
        self.lock.generated_at = humantime::format_rfc3339_millis(now).to_string();
        self
    }
}

/// Reports what `verify` would find wrong with the form of a lock, such as that it has no entries.
pub(super) fn check_form(lock: &Lock, bytes: &[u8], findings: &mut Findings) {
    for fault in lock.check_form(bytes) {
        let finding = Finding::new(Row::TV_06, &fault).of(fault.skill.as_deref());
        findings.report(finding.at(LOCK));
    }
}
