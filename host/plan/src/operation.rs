//! Operations, as the interpreter makes them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Stage;
use crate::failure::{Code, Failure};

/// Whether an operation can be called.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "kebab-case")]
pub enum Status {
    /// It can.
    Ok,
    /// It cannot, and this is why.
    Unusable {
        /// The same code as the failure's.
        code: Code,
        /// What and where.
        error: Failure,
    },
}

impl Status {
    /// It cannot be called, for this.
    #[must_use]
    pub fn unusable(failure: Failure) -> Self {
        Self::Unusable {
            code: failure.code,
            error: failure,
        }
    }
}

/// What kind of secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SecretKind {
    /// A bearer token or another value of the `Authorization` header.
    Bearer,
    /// A half of basic auth.
    Basic,
    /// In a header.
    Header,
    /// In the query.
    Query,
    /// In a cookie.
    Cookie,
    /// In a body.
    Body,
    /// Anywhere else: a path, an argument, the environment of a sandbox stage.
    Other,
}

/// A secret that an operation needs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OperationSecret {
    /// Its name.
    pub name: String,
    /// Where it goes.
    pub kind: SecretKind,
    /// The hosts it is sent to, `host:port`; empty for a sandbox. The host works them out.
    #[serde(default)]
    pub hosts: Vec<String>,
}

/// Files of a call.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Files {
    /// Read, by the names of the input `files`.
    pub read: Vec<String>,
    /// Written, below the run's output directory.
    pub write: Vec<String>,
}

/// One callable thing of a skill, as the interpreter makes it. What the host decides about it is in
/// [`crate::JudgedOperation`]; nothing here says how dangerous it is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Operation {
    /// Unique in the skill; empty until it is named.
    pub id: String,
    /// Other names.
    pub aliases: Vec<String>,
    /// Its name as written.
    pub title: String,
    /// What it is for.
    pub description: String,
    /// Where it begins, counted from 1.
    pub line: u32,
    /// What is done, in order; empty if it is unusable.
    pub stages: Vec<Stage>,
    /// JSON Schema 2020-12.
    pub input_schema: Value,
    /// JSON Schema 2020-12.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Value>,
    /// Sorted by name.
    pub secrets: Vec<OperationSecret>,
    /// What it reads and writes.
    pub files: Files,
    /// What the document asks for besides.
    #[serde(default, skip_serializing_if = "Asks::is_empty")]
    pub asks: Asks,
    /// What the approver may want to know of the code.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Of skill and operation together, sorted.
    pub data_classifications: Vec<String>,
    /// JSON Pointers into the output.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub returns_secret: Vec<String>,
    /// 0 to 1, two decimals.
    pub confidence: f64,
    /// What was seen of it in use.
    pub examples: Vec<Example>,
    /// Whether it can be called.
    #[serde(flatten)]
    pub status: Status,
}

/// What a document asks for that its stages do not say. It grants nothing: tier, effects and approval make the host
/// stricter, the others are what a sandbox gets if it is approved.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub struct Asks {
    /// A tier, which only raises.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tier: Option<u8>,
    /// Effects besides those of the stages.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub effects: Vec<String>,
    /// An approval, whatever the operator's rules say.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub approval: bool,
    /// Hosts that a sandbox wants to reach.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub egress: Vec<EgressWish>,
    /// Paths that it wants to read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub read: Vec<String>,
    /// Paths that it wants to write.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub write: Vec<String>,
    /// Resources, by name (`memory-mb`).
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub resources: BTreeMap<String, u64>,
    /// Where paths and resources are asked for, counted from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
}

impl Asks {
    /// Whether nothing is asked for.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// A host that a sandbox wants to reach.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EgressWish {
    /// `host:port`
    pub host: String,
    /// Where it is named, counted from 1; 0 where the skill as a whole names it.
    pub line: u32,
}

/// How an operation is used, as its document shows it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Example {
    /// Inputs, by name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Value>,
    /// What comes out, as JSON if it is JSON, else a string.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Value>,
    /// The text it was taken from, without any credential; at most an excerpt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Where, counted from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
}
