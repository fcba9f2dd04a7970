//! What the host decides about an operation: hosts, secrets, tier, effects, reasons, requirements, policy and digest.
//!
//! Only the host calls this. All of it follows from the stages and from what the operator says, so an answer of the
//! interpreter that was forged can ask for more, but it cannot claim a lower tier, hide a host or take a secret unseen: it has
//! no member that says such a thing.
//!
//! | file | subject |
//! |---|---|
//! | `hosts` | hosts of requests, from their URL templates |
//! | `uses` | secrets, files and code that stages name |
//! | `reasons` | tier, and the reasons for an approval |
//! | `policy` | what the jail permits |
//! | `digests` | the digests that approvals are bound to |

mod digests;
mod encodings;
mod hosts;
mod policy;
mod reasons;
mod uses;

use std::collections::{BTreeMap, BTreeSet};

pub use digests::policy_digest;
pub use hosts::pair_of;
pub use reasons::{is_pii, reasons};
pub use uses::script;

use crate::{
    Code, Failure, JudgedOperation, Operation, OperationSecret, Program, SecretKind, Stage, Status,
};

/// What the operator configured and what this machine has. By default nothing is granted.
pub trait Operator {
    /// Whether a request to this pair (`host:port`) needs no approval.
    fn is_safe(&self, _pair: &str) -> bool {
        false
    }

    /// Whether this pair is, or may be, an address that is not public.
    fn is_private(&self, _pair: &str) -> bool {
        false
    }

    /// Whether the operator knows this tool, so that it is Tier 2.
    fn knows_tool(&self, _tool: &str) -> bool {
        false
    }

    /// Whether `sed` or `awk` has no `--sandbox` on this machine.
    fn lacks_sandbox(&self, _tool: &str) -> bool {
        false
    }

    /// The most that a sandbox may have of a resource (`memory-mb`).
    fn limit(&self, _resource: &str) -> Option<u64> {
        None
    }
}

/// An operator who configured nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unconfigured;

impl Operator for Unconfigured {}

/// What a load was asked for: the digest covers it besides the operation.
#[derive(Debug, Clone, Copy)]
pub struct Load<'a> {
    /// The base of relative URLs that was chosen.
    pub base_url: Option<&'a str>,
    /// Values of variables that the caller gave.
    pub constants: &'a BTreeMap<String, String>,
    /// Digests of the code files that the caller gave, by name.
    pub files: &'a BTreeMap<String, String>,
    /// The version of the mapping, which the interpreter answers.
    pub mapping_version: &'a str,
    /// Whether it is one command without a skill, which nothing executes: its URL need not say a host.
    pub is_command: bool,
}

/// Judges an operation as the interpreter made it. One that cannot be judged is unusable, as one that the interpreter could
/// not make: it has no stages, and Tier 3.
#[must_use]
pub fn judge(mut operation: Operation, load: Load<'_>, operator: &dyn Operator) -> JudgedOperation {
    let hosts = match complete(&mut operation, load) {
        Ok(hosts) => hosts,
        Err(failure) => {
            operation.status = Status::unusable(failure.at_line(operation.line));
            BTreeSet::new()
        }
    };
    let is_usable = operation.status == Status::Ok;
    let mut judged = JudgedOperation::new(operation);
    if is_usable {
        judged.hosts = hosts.into_iter().collect();
        if let Some((policy, sources)) = policy::of(&judged.operation, operator) {
            judged.policy = Some(policy);
            judged.policy_sources = sources;
        }
        judged.tier = reasons::tier(&judged.operation, operator);
        judged.effects = effects(&judged);
        judged.requires = requires(&judged);
        judged.reasons = reasons(&judged, operator, &|_, _| false);
    } else {
        judged.operation.stages.clear();
        judged.operation.secrets.clear();
    }
    match digests::of(&judged, load) {
        Ok(digest) => judged.digest = digest,
        Err(error) => judged.give_up(Failure::new(Code::Json, error.to_string())),
    }
    judged
}

