//! The steps of section 19, in their order; the first failure ends a call, and each denial is recorded.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::PoisonError;
use std::time::Instant;

use hydrant_canonical::Json;
use secrecy::SecretString;
use serde_json::{Map, Value, json};

use super::budgets::Session;
use super::caller::Lifetime;
use super::{Caller, Governor};
use crate::chain::{Entry, Event, Outcome, Used};
use crate::client::Frontend;
use crate::digest;
use crate::execute::{self, Call, Captured, Done, Jails, Output};
use crate::failure::{Code, Failure};
use crate::registry::approvals::{self, Permit};
use crate::registry::bindings::{self, Store};
use crate::registry::events;
use crate::registry::{self, Registered};
use crate::request::{self, CallFiles, Inputs};
use crate::sandbox::{SandboxEnd, SandboxRun};
use crate::secrets::Place;
use hydrant_plan::judge::is_pii;
use hydrant_plan::{Policy, Stage};

/// A call that passed every check before it runs.
struct Prepared {
    inputs: Inputs,
    files: CallFiles,
    permit: Permit,
    session: Session,
    /// By the skill's name for it and the `host:port` it goes to; the empty one for a sandbox.
    secrets: BTreeMap<(String, String), SecretString>,
}

impl Governor {
    /// Executes an operation of a skill (`ccos.skill.execute`). Returns its output with usage, warnings and its `seq` in the
    /// chain.
    ///
    /// # Errors
    ///
    /// The codes of section 19's steps, and of the stage that failed.
    pub fn execute(
        &self,
        caller: &Caller,
        skill: &str,
        operation: &str,
        params: impl Into<Json>,
    ) -> Result<Value, Failure> {
        let found = self
            .state
            .read(|database| registry::find(database, skill, operation));
        self.execute_found(
            caller,
            &format!("{skill}.{operation}"),
            found,
            params.into(),
        )
    }

    /// Executes a registered capability by its id.
    pub(super) fn execute_capability(
        &self,
        caller: &Caller,
        id: &str,
        params: Json,
    ) -> Result<Value, Failure> {
        let found = self
            .state
            .read(|database| registry::find_capability(database, id));
        self.execute_found(caller, id, found, params)
    }

    pub(super) fn execute_found(
        &self,
        caller: &Caller,
        name: &str,
        found: Result<Registered, Failure>,
        params: Json,
    ) -> Result<Value, Failure> {
        // Nothing is sent whose answer could not be given.
        self.held()?;
        self.clean(self.try_execute(caller, name, found, params))
    }

    fn try_execute(
        &self,
        caller: &Caller,
        name: &str,
        found: Result<Registered, Failure>,
        params: Json,
    ) -> Result<Value, Failure> {
        let found = found.inspect_err(|failure| {
            if failure.code == Code::CapabilityRemoved {
                let mut entry = events::by(Event::CapabilityDenied, &caller.who());
                entry.capability = Some(name.chars().take(300).collect());
                self.denied(entry, failure);
            }
        })?;
        let prepared = self
            .prepare(caller, &found, params)
            .inspect_err(|failure| {
                let entry = events::of_operation(Event::CapabilityDenied, &caller.who(), &found);
                self.denied(entry, failure);
            })?;
        self.run(caller, &found, prepared)
    }

    /// If it cannot be recorded the call is denied all the same.
    fn denied(&self, mut entry: Entry, failure: &Failure) {
        entry.outcome = Outcome::Denied;
        entry.code = Some(failure.code);
        if let Err(error) = self.state.append(vec![entry]) {
            tracing::warn!(%error, "a denied call is not recorded");
        }
    }

