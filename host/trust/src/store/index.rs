//! `index.json`: which skills are installed, and where.

use hydrant_base::{Digest, excerpt, parse_json, pretty_json, read_bounded, write_replacing};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::index_lock::locked;
use super::{FILE_MODE, SCHEMA_VERSION, StoreError};
use crate::limits::MAX_JSON_BYTES;

const INDEX: &str = "index.json";

/// The installed skills, sorted by their digests.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Index {
    schema_version: String,
    entries: Vec<IndexEntry>,
}

/// One installed skill, members in written order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IndexEntry {
    /// Its identity: the digest of the archive.
    pub skill: Digest,
    /// Where it came from, without credentials.
    pub source: String,
    /// Its directory, absolute, which [`Store::install`](super::Store::install) fills in.
    pub store: String,
    /// When it was installed last, in seconds since 1970.
    pub installed_at: u64,
    /// The manifest's name.
    pub manifest_name: String,
    /// The manifest's version.
    pub manifest_version: String,
}

impl Default for Index {
    fn default() -> Self {
        Self {
            schema_version: SCHEMA_VERSION.to_owned(),
            entries: Vec::new(),
        }
    }
}

impl Index {
    /// The index in `home`, if there is one.
    pub(super) fn read(home: &Path) -> Result<Option<Self>, StoreError> {
        let text = match read_bounded(&home.join(INDEX), MAX_JSON_BYTES) {
            Err(error) if error.is_missing() => return Ok(None),
            text => text?,
        };
        let index: Self = parse_json(&text).map_err(StoreError::Index)?;
        if index.schema_version != SCHEMA_VERSION {
            return Err(StoreError::IndexVersion(excerpt(&index.schema_version)));
        }
        Ok(Some(index))
    }

    /// The installed skills.
    #[must_use]
    pub fn entries(&self) -> &[IndexEntry] {
        &self.entries
    }

    /// An entry of the same skill is replaced.
    fn upsert(&mut self, entry: IndexEntry) {
        self.entries.retain(|other| other.skill != entry.skill);
        self.entries.push(entry);
        self.entries
            .sort_by(|one, other| one.skill.cmp(&other.skill));
    }
}

/// Puts an entry into the index of `home`, which others may be changing at the same time.
pub(super) fn add(home: &Path, entry: IndexEntry) -> Result<(), StoreError> {
    locked(home, || {
        let mut index = Index::read(home)?.unwrap_or_default();
        index.upsert(entry);
        let text = pretty_json(&index);
        let fits = u64::try_from(text.len()).is_ok_and(|bytes| bytes <= MAX_JSON_BYTES);
        if !fits {
            return Err(StoreError::IndexFull {
                bytes: text.len(),
                maximum: MAX_JSON_BYTES,
            });
        }
        Ok(write_replacing(&home.join(INDEX), &text, FILE_MODE)?)
    })
}
