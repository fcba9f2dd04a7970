//! The checks of a call that look at the caller, the configuration, this machine and the secrets.

use std::collections::BTreeMap;

use secrecy::SecretString;

use super::{Caller, Governor};
use crate::client::Frontend;
use crate::execute;
use crate::failure::{Code, Failure};
use crate::registry::approvals::Permit;
use crate::registry::{Registered, bindings};
use crate::request::{CallFiles, Inputs};
use crate::sandbox::Sandbox;
use crate::secrets::Place;
use hydrant_plan::{Policy, Stage};

impl Governor {
    /// Refuses a caller whom the operator lets call such an operation only from a jail.
    pub(super) fn check_client(&self, caller: &Caller, found: &Registered) -> Result<(), Failure> {
        let has_secrets = !found.operation.secrets.is_empty();
        let clients = &self.config.jailed_clients;
        if clients.permits(caller.client(), has_secrets) {
            return Ok(());
        }
        let (instead, modes) = match caller.client().frontend {
            Frontend::Cli => ("run the agent with `hydrant jail`, or ", "cli = \"warn\""),
            Frontend::Syscall => (
                "run the agent with `hydrant jail`, or ",
                "syscall = \"warn\"",
            ),
            Frontend::Mcp => (
                "call it with `hydrant skill execute` yourself, or ",
                "mcp = \"warn\", http = \"warn\"",
            ),
            Frontend::Http => ("", "http = \"warn\""),
        };
        Err(Failure::new(
            Code::ClientNotJailed,
            format!("{} is for callers in a jail only", found.capability),
        )
        .with_hint(format!(
            "{instead}let these clients use secrets: `jailed_clients = {{{modes}}}` below [govern] of \
             hydrant.toml, read at the next start",
        )))
    }

    /// Refuses a call whose hosts are denied, or whose tools or sandbox this machine does not have.
    pub(super) fn check_surroundings(
        &self,
        found: &Registered,
        inputs: &Inputs,
        files: &CallFiles,
    ) -> Result<(), Failure> {
        let operation = &found.operation;
        let policy = operation.policy.as_ref();
        let egress = policy.map(Policy::egress).unwrap_or_default();
        for pair in operation.hosts.iter().chain(&egress) {
            if self.config.is_denied(pair) {
                return Err(Failure::new(
                    Code::HostDenied,
                    format!("{pair} is in `deny_hosts`"),
                ));
            }
        }
        for stage in &operation.stages {
            match stage {
                Stage::Sandbox(stage) => {
                    if let Some(policy) = policy {
                        self.sandbox()?.check(stage, policy)?;
                    }
                }
                // A tool that is not built in runs in the jail.
                Stage::TextTransform { tool, args, .. } => {
                    let components = self.components.as_ref();
                    if !execute::is_built_in(components, tool, args, inputs, files)? {
                        self.sandbox()?.check_text_tool(tool)?;
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn sandbox(&self) -> Result<&Sandbox, Failure> {
        self.sandbox.as_ref().ok_or_else(execute::no_jail)
    }

    /// Returns the secrets of a call, each of which has to be there and bound.
    pub(super) fn secrets_of(
        &self,
        found: &Registered,
        permit: &Permit,
    ) -> Result<BTreeMap<(String, String), SecretString>, Failure> {
        let mut values = BTreeMap::new();
        let now = self.state.now();
        let grant = permit.approval.as_deref();
        for secret in &found.operation.secrets {
            for host in bindings::hosts_of(&secret.hosts) {
                let bound = self.state.read(|database| {
                    bindings::bound(database, &found.skill, &secret.name, host, grant, now)
                })?;
                let bound = bound.ok_or_else(|| unbound(&secret.name, found, host))?;
                if bound.place == Place::Skill {
                    self.ready_secret(&bound.stored, found)?;
                }
                let skill = &found.skill.skill.id;
                let value = self.secrets.value(&bound.stored, bound.place, skill)?;
                values.insert((secret.name.clone(), host.to_owned()), value);
            }
        }
        Ok(values)
    }
}

pub(super) fn unbound(name: &str, found: &Registered, host: &str) -> Failure {
    let skill = &found.skill.skill.id;
    let place = if host.is_empty() { "a sandbox" } else { host };
    Failure::new(
        Code::SecretUnbound,
        format!("{name} is not bound to skill {skill} for {place}"),
    )
    .with_hint(format!(
        "`hydrant secrets set {name} --skill {skill}`, or `hydrant secrets bind`"
    ))
}
