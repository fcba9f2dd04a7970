//! Plans of the interpreter's answers, over a wire, an interpreter and jails that write down what they are asked.

mod budgets;
mod captured;
mod files;
mod http;
mod local;
mod redirects;
mod sandboxed;
mod secrets;

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use secrecy::SecretString;
use serde_json::{Value, json};

use super::{Call, Done, Jails, run};
use crate::chain::{Event, Used};
use crate::config::Config;
use crate::failure::{Code, Failure};
use crate::ports::{
    Component, Components, Egress, EgressReport, Wire, WireFailure, WireLimits, WireRequest,
    WireResponse,
};
use crate::request::tests::{operation, validate};
use crate::request::{CallFiles, Schemas};
use crate::sandbox::Caps;
use crate::sandbox::{End, SandboxEnd, SandboxRun};
use hydrant_plan::JudgedOperation;

/// What a wire was asked.
struct Sent {
    method: String,
    url: String,
    headers: Vec<(String, String)>,
    body: Option<String>,
    limits: WireLimits,
}

impl Sent {
    fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
    }
}

/// Everything around a plan.
struct Around {
    config: Config,
    caps: Caps,
    files: CallFiles,
    responses: Mutex<VecDeque<Result<WireResponse, WireFailure>>>,
    sent: Mutex<Vec<Sent>>,
    answers: Mutex<VecDeque<Value>>,
    asked: Mutex<Vec<Value>>,
    jailed: Mutex<Vec<Value>>,
    ends: Mutex<VecDeque<Result<SandboxEnd, Failure>>>,
    secret: fn(&str, &str) -> Result<SecretString, Failure>,
    folder: tempfile::TempDir,
}

fn response(
    status: u16,
    headers: &[(&str, &str)],
    body: &[u8],
) -> Result<WireResponse, WireFailure> {
    Ok(WireResponse {
        status,
        headers: headers
            .iter()
            .map(|(name, value)| ((*name).to_owned(), value.as_bytes().to_vec()))
            .collect(),
        body: body.to_vec(),
        network_bytes: 1000,
    })
}

fn json_response(body: &Value) -> Result<WireResponse, WireFailure> {
    let headers = [("Content-Type", "application/json; charset=utf-8")];
    response(200, &headers, body.to_string().as_bytes())
}

fn failed(code: Code) -> Result<WireResponse, WireFailure> {
    Err(WireFailure {
        failure: Failure::new(code, "the wire says so"),
        network_bytes: 300,
    })
}

impl Around {
    fn new(responses: impl IntoIterator<Item = Result<WireResponse, WireFailure>>) -> Self {
        Self {
            config: Config::default(),
            caps: Caps::default(),
            files: CallFiles::default(),
            responses: Mutex::new(responses.into_iter().collect()),
            sent: Mutex::default(),
            answers: Mutex::default(),
            asked: Mutex::default(),
            jailed: Mutex::default(),
            ends: Mutex::default(),
            secret: |name, _| Ok(SecretString::from(format!("s3cr3t/{name}+"))),
            folder: tempfile::tempdir().unwrap(),
        }
    }

    fn config(mut self, toml: &str) -> Self {
        self.config = Config::from_toml(&format!("[govern]\n{toml}")).unwrap();
        self
    }

    fn output(&self) -> PathBuf {
        self.folder.path().join("outputs/r-1")
    }

    fn call(&self, skill: &str, id: &str, params: Value) -> Done {
        self.call_of(skill, &operation(skill, id), params)
    }

    fn call_of(&self, skill: &str, operation: &JudgedOperation, params: Value) -> Done {
        let inputs = validate(operation, &params).unwrap();
        run(&Call {
            skill_id: skill,
            operation,
            inputs: &inputs,
            files: &self.files,
            config: &self.config,
            schemas: &Schemas::default(),
            wire: self,
            components: self,
            egress: self,
            jails: Some(self),
            secrets: &self.secret,
            code_file: &|digest| digest.ends_with("abab").then(|| b"print(1)".to_vec()),
            caps: self.caps,
            output: &self.output(),
        })
    }

    fn sent(&self) -> Vec<Sent> {
        std::mem::take(&mut self.sent.lock().unwrap())
    }

