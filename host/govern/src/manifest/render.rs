//! An operation as an approver reads it.

use serde_json::{Map, Value};

use super::{Implementation, Manifest, TrustTier};
use crate::budget::Estimate;
use hydrant_plan::show::{approval_reason, display, params};
use hydrant_plan::{JudgedOperation, Program, Runtime, SandboxStage, Segments, Skill, Stage};

/// Writes the manifest of an operation whose digests, hosts and policy were checked, of a document with this source identity
/// and digest. `policy_digest` is that of `null` without a policy.
#[must_use]
pub fn make(
    skill: &Skill,
    operation: &JudgedOperation,
    source: &str,
    skill_digest: &str,
    policy_digest: &str,
) -> Manifest {
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
        derived_from: source.to_owned(),
        skill_digest: skill_digest.to_owned(),
        op_digest: operation.digest.clone(),
        policy_digest: policy_digest.to_owned(),
    }
}

fn estimate(operation: &JudgedOperation) -> Map<String, Value> {
    let expected = Estimate::of(operation);
    let mut estimate = Map::new();
    if expected.network_bytes > 0 {
        estimate.insert("network-bytes".to_owned(), expected.network_bytes.into());
        estimate.insert("wall-clock-ms".to_owned(), expected.wall_clock_ms.into());
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

/// The words of a name, each with a capital: `create_notebook` is `Create Notebook`.
#[must_use]
pub fn words(text: &str) -> String {
    let mut named = String::new();
    for word in text.split(|c: char| c.is_whitespace() || matches!(c, '_' | '-')) {
        let mut characters = word.chars();
        let Some(first) = characters.next() else {
            continue;
        };
        if !named.is_empty() {
            named.push(' ');
        }
        named.extend(first.to_uppercase());
        named.push_str(characters.as_str());
    }
    named
}
