//! The policy document: its members, their types, and the rules that need nothing but the document.
//!
//! Every rule keeps the line it came from, because a decision is worth little without the line that made it. No file is
//! opened here, and a program is looked up only to tell an interpreter.

mod ceiling;
mod hash;
mod host;
mod nearest;
mod process;
mod read;

use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Deserialize;
use serde_json::{Value as Json, json};

pub(super) use ceiling::{Ceiling, Directory, Name, is_environment_name};
pub(super) use host::{Host, Mode, MountRule, MountSource, NetRule};
pub(super) use process::{ProcessRule, Runners, ToolDirectory};
use read::{Field, filled_and_unique};
pub(super) use read::{Lined, Listed};

use super::error::{Place, PolicyError};
use super::text::{self, Located, Node};
use hydrant_base::Digest;

/// The JSON Schema of policy documents, for editors.
#[must_use]
pub fn schema() -> serde_json::Value {
    let settings =
        SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    let tidy = |schema: &mut Schema| {
        // Comments are wrapped where the source is.
        if let Some(Json::String(text)) = schema.get_mut("description") {
            *text = text.replace('\n', " ");
        }
        // What an omitted value is in the type is none that a document may have.
        if schema.get("default") == Some(&Json::Null) {
            schema.remove("default");
        }
    };
    let generator = settings
        .with_transform(RecursiveTransform(tidy))
        .into_generator();
    let schema = generator.into_root_schema_for::<Document>().to_value();
    let mut in_order = json!({"$schema": "", "title": "", "description": ""});
    if let (Json::Object(members), Json::Object(all)) = (&mut in_order, schema) {
        members.extend(all);
    }
    in_order
}

/// What skills may do on this machine. What is not allowed here is denied.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "Policy of hydrant")]
pub(super) struct Document {
    /// The version of this format: 1.
    #[serde(rename = "version")]
    #[schemars(schema_with = "version_schema")]
    _version: Version,
    /// Names of signers. A skill runs only if one of them is declared in its manifest and has signed it.
    #[serde(deserialize_with = "filled_and_unique")]
    #[schemars(length(min = 1), extend("uniqueItems" = true))]
    pub(super) trusted_signers: Vec<String>,
    /// What may be allowed at all. What is omitted or `null` is denied; `{}` denies everything.
    #[serde(rename = "capability_ceiling")]
    pub(super) ceiling: Ceiling,
    /// What is allowed, within the ceiling. Without it skills get nothing.
    #[serde(default)]
    pub(super) host: Host,
    /// `policy_hash`.
    #[serde(skip, default = "hash::of_nothing")]
    pub(super) hash: Digest,
}

/// The number 1.
#[derive(Clone, Debug, Deserialize)]
struct Version;

// Without a type, so that editors offer the one value.
fn version_schema(_: &mut SchemaGenerator) -> Schema {
    schemars::json_schema!({"const": 1})
}

impl Document {
    /// Reads and checks a document; `file` is its name in messages.
    pub(super) fn parse(file: &str, bytes: &[u8]) -> Result<Self, PolicyError> {
        let root = text::read(bytes).map_err(|Located(line, fault)| PolicyError::Document {
            place: Place {
                file: file.to_owned(),
                line,
            },
            fault,
        })?;
        let field = Field::root(file, &root);
        let document = Self::deserialize(field.clone());
        let mut document = document.map_err(|error| error.or_in(&field))?;
        document.host.check(file, &document.ceiling)?;
        document.place(&root);
        document.hash = hash::policy_hash(&root);
        Ok(document)
    }

    /// Gives each omitted value the line of what would hold it.
    fn place(&mut self, root: &Node) {
        let Self { ceiling, host, .. } = self;
        host.lists_mounts = host.mounts.line != 0;
        let discovery = &mut host.discovery;
        let values: [(&mut u64, &[&str]); 9] = [
            (
                &mut ceiling.fs.read.line,
                &["capability_ceiling", "fs", "read"],
            ),
            (
                &mut ceiling.fs.write.line,
                &["capability_ceiling", "fs", "write"],
            ),
            (&mut ceiling.net.line, &["capability_ceiling", "net"]),
            (&mut ceiling.exec.line, &["capability_ceiling", "exec"]),
            (&mut host.mounts.line, &["host", "mounts"]),
            (&mut host.net.line, &["host", "net"]),
            (&mut host.process.line, &["host", "process"]),
            (&mut discovery.run.line, &["host", "discovery", "run"]),
            (&mut discovery.remote.line, &["host", "discovery", "remote"]),
        ];
        for (line, path) in values {
            let mut node = Some(root);
            *line = root.line;
            for name in path {
                let member = node.and_then(|node| node.member(name));
                *line = member.map_or(*line, |member| member.line);
                node = member.map(|member| &member.value);
            }
        }
    }
}

#[cfg(test)]
mod tests;
