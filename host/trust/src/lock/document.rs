//! The lock document.
//!
//! [`Lock::parse`] is strict about members and types only. Everything else that can be wrong with a lock
//! is listed by [`Lock::check_form`], so that all of it is reported at once.

use hydrant_base::{Digest, JsonError, escaped, parse_json, pretty_json};
use std::cmp::Ordering;
use std::fmt;

use semver::Version;
use serde::{Deserialize, Serialize};

use crate::file_names::KEYS;
use crate::manifest::is_lower_name;

/// The one version of the format.
const SCHEMA_VERSION: &str = "1.0.0";

/// The pins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lock {
    /// When something in the lock last changed.
    pub generated_at: String,
    /// The host the pins were made for.
    pub substrate_pin: SubstratePin,
    /// One entry for each bundle, sorted by id, then version.
    pub skills: Vec<LockEntry>,
}

/// The host that the pins were made for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SubstratePin {
    /// `hydrant`.
    pub repo: String,
    /// The host world id.
    pub commit: String,
}

/// One pinned bundle, members in written order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LockEntry {
    /// The skill.
    pub id: String,
    /// Its SemVer version.
    pub version: String,
    /// `skills/<id>/<version>`, relative to the root.
    pub bundle_dir: String,
    /// The digest of `skill.wasm`.
    pub artifact: Digest,
    /// The digest of the manifest in canonical JSON.
    pub manifest_hash: Digest,
    /// `public-keys.json`.
    pub keys_file: String,
    /// The digest of that file, and of the ring.
    pub keys_digest: Digest,
    /// The names in `signatures.json`, sorted.
    pub signers: Vec<String>,
    /// The digest of `skills/<id>/SKILL.md`: text that an agent reads is as much an input as code.
    pub skill_md: Digest,
}

impl LockEntry {
    /// `id@version`.
    #[must_use]
    pub fn skill(&self) -> String {
        format!("{}@{}", self.id, self.version)
    }
}

/// A lock that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Not the JSON of a lock.
    #[error("invalid lock JSON: {0}")]
    Json(#[from] JsonError),
    /// Written for another version of the format.
    #[error("unsupported lock schema version: {} (expected {SCHEMA_VERSION})", escaped(.0))]
    SchemaVersion(String),
}

/// What is wrong with the form of a lock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockFault {
    /// The row that is not kept, `TL-05`.
    pub rule: &'static str,
    /// `id@version` of the entry, if it concerns one.
    pub skill: Option<String>,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for LockFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.message, self.rule)
    }
}

/// The document as it is written, borrowed or owned; its members in the order of the file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document<Text, Pin, Entries> {
    schema_version: Text,
    generated_at: Text,
    substrate_pin: Pin,
    skills: Entries,
}

impl Lock {
    /// Reads a lock. Unknown, missing, duplicate and mistyped members are refused.
    ///
    /// # Errors
    /// [`LockError`] says what is wrong and where.
    pub fn parse(bytes: &[u8]) -> Result<Self, LockError> {
        let document: Document<String, SubstratePin, Vec<LockEntry>> = parse_json(bytes)?;
        if document.schema_version != SCHEMA_VERSION {
            return Err(LockError::SchemaVersion(document.schema_version));
        }
        Ok(Self {
            generated_at: document.generated_at,
            substrate_pin: document.substrate_pin,
            skills: document.skills,
        })
    }

