//! A workspace, a policy for it, and scripts in the jail of `hydrant jail`.

use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::program::{Folder, Run};

/// A folder with `ws`, the workspace, `os` with one agent, and `policy.json`.
pub(crate) struct Cell {
    folder: Folder,
}

impl Cell {
    /// The workspace may be read and written, the root read.
    pub(crate) fn new() -> Self {
        let cell = Self {
            folder: Folder::new(),
        };
        for name in ["ws", "os", "read"] {
            fs::create_dir(cell.folder.path(name)).unwrap();
        }
        cell.folder.put("ws/a.txt", "of the workspace\n");
        cell.folder.put("read/b.txt", "of another mount\n");
        cell.folder
            .put("os/crew/cook.md", "---\ntype: Agent\n---\nCook.");
        cell.policy(&json!({}), &json!({}));
        cell
    }

    /// What is granted from now on, besides.
    pub(crate) fn policy(&self, ceiling: &Value, host: &Value) {
        let mut policy = json!({
            "version": 1,
            "trusted_signers": ["hydrant.build", "hydrant.release"],
            "capability_ceiling": {
                "fs": {"read": ["/workspace", "/os", "/more"], "write": ["/workspace"]},
            },
            "host": {
                "mounts": [
                    {"at": "/workspace", "dir": "@cli", "mode": "rw"},
                    {"at": "/os", "dir": self.folder.argument("os"), "mode": "ro"},
                    {"at": "/more", "dir": self.folder.argument("read"), "mode": "ro"},
                ],
            },
        });
        let mut add = |member: &str, more: &Value| {
            let members = policy[member].as_object_mut().unwrap();
            members.extend(more.as_object().unwrap().clone());
        };
        add("capability_ceiling", ceiling);
        add("host", host);
        self.folder.put("policy.json", policy.to_string());
    }

    pub(crate) fn folder(&self) -> &Folder {
        &self.folder
    }

    /// `hydrant jail` with these options, and this command.
    pub(crate) fn command(&self, options: &[&str], command: &[&str]) -> Command {
        let mut words = vec!["jail"];
        words.extend(options);
        words.push("--");
        words.extend(command);
        self.folder.command(&words)
    }

    /// A script for `sh` in a jail with the workspace, without a policy.
    pub(crate) fn sh(&self, script: &str) -> Run {
        Run::of(&mut self.command(&["--workspace", "ws"], &["sh", "-c", script]))
    }

    /// A script for `sh` under the policy.
    pub(crate) fn governed(&self, script: &str) -> Run {
        self.with(&["--policy", "policy.json", "--workspace", "ws"], script)
    }

    /// A script for `sh` with these options.
    pub(crate) fn with(&self, options: &[&str], script: &str) -> Run {
        Run::of(&mut self.command(options, &["sh", "-c", script]))
    }

    /// A script for `python3` under the policy, with what it needs.
    pub(crate) fn python(&self, options: &[&str], script: &str) -> Run {
        let mut all = vec!["--policy", "policy.json", "--workspace", "ws"];
        all.extend(options);
        let script = format!("{PYTHON}{script}");
        Run::of(&mut self.command(&all, &["/usr/bin/python3", "-c", &script]))
    }

    /// `hydrant syscall` under the same policy, outside.
    pub(crate) fn syscall(&self, options: &[&str], requests: &str) -> Run {
        let mut words = vec!["syscall", "--policy", "policy.json"];
        words.extend(options);
        let mut child = self
            .folder
            .command(&words)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(requests.as_bytes()).unwrap();
        drop(stdin);
        child.wait_with_output().unwrap().into()
    }

    /// The audit log, line by line.
    pub(crate) fn audited(&self) -> Vec<Value> {
        let log = self.folder.home().join("state/audit.jsonl");
        let text = fs::read_to_string(log).unwrap_or_default();
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }
}

/// Calls over the socket, one connection each, and answers by their payload.
const PYTHON: &str = r#"
import json, os, socket, sys, time
def connect():
    s = socket.socket(socket.AF_UNIX)
    s.connect(os.environ['HYDRANT_SOCKET'])
    return s
def line(s):
    data = b''
    while not data.endswith(b'\n'):
        part = s.recv(65536)
        if not part: break
        data += part
    return data
def call(capability, **input):
    s = connect()
    request = {'type': 'query', 'name': 'Capability.Call', 'payload': {'capability': capability, 'input': input}}
    # Who is refused has the answer before it has asked.
    try: s.sendall(json.dumps(request).encode() + b'\n')
    except BrokenPipeError: pass
    return json.loads(line(s))['payload']
"#;
