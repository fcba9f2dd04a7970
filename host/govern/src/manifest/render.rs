//! An operation as an approver reads it.

use serde_json::{Map, Value};

use super::{Implementation, Manifest, TrustTier, words};
use hydrant_plan::show::{approval_reason, display, params};
use hydrant_plan::{JudgedOperation, Program, Runtime, SandboxStage, Segments, Skill, Stage};

/// What a request is expected to take.
pub(crate) const HTTP_BYTES: u64 = 10_000;
/// How long an HTTP stage is expected to take.
pub(crate) const HTTP_MILLISECONDS: u64 = 2_000;

/// What the governor found out about an operation.
#[derive(Debug, Clone)]
pub struct Facts<'a> {
    /// The source identity of the skill: the requested URL without fragment, or the canonical path.
    pub source: &'a str,
    /// SHA-256 of the document's bytes.
    pub skill_digest: &'a str,
    /// The digest of the sandbox policy; of `null` without one.
    pub policy_digest: &'a str,
}

/// Writes the manifest of an operation whose digests, hosts and policy were checked.
#[must_use]
pub fn make(skill: &Skill, operation: &JudgedOperation, facts: Facts<'_>) -> Manifest {
    let sandboxed = operation
        .stages
        .iter()
        .any(|stage| matches!(stage, Stage::Sandbox(_)));
    let title = if operation.title.trim().is_empty() {
        operation.id.as_str()
    } else {
        operation.title.as_str()
    };
    let named = words(title);
    let name = if sandboxed {
        format!("{named} (Sandboxed)")
    } else {
        format!("{} {named}", words(&skill.name))
    };
    let mut description = if operation.description.trim().is_empty() {
        named
    } else {
        operation.description.clone()
    };
    if sandboxed {
        description.push_str(" - REQUIRES SANDBOX APPROVAL");
    }
    Manifest {
        id: format!("{}.{}", skill.id, operation.id),
        name,
        description,
        version: skill.version.clone(),
        implementation: implementation(&operation.stages),
        input_schema: operation.input_schema.clone(),
        output_schema: operation.output_schema.clone(),
        effects: operation.effects.clone(),
        requires_secret: operation
            .secrets
            .iter()
            .map(|secret| secret.name.clone())
            .collect(),
        hosts: operation.hosts.clone(),
        tier: operation.tier,
        trust_tier: TrustTier::Pending,
        requires_approval: !operation.reasons.is_empty(),
        approval_reason: approval_reason(&operation.reasons),
        reasons: operation.reasons.clone(),
        estimated_resources: estimate(operation),
        sandbox_policy: operation.policy.clone(),
        derived_from: facts.source.to_owned(),
        skill_digest: facts.skill_digest.to_owned(),
        op_digest: operation.digest.clone(),
        policy_digest: facts.policy_digest.to_owned(),
    }
}

fn estimate(operation: &JudgedOperation) -> Map<String, Value> {
    let requests = operation
        .stages
        .iter()
        .filter(|stage| matches!(stage, Stage::Http(_)))
        .count();
    let requests = u64::try_from(requests).unwrap_or(u64::MAX);
    let mut estimate = Map::new();
    if requests > 0 {
        let bytes = requests.saturating_mul(HTTP_BYTES);
        let milliseconds = requests.saturating_mul(HTTP_MILLISECONDS);
        estimate.insert("network-bytes".to_owned(), bytes.into());
        estimate.insert("wall-clock-ms".to_owned(), milliseconds.into());
    }
    for (name, value) in operation.policy.iter().flat_map(|policy| &policy.resources) {
        match (estimate.get(name).and_then(Value::as_u64), value.as_u64()) {
            (Some(sum), Some(more)) => {
                estimate.insert(name.clone(), sum.saturating_add(more).into());
            }
            _ => {
                estimate.insert(name.clone(), value.clone());
            }
        }
    }
    estimate
}

fn implementation(stages: &[Stage]) -> Implementation {
    match stages {
        [stage] => one(stage),
        stages => Implementation::Pipeline {
            stages: stages.iter().map(one).collect(),
        },
    }
}

fn one(stage: &Stage) -> Implementation {
    match stage {
        Stage::Sandbox(stage) => sandbox(stage),
        stage => Implementation::Delegate {
            capability: stage.capability().to_owned(),
            transform: params(stage),
        },
    }
}

fn sandbox(stage: &SandboxStage) -> Implementation {
    let texts = |list: &[Segments]| -> Vec<String> { list.iter().map(display).collect() };
    let digest = |text: &str| Some(crate::digest::of_bytes(text.as_bytes()));
    let (command, script_digest) = match &stage.program {
        Program::Argv(argv) => (Some(texts(argv)), None),
        Program::Module(name) => (
            Some(vec![
                interpreter(stage.runtime).to_owned(),
                "-m".to_owned(),
                name.clone(),
            ]),
            None,
        ),
        Program::File { name, digest } => (Some(vec![name.clone()]), digest.clone()),
        Program::Code(text) | Program::Script(text) => (None, digest(text)),
    };
    Implementation::Sandbox {
        runtime: match stage.runtime {
            Runtime::Python => "jail:python",
            Runtime::Node => "jail:node",
            Runtime::Go => "jail:go",
            Runtime::Shell => "jail:linux",
        }
        .to_owned(),
        command,
        script_digest,
        args: texts(&stage.args),
        stdin: stage.stdin.as_ref().map(display),
        packages: stage
            .tools
            .iter()
            .chain(stage.packages.iter().map(|package| &package.name))
            .cloned()
            .collect(),
        declared_runtime: stage.declared_runtime.clone(),
    }
}

pub(super) fn interpreter(runtime: Runtime) -> &'static str {
    match runtime {
        Runtime::Python => "python3",
        Runtime::Node => "node",
        Runtime::Go => "go",
        Runtime::Shell => "sh",
    }
}
