//! Registering a skill.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::Serialize;

use super::approvals::{
    self, Standing, Stands, View, end_over, grant_by_policy, open_capability, pending_of_skill,
    supersede_changed,
};
use super::capability_row::CapabilityRow;
use super::history::{Step, advance, generation, note};
use super::name::{check, check_reserved, fold, fold_capability};
use super::onboarding::{self, OnboardingState};
use super::rows::{sweep_code_files, sweep_removed, write_code_files};
use super::sql::Queries;
use super::{Registered, SkillHead, Surroundings, Who, bindings, unmapped};
use crate::chain::Event;
use crate::check::{CheckedOperation, CheckedSkill};
use crate::failure::{Code, Failure};
use crate::state::Change;
use hydrant_plan::{Diagnostic, Format, Severity};

const HINT: &str =
    "an operator decides: `hydrant approvals list --status pending` shows what waits";

/// What is registered.
#[derive(Debug)]
pub struct NewSkill<'a> {
    /// Checked.
    pub checked: CheckedSkill,
    /// The document as it was fetched.
    pub document: &'a [u8],
    /// The bytes of the code files that were given with the load, by name.
    pub files: &'a BTreeMap<String, Vec<u8>>,
}

/// The answer of a load. It holds no text of the document.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Loaded {
    /// As written.
    pub skill_id: String,
    /// As written.
    pub name: String,
    /// As written.
    pub version: String,
    /// What kind of document.
    pub format: Format,
    /// The source identity.
    pub source_url: String,
    /// SHA-256 of the document's bytes.
    pub skill_digest: String,
    /// A counter: one step for each transaction that changed the registry.
    pub generation: u64,
    /// What differs from the load before, by operation id.
    pub delta: Delta,
    /// In the order of the document.
    pub capabilities: Vec<CapabilityRow>,
    /// Pending requests of this skill.
    pub pending_approvals: u64,
    /// What was noticed.
    pub diagnostics: Vec<Diagnostic>,
    /// Where the document has an onboarding.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub onboarding: Option<OnboardingState>,
    /// Where something is pending.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<&'static str>,
}

/// What a load changed, by operation id in the order of the document.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Delta {
    /// New.
    pub added: Vec<String>,
    /// With another op- or policy-digest.
    pub changed: Vec<String>,
    /// Gone.
    pub removed: Vec<String>,
    /// As before.
    pub unchanged: Vec<String>,
}

impl Delta {
    /// Whether no capability came, went or changed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.changed.is_empty() && self.removed.is_empty()
    }
}

/// Registers a skill, or registers it anew: wholly or not at all. Old grants of operations that are
/// the same stay, kept ones of an unloaded skill revive, all others are superseded; what needs an approval and has
/// none gets a request.
///
/// Records `skill-loaded` or `skill-reloaded`, then for each operation `capability-registered`, `-updated` or `-removed`,
/// `approval-superseded`, `-requested`, `-granted` (by policy). A refused load records nothing here: `skill-rejected`
/// is the caller's.
///
/// # Errors
///
/// `id-invalid`, `id-reserved`, `op-collision`, `skill-id-conflict`; `store-unavailable`.
pub fn load(
    change: &mut Change<'_>,
    new: NewSkill<'_>,
    who: &Who,
    around: &dyn Surroundings,
) -> Result<Loaded, Failure> {
    let NewSkill {
        checked,
        document,
        files,
    } = new;
    let folded = check_names(change, &checked, around)?;
    let old_head = SkillHead::find(change.database, &folded)?;
    if let Some(old) = old_head.as_ref().filter(|old| old.source != checked.source) {
        return Err(Failure::new(
            Code::SkillIdConflict,
            format!("skill {} is registered from another source", old.skill.id),
        )
        .with_hint("unload it first, or load with another id (as)"));
    }
    let old = match &old_head {
        Some(head) => Registered::of_skill(change.database, head.clone())?,
        None => Vec::new(),
    };
    let CheckedSkill {
        mut skill,
        source,
        digest,
        operations,
    } = checked;
    let instructions = std::mem::take(&mut skill.instructions);
    let mut head = SkillHead {
        folded,
        source,
        digest,
        generation: 0,
        skill,
        files: files
            .iter()
            .map(|(name, bytes)| (name.clone(), crate::digest::of_bytes(bytes)))
            .collect(),
    };
    let (mut fresh, mut diagnostics) = prepare(change, &head, operations, around)?;
    let comparison = compare(&old, &fresh);
    if let Some(old) = &old_head {
        diagnostics.extend(warn_of_new_reading(old, &head, &comparison.delta));
    }

    let same_head = old_head.as_ref().is_some_and(|old| {
        old.digest == head.digest && old.skill == head.skill && old.files == head.files
    });
    let generation = if same_head && comparison.delta.is_empty() {
        generation(change.database)?
    } else {
        head.generation = advance(change)?;
        let shared = Arc::new(head.clone());
        write_code_files(change, files)?;
        head.write(change, document, &instructions)?;
        for (position, found) in fresh.iter_mut().enumerate() {
            found.skill = Arc::clone(&shared);
            found.write(change, position)?;
        }
        if old_head.as_ref().is_some_and(|old| !old.files.is_empty()) {
            sweep_code_files(change)?;
        }
        head.generation
    };
    bindings::adopt(change, &head)?;
    let event = match old_head {
        None => Event::SkillLoaded,
        Some(_) => Event::SkillReloaded,
    };
    change.record(head.entry(event, who));
    record_steps(change, &old, &fresh, &comparison, generation, who)?;
    if !comparison.delta.removed.is_empty() {
        sweep_removed(change)?;
    }
    supersede_changed(change, &head, &fresh, who)?;
    let capabilities = fresh
        .iter()
        .map(|found| ask(change, found, &comparison, who, around))
        .collect::<Result<_, _>>()?;
    count_unmapped(change, &fresh, &comparison)?;
    approvals::forget(change)?;

    let pending = pending_of_skill(change.database, &head.folded, change.now)?;
    let onboarding = match onboarding::plan_of(change.database, &head)? {
        Some(plan) => {
            onboarding::sweep(change, &plan)?;
            Some(plan.progress(View::of(change, who, around))?)
        }
        None => {
            onboarding::forget(change, &head.folded)?;
            None
        }
    };
    let skill = head.skill;
    Ok(Loaded {
        skill_id: skill.id,
        name: skill.name,
        version: skill.version,
        format: skill.format,
        source_url: head.source,
        skill_digest: head.digest,
        generation,
        delta: comparison.delta,
        capabilities,
        pending_approvals: pending,
        diagnostics: skill.diagnostics.into_iter().chain(diagnostics).collect(),
        onboarding: onboarding.map(|progress| progress.state),
        hint: (pending > 0).then_some(HINT),
    })
}

