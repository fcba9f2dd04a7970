//! Registering a skill (sections 24.1, 24.2).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rusqlite::{OptionalExtension, params};

use super::approvals::{
    Approval, Question, Standing, grant_by_policy, open_capability, pending_of_skill, standing,
    supersede,
};
use super::find::{Registered, SkillHead, folded_of, of_skill, skill};
use super::generation::{Step, advance, generation, note};
use super::loaded::{CapabilityRow, Delta, Loaded};
use super::name::{check, check_reserved, fold};
use super::standing_of::{reasons_of, row_standing, unusable_row};
use super::{Surroundings, Who, bindings, events, onboarding, store, unmapped, write};
use crate::chain::Event;
use crate::check::{CheckedOperation, CheckedSkill};
use crate::failure::{Code, Failure};
use crate::state::Change;
use hydrant_plan::{Diagnostic, Severity, Status};

/// Who can do what a caller cannot.
const HINT: &str =
    "an operator decides: `hydrant approvals list --status pending` shows what waits";

/// A code file given at load.
#[derive(Debug, Clone)]
pub struct CodeFile {
    /// As the document names it.
    pub name: String,
    /// As it is.
    pub bytes: Vec<u8>,
}

/// What is registered.
#[derive(Debug)]
pub struct NewSkill<'a> {
    /// Checked.
    pub checked: CheckedSkill,
    /// The document as it was fetched.
    pub document: &'a [u8],
    /// The code files that were given with the load.
    pub files: &'a [CodeFile],
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
    let old_head = skill(change.database, &folded)?;
    if let Some(old) = old_head.as_ref().filter(|old| old.source != checked.source) {
        return Err(Failure::new(
            Code::SkillIdConflict,
            format!("skill {} is registered from another source", old.skill.id),
        )
        .with_hint("unload it first, or load with another id (as)"));
    }
    let old = of_skill(change.database, &folded)?;
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
        files: write::digests(files),
    };
    let (mut fresh, mut noticed) = prepare(change, &head, operations, around)?;
    let comparison = compare(&old, &fresh);
    if let Some(old) = &old_head {
        noticed.extend(read_otherwise(old, &head, &comparison.delta));
    }

    let same_head = old_head.as_ref().is_some_and(|old| {
        old.digest == head.digest && old.skill == head.skill && old.files == head.files
    });
    let moved = !same_head || !comparison.delta.is_empty();
    let at = if moved {
        advance(change)?
    } else {
        generation(change.database)?
    };
    if moved {
        head.generation = at;
        let shared = Arc::new(head.clone());
        for found in &mut fresh {
            found.skill = Arc::clone(&shared);
        }
        write::code_files(change, files)?;
        write::skill(change, &head, document, &instructions)?;
        for (position, found) in fresh.iter().enumerate() {
            write::operation(change, found, position)?;
        }
        if old_head.as_ref().is_some_and(|old| !old.files.is_empty()) {
            write::sweep_code_files(change)?;
        }
    }
    bindings::adopt(change, &head.folded, &head.source)?;
    let event = match old_head {
        None => Event::SkillLoaded,
        Some(_) => Event::SkillReloaded,
    };
    change.record(events::of_skill(event, who, &head));
    record_steps(change, &old, &fresh, &comparison, at, who)?;
    if !comparison.delta.removed.is_empty() {
        write::forget_removed(change)?;
    }
    end_old(change, &head, &fresh, who)?;
    let capabilities = settle(change, &fresh, &comparison, who, around)?;
    count_unmapped(change, &fresh, &comparison)?;
    super::approvals::forget(change)?;

    let pending = pending_of_skill(change.database, &head.folded, change.now)?;
    let onboarding = match onboarding::plan_of(change.database, &head)? {
        Some(plan) => {
            onboarding::sweep(change, &plan)?;
            Some(plan.progress(change.database, around, change.now)?)
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
        generation: at,
        delta: comparison.delta,
        capabilities,
        pending_approvals: pending,
        diagnostics: skill.diagnostics.into_iter().chain(noticed).collect(),
        onboarding: onboarding.map(|progress| progress.state),
        hint: (pending > 0).then_some(HINT),
    })
}

/// Says why operations of a document that did not change have to be approved again: another version of the interpreter reads
/// it.
fn read_otherwise(old: &SkillHead, new: &SkillHead, delta: &Delta) -> Option<Diagnostic> {
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
        let folded = folded_of(id, &operation.id);
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
    change
        .database
        .prepare_cached(
            "SELECT 1 FROM operations WHERE capability = ?1 AND skill <> ?2
             UNION SELECT 1 FROM aliases WHERE capability = ?1 AND skill <> ?2",
        )
        .and_then(|mut query| {
            query
                .query_row(params![folded, skill], |row| row.get::<_, i64>(0))
                .optional()
        })
        .map_err(store)
        .map(|found| found.is_some())
}

