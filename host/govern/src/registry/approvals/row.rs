//! Approvals in the database.

use std::time::Duration;

use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension, Row, ToSql, params};

use super::{Approval, Kind, Scope, Status, Subject};
use crate::failure::{Code, Failure};
use crate::registry::store;
use crate::state::Change;
use crate::time::Time;

const COLUMNS: &str = "id, kind, subject, requested_at, expires_at, body, status, session, decided_by, reason, decided_at,
    scope, valid_until, response, clock_behind";

/// A time as it is stored.
pub(super) fn stored(time: Time) -> i64 {
    i64::try_from(time.milliseconds()).unwrap_or(i64::MAX)
}

/// A duration as it is stored.
pub(super) fn milliseconds(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

fn time(milliseconds: i64) -> Time {
    Time::from_milliseconds(u64::try_from(milliseconds).unwrap_or(0))
}

fn read(row: &Row<'_>) -> rusqlite::Result<Approval> {
    let wrong = |column: usize, text: String| {
        rusqlite::Error::FromSqlConversionFailure(
            column,
            Type::Text,
            format!("unknown value {text:?} in an approval").into(),
        )
    };
    let json = |column: usize, error: serde_json::Error| {
        rusqlite::Error::FromSqlConversionFailure(column, Type::Text, Box::new(error))
    };
    let kind: String = row.get(1)?;
    let body: String = row.get(5)?;
    let status: String = row.get(6)?;
    let scope: Option<String> = row.get(11)?;
    let response: Option<String> = row.get(13)?;
    Ok(Approval {
        id: row.get(0)?,
        kind: Kind::parse(&kind).ok_or_else(|| wrong(1, kind))?,
        key: row.get(2)?,
        requested_at: time(row.get(3)?),
        expires_at: time(row.get(4)?),
        subject: serde_json::from_str::<Subject>(&body).map_err(|error| json(5, error))?,
        // A state that is not known is an error, and an error denies.
        status: Status::parse(&status).ok_or_else(|| wrong(6, status))?,
        session: row.get(7)?,
        by: row.get(8)?,
        reason: row.get(9)?,
        decided_at: row.get::<_, Option<i64>>(10)?.map(time),
        scope: scope
            .map(|text| Scope::parse(&text).ok_or_else(|| wrong(11, text)))
            .transpose()?,
        valid_until: row.get::<_, Option<i64>>(12)?.map(time),
        response: response
            .map(|text| serde_json::from_str(&text).map_err(|error| json(13, error)))
            .transpose()?,
        clock_behind: Duration::from_millis(row.get::<_, i64>(14)?.unsigned_abs()),
    })
}

/// Those that a condition holds for, in the order in which they were opened unless it says otherwise.
pub(super) fn select(
    database: &Connection,
    condition: &str,
    values: &[&dyn ToSql],
) -> Result<Vec<Approval>, Failure> {
    let sql = format!("SELECT {COLUMNS} FROM approvals WHERE {condition}");
    let mut query = database.prepare_cached(&sql).map_err(store)?;
    query
        .query_map(values, read)
        .and_then(Iterator::collect)
        .map_err(store)
}

/// The one with this id.
pub(crate) fn by_id(database: &Connection, id: &str) -> Result<Approval, Failure> {
    let mut found = select(database, "id = ?1", params![id])?;
    found.pop().ok_or_else(|| {
        let shown: String = id.chars().take(64).collect();
        Failure::new(
            Code::UnknownApproval,
            format!("there is no approval {shown}"),
        )
        .with_hint("approvals list shows what there is")
    })
}

/// Writes a new request.
pub(super) fn insert(
    change: &Change<'_>,
    approval: &Approval,
    skill: Option<&str>,
    reopens: Option<&str>,
) -> Result<(), Failure> {
    let subject = &approval.subject;
    let body = serde_json::to_string(subject).map_err(store)?;
    change
        .database
        .prepare_cached(
            "INSERT INTO approvals (id, kind, subject, skill, source, op_digest, policy_digest, requested_at, expires_at,
                body, reopens, status, session)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, 'pending', ?12)",
        )
        .and_then(|mut query| {
            query.execute(params![
                approval.id,
                approval.kind.as_str(),
                approval.key,
                skill,
                subject.source.as_deref().unwrap_or_default(),
                subject.op_digest.as_deref().unwrap_or_default(),
                subject.policy_digest.as_deref().unwrap_or_default(),
                stored(approval.requested_at),
                stored(approval.expires_at),
                body,
                reopens,
                approval.session,
            ])
        })
        .map_err(store)?;
    Ok(())
}

/// Writes what may change of one; its status has to be `from` still.
pub(super) fn update(
    change: &Change<'_>,
    approval: &Approval,
    from: Status,
) -> Result<(), Failure> {
    let response = approval
        .response
        .as_ref()
        .map(serde_json::to_string)
        .transpose()
        .map_err(store)?;
    let rows = change
        .database
        .prepare_cached(
            "UPDATE approvals SET status = ?2, session = ?3, decided_by = ?4, reason = ?5, decided_at = ?6, scope = ?7,
                valid_until = ?8, response = ?9, clock_behind = ?11
             WHERE id = ?1 AND status = ?10",
        )
        .and_then(|mut query| {
            query.execute(params![
                approval.id,
                approval.status.as_str(),
                approval.session,
                approval.by,
                approval.reason,
                approval.decided_at.map(stored),
                approval.scope.map(Scope::as_str),
                approval.valid_until.map(stored),
                response,
                from.as_str(),
                milliseconds(approval.clock_behind),
            ])
        })
        .map_err(store)?;
    if rows == 1 {
        Ok(())
    } else {
        Err(store(format!("approval {} changed meanwhile", approval.id)))
    }
}

/// How many requests of this skill (folded) are pending.
pub(in crate::registry) fn pending_of_skill(
    database: &Connection,
    skill: &str,
    now: Time,
) -> Result<u64, Failure> {
    database
        .prepare_cached(
            "SELECT count(*) FROM approvals WHERE skill = ?1 AND status = 'pending' AND expires_at > ?2",
        )
        .and_then(|mut query| query.query_row(params![skill, stored(now)], |row| row.get(0)))
        .map_err(store)
        .and_then(|count: i64| u64::try_from(count).map_err(store))
}

/// The last request for this subject that was ever granted, by an operator or by policy.
pub(super) fn last_granted(
    database: &Connection,
    kind: Kind,
    key: &str,
) -> Result<Option<String>, Failure> {
    database
        .prepare_cached(
            "SELECT id FROM approvals WHERE subject = ?1 AND kind = ?2 AND scope IS NOT NULL
             ORDER BY number DESC LIMIT 1",
        )
        .and_then(|mut query| {
            query
                .query_row(params![key, kind.as_str()], |row| row.get(0))
                .optional()
        })
        .map_err(store)
}
