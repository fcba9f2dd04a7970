//! The rows of skills and operations, written.

use std::collections::BTreeMap;

use rusqlite::params;

use super::find::{Registered, SkillHead};
use super::load::CodeFile;
use super::name::fold;
use super::store;
use crate::failure::Failure;
use crate::state::Change;

/// Capabilities that are remembered as removed.
const REMEMBERED: i64 = 20_000;

/// Writes the skill, in place of what was there under its id; its operations go with that.
pub(super) fn skill(
    change: &Change<'_>,
    head: &SkillHead,
    document: &[u8],
    instructions: &str,
) -> Result<(), Failure> {
    change
        .database
        .execute("DELETE FROM skills WHERE folded = ?1", [&head.folded])
        .map_err(store)?;
    change
        .database
        .execute(
            "INSERT INTO skills (folded, id, source, digest, generation, document, instructions, body, files)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
            params![
                head.folded,
                head.skill.id,
                head.source,
                head.digest,
                i64::try_from(head.generation).map_err(store)?,
                document,
                instructions,
                serde_json::to_string(&head.skill).map_err(store)?,
                serde_json::to_string(&head.files).map_err(store)?,
            ],
        )
        .map_err(store)?;
    Ok(())
}

/// Writes an operation and its aliases.
pub(super) fn operation(
    change: &Change<'_>,
    found: &Registered,
    position: usize,
) -> Result<(), Failure> {
    let body = serde_json::to_string(&found.operation).map_err(store)?;
    let manifest = found
        .manifest
        .as_ref()
        .map(serde_json::to_string)
        .transpose()
        .map_err(store)?;
    change
        .database
        .prepare_cached(
            "INSERT INTO operations (capability, skill, folded, position, id, op_digest, policy_digest, tier, body, manifest)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
        )
        .and_then(|mut query| {
            query.execute(params![
                found.folded,
                found.skill.folded,
                fold(&found.operation.id),
                i64::try_from(position).unwrap_or(i64::MAX),
                found.capability,
                found.operation.digest,
                found.policy_digest,
                found.tier,
                body,
                manifest,
            ])
        })
        .map_err(store)?;
    for alias in &found.operation.aliases {
        let folded = fold(alias);
        change
            .database
            .prepare_cached(
                "INSERT INTO aliases (capability, skill, folded, operation) VALUES (?1, ?2, ?3, ?4)",
            )
            .and_then(|mut query| {
                query.execute(params![
                    format!("{}.{folded}", found.skill.folded),
                    found.skill.folded,
                    folded,
                    found.folded
                ])
            })
            .map_err(store)?;
    }
    Ok(())
}

/// Writes the bytes of code files that are not there yet.
pub(super) fn code_files(change: &Change<'_>, files: &[CodeFile]) -> Result<(), Failure> {
    for file in files {
        change
            .database
            .execute(
                "INSERT OR IGNORE INTO code_files (digest, bytes) VALUES (?1, ?2)",
                params![crate::digest::of_bytes(&file.bytes), file.bytes],
            )
            .map_err(store)?;
    }
    Ok(())
}

/// Drops the bytes of code files that no skill names any more.
pub(super) fn sweep_code_files(change: &Change<'_>) -> Result<(), Failure> {
    change
        .database
        .execute(
            "DELETE FROM code_files WHERE digest NOT IN
                (SELECT value FROM skills, json_each(skills.files))",
            [],
        )
        .map_err(store)?;
    Ok(())
}

/// Remembers a capability as removed.
pub(super) fn removed(
    change: &Change<'_>,
    found: &Registered,
    generation: u64,
) -> Result<(), Failure> {
    let generation = i64::try_from(generation).map_err(store)?;
    change
        .database
        .prepare_cached(
            "INSERT OR REPLACE INTO removed (capability, skill, folded, generation) VALUES (?1, ?2, ?3, ?4)",
        )
        .and_then(|mut query| {
            query.execute(params![
                found.folded,
                found.skill.folded,
                fold(&found.operation.id),
                generation
            ])
        })
        .map_err(store)?;
    Ok(())
}

/// Forgets all but the newest of what is remembered as removed: once for a transaction, since it goes through all of it.
pub(super) fn forget_removed(change: &Change<'_>) -> Result<(), Failure> {
    change
        .database
        .prepare_cached(
            "DELETE FROM removed WHERE rowid IN
                (SELECT rowid FROM removed ORDER BY generation DESC, rowid DESC LIMIT -1 OFFSET ?1)",
        )
        .and_then(|mut query| query.execute([REMEMBERED]))
        .map_err(store)?;
    Ok(())
}

/// Forgets that a capability was removed: it is there again.
pub(super) fn there_again(change: &Change<'_>, folded: &str) -> Result<(), Failure> {
    change
        .database
        .prepare_cached("DELETE FROM removed WHERE capability = ?1")
        .and_then(|mut query| query.execute([folded]))
        .map_err(store)?;
    Ok(())
}

/// The digests of the code files of a load, by name.
pub(super) fn digests(files: &[CodeFile]) -> BTreeMap<String, String> {
    files
        .iter()
        .map(|file| (file.name.clone(), crate::digest::of_bytes(&file.bytes)))
        .collect()
}
