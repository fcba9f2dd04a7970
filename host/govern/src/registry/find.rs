//! Looking up an operation by a name that a caller gives.

use rusqlite::Connection;

use super::name::{LONGEST, fold};
use super::rows::{Registered, SkillHead};
use super::sql::Queries;
use crate::failure::{Code, Failure};

/// Returns an operation of a skill, by id, alias or full capability id.
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
        if let Some(found) = Registered::by_name(database, &folded_skill, name)? {
            return Ok(found);
        }
    }
    for name in std::iter::once(folded.as_str()).chain(own) {
        if database.is_true(
            "SELECT EXISTS (SELECT 1 FROM removed WHERE skill = ?1 AND folded = ?2)",
            [folded_skill.as_str(), name],
        )? {
            return Err(removed(&format!("{skill}.{name}")));
        }
    }
    if is_registered(database, &folded_skill)? {
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

/// Returns an operation by its capability id, or by skill id and alias.
///
/// # Errors
///
/// As [`find`]; `unknown-skill` where no registered skill's id begins it.
pub fn find_capability(database: &Connection, id: &str) -> Result<Registered, Failure> {
    let folded = fold(id);
    if let Some(found) = Registered::by_capability(database, &folded)? {
        return Ok(found);
    }
    if database.is_true(
        "SELECT EXISTS (SELECT 1 FROM removed WHERE capability = ?1)",
        [&folded],
    )? {
        return Err(removed(id));
    }
    // Each dot may end a skill's id. An id of nothing but dots has as many.
    for (dot, _) in folded.match_indices('.').take(LONGEST + 1) {
        if is_registered(database, folded.get(..dot).unwrap_or_default())? {
            return Err(Failure::new(
                Code::UnknownOperation,
                format!("there is no operation {}", short(id)),
            ));
        }
    }
    Err(unknown_skill(id))
}

fn is_registered(database: &Connection, folded: &str) -> Result<bool, Failure> {
    database.is_true(
        "SELECT EXISTS (SELECT 1 FROM skills WHERE folded = ?1)",
        [folded],
    )
}

/// Refuses what belongs to a skill that was unloaded, or registered from another source, since it was looked up.
///
/// # Errors
///
/// `capability-removed`, `store-unavailable`.
pub(crate) fn still_registered(database: &Connection, head: &SkillHead) -> Result<(), Failure> {
    let sql = "SELECT source FROM skills WHERE folded = ?1";
    let source: Option<String> = database.value(sql, [&head.folded])?;
    if source.as_ref() == Some(&head.source) {
        return Ok(());
    }
    Err(Failure::new(
        Code::CapabilityRemoved,
        format!("skill {} was unloaded meanwhile", head.skill.id),
    ))
}

/// Returns the bytes of a code file, by digest.
///
/// # Errors
///
/// `script-missing` where there are none; `store-unavailable`.
pub fn code_file(database: &Connection, digest: &str) -> Result<Vec<u8>, Failure> {
    let sql = "SELECT bytes FROM code_files WHERE digest = ?1";
    database.value(sql, [digest])?.ok_or_else(|| {
        Failure::new(
            Code::ScriptMissing,
            "the bytes of a code file were not given at load",
        )
    })
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
    name.chars().take(2 * LONGEST + 1).collect()
}
