//! Section 15: tier and reasons, for this operator.

use std::collections::BTreeSet;

use crate::address::is_private_literal;
use crate::config::Config;
use crate::registry::fold;
use hydrant_plan::{Operation, Policy, ProgramOut, Runtime, SandboxStage, Stage};

/// K-260: what an approver of Tier 3 is warned of.
pub const TIER_3_WARNING: &str = "Unknown tool requires full sandbox";

/// Tools that section 9 names and that are Tier 2 when they run in the jail directly. Installers, and what downloads code,
/// are named there too, and stay Tier 3.
const NAMED_TOOLS: [&str; 14] = [
    "jq", "cat", "head", "tail", "wc", "sort", "uniq", "cut", "tr", "grep", "sed", "awk", "echo",
    "printf",
];

/// Decides by configuration; asked at the load, and at each call for what is granted by policy (K-257).
#[derive(Clone, Copy)]
pub struct Judge<'a> {
    /// The operator's.
    pub config: &'a Config,
    /// K-171: whether `sed` or `awk` lacks `--sandbox` on this machine.
    pub lacks_sandbox: &'a dyn Fn(&str) -> bool,
}

impl Judge<'_> {
    /// K-252 to K-255: never below the interpreter's.
    #[must_use]
    pub fn tier(&self, operation: &Operation) -> u8 {
        let of_stages = operation
            .stages
            .iter()
            .map(|stage| match stage {
                Stage::Sandbox(stage) => self.sandbox_tier(stage),
                Stage::TextTransform { tool, .. } if self.is_unconfined(tool) => 2,
                _ => 1,
            })
            .max()
            .unwrap_or(1);
        let written = if operation.files.write.is_empty() {
            1
        } else {
            2
        };
        operation.tier.max(of_stages).max(written).min(3)
    }

    /// The reasons for which an operation needs approval; empty where K-257 holds. `is_bound` says whether a secret (name,
    /// hosts) has a granted binding for this skill (K-258).
    #[must_use]
    pub fn reasons(
        &self,
        operation: &Operation,
        is_bound: &dyn Fn(&str, &[String]) -> bool,
    ) -> Vec<String> {
        let mut reasons = Reasons::default();
        for host in &operation.hosts {
            if !self.config.is_safe(host) {
                reasons.add(format!("host:{host}"));
            }
        }
        for secret in &operation.secrets {
            if !is_bound(&secret.name, &secret.hosts) {
                reasons.add(format!("secret:{}", secret.name));
            }
        }
        // What the interpreter found. Hosts and secrets were answered above, by this operator.
        for reason in &operation.reasons {
            if !reason.starts_with("host:") && !reason.starts_with("secret:") {
                reasons.add(reason.clone());
            }
        }
        for stage in &operation.stages {
            match stage {
                Stage::Sandbox(stage) => self.sandbox_reasons(stage, &mut reasons),
                Stage::TextTransform { tool, .. } if self.is_unconfined(tool) => {
                    reasons.add("no-tool-sandbox".to_owned());
                }
                Stage::Http(stage) if stage.url.display().starts_with("http://") => {
                    reasons.add("plain-http".to_owned());
                }
                _ => {}
            }
        }
        if operation
            .data_classifications
            .iter()
            .any(|class| is_pii(class))
        {
            reasons.add("pii".to_owned());
        }
        for file in &operation.files.write {
            reasons.add(format!("file-write:{file}"));
        }
        let leaves = |stage: &Stage| matches!(stage, Stage::Http(_) | Stage::Sandbox(_));
        if operation.stages.iter().any(leaves) {
            for file in &operation.files.read {
                reasons.add(format!("file-read:{file}"));
            }
        }
        let egress = operation.policy.as_ref().map(Policy::egress);
        let reached = operation.hosts.iter().chain(egress.iter().flatten());
        if reached.into_iter().any(|host| self.is_private(host)) {
            reasons.add("private-host".to_owned());
        }
        if operation
            .policy
            .as_ref()
            .is_some_and(|policy| !policy.secrets.is_empty())
        {
            reasons.add("secret-in-sandbox".to_owned());
        }
        // K-257 is for Tier 1 only; a tier that no stage asks for was declared (K-112).
        if reasons.list.is_empty() && self.tier(operation) > 1 {
            reasons.add("skill-requested".to_owned());
        }
        reasons.list
    }

    fn is_unconfined(&self, tool: &str) -> bool {
        matches!(tool, "sed" | "awk") && (self.lacks_sandbox)(tool)
    }

    /// K-04: at least 2; 3 for a script, and for a tool that neither section 9 nor the operator names.
    fn sandbox_tier(&self, stage: &SandboxStage) -> u8 {
        match &stage.program {
            ProgramOut::Script(_) => 3,
            ProgramOut::Code(_) | ProgramOut::File { .. } | ProgramOut::Module(_) => {
                if stage.runtime == Runtime::Shell {
                    3
                } else {
                    2
                }
            }
            ProgramOut::Argv(argv) => {
                let tool = argv.first().and_then(|word| word.as_literal());
                let is_named = tool.is_some_and(|tool| {
                    NAMED_TOOLS.contains(&tool)
                        || self.config.known_tools.iter().any(|known| known == tool)
                });
                if is_named { 2 } else { 3 }
            }
        }
    }

    fn sandbox_reasons(&self, stage: &SandboxStage, reasons: &mut Reasons) {
        let is_named = |prefix: &str| reasons.list.iter().any(|reason| reason.starts_with(prefix));
        if self.sandbox_tier(stage) < 3 {
            if !is_named("unknown-tool:") && !is_named("script") && !is_named("package:") {
                reasons.add(format!("sandbox:{}", stage.runtime.as_str()));
            }
            return;
        }
        match &stage.program {
            ProgramOut::Argv(argv) if !is_named("unknown-tool:") && !is_named("package:") => {
                let tool = argv.first().map(|word| word.display()).unwrap_or_default();
                reasons.add(format!("unknown-tool:{tool}"));
            }
            ProgramOut::Argv(_) => {}
            _ if !is_named("unknown-tool:") => reasons.add("script".to_owned()),
            _ => {}
        }
    }

    /// K-315, as far as it is known before a name is resolved.
    fn is_private(&self, pair: &str) -> bool {
        self.config.may_be_private(pair) || is_private_literal(pair)
    }
}

/// Each once, in the order in which they were found.
#[derive(Default)]
struct Reasons {
    list: Vec<String>,
    seen: BTreeSet<String>,
}

impl Reasons {
    fn add(&mut self, reason: String) {
        if self.seen.insert(reason.clone()) {
            self.list.push(reason);
        }
    }
}

/// K-69
pub(crate) fn is_pii(class: &str) -> bool {
    let class = fold(class);
    class == "pii" || class.starts_with("pii.") || class == "restricted"
}
