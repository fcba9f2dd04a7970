//! Requests about something else than an operation: more of a budget, something that a person does, a secret that came with an
//! answer.

use std::time::Duration;

use rusqlite::{Connection, params};
use serde_json::{Value, json};

use super::lifecycle::{Opening, end_over, open, transition};
use super::table::{select, select_first};
use super::{Approval, Kind, Status, Subject, guarded};
use crate::failure::Failure;
use crate::registry::find::still_registered;
use crate::registry::sql::Json;
use crate::registry::{SkillHead, Surroundings, Who};
use crate::state::{Change, State};
use crate::time::Time;

/// How long a human action waits for its answer at most.
const HUMAN_TTL: Duration = Duration::from_hours(24);

impl Subject {
    /// A subject that names a skill.
    pub(super) fn of_skill(skill: &SkillHead) -> Self {
        Self {
            skill_id: Some(skill.skill.id.clone()),
            source: Some(skill.source.clone()),
            skill_digest: Some(skill.digest.clone()),
            ..Self::default()
        }
    }
}

/// For the budget policy `approval-required`: asks for `amount` more of a dimension for one session. Returns the request that
/// is pending or was denied, if there is one. A grant is counted by [`crate::registry::session::extensions`]. Records
/// `approval-requested` where one is opened.
///
/// # Errors
///
/// `approval-store`, `audit-unavailable`.
pub fn ask_budget(
    state: &State,
    session: &str,
    dimension: &str,
    amount: u64,
    who: &Who,
    around: &dyn Surroundings,
) -> Result<Approval, Failure> {
    let amount = i64::try_from(amount).unwrap_or(i64::MAX);
    let key = format!("{session} {dimension}");
    guarded(state.write(|change| {
        let last = select_first(
            change.database,
            "subject = ?1 AND kind = ?2 ORDER BY number DESC",
            params![key, Kind::Budget],
        )?;
        match last {
            Some(last) if last.is_over(change.now) => end_over(change, last, who)?,
            Some(last) if matches!(last.status, Status::Pending | Status::Denied) => {
                return Ok(last);
            }
            _ => {}
        }
        let opening = Opening {
            kind: Kind::Budget,
            key,
            skill: None,
            subject: Subject {
                reasons: vec![format!("budget:{dimension}")],
                details: Some(
                    json!({"session": session, "dimension": dimension, "amount": amount}),
                ),
                ..Subject::default()
            },
            session: who.session.as_deref(),
            reopens: None,
            ttl: around.pending_ttl(),
        };
        open(change, opening, who)
    }))
}

/// Opens the request for the human action of a step, or returns the one there is if that is about the same question. `action`
/// has `title`, `instructions`, `action-type` and `required-response` (JSON Schema). After a denial it is asked again once the
/// time of the denied request is over. Records `approval-requested`.
///
/// # Errors
///
/// `approval-store`, `audit-unavailable`.
pub fn ask_human(
    state: &State,
    skill: &SkillHead,
    step: &str,
    action: &Value,
    who: &Who,
    around: &dyn Surroundings,
) -> Result<Approval, Failure> {
    guarded(state.write(|change| {
        still_registered(change.database, skill)?;
        let subject = Subject {
            reasons: vec![format!("human-action:{step}")],
            details: Some(action.clone()),
            ..Subject::of_skill(skill)
        };
        let is_open = |asked: &Approval| match asked.status {
            Status::Pending | Status::Approved => !asked.is_over(change.now),
            Status::Denied => change.now < asked.expires_at,
            _ => false,
        };
        match human(change.database, skill, step)? {
            Some(last) if last.subject.details == subject.details && is_open(&last) => {
                return Ok(last);
            }
            Some(last) if last.is_over(change.now) => end_over(change, last, who)?,
            Some(last) if matches!(last.status, Status::Pending | Status::Approved) => {
                transition(change, last, Status::Superseded, who)?;
            }
            _ => {}
        }
        let opening = Opening {
            kind: Kind::HumanAction,
            key: human_key(skill, step),
            skill: Some(&skill.folded),
            subject,
            session: who.lasting_session(),
            reopens: None,
            ttl: around.pending_ttl().min(HUMAN_TTL),
        };
        open(change, opening, who)
    }))
}

fn human_key(skill: &SkillHead, step: &str) -> String {
    format!("{} {step}", skill.folded)
}

/// Returns the last request about a step.
pub(crate) fn human(
    database: &Connection,
    skill: &SkillHead,
    step: &str,
) -> Result<Option<Approval>, Failure> {
    select_first(
        database,
        "subject = ?1 AND kind = ?2 AND source = ?3 ORDER BY number DESC",
        params![human_key(skill, step), Kind::HumanAction, skill.source],
    )
}

/// What was decided about a value that came with a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SecretWrite {
    /// It may be used.
    Granted,
    /// An operator has to decide.
    Waiting,
    /// It was refused, or its time is over: it has to be erased.
    Ended,
    /// There is no such request: it must not be used. The database may be an older one than the value, so nothing is erased.
    Unknown,
}

/// Asks whether a value may be kept, and says whether it would replace one that is in use. The request holds its name only.
/// Each value is a request of its own. Records `approval-requested`.
///
/// # Errors
///
/// `capability-removed` where the skill was unloaded; `store-unavailable`.
pub fn ask_secret_write(
    change: &mut Change<'_>,
    skill: &SkillHead,
    name: &str,
    replaces: bool,
    who: &Who,
    around: &dyn Surroundings,
) -> Result<Approval, Failure> {
    still_registered(change.database, skill)?;
    let opening = Opening {
        kind: Kind::SecretWrite,
        key: format!("{} {name}", skill.folded),
        skill: Some(&skill.folded),
        subject: Subject {
            secrets: vec![name.to_owned()],
            reasons: vec![format!("secret-write:{name}")],
            details: replaces.then(|| json!({ "replaces": "the value that is in use" })),
            ..Subject::of_skill(skill)
        },
        session: who.session.as_deref(),
        reopens: None,
        ttl: around.pending_ttl(),
    };
    open(change, opening, who)
}

/// Returns what was decided about the values that came with these requests: first those that are not known, then the others
/// by age, the oldest first.
///
/// # Errors
///
/// `approval-store`.
pub fn secret_writes(
    database: &Connection,
    ids: &[&str],
    now: Time,
) -> Result<Vec<(String, SecretWrite)>, Failure> {
    let known = guarded(select(
        database,
        "id IN (SELECT value FROM json_each(?1)) ORDER BY number",
        [Json(ids)],
    ))?;
    let is_unknown = |id: &&&str| !known.iter().any(|asked| asked.id == **id);
    let mut decided: Vec<(String, SecretWrite)> = ids
        .iter()
        .filter(is_unknown)
        .map(|id| ((*id).to_owned(), SecretWrite::Unknown))
        .collect();
    decided.extend(known.into_iter().map(|asked| {
        let decided = match asked.status {
            _ if asked.is_over(now) || asked.kind != Kind::SecretWrite => SecretWrite::Ended,
            Status::Approved => SecretWrite::Granted,
            Status::Pending => SecretWrite::Waiting,
            _ => SecretWrite::Ended,
        };
        (asked.id, decided)
    }));
    Ok(decided)
}