/// Returns a warning where operations of an unchanged document have to be approved again, because another version of the
/// interpreter reads it.
fn warn_of_new_reading(old: &SkillHead, new: &SkillHead, delta: &Delta) -> Option<Diagnostic> {
    let is_newer = old.skill.mapping_version != new.skill.mapping_version;
    (is_newer && old.digest == new.digest && !delta.changed.is_empty()).then(|| Diagnostic {
        code: Code::ApprovalStale,
        severity: Severity::Warn,
        line: 1,
        message: format!(
            "the document is the same, but this version of hydrant describes operations otherwise: what was approved of {} \
             has to be approved again",
            delta.changed.join(", ")
        ),
    })
}

/// Checks that all ids fit the grammar and are neither reserved nor taken; returns the folded skill id.
fn check_names(
    change: &Change<'_>,
    new: &CheckedSkill,
    around: &dyn Surroundings,
) -> Result<String, Failure> {
    let id = &new.skill.id;
    check(id)?;
    check_reserved(id)?;
    let skill = fold(id);
    let mut seen = BTreeSet::new();
    for checked in &new.operations {
        let operation = &checked.operation;
        check(&operation.id).map_err(|failure| failure.at_line(operation.line))?;
        let folded = fold_capability(id, &operation.id);
        if around.installed(&folded) {
            return Err(Failure::new(
                Code::IdReserved,
                format!("{id}.{} is the id of an installed component", operation.id),
            )
            .at_line(operation.line));
        }
        let elsewhere = taken(change, &folded, &skill)?;
        if elsewhere || !seen.insert(folded) {
            return Err(Failure::new(
                Code::OpCollision,
                format!("{id}.{} is the id of another operation", operation.id),
            )
            .at_line(operation.line));
        }
    }
    Ok(skill)
}

/// Whether another skill has an operation or alias with this folded capability id.
fn taken(change: &Change<'_>, folded: &str, skill: &str) -> Result<bool, Failure> {
    change.database.is_true(
        "SELECT EXISTS (SELECT 1 FROM operations WHERE capability = ?1 AND skill <> ?2
             UNION ALL SELECT 1 FROM aliases WHERE capability = ?1 AND skill <> ?2)",
        [folded, skill],
    )
}

/// Returns the operations to write, without aliases that collide, and a diagnostic for each dropped alias.
fn prepare(
    change: &Change<'_>,
    head: &SkillHead,
    operations: Vec<CheckedOperation>,
    around: &dyn Surroundings,
) -> Result<(Vec<Registered>, Vec<Diagnostic>), Failure> {
    let shared = Arc::new(head.clone());
    let mut names: BTreeSet<String> = operations
        .iter()
        .map(|checked| fold(&checked.operation.id))
        .collect();
    let mut dropped = Vec::new();
    let mut fresh = Vec::new();
    for checked in operations {
        let mut operation = checked.operation;
        let mut kept = Vec::new();
        for alias in std::mem::take(&mut operation.aliases) {
            let capability = fold_capability(&head.skill.id, &alias);
            let free = check(&alias).is_ok()
                && !around.installed(&capability)
                && !taken(change, &capability, &head.folded)?
                && names.insert(fold(&alias));
            if free {
                kept.push(alias);
            } else {
                let shown: String = alias.chars().take(64).collect();
                dropped.push(Diagnostic {
                    code: Code::AliasDropped,
                    severity: Severity::Info,
                    line: operation.line,
                    message: format!("{shown:?} names something else already"),
                });
            }
        }
        operation.aliases = kept;
        fresh.push(Registered {
            capability: format!("{}.{}", head.skill.id, operation.id),
            folded: fold_capability(&head.skill.id, &operation.id),
            skill: Arc::clone(&shared),
            tier: operation.tier,
            policy_digest: checked.policy_digest,
            manifest: checked.manifest,
            operation,
        });
    }
    Ok((fresh, dropped))
}

