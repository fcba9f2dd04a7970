//! Section 15: tier, effects, reasons and requirements of an operation, for a skill whose hosts are not safe and whose secrets
//! are not bound. The host may raise a tier and takes away reasons that its operator's policy answers.

use std::collections::BTreeSet;
use std::net::{Ipv4Addr, Ipv6Addr};

use crate::context::Context;
use crate::draft::{ApprovalWish, Declaration, DraftStage, SandboxDraft, Trust};
use crate::model::{OperationSecret, Policy, ProgramOut, SandboxStage, Stage};

/// What an approver has to know.
#[derive(Debug, Default)]
pub(super) struct Subject {
    pub(super) tier: u8,
    pub(super) effects: Vec<String>,
    pub(super) reasons: Vec<String>,
    pub(super) requires: Vec<String>,
}

/// What the subject is derived from.
#[derive(Debug, Clone, Copy)]
pub(super) struct Facts<'a> {
    pub(super) drafts: &'a [DraftStage],
    pub(super) stages: &'a [Stage],
    pub(super) hosts: &'a [String],
    pub(super) secrets: &'a [OperationSecret],
    pub(super) read: &'a [String],
    pub(super) write: &'a [String],
    pub(super) policy: Option<&'a Policy>,
    pub(super) data_classifications: &'a [String],
    pub(super) declaration: &'a Declaration,
    pub(super) context: &'a Context,
}

/// A list in which each entry stands once.
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

pub(super) fn derive(facts: Facts<'_>) -> Subject {
    Subject {
        tier: tier(facts),
        effects: effects(facts),
        reasons: reasons(facts),
        requires: requires(facts),
    }
}

fn sandboxes<'a>(facts: Facts<'a>) -> impl Iterator<Item = (&'a SandboxDraft, &'a SandboxStage)> {
    facts
        .drafts
        .iter()
        .zip(facts.stages)
        .filter_map(|pair| match pair {
            (DraftStage::Sandbox(draft), Stage::Sandbox(stage)) => {
                Some((draft.as_ref(), stage.as_ref()))
            }
            _ => None,
        })
}

/// K-252 to K-255, K-234.
fn stage_tier(draft: &SandboxDraft, context: &Context) -> u8 {
    match &draft.trust {
        Trust::KnownRuntime => 2,
        Trust::Tool { name } if context.known_tools.contains(name) => 2,
        _ => 3,
    }
}

fn tier(facts: Facts<'_>) -> u8 {
    let derived = sandboxes(facts)
        .map(|(draft, _)| stage_tier(draft, facts.context))
        .max()
        .unwrap_or(1);
    let written = if facts.write.is_empty() { 1 } else { 2 };
    // K-112: a declared tier only raises.
    let declared = facts.declaration.tier.unwrap_or(1).min(3);
    derived.max(written).max(declared)
}

fn effects(facts: Facts<'_>) -> Vec<String> {
    let mut effects = BTreeSet::new();
    for stage in facts.stages {
        effects.extend(match stage {
            Stage::Http(_) => Some("network-egress"),
            Stage::ReadFile(_) => Some("fs-read"),
            Stage::Sandbox(_) => Some("process"),
            _ => None,
        });
    }
    if !facts.read.is_empty() {
        effects.insert("fs-read");
    }
    if !facts.write.is_empty() {
        effects.insert("fs-write");
    }
    if facts
        .policy
        .is_some_and(|policy| !egress(policy).is_empty())
    {
        effects.insert("network-egress");
    }
    effects
        .into_iter()
        .chain(facts.context.effects.iter().map(String::as_str))
        .chain(facts.declaration.effects.iter().map(String::as_str))
        .collect::<BTreeSet<&str>>()
        .into_iter()
        .map(str::to_owned)
        .collect()
}

fn egress(policy: &Policy) -> Vec<String> {
    policy
        .network
        .get("egress")
        .and_then(|egress| egress.as_array())
        .into_iter()
        .flatten()
        .filter_map(|host| host.as_str().map(str::to_owned))
        .collect()
}

