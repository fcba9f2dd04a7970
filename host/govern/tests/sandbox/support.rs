//! Stages, policies and runs with what a test does not care about filled in.

use std::path::{Path, PathBuf};

use hydrant_govern::failure::{Code, Failure};
use hydrant_govern::ports::{Egress, EgressReport};
use hydrant_govern::sandbox::{Caps, Sandbox, SandboxEnd, SandboxRun, Settings};
use hydrant_jail::Launcher;
use hydrant_plan::{Policy, Program, Runtime, SandboxStage, Segments};
use secrecy::SecretString;
use serde_json::{Value, json};

pub(crate) fn launcher() -> Launcher {
    Launcher::at(env!("CARGO_BIN_EXE_govern-launcher"))
}

pub(crate) fn sandbox() -> Sandbox {
    Sandbox::new(launcher(), Settings::default())
}

pub(crate) fn policy() -> Policy {
    policy_with(json!({}))
}

/// The default policy, with other `resources`.
pub(crate) fn policy_with(resources: Value) -> Policy {
    let mut all = json!({"cpu-seconds": 60, "memory-mb": 512, "wall-clock-ms": 30000, "pids": 64, "output-bytes": 52_428_800});
    let all = all.as_object_mut().unwrap();
    all.extend(resources.as_object().unwrap().clone());
    Policy {
        network: json!({"egress": "none"}),
        filesystem: json!({"read": ["/input"], "write": ["/output"]}),
        resources: all.clone(),
        secrets: Vec::new(),
        shell: false,
    }
}

pub(crate) fn stage(runtime: Runtime, program: Program) -> SandboxStage {
    SandboxStage {
        runtime,
        program,
        args: Vec::new(),
        stdin: None,
        env_inputs: Vec::new(),
        packages: Vec::new(),
        fetches: hydrant_plan::Fetches::Nothing,
        constructs: Vec::new(),
        tools: Vec::new(),
        declared_runtime: None,
    }
}

pub(crate) fn python(code: &str) -> SandboxStage {
    stage(Runtime::Python, Program::Code(code.to_owned()))
}

pub(crate) fn script(text: &str) -> SandboxStage {
    stage(Runtime::Shell, Program::Script(text.to_owned()))
}

pub(crate) fn tool(argv: &[&str]) -> SandboxStage {
    let argv = argv.iter().map(|word| Segments::literal(*word)).collect();
    stage(Runtime::Shell, Program::Argv(argv))
}

/// A proxy that nobody may ask for.
pub(crate) struct NoEgress;

impl Egress for NoEgress {
    fn during(
        &self,
        _: &[String],
        _: &[String],
        _: u64,
        _: &mut dyn FnMut(&Path),
    ) -> Result<EgressReport, Failure> {
        Err(Failure::new(Code::JailUnavailable, "no proxy in this test"))
    }
}

/// One run, and where its files go.
pub(crate) struct Case {
    pub(crate) stage: SandboxStage,
    pub(crate) argv: Vec<String>,
    pub(crate) args: Vec<String>,
    pub(crate) stdin: Vec<u8>,
    pub(crate) environment: Vec<(String, String)>,
    pub(crate) params: Value,
    pub(crate) files: Vec<(String, Vec<u8>)>,
    pub(crate) code_file: Option<Vec<u8>>,
    pub(crate) secrets: Vec<(String, SecretString)>,
    pub(crate) policy: Policy,
    pub(crate) caps: Caps,
    pub(crate) settings: Settings,
    pub(crate) redacted: &'static str,
    home: tempfile::TempDir,
}

impl Case {
    pub(crate) fn of(stage: SandboxStage) -> Self {
        let argv = match &stage.program {
            Program::Argv(argv) => argv.iter().map(Segments::display).collect(),
            _ => Vec::new(),
        };
        Self {
            stage,
            argv,
            args: Vec::new(),
            stdin: Vec::new(),
            environment: Vec::new(),
            params: json!({}),
            files: Vec::new(),
            code_file: None,
            secrets: Vec::new(),
            policy: policy(),
            caps: Caps::default(),
            settings: Settings::default(),
            redacted: "",
            home: tempfile::tempdir().unwrap(),
        }
    }

    pub(crate) fn limited(mut self, resources: Value) -> Self {
        self.policy = policy_with(resources);
        self
    }

    /// Where files of `/output` are put.
    pub(crate) fn output(&self) -> PathBuf {
        self.home.path().join("outputs/r-1")
    }

    pub(crate) fn home(&self) -> &Path {
        self.home.path()
    }

    pub(crate) fn run(&self) -> Result<SandboxEnd, Failure> {
        self.run_with(&NoEgress)
    }

    pub(crate) fn run_with(&self, egress: &dyn Egress) -> Result<SandboxEnd, Failure> {
        let redact = |bytes: &[u8]| {
            let text = std::str::from_utf8(bytes).ok()?;
            (!self.redacted.is_empty() && text.contains(self.redacted))
                .then(|| text.replace(self.redacted, "***REDACTED***").into_bytes())
        };
        Sandbox::new(launcher(), self.settings.clone()).run(&SandboxRun {
            stage: &self.stage,
            argv: &self.argv,
            args: &self.args,
            stdin: &self.stdin,
            environment: &self.environment,
            params: &self.params.clone().into(),
            files: &self.files,
            code_file: self.code_file.as_deref(),
            secrets: &self.secrets,
            policy: &self.policy,
            caps: self.caps,
            egress,
            allow_private: &[],
            output: &self.output(),
            redact: &redact,
        })
    }

    /// What it writes, of a program that does not fail.
    pub(crate) fn stdout(&self) -> String {
        let end = self.run().unwrap();
        assert_eq!(end.exit_code, Some(0), "{}", text(&end.stderr));
        text(&end.stdout)
    }

    pub(crate) fn refused(&self) -> Failure {
        let failure = self.run().expect_err("it ran");
        assert!(!failure.executed, "{failure}");
        failure
    }
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
