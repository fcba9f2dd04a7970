//! K-17: operations.

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
    /// The hosts it is sent to, `host:port`; empty for a sandbox.
    pub hosts: Vec<String>,
}

/// K-207: files of a call.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Files {
    /// Read, by the names of the input `files`.
    pub read: Vec<String>,
    /// Written, below the run's output directory.
    pub write: Vec<String>,
}

/// Section 21: what the jail permits a sandbox stage; its digest is K-217's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Policy {
    /// `{"egress":"none"}` or `{"egress":["host:port",…]}`.
    pub network: Value,
    /// `{"read":[…],"write":[…]}`
    pub filesystem: Value,
    /// K-323: the five keys in the order of section 21.
    pub resources: serde_json::Map<String, Value>,
    /// K-324
    pub secrets: Vec<String>,
    /// K-323
    pub shell: bool,
}

impl Policy {
    /// The pairs (`host:port`) that it lets a sandbox reach.
    #[must_use]
    pub fn egress(&self) -> Vec<String> {
        let pairs = self.network.get("egress").and_then(Value::as_array);
        let pairs = pairs.into_iter().flatten();
        pairs
            .filter_map(|pair| pair.as_str().map(str::to_owned))
            .collect()
    }
}

/// K-326: where an entry of a policy comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PolicySource {
    /// `egress api.example.net:443`
    pub entry: String,
    /// Counted from 1 in the document; 0 where it is a default.
    pub line: u32,
}

/// One callable thing of a skill.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Operation {
    /// K-08; empty until it is named.
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
    /// `host:port` of its requests, sorted.
    pub hosts: Vec<String>,
    /// What it reads and writes.
    pub files: Files,
    /// With a sandbox stage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<Policy>,
    /// K-326
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub policy_sources: Vec<PolicySource>,
    /// K-325: what the approver may want to know of the code.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// 1 to 3.
    pub tier: u8,
    /// K-213, sorted.
    pub effects: Vec<String>,
    /// Section 15, for a skill whose hosts are not safe and whose secrets are not bound.
    pub reasons: Vec<String>,
    /// K-241
    pub requires: Vec<String>,
    /// K-69, of skill and operation together, sorted.
    pub data_classifications: Vec<String>,
    /// K-197: JSON Pointers into the output.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub returns_secret: Vec<String>,
    /// K-285: names of those that the skill's onboarding keeps, by JSON Pointer. The governor's, not the interpreter's.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub secret_names: BTreeMap<String, String>,
    /// 0 to 1, two decimals.
    pub confidence: f64,
    /// What was seen of it in use.
    pub examples: Vec<Example>,
    /// Whether it can be called.
    #[serde(flatten)]
    pub status: Status,
    /// K-216; recomputed by the governor (K-04).
    pub digest: String,
    /// K-101: where its first request goes, usable or not.
    #[serde(skip)]
    pub endpoint: Option<Endpoint>,
    /// Whether the document declares its inputs, so that examples add none.
    #[serde(skip)]
    pub has_declared_inputs: bool,
    /// K-216: what the digest covers besides the operation: base URL and constants of the load.
    #[serde(skip)]
    pub load: LoadSubject,
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

/// K-101: what makes two operations one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// Upper-case.
    pub method: String,
    /// `scheme://host[:port]/`; none where a relative URL has no base.
    pub origin: Option<String>,
    /// The path, that of the base included; each variable is `{}`.
    pub path: String,
    /// The path as written, of a relative URL.
    pub relative_path: Option<String>,
    /// The last path segment that is literal (K-99, K-100), decoded.
    pub last_segment: Option<String>,
    /// The last path segment, if it is literal.
    pub final_segment: Option<String>,
}

impl Endpoint {
    /// K-101: same method and same URL, or same method and path where one of the two is relative.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        let written = |endpoint: &Self, path: &str| endpoint.relative_path.as_deref() == Some(path);
        self.method == other.method
            && (self.origin == other.origin && self.path == other.path
                || written(self, &other.path)
                || written(other, &self.path)
                || (self.relative_path.is_some() && self.relative_path == other.relative_path))
    }
}

/// What a load decides for all its operations, and K-216 covers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LoadSubject {
    /// K-103
    pub base_url: Option<String>,
    /// K-195
    pub constants: BTreeMap<String, String>,
}
