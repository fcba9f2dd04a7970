//! The tables of skills, their operations and their code files: one type for a row, and how it is read and written.

use std::collections::BTreeMap;
use std::sync::Arc;

use rusqlite::{Connection, Params, Row, params};

use super::Who;
use super::find::unknown_skill;
use super::name::fold;
use super::sql::{Json, Queries};
use crate::chain::{Entry, Event};
use crate::failure::Failure;
use crate::manifest::Manifest;
use crate::state::Change;
use hydrant_plan::{JudgedOperation, Skill, Status};

/// Removed capabilities that are remembered.
const REMEMBERED: i64 = 20_000;

/// A registered skill, without its operations and its text.
#[derive(Debug, Clone)]
pub struct SkillHead {
    /// Its folded id, which is the key of tables, bindings and memory.
    pub folded: String,
    /// The source identity.
    pub source: String,
    /// SHA-256 of the document's bytes.
    pub digest: String,
    /// The generation of the transaction that changed it last.
    pub generation: u64,
    /// The interpreter's answer; `operations` and `instructions` are empty.
    pub skill: Skill,
    /// The code files given at load, name to digest; [`super::code_file`] returns their bytes.
    pub files: BTreeMap<String, String>,
}

const SKILL_COLUMNS: &str =
    "s.folded, s.source, s.digest, s.generation, s.body AS skill_body, s.files";

impl SkillHead {
    fn from_row(row: &Row<'_>) -> rusqlite::Result<Self> {
        let Json(skill) = row.get("skill_body")?;
        let Json(files) = row.get("files")?;
        Ok(Self {
            folded: row.get("folded")?,
            source: row.get("source")?,
            digest: row.get("digest")?,
            generation: row.get("generation")?,
            skill,
            files,
        })
    }

    /// Returns the skill with this folded id.
    pub(super) fn find(database: &Connection, folded: &str) -> Result<Option<Self>, Failure> {
        database.first(
            &format!("SELECT {SKILL_COLUMNS} FROM skills s WHERE s.folded = ?1"),
            [folded],
            Self::from_row,
        )
    }

    /// Returns the skill of this id.
    ///
    /// # Errors
    ///
    /// `unknown-skill`, `store-unavailable`.
    pub(crate) fn named(database: &Connection, id: &str) -> Result<Self, Failure> {
        Self::find(database, &fold(id))?.ok_or_else(|| unknown_skill(id))
    }

    /// Returns all skills, by folded id.
    pub(super) fn all(database: &Connection) -> Result<Vec<Self>, Failure> {
        database.all(
            &format!("SELECT {SKILL_COLUMNS} FROM skills s ORDER BY s.folded"),
            [],
            Self::from_row,
        )
    }

    /// Writes the skill in place of what was there under its id; the operations of that go with it.
    pub(super) fn write(
        &self,
        change: &Change<'_>,
        document: &[u8],
        instructions: &str,
    ) -> Result<(), Failure> {
        self.delete(change)?;
        change.database.run(
            "INSERT INTO skills (folded, id, source, digest, generation, document, instructions, body, files)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
            params![
                self.folded,
                self.skill.id,
                self.source,
                self.digest,
                self.generation,
                document,
                instructions,
                Json(&self.skill),
                Json(&self.files),
            ],
        )
    }

    /// Deletes the skill and its operations.
    pub(super) fn delete(&self, change: &Change<'_>) -> Result<(), Failure> {
        change
            .database
            .run("DELETE FROM skills WHERE folded = ?1", [&self.folded])
    }

    /// Returns a chain entry about this skill.
    pub(super) fn entry(&self, event: Event, who: &Who) -> Entry {
        Entry {
            capability: Some(self.skill.id.clone()),
            derived_from: Some(self.source.clone()),
            skill_digest: Some(self.digest.clone()),
            ..who.entry(event)
        }
    }
}

/// A registered operation.
#[derive(Debug, Clone)]
pub struct Registered {
    /// `<skill>.<op>` as written.
    pub capability: String,
    /// Its folded form, which is the key of tables.
    pub folded: String,
    /// Its skill.
    pub skill: Arc<SkillHead>,
    /// As checked; an approval covers `operation.digest`.
    pub operation: JudgedOperation,
    /// The tier that counts.
    pub tier: u8,
    /// The digest of the sandbox policy; of `null` without one.
    pub policy_digest: String,
    /// As at the load; none of an unusable one.
    pub manifest: Option<Manifest>,
}

const OPERATION_COLUMNS: &str = "o.capability, o.id, o.policy_digest, o.tier, o.body, o.manifest";

impl Registered {
    fn from_row(row: &Row<'_>, skill: Arc<SkillHead>) -> rusqlite::Result<Self> {
        let Json(operation) = row.get("body")?;
        let manifest: Option<Json<Manifest>> = row.get("manifest")?;
        Ok(Self {
            capability: row.get("id")?,
            folded: row.get("capability")?,
            skill,
            operation,
            tier: row.get("tier")?,
            policy_digest: row.get("policy_digest")?,
            manifest: manifest.map(|Json(manifest)| manifest),
        })
    }

