//! An operator's view of what the interpreter made of a document: judged, with policy digest and manifest.
//!
//! What the interpreter answers is derived from hostile input. It says what is to be done and judges nothing; everything that
//! decides is worked out here and in [`hydrant_plan::judge`].

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use hydrant_plan::judge::{self, Operator, policy_digest};
use hydrant_plan::{JudgedOperation, Operation, Skill, Status};

use crate::config::Config;
use crate::failure::{Code, Failure};
use crate::manifest::{self, Manifest};
use crate::onboarding::Onboarding;
use hydrant_base::address::is_private_literal;

/// What an approver of Tier 3 is warned of.
pub const TIER_3_WARNING: &str = "Unknown tool requires full sandbox";

/// The operator's configuration and this machine, as a judge asks for them: at the load, and at each call.
#[derive(Clone, Copy)]
pub struct Judge<'a> {
    /// The operator's.
    pub config: &'a Config,
    /// Whether `sed` or `awk` lacks `--sandbox` on this machine.
    pub lacks_sandbox: &'a dyn Fn(&str) -> bool,
}

impl Operator for Judge<'_> {
    fn is_safe(&self, pair: &str) -> bool {
        self.config.is_safe(pair)
    }

    /// As far as it is known before a name is resolved.
    fn is_private(&self, pair: &str) -> bool {
        self.config.may_be_private(pair) || is_private_literal(pair)
    }

    fn knows_tool(&self, tool: &str) -> bool {
        self.config.known_tools.iter().any(|known| known == tool)
    }

    fn lacks_sandbox(&self, tool: &str) -> bool {
        (self.lacks_sandbox)(tool)
    }

    fn limit(&self, resource: &str) -> Option<u64> {
        self.config.limits.of(resource)
    }
}

/// What a load was asked for, and what this operator decided.
#[derive(Clone, Copy)]
pub struct Load<'a> {
    /// The source identity.
    pub source: &'a str,
    /// The digest of the bytes that were given to the interpreter.
    pub digest: &'a str,
    /// The `constants` that were given to the interpreter.
    pub constants: &'a BTreeMap<String, String>,
    /// Digests of the code files that were given, by name.
    pub files: &'a BTreeMap<String, String>,
    /// Of the interpreter, as it answers it.
    pub mapping_version: &'a str,
    /// Who decides on tiers and reasons.
    pub judge: Judge<'a>,
}

/// A skill that was checked: what is registered.
#[derive(Debug, Clone)]
pub struct CheckedSkill {
    /// As the interpreter answered, but for `operations`, which are moved to the member of that name.
    pub skill: Skill,
    /// The source identity.
    pub source: String,
    /// The digest of the document's bytes.
    pub digest: String,
    /// In the order of the document.
    pub operations: Vec<CheckedOperation>,
}

/// An operation that was checked.
#[derive(Debug, Clone)]
pub struct CheckedOperation {
    /// Judged. Its reasons are those for a skill without any binding.
    pub operation: JudgedOperation,
    /// The digest of the policy that is enforced, of `null` without one.
    pub policy_digest: String,
    /// None of an operation that is not usable.
    pub manifest: Option<Manifest>,
}

impl CheckedOperation {
    /// Makes it one that cannot be called.
    pub(crate) fn give_up(&mut self, failure: Failure) {
        self.operation.give_up(failure);
        self.manifest = None;
    }
}

/// Judges the operations of a skill as the interpreter made them.
///
/// # Errors
///
/// `schema` for an onboarding that cannot be gone through. Ids are checked where they are registered.
pub fn check(mut skill: Skill, load: Load<'_>) -> Result<CheckedSkill, Failure> {
    let operations = std::mem::take(&mut skill.operations);
    let onboarding = skill
        .onboarding
        .as_ref()
        .map(|data| Onboarding::read(data, skill.format))
        .transpose()?;
    if let Some(onboarding) = &onboarding {
        onboarding.check(&operations)?;
    }
    load.mapping_version.clone_into(&mut skill.mapping_version);
    let operations = operations
        .into_iter()
        .map(|operation| checked(&skill, operation, onboarding.as_ref(), load))
        .collect::<Result<Vec<_>, _>>()?;
    Ok(CheckedSkill {
        skill,
        source: load.source.to_owned(),
        digest: load.digest.to_owned(),
        operations,
    })
}

fn checked(
    skill: &Skill,
    operation: Operation,
    onboarding: Option<&Onboarding>,
    load: Load<'_>,
) -> Result<CheckedOperation, Failure> {
    let subject = judge::Load {
        base_url: skill.base_url.as_deref(),
        constants: load.constants,
        files: load.files,
        mapping_version: load.mapping_version,
        is_command: false,
    };
    let mut operation = judge::judge(operation, subject, &load.judge);
    keep_secrets(&mut operation, onboarding);
    let policy_digest = policy_digest(&operation)
        .map_err(|error| Failure::new(Code::InvalidPlan, error.to_string()))?;
    let is_usable = operation.status == Status::Ok;
    let manifest = || manifest::make(skill, &operation, load.source, load.digest, &policy_digest);
    Ok(CheckedOperation {
        manifest: is_usable.then(manifest),
        policy_digest,
        operation,
    })
}

/// What a step of the onboarding keeps as a secret is one whoever calls the operation.
fn keep_secrets(operation: &mut JudgedOperation, onboarding: Option<&Onboarding>) {
    operation.secret_names = onboarding
        .into_iter()
        .flat_map(|onboarding| onboarding.returned(operation))
        .map(|(path, name)| (path.pointer(), name.to_owned()))
        .collect();
    // Those with a name first: what another pointer finds at the same place is taken already.
    let others = std::mem::take(&mut operation.returns_secret);
    let others = others
        .into_iter()
        .filter(|pointer| !operation.secret_names.contains_key(pointer));
    let pointers = operation
        .secret_names
        .keys()
        .cloned()
        .chain(others)
        .collect();
    operation.returns_secret = pointers;
}
