//! Looking up an operation.

use std::collections::BTreeMap;
use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension, Row, params};

use super::name::{LONGEST, fold, fold_capability};
use super::store;
use crate::failure::{Code, Failure};
use crate::manifest::Manifest;
use hydrant_plan::{JudgedOperation, Skill, Status};

/// A skill as it is registered, without its operations and its text.
#[derive(Debug, Clone)]
pub struct SkillHead {
    /// Its folded id: what tables, bindings and memory know it by.
    pub folded: String,
    /// The source identity.
    pub source: String,
    /// SHA-256 of the document's bytes.
    pub digest: String,
    /// Of the transaction that changed it last.
    pub generation: u64,
    /// As the interpreter answered; `operations` and `instructions` are empty.
    pub skill: Skill,
    /// Code files given at load, name to digest; their bytes are [`code_file`]'s.
    pub files: BTreeMap<String, String>,
}

/// An operation as it is registered.
#[derive(Debug, Clone)]
pub struct Registered {
    /// `<skill>.<op>` as written.
    pub capability: String,
    /// Its folded form: what tables know it by.
    pub folded: String,
    /// Its skill.
    pub skill: Arc<SkillHead>,
    /// As checked; `operation.digest` is what an approval covers.
    pub operation: JudgedOperation,
    /// What counts.
    pub tier: u8,
    /// The digest of the sandbox policy; of `null` without one.
    pub policy_digest: String,
    /// As at the load; none of an unusable one.
    pub manifest: Option<Manifest>,
}

impl Registered {
    /// Refuses an operation that is unusable.
    ///
    /// # Errors
    ///
    /// Its own, where it is unusable.
    pub fn usable(&self) -> Result<(), Failure> {
        match &self.operation.status {
            Status::Ok => Ok(()),
            Status::Unusable { error, .. } => Err(error.clone()),
        }
    }

    /// `maps-to` of its stages, in order.
    #[must_use]
    pub fn delegates(&self) -> Vec<String> {
        super::loaded::delegates(&self.operation)
    }
}

/// An operation of a skill, by id, alias or full capability id. Records nothing.
///
/// # Errors
///
/// `unknown-skill`, `unknown-operation`, `capability-removed`; `store-unavailable`.
pub fn find(database: &Connection, skill: &str, operation: &str) -> Result<Registered, Failure> {
    let folded_skill = fold(skill);
    let folded = fold(operation);
    let own = folded
        .strip_prefix(&folded_skill)
        .and_then(|rest| rest.strip_prefix('.'));
    for name in std::iter::once(folded.as_str()).chain(own) {
        if let Some(found) = by_name(database, &folded_skill, name)? {
            return Ok(found);
        }
    }
    let there: bool = database
        .prepare_cached("SELECT EXISTS (SELECT 1 FROM skills WHERE folded = ?1)")
        .and_then(|mut query| query.query_row([&folded_skill], |row| row.get(0)))
        .map_err(store)?;
    for name in std::iter::once(folded.as_str()).chain(own) {
        let gone: bool = database
            .prepare_cached(
                "SELECT EXISTS (SELECT 1 FROM removed WHERE skill = ?1 AND folded = ?2)",
            )
            .and_then(|mut query| query.query_row([folded_skill.as_str(), name], |row| row.get(0)))
            .map_err(store)?;
        if gone {
            return Err(removed(&format!("{skill}.{name}")));
        }
    }
    if there {
        Err(Failure::new(
            Code::UnknownOperation,
            format!(
                "skill {} has no operation {}",
                short(skill),
                short(operation)
            ),
        ))
    } else {
        Err(unknown_skill(skill))
    }
}

/// An operation by its capability id or by skill id and alias. Records nothing.
///
/// # Errors
///
/// As [`find`]; `unknown-skill` where no registered skill's id begins it.
pub fn find_capability(database: &Connection, id: &str) -> Result<Registered, Failure> {
    let folded = fold(id);
    if let Some(found) = by_capability(database, &folded)? {
        return Ok(found);
    }
    let gone: bool = database
        .prepare_cached("SELECT EXISTS (SELECT 1 FROM removed WHERE capability = ?1)")
        .and_then(|mut query| query.query_row([&folded], |row| row.get(0)))
        .map_err(store)?;
    if gone {
        return Err(removed(id));
    }
    let there = begins_with_a_skill(database, &folded)?;
    if there {
        Err(Failure::new(
            Code::UnknownOperation,
            format!("there is no operation {}", short(id)),
        ))
    } else {
        Err(unknown_skill(id))
    }
}