/// The rows to be, and what was noticed: aliases that collide are dropped.
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
            let capability = folded_of(&head.skill.id, &alias);
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
            folded: folded_of(&head.skill.id, &operation.id),
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

/// By folded id; changed is another op- or policy-digest, or that it can be called now and could not before.
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

/// History and chain of what came, changed and went.
fn record_steps(
    change: &mut Change<'_>,
    old: &[Registered],
    fresh: &[Registered],
    comparison: &Comparison,
    at: u64,
    who: &Who,
) -> Result<(), Failure> {
    let gone = old
        .iter()
        .filter(|old| comparison.steps.get(&old.folded) == Some(&Step::Removed));
    for found in fresh.iter().chain(gone) {
        let Some(step) = comparison.steps.get(&found.folded) else {
            continue;
        };
        let event = match step {
            Step::Added => Event::CapabilityRegistered,
            Step::Changed => Event::CapabilityUpdated,
            Step::Removed => Event::CapabilityRemoved,
        };
        note(change, at, &found.folded, &found.capability, *step)?;
        match step {
            Step::Removed => write::removed(change, found, at)?,
            Step::Added => write::there_again(change, &found.folded)?,
            Step::Changed => {}
        }
        change.record(events::of_operation(event, who, found));
    }
    Ok(())
}

/// Grants and requests that are about something else than what is there now are superseded, also those that an unload kept.
fn end_old(
    change: &mut Change<'_>,
    head: &SkillHead,
    fresh: &[Registered],
    who: &Who,
) -> Result<(), Failure> {
    let subjects: Vec<String> = {
        let mut query = change
            .database
            .prepare_cached(
                "SELECT DISTINCT subject FROM approvals
                 WHERE skill = ?1 AND kind = 'capability' AND status IN ('pending', 'approved') ORDER BY number",
            )
            .map_err(store)?;
        query
            .query_map([&head.folded], |row| row.get(0))
            .and_then(Iterator::collect)
            .map_err(store)?
    };
    let fresh = by_folded(fresh);
    for subject in subjects {
        let keep = fresh
            .get(subject.as_str())
            .filter(|found| found.usable().is_ok())
            .map(|found| {
                (
                    found.operation.digest.as_str(),
                    found.policy_digest.as_str(),
                    head.source.as_str(),
                )
            });
        supersede(change, &subject, keep, who)?;
    }
    Ok(())
}

/// Opens what is needed and tells where each capability stands.
fn settle(
    change: &mut Change<'_>,
    fresh: &[Registered],
    comparison: &Comparison,
    who: &Who,
    around: &dyn Surroundings,
) -> Result<Vec<CapabilityRow>, Failure> {
    let mut rows = Vec::new();
    for found in fresh {
        rows.push(match found.operation.status {
            Status::Ok => ask(change, found, comparison, who, around)?,
            Status::Unusable { .. } => unusable_row(found, around),
        });
    }
    Ok(rows)
}

/// Opens what is needed for one; where it stands then.
fn ask(
    change: &mut Change<'_>,
    found: &Registered,
    comparison: &Comparison,
    who: &Who,
    around: &dyn Surroundings,
) -> Result<CapabilityRow, Failure> {
    let reasons = reasons_of(change.database, found, around, change.now)?;
    let asked = Question::of(found, who.session.as_deref(), &reasons, change.now);
    let by_policy = asked.by_policy;
    let stands = match standing(change.database, &asked)? {
        Standing::Granted(None) => {
            Standing::Granted(Some(Box::new(grant_by_policy(change, found, who, around)?)))
        }
        // What is new or changed is asked anew; what was decided for these very digests stays decided,
        // or an agent would get round a denial by loading something else in between.
        Standing::Denied(approval) | Standing::Revoked(approval)
            if comparison.steps.contains_key(&found.folded)
                && !by_policy
                && !is_about(&approval, found) =>
        {
            open_pending(change, found, reasons, who, around)?
        }
        Standing::Expired(approval) => {
            super::approvals::end_over(change, *approval, who)?;
            open_pending(change, found, reasons, who, around)?
        }
        Standing::Open => open_pending(change, found, reasons, who, around)?,
        stands => stands,
    };
    Ok(row_standing(found, around, stands, by_policy))
}

fn open_pending(
    change: &mut Change<'_>,
    found: &Registered,
    reasons: Vec<String>,
    who: &Who,
    around: &dyn Surroundings,
) -> Result<Standing, Failure> {
    let opened = open_capability(change, found, reasons, who, around)?;
    Ok(Standing::Pending(Box::new(opened)))
}

/// Whether it was decided about these very digests.
fn is_about(approval: &Approval, found: &Registered) -> bool {
    let subject = &approval.subject;
    subject.op_digest.as_deref() == Some(&*found.operation.digest)
        && subject.policy_digest.as_deref() == Some(&*found.policy_digest)
        && subject.source.as_deref() == Some(&*found.skill.source)
}

/// Unknown tools of what is new or changed.
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