    /// Makes the checks before a call runs, in their order.
    fn prepare(
        &self,
        caller: &Caller,
        found: &Registered,
        params: Json,
    ) -> Result<Prepared, Failure> {
        found.usable()?;
        self.client(caller, found)?;
        self.onboarded(found)?;
        let inputs = request::validate(&self.schemas, &found.operation, &params)?;
        let files = CallFiles::open(&found.operation, &inputs, &self.config.fs_read)?;
        execute::check_outputs(&found.operation, &inputs, &files, &self.config)?;
        if !found.operation.returns_secret.is_empty() {
            // What comes back once could not be kept.
            self.secrets.has_room(&found.skill.folded)?;
        }
        let permit = approvals::permit(&self.state, found, &caller.who(), self)?;
        self.surroundings(found, &inputs, &files)?;
        let mut session = self.session(caller, found)?;
        let secrets = self.secrets_of(found, &permit)?;
        // Last: what is refused by another step uses no step of the budget.
        self.reserve(caller, found, &mut session)?;
        Ok(Prepared {
            inputs,
            files,
            permit,
            session,
            secrets,
        })
    }

    /// Refuses a caller whom the operator lets call such an operation only from a jail.
    fn client(&self, caller: &Caller, found: &Registered) -> Result<(), Failure> {
        let has_secrets = !found.operation.secrets.is_empty();
        if !self
            .config
            .jailed_clients
            .permits(caller.client(), has_secrets)
        {
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
            return Err(Failure::new(
                Code::ClientNotJailed,
                format!("{} is for callers in a jail only", found.capability),
            )
            .with_hint(format!(
                "{instead}let these clients use secrets: `jailed_clients = {{{modes}}}` below [govern] of \
                 hydrant.toml, read at the next start",
            )));
        }
        Ok(())
    }

    /// Whether hosts, tools and the sandbox are there for this call.
    fn surroundings(
        &self,
        found: &Registered,
        inputs: &Inputs,
        files: &CallFiles,
    ) -> Result<(), Failure> {
        let operation = &found.operation;
        let egress = operation
            .policy
            .as_ref()
            .map(Policy::egress)
            .unwrap_or_default();
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
                    if let Some(policy) = &operation.policy {
                        self.sandbox()?.check(stage, policy)?;
                    }
                }
                // What is not built in runs in the jail.
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

    fn sandbox(&self) -> Result<&crate::sandbox::Sandbox, Failure> {
        self.sandbox.as_ref().ok_or_else(no_jail)
    }

    /// The secrets of a call, each present and bound.
    fn secrets_of(
        &self,
        found: &Registered,
        permit: &Permit,
    ) -> Result<BTreeMap<(String, String), SecretString>, Failure> {
        let mut values = BTreeMap::new();
        let now = self.state.now();
        for secret in &found.operation.secrets {
            let of_sandbox = [String::new()];
            let hosts = match secret.hosts.as_slice() {
                [] => &of_sandbox[..],
                hosts => hosts,
            };
            for host in hosts {
                let grant = permit.approval.as_deref();
                let bound = self.state.read(|database| {
                    bindings::bound(database, &found.skill, &secret.name, host, grant, now)
                })?;
                let bound = bound.ok_or_else(|| unbound(&secret.name, found, host))?;
                let place = match bound.store {
                    Store::Skill => Place::Skill,
                    Store::Global => Place::Global,
                    Store::Environment => Place::Environment,
                };
                let skill = &found.skill.skill.id;
                if place == Place::Skill {
                    self.ready_secret(&bound.stored, found)?;
                }
                let value = self.secrets.value(&bound.stored, place, skill)?;
                values.insert((secret.name.clone(), host.clone()), value);
            }
        }
        Ok(values)
    }

