//! K-04: what the interpreter answers is derived from hostile input; here it is checked before it is believed.
//!
//! Digests are recomputed, hosts are derived again from the URL templates, tiers are raised where the stages ask for it, and
//! the reasons of section 15 are worked out for this operator. A tier is never lowered, and a reason is left out only where
//! the operator's own configuration or a binding answers it.
//!
//! | file | subject |
//! |---|---|
//! | `hosts` | hosts of URL templates |
//! | `uses` | secrets and files that stages name |
//! | `judge` | tier and reasons |
//! | `policy` | the policy that is enforced |

mod hosts;
mod judge;
mod policy;
mod uses;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::{Value, json};

use crate::digest;
use crate::failure::{Code, Failure};
use crate::manifest::{self, Manifest};
use crate::onboarding::Onboarding;
use hydrant_plan::{Files, Operation, OperationSecret, Skill, Stage, Status};

pub(crate) use judge::is_pii;
pub use judge::{Judge, TIER_3_WARNING};

/// K-216
const OPERATION_DOMAIN: &[u8] = b"hydrant.op.v1\n";
/// K-217
const POLICY_DOMAIN: &[u8] = b"hydrant.policy.v1\n";

/// What a load was asked for, and what this operator decided.
#[derive(Clone, Copy)]
pub struct Load<'a> {
    /// K-61: the source identity.
    pub source: &'a str,
    /// K-217: of the bytes that were given to the interpreter.
    pub digest: &'a str,
    /// The `constants` that were given to the interpreter.
    pub constants: &'a BTreeMap<String, String>,
    /// The `files` that were given to the interpreter: digests of code, by name (K-178).
    pub files: &'a BTreeMap<String, String>,
    /// Of the interpreter, as `map` with `list` answers it.
    pub mapping_version: &'a str,
    /// Who decides on tiers and reasons.
    pub judge: Judge<'a>,
}

/// A skill that was checked: what is registered.
#[derive(Debug, Clone)]
pub struct CheckedSkill {
    /// As the interpreter answered, but for `operations`, which are moved to the member of that name.
    pub skill: Skill,
    /// K-61: the source identity.
    pub source: String,
    /// K-217: of the document's bytes.
    pub digest: String,
    /// In the order of the document.
    pub operations: Vec<CheckedOperation>,
}

/// An operation that was checked.
#[derive(Debug, Clone)]
pub struct CheckedOperation {
    /// `<skill>.<op>`
    pub capability: String,
    /// As the interpreter answered, its digest (`operation.digest`, K-216) recomputed. Its `tier` is still the interpreter's,
    /// which the digest covers; the one that counts is [`Self::tier`]. Its `policy` is the one that is enforced, capped by
    /// the operator's limits (K-323).
    pub operation: Operation,
    /// What counts: 1 to 3.
    pub tier: u8,
    /// K-217: of the policy that is enforced, of `null` without one.
    pub policy_digest: String,
    /// Section 15, given the configuration, for a skill without any binding; whoever registers it asks [`Judge`] again
    /// with those that it has. Empty: K-257 holds, granted by policy.
    pub reasons: Vec<String>,
    /// None of an operation that is not usable.
    pub manifest: Option<Manifest>,
}

impl CheckedOperation {
    /// K-260: what an approver is warned of.
    #[must_use]
    pub fn warning(&self) -> Option<&'static str> {
        (self.tier >= 3).then_some(TIER_3_WARNING)
    }

    /// Makes it one that cannot be called.
    pub(crate) fn give_up(&mut self, failure: Failure) {
        self.operation.status = Status::Unusable {
            code: failure.code,
            error: failure.at_line(self.operation.line),
        };
        self.reasons.clear();
        self.manifest = None;
    }

    /// K-266: the code that would run, of Tier 2 and 3.
    #[must_use]
    pub fn script(&self) -> Option<String> {
        uses::script(&self.operation)
    }
}

