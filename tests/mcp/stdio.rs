//! The client: lines to and from the program, and a place for it to work in.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// Longer than anything takes on a machine that is busy with other tests.
pub(crate) const PATIENCE: Duration = Duration::from_secs(180);

/// A home folder, a working directory and an OS root.
pub(crate) struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("work")).unwrap();
        Self { folder }
            .with(
                "agents/captain.md",
                "---\nname: Captain\nskills: [../skills/knots.md]\n---\nSail.\n",
            )
            .with(
                "skills/knots.md",
                "---\nname: Knots\ndescription: Ties what must hold\n---\nOver, under.\n",
            )
    }

    pub(crate) fn with(self, path: &str, text: &str) -> Self {
        let file = self.folder.path().join("os").join(path);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
        self
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    pub(crate) fn work(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    pub(crate) fn cache(&self) -> PathBuf {
        self.folder.path().join("cache")
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hydrant"));
        command
            .args(["mcp", "--no-exec", "--root"])
            .arg(self.folder.path().join("os"))
            .args(arguments)
            .env_clear()
            .env("HYDRANT_HOME", self.home())
            .env("XDG_CACHE_HOME", self.cache())
            .current_dir(self.work());
        command
    }

    /// A client whose session has begun.
    pub(crate) fn client(&self, arguments: &[&str]) -> Client {
        let mut client = Client::start(&mut self.command(arguments));
        client.initialize("2025-06-18");
        client
    }
}

pub(crate) struct Client {
    child: Child,
    to: Option<ChildStdin>,
    lines: Receiver<String>,
    next: u64,
    /// Messages that came while another one was waited for.
    pub(crate) aside: Vec<Value>,
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Client {
    pub(crate) fn start(command: &mut Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let (sender, lines) = channel();
        let from = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || {
            for line in from.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        Self {
            to: child.stdin.take(),
            child,
            lines,
            next: 0,
            aside: Vec::new(),
        }
    }

    pub(crate) fn process(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn initialize(&mut self, version: &str) -> Value {
        let answer = self.request(
            "initialize",
            json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": { "name": "test", "version": "1" } }),
        );
        self.notify("notifications/initialized", json!({}));
        answer["result"].clone()
    }

    pub(crate) fn send_line(&mut self, line: &str) {
        let to = self.to.as_mut().unwrap();
        to.write_all(line.as_bytes()).unwrap();
        to.write_all(b"\n").unwrap();
        to.flush().unwrap();
    }

    pub(crate) fn notify(&mut self, method: &str, params: Value) {
        self.send_line(
            &json!({ "jsonrpc": "2.0", "method": method, "params": params }).to_string(),
        );
    }

    /// Sends a request and does not wait; answers its id.
    pub(crate) fn begin(&mut self, method: &str, params: Value) -> u64 {
        self.next += 1;
        let request =
            json!({ "jsonrpc": "2.0", "id": self.next, "method": method, "params": params });
        self.send_line(&request.to_string());
        self.next
    }

    /// The next message, which has to be one line of JSON.
    pub(crate) fn receive(&mut self) -> Value {
        let line = self.lines.recv_timeout(PATIENCE).expect("a message");
        let message: Value =
            serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
        assert_eq!(message["jsonrpc"], "2.0", "{line}");
        message
    }

    pub(crate) fn wait_for(&mut self, id: u64) -> Value {
        loop {
            let message = self.receive();
            if message["id"] == id {
                return message;
            }
            self.aside.push(message);
        }
    }

    pub(crate) fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params);
        self.wait_for(id)
    }

    /// The result of a request that has one.
    pub(crate) fn result(&mut self, method: &str, params: Value) -> Value {
        let answer = self.request(method, params);
        assert!(answer.get("error").is_none(), "{answer}");
        answer["result"].clone()
    }

    pub(crate) fn error(&mut self, method: &str, params: Value) -> Value {
        let answer = self.request(method, params);
        assert!(answer.get("result").is_none(), "{answer}");
        answer["error"].clone()
    }

    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.result(
            "tools/call",
            json!({ "name": tool, "arguments": arguments }),
        )
    }

    /// All items of a list, page by page.
    pub(crate) fn all(&mut self, method: &str, member: &str) -> Vec<Value> {
        let (mut items, mut cursor) = (Vec::new(), None::<Value>);
        loop {
            let params = cursor
                .take()
                .map_or(json!({}), |cursor| json!({ "cursor": cursor }));
            let page = self.result(method, params);
            items.extend(page[member].as_array().unwrap().iter().cloned());
            match page.get("nextCursor") {
                Some(next) => cursor = Some(next.clone()),
                None => return items,
            }
        }
    }

    /// Closes standard input and waits for the end.
    pub(crate) fn end(mut self) -> ExitStatus {
        drop(self.to.take());
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(
                Instant::now() < deadline,
                "the server goes on without a client"
            );
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// What an error of a tool says, member by member: its text says all.
pub(crate) fn problem(result: &Value) -> Value {
    assert_eq!(result["isError"], true, "{result}");
    assert!(result.get("structuredContent").is_none(), "{result}");
    let text = result["content"][0]["text"].as_str().unwrap();
    let (line, members) = text.split_once('\n').unwrap_or((text, "{}"));
    let (code, detail) = line.split_once(": ").unwrap();
    let mut problem: Value = serde_json::from_str(members).unwrap();
    problem["code"] = code.into();
    problem["detail"] = detail.into();
    problem
}

pub(crate) fn names(items: &[Value]) -> Vec<&str> {
    items
        .iter()
        .map(|item| item["name"].as_str().unwrap())
        .collect()
}