    /// The bytes of the file.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = pretty_json(&Document {
            schema_version: SCHEMA_VERSION,
            generated_at: self.generated_at.as_str(),
            substrate_pin: &self.substrate_pin,
            skills: &self.skills,
        });
        bytes.push(b'\n');
        bytes
    }

    /// Sorts the entries by id, then by version, both in byte order.
    pub fn sort(&mut self) {
        self.skills
            .sort_by(|one, other| (&one.id, &one.version).cmp(&(&other.id, &other.version)));
    }

    /// Everything that breaks the rows `TL-03` to `TL-07`; `bytes` are those the lock was parsed from.
    #[must_use]
    pub fn check_form(&self, bytes: &[u8]) -> Vec<LockFault> {
        let mut faults = Vec::new();
        let mut fault = |rule, skill: Option<&LockEntry>, message: String| {
            let skill = skill.map(LockEntry::skill);
            faults.push(LockFault {
                rule,
                skill,
                message,
            });
        };
        if self.to_bytes() != bytes {
            let message = "the bytes are not those that hydrant writes: 2 spaces, the members in order, one final LF";
            fault("TL-03", None, message.to_owned());
        }
        if !bytes.is_ascii() {
            fault(
                "TL-03",
                None,
                "the lock holds a character that is not ASCII".to_owned(),
            );
        }
        if self.skills.is_empty() {
            fault(
                "TL-04",
                None,
                "the lock pins nothing: `skills` is empty".to_owned(),
            );
        }
        for (one, next) in self.skills.iter().zip(self.skills.iter().skip(1)) {
            match (&one.id, &one.version).cmp(&(&next.id, &next.version)) {
                Ordering::Less => {}
                Ordering::Equal => fault("TL-04", Some(next), "the entry occurs twice".to_owned()),
                Ordering::Greater => {
                    let message =
                        format!("the entry is out of order: it stands after {}", one.skill());
                    fault("TL-04", Some(next), message);
                }
            }
        }
        for entry in &self.skills {
            for (rule, message) in entry.form_faults() {
                fault(rule, Some(entry), message);
            }
        }
        if !is_timestamp(&self.generated_at) {
            let message = format!(
                "generated_at {:?} is no UTC time YYYY-MM-DDTHH:MM:SS.mmmZ",
                self.generated_at
            );
            fault("TL-07", None, message);
        }
        faults
    }

    /// The entry of `id` with the highest version in SemVer order.
    #[must_use]
    pub fn newest(&self, id: &str) -> Option<&LockEntry> {
        self.skills
            .iter()
            .filter(|entry| entry.id == id)
            .max_by(|one, other| compare_versions(&one.version, &other.version))
    }

    /// The entry of `id` and `version`.
    #[must_use]
    pub fn get(&self, id: &str, version: &str) -> Option<&LockEntry> {
        self.skills
            .iter()
            .find(|entry| entry.id == id && entry.version == version)
    }

    /// The ids, each once, in order.
    #[must_use]
    pub fn ids(&self) -> Vec<&str> {
        let mut ids: Vec<_> = self.skills.iter().map(|entry| entry.id.as_str()).collect();
        ids.sort_unstable();
        ids.dedup();
        ids
    }
}

impl LockEntry {
    /// What breaks the rows `TL-05` and `TL-06`, as row and message.
    fn form_faults(&self) -> Vec<(&'static str, String)> {
        let mut faults = Vec::new();
        for (member, value) in [("id", &self.id), ("version", &self.version)] {
            if !is_lower_name(value) {
                let message = format!("{member} {value:?} does not match ^[a-z0-9][a-z0-9._-]*$");
                faults.push(("TL-05", message));
            }
        }
        if self.keys_file != KEYS {
            let message = format!("keys_file {:?} is not {KEYS}", self.keys_file);
            faults.push(("TL-05", message));
        }
        let bundle_dir = format!("skills/{}/{}", self.id, self.version);
        if self.bundle_dir != bundle_dir {
            let message = format!("bundle_dir {:?} is not {bundle_dir:?}", self.bundle_dir);
            faults.push(("TL-05", message));
        }
        // No member is empty, a list of signers is a member too.
        if self.signers.is_empty() || self.signers.iter().any(String::is_empty) {
            faults.push((
                "TL-05",
                "signers is empty or holds an empty name".to_owned(),
            ));
        }
        if !self.signers.is_sorted_by(|one, next| one < next) {
            faults.push(("TL-06", "signers are not sorted and unique".to_owned()));
        }
        faults
    }
}

/// SemVer order; what is no SemVer version ranks below every version, in byte order.
#[must_use]
pub fn compare_versions(one: &str, other: &str) -> Ordering {
    match (Version::parse(one), Version::parse(other)) {
        (Ok(one), Ok(other)) => one.cmp(&other),
        (Ok(_), Err(_)) => Ordering::Greater,
        (Err(_), Ok(_)) => Ordering::Less,
        (Err(_), Err(_)) => one.cmp(other),
    }
}

/// `YYYY-MM-DDTHH:MM:SS.mmmZ`, and a time that exists.
fn is_timestamp(text: &str) -> bool {
    const SHAPE: &[u8] = b"0000-00-00T00:00:00.000Z";
    let shaped = text.len() == SHAPE.len()
        && text.bytes().zip(SHAPE).all(|(byte, shape)| match shape {
            b'0' => byte.is_ascii_digit(),
            _ => byte == *shape,
        });
    // humantime takes second 60 for a leap second, which no clock of ours ever writes.
    shaped && text.get(17..19) != Some("60") && humantime::parse_rfc3339(text).is_ok()
}

#[cfg(test)]
pub(crate) use tests::worked;

#[cfg(test)]
mod tests;
