//! What the MCP server mounts at `/workspace`: what somebody named, and never merely the directory that it was started in.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::machine::Machine;

/// A client of `hydrant mcp`, which answers with these roots where it is asked for them.
struct Client {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    roots: Option<Vec<String>>,
}

impl Client {
    fn unconnected(command: &mut Command, roots: Option<&[&Path]>) -> Self {
        let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = piped.stderr(Stdio::null()).spawn().unwrap();
        Self {
            to: child.stdin.take().unwrap(),
            from: BufReader::new(child.stdout.take().unwrap()),
            child,
            roots: roots.map(uris),
        }
    }

    fn start(command: &mut Command, roots: Option<&[&Path]>) -> Self {
        let mut client = Self::unconnected(command, roots);
        let capabilities = match &client.roots {
            Some(_) => json!({ "roots": { "listChanged": true } }),
            None => json!({}),
        };
        client.request(
            "initialize",
            json!({ "protocolVersion": "2025-06-18", "capabilities": capabilities, "clientInfo": { "name": "t", "version": "1" } }),
        );
        client.notify("notifications/initialized");
        client
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.to, "{message}").unwrap();
    }

    fn notify(&mut self, method: &str) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method }));
    }

    /// The answer to a request; what the server asks meanwhile is answered.
    fn request(&mut self, method: &str, params: Value) -> Value {
        self.send(&json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }));
        loop {
            let message = self.receive();
            match message.get("method") {
                Some(method) if method == "roots/list" => self.answer_roots(&message),
                _ => return message["result"].clone(),
            }
        }
    }

    fn receive(&mut self) -> Value {
        let mut line = String::new();
        self.from.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }

    fn answer_roots(&mut self, asked: &Value) {
        let roots: Vec<_> = self
            .roots
            .iter()
            .flatten()
            .map(|uri| json!({ "uri": uri }))
            .collect();
        self.send(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": { "roots": roots } }));
    }

    /// Tells the server of other roots, and waits until it has asked for them.
    fn change_roots(&mut self, roots: &[&Path]) {
        self.roots = Some(uris(roots));
        self.notify("notifications/roots/list_changed");
        let asked = self.receive();
        assert_eq!(asked["method"], "roots/list");
        self.answer_roots(&asked);
    }

    fn is_there(&mut self, path: &str) -> bool {
        let call = json!({ "name": "fs_read_text", "arguments": { "path": path } });
        self.request("tools/call", call)["isError"] == false
    }

    /// The text of a file, or nothing if it is denied.
    fn read(&mut self, path: &str) -> Option<String> {
        let call = json!({ "name": "fs_read_text", "arguments": { "path": path } });
        let result = self.request("tools/call", call);
        if result["isError"] == true {
            let text = result["content"][0]["text"].as_str().unwrap();
            assert!(text.starts_with("denied: "), "{text}");
            return None;
        }
        Some(
            result["structuredContent"]["text"]
                .as_str()
                .unwrap()
                .to_owned(),
        )
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn uris(roots: &[&Path]) -> Vec<String> {
    roots
        .iter()
        .map(|root| format!("file://{}", root.display()))
        .collect()
}

/// `hydrant mcp`, started in a directory as clients start it.
fn server(machine: &Machine, directory: &Path, arguments: &[&str]) -> Command {
    let mut command = machine.command(&["mcp", "--no-exec"]);
    command.args(arguments).current_dir(directory);
    command
}

#[test]
fn where_the_server_was_started_is_not_read() {
    let machine = Machine::new();
    let work = machine.work();
    for directory in [Path::new("/"), machine.home(), &work] {
        for path in [
            "etc/passwd",
            "note.txt",
            "work/note.txt",
            "/workspace/note.txt",
        ] {
            let mut client = Client::start(&mut server(&machine, directory, &[]), None);
            assert_eq!(client.read(path), None, "{} {path}", directory.display());
        }
    }
    // The control: the same file of a directory that was named.
    let work = work.to_str().unwrap();
    for named in [
        ["--workspace", work],
        ["--mount", &format!("/workspace={work}")],
    ] {
        let mut client = Client::start(&mut server(&machine, Path::new("/"), &named), None);
        assert_eq!(
            client.read("note.txt").as_deref(),
            Some("hello\n"),
            "{named:?}"
        );
        assert_eq!(client.read("../note.txt"), None);
    }
}

#[test]
fn a_home_directory_is_no_workspace_unless_forced() {
    let machine = Machine::new();
    let home = machine.home().to_str().unwrap();
    let link = machine.work().join("link");
    std::os::unix::fs::symlink(home, &link).unwrap();
    let mounted = format!("/workspace={home}");
    for named in [
        ["--workspace", "/"],
        ["--workspace", home],
        ["--workspace", link.to_str().unwrap()],
        ["--workspace", ".."],
        ["--mount", &mounted],
    ] {
        let refused = server(&machine, &machine.work(), &named)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        assert_eq!(refused.status.code(), Some(2), "{named:?}: {refused:?}");
        let message = String::from_utf8(refused.stderr).unwrap();
        assert!(
            message.contains("home directory") && message.contains("--force"),
            "{message}"
        );
    }
    let forced = ["--force", "--workspace", home];
    let mut client = Client::start(&mut server(&machine, Path::new("/"), &forced), None);
    assert_eq!(client.read("work/note.txt").as_deref(), Some("hello\n"));
}

#[test]
fn the_first_root_of_the_client_is_the_workspace() {
    let machine = Machine::new();
    let (work, other) = (machine.work(), machine.home().join("other"));
    fs::create_dir(&other).unwrap();
    fs::write(other.join("other.txt"), "other\n").unwrap();
    let mut client = Client::start(
        &mut server(&machine, Path::new("/"), &[]),
        Some(&[&work, &other]),
    );
    assert_eq!(client.read("note.txt").as_deref(), Some("hello\n"));
    assert!(!client.is_there("other.txt"));
    client.change_roots(&[&other]);
    let until = Instant::now() + Duration::from_secs(60);
    while !client.is_there("other.txt") {
        assert!(Instant::now() < until, "the other root is not mounted");
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(client.read("other.txt").as_deref(), Some("other\n"));
    // One that is named stays.
    let named = ["--workspace", other.to_str().unwrap()];
    let mut client = Client::start(
        &mut server(&machine, Path::new("/"), &named),
        Some(&[&work]),
    );
    assert_eq!(client.read("other.txt").as_deref(), Some("other\n"));
}

/// Clients of the protocol version 2026-07-28 begin without a handshake: they are asked by the answer to a call.
#[test]
fn a_client_without_a_handshake_is_asked_for_its_roots_by_the_answer() {
    let machine = Machine::new();
    let call = |roots: Option<&Path>| {
        let mut params = json!({
            "name": "fs_read_text", "arguments": { "path": "note.txt" },
            "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientInfo": { "name": "t", "version": "1" },
                "io.modelcontextprotocol/clientCapabilities": { "roots": {} },
            },
        });
        if let Some(root) = roots {
            params["inputResponses"] =
                json!({ "roots": { "roots": [{ "uri": uris(&[root])[0] }] } });
        }
        params
    };
    let work = machine.work();
    for (root, read) in [(work.as_path(), true), (machine.home(), false)] {
        let command = &mut server(&machine, Path::new("/"), &[]);
        let mut client = Client::unconnected(command, None);
        let asked = client.request("tools/call", call(None));
        assert_eq!(
            asked["inputRequests"]["roots"]["method"], "roots/list",
            "{asked}"
        );
        let told = client.request("tools/call", call(Some(root)));
        assert_eq!(told["isError"], !read, "{told}");
        // Once is enough.
        let again = client.request("tools/call", call(None));
        assert_eq!(again["isError"], !read, "{again}");
    }
}

#[test]
fn a_root_that_is_a_home_directory_is_passed_over() {
    let machine = Machine::new();
    let (home, work) = (machine.home().to_owned(), machine.work());
    let wide: [&Path; 2] = [Path::new("/"), &home];
    let mut client = Client::start(&mut server(&machine, Path::new("/"), &[]), Some(&wide));
    assert_eq!(client.read("work/note.txt"), None);
    assert_eq!(client.read("etc/passwd"), None);
    let mut client = Client::start(
        &mut server(&machine, Path::new("/"), &[]),
        Some(&[&home, &work]),
    );
    assert_eq!(client.read("note.txt").as_deref(), Some("hello\n"));
    let mut client = Client::start(
        &mut server(&machine, Path::new("/"), &["--force"]),
        Some(&[&home]),
    );
    assert_eq!(client.read("work/note.txt").as_deref(), Some("hello\n"));
}

#[test]
fn a_policy_that_asks_for_a_directory_gets_the_one_that_was_named() {
    let machine = Machine::new();
    let policy = machine.home().join("policy.yaml");
    let text = "version: 1\ntrusted_signers: [hydrant.build, hydrant.release]\ncapability_ceiling:\n  fs: {read: [/workspace]}\n\
                host:\n  mounts:\n    - {at: /workspace, dir: \"@cli\", mode: ro}\n";
    fs::write(&policy, text).unwrap();
    let policy = ["--policy", policy.to_str().unwrap()];
    let work = machine.work();
    let mount = format!("/workspace={}", work.display());
    let named = [&policy[..], &["--mount", &mount]].concat();
    let mut client = Client::start(&mut server(&machine, Path::new("/"), &named), None);
    assert_eq!(client.read("note.txt").as_deref(), Some("hello\n"));
    let mut client = Client::start(
        &mut server(&machine, Path::new("/"), &policy),
        Some(&[&work]),
    );
    assert_eq!(client.read("note.txt").as_deref(), Some("hello\n"));
    let mut client = Client::start(&mut server(&machine, &work, &policy), None);
    assert_eq!(client.read("note.txt"), None);
}

#[test]
fn the_hook_does_not_look_through_a_home_directory() {
    let machine = Machine::new();
    for (directory, looked_at) in [(machine.work(), true), (machine.home().to_owned(), false)] {
        fs::write(directory.join("parser.py"), "def parse(): pass\n").unwrap();
        let event = json!({
            "hook_event_name": "UserPromptSubmit", "session_id": "s", "cwd": directory,
            "prompt": "fix the crash in parser.py",
        });
        let plans = machine.home().join("plans");
        let mut hook = machine
            .command(&["hook", "user-prompt-submit"])
            .env("HYDRANT_TMPDIR", &plans)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        write!(hook.stdin.take().unwrap(), "{event}").unwrap();
        let said = hook.wait_with_output().unwrap();
        assert!(said.status.success(), "{said:?}");
        let warned = String::from_utf8(said.stderr)
            .unwrap()
            .contains("home directory");
        assert_eq!(warned, !looked_at, "{}", directory.display());
    }
}

#[test]
fn no_tenant_gets_a_home_directory() {
    let machine = Machine::new();
    let house = machine.work().join("house");
    let digest = format!("sha256:{}", "0".repeat(64));
    let check = |directory: &Path| {
        let file = machine.work().join("tenants.toml");
        let text = format!(
            "[[tenant]]\nname = \"a\"\ntoken_digests = [\"{digest}\"]\nmounts = {{ \"/workspace\" = {directory:?} }}\n"
        );
        fs::write(&file, text).unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o600);
        fs::set_permissions(&file, mode).unwrap();
        let mut command = machine.command(&["serve", "--check", "--tenants", "tenants.toml"]);
        // A home folder of hydrant beside the mount, so that it is not what refuses it.
        command
            .env("HYDRANT_HOME", &house)
            .env("HOME", machine.home().join("user"));
        command.output().unwrap()
    };
    let user = machine.home().join("user");
    fs::create_dir_all(user.join("project")).unwrap();
    let refused = check(&user);
    let message = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(
        !refused.status.success() && message.contains("is a home directory"),
        "{message}"
    );
    let served = check(&user.join("project"));
    assert!(served.status.success(), "{served:?}");
}
