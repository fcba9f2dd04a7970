//! Section 21: what the jail is asked to permit a sandbox stage, and where each entry comes from.

use std::collections::BTreeMap;

use ::url::Url;
use serde_json::{Map, Value, json};

use super::url_parts::host_and_port;
use crate::context::Context;
use crate::draft::{Declaration, DraftStage, Program, SandboxDraft, Template};
use crate::model::{OperationSecret, Policy, PolicySource};

/// Section 21: the resources of a command that names nothing.
const RESOURCES: [(&str, u64); 5] = [
    ("cpu-seconds", 60),
    ("memory-mb", 512),
    ("wall-clock-ms", 30_000),
    ("pids", 64),
    ("output-bytes", 52_428_800),
];

/// A policy, its sources, and what an approver may want to know of the code.
pub(super) struct Derived {
    pub(super) policy: Policy,
    pub(super) sources: Vec<PolicySource>,
    pub(super) notes: Vec<String>,
}

/// Derives the policy of a plan; none without a sandbox stage.
pub(super) fn derive(
    stages: &[DraftStage],
    line: u32,
    declaration: &Declaration,
    context: &Context,
    secrets: &[OperationSecret],
) -> Option<Derived> {
    let sandboxes: Vec<&SandboxDraft> = stages
        .iter()
        .filter_map(|stage| match stage {
            DraftStage::Sandbox(draft) => Some(draft.as_ref()),
            _ => None,
        })
        .collect();
    if sandboxes.is_empty() {
        return None;
    }
    let wishes = declaration.sandbox.as_ref();
    let wish_line = wishes.map_or(line, |wishes| wishes.line);
    // K-321: by host, with the line where it is first named.
    let mut egress: BTreeMap<String, u32> = BTreeMap::new();
    let mut notes = Vec::new();
    for draft in &sandboxes {
        for (text, line) in texts(draft, line) {
            for (host, line) in hosts_in(&text, line) {
                egress.entry(host).or_insert(line);
            }
        }
        if let Program::Code(code) | Program::Script(code) = &draft.program {
            notes.extend(super::notes::of(&code.text));
        }
    }
    let declared = wishes.into_iter().flat_map(|wishes| &wishes.egress);
    for (name, line) in declared
        .map(|name| (name, wish_line))
        .chain(declaration.egress.iter().map(|name| (name, line)))
        .chain(context.domains.iter().map(|name| (name, 0)))
    {
        if let Some(host) = declared_host(name) {
            egress.entry(host).or_insert(line);
        }
    }
    let read = paths("/input", wishes.map(|wishes| wishes.read.as_slice()));
    let write = paths("/output", wishes.map(|wishes| wishes.write.as_slice()));
    let mut resources: Map<String, Value> = RESOURCES
        .iter()
        .map(|(name, value)| ((*name).to_owned(), Value::from(*value)))
        .collect();
    let mut sources: Vec<PolicySource> = egress
        .iter()
        .map(|(host, line)| PolicySource {
            entry: format!("egress {host}"),
            line: *line,
        })
        .collect();
    for (what, list) in [("read", &read), ("write", &write)] {
        sources.extend(list.iter().skip(1).map(|path| PolicySource {
            entry: format!("{what} {path}"),
            line: wish_line,
        }));
    }
    for (name, value) in wishes.into_iter().flat_map(|wishes| &wishes.resources) {
        // K-323: a higher value is capped by the host, which knows its limits.
        if let Some(resource) = resources.get_mut(name) {
            *resource = Value::from(*value);
            sources.push(PolicySource {
                entry: format!("{name} {value}"),
                line: wish_line,
            });
        }
    }
    notes.sort();
    notes.dedup();
    let egress = if egress.is_empty() {
        json!({"egress": "none"})
    } else {
        json!({"egress": egress.keys().collect::<Vec<_>>()})
    };
    Some(Derived {
        policy: Policy {
            network: egress,
            filesystem: json!({"read": read, "write": write}),
            resources,
            secrets: secrets
                .iter()
                .filter(|secret| secret.hosts.is_empty())
                .map(|secret| secret.name.clone())
                .collect(),
            shell: sandboxes
                .iter()
                .any(|draft| matches!(draft.program, Program::Script(_))),
        },
        sources,
        notes,
    })
}

/// K-321: the texts in which literal URLs are looked for, and where they begin.
fn texts(draft: &SandboxDraft, line: u32) -> Vec<(String, u32)> {
    let mut texts: Vec<(String, u32)> = draft
        .args
        .iter()
        .chain(&draft.stdin)
        .map(|word| (word.display(), line))
        .collect();
    match &draft.program {
        Program::Argv(argv) => {
            texts.extend(argv.iter().map(|word: &Template| (word.display(), line)));
        }

        Program::Code(code) | Program::Script(code) => texts.push((code.text.clone(), code.line)),
        Program::File(_) | Program::Module(_) => {}
    }
    texts
}

/// Hosts of literal `http` and `https` URLs, with their lines.
fn hosts_in(text: &str, first_line: u32) -> Vec<(String, u32)> {
    let mut hosts = Vec::new();
    for (index, line) in text.split('\n').enumerate() {
        for (position, _) in line.match_indices("://") {
            let (before, after) = line.split_at(position);
            let lower = |text: &str| text.to_ascii_lowercase();
            let scheme = ["https", "http"].into_iter().find(|scheme| {
                before
                    .get(before.len().saturating_sub(scheme.len())..)
                    .is_some_and(|end| lower(end) == *scheme)
            });
            let Some(scheme) = scheme else {
                continue;
            };
            let after = after.trim_start_matches("://");
            let end = after
                .find(|c: char| {
                    !(c.is_alphanumeric()
                        || matches!(
                            c,
                            '.' | '-'
                                | ':'
                                | '['
                                | ']'
                                | '$'
                                | '{'
                                | '}'
                                | '<'
                                | '%'
                                | '@'
                                | '_'
                                | '*'
                        ))
                })
                .unwrap_or(after.len());
            let authority = after.get(..end).unwrap_or_default();
            // A host that is not literal is not derived.
            if authority.contains(['$', '{', '}', '<', '%', '@', '*']) {
                continue;
            }
            let authority = authority.trim_end_matches(['.', ':']);
            if let Some(host) = Url::parse(&format!("{scheme}://{authority}/"))
                .ok()
                .as_ref()
                .and_then(host_and_port)
            {
                let index = u32::try_from(index).unwrap_or(u32::MAX);
                hosts.push((host, first_line.saturating_add(index)));
            }
        }
    }
    hosts
}

/// `host`, `host:port` or a URL; no patterns.
fn declared_host(name: &str) -> Option<String> {
    let name = name.trim();
    if name.is_empty() || name.eq_ignore_ascii_case("none") || name.contains(['*', '@']) {
        return None;
    }
    let url = if name.contains("://") {
        Url::parse(name)
    } else {
        Url::parse(&format!("https://{name}/"))
    };
    host_and_port(&url.ok()?)
}

/// K-322: the fixed directory, then other absolute paths, sorted.
fn paths(fixed: &str, wishes: Option<&[String]>) -> Vec<String> {
    let inside = |path: &str| {
        path == fixed
            || path
                .strip_prefix(fixed)
                .is_some_and(|rest| rest.starts_with('/'))
    };
    let mut others: Vec<String> = wishes
        .unwrap_or_default()
        .iter()
        .filter(|path| path.starts_with('/') && (!inside(path) || path.contains("..")))
        .cloned()
        .collect();
    others.sort();
    others.dedup();
    others.insert(0, fixed.to_owned());
    others
}
