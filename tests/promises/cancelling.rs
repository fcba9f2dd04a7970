//! A cancelled call ends with everything that it started.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use hydrant::serve::tenants::token_digest;
use serde_json::{Value, json};

use crate::machine::Machine;

/// What a cancelled call may take to be gone.
const PROMISED: Duration = Duration::from_millis(200);
/// On a machine that is busy with other tests one of so many attempts has to keep the promise.
const ATTEMPTS: u32 = 8;
/// Nothing takes so long, but for a call that goes on.
const PATIENCE: Duration = Duration::from_secs(60);
/// How long the programs and servers of these tests would take.
const LONG: &str = "400";
const TOKEN: &str = "hyd_test_operator_0123456789abcdef0123456789abcdef";

/// Repeats `attempt`, which says how long the end took, until one is quick enough.
fn is_prompt(mut attempt: impl FnMut() -> Duration) {
    let mut all = Vec::new();
    for _ in 0..ATTEMPTS {
        let took = attempt();
        if took <= PROMISED {
            return;
        }
        all.push(took);
    }
    panic!("never within {PROMISED:?}: {all:?}");
}

fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) -> Duration {
    let started = Instant::now();
    while !is_so() {
        assert!(started.elapsed() < PATIENCE, "{what}");
        std::thread::sleep(Duration::from_millis(2));
    }
    started.elapsed()
}

/// Processes, of whatever jail, that have this word among their arguments.
fn processes(word: &str) -> usize {
    let all = fs::read_dir("/proc").unwrap().map_while(Result::ok);
    all.filter(|process| {
        let words = fs::read(process.path().join("cmdline")).unwrap_or_default();
        words
            .split(|byte| *byte == 0)
            .any(|one| one == word.as_bytes())
    })
    .count()
}

/// A word that no other process of this machine has.
fn mark() -> String {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let next = NEXT.fetch_add(1, Ordering::Relaxed);
    format!("{LONG}.{}{next:04}", std::process::id())
}

/// A policy file under which `sleep` may be started, in the jail or without.
fn sleeping(machine: &Machine, jail: &str) -> String {
    let policy = json!({
        "version": 1, "trusted_signers": ["hydrant.build", "hydrant.release"],
        "capability_ceiling": {"fs": {"read": ["/workspace"]}, "exec": true},
        "host": {
            "mounts": [{"at": "/workspace", "dir": machine.work(), "mode": "ro"}],
            "process": [{"program": "/usr/bin/sleep", "args": [["..."]], "cwd": ["/workspace"]}],
            "jail": {"process": jail}, "limits": {"wall_ms": 600_000, "process_ms": 600_000},
        },
    });
    let file = machine.home().join(format!("{jail}.json"));
    fs::write(&file, policy.to_string()).unwrap();
    file.to_str().unwrap().to_owned()
}

/// A client of `hydrant mcp`.
struct Client {
    child: Child,
    to: Option<ChildStdin>,
    from: BufReader<ChildStdout>,
    next: u64,
}

impl Client {
    fn new(machine: &Machine, arguments: &[&str]) -> Self {
        let mut command = machine.command(&[&["mcp"], arguments].concat());
        let child = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = child.stderr(Stdio::null()).spawn().unwrap();
        let mut client = Self {
            to: child.stdin.take(),
            from: BufReader::new(child.stdout.take().unwrap()),
            child,
            next: 0,
        };
        let about = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
        client.request("initialize", &about);
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        client
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.to.as_mut().unwrap(), "{message}").unwrap();
    }

    fn begin(&mut self, method: &str, params: &Value) -> u64 {
        self.next += 1;
        let message =
            json!({"jsonrpc": "2.0", "id": self.next, "method": method, "params": params});
        self.send(&message);
        self.next
    }

    fn request(&mut self, method: &str, params: &Value) -> Value {
        let id = self.begin(method, params);
        loop {
            let mut line = String::new();
            assert!(self.from.read_line(&mut line).unwrap() > 0, "no answer");
            let message: Value = serde_json::from_str(&line).unwrap();
            if message["id"] == id {
                return message;
            }
        }
    }

    fn sleep(&mut self, mark: &str) -> u64 {
        let call = json!({"name": "shell_exec_safe", "arguments": {"argv": ["sleep", mark], "timeout_ms": 600_000}});
        self.begin("tools/call", &call)
    }

    fn cancel(&mut self, id: u64) {
        let params = json!({"requestId": id});
        self.send(
            &json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}),
        );
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_cancelled_call_ends_its_program_and_gives_its_place_back() {
    let machine = Machine::new();
    for jail in ["required", "unjailed"] {
        let policy = sleeping(&machine, jail);
        let mut client = Client::new(&machine, &["--policy", &policy]);
        is_prompt(|| {
            // As many as would make the next one wait.
            let marks: Vec<String> = (0..4).map(|_| mark()).collect();
            let ids: Vec<u64> = marks.iter().map(|mark| client.sleep(mark)).collect();
            for mark in &marks {
                wait_until("the program runs", || processes(mark) > 0);
            }
            // The control: nothing but the cancelling ends them.
            std::thread::sleep(Duration::from_millis(300));
            assert!(marks.iter().all(|mark| processes(mark) > 0));
            let cancelled = Instant::now();
            for id in ids {
                client.cancel(id);
            }
            for mark in &marks {
                wait_until("the program ends", || processes(mark) == 0);
            }
            let took = cancelled.elapsed();
            let short = json!({"name": "shell_exec_safe", "arguments": {"argv": ["sleep", "0"]}});
            let answer = client.request("tools/call", &short);
            assert_eq!(answer["result"]["isError"], false, "{answer}");
            took
        });
    }
}

