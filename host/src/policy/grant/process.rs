//! Processes: programs by a rule of `host.process`, tools by a directory of `host.discovery` (TC-40, TP-36).

use std::collections::BTreeMap;
use std::path::Path;

use super::{Factors, Grant, Location, ProgramLeave, ToolLeave};
use crate::policy::{Confinement, Denial, Policy, ProgramDenial, ProgramRule, Rule, VirtualPath};

const KIND: &str = "exec.safe";

/// Bytes of arguments that a proposal shows; longer ones are left to the operator.
const LONGEST_PROPOSAL: usize = 1024;

impl Grant {
    /// Whether the program may be started with these arguments (`argv[1..]`) in this directory. One rule must match all
    /// three; the first that does decides. Its program was looked up when the policy was loaded.
    ///
    /// # Errors
    /// What the rules refuse, or that the program is not installed.
    pub fn program(
        &self,
        name: &str,
        arguments: &[String],
        directory: &VirtualPath,
    ) -> Result<ProgramLeave, ProgramDenial> {
        let factors = self.processes(name).map_err(ProgramDenial::Program)?;
        if !factors.declared.starts(name) {
            return Err(ProgramDenial::Program(factors.undeclared(KIND, name)));
        }
        factors
            .policy
            .exec_is_allowed(name, "add a rule to host.process")
            .map_err(ProgramDenial::Program)?;
        let rule = factors.policy.process_rule(name, arguments, directory)?;
        let executable = rule
            .executable
            .as_deref()
            .map(Path::to_owned)
            .ok_or(ProgramDenial::NotFound)?;
        let mounted = factors
            .policy
            .mounts
            .holding(directory)
            .and_then(|mount| mount.locate(directory));
        let Some(Location::Directory { mount, relative }) = mounted else {
            let denial = factors.policy.no_working_directory(name, directory);
            return Err(ProgramDenial::Directory(denial));
        };
        Ok(ProgramLeave {
            executable,
            mount,
            relative,
            env: rule.rule.env.clone(),
            network: rule.rule.network,
            writable: rule.rule.writable.clone(),
            confinement: factors.policy.document.host.confinement,
        })
    }

    /// Whether a tool at `path` may be asked for its description (TD-02). A name that ends in `.wasm` is described in the
    /// sandbox and never started: it takes leave to be read instead. Every other tool takes both.
    ///
    /// # Errors
    /// The denial, the same whether or not the tool exists.
    pub fn tool(&self, path: &VirtualPath) -> Result<ToolLeave, Denial> {
        if path.file_name().is_some_and(|name| name.ends_with(".wasm")) {
            let _: Location = self.read(path)?;
            return Ok(ToolLeave {
                runners: BTreeMap::new(),
                env: BTreeMap::new(),
                confinement: Confinement::Required,
            });
        }
        let factors = self.tool_processes(path.as_str())?;
        let policy = &factors.policy;
        let run = &policy.document.host.discovery.run;
        if !run
            .items
            .iter()
            .any(|directory| path.starts_with(&directory.value))
        {
            let directory = path
                .as_str()
                .rsplit_once('/')
                .map_or("/os", |(parent, _)| parent);
            let rule = policy.rule(run.line, "host.discovery.run does not hold it");
            let remedy = policy.remedy(&format!("add \"{directory}\" to host.discovery.run"));
            return Err(Denial::new(format!("{KIND}:{path}"), rule, remedy));
        }
        let _: Location = self.read(path)?;
        Ok(policy.tool_leave())
    }

    /// Whether tools that are not local may be started (TD-03): https tools, tools on https mounts, and tools that remote
    /// documents declare.
    ///
    /// # Errors
    /// The denial.
    pub fn remote_tools(&self) -> Result<ToolLeave, Denial> {
        let factors = self.tool_processes("remote tools")?;
        factors.policy.remote_is_allowed()?;
        Ok(factors.policy.tool_leave())
    }

    /// Whether tools that are not local may be described when their name ends in `.wasm`: nothing is started, so only
    /// `discovery.remote` counts.
    ///
    /// # Errors
    /// The denial.
    pub fn remote_components(&self) -> Result<(), Denial> {
        let factors = self.factors(|| format!("{KIND}:remote tools"))?;
        factors.policy.remote_is_allowed()
    }

    /// The rule that allows the program, and what would forbid it. Also for one that is not installed.
    pub(in crate::policy) fn why_program(
        &self,
        name: &str,
        arguments: &[String],
        directory: &VirtualPath,
    ) -> Option<(Rule, String)> {
        let policy = &self.factors.as_ref()?.policy;
        let found = policy.process_rule(name, arguments, directory).ok()?;
        let reason = format!("host.process allows {name} with these arguments in {directory}");
        let remedy = policy.remedy("take the rule out of host.process");
        Some((policy.rule(found.line, reason), remedy))
    }

