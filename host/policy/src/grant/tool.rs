//! Tools: a directory of `host.discovery` in every layer.

use std::collections::BTreeMap;

use super::process::KIND;
use super::{Confinement, Factors, Grant, Location, ToolLeave};
use crate::document::{Lined, ToolDirectory};
use crate::{Denial, Layers, Policy, Rule, VirtualPath};

impl Grant {
    /// Whether a tool at `path` may be asked for its description. A name that ends in `.wasm` is described in the
    /// sandbox and never started: it takes leave to be read instead. Every other tool takes both. Also where it lies.
    ///
    /// # Errors
    /// The denial, the same whether or not the tool exists.
    pub fn tool(&self, path: &VirtualPath) -> Result<(ToolLeave, Location), Denial> {
        if path.file_name().is_some_and(|name| name.ends_with(".wasm")) {
            let leave = ToolLeave {
                runners: BTreeMap::new(),
                env: BTreeMap::new(),
                confinement: Confinement::Required,
            };
            return Ok((leave, self.read(path)?));
        }
        let factors = self.tool_processes(path.as_str())?;
        let layers = factors.layers.all();
        let rules: Vec<_> = layers
            .map(|layer| layer.run_holds(path))
            .collect::<Result<_, _>>()?;
        let located = rules.into_iter().fold(self.read(path)?, Location::under);
        Ok((factors.layers.tool_leave(), located))
    }

    /// Whether tools that are not local may be started: https tools, tools on https mounts, and tools that remote
    /// documents declare.
    ///
    /// # Errors
    /// The denial.
    pub fn remote_tools(&self) -> Result<ToolLeave, Denial> {
        let factors = self.tool_processes("remote tools")?;
        factors.layers.remote_is_allowed()?;
        Ok(factors.layers.tool_leave())
    }

    /// Whether tools that are not local may be described when their name ends in `.wasm`: nothing is started, so only
    /// `discovery.remote` counts.
    ///
    /// # Errors
    /// The denial.
    pub fn remote_components(&self) -> Result<(), Denial> {
        let factors = self.factors(|| format!("{KIND}:remote tools"))?;
        factors.layers.remote_is_allowed()
    }

    /// The directory of `host.discovery.run` that lets a tool be described, and what would forbid it.
    pub(crate) fn why_tool(&self, path: &VirtualPath) -> Option<(Rule, String)> {
        let factors = self.factors.as_ref()?;
        let policy = factors.layers.policy();
        let held = &policy.directory_of(path)?.value.0;
        let reason = format!("host.discovery.run holds {held}");
        let remedy = policy.remedy(&format!("take \"{held}\" out of host.discovery.run"));
        let line = |layer: &Policy| Some(layer.directory_of(path)?.line);
        Some((factors.agreed(line, reason)?, remedy))
    }

    fn tool_processes(&self, what: &str) -> Result<&Factors, Denial> {
        let factors = self.processes(what)?;
        if !factors.declared.starts_tools() {
            return Err(factors.undeclared(KIND, "*"));
        }
        for layer in factors.layers.all() {
            layer.exec_is_allowed(what, "add the tool's directory to host.discovery.run")?;
        }
        Ok(factors)
    }
}

impl Layers {
    fn remote_is_allowed(&self) -> Result<(), Denial> {
        self.all().try_for_each(Policy::remote_is_allowed)
    }

    /// The policy layer supplies the environment; a runner counts where every layer has the very same.
    fn tool_leave(&self) -> ToolLeave {
        let policy = self.policy();
        let mut runners = policy.runners.clone();
        for layer in self.narrowing() {
            runners.retain(|ending, runner| layer.runners.get(ending) == Some(runner));
        }
        ToolLeave {
            runners,
            env: policy.document.host.discovery.env.clone(),
            confinement: self.confinement(),
        }
    }
}

impl Policy {
    /// The widest directory of `host.discovery.run` that holds `path`.
    fn directory_of(&self, path: &VirtualPath) -> Option<&Lined<ToolDirectory>> {
        let run = self.document.host.discovery.run.value.iter();
        run.filter(|directory| path.starts_with(&directory.value.0))
            .min_by_key(|directory| directory.value.0.as_str().len())
    }

    fn run_holds(&self, path: &VirtualPath) -> Result<&VirtualPath, Denial> {
        if let Some(directory) = self.directory_of(path) {
            return Ok(&directory.value.0);
        }
        let directory = path
            .as_str()
            .rsplit_once('/')
            .map_or("/os", |(parent, _)| parent);
        Err(self.denial(
            format!("{KIND}:{path}"),
            self.document.host.discovery.run.line,
            "host.discovery.run does not hold it",
            &format!("add \"{directory}\" to host.discovery.run"),
        ))
    }

    fn remote_is_allowed(&self) -> Result<(), Denial> {
        let remote = &self.document.host.discovery.remote;
        if remote.value {
            return Ok(());
        }
        Err(self.denial(
            format!("{KIND}:remote tools"),
            remote.line,
            "host.discovery.remote is not true",
            "set host.discovery.remote to true",
        ))
    }
}