/// Whether a registered skill's id and a dot begin it. Each dot may be that one; all skills are not gone through.
fn begins_with_a_skill(database: &Connection, folded: &str) -> Result<bool, Failure> {
    let mut query = database
        .prepare_cached("SELECT EXISTS (SELECT 1 FROM skills WHERE folded = ?1)")
        .map_err(store)?;
    // An id of nothing but dots has as many.
    for (dot, _) in folded.match_indices('.').take(LONGEST + 1) {
        let skill = folded.get(..dot).unwrap_or_default();
        if query.query_row([skill], |row| row.get(0)).map_err(store)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether the skill is still registered from this source: what comes of it later is nobody's otherwise.
///
/// # Errors
///
/// `capability-removed`, `store-unavailable`.
pub(crate) fn still_registered(database: &Connection, head: &SkillHead) -> Result<(), Failure> {
    let source: Option<String> = database
        .prepare_cached("SELECT source FROM skills WHERE folded = ?1")
        .and_then(|mut query| query.query_row([&head.folded], |row| row.get(0)).optional())
        .map_err(store)?;
    if source.as_deref() == Some(&head.source) {
        return Ok(());
    }
    Err(Failure::new(
        Code::CapabilityRemoved,
        format!("skill {} was unloaded meanwhile", head.skill.id),
    ))
}

/// The bytes of a code file, by digest.
///
/// # Errors
///
/// `script-missing` where there are none; `store-unavailable`.
pub fn code_file(database: &Connection, digest: &str) -> Result<Vec<u8>, Failure> {
    database
        .prepare_cached("SELECT bytes FROM code_files WHERE digest = ?1")
        .and_then(|mut query| query.query_row([digest], |row| row.get(0)).optional())
        .map_err(store)?
        .ok_or_else(|| {
            Failure::new(
                Code::ScriptMissing,
                "the bytes of a code file were not given at load",
            )
        })
}

/// The operation with this folded capability id, or alias of that form.
pub(super) fn by_capability(
    database: &Connection,
    folded: &str,
) -> Result<Option<Registered>, Failure> {
    one(
        database,
        "WHERE o.capability = ?1 OR o.capability = (SELECT operation FROM aliases WHERE capability = ?1)
         ORDER BY o.capability <> ?1 LIMIT 1",
        params![folded],
    )
}

fn by_name(database: &Connection, skill: &str, name: &str) -> Result<Option<Registered>, Failure> {
    one(
        database,
        "WHERE o.skill = ?1 AND (o.folded = ?2
            OR o.capability = (SELECT operation FROM aliases WHERE skill = ?1 AND folded = ?2))
         ORDER BY o.folded <> ?2 LIMIT 1",
        params![skill, name],
    )
}

/// All operations of a skill, in the order of the document.
pub(super) fn of_skill(database: &Connection, skill: &str) -> Result<Vec<Registered>, Failure> {
    let Some(head) = self::skill(database, skill)?.map(Arc::new) else {
        return Ok(Vec::new());
    };
    let mut query = database
        .prepare_cached(
            "SELECT o.capability, o.id, o.policy_digest, o.tier, o.body, o.manifest FROM operations o
             WHERE o.skill = ?1 ORDER BY o.position",
        )
        .map_err(store)?;
    let rows = query.query_map([skill], raw).map_err(store)?;
    rows.map(|row| row.map_err(store).and_then(|raw| raw.read(&head)))
        .collect()
}

/// All operations of all skills, for frontends that offer each as a tool: skills by folded id, operations in the order of
/// their document. Records nothing.
///
/// # Errors
///
/// `store-unavailable`.
pub fn operations(database: &Connection) -> Result<Vec<Registered>, Failure> {
    let mut all = Vec::new();
    for skill in skills(database)? {
        all.extend(of_skill(database, &skill)?);
    }
    Ok(all)
}

/// Folded ids of all skills, sorted.
pub(super) fn skills(database: &Connection) -> Result<Vec<String>, Failure> {
    let mut query = database
        .prepare_cached("SELECT folded FROM skills ORDER BY folded")
        .map_err(store)?;
    query
        .query_map([], |row| row.get(0))
        .and_then(Iterator::collect)
        .map_err(store)
}

/// The skill with this folded id.
pub(super) fn skill(database: &Connection, folded: &str) -> Result<Option<SkillHead>, Failure> {
    database
        .prepare_cached(
            "SELECT folded, source, digest, generation, body, files FROM skills WHERE folded = ?1",
        )
        .and_then(|mut query| {
            query
                .query_row([folded], |row| raw_skill(row, 0))
                .optional()
        })
        .map_err(store)?
        .map(RawSkill::read)
        .transpose()
}

const SELECT: &str = "SELECT o.capability, o.id, o.policy_digest, o.tier, o.body, o.manifest,
    s.folded, s.source, s.digest, s.generation, s.body, s.files
    FROM operations o JOIN skills s ON s.folded = o.skill";

fn one(
    database: &Connection,
    condition: &str,
    values: &[&dyn rusqlite::ToSql],
) -> Result<Option<Registered>, Failure> {
    let sql = format!("{SELECT} {condition}");
    database
        .prepare_cached(&sql)
        .and_then(|mut query| {
            query
                .query_row(values, |row| Ok((raw(row)?, raw_skill(row, 6)?)))
                .optional()
        })
        .map_err(store)?
        .map(|(operation, skill)| operation.read(&Arc::new(skill.read()?)))
        .transpose()
}

struct RawSkill {
    folded: String,
    source: String,
    digest: String,
    generation: i64,
    body: String,
    files: String,
}

fn raw_skill(row: &Row<'_>, first: usize) -> rusqlite::Result<RawSkill> {
    Ok(RawSkill {
        folded: row.get(first)?,
        source: row.get(first + 1)?,
        digest: row.get(first + 2)?,
        generation: row.get(first + 3)?,
        body: row.get(first + 4)?,
        files: row.get(first + 5)?,
    })
}

impl RawSkill {
    fn read(self) -> Result<SkillHead, Failure> {
        Ok(SkillHead {
            folded: self.folded,
            source: self.source,
            digest: self.digest,
            generation: u64::try_from(self.generation).map_err(store)?,
            skill: serde_json::from_str(&self.body).map_err(store)?,
            files: serde_json::from_str(&self.files).map_err(store)?,
        })
    }
}

struct Raw {
    capability: String,
    id: String,
    policy_digest: String,
    tier: u8,
    body: String,
    manifest: Option<String>,
}

fn raw(row: &Row<'_>) -> rusqlite::Result<Raw> {
    Ok(Raw {
        capability: row.get(0)?,
        id: row.get(1)?,
        policy_digest: row.get(2)?,
        tier: row.get(3)?,
        body: row.get(4)?,
        manifest: row.get(5)?,
    })
}

impl Raw {
    fn read(self, skill: &Arc<SkillHead>) -> Result<Registered, Failure> {
        Ok(Registered {
            capability: self.id,
            folded: self.capability,
            operation: serde_json::from_str(&self.body).map_err(store)?,
            tier: self.tier,
            policy_digest: self.policy_digest,
            manifest: self
                .manifest
                .map(|text| serde_json::from_str(&text))
                .transpose()
                .map_err(store)?,
            skill: Arc::clone(skill),
        })
    }
}

fn removed(id: &str) -> Failure {
    Failure::new(
        Code::CapabilityRemoved,
        format!("{} is not registered any more", short(id)),
    )
}

pub(super) fn unknown_skill(name: &str) -> Failure {
    Failure::new(
        Code::UnknownSkill,
        format!("there is no skill for {}", short(name)),
    )
    .with_hint("skill list shows what is registered")
}

/// At most the longest capability id, for messages.
fn short(name: &str) -> String {
    name.chars().take(129).collect()
}

/// The folded capability id of a registered pair.
pub(super) fn folded_of(skill: &str, operation: &str) -> String {
    fold_capability(skill, operation)
}