#[test]
fn a_closed_standard_input_ends_the_programs_of_the_session() {
    let machine = Machine::new();
    for jail in ["required", "unjailed"] {
        let policy = sleeping(&machine, jail);
        is_prompt(|| {
            let mut client = Client::new(&machine, &["--policy", &policy]);
            let mark = mark();
            client.sleep(&mark);
            wait_until("the program runs", || processes(&mark) > 0);
            // One that has just begun might have a short answer.
            std::thread::sleep(Duration::from_millis(500));
            client.to = None;
            let took = wait_until("the program ends", || processes(&mark) == 0);
            wait_until("the server ends", || {
                client.child.try_wait().unwrap().is_some()
            });
            took
        });
    }
}

#[test]
fn whoever_writes_all_requests_at_once_has_the_answers_of_short_calls() {
    let machine = Machine::new();
    let policy = sleeping(&machine, "required");
    let mut client = Client::new(&machine, &["--policy", &policy]);
    let call = json!({"name": "fs_read_text", "arguments": {"path": "note.txt"}});
    let id = client.begin("tools/call", &call);
    client.to = None;
    let mut rest = String::new();
    client.from.read_to_string(&mut rest).unwrap();
    let mut messages = rest
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let answer = messages.find(|message| message["id"] == id).unwrap();
    assert!(answer.to_string().contains("hello"), "{answer}");
}

#[test]
fn a_client_of_the_syscall_protocol_that_hangs_up_ends_its_program() {
    let machine = Machine::new();
    let policy = sleeping(&machine, "required");
    is_prompt(|| {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let mut command = machine.command(&["syscall", "--policy", &policy]);
        command
            .stdin(Stdio::piped())
            .stdout(std::os::fd::OwnedFd::from(theirs));
        let mut child = command.spawn().unwrap();
        drop(command);
        let mark = mark();
        let input = json!({"argv": ["sleep", mark], "timeout_ms": 600_000});
        let payload = json!({"capability": "shell.exec_safe", "input": input});
        let request = json!({"type": "command", "name": "Capability.Call", "payload": payload});
        let mut stdin = child.stdin.take().unwrap();
        writeln!(stdin, "{request}").unwrap();
        wait_until("the program runs", || processes(&mark) > 0);
        drop(ours);
        let took = wait_until("the program ends", || processes(&mark) == 0);
        drop(stdin);
        child.wait().unwrap();
        took
    });
}

/// A server that takes a request and never answers.
struct Silent {
    listener: TcpListener,
}

impl Silent {
    fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        Self { listener }
    }

    fn pair(&self) -> String {
        self.listener.local_addr().unwrap().to_string()
    }

    /// The next request, whole.
    fn asked(&self) -> TcpStream {
        let (mut stream, _) = self.listener.accept().unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let (mut head, mut byte) = (Vec::new(), [0]);
        while !head.ends_with(b"\r\n\r\n") {
            stream.read_exact(&mut byte).unwrap();
            head.push(byte[0]);
        }
        stream
    }

    /// How long it takes until whoever asked has gone.
    fn hung_up(mut stream: TcpStream) -> Duration {
        let started = Instant::now();
        // A reset is an end as well.
        let rest = stream.read(&mut [0]).unwrap_or(0);
        assert_eq!(rest, 0);
        started.elapsed()
    }

    /// A foreign skill that asks it, and one with a script that does not end.
    fn skill(&self) -> String {
        format!(
            "skill:\n  name: slow\n  version: \"1.0.0\"\n  description: Slow.\n  operations:\n    - name: ask\n      \
             description: Asks.\n      endpoint: http://{}/slow\n      method: GET\n    - name: wait\n      \
             description: Waits.\n      command: sleep $SECONDS\n",
            self.pair()
        )
    }

    fn govern(&self) -> String {
        let pair = self.pair();
        format!("[govern]\nallow_private = [\"{pair}\"]\nsource_hosts = [\"{pair}\"]\n")
    }
}

