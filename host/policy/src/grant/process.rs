//! Programs: one rule of `host.process` in every layer.

use std::path::{Path, PathBuf};

use super::{Confinement, Factors, Grant, Location, ProgramLeave};
use crate::{AllowedPath, Denial, Layers, Policy, ProgramDenial, ProgramRule, Rule, VirtualPath};
use hydrant_trust::Capability;

pub(super) const KIND: &str = "exec.safe";
/// Bytes of arguments that a proposal shows; longer ones are left to the operator.
const LONGEST_PROPOSAL: usize = 1024;

impl Grant {
    /// Whether the program may be started with these arguments (`argv[1..]`) in this directory. In every layer one rule
    /// must match all three. Its program was looked up when the policy was loaded, and is the same file in every layer.
    /// `env` is that of the policy layer, `network` needs all of them, and what the child may write lies within every
    /// rule's `writable` and every ceiling's `fs.write`, on mounts that this call may write.
    ///
    /// # Errors
    /// What the rules refuse, or that the program is not installed.
    pub fn program(
        &self,
        name: &str,
        arguments: &[String],
        directory: &VirtualPath,
    ) -> Result<ProgramLeave, ProgramDenial> {
        let capability = || format!("{KIND}:{name}");
        let factors = self.processes(name).map_err(ProgramDenial::Program)?;
        if !factors.declared.starts(name) {
            return Err(ProgramDenial::Program(factors.undeclared(KIND, name)));
        }
        let layers = &factors.layers;
        for layer in layers.all() {
            layer
                .exec_is_allowed(name, "add a rule to host.process")
                .map_err(ProgramDenial::Program)?;
        }
        let rule = layers
            .policy()
            .process_rule(name, arguments, directory, None)?;
        let mut installed = rule.executable.as_deref();
        let mut network = rule.rule.network;
        let mut writable = rule.rule.writable.clone();
        let mut directories = vec![&rule.rule.cwd];
        for layer in layers.narrowing() {
            let narrowing = layer.process_rule(name, arguments, directory, installed)?;
            if let (Some(file), Some(other)) = (installed, narrowing.executable.as_deref())
                && file != other
            {
                let reason = "its program is another file than that of the policy's rule";
                let instruction = "name the program as the policy does";
                let denial = layer.denial(capability(), narrowing.line, reason, instruction);
                return Err(ProgramDenial::Program(denial));
            }
            // A rule without its program is inactive, in whichever layer.
            installed = installed.filter(|_| narrowing.executable.is_some());
            network &= narrowing.rule.network;
            writable = common(&writable, &narrowing.rule.writable);
            directories.push(&narrowing.rule.cwd);
        }
        for layer in layers.all() {
            writable = common(&writable, layer.document.ceiling.fs.write.values());
        }
        // A rule's `writable` lies in writable mounts, and a layer may have narrowed one.
        writable.retain(|directory| layers.is_writable(directory));
        let executable = installed
            .map(Path::to_owned)
            .ok_or(ProgramDenial::NotFound)?;
        let mount = factors.mount(KIND, directory);
        let located = mount
            .ok()
            .and_then(|mount| mount.locate(directory, self.covered(mount)));
        let Some(Location::Directory(place)) = located else {
            // A rule allows the directory, and there is none: no directory is mounted there.
            let policy = layers.policy();
            return Err(ProgramDenial::Directory(policy.denial(
                capability(),
                policy.document.host.mounts.line,
                format!("no directory of host.mounts holds {directory}"),
                &format!("mount a directory that holds {directory}"),
            )));
        };
        Ok(ProgramLeave {
            executable,
            others: layers.policy().installed_programs(),
            directory: directories
                .into_iter()
                .filter_map(|held| directory.widest_of(held))
                .fold(place, AllowedPath::under),
            env: rule.rule.env.clone(),
            network,
            egress: if network { layers.egress() } else { Vec::new() },
            writable,
            confinement: layers.confinement(),
        })
    }

    /// The rule that allows the program, and what would forbid it. Also for one that is not installed.
    pub(crate) fn why_program(
        &self,
        name: &str,
        arguments: &[String],
        directory: &VirtualPath,
    ) -> Option<(Rule, String)> {
        let factors = self.factors.as_ref()?;
        let line = |layer: &Policy| {
            let rule = layer.process_rule(name, arguments, directory, None);
            rule.ok().map(|rule| rule.line)
        };
        let reason = format!("host.process allows {name} with these arguments in {directory}");
        let policy = factors.layers.policy();
        let remedy = policy.remedy("take the rule out of host.process");
        Some((factors.agreed(line, reason)?, remedy))
    }

    /// The factors, unless this run starts no process at all.
    pub(super) fn processes(&self, what: &str) -> Result<&Factors, Denial> {
        let factors = self.factors(|| format!("{KIND}:{what}"))?;
        if self.no_processes {
            let rule = Rule::of("--no-exec", "it starts no process");
            return Err(Denial::new(
                format!("{KIND}:{what}"),
                rule,
                "leave --no-exec out".to_owned(),
            ));
        }
        Ok(factors)
    }
}