/// Checks what the interpreter answered to a load.
///
/// # Errors
///
/// `interpreter-mismatch` where digests, hosts, secrets, files or policy are not what the stages say; `schema` for an
/// onboarding that cannot be gone through. Ids are checked where they are registered.
pub fn check(mut skill: Skill, load: Load<'_>) -> Result<CheckedSkill, Failure> {
    let mut operations = std::mem::take(&mut skill.operations);
    let onboarding = skill
        .onboarding
        .as_ref()
        .map(|data| Onboarding::read(data, skill.format))
        .transpose()?;
    if let Some(onboarding) = &onboarding {
        onboarding.check(&operations)?;
    }
    for operation in &mut operations {
        kept_as_secrets(operation, onboarding.as_ref());
    }
    let operations = operations
        .into_iter()
        .enumerate()
        .map(|(index, operation)| {
            operation_of(&skill, operation, load)
                .map_err(|failure| failure.at_path(format!("operations[{index}]")))
        })
        .collect::<Result<Vec<_>, _>>()?;
    Ok(CheckedSkill {
        skill,
        source: load.source.to_owned(),
        digest: load.digest.to_owned(),
        operations,
    })
}

/// K-197: what a step of the onboarding keeps as a secret is one whoever calls the operation.
fn kept_as_secrets(operation: &mut Operation, onboarding: Option<&Onboarding>) {
    operation.secret_names = onboarding
        .into_iter()
        .flat_map(|onboarding| onboarding.returned(operation))
        .map(|(path, name)| (path.pointer(), name.to_owned()))
        .collect();
    // Those with a name first: what another pointer finds at the same place is taken already.
    let named = operation.secret_names.keys().cloned();
    let others = std::mem::take(&mut operation.returns_secret);
    operation.returns_secret = named
        .chain(
            others
                .into_iter()
                .filter(|pointer| !operation.secret_names.contains_key(pointer)),
        )
        .collect();
}

fn operation_of(
    skill: &Skill,
    mut operation: Operation,
    load: Load<'_>,
) -> Result<CheckedOperation, Failure> {
    let recomputed = operation_digest(
        &operation,
        skill.base_url.as_deref(),
        load.constants,
        load.mapping_version,
    )?;
    if recomputed != operation.digest {
        return Err(mismatch(&operation, "the digest"));
    }
    consistent(&operation, load)?;
    if let Some(policy) = operation.policy.take() {
        let enforced = policy::enforced(policy, &load.judge.config.limits)
            .ok_or_else(|| mismatch(&operation, "the sandbox policy"))?;
        operation.policy_sources.extend(enforced.capped);
        operation.policy = Some(enforced.policy);
    }
    let policy_digest = policy_digest(&operation)?;
    let tier = load.judge.tier(&operation);
    let usable = operation.status == Status::Ok;
    let reasons = if usable {
        load.judge.reasons(&operation, &|_, _| false)
    } else {
        Vec::new()
    };
    let manifest = usable.then(|| {
        let facts = manifest::Facts {
            tier,
            reasons: reasons.clone(),
            source: load.source,
            skill_digest: load.digest,
            policy_digest: &policy_digest,
        };
        manifest::make(skill, &operation, facts)
    });
    Ok(CheckedOperation {
        capability: format!("{}.{}", skill.id, operation.id),
        operation,
        tier,
        policy_digest,
        reasons,
        manifest,
    })
}

/// K-216: what an operation's digest covers.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct Subject<'a> {
    stages: &'a [Stage],
    input_schema: &'a Value,
    secrets: &'a [OperationSecret],
    hosts: &'a [String],
    files: &'a Files,
    tier: u8,
    effects: &'a [String],
    data_classifications: &'a [String],
    base_url: Option<&'a str>,
    constants: &'a BTreeMap<String, String>,
    mapping_version: &'a str,
}

/// K-216: the digest of what an operation does.
///
/// # Errors
///
/// `interpreter-mismatch` where it has no canonical JSON.
pub fn operation_digest(
    operation: &Operation,
    base_url: Option<&str>,
    constants: &BTreeMap<String, String>,
    mapping_version: &str,
) -> Result<String, Failure> {
    let subject = Subject {
        stages: &operation.stages,
        input_schema: &operation.input_schema,
        secrets: &operation.secrets,
        hosts: &operation.hosts,
        files: &operation.files,
        tier: operation.tier,
        effects: &operation.effects,
        data_classifications: &operation.data_classifications,
        base_url,
        constants,
        mapping_version,
    };
    digest::of_json(OPERATION_DOMAIN, &subject).map_err(|_| mismatch(operation, "the digest"))
}

