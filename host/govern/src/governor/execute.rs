//! A call of an operation: [`Governor::call_found`] shows the steps in the order in which they happen.
//!
//! Whatever has an effect comes after the record of the call, which is on disk by then.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

use hydrant_canonical::Json;
use secrecy::SecretString;
use serde_json::{Map, Value, json};

use super::budgets::Session;
use super::checks::unbound;
use super::{Caller, Governor};
use crate::chain::{Entry, Event, Outcome, Used};
use crate::digest;
use crate::execute::{self, Call, Captured, Done, Jails, Output};
use crate::failure::{Code, Failure};
use crate::registry::approvals::{self, Permit};
use crate::registry::{self, Registered, SkillHead};
use crate::request::{self, CallFiles, Inputs};

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
    /// The code of the step that refuses the call, or of the stage that failed.
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
        let name = format!("{skill}.{operation}");
        self.execute_found(caller, &name, found, params.into())
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

    /// Executes what a look-up found. No value of a secret is in the answer.
    pub(super) fn execute_found(
        &self,
        caller: &Caller,
        name: &str,
        found: Result<Registered, Failure>,
        params: Json,
    ) -> Result<Value, Failure> {
        // Without a redactor the answer could not be given: then nothing is sent.
        self.redactor()?;
        self.redacted(self.call_found(caller, name, found, params))
    }

    /// The steps of a call, in their order. The first failure ends it, and each denial is recorded.
    fn call_found(
        &self,
        caller: &Caller,
        name: &str,
        found: Result<Registered, Failure>,
        params: Json,
    ) -> Result<Value, Failure> {
        let who = caller.who();
        let found = found.inspect_err(|failure| {
            if failure.code == Code::CapabilityRemoved {
                let mut entry = who.entry(Event::CapabilityDenied);
                entry.capability = Some(name.chars().take(300).collect());
                self.record_denial(entry, failure);
            }
        })?;
        let denied = |failure: &Failure| {
            self.record_denial(found.entry(Event::CapabilityDenied, &who), failure);
        };

        // Checks. They write nothing but a request for approval and the step that is reserved of the budget.
        let prepare = || -> Result<Prepared, Failure> {
            found.usable()?;
            self.check_client(caller, &found)?;
            self.check_onboarded(&found)?;
            let inputs = request::validate(&self.schemas, &found.operation, &params)?;
            let files = CallFiles::open(&found.operation, &inputs, &self.config.fs_read)?;
            execute::check_outputs(&found.operation, &inputs, &files, &self.config)?;
            if !found.operation.returns_secret.is_empty() {
                // A service may not give again what could not be kept.
                self.secrets.has_room(&found.skill.folded)?;
            }
            let permit = approvals::permit(&self.state, &found, &who, self)?;
            self.check_surroundings(&found, &inputs, &files)?;
            let mut session = self.session(caller, &found)?;
            let secrets = self.secrets_of(&found, &permit)?;
            // Last: a call that another check refuses uses no step of the budget.
            self.reserve(caller, &found, &mut session)?;
            Ok(Prepared {
                inputs,
                files,
                permit,
                session,
                secrets,
            })
        };
        let mut prepared = prepare().inspect_err(denied)?;

        // The grant of one call is used up, committed, before the call is recorded.
        approvals::consume(&self.state, &prepared.permit).inspect_err(|failure| {
            self.release(&mut prepared.session);
            denied(failure);
        })?;

        // The record of the call, on disk before anything is sent or started.
        let entry = |event| Entry {
            approval: prepared.permit.approval.clone(),
            ..found.entry(event, &who)
        };
        let called = self.state.append(vec![Entry {
            inputs: Some(prepared.inputs.as_json().canonical().into_bytes()),
            ..entry(Event::CapabilityCall)
        }]);
        let call_seq = match called {
            Ok(called) => Some(called.seq),
            Err(failure) => {
                self.release(&mut prepared.session);
                return Err(failure);
            }
        };

        // The effect.
        let output_folder = self.outputs.join(caller.run());
        let started = Instant::now();
        let mut done = self.run_stages(&found, &prepared, &output_folder);
        done.used.wall_clock_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);

        // Captured secrets wait for their approval before anything tells of them.
        let mut end = match self.keep_captured(caller, &found.skill, done.captured) {
            Ok(()) => done.end,
            Err(failure) => Err(failure),
        };

        // What was used is charged.
        let mut warnings = std::mem::take(&mut prepared.session.warnings);
        warnings.extend(done.warnings);
        let due = self.charge(&mut prepared.session, &done.used, done.peak_memory_bytes);

        // The record of what happened, whatever came of it.
        let entry = |event| Entry {
            approval: prepared.permit.approval.clone(),
            call_seq,
            ..found.entry(event, &who)
        };
        let mut entries: Vec<Entry> = done
            .entries
            .into_iter()
            .map(|happened| Entry {
                subject: happened.subject,
                outcome: happened.outcome,
                code: happened.code,
                ..entry(happened.event)
            })
            .collect();
        for warning in due {
            warnings.push(warning.to_string());
            entries.push(Entry {
                subject: Some(warning.subject()),
                ..entry(Event::BudgetWarning)
            });
        }
        let outputs = end.as_ref().ok().map(|output| canonical(&output.value));
        let outputs = outputs.transpose().unwrap_or_else(|failure| {
            end = Err(failure);
            None
        });
        entries.push(Entry {
            outputs,
            resources_consumed: Some(done.used),
            outcome: match &end {
                Ok(output) if !is_failed(output) => Outcome::Ok,
                _ => Outcome::Error,
            },
            code: end.as_ref().err().map(|failure| failure.code),
            ..entry(Event::CapabilityExecuted)
        });
        let recorded = self.state.append(entries).map_err(|failure| Failure {
            executed: true,
            ..failure
        });
        self.keep_personal(caller, &found, &output_folder, end.as_ref().ok());
        let recorded = recorded?;
        Ok(result(
            &found,
            caller,
            end?,
            &done.used,
            warnings,
            recorded.seq,
        ))
    }

    /// Records a denied call. If that fails the call is denied all the same.
    fn record_denial(&self, mut entry: Entry, failure: &Failure) {
        entry.outcome = Outcome::Denied;
        entry.code = Some(failure.code);
        if let Err(error) = self.state.append(vec![entry]) {
            tracing::warn!(%error, "a denied call is not recorded");
        }
    }

    fn run_stages(&self, found: &Registered, prepared: &Prepared, output: &Path) -> Done {
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
            jails: self
                .sandbox
                .as_ref()
                .map(|sandbox| -> &dyn Jails { sandbox }),
            secrets: &secrets,
            code_file: &code_file,
            caps: prepared.session.caps(),
            output,
        })
    }

    /// Asks for each captured secret whether it may be kept, and keeps it for that request alone.
    fn keep_captured(
        &self,
        caller: &Caller,
        skill: &SkillHead,
        captured: Vec<Captured>,
    ) -> Result<(), Failure> {
        let mut kept = Ok(());
        for captured in captured {
            // Each is tried: the service may not give the others again.
            kept = kept.and(self.stage_secret(caller, skill, &captured.name, captured.value));
        }
        kept
    }
}

/// Returns what the digests of inputs and outputs cover.
fn canonical(value: &Value) -> Result<Vec<u8>, Failure> {
    digest::canonical(value)
        .map_err(|error| Failure::new(Code::AuditUnavailable, format!("chain: {error}")))
}

/// Whether a program did not end by itself with status 0.
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
    let status = if is_failed(&output) { "error" } else { "ok" };
    let mut result = Map::new();
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
