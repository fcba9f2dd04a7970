//! The tier of an operation, and the reasons for which it needs an approval.

use super::{Once, Operator};
use crate::{Fetches, JudgedOperation, Operation, Program, Runtime, SandboxStage, Stage};

/// The tier that follows from the stages, and what the document asks for, which only raises it.
pub(super) fn tier(operation: &Operation, operator: &dyn Operator) -> u8 {
    let of_stage = |stage: &Stage| match stage {
        Stage::Sandbox(stage) => sandbox_tier(stage, operator),
        Stage::TextTransform { tool, .. } if is_unconfined(tool, operator) => 2,
        _ => 1,
    };
    let of_stages = operation.stages.iter().map(of_stage).max().unwrap_or(1);
    let written = if operation.files.write.is_empty() {
        1
    } else {
        2
    };
    let asked = operation.asks.tier.unwrap_or(1);
    of_stages.max(written).max(asked).min(3)
}

/// Tier 3 is a script, a tool that the operator does not know, and whatever installs or downloads what it runs.
fn sandbox_tier(stage: &SandboxStage, operator: &dyn Operator) -> u8 {
    let is_known = match &stage.program {
        Program::Script(_) => false,
        Program::Code(_) | Program::File { .. } | Program::Module(_) => {
            stage.runtime != Runtime::Shell
        }
        Program::Argv(argv) => argv
            .first()
            .and_then(|word| word.as_literal())
            .is_some_and(|tool| operator.knows_tool(tool)),
    };
    if is_known && stage.fetches == Fetches::Nothing {
        2
    } else {
        3
    }
}

fn is_unconfined(tool: &str, operator: &dyn Operator) -> bool {
    matches!(tool, "sed" | "awk") && operator.lacks_sandbox(tool)
}

/// The reasons for which an operation needs approval; with none, policy grants it. `is_bound` says whether a secret (name,
/// hosts) has a granted binding for this skill.
#[must_use]
pub fn reasons(
    operation: &JudgedOperation,
    operator: &dyn Operator,
    is_bound: &dyn Fn(&str, &[String]) -> bool,
) -> Vec<String> {
    let mut reasons = Once::default();
    for host in operation
        .hosts
        .iter()
        .filter(|host| !operator.is_safe(host))
    {
        reasons.push(format!("host:{host}"));
    }
    for secret in &operation.secrets {
        if !is_bound(&secret.name, &secret.hosts) {
            reasons.push(format!("secret:{}", secret.name));
        }
    }
    for stage in &operation.stages {
        match stage {
            Stage::Sandbox(stage) => sandbox(stage, operator, &mut reasons),
            Stage::TextTransform { tool, .. } if is_unconfined(tool, operator) => {
                reasons.push("no-tool-sandbox".to_owned());
            }
            _ => {}
        }
    }
    if operation
        .data_classifications
        .iter()
        .any(|class| is_pii(class))
    {
        reasons.push("pii".to_owned());
    }
    for file in &operation.files.write {
        reasons.push(format!("file-write:{file}"));
    }
    // A file that is only read and shown needs no approval of its own.
    let leaves = |stage: &Stage| matches!(stage, Stage::Http(_) | Stage::Sandbox(_));
    if operation.stages.iter().any(leaves) {
        for file in &operation.files.read {
            reasons.push(format!("file-read:{file}"));
        }
    }
    // Operations that were stored before there was `asks` have the wish among their reasons.
    let requested = "skill-requested".to_owned();
    if operation.asks.approval || operation.reasons.contains(&requested) {
        reasons.push(requested.clone());
    }
    if operation.stages.iter().any(is_plain_http) {
        reasons.push("plain-http".to_owned());
    }
    let egress = operation.policy.as_ref().map(crate::Policy::egress);
    let mut reached = operation.hosts.iter().chain(egress.iter().flatten());
    if reached.any(|host| operator.is_private(host)) {
        reasons.push("private-host".to_owned());
    }
    let policy = operation.policy.as_ref();
    if policy.is_some_and(|policy| !policy.secrets.is_empty()) {
        reasons.push("secret-in-sandbox".to_owned());
    }
    // Policy grants Tier 1 only; a tier that no stage asks for was declared.
    if reasons.list.is_empty() && operation.tier > 1 {
        reasons.push(requested);
    }
    reasons.list
}

fn sandbox(stage: &SandboxStage, operator: &dyn Operator, reasons: &mut Once) {
    if sandbox_tier(stage, operator) < 3 {
        reasons.push(format!("sandbox:{}", stage.runtime.as_str()));
    } else if let Some(reason) = unknown_code(stage) {
        let is_script = reason == "script";
        reasons.push(reason);
        for construct in stage.constructs.iter().filter(|_| is_script) {
            reasons.push(format!("script:{construct}"));
        }
    }
    for package in &stage.packages {
        reasons.push(format!("package:{}:{}", package.runtime, package.name));
    }
}

/// The reason of a Tier 3 stage; none where its packages are the reasons.
fn unknown_code(stage: &SandboxStage) -> Option<String> {
    let tool = match &stage.program {
        Program::Script(_) => None,
        _ if stage.fetches == Fetches::Installs && !stage.packages.is_empty() => return None,
        Program::Argv(argv) => argv.first().map(|word| word.display()),
        _ => stage.tools.first().cloned(),
    };
    Some(tool.map_or_else(
        || "script".to_owned(),
        |tool| format!("unknown-tool:{tool}"),
    ))
}

fn is_plain_http(stage: &Stage) -> bool {
    let Stage::Http(stage) = stage else {
        return false;
    };
    url::Url::parse(&stage.url.display()).is_ok_and(|url| url.scheme() == "http")
}

/// Whether a data classification is of data about people.
#[must_use]
pub fn is_pii(class: &str) -> bool {
    let class = class.to_lowercase();
    class == "pii" || class.starts_with("pii.") || class == "restricted"
}
