//! A skill is unloaded.

use serde::Serialize;

use super::approvals::{supersede_other, supersede_skill};
use super::find::{of_skill, skill, unknown_skill};
use super::generation::{Step, advance, note};
use super::name::fold;
use super::{Who, events, onboarding, store, write};
use crate::chain::Event;
use crate::failure::Failure;
use crate::state::Change;

/// What an unload answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Unloaded {
    /// As written.
    pub skill_id: String,
    /// A counter: one step for each transaction that changed the registry.
    pub generation: u64,
    /// Capability ids, in the order of the document.
    pub removed: Vec<String>,
    /// Whether grants stay, dormant.
    pub kept_approvals: bool,
}

/// Removes a skill's capabilities; calls that run go on. Pending requests are superseded, grants too unless they are kept:
/// then they revive for the same source identity and digests only. What its onboarding did and kept goes. Secrets and their
/// grants, their bindings by `secrets bind` (for the same source) and the chain stay. Records `skill-unloaded`, and for each
/// capability `capability-removed`; `approval-superseded`.
///
/// # Errors
///
/// `unknown-skill`, `store-unavailable`.
pub fn unload(
    change: &mut Change<'_>,
    id: &str,
    keep_approvals: bool,
    who: &Who,
) -> Result<Unloaded, Failure> {
    let folded = fold(id);
    let head = skill(change.database, &folded)?.ok_or_else(|| unknown_skill(id))?;
    let operations = of_skill(change.database, &folded)?;
    let at = advance(change)?;
    change.record(events::of_skill(Event::SkillUnloaded, who, &head));
    for found in &operations {
        note(change, at, &found.folded, &found.capability, Step::Removed)?;
        write::removed(change, found, at)?;
        change.record(events::of_operation(Event::CapabilityRemoved, who, found));
    }
    change
        .database
        .execute("DELETE FROM skills WHERE folded = ?1", [&folded])
        .map_err(store)?;
    write::forget_removed(change)?;
    if !head.files.is_empty() {
        write::sweep_code_files(change)?;
    }
    supersede_skill(change, &folded, keep_approvals, who)?;
    supersede_other(change, &folded, who)?;
    onboarding::forget(change, &folded)?;
    Ok(Unloaded {
        skill_id: head.skill.id,
        generation: at,
        removed: operations
            .into_iter()
            .map(|found| found.capability)
            .collect(),
        kept_approvals: keep_approvals,
    })
}