    /// Runs a call that passed the checks, and records it.
    fn run(
        &self,
        caller: &Caller,
        found: &Registered,
        mut prepared: Prepared,
    ) -> Result<Value, Failure> {
        let who = caller.who();
        // Committed before `capability-call` is written.
        approvals::consume(&self.state, &prepared.permit).inspect_err(|failure| {
            self.release(&mut prepared.session);
            let entry = events::of_operation(Event::CapabilityDenied, &who, found);
            self.denied(entry, failure);
        })?;
        let approval = prepared.permit.approval.clone();
        let entry = |event| Entry {
            approval: approval.clone(),
            ..events::of_operation(event, &who, found)
        };
        let called = self.state.append(vec![Entry {
            inputs: Some(prepared.inputs.as_json().canonical().into_bytes()),
            ..entry(Event::CapabilityCall)
        }]);
        let called = called.inspect_err(|_| self.release(&mut prepared.session))?;
        let started = Instant::now();
        let output = self.outputs.join(caller.run());
        let mut done = self.stages(found, &prepared, &output);
        done.used.wall_clock_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        // What is captured is staged before anybody hears of it.
        let mut end = done.end;
        if let Err(failure) = self.capture(caller, found, done.captured) {
            end = Err(failure);
        }
        // What does not fit the output schema is among the warnings of the stages.
        let mut warnings = std::mem::take(&mut prepared.session.warnings);
        warnings.extend(done.warnings);
        let mut entries: Vec<Entry> = done
            .entries
            .into_iter()
            .map(|happened| Entry {
                subject: happened.subject,
                outcome: happened.outcome,
                code: happened.code,
                call_seq: Some(called.seq),
                ..entry(happened.event)
            })
            .collect();
        let session = &mut prepared.session;
        let due = self.charge(session, &done.used, done.peak_memory_bytes);
        for warning in due {
            warnings.push(warning.to_string());
            entries.push(Entry {
                subject: warning.entry().subject,
                call_seq: Some(called.seq),
                ..entry(Event::BudgetWarning)
            });
        }
        // The record of the call, whatever came of it.
        let outputs = match end.as_ref().map(|output| canonical(&output.value)) {
            Ok(Ok(outputs)) => Some(outputs),
            Ok(Err(failure)) => {
                end = Err(failure);
                None
            }
            Err(_) => None,
        };
        entries.push(Entry {
            call_seq: Some(called.seq),
            outputs,
            resources_consumed: Some(done.used),
            outcome: match &end {
                Ok(output) if is_failed(output) => Outcome::Error,
                Ok(_) => Outcome::Ok,
                Err(_) => Outcome::Error,
            },
            code: end.as_ref().err().map(|failure| failure.code),
            ..entry(Event::CapabilityExecuted)
        });
        let recorded = self.state.append(entries).map_err(|failure| Failure {
            executed: true,
            ..failure
        });
        self.keep_personal(caller, found, &output, end.as_ref().ok());
        let recorded = recorded?;
        let output = end?;
        Ok(result(
            found,
            caller,
            output,
            &done.used,
            warnings,
            recorded.seq,
        ))
    }

    fn stages(&self, found: &Registered, prepared: &Prepared, output: &Path) -> Done {
        let secrets = |name: &str, host: &str| {
            prepared
                .secrets
                .get(&(name.to_owned(), host.to_owned()))
                .cloned()
                .ok_or_else(|| unbound(name, found, host))
        };
        let code_file = |digest: &str| {
            self.state
                .read(|database| registry::code_file(database, digest))
                .ok()
        };
        let jails: &dyn Jails = match &self.sandbox {
            Some(sandbox) => sandbox,
            None => &NoJail,
        };
        execute::run(&Call {
            skill_id: &found.skill.skill.id,
            operation: &found.operation,
            inputs: &prepared.inputs,
            files: &prepared.files,
            config: &self.config,
            schemas: &self.schemas,
            wire: self.wire.as_ref(),
            components: self.components.as_ref(),
            egress: self.egress.as_ref(),
            jails,
            secrets: &secrets,
            code_file: &code_file,
            caps: prepared.session.caps(),
            output,
        })
    }

    /// Asked for, and staged for that request alone.
    fn capture(
        &self,
        caller: &Caller,
        found: &Registered,
        captured: Vec<Captured>,
    ) -> Result<(), Failure> {
        let skill = &found.skill;
        // One that cannot be kept takes no other with it: the service may not give them again.
        let mut staged = Ok(());
        for captured in captured {
            staged = staged.and(self.stage_secret(caller, skill, &captured.name, captured.value));
        }
        staged
    }

