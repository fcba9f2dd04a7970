//! Documents: bytes to what is said of a skill, and its candidates for operations.

pub mod detect;
pub mod markdown;
pub mod openapi;
pub mod schema_keyword;
pub mod structured;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use crate::context::{AssumedAuth, Context};
use crate::draft::{ApprovalWish, Declaration, Draft};
use crate::model::Format;

/// What a document says of its skill.
#[derive(Debug, Clone, PartialEq)]
pub struct SkillDeclaration {
    /// The `id` as given; `load` checks its form.
    pub id: Option<String>,
    /// As written; empty if there is an `id` only.
    pub name: String,
    /// `1.0.0` if nothing is said.
    pub version: String,
    /// Empty if nothing is said.
    pub description: String,
    /// The text of the document without its front matter.
    pub instructions: String,
    /// What kind of document.
    pub format: Format,
    /// Of OpenAPI: its version.
    pub format_version: Option<String>,
    /// Classes of the data that it handles, in words of its own.
    pub data_classifications: Vec<String>,
    /// Recorded; they grant nothing.
    pub declared_capabilities: Vec<String>,
    /// Added to those that are derived.
    pub effects: Vec<String>,
    /// Names of secrets, in order, each once.
    pub secrets: Vec<String>,
    /// Names among them that are asked of the environment and say where requests go. The request may give them a value.
    pub settings: BTreeSet<String>,
    /// Whether operations without auth get that of the skill.
    pub assumed_auth: AssumedAuth,
    /// `requires.bins`.
    pub tools: Vec<String>,
    /// As written.
    pub base_url: Option<String>,
    /// Addresses that variables stand for, by name.
    pub addresses: BTreeMap<String, String>,
    /// Hosts that an input `url` may name.
    pub domains: Vec<String>,
    /// Whether approval is required.
    pub approval_wish: ApprovalWish,
    /// `approval` as data.
    pub approval: Option<Value>,
    /// `onboarding` as data.
    pub onboarding: Option<Value>,
    /// The rest, as data.
    pub recorded: Map<String, Value>,
}

impl SkillDeclaration {
    /// A skill of which nothing is said.
    #[must_use]
    pub fn new(format: Format) -> Self {
        Self {
            id: None,
            name: String::new(),
            version: "1.0.0".to_owned(),
            description: String::new(),
            instructions: String::new(),
            format,
            format_version: None,
            data_classifications: Vec::new(),
            declared_capabilities: Vec::new(),
            effects: Vec::new(),
            secrets: Vec::new(),
            settings: BTreeSet::new(),
            assumed_auth: AssumedAuth::Never,
            tools: Vec::new(),
            base_url: None,
            addresses: BTreeMap::new(),
            domains: Vec::new(),
            approval_wish: ApprovalWish::Unsaid,
            approval: None,
            onboarding: None,
            recorded: Map::new(),
        }
    }
}

/// Something that could become an operation.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// What is done.
    pub draft: Draft,
    /// What is said about it.
    pub declaration: Declaration,
}

/// A document that was read. Which candidates are one operation, and what each is called, is decided when they are
/// assembled.
#[derive(Debug, Clone)]
pub struct Document {
    /// What it says of its skill.
    pub skill: SkillDeclaration,
    /// The context its commands were lowered in, and its operations are to be assembled in.
    pub context: Context,
    /// In the order of the document.
    pub candidates: Vec<Candidate>,
}
