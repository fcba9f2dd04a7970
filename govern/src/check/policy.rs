//! Section 21: the policy that is enforced, from the one that a document asks for.

use serde_json::{Map, Value};

use crate::config::Limits;
use hydrant_plan::{Policy, PolicySource};

/// K-323: what a command gets that asks for nothing, and the names that there are.
const RESOURCES: [(&str, u64); 5] = [
    ("cpu-seconds", 60),
    ("memory-mb", 512),
    ("wall-clock-ms", 30_000),
    ("pids", 64),
    ("output-bytes", 52_428_800),
];

/// A policy within the operator's limits.
pub(super) struct Enforced {
    pub(super) policy: Policy,
    /// K-323: a line for each wish that was capped.
    pub(super) capped: Vec<PolicySource>,
}

/// Caps what is above the limits; none where it has not the form of section 21.
pub(super) fn enforced(mut policy: Policy, limits: &Limits) -> Option<Enforced> {
    let egress = match only(&policy.network, "egress")? {
        Value::String(none) => none == "none",
        Value::Array(list) => !list.is_empty() && list.iter().all(is_pair),
        _ => false,
    };
    let filesystem = policy.filesystem.as_object()?;
    let paths = filesystem.len() == 2
        && ["read", "write"].iter().all(|what| {
            filesystem
                .get(*what)
                .and_then(Value::as_array)
                .is_some_and(|list| list.iter().all(is_absolute))
        });
    let known = |name: &String| RESOURCES.iter().any(|(known, _)| known == name);
    if !egress || !paths || !policy.resources.keys().all(known) {
        return None;
    }
    let mut resources = Map::new();
    let mut capped = Vec::new();
    for (name, default) in RESOURCES {
        let wish = match policy.resources.get(name) {
            Some(value) => value.as_u64()?,
            None => default,
        };
        let limit = limits.of(name)?;
        if wish > limit {
            capped.push(PolicySource {
                entry: format!("{name} {limit}: capped, {wish} was asked for"),
                line: 0,
            });
        }
        resources.insert(name.to_owned(), wish.min(limit).into());
    }
    policy.resources = resources;
    Some(Enforced { policy, capped })
}

fn only<'a>(value: &'a Value, name: &str) -> Option<&'a Value> {
    let object = value.as_object()?;
    if object.len() == 1 {
        object.get(name)
    } else {
        None
    }
}

fn is_pair(value: &Value) -> bool {
    value.as_str().is_some_and(|pair| {
        crate::config::HostPort::parse(pair).is_ok_and(|parsed| parsed.is(pair))
    })
}

fn is_absolute(value: &Value) -> bool {
    value
        .as_str()
        .is_some_and(|path| path.starts_with('/') && !path.contains('\0'))
}
