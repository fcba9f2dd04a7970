//! The progress of a skill's onboarding: which steps are done, and what the others wait for.
//!
//! A step counts as done for the very operation (or, of a human action, the very question) that it was done with, and only
//! as long as the secrets that it is for are there.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::{Connection, params};
use serde::Serialize;
use serde_json::{Value, json};

use super::approvals::{self, Approval, Status};
use super::find::still_registered;
use super::name::fold;
use super::sql::{Json, Queries};
use super::{SkillHead, View, Who, memory, store};
use crate::chain::{Entry, Event, Outcome};
use crate::digest;
use crate::failure::Failure;
use crate::onboarding::{Onboarding, Step, StepKind, StoreTarget};
use crate::secrets::SecretState;
use crate::state::Change;

const SUBJECT_DOMAIN: &[u8] = b"hydrant.onboarding-step.v1\n";

/// Where the onboarding of a skill stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum OnboardingState {
    /// A step can be done, or failed.
    NeedsSetup,
    /// A person has to do something.
    PendingHumanAction,
    /// An operator has to say whether a secret is kept.
    PendingSecretApproval,
    /// All steps are done.
    Operational,
}

/// Where a step stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum StepStatus {
    /// Nothing is left to do.
    Done,
    /// It can be done now.
    Ready,
    /// Another step comes first.
    Blocked,
    /// An operator was asked.
    Pending,
    /// The operator refused.
    Denied,
}

/// Where the whole stands.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Progress {
    /// Where it stands as a whole.
    pub state: OnboardingState,
    /// Whether other operations wait for it.
    pub required: bool,
    /// In the order of the document.
    pub steps: Vec<StepProgress>,
}

/// A step, and where it stands.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct StepProgress {
    /// As written.
    pub id: String,
    /// What ends it.
    #[serde(rename = "type")]
    pub kind: StepKind,
    /// What it calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operation: Option<String>,
    /// Where it stands.
    pub status: StepStatus,
    /// Of a human action that an operator was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approval_id: Option<String>,
    /// What was answered; secrets are references.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<Value>,
}

/// A skill and its onboarding, as they are registered.
#[derive(Debug, Clone)]
pub struct Plan {
    pub(crate) head: SkillHead,
    pub(crate) onboarding: Onboarding,
    /// What each step would be done with, by its id.
    subjects: BTreeMap<String, String>,
}

/// The onboarding of a skill, if it has one. Records nothing.
///
/// # Errors
///
/// `unknown-skill`, `store-unavailable`; `schema` where it was registered before its steps were checked.
pub fn plan(database: &Connection, id: &str) -> Result<Option<Plan>, Failure> {
    plan_of(database, &SkillHead::named(database, id)?)
}

/// The same of a skill that was looked up.
pub(crate) fn plan_of(database: &Connection, head: &SkillHead) -> Result<Option<Plan>, Failure> {
    let Some(data) = &head.skill.onboarding else {
        return Ok(None);
    };
    let onboarding = Onboarding::read(data, head.skill.format)?;
    let mut subjects = BTreeMap::new();
    for step in &onboarding.steps {
        let digests = |name: &Option<String>| match name {
            Some(name) => digests(database, &head.folded, name),
            None => Ok(None),
        };
        // The params of a call are not part of it: whoever was registered is, with whatever name.
        let looked_at = step.params.as_ref().filter(|_| step.operation.is_none());
        let subject = json!({
            "kind": step.kind,
            "operation": digests(&step.operation)?,
            "verify": digests(&step.verify)?,
            "question": question(step),
            "params": looked_at,
        });
        let subject = digest::of_json(SUBJECT_DOMAIN, &subject).map_err(store)?;
        subjects.insert(step.id.clone(), subject);
    }
    Ok(Some(Plan {
        head: head.clone(),
        onboarding,
        subjects,
    }))
}

/// Returns the digests of an operation, by its id or alias: what it does, and which of its answers are secrets.
fn digests(database: &Connection, skill: &str, name: &str) -> Result<Option<String>, Failure> {
    database.value(
        "SELECT op_digest || ' ' || policy_digest FROM operations WHERE skill = ?1 AND (folded = ?2
            OR capability = (SELECT operation FROM aliases WHERE skill = ?1 AND folded = ?2))
         ORDER BY folded <> ?2 LIMIT 1",
        [skill, &fold(name)],
    )
}

/// What an operator is asked, and where the answer goes.
#[must_use]
pub fn question(step: &Step) -> Value {
    let mut question = step.action.clone();
    let goes = step.store.iter().map(|store| {
        let to = match &store.to {
            StoreTarget::Memory(key) => format!("memory:{key}"),
            StoreTarget::Secret(name) => format!("secret:{name}"),
        };
        json!({ "from": store.from.pointer(), "to": to })
    });
    let goes: Vec<Value> = goes.collect();
    if let (Value::Object(question), false) = (&mut question, goes.is_empty()) {
        question.insert("store".to_owned(), Value::Array(goes));
    }
    question
}

