//! What the jail permits a sandbox stage, from what the document asks for.

use std::collections::BTreeMap;

use serde_json::{Map, json};

use super::Operator;
use super::hosts::is_pair;
use crate::{Operation, Policy, PolicySource, Program, Stage};

/// The resources of a command that asks for nothing, and the names that there are.
const RESOURCES: [(&str, u64); 5] = [
    ("cpu-seconds", 60),
    ("memory-mb", 512),
    ("wall-clock-ms", 30_000),
    ("pids", 64),
    ("output-bytes", 52_428_800),
];

/// The policy of an operation, and where its entries come from; none without a sandbox stage.
pub(super) fn of(
    operation: &Operation,
    operator: &dyn Operator,
) -> Option<(Policy, Vec<PolicySource>)> {
    let is_sandbox = |stage: &Stage| matches!(stage, Stage::Sandbox(_));
    if !operation.stages.iter().any(is_sandbox) {
        return None;
    }
    let asks = &operation.asks;
    let line = asks.line.unwrap_or_default();
    let mut sources = Vec::new();
    let mut source = |entry: String, line: u32| sources.push(PolicySource { entry, line });
    // Each pair with the line that names it first.
    let mut egress: BTreeMap<&str, u32> = BTreeMap::new();
    for wish in asks.egress.iter().filter(|wish| is_pair(&wish.host)) {
        egress.entry(&wish.host).or_insert(wish.line);
    }
    for (host, line) in &egress {
        source(format!("egress {host}"), *line);
    }
    let read = paths("/input", &asks.read);
    let write = paths("/output", &asks.write);
    for (what, list) in [("read", &read), ("write", &write)] {
        for path in list.iter().skip(1) {
            source(format!("{what} {path}"), line);
        }
    }
    let mut resources = Map::new();
    for (name, default) in RESOURCES {
        let asked = asks.resources.get(name).copied();
        if let Some(value) = asked {
            source(format!("{name} {value}"), line);
        }
        let wish = asked.unwrap_or(default);
        let limit = operator.limit(name).unwrap_or(u64::MAX);
        if wish > limit {
            source(format!("{name} {limit}: capped, {wish} was asked for"), 0);
        }
        resources.insert(name.to_owned(), wish.min(limit).into());
    }
    let is_script = |stage: &Stage| matches!(stage, Stage::Sandbox(stage) if matches!(stage.program, Program::Script(_)));
    // What goes into no request goes into the sandbox.
    let secrets = operation
        .secrets
        .iter()
        .filter(|secret| secret.hosts.is_empty());
    let policy = Policy {
        network: if egress.is_empty() {
            json!({"egress": "none"})
        } else {
            json!({"egress": egress.keys().collect::<Vec<_>>()})
        },
        filesystem: json!({"read": read, "write": write}),
        resources,
        secrets: secrets.map(|secret| secret.name.clone()).collect(),
        shell: operation.stages.iter().any(is_script),
    };
    Some((policy, sources))
}

/// The fixed directory, then other absolute paths, sorted.
fn paths(fixed: &str, wishes: &[String]) -> Vec<String> {
    let is_inside = |path: &str| {
        path.strip_prefix(fixed)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let mut others: Vec<String> = wishes
        .iter()
        .filter(|path| path.starts_with('/') && !path.contains('\0'))
        .filter(|path| !is_inside(path) || path.contains(".."))
        .cloned()
        .collect();
    others.sort();
    others.dedup();
    others.insert(0, fixed.to_owned());
    others
}
