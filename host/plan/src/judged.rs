//! An operation with what the host decided about it.

use std::collections::BTreeMap;
use std::ops::{Deref, DerefMut};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{Failure, Operation, Status};

/// An operation that was judged ([`crate::judge`]): what is registered, approved and executed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct JudgedOperation {
    /// As the interpreter made it, with what its stages name.
    #[serde(flatten)]
    pub operation: Operation,
    /// `host:port` of its requests, sorted.
    pub hosts: Vec<String>,
    /// With a sandbox stage: what the jail permits, within the operator's limits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<Policy>,
    /// Where the entries of the policy come from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub policy_sources: Vec<PolicySource>,
    /// 1 to 3.
    pub tier: u8,
    /// Sorted.
    pub effects: Vec<String>,
    /// Why it needs approval, of a skill without any binding.
    pub reasons: Vec<String>,
    /// What it needs of host, operator and caller.
    pub requires: Vec<String>,
    /// Names of the secrets in its answer that the skill's onboarding keeps, by JSON Pointer.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub secret_names: BTreeMap<String, String>,
    /// Of what it does.
    pub digest: String,
}

impl JudgedOperation {
    /// An operation of which nothing is decided: Tier 3, as what is not understood is not trusted.
    #[must_use]
    pub fn new(operation: Operation) -> Self {
        Self {
            operation,
            hosts: Vec::new(),
            policy: None,
            policy_sources: Vec::new(),
            tier: 3,
            effects: Vec::new(),
            reasons: Vec::new(),
            requires: Vec::new(),
            secret_names: BTreeMap::new(),
            digest: String::new(),
        }
    }

    /// Makes it one that cannot be called.
    pub fn give_up(&mut self, failure: Failure) {
        self.status = Status::unusable(failure.at_line(self.line));
        self.reasons.clear();
    }
}

impl Deref for JudgedOperation {
    type Target = Operation;

    fn deref(&self) -> &Operation {
        &self.operation
    }
}

impl DerefMut for JudgedOperation {
    fn deref_mut(&mut self) -> &mut Operation {
        &mut self.operation
    }
}

/// What the jail permits a sandbox stage.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Policy {
    /// `{"egress":"none"}` or `{"egress":["host:port",…]}`.
    pub network: Value,
    /// `{"read":[…],"write":[…]}`
    pub filesystem: Value,
    /// `cpu-seconds`, `memory-mb`, `wall-clock-ms`, `pids`, `output-bytes`, in this order.
    pub resources: Map<String, Value>,
    /// Names of the secrets that it gets.
    pub secrets: Vec<String>,
    /// Whether it is a shell that runs a script.
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

/// Where an entry of a policy comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PolicySource {
    /// `egress api.example.net:443`
    pub entry: String,
    /// Counted from 1 in the document; 0 where it is a default.
    pub line: u32,
}
