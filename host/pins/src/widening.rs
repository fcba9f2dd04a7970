//! What a new lock changes against an old one: wider capabilities and other signers.
//!
//! Relies on nothing but the two sides it is given; reads no file. A manifest of the old side that was not found covers
//! nothing, so that a lost manifest can never make a widening go unnoticed.

use std::collections::BTreeSet;

use super::finding::{Finding, Row};
use super::root::RING;
use hydrant_policy::covers;
use hydrant_trust::{Capability, KeyRing, LockEntry, PublicKey, compare_versions};

/// A pinned bundle and what its manifest declares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Declared {
    /// The entry of the lock.
    pub(super) pin: LockEntry,
    /// What the manifest declares; `None` when no manifest with the pinned hash was found.
    pub(super) capabilities: Option<Vec<Capability>>,
}

impl Declared {
    fn is_same_as(&self, other: &Self) -> bool {
        let (one, other) = (&self.pin, &other.pin);
        one.artifact == other.artifact && one.manifest_hash == other.manifest_hash
    }
}

/// What happens to an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    /// Its id and version were not pinned before.
    Pinned,
    /// The same id and version is pinned with another artifact or manifest.
    Repinned,
    /// It is pinned no longer.
    Unpinned,
}

impl Change {
    const fn word(self) -> &'static str {
        match self {
            Self::Pinned => "pinned",
            Self::Repinned => "repinned",
            Self::Unpinned => "unpinned",
        }
    }
}

/// One changed entry and how its capabilities differ from its baseline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Difference {
    /// The changed entry, as it is to be; as it was, when it is unpinned.
    pub(super) entry: Declared,
    /// What happens to it.
    pub(super) change: Change,
    /// The bundle it is compared with: none for a new id.
    pub(super) baseline: Option<Declared>,
    /// Declared now and not in the baseline, in the manifest's order.
    pub(super) added: Vec<Capability>,
    /// Those of [`added`](Self::added) that nothing in the baseline covers.
    pub(super) widened: Vec<Capability>,
    /// Declared in the baseline and no longer.
    pub(super) removed: Vec<Capability>,
}

/// Every entry that is new, other than before, or gone; new side first, each side in its order.
pub(super) fn differences(old: &[Declared], new: &[Declared]) -> Vec<Difference> {
    let changed = new.iter().filter_map(|entry| {
        let before = same_version(entry, old);
        if before.is_some_and(|before| before.is_same_as(entry)) {
            return None;
        }
        let change = before.map_or(Change::Pinned, |_| Change::Repinned);
        Some(compared(entry, change, baseline(entry, old)))
    });
    let gone = old
        .iter()
        .filter(|entry| same_version(entry, new).is_none())
        .map(|entry| Difference {
            entry: entry.clone(),
            change: Change::Unpinned,
            baseline: None,
            added: Vec::new(),
            widened: Vec::new(),
            removed: Vec::new(),
        });
    changed.chain(gone).collect()
}

fn compared(entry: &Declared, change: Change, baseline: Option<&Declared>) -> Difference {
    let before = baseline.map_or(&[][..], declared_by);
    let now = declared_by(entry);
    let added: Vec<_> = now
        .iter()
        .filter(|capability| !before.contains(capability))
        .cloned()
        .collect();
    let widened = added
        .iter()
        .filter(|new| !before.iter().any(|old| covers(old, new)))
        .cloned()
        .collect();
    let removed = before.iter().filter(|old| !now.contains(old));
    Difference {
        entry: entry.clone(),
        change,
        baseline: baseline.cloned(),
        added,
        widened,
        removed: removed.cloned().collect(),
    }
}

fn declared_by(entry: &Declared) -> &[Capability] {
    entry.capabilities.as_deref().unwrap_or_default()
}

fn same_version<'a>(entry: &Declared, entries: &'a [Declared]) -> Option<&'a Declared> {
    entries
        .iter()
        .find(|other| other.pin.id == entry.pin.id && other.pin.version == entry.pin.version)
}

/// The same version if it was pinned, else the highest pinned version of the id.
fn baseline<'a>(entry: &Declared, old: &'a [Declared]) -> Option<&'a Declared> {
    same_version(entry, old).or_else(|| {
        old.iter()
            .filter(|other| other.pin.id == entry.pin.id)
            .max_by(|one, other| compare_versions(&one.pin.version, &other.pin.version))
    })
}

/// Another set of signers, or another key of one of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum SignerChange {
    /// An entry is signed by others than its baseline.
    Signers {
        /// The entry as it is to be.
        skill: String,
        /// Who signed the baseline.
        before: Vec<String>,
        /// Who signed the bundle.
        after: Vec<String>,
    },
    /// The ring has another key for a signer of the old side, or none.
    Key {
        /// The signer.
        signer: String,
        /// What the old ring says, in base64.
        before: Option<String>,
        /// What the new ring says, in base64.
        after: Option<String>,
    },
}