    /// The directory of `host.discovery.run` that lets a tool be described, and what would forbid it.
    pub(in crate::policy) fn why_tool(&self, path: &VirtualPath) -> Option<(Rule, String)> {
        let policy = &self.factors.as_ref()?.policy;
        let run = &policy.document.host.discovery.run;
        let held = run
            .items
            .iter()
            .find(|directory| path.starts_with(&directory.value))?;
        let reason = format!("host.discovery.run holds {}", held.value);
        let remedy = policy.remedy(&format!(
            "take \"{}\" out of host.discovery.run",
            held.value
        ));
        Some((policy.rule(held.line, reason), remedy))
    }

    /// Where children have to be confined: the denial that every start gets for as long as there is no jail.
    pub(in crate::policy) fn unconfined(&self, what: &str) -> Option<Denial> {
        let policy = &self.factors.as_ref()?.policy;
        if policy.document.host.confinement == Confinement::Unjailed {
            return None;
        }
        let reason = "processes have to be confined, and this version has no process jail";
        let rule = Rule::of(&policy.source, reason);
        let remedy = policy.remedy("say `jail: {process: unjailed}` below host");
        Some(Denial::new(format!("{KIND}:{what}"), rule, remedy))
    }

    /// The factors, unless this run starts no process at all.
    fn processes(&self, what: &str) -> Result<&Factors, Denial> {
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

    fn tool_processes(&self, what: &str) -> Result<&Factors, Denial> {
        let factors = self.processes(what)?;
        if !factors.declared.starts_tools() {
            return Err(factors.undeclared(KIND, "*"));
        }
        factors
            .policy
            .exec_is_allowed(what, "add the tool's directory to host.discovery.run")?;
        Ok(factors)
    }
}

impl Policy {
    fn exec_is_allowed(&self, what: &str, then: &str) -> Result<(), Denial> {
        let exec = &self.document.ceiling.exec;
        if exec.value {
            return Ok(());
        }
        let rule = self.rule(exec.line, "capability_ceiling.exec is not true");
        let remedy = self.remedy(&format!("set capability_ceiling.exec to true, and {then}"));
        Err(Denial::new(format!("{KIND}:{what}"), rule, remedy))
    }

    fn remote_is_allowed(&self) -> Result<(), Denial> {
        let remote = &self.document.host.discovery.remote;
        if remote.value {
            return Ok(());
        }
        let rule = self.rule(remote.line, "host.discovery.remote is not true");
        let remedy = self.remedy("set host.discovery.remote to true");
        Err(Denial::new(format!("{KIND}:remote tools"), rule, remedy))
    }

    /// A rule allows the directory, and there is none: no directory is mounted there.
    fn no_working_directory(&self, name: &str, directory: &VirtualPath) -> Denial {
        let reason = format!("no directory of host.mounts holds {directory}");
        let rule = self.rule(self.document.host.mounts.line, reason);
        let remedy = self.remedy(&format!("mount a directory that holds {directory}"));
        Denial::new(format!("{KIND}:{name}"), rule, remedy)
    }

    fn tool_leave(&self) -> ToolLeave {
        ToolLeave {
            runners: self.runners.clone(),
            env: self.document.host.discovery.env.clone(),
            confinement: self.document.host.confinement,
        }
    }

    /// The first rule that matches program, arguments and directory together, installed ones before others.
    fn process_rule(
        &self,
        name: &str,
        arguments: &[String],
        directory: &VirtualPath,
    ) -> Result<&ProgramRule, ProgramDenial> {
        let named = || {
            self.programs
                .iter()
                .filter(|rule| rule.rule.program.name() == name)
        };
        let with_arguments = || {
            named().filter(|rule| {
                rule.rule
                    .arguments
                    .iter()
                    .any(|pattern| pattern.matches(arguments))
            })
        };
        let matching = || {
            with_arguments().filter(|rule| {
                rule.rule
                    .directories
                    .iter()
                    .any(|held| directory.starts_with(held))
            })
        };
        if let Some(rule) = matching()
            .find(|rule| rule.executable.is_some())
            .or_else(|| matching().next())
        {
            return Ok(rule);
        }
        let capability = format!("{KIND}:{name}");
        if let Some(rule) = with_arguments().next() {
            let remedy = self.remedy(&format!("add \"{directory}\" to its cwd"));
            let rule = self.rule(
                rule.line,
                format!("no cwd of host.process holds {directory}"),
            );
            return Err(ProgramDenial::Directory(Denial::new(
                capability, rule, remedy,
            )));
        }
        let proposed = proposal(arguments);
        if let Some(rule) = named().next() {
            let remedy = self.remedy(&format!("add {proposed} to its args"));
            let rule = self.rule(rule.line, "no args of host.process match");
            return Err(ProgramDenial::Arguments(Denial::new(
                capability, rule, remedy,
            )));
        }
        let remedy = self.remedy(&format!(
            "add {{program: {name}, args: [{proposed}], cwd: [{directory}]}} to host.process"
        ));
        let rule = self.rule(
            self.document.host.process.line,
            "no rule of host.process names it",
        );
        Err(ProgramDenial::Program(Denial::new(
            capability, rule, remedy,
        )))
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
