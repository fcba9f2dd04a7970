//! Unloading a skill.

use serde::Serialize;

use super::approvals::supersede_skill;
use super::history::{Step, advance, note};
use super::rows::{sweep_code_files, sweep_removed};
use super::{Registered, SkillHead, Who, onboarding};
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

/// Removes a skill's capabilities; calls that run go on. Pending requests are superseded, and so are grants unless they are
/// kept: those are live again only for the same source identity and digests. What its onboarding did and kept is removed.
/// Secrets and their grants, bindings made by `secrets bind` (for the same source) and the chain stay. Records
/// `skill-unloaded`, for each capability `capability-removed`, and `approval-superseded`.
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
    let head = SkillHead::named(change.database, id)?;
    let operations = Registered::of_skill(change.database, head.clone())?;
    let generation = advance(change)?;
    change.record(head.entry(Event::SkillUnloaded, who));
    for found in &operations {
        note(change, generation, found, Step::Removed)?;
        found.remember_removed(change, generation)?;
        change.record(found.entry(Event::CapabilityRemoved, who));
    }
    head.delete(change)?;
    sweep_removed(change)?;
    if !head.files.is_empty() {
        sweep_code_files(change)?;
    }
    supersede_skill(change, &head.folded, keep_approvals, who)?;
    onboarding::forget(change, &head.folded)?;
    Ok(Unloaded {
        skill_id: head.skill.id,
        generation,
        removed: operations
            .into_iter()
            .map(|found| found.capability)
            .collect(),
        kept_approvals: keep_approvals,
    })
}