/// Returns the entries whose signers are others than before, in the order of the new side.
pub(super) fn signer_changes(old: &[Declared], new: &[Declared]) -> Vec<SignerChange> {
    new.iter()
        .filter_map(|entry| {
            let (before, entry) = (&baseline(entry, old)?.pin, &entry.pin);
            (before.signers != entry.signers).then(|| SignerChange::Signers {
                skill: entry.skill(),
                before: before.signers.clone(),
                after: entry.signers.clone(),
            })
        })
        .collect()
}

/// Returns those of these signers whose key in the ring is not what it was.
pub(super) fn key_changes<'a>(
    signers: impl IntoIterator<Item = &'a str>,
    old: &KeyRing,
    new: &KeyRing,
) -> Vec<SignerChange> {
    let signers: BTreeSet<_> = signers.into_iter().collect();
    signers
        .into_iter()
        .filter(|signer| old.get(signer) != new.get(signer))
        .map(|signer| SignerChange::Key {
            signer: signer.to_owned(),
            before: old.get(signer).map(PublicKey::to_base64),
            after: new.get(signer).map(PublicKey::to_base64),
        })
        .collect()
}

/// Under which rows the findings stand, and what a reader is told to do about them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Gate {
    /// `lock --update`: the rows `TW-02` and `TW-04`.
    Update,
    /// `verify --baseline`: the rows `TV-32` and `TV-33`.
    Baseline,
}

impl Gate {
    pub(super) const fn widening_row(self) -> Row {
        match self {
            Self::Update => Row::TW_02,
            Self::Baseline => Row::TV_32,
        }
    }

    pub(super) const fn signer_row(self) -> Row {
        match self {
            Self::Update => Row::TW_04,
            Self::Baseline => Row::TV_33,
        }
    }

    const fn allow_widening(self) -> &'static str {
        match self {
            Self::Update => "--allow-widen would allow it",
            Self::Baseline => "only a baseline that declares it would allow it",
        }
    }

    const fn allow_signer(self) -> &'static str {
        match self {
            Self::Update => "--allow-signer-change would allow it",
            Self::Baseline => "only a baseline with the same signers and keys would allow it",
        }
    }
}

/// One finding for each capability that is wider than the baseline.
pub(super) fn widening_findings(differences: &[Difference], gate: Gate) -> Vec<Finding> {
    let finding = |difference: &Difference, capability: &Capability| {
        let entry = &difference.entry.pin;
        let message = format!(
            "widening: id={} kind={} value={}: {}; {}",
            entry.id,
            capability.kind,
            capability.value,
            uncovered(difference),
            gate.allow_widening()
        );
        Finding::new(gate.widening_row(), message)
            .of(Some(&entry.skill()))
            .at(&format!(
                "skills/{}/{}/manifest.json",
                entry.id, entry.version
            ))
    };
    differences
        .iter()
        .flat_map(|difference| {
            let widened = difference.widened.iter();
            widened.map(move |capability| finding(difference, capability))
        })
        .collect()
}

fn uncovered(difference: &Difference) -> String {
    match &difference.baseline {
        None => "no version of this skill was pinned".to_owned(),
        Some(baseline) if baseline.capabilities.is_none() => {
            format!(
                "the manifest pinned as {} was not found",
                baseline.pin.skill()
            )
        }
        Some(baseline) => format!("no capability of {} covers it", baseline.pin.skill()),
    }
}

/// One finding for each changed signer.
pub(super) fn signer_findings(changes: &[SignerChange], gate: Gate) -> Vec<Finding> {
    let finding = |change: &SignerChange| match change {
        SignerChange::Signers {
            skill,
            before,
            after,
        } => {
            let (before, after) = (before.join(","), after.join(","));
            let message = format!(
                "signer change: signed by {after}, the baseline by {before}; {}",
                gate.allow_signer()
            );
            Finding::new(gate.signer_row(), message)
                .of(Some(skill))
                .because(before, after)
        }
        SignerChange::Key {
            signer,
            before,
            after,
        } => {
            let shown = |key: &Option<String>| key.clone().unwrap_or_else(|| "none".to_owned());
            let (before, after) = (shown(before), shown(after));
            let message = format!(
                "signer change: the key of {signer} is {after}, the baseline has {before}; {}",
                gate.allow_signer()
            );
            Finding::new(gate.signer_row(), message)
                .at(RING)
                .because(before, after)
        }
    };
    changes.iter().map(finding).collect()
}

/// The lines that show a change to people: the entry, then one line for each capability that differs.
pub(super) fn change_lines(differences: &[Difference]) -> Vec<String> {
    let mut lines = Vec::new();
    for difference in differences {
        let skill = difference.entry.pin.skill();
        let mut line = format!("{} {skill}", difference.change.word());
        if let (Change::Repinned, Some(before)) = (difference.change, &difference.baseline) {
            line.push_str(&format!(
                " artifact={} was={}",
                difference.entry.pin.artifact, before.pin.artifact
            ));
        }
        lines.push(line);
        for capability in &difference.added {
            let mark = if difference.widened.contains(capability) {
                " (wider)"
            } else {
                ""
            };
            lines.push(format!("  {skill} + {capability}{mark}"));
        }
        let removed = difference.removed.iter();
        lines.extend(removed.map(|capability| format!("  {skill} - {capability}")));
    }
    lines
}

#[cfg(test)]
mod tests;