/// The delta, and how each capability changed.
struct Comparison {
    delta: Delta,
    steps: BTreeMap<String, Step>,
}

/// Compares operations by folded id. One has changed if a digest of it did, or whether it can be called.
fn compare(old: &[Registered], fresh: &[Registered]) -> Comparison {
    let mut delta = Delta::default();
    let mut steps = BTreeMap::new();
    let before = by_folded(old);
    let after = by_folded(fresh);
    for found in fresh {
        let id = found.operation.id.clone();
        let step = match before.get(found.folded.as_str()) {
            None => {
                delta.added.push(id);
                Step::Added
            }
            Some(old) if is_same(old, found) => {
                delta.unchanged.push(id);
                continue;
            }
            Some(_) => {
                delta.changed.push(id);
                Step::Changed
            }
        };
        steps.insert(found.folded.clone(), step);
    }
    for gone in old {
        if !after.contains_key(gone.folded.as_str()) {
            delta.removed.push(gone.operation.id.clone());
            steps.insert(gone.folded.clone(), Step::Removed);
        }
    }
    Comparison { delta, steps }
}

/// By folded id.
fn by_folded(all: &[Registered]) -> BTreeMap<&str, &Registered> {
    all.iter()
        .map(|found| (found.folded.as_str(), found))
        .collect()
}

fn is_same(old: &Registered, new: &Registered) -> bool {
    old.operation.digest == new.operation.digest
        && old.policy_digest == new.policy_digest
        && old.usable().is_ok() == new.usable().is_ok()
}

/// Writes to history and chain which operations came, changed and went.
fn record_steps(
    change: &mut Change<'_>,
    old: &[Registered],
    fresh: &[Registered],
    comparison: &Comparison,
    generation: u64,
    who: &Who,
) -> Result<(), Failure> {
    let gone = old
        .iter()
        .filter(|old| comparison.steps.get(&old.folded) == Some(&Step::Removed));
    for found in fresh.iter().chain(gone) {
        let Some(step) = comparison.steps.get(&found.folded) else {
            continue;
        };
        note(change, generation, found, *step)?;
        let event = match step {
            Step::Added => {
                found.forget_removed(change)?;
                Event::CapabilityRegistered
            }
            Step::Changed => Event::CapabilityUpdated,
            Step::Removed => {
                found.remember_removed(change, generation)?;
                Event::CapabilityRemoved
            }
        };
        change.record(found.entry(event, who));
    }
    Ok(())
}

/// Opens the request that an operation needs, and returns its row.
fn ask(
    change: &mut Change<'_>,
    found: &Registered,
    comparison: &Comparison,
    who: &Who,
    around: &dyn Surroundings,
) -> Result<CapabilityRow, Failure> {
    if found.usable().is_err() {
        return Ok(CapabilityRow::new(found, around, None, true));
    }
    let Stands {
        standing,
        reasons,
        by_policy,
    } = View::of(change, who, around).stands(found)?;
    let has_changed = comparison.steps.contains_key(&found.folded);
    let stands = match standing {
        Standing::Granted(None) => {
            Standing::Granted(Some(Box::new(grant_by_policy(change, found, who, around)?)))
        }
        // A decision about these very digests stays, or an agent would get round a denial by loading another document in
        // between.
        Standing::Denied(approval) | Standing::Revoked(approval)
            if has_changed && !by_policy && !approval.is_about(found) =>
        {
            Standing::Open
        }
        Standing::Expired(approval) => {
            end_over(change, *approval, who)?;
            Standing::Open
        }
        stands => stands,
    };
    let stands = match stands {
        Standing::Open => {
            let opened = open_capability(change, found, reasons, who, around)?;
            Standing::Pending(Box::new(opened))
        }
        stands => stands,
    };
    Ok(CapabilityRow::new(found, around, Some(stands), by_policy))
}

/// Counts the unknown tools of operations that are new or changed.
fn count_unmapped(
    change: &Change<'_>,
    fresh: &[Registered],
    comparison: &Comparison,
) -> Result<(), Failure> {
    let tools = fresh
        .iter()
        .filter(|found| comparison.steps.contains_key(&found.folded))
        .flat_map(|found| &found.operation.reasons)
        .filter_map(|reason| reason.strip_prefix("unknown-tool:"));
    unmapped::count(change, tools)
}
