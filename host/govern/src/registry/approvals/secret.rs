//! Requests about secrets that came with an answer.

use rusqlite::{Connection, params};
use serde_json::json;

use super::end::end;
use super::open::{Opening, open};
use super::row::{by_id, select};
use super::{Approval, Kind, Status, Subject, guarded};
use crate::failure::Failure;
use crate::registry::find::still_registered;
use crate::registry::{SkillHead, Surroundings, Who};
use crate::state::Change;
use crate::time::Time;

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
    let subject = Subject {
        skill_id: Some(skill.skill.id.clone()),
        source: Some(skill.source.clone()),
        skill_digest: Some(skill.digest.clone()),
        secrets: vec![name.to_owned()],
        reasons: vec![format!("secret-write:{name}")],
        details: replaces.then(|| json!({ "replaces": "the value that is in use" })),
        ..Subject::default()
    };
    let opening = Opening {
        kind: Kind::SecretWrite,
        key: format!("{} {name}", skill.folded),
        skill: Some(&skill.folded),
        subject,
        session: who.session.as_deref(),
        reopens: None,
        ttl: around.pending_ttl(),
    };
    open(change, opening, who)
}

/// The value of a request is kept: what is pending about earlier ones of the same name is superseded. Records
/// `approval-superseded` for each.
///
/// # Errors
///
/// `store-unavailable`.
pub(crate) fn supersede_earlier(
    change: &mut Change<'_>,
    newest: &str,
    who: &Who,
) -> Result<(), Failure> {
    let earlier = select(
        change.database,
        "kind = 'secret-write' AND status = 'pending'
            AND subject = (SELECT subject FROM approvals WHERE id = ?1)
            AND number < (SELECT number FROM approvals WHERE id = ?1) ORDER BY number",
        params![newest],
    )?;
    for approval in earlier {
        end(change, approval, Status::Superseded, who)?;
    }
    Ok(())
}

/// The value of a request could not be kept: there is nothing to decide. Records `approval-superseded`.
///
/// # Errors
///
/// `store-unavailable`.
pub(crate) fn supersede_this(
    change: &mut Change<'_>,
    asked: &Approval,
    who: &Who,
) -> Result<(), Failure> {
    let asked = by_id(change.database, &asked.id)?;
    if asked.status == Status::Pending {
        end(change, asked, Status::Superseded, who)?;
    }
    Ok(())
}

/// What was decided about the values that came with these requests: those that are not known, then by age, the oldest
/// first. Records nothing.
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
        params![json!(ids).to_string()],
    ))?;
    let is_unknown = |id: &&&str| !known.iter().any(|asked| asked.id == **id);
    let unknown = ids.iter().filter(is_unknown);
    let mut decided: Vec<(String, SecretWrite)> = unknown
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