/// K-217: the digest of an operation's policy, of `null` without one; of an operation that returns a secret, of the policy
/// together with the places that it is taken from.
///
/// # Errors
///
/// `interpreter-mismatch` where it has no canonical JSON.
pub fn policy_digest(operation: &Operation) -> Result<String, Failure> {
    // K-285: what is taken out of an answer is part of what was approved, although no stage says it.
    let digest = if operation.returns_secret.is_empty() {
        digest::of_json(POLICY_DOMAIN, &operation.policy)
    } else {
        let mut subject = json!({
            "policy": operation.policy,
            "returns-secret": operation.returns_secret,
        });
        if let (Value::Object(subject), false) = (&mut subject, operation.secret_names.is_empty()) {
            subject.insert("secret-names".to_owned(), json!(operation.secret_names));
        }
        digest::of_json(POLICY_DOMAIN, &subject)
    };
    digest.map_err(|_| mismatch(operation, "the policy"))
}

/// Whether what is said about an operation is what its stages say.
fn consistent(operation: &Operation, load: Load<'_>) -> Result<(), Failure> {
    let mut derived = BTreeSet::new();
    for stage in &operation.stages {
        if let Stage::Http(stage) = stage {
            let of_stage =
                hosts::of(stage).ok_or_else(|| mismatch(operation, "the host of a request"))?;
            // K-196: a request whose URL the caller gives carries no secret.
            if stage.url_input.is_some() && !operation.secrets.is_empty() {
                return Err(mismatch(operation, "a secret in a request to any address"));
            }
            let named = uses::of_http(stage);
            for name in &named.secrets {
                let bound = operation
                    .secrets
                    .iter()
                    .find(|secret| secret.name == **name);
                if !bound
                    .is_some_and(|secret| of_stage.iter().all(|host| secret.hosts.contains(host)))
                {
                    return Err(mismatch(operation, "the secrets"));
                }
            }
            derived.extend(of_stage);
        }
    }
    // K-04
    if !operation.hosts.iter().eq(derived.iter()) {
        return Err(mismatch(operation, "the hosts"));
    }
    let named = uses::of(&operation.stages);
    let listed = |name: &String| operation.secrets.iter().any(|secret| secret.name == *name);
    let is_inside =
        |secret: &OperationSecret| secret.hosts.iter().all(|host| derived.contains(host));
    if !named.secrets.iter().all(|name| listed(name)) || !operation.secrets.iter().all(is_inside) {
        return Err(mismatch(operation, "the secrets"));
    }
    if !named
        .read
        .iter()
        .all(|file| operation.files.read.contains(file))
        || (named.writes && operation.files.write.is_empty())
    {
        return Err(mismatch(operation, "the files"));
    }
    // K-178: code is what was given at load, and nothing else.
    for (name, digest) in &named.code {
        if digest.is_some() && *digest != load.files.get(name.as_str()) {
            return Err(mismatch(operation, "the digest of a code file"));
        }
    }
    // K-320
    let sandboxed = operation
        .stages
        .iter()
        .any(|stage| matches!(stage, Stage::Sandbox(_)));
    let policy_fits = match &operation.policy {
        None => !sandboxed,
        Some(policy) => {
            sandboxed && policy.shell == named.script && policy.secrets.iter().all(listed)
        }
    };
    if !policy_fits {
        return Err(mismatch(operation, "the sandbox policy"));
    }
    // What cannot be called does nothing.
    if operation.status != Status::Ok && !operation.stages.is_empty() {
        return Err(mismatch(operation, "the status"));
    }
    Ok(())
}

fn mismatch(operation: &Operation, what: &str) -> Failure {
    Failure::new(
        Code::InterpreterMismatch,
        format!(
            "operation {}: {what} is not what its stages say",
            shortened(&operation.id)
        ),
    )
    .at_line(operation.line)
}

/// K-38
fn shortened(text: &str) -> String {
    text.chars().take(64).collect()
}