    /// The output directory of an operation with personal data goes when its session ends.
    fn keep_personal(
        &self,
        caller: &Caller,
        found: &Registered,
        output: &Path,
        end: Option<&Output>,
    ) {
        let mut classes = found.operation.data_classifications.iter();
        if !classes.any(|class| is_pii(class)) {
            return;
        }
        match caller.lifetime() {
            Lifetime::Command => forget(output),
            Lifetime::Connection => {
                let mut personal = self.personal.lock().unwrap_or_else(PoisonError::into_inner);
                personal.insert(caller.session().to_owned());
            }
            // Ends never, and other calls may have files there.
            Lifetime::Named => end.into_iter().for_each(|end| forget_files(end, output)),
        }
    }

    /// A connection ended.
    pub(super) fn forget_personal(&self, caller: &Caller) {
        let mut personal = self.personal.lock().unwrap_or_else(PoisonError::into_inner);
        if personal.remove(caller.session()) {
            forget(&self.outputs.join(caller.run()));
        }
    }
}

/// Removes the files that a call put out below the directory of its run.
fn forget_files(end: &Output, output: &Path) {
    let files = end.value.get("files").and_then(Value::as_array);
    let paths = files
        .into_iter()
        .flatten()
        .filter_map(|file| file.get("path").and_then(Value::as_str))
        .map(Path::new)
        .filter(|path| path.starts_with(output));
    for path in paths {
        if let Err(error) = std::fs::remove_file(path) {
            tracing::warn!(%error, "a file of a run is left behind");
        }
    }
}

/// Removes what a run put out.
fn forget(output: &Path) {
    if let Err(error) = std::fs::remove_dir_all(output)
        && error.kind() != std::io::ErrorKind::NotFound
    {
        tracing::warn!(%error, "the output of a run is left behind");
    }
}

/// Where no launcher is: every sandbox stage is refused.
struct NoJail;

impl Jails for NoJail {
    fn run(&self, _: &SandboxRun<'_>) -> Result<SandboxEnd, Failure> {
        Err(no_jail())
    }

    fn text_tool(
        &self,
        _: &str,
        _: &[String],
        _: &[u8],
        _: execute::Caps,
    ) -> Result<(Vec<u8>, Used), Failure> {
        Err(no_jail())
    }
}

fn no_jail() -> Failure {
    Failure::new(
        Code::JailUnavailable,
        "this host makes no jails: `hydrant doctor` says why",
    )
}

fn unbound(name: &str, found: &Registered, host: &str) -> Failure {
    let skill = &found.skill.skill.id;
    let place = if host.is_empty() {
        "a sandbox".to_owned()
    } else {
        host.to_owned()
    };
    Failure::new(
        Code::SecretUnbound,
        format!("{name} is not bound to skill {skill} for {place}"),
    )
    .with_hint(format!(
        "`hydrant secrets set {name} --skill {skill}`, or `hydrant secrets bind`"
    ))
}

/// What digests of inputs and outputs cover.
fn canonical(value: &Value) -> Result<Vec<u8>, Failure> {
    digest::canonical(value)
        .map_err(|error| Failure::new(Code::AuditUnavailable, format!("chain: {error}")))
}

/// A program that did not end by itself with status 0.
fn is_failed(output: &Output) -> bool {
    output
        .value
        .get("end")
        .is_some_and(|end| end != "exit" || output.value.get("exit-code") != Some(&json!(0)))
}

/// Returns the result of a call, as its caller sees it.
fn result(
    found: &Registered,
    caller: &Caller,
    output: Output,
    used: &Used,
    warnings: Vec<String>,
    seq: u64,
) -> Value {
    let mut result = Map::new();
    let status = if is_failed(&output) { "error" } else { "ok" };
    result.insert("status".to_owned(), json!(status));
    if output.http_error {
        result.insert("http-error".to_owned(), json!(true));
    }
    result.insert("capability".to_owned(), json!(found.capability));
    result.insert("output".to_owned(), output.value);
    result.insert("usage".to_owned(), json!(used));
    result.insert("warnings".to_owned(), json!(warnings));
    result.insert("chain-seq".to_owned(), json!(seq));
    result.insert("run".to_owned(), json!(caller.run()));
    Value::Object(result)
}
