//! `pins/skills.lock.json`: which bytes may run.

use serde::{Deserialize, Serialize};

use super::{Digest, SkillId};

/// The pins, sorted by id and version.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lock {
    /// `1.0.0`.
    pub schema_version: String,
    /// One entry for each bundle.
    pub skills: Vec<LockEntry>,
}

/// One pinned bundle.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LockEntry {
    /// The skill.
    pub id: SkillId,
    /// Its SemVer version.
    pub version: String,
    /// `skills/<id>/<version>`, relative to the root.
    pub bundle_dir: String,
    /// The digest of `skill.wasm`.
    pub artifact: Digest,
    /// The digest of the manifest in canonical JSON.
    pub manifest_hash: Digest,
}

/// A lock that cannot be believed.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Not the JSON of a lock.
    #[error("invalid lock JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// TV-05: written for another version of the format.
    #[error("unsupported lock schema version: {0}")]
    SchemaVersion(String),
    /// TL-04: entries are sorted by id, then version, and unique.
    #[error("lock entry {0} is out of order or occurs twice")]
    Order(String),
}

impl Lock {
    /// Reads a lock; unknown, missing and duplicate members are refused.
    ///
    /// # Errors
    ///
    /// [`LockError`] says what is wrong and where.
    pub fn parse(json: &str) -> Result<Self, LockError> {
        let lock: Self = serde_json::from_str(json)?;
        if lock.schema_version != "1.0.0" {
            return Err(LockError::SchemaVersion(lock.schema_version));
        }
        let sorted = lock.skills.iter().zip(lock.skills.iter().skip(1));
        for (one, next) in sorted {
            if (&one.id, &one.version) >= (&next.id, &next.version) {
                return Err(LockError::Order(format!("{}@{}", next.id, next.version)));
            }
        }
        Ok(lock)
    }

    /// The last entry of `id`.
    #[must_use]
    pub fn newest(&self, id: &str) -> Option<&LockEntry> {
        self.skills
            .iter()
            .rev()
            .find(|entry| entry.id.as_str() == id)
    }

    /// All ids in order.
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        self.skills.iter().map(|entry| entry.id.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(id: &str) -> String {
        let digest = Digest::of(id.as_bytes());
        format!(
            r#"{{"id":"{id}","version":"0.1.0","bundle_dir":"skills/{id}/0.1.0","artifact":"{digest}","manifest_hash":"{digest}"}}"#
        )
    }

    fn lock(schema: &str, entries: &[String]) -> Result<Lock, LockError> {
        Lock::parse(&format!(
            r#"{{"schema_version":"{schema}","skills":[{}]}}"#,
            entries.join(",")
        ))
    }

    #[test]
    fn tv_05_another_schema_version_is_refused() {
        assert!(lock("1.0.0", &[entry("a")]).is_ok());
        assert!(matches!(
            lock("99", &[entry("a")]),
            Err(LockError::SchemaVersion(_))
        ));
    }

    #[test]
    fn tl_04_entries_are_sorted_and_unique() {
        assert!(lock("1.0.0", &[entry("a"), entry("b")]).is_ok());
        for bad in [[entry("b"), entry("a")], [entry("a"), entry("a")]] {
            assert!(matches!(lock("1.0.0", &bad), Err(LockError::Order(_))));
        }
    }
}
