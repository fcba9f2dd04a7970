//! The components that a rebuild of the sources gave are the pinned ones.

use super::finding::{Finding, Findings, Row};
use super::root::Root;
use hydrant_base::Digest;
use hydrant_trust::Lock;
use hydrant_trust::limits::MAX_WASM_BYTES;

/// Compares `<id>-<version>.wasm` in `rebuilt` with every entry; a missing file is a finding.
pub(super) fn check(rebuilt: &Root, lock: &Lock, findings: &mut Findings) {
    let row = Row::TV_34;
    for entry in &lock.skills {
        let skill = entry.skill();
        findings.evaluate(row, Some(&skill));
        let name = format!("{}-{}.wasm", entry.id, entry.version);
        let finding = match rebuilt.top().read(&name, MAX_WASM_BYTES) {
            Ok(bytes) => {
                let actual = Digest::of(&bytes);
                if actual == entry.artifact {
                    continue;
                }
                Finding::new(
                    row,
                    format!("the rebuilt {name} is not the pinned artifact"),
                )
                .because(&entry.artifact, actual)
            }
            Err(fault) => Finding::new(row, format!("the rebuilt {fault}")),
        };
        let path = format!("{}/skill.wasm", entry.bundle_dir);
        findings.report(finding.of(Some(&skill)).at(&path));
    }
}
