//! The table of approvals: how a row is read and written.

use std::time::Duration;

use rusqlite::{Connection, Params, Row, params};

use super::{Approval, Kind, Scope, Status};
use crate::failure::{Code, Failure};
use crate::registry::sql::{Json, Queries};
use crate::registry::store;
use crate::state::Change;
use crate::time::Time;

impl Approval {
    fn from_row(row: &Row<'_>) -> rusqlite::Result<Self> {
        let Json(subject) = row.get("body")?;
        let response: Option<Json<_>> = row.get("response")?;
        Ok(Self {
            id: row.get("id")?,
            kind: row.get("kind")?,
            key: row.get("subject")?,
            subject,
            requested_at: row.get("requested_at")?,
            expires_at: row.get("expires_at")?,
            // An unknown status is an error, and an error denies.
            status: row.get("status")?,
            session: row.get("session")?,
            by: row.get("decided_by")?,
            reason: row.get("reason")?,
            decided_at: row.get("decided_at")?,
            scope: row.get("scope")?,
            valid_until: row.get("valid_until")?,
            response: response.map(|Json(response)| response),
            clock_behind: Duration::from_millis(row.get::<_, i64>("clock_behind")?.unsigned_abs()),
        })
    }

    /// Writes a new request. `reopens` is the denied request after which an agent asks again.
    pub(super) fn insert(
        &self,
        change: &Change<'_>,
        skill: Option<&str>,
        reopens: Option<&str>,
    ) -> Result<(), Failure> {
        let subject = &self.subject;
        change.database.run(
            "INSERT INTO approvals (id, kind, subject, skill, source, op_digest, policy_digest, requested_at, expires_at,
                body, reopens, status, session)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
            params![
                self.id,
                self.kind,
                self.key,
                skill,
                subject.source.as_deref().unwrap_or_default(),
                subject.op_digest.as_deref().unwrap_or_default(),
                subject.policy_digest.as_deref().unwrap_or_default(),
                self.requested_at,
                self.expires_at,
                Json(subject),
                reopens,
                self.status,
                self.session,
            ],
        )
    }

    /// Writes the columns that may change. The row's status has to be `from` still.
    pub(super) fn update(&self, change: &Change<'_>, from: Status) -> Result<(), Failure> {
        let rows = change.database.changed(
            "UPDATE approvals SET status = ?2, session = ?3, decided_by = ?4, reason = ?5, decided_at = ?6, scope = ?7,
                valid_until = ?8, response = ?9, clock_behind = ?11
             WHERE id = ?1 AND status = ?10",
            params![
                self.id,
                self.status,
                self.session,
                self.by,
                self.reason,
                self.decided_at,
                self.scope,
                self.valid_until,
                self.response.as_ref().map(Json),
                from,
                milliseconds(self.clock_behind),
            ],
        )?;
        if rows == 1 {
            Ok(())
        } else {
            Err(store(format!("approval {} changed meanwhile", self.id)))
        }
    }
}

/// Returns a duration as it is stored.
pub(super) fn milliseconds(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

/// Returns the approvals that a condition holds for.
pub(super) fn select(
    database: &Connection,
    condition: &str,
    params: impl Params,
) -> Result<Vec<Approval>, Failure> {
    database.all(
        &format!("SELECT * FROM approvals WHERE {condition}"),
        params,
        Approval::from_row,
    )
}

/// Returns the first approval that a condition holds for.
pub(super) fn select_first(
    database: &Connection,
    condition: &str,
    params: impl Params,
) -> Result<Option<Approval>, Failure> {
    database.first(
        &format!("SELECT * FROM approvals WHERE {condition} LIMIT 1"),
        params,
        Approval::from_row,
    )
}

/// Returns the approval with this id.
pub(crate) fn by_id(database: &Connection, id: &str) -> Result<Approval, Failure> {
    select_first(database, "id = ?1", [id])?.ok_or_else(|| {
        let shown: String = id.chars().take(64).collect();
        Failure::new(
            Code::UnknownApproval,
            format!("there is no approval {shown}"),
        )
        .with_hint("approvals list shows what there is")
    })
}

/// Returns how many requests of this skill (folded) are pending.
pub(in crate::registry) fn pending_of_skill(
    database: &Connection,
    skill: &str,
    now: Time,
) -> Result<u64, Failure> {
    let sql = "SELECT count(*) FROM approvals WHERE skill = ?1 AND status = 'pending' AND expires_at > ?2";
    let count = database.value(sql, params![skill, now])?;
    Ok(count.unwrap_or_default())
}

/// Returns the id of the last request for this subject that was ever granted, by an operator or by policy.
pub(super) fn last_granted(
    database: &Connection,
    kind: Kind,
    key: &str,
) -> Result<Option<String>, Failure> {
    database.value(
        "SELECT id FROM approvals WHERE subject = ?1 AND kind = ?2 AND scope IS NOT NULL
         ORDER BY number DESC LIMIT 1",
        params![key, kind],
    )
}

/// Gives a `session` grant to the first session that uses it, if no session has it yet.
pub(super) fn bind_to_session(
    change: &Change<'_>,
    approval: &mut Approval,
    session: Option<&str>,
) -> Result<(), Failure> {
    if approval.scope == Some(Scope::Session) && approval.session.is_none() {
        approval.session = session.map(str::to_owned);
        approval.update(change, Status::Approved)?;
    }
    Ok(())
}
