//! Sandbox stages: values put in, the rest is [`crate::sandbox`]'s.

use std::cell::RefCell;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

use super::no_jail;
use super::plan::{Produced, Run};
use crate::chain::{Entry, Event, Outcome};
use crate::failure::{Code, Failure};
use crate::sandbox::{End, SandboxEnd, SandboxRun};
use hydrant_plan::{Program, SandboxStage, Segments};

impl Run<'_> {
    pub(super) fn sandboxed(&mut self, stage: &SandboxStage) -> Result<Produced, Failure> {
        let call = self.call;
        let jails = call.jails.ok_or_else(no_jail)?;
        let policy =
            call.operation.policy.as_ref().ok_or_else(|| {
                Failure::new(Code::InvalidPlan, "a sandbox stage without a policy")
            })?;
        let argv: &[Segments] = match &stage.program {
            Program::Argv(argv) => argv,
            _ => &[],
        };
        // What is granted is in `/run/secrets`, and nowhere else.
        for segments in argv.iter().chain(&stage.args).chain(&stage.stdin) {
            self.without_secret(segments)?;
        }
        let filled = |texts: &[Segments]| -> Result<Vec<String>, Failure> {
            texts.iter().map(|text| self.filled(text)).collect()
        };
        let (argv, args) = (filled(argv)?, filled(&stage.args)?);
        let stdin = self.standard_input(stage.stdin.as_ref())?;
        let mut environment = Vec::new();
        for name in &stage.env_inputs {
            if call.inputs.present(name).is_some() {
                let value = Segments::input(name.clone(), hydrant_plan::Encoding::Argv);
                environment.push((name.clone(), self.filled(&value)?));
            }
        }
        let code_file = match &stage.program {
            Program::File { name, digest } => {
                let bytes = digest
                    .as_deref()
                    .and_then(|digest| (call.code_file)(digest));
                let missing = format!("file:{name}");
                Some(bytes.ok_or_else(|| {
                    Failure::new(Code::ToolUnavailable, "the code file was not given at load")
                        .with_missing(vec![missing])
                })?)
            }
            _ => None,
        };
        let mut mounted = Vec::new();
        for name in &policy.secrets {
            mounted.push((name.clone(), (call.secrets)(name, "")?));
        }
        for (name, value) in &mounted {
            self.echo.add(name, value, false);
            self.record(Event::SecretInjected, format!("{name} sandbox"));
        }
        let files: Vec<(String, Vec<u8>)> = call
            .files
            .iter()
            .map(|(name, bytes)| (name.clone(), bytes.clone()))
            .collect();
        let caps = self.caps_left();
        self.entries.push(Entry::new(Event::JailStarted));
        let allow_private: Vec<String> = call
            .config
            .allow_private
            .iter()
            .map(ToString::to_string)
            .collect();
        let echo = RefCell::new(&mut self.echo);
        let redact = |bytes: &[u8]| {
            let redacted = echo.borrow_mut().bytes(bytes.to_vec());
            (redacted != bytes).then_some(redacted)
        };
        let end = jails.run(&SandboxRun {
            stage,
            argv: &argv,
            args: &args,
            stdin: &stdin,
            environment: &environment,
            params: call.inputs.as_json(),
            files: &files,
            code_file: code_file.as_deref(),
            secrets: &mounted,
            policy,
            caps,
            egress: call.egress,
            allow_private: &allow_private,
            output: call.output,
            redact: &redact,
        });
        self.ended(end)
    }

    fn ended(&mut self, end: Result<SandboxEnd, Failure>) -> Result<Produced, Failure> {
        let mut finished = Entry::new(Event::JailFinished);
        let end = match end {
            Ok(end) => end,
            Err(failure) => {
                finished.outcome = Outcome::Error;
                finished.code = Some(failure.code);
                self.entries.push(finished);
                return Err(failure);
            }
        };
        for refusal in end.egress.iter().flat_map(|report| &report.refusals) {
            let target = self.echo.folded(&refusal.target);
            self.record_denied(Event::EgressDenied, target, refusal.code);
        }
        finished.resources_consumed = Some(end.used);
        if end.exhausted.is_some() {
            finished.outcome = Outcome::Error;
            finished.code = Some(Code::BudgetExhausted);
        }
        self.entries.push(finished);
        let sum = |total: &mut u64, more: u64| *total = total.saturating_add(more);
        sum(&mut self.used.network_bytes, end.used.network_bytes);
        sum(&mut self.used.cpu_ms, end.used.cpu_ms);
        sum(&mut self.used.storage_bytes, end.used.storage_bytes);
        self.peak_memory_bytes = self.peak_memory_bytes.max(end.peak_memory_bytes);
        self.warnings.extend(end.warnings.iter().cloned());
        if let Some(exhausted) = end.exhausted {
            return Err(self.exhausted(exhausted.as_str()));
        }
        Ok(self.shown(end))
    }

    /// Returns the output of a sandbox stage: how it ended, its streams and its files.
    fn shown(&mut self, end: SandboxEnd) -> Produced {
        let stdout = self.capture(end.stdout);
        let stdout = self.echo.bytes(stdout);
        let stderr = self.echo.bytes(end.stderr);
        let mut members = Map::new();
        members.insert("exit-code".to_owned(), json!(end.exit_code));
        if let Some(signal) = end.signal {
            members.insert("signal".to_owned(), signal.into());
        }
        members.insert("end".to_owned(), json!(end.end));
        match std::str::from_utf8(&stdout) {
            Ok(text) => {
                members.insert("stdout".to_owned(), text.into());
                if end.end == End::Exit
                    && let Ok(value) = serde_json::from_str::<Value>(text)
                {
                    members.insert("json".to_owned(), value);
                }
            }
            Err(_) => {
                members.insert("stdout-b64".to_owned(), STANDARD.encode(&stdout).into());
            }
        }
        members.insert(
            "stderr".to_owned(),
            String::from_utf8_lossy(&stderr).into_owned().into(),
        );
        for (key, cut) in [
            ("stdout-cut", end.stdout_cut),
            ("stderr-cut", end.stderr_cut),
        ] {
            if cut {
                members.insert(key.to_owned(), true.into());
            }
        }
        members.insert("files".to_owned(), json!(end.files));
        Produced {
            members,
            has_content: false,
            ..Produced::plain(stdout)
        }
    }
}
