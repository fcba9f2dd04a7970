//! What lies below `skills/`, and whether all of it is pinned.

use std::collections::{BTreeMap, BTreeSet};

use super::finding::{Finding, Findings, Row};
use super::folder::{FileFault, MemberKind};
use super::root::{Root, SKILLS};
use hydrant_base::Digest;
use hydrant_trust::Lock;
use hydrant_trust::limits::MAX_JSON_BYTES;

/// The text of a skill that an agent reads.
const SKILL_MD: &str = "SKILL.md";

/// The directory `skills/` as it is.
#[derive(Debug, Default)]
pub(super) struct Tree {
    /// Id and version of every directory `skills/*/*`, sorted.
    pub(super) bundles: Vec<(String, String)>,
    /// The paths of everything that is neither a bundle nor the `SKILL.md` of a skill with bundles, sorted.
    pub(super) stray: Vec<String>,
}

/// Lists `skills/` and `skills/*`.
pub(super) fn scan(root: &Root) -> Result<Tree, FileFault> {
    let skills = root.folder(SKILLS)?;
    let mut tree = Tree::default();
    for skill in skills.members()? {
        if skill.kind != MemberKind::Directory {
            tree.stray.push(skills.path_of(&skill.name));
            continue;
        }
        let folder = skills.folder(&skill.name)?;
        let before = tree.bundles.len();
        for member in folder.members()? {
            match member.kind {
                MemberKind::Directory => tree.bundles.push((skill.name.clone(), member.name)),
                MemberKind::File if member.name == SKILL_MD => {}
                _ => tree.stray.push(folder.path_of(&member.name)),
            }
        }
        if tree.bundles.len() == before {
            tree.stray.push(folder.path().to_owned());
        }
    }
    tree.stray.sort();
    Ok(tree)
}

/// The digest of `skills/<id>/SKILL.md`.
pub(super) fn skill_md(root: &Root, id: &str) -> Result<Digest, FileFault> {
    let bytes = root.read(&skill_md_path(id), MAX_JSON_BYTES)?;
    Ok(Digest::of(&bytes))
}

pub(super) fn skill_md_path(id: &str) -> String {
    format!("{SKILLS}/{id}/{SKILL_MD}")
}

/// Checks that everything below `skills/` is pinned (`TV-22`), for the whole root.
pub(super) fn check(root: &Root, lock: &Lock, findings: &mut Findings) {
    let row = Row::TV_22;
    findings.evaluate(row, None);
    let tree = match scan(root) {
        Ok(tree) => tree,
        Err(fault) => {
            findings.report(Finding::new(row, &fault).at(&fault.path));
            return;
        }
    };
    let pinned: BTreeSet<_> = lock.skills.iter().map(|entry| &entry.bundle_dir).collect();
    for (id, version) in &tree.bundles {
        let path = format!("{SKILLS}/{id}/{version}");
        if !pinned.contains(&path) {
            findings.report(Finding::new(row, format!("unpinned bundle: {path}")).at(&path));
        }
    }
    for path in &tree.stray {
        // A pinned skill without its bundles is `TV-07`'s.
        let is_pinned = |id: &str| format!("{SKILLS}/{id}") == *path;
        if !lock.ids().into_iter().any(is_pinned) {
            findings.report(Finding::new(row, format!("stray entry: {path}")).at(path));
        }
    }
}

/// Checks `TV-22` of each entry: the text beside the bundles is the pinned one. Each file is read once.
pub(super) fn check_texts(root: &Root, lock: &Lock, findings: &mut Findings) {
    let row = Row::TV_22;
    let mut texts = BTreeMap::new();
    for entry in &lock.skills {
        let skill = entry.skill();
        findings.evaluate(row, Some(&skill));
        let text = texts
            .entry(entry.id.as_str())
            .or_insert_with(|| skill_md(root, &entry.id));
        let finding = match text {
            Ok(actual) if *actual == entry.skill_md => continue,
            Ok(actual) => {
                let message = format!("SKILL.md mismatch: {}", skill_md_path(&entry.id));
                Finding::new(row, message).because(&entry.skill_md, actual)
            }
            Err(fault) => Finding::new(row, format!("SKILL.md mismatch: {fault}")),
        };
        findings.report(finding.of(Some(&skill)).at(&skill_md_path(&entry.id)));
    }
}