/// The steps that were called or answered.
#[derive(Default)]
struct StepStates<'a> {
    /// Those that at most have to be verified still.
    called: BTreeSet<&'a str>,
    done: BTreeSet<&'a str>,
    /// An operator has to decide about a secret of one of them.
    secret_waits: bool,
}

impl Plan {
    /// Where it stands now. Records nothing.
    ///
    /// # Errors
    ///
    /// `store-unavailable`, `approval-store`.
    pub(crate) fn progress(&self, view: View<'_>) -> Result<Progress, Failure> {
        let states = self.states(view)?;
        let mut steps = Vec::new();
        for step in &self.onboarding.steps {
            steps.push(self.step(view, step, &states)?);
        }
        let has = |status| {
            steps
                .iter()
                .any(|step: &StepProgress| step.status == status)
        };
        let state = if has(StepStatus::Pending) {
            OnboardingState::PendingHumanAction
        } else if states.secret_waits {
            OnboardingState::PendingSecretApproval
        } else if states.done.len() < self.onboarding.steps.len() {
            OnboardingState::NeedsSetup
        } else {
            OnboardingState::Operational
        };
        Ok(Progress {
            state,
            required: self.onboarding.required,
            steps,
        })
    }

    /// Whether the step was called or answered, so that it is left to be verified only.
    pub(crate) fn is_called(&self, view: View<'_>, step: &Step) -> Result<bool, Failure> {
        let states = self.states(view)?;
        Ok(states.called.contains(step.id.as_str()))
    }

