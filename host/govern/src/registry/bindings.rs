//! Bindings of secrets: which skill may use which stored value for which host.
//!
//! Rows only: values are in the store of secrets. A binding that came with a grant lives as long as the grant, and one that
//! came with a `once` or `session` grant serves the calls of that grant alone; it is no reason to approve anything else.

use rusqlite::{Connection, OptionalExtension, params};
use serde::Serialize;

use super::approvals::{Approval, Clock, LIVE};
use super::find::{Registered, SkillHead, skill};
use super::name::fold;
use super::store;
use crate::failure::Failure;
use crate::state::Change;
use crate::time::Time;

/// Where a value is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Store {
    /// Under `[skills.<id>]`.
    Skill,
    /// Under `[secrets]`.
    Global,
    /// A variable that `env_secrets` names.
    Environment,
}

impl Store {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Skill => "skill",
            Self::Global => "global",
            Self::Environment => "environment",
        }
    }

    fn parse(text: &str) -> Result<Self, Failure> {
        match text {
            "skill" => Ok(Self::Skill),
            "global" => Ok(Self::Global),
            "environment" => Ok(Self::Environment),
            _ => Err(store("a binding to an unknown store")),
        }
    }
}

/// What a skill's name for a secret stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bound {
    /// Its name in the store.
    pub stored: String,
    /// Which part of the store.
    pub store: Store,
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
    pub store: Store,
    /// `host:port`; empty: a sandbox stage without hosts.
    pub host: String,
    /// The grant that made it; absent: `secrets bind`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approval: Option<String>,
}

/// `secrets bind`. It holds for the source the skill is loaded from now, else for the first that is loaded under this
/// id. Replaces one for the same name and host. Records nothing.
///
/// # Errors
///
/// `store-unavailable`.
pub fn bind(
    change: &Change<'_>,
    skill_id: &str,
    expected: &str,
    stored: &str,
    kept: Store,
    host_port: &str,
) -> Result<(), Failure> {
    let folded = fold(skill_id);
    let source = skill(change.database, &folded)?.map_or_else(String::new, |head| head.source);
    insert(
        change, &folded, expected, stored, kept, host_port, "", &source,
    )
}

/// `secrets remove`: bindings to a stored value go with it; `skill_id` for one of `[skills.<id>]`. Returns how many.
/// Records nothing.
///
/// # Errors
///
/// `store-unavailable`.
pub fn unbind(
    change: &Change<'_>,
    stored: &str,
    kept: Store,
    skill_id: Option<&str>,
) -> Result<usize, Failure> {
    let skill = skill_id.map(fold);
    // What a grant bound stays: granting binds before the value is set, and after it is set anew.
    change
        .database
        .execute(
            "DELETE FROM bindings WHERE stored = ?1 AND store = ?2 AND approval = '' AND (?3 IS NULL OR skill = ?3)",
            params![stored, kept.as_str(), skill],
        )
        .map_err(store)
}

/// All that hold now. Records nothing.
///
/// # Errors
///
/// `store-unavailable`.
pub fn list(database: &Connection, now: Time) -> Result<Vec<Binding>, Failure> {
    let sql = format!(
        "SELECT b.skill, b.expected, b.stored, b.store, b.host, b.approval FROM bindings b
         WHERE b.approval = '' OR EXISTS (SELECT 1 FROM approvals a WHERE a.id = b.approval AND {LIVE})
         ORDER BY b.skill, b.expected, b.host, b.approval"
    );
    let mut query = database.prepare_cached(&sql).map_err(store)?;
    let rows = query
        .query_map(Clock::read(now).stored(), |row| {
            Ok((
                row.get::<_, String>(3)?,
                Binding {
                    skill_id: row.get(0)?,
                    expected: row.get(1)?,
                    stored: row.get(2)?,
                    store: Store::Skill,
                    host: row.get(4)?,
                    approval: Some(row.get::<_, String>(5)?).filter(|id| !id.is_empty()),
                },
            ))
        })
        .map_err(store)?;
    rows.map(|row| {
        let (kept, binding) = row.map_err(store)?;
        Ok(Binding {
            store: Store::parse(&kept)?,
            ..binding
        })
    })
    .collect()
}

/// What this skill's name for a secret stands for, for this host, in a call under this grant. `host` is `host:port`,
/// or empty for a sandbox, which only a grant of an operation with one binds. None: `secret-unbound`. Records nothing.
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
    let [clock, behind] = Clock::read(now).stored();
    database
        .prepare_cached(&sql)
        .and_then(|mut query| {
            query
                .query_row(
                    params![
                        clock,
                        behind,
                        skill.folded,
                        expected,
                        host,
                        skill.source,
                        grant.unwrap_or_default()
                    ],
                    |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?)),
                )
                .optional()
        })
        .map_err(store)?
        .map(|(stored, kept)| {
            Ok(Bound {
                stored,
                store: Store::parse(&kept)?,
            })
        })
        .transpose()
}

/// Whether a secret has a binding for all these hosts that no single call or session has to itself.
pub(super) fn is_bound(
    database: &Connection,
    skill: &SkillHead,
    expected: &str,
    hosts: &[String],
    now: Time,
) -> Result<bool, Failure> {
    let none = [String::new()];
    let hosts = if hosts.is_empty() { &none } else { hosts };
    for host in hosts {
        if bound(database, skill, expected, host, None, now)?.is_none() {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The skill's own secrets that a grant names as reasons, for the hosts they are sent to.
pub(super) fn bind_of_grant(
    change: &Change<'_>,
    approval: &Approval,
    found: &Registered,
) -> Result<(), Failure> {
    for secret in &found.operation.secrets {
        let reason = format!("secret:{}", secret.name);
        if !approval.subject.reasons.contains(&reason) {
            continue;
        }
        let none = [String::new()];
        let hosts = if secret.hosts.is_empty() {
            none.as_slice()
        } else {
            &secret.hosts
        };
        for host in hosts {
            insert(
                change,
                &found.skill.folded,
                &secret.name,
                &secret.name,
                Store::Skill,
                host,
                &approval.id,
                &found.skill.source,
            )?;
        }
    }
    Ok(())
}

/// A grant was revoked, or ended otherwise; a consumed one keeps its own for the call it is for.
pub(super) fn drop_of_grant(change: &Change<'_>, approval: &str) -> Result<(), Failure> {
    change
        .database
        .execute("DELETE FROM bindings WHERE approval = ?1", [approval])
        .map_err(store)?;
    Ok(())
}

/// A skill is loaded: bindings made before it was there are for this source now.
pub(super) fn adopt(change: &Change<'_>, skill: &str, source: &str) -> Result<(), Failure> {
    change
        .database
        .execute(
            "UPDATE bindings SET source = ?2 WHERE skill = ?1 AND source = ''",
            [skill, source],
        )
        .map_err(store)?;
    Ok(())
}

#[allow(clippy::too_many_arguments, reason = "the columns of one row")]
fn insert(
    change: &Change<'_>,
    skill: &str,
    expected: &str,
    stored: &str,
    kept: Store,
    host: &str,
    approval: &str,
    source: &str,
) -> Result<(), Failure> {
    change
        .database
        .prepare_cached(
            "INSERT OR REPLACE INTO bindings (skill, expected, host, stored, store, approval, source)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        )
        .and_then(|mut query| {
            query.execute(params![
                skill,
                expected,
                host,
                stored,
                kept.as_str(),
                approval,
                source
            ])
        })
        .map_err(store)?;
    Ok(())
}