impl Layers {
    /// Whether a skill may start a program that is installed, in the jail.
    pub(crate) fn may_confine(&self) -> bool {
        self.confinement() == Confinement::Required
            && !self.policy().installed_programs().is_empty()
    }

    /// Whether a skill that declares these capabilities may.
    pub fn may_confine_for(&self, capabilities: &[Capability]) -> bool {
        let declared = |capability: &Capability| capability.kind == KIND;
        capabilities.iter().any(declared) && self.may_confine()
    }

    fn egress(&self) -> Vec<(String, bool)> {
        let mut hosts = self.policy().whole_hosts();
        for layer in self.narrowing() {
            let others = layer.whole_hosts();
            hosts.retain(|host| others.contains(host));
        }
        hosts
    }
}

impl Policy {
    pub(super) fn exec_is_allowed(&self, what: &str, then: &str) -> Result<(), Denial> {
        let exec = &self.document.ceiling.exec;
        if exec.value {
            return Ok(());
        }
        Err(self.denial(
            format!("{KIND}:{what}"),
            exec.line,
            "capability_ceiling.exec is not true",
            &format!("set capability_ceiling.exec to true, and {then}"),
        ))
    }

    /// The first rule that matches program, arguments and directory together: of several one for the `wanted` file, else
    /// one that is installed.
    fn process_rule(
        &self,
        name: &str,
        arguments: &[String],
        directory: &VirtualPath,
        wanted: Option<&Path>,
    ) -> Result<&ProgramRule, ProgramDenial> {
        let mut rules: Vec<_> = self.programs.iter().collect();
        rules.retain(|rule| rule.rule.program.name() == name);
        let named = rules.first().copied();
        rules.retain(|rule| {
            let mut patterns = rule.rule.args.iter();
            patterns.any(|pattern| pattern.value.matches(arguments))
        });
        let with_arguments = rules.first().copied();
        rules.retain(|rule| rule.rule.cwd.iter().any(|held| directory.starts_with(held)));
        let is_wanted =
            |rule: &&&ProgramRule| wanted.is_some() && rule.executable.as_deref() == wanted;
        let is_installed = |rule: &&&ProgramRule| rule.executable.is_some();
        let mut matching = rules.iter();
        let found = matching.clone().find(is_wanted);
        let found = found.or_else(|| matching.clone().find(is_installed));
        if let Some(rule) = found.or_else(|| matching.next()) {
            return Ok(rule);
        }
        let denial = |line, reason: &str, instruction: &str| {
            self.denial(format!("{KIND}:{name}"), line, reason, instruction)
        };
        let proposed = proposal(arguments);
        Err(match (named, with_arguments) {
            (_, Some(rule)) => {
                let reason = format!("no cwd of host.process holds {directory}");
                let instruction = format!("add \"{directory}\" to its cwd");
                ProgramDenial::Directory(denial(rule.line, &reason, &instruction))
            }
            (Some(rule), None) => {
                let instruction = format!("add {proposed} to its args");
                let reason = "no args of host.process match";
                ProgramDenial::Arguments(denial(rule.line, reason, &instruction))
            }
            (None, None) => {
                let line = self.document.host.process.line;
                let instruction = format!(
                    "add {{program: {name}, args: [{proposed}], cwd: [{directory}]}} to host.process"
                );
                let reason = "no rule of host.process names it";
                ProgramDenial::Program(denial(line, reason, &instruction))
            }
        })
    }

    fn whole_hosts(&self) -> Vec<(String, bool)> {
        let rules = self.document.host.net.value.iter();
        rules
            .filter_map(|rule| rule.value.url.value.whole_host())
            .collect()
    }

    fn installed_programs(&self) -> Vec<PathBuf> {
        let installed = self.programs.iter();
        installed
            .filter_map(|rule| rule.executable.clone())
            .collect()
    }
}

/// The pattern that matches exactly these arguments, as it is written in a policy.
fn proposal(arguments: &[String]) -> String {
    let literal: Vec<_> = arguments
        .iter()
        .map(|argument| argument.replace('*', "\\*"))
        .collect();
    serde_json::to_string(&literal)
        .ok()
        .filter(|text| text.len() <= LONGEST_PROPOSAL)
        .unwrap_or_else(|| "[ARGUMENTS]".to_owned())
}

/// What lies in a directory of both lists.
fn common<'p>(
    one: &[VirtualPath],
    other: impl IntoIterator<Item = &'p VirtualPath>,
) -> Vec<VirtualPath> {
    let mut common = Vec::new();
    for (a, b) in other
        .into_iter()
        .flat_map(|b| one.iter().map(move |a| (a, b)))
    {
        let inner = match (a.starts_with(b), b.starts_with(a)) {
            (true, _) => a,
            (_, true) => b,
            _ => continue,
        };
        if !common.contains(inner) {
            common.push(inner.clone());
        }
    }
    common
}
