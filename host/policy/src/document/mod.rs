//! The policy document: its members, their types, and the rules that need nothing but the document.
//!
//! Every rule keeps the line it came from, because a decision is worth little without the line that made it. No file is
//! opened and no program looked up here.

mod ceiling;
mod field;
mod hash;
mod host;
mod nearest;
mod process;
mod shape;

use ceiling::{CEILING, environment_name, prefix};
pub(super) use ceiling::{Ceiling, is_environment_name};
use field::Field;
use host::HOST;
pub(super) use host::{Host, Mode, MountRule, MountSource, NetRule};
pub(super) use process::ProcessRule;
use shape::List;
pub(super) use shape::{Member, Shape};

use super::error::PolicyError;
use super::text::{self, Node};
use hydrant_base::Digest;

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

/// What a document may have.
const DOCUMENT: Shape = Shape::Map(&[
    Member::required("version", Shape::Version, "The version of this format: 1."),
    Member::required(
        "trusted_signers",
        Shape::List(List::of(&Shape::Text).filled().unique()),
        "Names of signers. A skill runs only if one of them is declared in its manifest and has signed it.",
    ),
    Member::required(
        "capability_ceiling",
        Shape::Map(&CEILING),
        "What may be allowed at all. What is omitted or `null` is denied; `{}` denies everything.",
    ),
    Member::optional(
        "host",
        Shape::Map(&HOST),
        "What is allowed, within the ceiling. Without it skills get nothing.",
    ),
]);

/// The JSON Schema of policy documents, for editors.
#[must_use]
pub fn schema() -> serde_json::Value {
    let mut schema = serde_json::json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Policy of hydrant",
        "description": "What skills may do on this machine. What is not allowed here is denied.",
    });
    if let (Some(members), serde_json::Value::Object(document)) =
        (schema.as_object_mut(), DOCUMENT.schema())
    {
        members.extend(document);
    }
    schema
}

/// A whole policy document.
#[derive(Clone, Debug)]
pub(super) struct Document {
    pub(super) trusted_signers: Vec<String>,
    pub(super) ceiling: Ceiling,
    pub(super) host: Host,
    /// `policy_hash`.
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
        let members = Field::root(file, &root).members()?;
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

/// Reads the trusted signers: there must be one, and none may occur twice.
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
