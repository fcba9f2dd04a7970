//! What one call may do: signed manifest ∩ policy ∩ tenant ∩ run.
//!
//! Each question is answered by the first factor that refuses, in the order manifest, ceilings, rules; an operation
//! happens only if every factor and every layer allows it. Nothing here touches the file system or the network, so what
//! exists and what does not look alike outside the grant.

mod declared;
mod fetch;
mod files;
mod leave;
mod process;
mod tool;

use std::sync::Arc;

use declared::Declared;
pub(super) use files::{READ, WRITE};
pub use leave::{
    Confinement, Location, Method, ProgramLeave, Reach, Runner, ToolLeave, WriteLeave,
};

use super::mount::{Mapped, Mounted};
use super::{Denial, Layers, MountHandle, OwnMount, Policy, Rule, VirtualPath};
use hydrant_trust::Capability;

/// What one call may do. Cheap to clone; can be narrowed, never widened.
#[derive(Clone, Debug)]
pub struct Grant {
    /// None: the empty grant.
    factors: Option<Arc<Factors>>,
    no_processes: bool,
    http_loopback: bool,
    /// What the host itself mounts for the call, before the mounts of the policy.
    own: Arc<[OwnMount]>,
}

/// The factors that are the same for every clone.
#[derive(Debug)]
struct Factors {
    layers: Layers,
    declared: Declared,
}

impl Grant {
    /// What both the layers (a policy alone is one, too) and the manifest's capabilities allow. A capability of an
    /// unknown kind or form allows nothing.
    pub fn new(layers: impl Into<Layers>, capabilities: &[Capability]) -> Self {
        let factors = Factors {
            layers: layers.into(),
            declared: Declared::new(capabilities),
        };
        Self {
            factors: Some(Arc::new(factors)),
            no_processes: false,
            http_loopback: false,
            own: Arc::default(),
        }
    }

    /// Denies everything: for a component that is only described.
    pub fn nothing() -> Self {
        Self {
            factors: None,
            no_processes: true,
            http_loopback: false,
            own: Arc::default(),
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

    /// Whether this run may start no process at all.
    pub fn is_without_processes(&self) -> bool {
        self.no_processes
    }

    /// The same, and mounts with a base of plain http on this machine may be read. The allowlist still applies.
    #[must_use]
    pub fn with_http_loopback(self) -> Self {
        Self {
            http_loopback: true,
            ..self
        }
    }

    /// The same with directories that the host itself mounts, to be read only, in front of the policy's. The
    /// manifest must still declare them.
    #[must_use]
    pub fn with_own_mounts(self, own: Arc<[OwnMount]>) -> Self {
        Self { own, ..self }
    }

    /// The mounted directories of the call, the outermost first: what a child sees.
    pub fn mounts(&self) -> Vec<MountHandle> {
        let factors = self.factors.iter();
        let mut mounts: Vec<_> = factors
            .flat_map(|factors| factors.layers.mounts().directories())
            .collect();
        mounts.sort_by_key(|mount| mount.at().as_str().len());
        mounts
    }

    /// The directories that are mounted read-only, as each layer has them: nothing in them is written, whatever leads
    /// there.
    pub fn read_only(&self) -> Vec<&MountHandle> {
        let factors = self.factors.iter();
        factors
            .flat_map(|factors| factors.layers.read_only())
            .collect()
    }

    /// Where other mounts lie below this one, relative to it.
    fn covered(&self, mount: &Mounted) -> Vec<String> {
        let mounts = self
            .factors
            .iter()
            .flat_map(|factors| factors.layers.mounts().iter());
        let others = mounts.map(|other| &other.at);
        others
            .chain(self.own.iter().map(OwnMount::at))
            .filter_map(|other| other.strip_prefix(&mount.at))
            .filter(|below| !below.is_empty())
            .map(str::to_owned)
            .collect()
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

    /// The mount that holds `path`, unless a layer leaves it out.
    fn mount(&self, kind: &str, path: &VirtualPath) -> Result<&Mounted, Denial> {
        let policy = self.layers.policy();
        let mount = self.layers.mounts().holding(path);
        let mount = mount.ok_or_else(|| policy.unmounted(kind, path))?;
        match mount.mapped {
            Mapped::Unlisted => {
                let layer = self.layers.leaves_out(mount).unwrap_or(policy);
                Err(layer.unlisted(kind, path, mount))
            }
            Mapped::Unnamed => Err(policy.unnamed(kind, path, mount)),
            Mapped::Directory(_) | Mapped::Https(_) => Ok(mount),
        }
    }

    /// The rule of the policy that allows something, and where the other layers agree; `line` finds the line of a layer.
    fn agreed(&self, line: impl Fn(&Policy) -> Option<u64>, mut reason: String) -> Option<Rule> {
        for layer in self.layers.narrowing() {
            let line = line(layer)?;
            reason.push_str(&format!("; {}:{line} agrees", layer.source()));
        }
        let policy = self.layers.policy();
        Some(policy.rule(line(policy)?, reason))
    }
}

impl Policy {
    fn unmounted(&self, kind: &str, path: &VirtualPath) -> Denial {
        let (capability, line) = (format!("{kind}:{path}"), self.document.host.mounts.line);
        let reason = "no mount of host.mounts holds it";
        if path.starts_with(&VirtualPath::os()) {
            let remedy = "give --root DIR".to_owned();
            return Denial::new(capability, self.rule(line, reason), remedy);
        }
        let at = path.segments().next().unwrap_or("NAME");
        let mode = if kind == WRITE { "rw" } else { "ro" };
        let instruction = format!("add {{at: /{at}, dir: DIR, mode: {mode}}} to host.mounts");
        self.denial(capability, line, reason, &instruction)
    }

    /// The mount is there for a directory that nobody named.
    fn unnamed(
        &self,
        kind: &str,
        path: &VirtualPath,
        Mounted { at, line, .. }: &Mounted,
    ) -> Denial {
        let line = line.unwrap_or(self.document.host.mounts.line);
        let rule = self.rule(line, format!("no directory was named for {at}"));
        let remedy = format!("name one: --workspace DIR, or --mount {at}=DIR");
        Denial::new(format!("{kind}:{path}"), rule, remedy)
    }

    /// This layer has mounts, and not this one.
    fn unlisted(&self, kind: &str, path: &VirtualPath, Mounted { at, .. }: &Mounted) -> Denial {
        self.denial(
            format!("{kind}:{path}"),
            self.document.host.mounts.line,
            format!("host.mounts leaves out {at}"),
            &format!("list {at} in host.mounts"),
        )
    }
}

#[cfg(test)]
mod tests;