/// Adds what the stages name and the interpreter did not list, and gives each secret its hosts. Returns the hosts of all
/// requests.
fn complete(operation: &mut Operation, load: Load<'_>) -> Result<BTreeSet<String>, Failure> {
    for stage in &mut operation.stages {
        // Code is what was given at the load, and nothing else.
        if let Stage::Sandbox(stage) = stage
            && let Program::File { name, digest } = &mut stage.program
        {
            *digest = load.files.get(name).cloned();
        }
    }
    let mut hosts = BTreeSet::new();
    let mut sent: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    let named = uses::of(&operation.stages);
    for stage in &operation.stages {
        let Stage::Http(stage) = stage else {
            continue;
        };
        let of_stage = match hosts::of(stage) {
            Some(hosts) => hosts,
            None if load.is_command => BTreeSet::new(),
            None => {
                return Err(Failure::new(
                    Code::HostVariable,
                    "the host of a request is not said by its URL",
                ));
            }
        };
        let has_secrets = !(named.secrets.is_empty() && operation.secrets.is_empty());
        if stage.url_input.is_some() && has_secrets {
            return Err(Failure::new(
                Code::UrlInputSecret,
                "a request whose URL the caller gives cannot carry a secret",
            ));
        }
        encodings::check(stage)?;
        for name in uses::of_http(stage).secrets {
            sent.entry(name)
                .or_default()
                .extend(of_stage.iter().cloned());
        }
        hosts.extend(of_stage);
    }
    let mut secrets: BTreeMap<String, SecretKind> = named
        .secrets
        .iter()
        .map(|name| ((*name).clone(), SecretKind::Other))
        .collect();
    secrets.extend(
        operation
            .secrets
            .iter()
            .map(|secret| (secret.name.clone(), secret.kind)),
    );
    let secrets = secrets
        .into_iter()
        .map(|(name, kind)| OperationSecret {
            hosts: sent
                .get(name.as_str())
                .into_iter()
                .flatten()
                .cloned()
                .collect(),
            name,
            kind,
        })
        .collect();
    let missing = |named: BTreeSet<String>, listed: &[String]| -> Vec<String> {
        let listed: BTreeSet<&String> = listed.iter().collect();
        let is_new = |name: &String| !listed.contains(name);
        named.into_iter().filter(is_new).collect()
    };
    let read = named.read.iter().map(|name| (*name).clone()).collect();
    let read = missing(read, &operation.files.read);
    let written = missing(named.written, &operation.files.write);
    operation.secrets = secrets;
    operation.files.read.extend(read);
    operation.files.write.extend(written);
    Ok(hosts)
}

fn effects(judged: &JudgedOperation) -> Vec<String> {
    let of_stage = |stage: &Stage| match stage {
        Stage::Http(_) => Some("network-egress"),
        Stage::ReadFile(_) => Some("fs-read"),
        Stage::Sandbox(_) => Some("process"),
        _ => None,
    };
    let mut effects: BTreeSet<&str> = judged.stages.iter().filter_map(of_stage).collect();
    if !judged.files.read.is_empty() {
        effects.insert("fs-read");
    }
    if !judged.files.write.is_empty() {
        effects.insert("fs-write");
    }
    if judged
        .policy
        .as_ref()
        .is_some_and(|policy| !policy.egress().is_empty())
    {
        effects.insert("network-egress");
    }
    effects.extend(judged.asks.effects.iter().map(String::as_str));
    effects.into_iter().map(str::to_owned).collect()
}

fn requires(judged: &JudgedOperation) -> Vec<String> {
    let mut requires = Once::default();
    for secret in &judged.secrets {
        requires.push(format!("secret:{}", secret.name));
    }
    for host in &judged.hosts {
        requires.push(format!("host:{host}"));
    }
    for stage in &judged.stages {
        let Stage::Sandbox(stage) = stage else {
            continue;
        };
        requires.push(format!("sandbox:{}", stage.runtime.as_str()));
        for tool in &stage.tools {
            requires.push(format!("tool:{tool}"));
        }
        if let Program::File { name, .. } = &stage.program {
            requires.push(format!("file:{name}"));
        }
        for package in &stage.packages {
            requires.push(format!("package:{}:{}", package.runtime, package.name));
        }
    }
    for host in judged.policy.iter().flat_map(crate::Policy::egress) {
        requires.push(format!("egress:{host}"));
    }
    for file in &judged.files.read {
        requires.push(format!("file-read:{file}"));
    }
    for file in &judged.files.write {
        requires.push(format!("file-write:{file}"));
    }
    requires.list
}

/// A list in which each entry stands once, in the order in which they were found.
#[derive(Default)]
struct Once {
    list: Vec<String>,
    seen: BTreeSet<String>,
}

impl Once {
    fn push(&mut self, entry: String) {
        if self.seen.insert(entry.clone()) {
            self.list.push(entry);
        }
    }
}
