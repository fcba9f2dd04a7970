//! Bindings of secrets: which skill may use which stored value for which host.
//!
//! Rows only: values are in the store of secrets. A binding that came with a grant lives as long as the grant, and one that
//! came with a `once` or `session` grant serves the calls of that grant alone; it is no reason to approve anything else.

use rusqlite::{Connection, params};
use serde::Serialize;

use super::approvals::{Approval, Clock, LIVE};
use super::name::fold;
use super::sql::Queries;
use super::{Registered, SkillHead};
use crate::failure::Failure;
use crate::secrets::Place;
use crate::state::Change;
use crate::time::Time;

/// What a skill's name for a secret stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bound {
    /// Its name in the store.
    pub stored: String,
    /// Which part of the store.
    pub place: Place,
}

/// A binding, for lists.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Binding {
    /// The skill, folded.
    pub skill_id: String,
    /// The name the skill gives it.
    pub expected: String,
    /// Its name in the store.
    pub stored: String,
    /// Which part of the store.
    pub store: Place,
    /// `host:port`; empty: a sandbox stage without hosts.
    pub host: String,
    /// The grant that made it; absent: `secrets bind`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approval: Option<String>,
}

/// The hosts that a secret is bound for: those it is sent to, or the empty host of a sandbox stage without hosts.
pub(crate) fn hosts_of(hosts: &[String]) -> impl Iterator<Item = &str> {
    let sandbox = hosts.is_empty().then_some("");
    hosts.iter().map(String::as_str).chain(sandbox)
}

/// `secrets bind`. The binding holds for the source that the skill is loaded from now, else for the first that is loaded
/// under this id. It replaces one for the same name and host.
///
/// # Errors
///
/// `store-unavailable`.
pub fn bind(
    change: &Change<'_>,
    skill_id: &str,
    expected: &str,
    stored: &str,
    place: Place,
    host_port: &str,
) -> Result<(), Failure> {
    let skill = fold(skill_id);
    let head = SkillHead::find(change.database, &skill)?;
    Row {
        skill: &skill,
        expected,
        host: host_port,
        stored,
        place,
        approval: "",
        source: head.as_ref().map_or("", |head| &head.source),
    }
    .write(change)
}

/// `secrets remove`: deletes the bindings to a stored value; `skill_id` for one of `[skills.<id>]`. Returns how many.
///
/// # Errors
///
/// `store-unavailable`.
pub fn unbind(
    change: &Change<'_>,
    stored: &str,
    place: Place,
    skill_id: Option<&str>,
) -> Result<usize, Failure> {
    // Bindings of grants stay: a grant binds before the value is set, and after it is set anew.
    change.database.changed(
        "DELETE FROM bindings WHERE stored = ?1 AND store = ?2 AND approval = '' AND (?3 IS NULL OR skill = ?3)",
        params![stored, place, skill_id.map(fold)],
    )
}

/// Returns all bindings that hold now.
///
/// # Errors
///
/// `store-unavailable`.
pub fn list(database: &Connection, now: Time) -> Result<Vec<Binding>, Failure> {
    let sql = format!(
        "SELECT b.skill, b.expected, b.stored, b.store, b.host, nullif(b.approval, '') FROM bindings b
         WHERE b.approval = '' OR EXISTS (SELECT 1 FROM approvals a WHERE a.id = b.approval AND {LIVE})
         ORDER BY b.skill, b.expected, b.host, b.approval"
    );
    database.all(&sql, Clock::read(now).stored(), |row| {
        Ok(Binding {
            skill_id: row.get(0)?,
            expected: row.get(1)?,
            stored: row.get(2)?,
            store: row.get(3)?,
            host: row.get(4)?,
            approval: row.get(5)?,
        })
    })
}

/// Returns what this skill's name for a secret stands for, for this host, in a call under this grant; none: `secret-unbound`.
/// `host` is `host:port`, or empty for a sandbox, which only a grant of an operation with one binds.
///
/// # Errors
///
/// `store-unavailable`.
pub fn bound(
    database: &Connection,
    skill: &SkillHead,
    expected: &str,
    host: &str,
    grant: Option<&str>,
    now: Time,
) -> Result<Option<Bound>, Failure> {
    let sql = format!(
        "SELECT b.stored, b.store FROM bindings b
         WHERE b.skill = ?3 AND b.expected = ?4 AND b.host = ?5 AND b.source IN ('', ?6)
            AND (b.approval = '' OR b.approval = ?7 OR EXISTS (
                SELECT 1 FROM approvals a WHERE a.id = b.approval AND a.scope = 'until-changed' AND {LIVE}))
         ORDER BY b.approval <> '', b.approval <> ?7, b.host LIMIT 1"
    );
    let (clock, behind) = Clock::read(now).stored();
    let grant = grant.unwrap_or_default();
    database.first(
        &sql,
        params![
            clock,
            behind,
            skill.folded,
            expected,
            host,
            skill.source,
            grant
        ],
        |row| {
            Ok(Bound {
                stored: row.get(0)?,
                place: row.get(1)?,
            })
        },
    )
}

/// Whether a secret has a binding for all these hosts that is not for a single call or session.
pub(super) fn is_bound(
    database: &Connection,
    skill: &SkillHead,
    expected: &str,
    hosts: &[String],
    now: Time,
) -> Result<bool, Failure> {
    for host in hosts_of(hosts) {
        if bound(database, skill, expected, host, None, now)?.is_none() {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Binds the skill's own secrets that a grant names as reasons, for the hosts they are sent to.
pub(super) fn bind_for_grant(
    change: &Change<'_>,
    approval: &Approval,
    found: &Registered,
) -> Result<(), Failure> {
    for secret in &found.operation.secrets {
        let reason = format!("secret:{}", secret.name);
        if !approval.subject.reasons.contains(&reason) {
            continue;
        }
        for host in hosts_of(&secret.hosts) {
            Row {
                skill: &found.skill.folded,
                expected: &secret.name,
                host,
                stored: &secret.name,
                place: Place::Skill,
                approval: &approval.id,
                source: &found.skill.source,
            }
            .write(change)?;
        }
    }
    Ok(())
}

/// Deletes the bindings that a grant made, when it ends. A consumed one keeps its own for the call it is for.
pub(super) fn unbind_grant(change: &Change<'_>, approval: &str) -> Result<(), Failure> {
    let sql = "DELETE FROM bindings WHERE approval = ?1";
    change.database.run(sql, [approval])
}

/// Gives the bindings that were made before a skill was loaded to the source that it is loaded from now.
pub(super) fn adopt(change: &Change<'_>, skill: &SkillHead) -> Result<(), Failure> {
    change.database.run(
        "UPDATE bindings SET source = ?2 WHERE skill = ?1 AND source = ''",
        [&skill.folded, &skill.source],
    )
}

/// A row of the table.
struct Row<'a> {
    skill: &'a str,
    expected: &'a str,
    host: &'a str,
    stored: &'a str,
    place: Place,
    /// The grant that made it; empty: `secrets bind`.
    approval: &'a str,
    source: &'a str,
}

impl Row<'_> {
    fn write(&self, change: &Change<'_>) -> Result<(), Failure> {
        change.database.run(
            "INSERT OR REPLACE INTO bindings (skill, expected, host, stored, store, approval, source)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            params![
                self.skill,
                self.expected,
                self.host,
                self.stored,
                self.place,
                self.approval,
                self.source
            ],
        )
    }
}