    fn states(&self, view: View<'_>) -> Result<StepStates<'_>, Failure> {
        let rows = self.rows(view.database)?;
        let mut called = self.onboarding.steps.iter();
        let is_asked =
            called.any(|step| rows.contains_key(&step.id) && step.secrets().next().is_some());
        let secrets = if is_asked {
            let skill = &self.head.folded;
            view.around.secrets(view.database, skill, view.now)
        } else {
            Ok(BTreeMap::new())
        };
        // Secrets that cannot be read count as missing: other skills do not have to wait for that.
        let secrets = secrets.unwrap_or_else(|failure| {
            tracing::warn!(%failure, "secrets of an onboarding cannot be looked for");
            BTreeMap::new()
        });
        let mut states = StepStates::default();
        for step in &self.onboarding.steps {
            let Some(is_verified) = rows.get(&step.id) else {
                continue;
            };
            // It counts whether the secrets are there, and not who gave or refused which of them.
            let mut is_lacking = false;
            for (_, name) in step.secrets() {
                match secrets.get(name) {
                    Some(SecretState::Granted | SecretState::Set) => {}
                    Some(SecretState::Waiting) => states.secret_waits = true,
                    Some(SecretState::Missing) | None => is_lacking = true,
                }
            }
            if !is_lacking {
                states.called.insert(step.id.as_str());
                if *is_verified {
                    states.done.insert(step.id.as_str());
                }
            }
        }
        Ok(states)
    }

    fn step(
        &self,
        view: View<'_>,
        step: &Step,
        states: &StepStates<'_>,
    ) -> Result<StepProgress, Failure> {
        let done = &states.done;
        let asked = match step.kind {
            StepKind::HumanAction => approvals::human(view.database, &self.head, &step.id)?
                .filter(|asked| asked.subject.details.as_ref() == Some(&question(step))),
            StepKind::ApiCall | StepKind::Condition => None,
        };
        let status = if done.contains(step.id.as_str()) {
            StepStatus::Done
        } else if !step.depends_on.iter().all(|id| done.contains(id.as_str())) {
            StepStatus::Blocked
        } else {
            match asked.as_ref().filter(|asked| !asked.is_over(view.now)) {
                _ if states.called.contains(step.id.as_str()) => StepStatus::Ready,
                Some(asked) if asked.status == Status::Pending => StepStatus::Pending,
                Some(asked) if asked.status == Status::Denied && view.now < asked.expires_at => {
                    StepStatus::Denied
                }
                _ => StepStatus::Ready,
            }
        };
        let is_shown = matches!(
            status,
            StepStatus::Done | StepStatus::Pending | StepStatus::Denied
        );
        let asked = asked.filter(|_| is_shown);
        Ok(StepProgress {
            id: step.id.clone(),
            kind: step.kind,
            operation: step.operation.clone(),
            status,
            answer: asked.as_ref().and_then(|asked| asked.response.clone()),
            approval_id: asked.map(|asked| asked.id),
        })
    }

    /// Returns the steps that were called or answered with what they are about now, and whether each is verified.
    fn rows(&self, database: &Connection) -> Result<BTreeMap<String, bool>, Failure> {
        let rows: Vec<(String, String, bool)> = database.all(
            "SELECT step, subject, verified FROM onboarding WHERE skill = ?1",
            [&self.head.folded],
            |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
        )?;
        let rows = rows.into_iter();
        Ok(rows
            .filter(|(step, subject, _)| self.subjects.get(step) == Some(subject))
            .map(|(step, _, is_verified)| (step, is_verified))
            .collect())
    }
}

/// What a call or an answer brought for a step.
#[derive(Debug, Default)]
pub(crate) struct StepResult {
    /// What goes to the memory of the skill, by key.
    pub(crate) memory: Vec<(String, Value)>,
    /// Of a human action: the request, which is used up.
    pub(crate) approval: Option<Approval>,
}

/// Writes down that a step was called or answered, and keeps what it brought. Records `onboarding-step`, unless it is to be
/// verified first.
///
/// # Errors
///
/// `limit` where the memory of the skill is full, `capability-removed` where the skill was unloaded, `store-unavailable`,
/// `approval-store`.
pub(crate) fn called_step(
    change: &mut Change<'_>,
    plan: &Plan,
    step: &Step,
    brought: StepResult,
    who: &Who,
) -> Result<(), Failure> {
    let head = &plan.head;
    still_registered(change.database, head)?;
    for (key, value) in &brought.memory {
        memory::set(change, &head.folded, key, value)?;
    }
    let subject = plan.subjects.get(&step.id).map_or("", String::as_str);
    change.database.run(
        "INSERT INTO onboarding (skill, step, subject, verified) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (skill, step) DO UPDATE SET subject = excluded.subject, verified = excluded.verified",
        params![head.folded, step.id, subject, step.verify.is_none()],
    )?;
    if step.verify.is_none() {
        let mut entry = step_ended(plan, step, who);
        entry.approval = brought.approval.as_ref().map(|asked| asked.id.clone());
        change.record(entry);
    }
    if let Some(asked) = brought.approval {
        approvals::use_up(change, asked, who)?;
    }
    Ok(())
}

/// Writes down that a step that was called is verified. Records `onboarding-step`.
pub(crate) fn verified_step(
    change: &mut Change<'_>,
    plan: &Plan,
    step: &Step,
    who: &Who,
) -> Result<(), Failure> {
    still_registered(change.database, &plan.head)?;
    let subject = plan.subjects.get(&step.id).map_or("", String::as_str);
    change.database.run(
        "UPDATE onboarding SET verified = 1 WHERE skill = ?1 AND step = ?2 AND subject = ?3",
        params![plan.head.folded, step.id, subject],
    )?;
    change.record(step_ended(plan, step, who));
    Ok(())
}

fn step_ended(plan: &Plan, step: &Step, who: &Who) -> Entry {
    let mut entry = plan.head.entry(Event::OnboardingStep, who);
    entry.subject = Some(step.id.clone());
    entry
}

/// Records that a step was tried and is not done.
pub(crate) fn failed_step(
    change: &mut Change<'_>,
    plan: &Plan,
    step: &Step,
    failure: &Failure,
    who: &Who,
) {
    let mut entry = step_ended(plan, step, who);
    entry.outcome = Outcome::Error;
    entry.code = Some(failure.code);
    change.record(entry);
}

/// Deletes what steps did and kept: it goes with the skill, and another one that is loaded under its id finds nothing.
pub(super) fn forget(change: &Change<'_>, skill: &str) -> Result<(), Failure> {
    let sql = "DELETE FROM onboarding WHERE skill = ?1";
    change.database.run(sql, [skill])?;
    change
        .database
        .run("DELETE FROM memory WHERE skill = ?1", [skill])
}

/// Deletes what was done and kept for steps that the document does not have any more.
pub(super) fn sweep(change: &Change<'_>, plan: &Plan) -> Result<(), Failure> {
    let steps = &plan.onboarding.steps;
    let ids: Vec<&str> = steps.iter().map(|step| step.id.as_str()).collect();
    let stores = steps.iter().flat_map(|step| &step.store);
    let keys: Vec<&str> = stores
        .filter_map(|store| match &store.to {
            StoreTarget::Memory(key) => Some(key.as_str()),
            StoreTarget::Secret(_) => None,
        })
        .collect();
    change.database.run(
        "DELETE FROM onboarding WHERE skill = ?1 AND step NOT IN (SELECT value FROM json_each(?2))",
        params![plan.head.folded, Json(&ids)],
    )?;
    change.database.run(
        "DELETE FROM memory WHERE skill = ?1 AND name NOT IN (SELECT value FROM json_each(?2))",
        params![plan.head.folded, Json(&keys)],
    )
}
