//! Skills.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Operation;
use crate::failure::Code;

/// What kind of document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// CommonMark, with or without front matter.
    Markdown,
    /// A YAML skill.
    Yaml,
    /// A JSON skill.
    Json,
    /// An OpenAPI description.
    Openapi,
}

/// A skill.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Skill {
    /// Unique among the skills of a registry.
    pub id: String,
    /// As written.
    pub name: String,
    /// `1.0.0` if nothing is said.
    pub version: String,
    /// What it is for.
    pub description: String,
    /// The document's text without front matter, or the structured field.
    pub instructions: String,
    /// What kind of document.
    pub format: Format,
    /// Of OpenAPI: its version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format_version: Option<String>,
    /// Classes of the data that it handles, sorted.
    pub data_classifications: Vec<String>,
    /// What the document says that it can do; grants nothing.
    pub declared_capabilities: Vec<String>,
    /// Names that are asked for.
    pub secrets: Vec<String>,
    /// The base of relative URLs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    /// The steps before its first use, as data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub onboarding: Option<Value>,
    /// The skill's `approval`, as data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<Value>,
    /// Hosts that the skill names as its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub domains: Vec<String>,
    /// Tools that the document says are needed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// `examples`, `display`, `metadata`, `license`, `homepage`, as data.
    #[serde(default, skip_serializing_if = "serde_json::Map::is_empty")]
    pub recorded: serde_json::Map<String, Value>,
    /// In the order of the document.
    pub operations: Vec<Operation>,
    /// Of the interpreter that read it; empty in what older versions stored.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub mapping_version: String,
    /// What was noticed.
    pub diagnostics: Vec<Diagnostic>,
}

/// Something that was noticed on the way. Never holds the value of a credential.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diagnostic {
    /// What kind of thing.
    pub code: Code,
    /// `info`, `warn` or `error`.
    pub severity: Severity,
    /// Counted from 1 in the document or the command.
    pub line: u32,
    /// One line for a person.
    pub message: String,
}

/// How much a diagnostic matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// Something was decided that the author may want to know.
    Info,
    /// Something was left out or is doubtful.
    Warn,
    /// Something cannot be used.
    Error,
}
