//! What a service can be asked, whatever the front end: the operations and their options.
//!
//! The options are read from JSON by every front end in the same way; an unknown member is an error, for it may have been
//! meant as a restriction.

use std::collections::BTreeMap;

use hydrant_canonical::Json;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::serve::tenants::Role;
use crate::{Format, HydrateRequest};

/// What to hydrate, and how.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HydrateOptions {
    /// `os://…`, `https://…`, or a path relative to `os://`.
    pub uri: String,
    /// Default: `json`.
    #[serde(default)]
    pub format: Format,
    /// Levels of dependencies, 1 to 16. Default: 1.
    #[serde(default = "one")]
    pub depth: u8,
    /// Add the digest of every resource.
    #[serde(default)]
    pub checksums: bool,
    /// Read name and description also in front matter that is no YAML.
    #[serde(default)]
    pub lenient: bool,
}

fn one() -> u8 {
    1
}

impl HydrateOptions {
    /// With the defaults.
    #[must_use]
    pub fn new(uri: impl Into<String>) -> Self {
        Self {
            uri: uri.into(),
            format: Format::default(),
            depth: 1,
            checksums: false,
            lenient: false,
        }
    }

    /// As the host takes it.
    #[must_use]
    pub fn request(&self) -> HydrateRequest {
        HydrateRequest {
            format: self.format,
            depth: self.depth,
            checksums: self.checksums,
            lenient: self.lenient,
            ..HydrateRequest::new(self.uri.clone())
        }
    }
}

/// The form of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PlanFormat {
    /// For programs.
    #[default]
    Json,
    /// For people and agents.
    Markdown,
}

/// What to plan.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanOptions {
    /// What the user typed.
    pub prompt: String,
    /// Take this workflow, whatever the prompt says.
    #[serde(default)]
    pub workflow: Option<String>,
    /// What was said before, the oldest first, as lines of a transcript.
    #[serde(default)]
    pub turns: Vec<Turn>,
    /// Default: `json`.
    #[serde(default)]
    pub format: PlanFormat,
}

/// What one of the two said.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Turn {
    /// Who.
    pub role: Speaker,
    /// What.
    pub text: String,
}

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Speaker {
    /// The person.
    User,
    /// The agent.
    Assistant,
}

/// A foreign skill to load.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LoadOptions {
    /// Its address.
    pub source: Option<String>,
    /// Its text, in place of an address.
    pub text: Option<String>,
    /// Base of relative endpoints.
    pub base_url: Option<String>,
    /// Values of the document's variables.
    pub constants: BTreeMap<String, String>,
    /// Refuse a document of another digest.
    pub expect_digest: Option<String>,
    /// Its id, whatever the document says.
    pub id: Option<String>,
    /// Load an address that does not look like a skill's.
    pub force: bool,
}

/// How a request is granted.
#[derive(Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ApproveOptions {
    /// `once`, `session` or `until-changed`.
    pub scope: Option<String>,
    /// How long, such as `8h`.
    pub ttl: Option<String>,
    /// For the record.
    pub reason: Option<String>,
    /// The answer to a human action. May hold secrets.
    pub response: Option<Value>,
}

impl std::fmt::Debug for ApproveOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ApproveOptions")
            .field("scope", &self.scope)
            .field("ttl", &self.ttl)
            .field("reason", &self.reason)
            .finish_non_exhaustive()
    }
}

/// The form of a graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GraphFormat {
    /// Nodes and edges.
    #[default]
    Json,
    /// Mermaid.
    Mermaid,
    /// Graphviz.
    Dot,
    /// A picture.
    Svg,
}

/// The graph of a resource's dependencies.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GraphOptions {
    /// As in [`HydrateOptions`].
    pub uri: String,
    /// Default: `json`.
    #[serde(default)]
    pub format: GraphFormat,
    /// Levels, 1 to 16. Default: 1.
    #[serde(default = "one")]
    pub depth: u8,
}

/// Which part of a list.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Page {
    /// Where the part before ended.
    pub cursor: Option<String>,
    /// 1 to 1,000. Default: 100.
    #[serde(deserialize_with = "page_limit")]
    pub limit: Option<u16>,
}

impl Page {
    /// Entries of this part.
    #[must_use]
    pub fn most(&self) -> usize {
        self.limit.unwrap_or(100).into()
    }
}

fn page_limit<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u16>, D::Error> {
    let limit = u16::deserialize(deserializer)?;
    if (1..=1_000).contains(&limit) {
        Ok(Some(limit))
    } else {
        Err(D::Error::custom("`limit` is 1 to 1,000"))
    }
}

/// Which part of the causal chain, and whether all of it is verified.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ChainOptions {
    /// The number of the last record of the part before.
    pub cursor: Option<String>,
    /// 1 to 1,000. Default: 100.
    #[serde(deserialize_with = "page_limit")]
    pub limit: Option<u16>,
    /// Verify the chain, from its first record on, which takes the longer the longer it is. Default: no.
    pub verify: bool,
}

