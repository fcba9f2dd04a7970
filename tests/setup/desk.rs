//! A user's desk: a home with the folders of every client, and the server started as a configuration says.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::program::{Folder, Run};

/// A client, where its configuration lies below the home folder, and the path of its servers in it.
pub(crate) struct Client {
    pub(crate) name: &'static str,
    pub(crate) file: &'static str,
    pub(crate) project: Option<&'static str>,
    pub(crate) servers: &'static str,
}

const APPLICATIONS: &str = if cfg!(target_os = "macos") {
    "Library/Application Support"
} else {
    ".config"
};

/// Every client.
pub(crate) fn clients() -> [Client; 6] {
    let client = |name, file, project, servers| Client {
        name,
        file,
        project,
        servers,
    };
    let (desktop, code) = if APPLICATIONS == ".config" {
        (
            ".config/Claude/claude_desktop_config.json",
            ".config/Code/User/mcp.json",
        )
    } else {
        (
            "Library/Application Support/Claude/claude_desktop_config.json",
            "Library/Application Support/Code/User/mcp.json",
        )
    };
    [
        client("claude", ".claude.json", Some(".mcp.json"), "mcpServers"),
        client("claude-desktop", desktop, None, "mcpServers"),
        client(
            "cursor",
            ".cursor/mcp.json",
            Some(".cursor/mcp.json"),
            "mcpServers",
        ),
        client("vscode", code, Some(".vscode/mcp.json"), "servers"),
        client(
            "codex",
            ".codex/config.toml",
            Some(".codex/config.toml"),
            "mcp_servers",
        ),
        client(
            "gemini",
            ".gemini/settings.json",
            Some(".gemini/settings.json"),
            "mcpServers",
        ),
    ]
}

pub(crate) struct Desk {
    pub(crate) folder: Folder,
}

impl Desk {
    pub(crate) fn new() -> Self {
        let desk = Self {
            folder: Folder::new(),
        };
        for client in clients() {
            fs::create_dir_all(desk.home(client.file).parent().unwrap()).unwrap();
        }
        desk
    }

    /// A path below the home folder.
    pub(crate) fn home(&self, path: &str) -> PathBuf {
        self.folder.path("../home").join(path)
    }

    pub(crate) fn put(&self, path: &str, text: impl AsRef<[u8]>) {
        fs::create_dir_all(self.home(path).parent().unwrap()).unwrap();
        fs::write(self.home(path), text).unwrap();
    }

    /// The text of a file below the home folder; none if it is not there.
    pub(crate) fn text(&self, path: &str) -> Option<String> {
        let bytes = fs::read(self.home(path)).ok()?;
        Some(String::from_utf8(bytes).unwrap())
    }

    /// Every file below the home folder but hydrant's own, with its content.
    pub(crate) fn files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut files = Vec::new();
        let mut folders = vec![self.home("")];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() && !path.ends_with(".hydrant") {
                    folders.push(path);
                } else if path.is_file() {
                    let content = fs::read(&path).unwrap();
                    files.push((path, content));
                }
            }
        }
        files.sort();
        files
    }

    pub(crate) fn setup(&self, arguments: &[&str]) -> Run {
        let mut all = vec!["setup"];
        all.extend(arguments);
        self.folder.run(&all)
    }

    /// A setup that must succeed.
    pub(crate) fn set_up(&self, arguments: &[&str]) -> Run {
        let run = self.setup(arguments);
        assert_eq!(run.status, 0, "{arguments:?}: {run:?}");
        run
    }
}

/// What a configuration says of the servers, comments and trailing commas left out.
pub(crate) fn servers(client: &Client, text: &str) -> Value {
    let value: Value = if client.file.ends_with(".toml") {
        serde_json::to_value(toml::from_str::<toml::Table>(text).unwrap()).unwrap()
    } else {
        serde_json::from_str(text).unwrap()
    };
    value[client.servers].clone()
}

/// The names of the tools of the server that an entry starts, from a folder that is nobody's.
pub(crate) fn tools(desk: &Desk, entry: &Value) -> Vec<String> {
    let program = entry["command"].as_str().unwrap();
    assert!(Path::new(program).is_absolute(), "{entry}");
    let arguments = entry["args"].as_array().unwrap();
    let arguments = arguments.iter().map(|argument| argument.as_str().unwrap());
    // With the environment of the tests, as a client has one.
    let like = desk.folder.command(&[]);
    let variables = like.get_envs();
    let mut child = Command::new(program)
        .args(arguments)
        .current_dir("/")
        .env_clear()
        .envs(variables.filter_map(|(name, value)| Some((name, value?))))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut say = |message: Value| writeln!(input, "{message}").unwrap();
    let mut answer = |id: i64| -> Value {
        loop {
            let line = output.next().unwrap().unwrap();
            let message: Value = serde_json::from_str(&line).unwrap();
            if message["id"] == id {
                return message["result"].clone();
            }
        }
    };
    say(
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": {"name": "tests", "version": "1"}}}),
    );
    assert_eq!(answer(1)["serverInfo"]["name"], "hydrant");
    say(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    say(json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"}));
    let tools = answer(2)["tools"].clone();
    drop(input);
    assert!(child.wait().unwrap().success());
    let tools = tools.as_array().unwrap().iter();
    tools
        .map(|tool| tool["name"].as_str().unwrap().to_owned())
        .collect()
}
