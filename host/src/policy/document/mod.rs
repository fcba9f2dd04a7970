//! The policy document: its members, their types, and the rules that need nothing but the document (TP-04 to TP-38).
//!
//! Every rule keeps the line it came from, because a decision is worth little without the line that made it. No file is
//! opened and no program looked up here.

mod ceiling;
mod field;
mod hash;
mod host;
mod nearest;
mod process;

pub(super) use ceiling::{Ceiling, is_environment_name};
use ceiling::{environment_name, prefix};
use field::Field;
pub(super) use host::{Host, Mode, MountRule, MountSource, NetRule};
pub(super) use process::ProcessRule;

use super::error::PolicyError;
use super::text::{self, Node};
use crate::trust::Digest;

/// A value and the line it stands on.
#[derive(Clone, Debug)]
pub(super) struct Lined<T> {
    pub(super) line: u64,
    pub(super) value: T,
}

/// The items of a list and the line of the list's name; of an omitted list, the line of what would hold it.
#[derive(Clone, Debug)]
pub(super) struct Listed<T> {
    pub(super) line: u64,
    pub(super) items: Vec<Lined<T>>,
}

impl<T> Listed<T> {
    fn omitted(line: u64) -> Self {
        Self {
            line,
            items: Vec::new(),
        }
    }
}

/// A whole policy document.
#[derive(Clone, Debug)]
pub(super) struct Document {
    pub(super) trusted_signers: Vec<String>,
    pub(super) ceiling: Ceiling,
    pub(super) host: Host,
    /// `policy_hash` (TP-43).
    pub(super) hash: Digest,
}

impl Document {
    /// Reads and checks a document; `file` is its name in messages.
    pub(super) fn parse(file: &str, bytes: &[u8]) -> Result<Self, PolicyError> {
        let place = |line| super::Place {
            file: file.to_owned(),
            line,
        };
        let root: Node = text::read(bytes).map_err(|located| PolicyError::Document {
            place: place(located.line),
            fault: located.fault,
        })?;
        let members = Field::root(file, &root).members(&[
            "version",
            "trusted_signers",
            "capability_ceiling",
            "host",
        ])?;
        members.required("version")?.version()?;
        let trusted_signers = trusted_signers(members.required("trusted_signers")?)?;
        let ceiling = Ceiling::read(members.required("capability_ceiling")?)?;
        let host = match members.get("host") {
            Some(host) => Host::read(host, &ceiling)?,
            None => Host::omitted(root.line),
        };
        Ok(Self {
            trusted_signers,
            ceiling,
            host,
            hash: hash::policy_hash(&root),
        })
    }
}

/// TP-05.
fn trusted_signers(field: &Field<'_>) -> Result<Vec<String>, PolicyError> {
    field.filled_list()?;
    Ok(field
        .unique_texts()?
        .into_iter()
        .map(|(name, _)| name.to_owned())
        .collect())
}

#[cfg(test)]
mod tests;