/// One operation.
#[derive(Debug, Clone, PartialEq)]
pub enum Operation {
    /// Hydrates a resource: the document.
    Hydrate(HydrateOptions),
    /// Runs a pinned skill: its response, and a receipt.
    Run {
        /// `id` or `id@version`.
        skill: String,
        /// JSON.
        request: Vec<u8>,
    },
    /// Plans what to do about a prompt.
    Plan(PlanOptions),
    /// Loads a foreign skill.
    SkillLoad(LoadOptions),
    /// Removes one.
    SkillUnload {
        /// Its id.
        skill: String,
        /// Let grants live again when the same document is loaded again.
        keep_approvals: bool,
    },
    /// The loaded skills and their operations.
    SkillList,
    /// One of them.
    SkillShow {
        /// Its id.
        skill: String,
    },
    /// Executes an approved operation.
    SkillExecute {
        /// The id of the skill.
        skill: String,
        /// The id of the operation, or its alias.
        operation: String,
        /// One JSON object.
        params: Json,
    },
    /// Goes on with the onboarding of one.
    SkillOnboard {
        /// The id of the skill.
        skill: String,
        /// What `{{user_input}}` of a step stands for.
        user_input: Option<Value>,
    },
    /// What a command would do.
    Map {
        /// A shell command.
        command: String,
    },
    /// Requests and grants.
    Approvals {
        /// `pending`, `approved`, `denied`, …
        status: Option<String>,
    },
    /// One of them.
    Approval {
        /// `ap-…`
        id: String,
    },
    /// Grants a request.
    Approve {
        /// `ap-…`
        id: String,
        /// How.
        options: ApproveOptions,
    },
    /// Denies a request.
    Deny {
        /// `ap-…`
        id: String,
        /// For the record.
        reason: Option<String>,
    },
    /// Takes a grant back.
    Revoke {
        /// `ap-…`
        id: String,
        /// For the record.
        reason: Option<String>,
    },
    /// The pinned skills.
    Skills,
    /// What one of them says of itself.
    Describe {
        /// `id` or `id@version`.
        id: String,
    },
    /// The receipts, newest first.
    Receipts(Page),
    /// One of them.
    Receipt {
        /// `rcpt_…`
        id: String,
    },
    /// The dependency graph of a resource.
    Graph(GraphOptions),
    /// The causal chain: its head, its records, and whether it is whole.
    Chain(ChainOptions),
    /// Agents and skills below `os://`.
    Resources(Page),
    /// The text of one of them.
    Resource {
        /// `os://…`
        uri: String,
    },
    /// The workflows of the catalogue.
    Workflows,
    /// One of them, written out for a task.
    Workflow {
        /// Its id.
        id: String,
        /// What the user wants.
        task: String,
    },
}

impl Operation {
    /// Its name, for metrics and traces.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Hydrate(_) => "hydrate",
            Self::Run { .. } => "run",
            Self::Plan(_) => "plan",
            Self::SkillLoad(_) => "skill-load",
            Self::SkillUnload { .. } => "skill-unload",
            Self::SkillList => "skill-list",
            Self::SkillShow { .. } => "skill-show",
            Self::SkillExecute { .. } => "skill-execute",
            Self::SkillOnboard { .. } => "skill-onboard",
            Self::Map { .. } => "map",
            Self::Approvals { .. } => "approvals",
            Self::Approval { .. } => "approval",
            Self::Approve { .. } => "approve",
            Self::Deny { .. } => "deny",
            Self::Revoke { .. } => "revoke",
            Self::Skills => "skills",
            Self::Describe { .. } => "describe",
            Self::Receipts(_) => "receipts",
            Self::Receipt { .. } => "receipt",
            Self::Graph(_) => "graph",
            Self::Chain(_) => "chain",
            Self::Resources(_) => "resources",
            Self::Resource { .. } => "resource",
            Self::Workflows => "workflows",
            Self::Workflow { .. } => "workflow",
        }
    }

    /// Whether a role may ask for it. An agent never decides what agents may do, and whoever decides that runs nothing.
    #[must_use]
    pub fn is_for(&self, role: Role) -> bool {
        let agents = role != Role::Approver;
        let deciders = role != Role::Caller;
        match self {
            Self::Hydrate(_)
            | Self::Run { .. }
            | Self::Plan(_)
            | Self::SkillLoad(_)
            | Self::SkillExecute { .. }
            | Self::SkillOnboard { .. }
            | Self::Map { .. }
            | Self::Resources(_)
            | Self::Resource { .. }
            | Self::Workflows
            | Self::Workflow { .. } => agents,
            Self::Approvals { .. }
            | Self::Approval { .. }
            | Self::Approve { .. }
            | Self::Deny { .. }
            | Self::Revoke { .. }
            | Self::Chain(_) => deciders,
            Self::SkillUnload { .. } => role == Role::Operator,
            Self::SkillList
            | Self::SkillShow { .. }
            | Self::Skills
            | Self::Describe { .. }
            | Self::Receipts(_)
            | Self::Receipt { .. }
            | Self::Graph(_) => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_decides_nothing_and_who_decides_runs_nothing() {
        let approve = Operation::Approve {
            id: "ap-1".into(),
            options: ApproveOptions::default(),
        };
        assert!(!approve.is_for(Role::Caller));
        assert!(approve.is_for(Role::Approver));
        assert!(approve.is_for(Role::Operator));
        let hydrate = Operation::Hydrate(HydrateOptions::new("os://a.md"));
        assert!(hydrate.is_for(Role::Caller));
        assert!(!hydrate.is_for(Role::Approver));
    }

    #[test]
    fn an_unknown_member_is_an_error() {
        let read = serde_json::from_str::<HydrateOptions>(r#"{"uri":"a","no_exec":true}"#);
        assert!(read.is_err());
    }
}