    /// Returns the operation with this folded capability id, or an alias of that form.
    pub(super) fn by_capability(
        database: &Connection,
        folded: &str,
    ) -> Result<Option<Self>, Failure> {
        Self::first(
            database,
            "WHERE o.capability = ?1 OR o.capability = (SELECT operation FROM aliases WHERE capability = ?1)
             ORDER BY o.capability <> ?1 LIMIT 1",
            [folded],
        )
    }

    /// Returns the operation of a skill with this folded id or alias.
    pub(super) fn by_name(
        database: &Connection,
        skill: &str,
        name: &str,
    ) -> Result<Option<Self>, Failure> {
        Self::first(
            database,
            "WHERE o.skill = ?1 AND (o.folded = ?2
                OR o.capability = (SELECT operation FROM aliases WHERE skill = ?1 AND folded = ?2))
             ORDER BY o.folded <> ?2 LIMIT 1",
            [skill, name],
        )
    }

    fn first(
        database: &Connection,
        condition: &str,
        params: impl Params,
    ) -> Result<Option<Self>, Failure> {
        let sql = format!(
            "SELECT {OPERATION_COLUMNS}, {SKILL_COLUMNS}
             FROM operations o JOIN skills s ON s.folded = o.skill {condition}"
        );
        database.first(&sql, params, |row| {
            Self::from_row(row, Arc::new(SkillHead::from_row(row)?))
        })
    }

    /// Returns all operations of a skill, in the order of the document.
    pub(super) fn of_skill(database: &Connection, skill: SkillHead) -> Result<Vec<Self>, Failure> {
        let skill = Arc::new(skill);
        database.all(
            &format!(
                "SELECT {OPERATION_COLUMNS} FROM operations o WHERE o.skill = ?1 ORDER BY o.position"
            ),
            [&skill.folded],
            |row| Self::from_row(row, Arc::clone(&skill)),
        )
    }

    /// Writes the operation and its aliases.
    pub(super) fn write(&self, change: &Change<'_>, position: usize) -> Result<(), Failure> {
        let database = change.database;
        let skill = &self.skill.folded;
        database.run(
            "INSERT INTO operations (capability, skill, folded, position, id, op_digest, policy_digest, tier, body, manifest)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
            params![
                self.folded,
                skill,
                fold(&self.operation.id),
                position,
                self.capability,
                self.operation.digest,
                self.policy_digest,
                self.tier,
                Json(&self.operation),
                self.manifest.as_ref().map(Json),
            ],
        )?;
        for alias in &self.operation.aliases {
            let alias = fold(alias);
            database.run(
                "INSERT INTO aliases (capability, skill, folded, operation) VALUES (?1, ?2, ?3, ?4)",
                [&format!("{skill}.{alias}"), skill, &alias, &self.folded],
            )?;
        }
        Ok(())
    }

    /// Remembers the operation as removed.
    pub(super) fn remember_removed(
        &self,
        change: &Change<'_>,
        generation: u64,
    ) -> Result<(), Failure> {
        change.database.run(
            "INSERT OR REPLACE INTO removed (capability, skill, folded, generation) VALUES (?1, ?2, ?3, ?4)",
            params![self.folded, self.skill.folded, fold(&self.operation.id), generation],
        )
    }

    /// Forgets that the operation was removed: it is there again.
    pub(super) fn forget_removed(&self, change: &Change<'_>) -> Result<(), Failure> {
        let sql = "DELETE FROM removed WHERE capability = ?1";
        change.database.run(sql, [&self.folded])
    }

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

    /// Returns `maps-to` of its stages, in order.
    #[must_use]
    pub fn delegates(&self) -> Vec<String> {
        let stages = self.operation.stages.iter();
        stages.map(|stage| stage.capability().to_owned()).collect()
    }

    /// Returns a chain entry about this operation.
    pub(crate) fn entry(&self, event: Event, who: &Who) -> Entry {
        Entry {
            capability: Some(self.capability.clone()),
            operation: Some(self.operation.id.clone()),
            derived_from: Some(self.skill.source.clone()),
            line: Some(self.operation.line),
            skill_digest: Some(self.skill.digest.clone()),
            op_digest: Some(self.operation.digest.clone()),
            policy_digest: Some(self.policy_digest.clone()),
            delegated_to: self.delegates(),
            ..who.entry(event)
        }
    }
}

/// Forgets all removed capabilities but the newest. It goes through the whole table: once for a transaction is enough.
pub(super) fn sweep_removed(change: &Change<'_>) -> Result<(), Failure> {
    change.database.run(
        "DELETE FROM removed WHERE rowid IN
            (SELECT rowid FROM removed ORDER BY generation DESC, rowid DESC LIMIT -1 OFFSET ?1)",
        [REMEMBERED],
    )
}

/// Writes the bytes of code files that are not there yet.
pub(super) fn write_code_files(
    change: &Change<'_>,
    files: &BTreeMap<String, Vec<u8>>,
) -> Result<(), Failure> {
    for bytes in files.values() {
        change.database.run(
            "INSERT OR IGNORE INTO code_files (digest, bytes) VALUES (?1, ?2)",
            params![crate::digest::of_bytes(bytes), bytes],
        )?;
    }
    Ok(())
}

/// Deletes the bytes of code files that no skill names any more.
pub(super) fn sweep_code_files(change: &Change<'_>) -> Result<(), Failure> {
    change.database.run(
        "DELETE FROM code_files WHERE digest NOT IN (SELECT value FROM skills, json_each(skills.files))",
        [],
    )
}
