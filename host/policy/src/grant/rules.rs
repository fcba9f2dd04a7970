//! Which rule of one layer's `host.process` allows a program, and which line is missing where none does.

use std::path::Path;

use super::process::KIND;
use crate::{Denial, Policy, ProgramDenial, ProgramRule, VirtualPath};

/// Bytes of arguments that a proposal shows; longer ones are left to the operator.
const LONGEST_PROPOSAL: usize = 1024;

impl Policy {
    pub(super) fn exec_is_allowed(&self, what: &str, then: &str) -> Result<(), Denial> {
        let exec = &self.document.ceiling.exec;
        if exec.value {
            return Ok(());
        }
        let rule = self.rule(exec.line, "capability_ceiling.exec is not true");
        let remedy = self.remedy(&format!("set capability_ceiling.exec to true, and {then}"));
        Err(Denial::new(format!("{KIND}:{what}"), rule, remedy))
    }

    /// The first rule that matches program, arguments and directory together: of several one for the `wanted` file, else
    /// one that is installed.
    pub(super) fn process_rule(
        &self,
        name: &str,
        arguments: &[String],
        directory: &VirtualPath,
        wanted: Option<&Path>,
    ) -> Result<&ProgramRule, ProgramDenial> {
        let named = || {
            self.programs
                .iter()
                .filter(|rule| rule.rule.program.name() == name)
        };
        let with_arguments = || {
            named().filter(|rule| {
                let mut patterns = rule.rule.args.iter();
                patterns.any(|pattern| pattern.value.matches(arguments))
            })
        };
        let matching = || {
            with_arguments().filter(|rule| {
                let mut held = rule.rule.cwd.iter();
                held.any(|held| directory.starts_with(held))
            })
        };
        if let Some(rule) = matching()
            .find(|rule| wanted.is_some() && rule.executable.as_deref() == wanted)
            .or_else(|| matching().find(|rule| rule.executable.is_some()))
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