fn reasons(facts: Facts<'_>) -> Vec<String> {
    let mut reasons = Once::default();
    for host in facts.hosts {
        reasons.push(format!("host:{host}"));
    }
    for secret in facts.secrets {
        reasons.push(format!("secret:{}", secret.name));
    }
    for (draft, stage) in sandboxes(facts) {
        match &draft.trust {
            Trust::KnownRuntime => reasons.push(format!("sandbox:{}", stage.runtime.as_str())),
            Trust::Tool { name } if facts.context.known_tools.contains(name) => {
                reasons.push(format!("sandbox:{}", stage.runtime.as_str()));
            }
            Trust::Tool { name } | Trust::Download { name } => {
                reasons.push(format!("unknown-tool:{name}"));
            }
            Trust::Script { constructs } => {
                reasons.push("script".to_owned());
                // K-124: each construct is named.
                for construct in constructs {
                    reasons.push(format!("script:{construct}"));
                }
            }
            Trust::Container => reasons.push("script".to_owned()),
            Trust::Installer => {}
        }
        for package in &draft.packages {
            reasons.push(format!("package:{}:{}", package.runtime, package.name));
        }
    }
    if facts.data_classifications.iter().any(|class| is_pii(class)) {
        reasons.push("pii".to_owned());
    }
    for file in facts.write {
        reasons.push(format!("file-write:{file}"));
    }
    // K-262: a file that is only read and shown needs no approval of its own.
    let leaves = facts
        .stages
        .iter()
        .any(|stage| matches!(stage, Stage::Http(_) | Stage::Sandbox(_)));
    if leaves {
        for file in facts.read {
            reasons.push(format!("file-read:{file}"));
        }
    }
    if facts.context.approval == ApprovalWish::Required
        || facts.declaration.approval == ApprovalWish::Required
    {
        reasons.push("skill-requested".to_owned());
    }
    if facts.stages.iter().any(is_plain_http) {
        reasons.push("plain-http".to_owned());
    }
    if facts.hosts.iter().any(|host| is_private(host)) {
        reasons.push("private-host".to_owned());
    }
    if facts
        .policy
        .is_some_and(|policy| !policy.secrets.is_empty())
    {
        reasons.push("secret-in-sandbox".to_owned());
    }
    reasons.list
}

/// K-69
fn is_pii(class: &str) -> bool {
    let class = crate::identifier::fold(class);
    class == "pii" || class.starts_with("pii.") || class == "restricted"
}

fn is_plain_http(stage: &Stage) -> bool {
    matches!(stage, Stage::Http(stage)
        if stage.url.display().starts_with("http://"))
}

/// K-315, as far as a name or a literal address says it.
fn is_private(host_and_port: &str) -> bool {
    let host = host_and_port
        .rsplit_once(':')
        .map_or(host_and_port, |(host, _)| host);
    if host == "localhost" || host.ends_with(".localhost") {
        return true;
    }
    if let Ok(address) = host.parse::<Ipv4Addr>() {
        return is_private_v4(address);
    }
    let Some(address) = host
        .strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'))
        .and_then(|host| host.parse::<Ipv6Addr>().ok())
    else {
        return false;
    };
    is_private_v6(address)
}

fn is_private_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_documentation()
        || a == 0
        || a >= 224
        || (a == 100 && (64..128).contains(&b))
        || (a == 192 && b == 0 && c == 0)
        || (a == 198 && (18..20).contains(&b))
}

fn is_private_v6(address: Ipv6Addr) -> bool {
    let segments = address.segments();
    let [first, second, third, ..] = segments;
    let [.., high, low] = segments;
    let embedded = |high: u16, low: u16| {
        let [[a, b], [c, d]] = [high.to_be_bytes(), low.to_be_bytes()];
        is_private_v4(Ipv4Addr::new(a, b, c, d))
    };
    address.is_unspecified()
        || address.is_loopback()
        || address.is_multicast()
        || address.is_unique_local()
        || address.is_unicast_link_local()
        || (first, second) == (0x2001, 0x0db8)
        || (address.to_ipv4_mapped().is_some() || (first, second) == (0x64, 0xff9b))
            && embedded(high, low)
        || first == 0x2002 && embedded(second, third)
}

fn requires(facts: Facts<'_>) -> Vec<String> {
    let mut requires = Once::default();
    for secret in facts.secrets {
        requires.push(format!("secret:{}", secret.name));
    }
    for host in facts.hosts {
        requires.push(format!("host:{host}"));
    }
    for (_, stage) in sandboxes(facts) {
        requires.push(format!("sandbox:{}", stage.runtime.as_str()));
        for tool in &stage.tools {
            requires.push(format!("tool:{tool}"));
        }
        if let ProgramOut::File { name, .. } = &stage.program {
            requires.push(format!("file:{name}"));
        }
        for package in &stage.packages {
            requires.push(format!("package:{}:{}", package.runtime, package.name));
        }
    }
    for host in facts.policy.map(egress).unwrap_or_default() {
        requires.push(format!("egress:{host}"));
    }
    for file in facts.read {
        requires.push(format!("file-read:{file}"));
    }
    for file in facts.write {
        requires.push(format!("file-write:{file}"));
    }
    requires.list
}