    fn asked(&self) -> Vec<Value> {
        std::mem::take(&mut self.asked.lock().unwrap())
    }
}

impl Wire for Around {
    fn exchange(
        &self,
        request: &WireRequest,
        limits: &WireLimits,
    ) -> Result<WireResponse, WireFailure> {
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        self.sent.lock().unwrap().push(Sent {
            method: request.method.clone(),
            url: request.url.to_string(),
            headers: request
                .headers
                .iter()
                .map(|(name, value)| (name.clone(), text(&value.0)))
                .collect(),
            body: request.body.as_deref().map(text),
            limits: *limits,
        });
        let next = self.responses.lock().unwrap().pop_front();
        next.expect("no more requests were expected")
    }
}

impl Components for Around {
    fn ask(&self, _: Component, request: &Value) -> Result<Vec<u8>, Failure> {
        self.asked.lock().unwrap().push(request.clone());
        let next = self.answers.lock().unwrap().pop_front();
        let answer = next.expect("no more questions were expected");
        Ok(answer.to_string().into_bytes())
    }
}

impl Egress for Around {
    fn during(
        &self,
        _: &[String],
        _: &[String],
        _: u64,
        _: &mut dyn FnMut(&Path),
    ) -> Result<EgressReport, Failure> {
        Err(Failure::new(Code::JailUnavailable, "only jails need it"))
    }
}

impl Jails for Around {
    fn run(&self, run: &SandboxRun<'_>) -> Result<SandboxEnd, Failure> {
        use secrecy::ExposeSecret as _;
        self.jailed.lock().unwrap().push(json!({
            "argv": run.argv,
            "args": run.args,
            "stdin": String::from_utf8(run.stdin.to_vec()).unwrap(),
            "environment": run.environment,
            "params": run.params.nearest(),
            "files": run.files.iter().map(|(name, _)| name).collect::<Vec<_>>(),
            "code": run.code_file.map(|code| String::from_utf8(code.to_vec()).unwrap()),
            "secrets": run.secrets.iter()
                .map(|(name, value)| json!([name, value.expose_secret()]))
                .collect::<Vec<_>>(),
            "allow-private": run.allow_private,
            "storage": run.caps.storage_bytes,
            "redacted": (run.redact)(b"a s3cr3t/K+ b")
                .map(|bytes| String::from_utf8(bytes).unwrap()),
        }));
        let next = self.ends.lock().unwrap().pop_front();
        next.expect("no more jails were expected")
    }

    fn text_tool(
        &self,
        tool: &str,
        args: &[String],
        stdin: &[u8],
        _: Caps,
    ) -> Result<(Vec<u8>, Used), Failure> {
        self.jailed.lock().unwrap().push(json!({
            "tool": tool,
            "args": args,
            "stdin": String::from_utf8(stdin.to_vec()).unwrap(),
        }));
        let used = Used {
            cpu_ms: 7,
            ..Used::default()
        };
        Ok((b"from the jail\n".to_vec(), used))
    }
}

fn exited(stdout: &str) -> SandboxEnd {
    SandboxEnd {
        end: End::Exit,
        exit_code: Some(0),
        signal: None,
        stdout: stdout.as_bytes().to_vec(),
        stdout_cut: false,
        stderr: Vec::new(),
        stderr_cut: false,
        files: Vec::new(),
        used: Used {
            cpu_ms: 12,
            storage_bytes: 34,
            ..Used::default()
        },
        peak_memory_bytes: 5 << 20,
        egress: None,
        exhausted: None,
        warnings: Vec::new(),
    }
}

fn output(done: &Done) -> &Value {
    match &done.end {
        Ok(output) => &output.value,
        Err(failure) => panic!("{failure}"),
    }
}

fn code(done: &Done) -> Code {
    match &done.end {
        Ok(output) => panic!("{}", output.value),
        Err(failure) => failure.code,
    }
}

/// Events and subjects.
fn events(done: &Done) -> Vec<(Event, &str)> {
    done.entries
        .iter()
        .map(|entry| (entry.event, entry.subject.as_deref().unwrap_or_default()))
        .collect()
}

fn b64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}
