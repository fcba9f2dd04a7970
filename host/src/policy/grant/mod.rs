//! What one call may do: policy ∩ signed manifest ∩ run (TC, section 9).
//!
//! Each question is answered by the first factor that refuses, in the order manifest, ceiling, rule; an operation
//! happens only if every factor allows it. Nothing here touches the file system or the network, so what exists and what
//! does not look alike outside the grant (TC-21).

mod declared;
mod fetch;
mod leave;
mod process;
mod read;

use std::sync::Arc;

use declared::Declared;
pub use leave::{Confinement, Location, Method, ProgramLeave, Reach, Runner, ToolLeave};

use super::{Denial, Policy, Rule};
use crate::trust::Capability;

/// What one call may do. Cheap to clone; can be narrowed, never widened.
#[derive(Clone, Debug)]
pub struct Grant {
    /// None: the empty grant.
    factors: Option<Arc<Factors>>,
    no_processes: bool,
    http_loopback: bool,
}

/// The factors that are the same for every clone.
#[derive(Debug)]
struct Factors {
    policy: Arc<Policy>,
    declared: Declared,
}

impl Grant {
    /// What both the policy and the manifest's capabilities allow. A capability of an unknown kind or form allows
    /// nothing (TC-09).
    pub fn new(policy: Arc<Policy>, capabilities: &[Capability]) -> Self {
        let factors = Factors {
            policy,
            declared: Declared::new(capabilities),
        };
        Self {
            factors: Some(Arc::new(factors)),
            no_processes: false,
            http_loopback: false,
        }
    }

    /// Denies everything: for a component that is only described (TD-14).
    pub fn nothing() -> Self {
        Self {
            factors: None,
            no_processes: true,
            http_loopback: false,
        }
    }

    /// The same without any process (`--no-exec`).
    #[must_use]
    pub fn without_processes(self) -> Self {
        Self {
            no_processes: true,
            ..self
        }
    }

    /// The same, and mounts with a base of plain http on this machine may be read (N-09). The allowlist still applies.
    #[must_use]
    pub fn with_http_loopback(self) -> Self {
        Self {
            http_loopback: true,
            ..self
        }
    }

    fn factors(&self, capability: impl Fn() -> String) -> Result<&Factors, Denial> {
        self.factors.as_deref().ok_or_else(|| {
            let rule = Rule::of(
                "the empty grant",
                "a component that is only described may do nothing",
            );
            let remedy = "run it as a skill, with a manifest and a policy".to_owned();
            Denial::new(capability(), rule, remedy)
        })
    }
}

impl Factors {
    /// The denial of what the manifest does not declare.
    fn undeclared(&self, kind: &str, value: &str) -> Denial {
        let capability = format!("{kind}:{value}");
        let declared = self.declared.values(kind);
        let reason = if declared.is_empty() {
            format!("it declares no {kind}")
        } else {
            format!("it declares {kind} for {} only", declared.join(", "))
        };
        let remedy = format!("the skill must be signed with a manifest that declares {capability}");
        Denial::new(capability, Rule::of("the manifest", reason), remedy)
    }
}

#[cfg(test)]
mod tests;
