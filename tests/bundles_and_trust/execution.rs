//! A bundle with ring, policy and input, ready for `run --bundle`.

use serde_json::{Value, json};

use crate::bundle::Bundle;
use crate::canonical::digest;
use crate::keys;
use crate::program::{Folder, Run};

pub(crate) struct Execution {
    pub(crate) folder: Folder,
    pub(crate) bundle: Bundle,
}

impl Execution {
    /// This wasm with these capabilities, allowed by `ceiling`; the input is `{}`.
    pub(crate) fn new(wasm: &[u8], capabilities: &[(&str, &str)], ceiling: &Value) -> Self {
        Self::in_folder(Folder::new(), wasm, capabilities, ceiling)
    }

    pub(crate) fn in_folder(
        folder: Folder,
        wasm: &[u8],
        capabilities: &[(&str, &str)],
        ceiling: &Value,
    ) -> Self {
        let bundle = Bundle::new(("demo.echo", "0.1.0"), wasm, capabilities, &keys::team());
        bundle.write(&folder.path("bundle"));
        folder.write("keys.json", &bundle.ring).write("input", "{}");
        let execution = Self { folder, bundle };
        execution.policy(&json!({
            "version": 1, "trusted_signers": ["team.build"], "capability_ceiling": ceiling,
        }));
        execution
    }

    /// A component or core module without capabilities.
    pub(crate) fn plain(wasm: &[u8]) -> Self {
        Self::new(wasm, &[], &json!({}))
    }

    pub(crate) fn policy(&self, policy: &Value) {
        self.folder.write("policy.json", policy.to_string());
    }

    /// `run` with everything it needs, and more.
    pub(crate) fn command(&self, more: &[&str]) -> std::process::Command {
        let digest = digest(&self.bundle.ring);
        let mut command =
            self.folder
                .command(&["run", "--bundle", "bundle", "--keys", "keys.json"]);
        command.args(["--keys-digest", &digest, "--policy", "policy.json"]);
        command
            .args(["--input", "input", "--receipt", "receipt.json"])
            .args(more);
        command
    }

    pub(crate) fn run(&self, more: &[&str]) -> Run {
        Run::of(&mut self.command(more))
    }

    /// A run that succeeds, and its output.
    pub(crate) fn output(&self, more: &[&str]) -> Vec<u8> {
        let run = self.run(&[&["--output", "output"], more].concat());
        assert_eq!(run.status, 0, "{run:?}");
        self.folder.read("output")
    }

    pub(crate) fn receipt(&self) -> Value {
        self.folder.json("receipt.json")
    }

    /// The line of a success.
    pub(crate) fn ok_line(&self) -> String {
        let artifact = self.bundle.artifact();
        // The path as given, which is what the original prints.
        format!("OK run artifact={artifact} receipt=receipt.json\n")
    }

    /// A run with a v1-draft receipt that fails while executing: the receipt.
    pub(crate) fn failure(&self, more: &[&str]) -> Value {
        let draft = ["--receipt-format", "v1-draft", "--allow-experimental"];
        let run = self.run(&[&draft[..], more].concat());
        assert_eq!(run.status, 1, "{run:?}");
        assert!(!run.stdout.contains("OK run"), "{run:?}");
        self.receipt()
    }

    /// The lines of the audit file `audit.jsonl`.
    pub(crate) fn audit(&self) -> Vec<Value> {
        audit_lines(&self.folder, "audit.jsonl")
    }
}

pub(crate) fn audit_lines(folder: &Folder, path: &str) -> Vec<Value> {
    let text = folder.text(path);
    assert!(text.ends_with('\n'), "{text:?}");
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}
