//! A skill that a user loaded, and the service on the loopback that it calls.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::DirBuilderExt;
use std::process::{Output, Stdio};

use serde_json::Value;

use crate::machine::Machine;

#[allow(
    dead_code,
    reason = "made for skill_interpreter, which needs more of it"
)]
#[path = "../skill_interpreter/recorder.rs"]
mod recorder;

use recorder::Recorder;
pub(crate) use recorder::Request;

pub(crate) struct Service {
    pub(crate) machine: Machine,
    server: Recorder,
}

impl Service {
    /// A service that answers anything; skills may call it although it is on the loopback.
    pub(crate) fn new() -> Self {
        let service = Self {
            machine: Machine::new(),
            server: Recorder::content(),
        };
        let home = service.machine.home().join(".hydrant");
        fs::DirBuilder::new().mode(0o700).create(&home).unwrap();
        let pairs = format!("[govern]\nallow_private = [{:?}]\n", service.server.pair());
        fs::write(home.join("hydrant.toml"), pairs).unwrap();
        service
    }

    /// Loads a skill `bank` with these sections; `URL` is the service.
    pub(crate) fn load(&self, sections: &str) -> Value {
        let head = "---\nname: bank\ndescription: A bank.\n---\n# Bank\n\n";
        let sections = sections.replace("URL", &self.server.url(""));
        fs::write(
            self.machine.work().join("bank.md"),
            format!("{head}{sections}"),
        )
        .unwrap();
        self.json(&["skill", "load", "bank.md"])
    }

    /// Loads a skill `bank` with these operations; `URL` is the service.
    pub(crate) fn load_yaml(&self, operations: &str) -> Value {
        let operations = operations.replace("URL", &self.server.url(""));
        let document = format!("name: bank\ndescription: A bank.\noperations:\n{operations}");
        fs::write(self.machine.work().join("bank.yaml"), document).unwrap();
        self.json(&["skill", "load", "bank.yaml"])
    }

    /// What a command that succeeds answers.
    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        let output = self.machine.run(arguments);
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// A command with these bytes on its standard input.
    pub(crate) fn fed(&self, arguments: &[&str], input: &[u8]) -> Output {
        let mut command = self.machine.command(arguments);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // Whoever refuses its input does not read all of it.
        let _ = child.stdin.take().unwrap().write_all(input);
        child.wait_with_output().unwrap()
    }

    /// What `hydrant mcp` answers to these requests, each a line; the client goes away once it has all answers.
    pub(crate) fn mcp(&self, requests: &[String]) -> Vec<Value> {
        let mut command = self.machine.command(&["mcp"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let answers = BufReader::new(child.stdout.take().unwrap());
        let mut answers = answers
            .lines()
            .map(|line| serde_json::from_str(&line.unwrap()).unwrap());
        let answered = requests.iter().filter_map(|request| {
            writeln!(stdin, "{request}").unwrap();
            // A notification has no answer.
            request.contains("\"id\":").then(|| answers.next().unwrap())
        });
        let answered = answered.collect();
        drop(stdin);
        child.wait().unwrap();
        answered
    }

    /// The request that waits for a decision, as `approvals show` has it.
    pub(crate) fn pending(&self) -> Value {
        let list = self.json(&["approvals", "list", "--status", "pending"]);
        let id = list[0]["id"].as_str().unwrap();
        self.json(&["approvals", "show", id])
    }

    /// Grants whatever waits.
    pub(crate) fn approve_all(&self) {
        for approval in self
            .json(&["approvals", "list", "--status", "pending"])
            .as_array()
            .unwrap()
        {
            let id = approval["id"].as_str().unwrap();
            self.json(&["approvals", "approve", id, "--scope", "until-changed"]);
        }
    }

    /// What the service was asked last.
    pub(crate) fn last(&self) -> Request {
        self.server.last()
    }

    /// How often it was asked.
    pub(crate) fn asked(&self) -> usize {
        self.server.requests().len()
    }
}
