//! A home with loaded skills, and what the binary answers in it.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::program::{Folder, Run};
use crate::recorder::Recorder;

/// A private home, its configuration and its state.
pub(crate) struct House {
    folder: Folder,
}

impl House {
    /// Without a configuration.
    pub(crate) fn new() -> Self {
        Self {
            folder: Folder::new(),
        }
    }

    /// With these lines of `[govern]`.
    pub(crate) fn with(lines: &str) -> Self {
        let house = Self::new();
        house.govern(lines);
        house
    }

    /// These servers may be called and loaded from although they are on the loopback.
    pub(crate) fn beside(servers: &[&Recorder]) -> Self {
        Self::beside_with(servers, "")
    }

    /// The same with more lines of `[govern]`.
    pub(crate) fn beside_with(servers: &[&Recorder], lines: &str) -> Self {
        let pairs: Vec<String> = servers.iter().map(|server| server.pair()).collect();
        Self::with(&format!(
            "allow_private = {pairs:?}\nsource_hosts = {pairs:?}\n{lines}"
        ))
    }

    /// Lines of `[govern]` from now on.
    pub(crate) fn govern(&self, lines: &str) {
        let home = self.folder.home();
        fs::create_dir_all(&home).unwrap();
        fs::write(home.join("hydrant.toml"), format!("[govern]\n{lines}")).unwrap();
    }

    pub(crate) fn folder(&self) -> &Folder {
        &self.folder
    }

    pub(crate) fn state(&self) -> PathBuf {
        self.folder.home().join("state")
    }

    /// The answer of a command that must succeed.
    pub(crate) fn ok(&self, arguments: &[&str]) -> Value {
        self.folder.ok(arguments).json()
    }

    /// The error object of a command that must fail with exit status 1.
    pub(crate) fn error(&self, arguments: &[&str]) -> Value {
        error_of(&self.folder.run(arguments))
    }

    /// The code of [`error`](Self::error).
    pub(crate) fn code(&self, arguments: &[&str]) -> String {
        code(&self.error(arguments))
    }

    /// A command with these bytes on stdin.
    pub(crate) fn fed(&self, arguments: &[&str], input: &str) -> Run {
        let mut child = self
            .folder
            .command(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        // Who refuses its arguments does not read.
        let _ = stdin.write_all(input.as_bytes());
        drop(stdin);
        child.wait_with_output().unwrap().into()
    }

    /// Loads a document that is written to this file.
    pub(crate) fn load(&self, name: &str, document: &str) -> Value {
        self.folder.put(name, document);
        self.ok(&["skill", "load", name])
    }

    /// The error of a load of this document.
    pub(crate) fn refused(&self, name: &str, document: &str) -> Value {
        self.folder.put(name, document);
        self.error(&["skill", "load", name])
    }

    /// `hydrant map` of a command.
    pub(crate) fn map(&self, command: &str) -> Value {
        self.ok(&["map", command])
    }

    /// The stored value of a secret of a skill.
    pub(crate) fn secret(&self, name: &str, skill: &str, value: &str) {
        let run = self.fed(&["secrets", "set", name, "--skill", skill], value);
        assert_eq!(run.status, 0, "{run:?}");
    }

    /// Approves whatever is pending, until it changes.
    pub(crate) fn approve_all(&self) {
        for approval in list(&self.ok(&["approvals", "list", "--status", "pending"])) {
            let id = string(&approval["id"]);
            self.ok(&["approvals", "approve", &id, "--scope", "until-changed"]);
        }
    }

    /// `skill execute` that must succeed.
    pub(crate) fn execute(&self, skill: &str, operation: &str, params: &Value) -> Value {
        self.ok(&["skill", "execute", skill, operation, &params.to_string()])
    }

    /// The error of a `skill execute`.
    pub(crate) fn denied(&self, skill: &str, operation: &str, params: &Value) -> Value {
        self.error(&["skill", "execute", skill, operation, &params.to_string()])
    }

    /// `Capability.Call` over `hydrant syscall`, one after the other in one connection: the answers as they came.
    pub(crate) fn syscall(&self, calls: &[(&str, Value)]) -> Vec<Value> {
        let requests: String = calls
            .iter()
            .map(|(capability, input)| {
                let payload = json!({"capability": capability, "input": input});
                let request =
                    json!({"type": "command", "name": "Capability.Call", "payload": payload});
                format!("{request}\n")
            })
            .collect();
        let run = self.fed(&["syscall"], &requests);
        let answers: Vec<Value> = run
            .stdout
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert_eq!(answers.len(), calls.len(), "{run:?}");
        answers
    }

    /// The records of the chain.
    pub(crate) fn chain(&self) -> Vec<Value> {
        list(&self.ok(&["audit", "show"])["records"])
    }

    /// The records of this event.
    pub(crate) fn events(&self, event: &str) -> Vec<Value> {
        let mut chain = self.chain();
        chain.retain(|record| record["event"] == event);
        chain
    }

    /// Whether `audit verify` is content.
    pub(crate) fn assert_whole_chain(&self) {
        let report = self.ok(&["audit", "verify"]);
        assert_eq!(report["ok"], true, "{report}");
    }
}

/// The error object on stderr.
pub(crate) fn error_of(run: &Run) -> Value {
    assert_eq!(run.status, 1, "{run:?}");
    let line = run
        .stderr
        .lines()
        .find(|line| line.starts_with("{\"error\":"));
    let line = line.unwrap_or_else(|| panic!("no error object in {run:?}"));
    serde_json::from_str::<Value>(line).unwrap()["error"].take()
}

/// `code` of an error object.
pub(crate) fn code(error: &Value) -> String {
    string(&error["code"])
}

pub(crate) fn string(value: &Value) -> String {
    let text = value.as_str();
    text.unwrap_or_else(|| panic!("no string: {value}"))
        .to_owned()
}

pub(crate) fn list(value: &Value) -> Vec<Value> {
    let list = value.as_array();
    list.unwrap_or_else(|| panic!("no list: {value}")).clone()
}

/// The capability with this id in the answer of a load.
pub(crate) fn capability<'a>(loaded: &'a Value, id: &str) -> &'a Value {
    let all = loaded["capabilities"].as_array().unwrap();
    let found = all.iter().find(|capability| capability["id"] == id);
    found.unwrap_or_else(|| panic!("{id} is not in {loaded}"))
}

/// The `hydrant skill show` entry of a capability.
pub(crate) fn shown(house: &House, skill: &str, id: &str) -> Value {
    capability(&house.ok(&["skill", "show", skill]), id).clone()
}