#[test]
fn a_cancelled_operation_of_a_foreign_skill_ends_its_request_and_its_program() {
    let machine = Machine::new();
    let silent = Silent::new();
    let home = machine.home().join(".hydrant");
    fs::create_dir(&home).unwrap();
    fs::set_permissions(&home, fs::Permissions::from_mode(0o700)).unwrap();
    fs::write(home.join("hydrant.toml"), silent.govern()).unwrap();
    fs::write(machine.work().join("slow.yaml"), silent.skill()).unwrap();
    let loaded = machine.run(&["skill", "load", "slow.yaml"]);
    assert!(loaded.status.success(), "{loaded:?}");
    for operation in ["slow.ask", "slow.wait"] {
        let approved = machine.run(&[
            "approvals",
            "approve",
            operation,
            "--scope",
            "until-changed",
        ]);
        assert!(approved.status.success(), "{approved:?}");
    }
    let mut client = Client::new(&machine, &[]);
    let call = |operation: &str, params: Value| json!({"name": "skill_execute", "arguments": {"skill": "slow", "operation": operation, "params": params}});
    is_prompt(|| {
        let id = client.begin("tools/call", &call("ask", json!({})));
        let asked = silent.asked();
        client.cancel(id);
        Silent::hung_up(asked)
    });
    is_prompt(|| {
        let mark = mark();
        let id = client.begin("tools/call", &call("wait", json!({"SECONDS": mark})));
        wait_until("the program runs", || processes(&mark) > 0);
        client.cancel(id);
        wait_until("the program ends", || processes(&mark) == 0)
    });
    drop(client);
    // What was cancelled is recorded as such, and the record is whole.
    let verified = machine.run(&["audit", "verify"]);
    assert!(verified.status.success(), "{verified:?}");
    let shown = machine.run(&["audit", "show"]);
    let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
    assert!(shown.contains("interrupted"), "{shown}");
}

/// `hydrant serve`, ended with the test.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn post(address: &str, path: &str, body: &Value) -> TcpStream {
    let body = body.to_string();
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    write!(
        stream,
        "POST {path} HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {TOKEN}\r\nconnection: close\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    stream
}

fn answer(mut stream: TcpStream) -> (String, Value) {
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap();
    (
        status.to_owned(),
        serde_json::from_str(body).unwrap_or_default(),
    )
}

#[test]
fn a_client_of_the_service_that_hangs_up_ends_its_request_and_gives_its_place_back() {
    let machine = Machine::new();
    let silent = Silent::new();
    let write = |name: &str, text: &str| {
        let file = machine.work().join(name);
        fs::write(&file, text).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    };
    write(
        "hydrant.toml",
        &format!("{}[serve]\nworkers = 1\n", silent.govern()),
    );
    let tenant = format!(
        "[[tenant]]\nname = \"one\"\nhome = \"one\"\nconcurrency = 1\nallow_private = [\"{}\"]\n\
         [[tenant.token]]\ndigest = \"{}\"\nrole = \"operator\"\n",
        silent.pair(),
        token_digest(TOKEN)
    );
    write("tenants.toml", &tenant);
    let policy = format!(
        "version: 1\ntrusted_signers: [hydrant.build, hydrant.release]\ncapability_ceiling: {{net: [\"http://{0}/\"]}}\n\
         host: {{net: [{{url: \"http://{0}/\", methods: [GET]}}]}}\n",
        silent.pair()
    );
    write("policy.yaml", &policy);
    let arguments = [
        "serve",
        "--listen",
        "127.0.0.1:0",
        "--config",
        "hydrant.toml",
        "--policy",
        "policy.yaml",
    ];
    let mut command: Command = machine.command(&arguments);
    command.stdout(Stdio::piped()).stderr(Stdio::null());
    let mut server = Server(command.spawn().unwrap());
    let mut line = String::new();
    BufReader::new(server.0.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    let address = line.trim().strip_prefix("listening on http://").unwrap();

    let load = json!({"text": silent.skill()});
    assert_eq!(answer(post(address, "/v1/capabilities", &load)).0, "200");
    let asked = answer(post(address, "/v1/capabilities/slow/ask", &json!({}))).1;
    let id = asked["approval-id"].as_str().unwrap();
    let approve = format!("/v1/approvals/{id}/approve");
    let approved = answer(post(address, &approve, &json!({"scope": "until-changed"})));
    assert_eq!(approved.0, "200", "{}", approved.1);
    is_prompt(|| {
        let client = post(address, "/v1/capabilities/slow/ask", &json!({}));
        let asked = silent.asked();
        drop(client);
        Silent::hung_up(asked)
    });
    // The only place is free again.
    let begun = Instant::now();
    let listed = TcpStream::connect(address).map(|_| {
        post(
            address,
            "/v1/map",
            &json!({"command": "curl https://a.example/"}),
        )
    });
    assert_eq!(answer(listed.unwrap()).0, "200");
    assert!(begun.elapsed() < PATIENCE / 2);
}
