//! Addresses and requests that no policy lets a skill reach.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::process::{Command, Output};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::machine::Machine;

/// A network of its own, in which this machine has the addresses of `names` and answers on port 8080 of each; runs the
/// command once for each name, with `NAME` in its words replaced, and prints what came of it.
const NETWORK: &str = r"
import fcntl, http.server, json, socket, struct, subprocess, sys, threading
names, words = json.loads(sys.argv[1]), json.loads(sys.argv[2])
control = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
def set(name, request, value): fcntl.ioctl(control, request, name.encode().ljust(16, b'\0') + value.ljust(24, b'\0'))
def address(text): return struct.pack('HH', socket.AF_INET, 0) + socket.inet_aton(text)
set('lo', 0x8914, struct.pack('h', 0x41))
for at, text in enumerate(names.values()):
    set(f'lo:{at}', 0x8916, address(text))
    set(f'lo:{at}', 0x891c, address('255.255.255.255'))
class Server(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200); self.send_header('content-type', 'text/plain'); self.end_headers(); self.wfile.write(b'reached')
    def log_message(self, *_): pass
server = http.server.ThreadingHTTPServer(('0.0.0.0', 8080), Server)
threading.Thread(target=server.serve_forever, daemon=True).start()
def run(name):
    done = subprocess.run([word.replace('NAME', name) for word in words], capture_output=True, text=True)
    return {'status': done.returncode, 'stdout': done.stdout, 'stderr': done.stderr}
print(json.dumps({name: run(name) for name in names}))
";

/// What `http.fetch_text` answers for each of these names, which lead to these addresses.
fn fetched(machine: &Machine, names: &Value) -> Value {
    let hosts = names.as_object().unwrap().iter();
    let hosts: String = hosts
        .map(|(name, address)| format!("{} {name}\n", address.as_str().unwrap()))
        .collect();
    fs::write(machine.home().join("hosts"), hosts).unwrap();
    let urls: Vec<String> = names
        .as_object()
        .unwrap()
        .keys()
        .map(|name| format!("http://{name}:8080/"))
        .collect();
    let policy = policy(machine, &urls);
    let request = r#"{"url": "http://NAME:8080/"}"#;
    let run = machine.command(&["run", "http.fetch_text", request, "--policy", &policy]);
    let words: Vec<&str> = std::iter::once(run.get_program())
        .chain(run.get_args())
        .map(|word| word.to_str().unwrap())
        .collect();
    let script = r#"mount --bind "$HOSTS" /etc/hosts && exec /usr/bin/python3 -c "$@""#;
    let mut unshared = Command::new("unshare");
    unshared
        .args([
            "--map-root-user",
            "--mount",
            "--net",
            "sh",
            "-c",
            script,
            "sh",
            NETWORK,
        ])
        .args([names.to_string(), json!(words).to_string()])
        .env("HOSTS", machine.home().join("hosts"))
        .env("HOME", machine.home())
        .current_dir(machine.work());
    let output = unshared.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// A policy file that allows GET below these URLs.
fn policy(machine: &Machine, urls: &[String]) -> String {
    let rules: Vec<Value> = urls
        .iter()
        .map(|url| json!({"url": url, "methods": ["GET"]}))
        .collect();
    let policy = json!({
        "version": 1, "trusted_signers": ["hydrant.build", "hydrant.release"],
        "capability_ceiling": {"net": urls}, "host": {"net": rules},
    });
    let file = machine.home().join("net.json");
    fs::write(&file, policy.to_string()).unwrap();
    file.to_str().unwrap().to_owned()
}

#[test]
fn a_name_leads_to_no_special_address_and_to_no_platform_of_a_cloud() {
    let machine = Machine::new();
    let refused = json!({
        "azure.example": "168.63.129.16", "alibaba.example": "100.100.100.200", "most.example": "169.254.169.254",
        "oracle.example": "192.0.0.192", "relay.example": "192.88.99.1", "as112.example": "192.31.196.1",
        "amt.example": "192.52.193.1", "as112-direct.example": "192.175.48.1", "benchmark.example": "198.18.0.1",
        "documentation.example": "203.0.113.1", "private.example": "10.0.0.1",
    });
    let mut names = refused.clone();
    // The control: what is refused could be reached.
    names["public.example"] = "168.63.129.17".into();
    let answers = fetched(&machine, &names);
    let answer = &answers["public.example"];
    assert!(
        answer["stdout"].as_str().unwrap().contains("reached"),
        "{answer}"
    );
    for name in refused.as_object().unwrap().keys() {
        let answer = &answers[name];
        assert_ne!(answer["status"], 0, "{name}: {answer}");
        assert!(
            answer["stderr"].as_str().unwrap().contains("denied"),
            "{name}: {answer}"
        );
    }
}

/// A server that keeps the heads of requests and answers each.
struct Server {
    pair: String,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Server {
    fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let pair = listener.local_addr().unwrap().to_string();
        let asked: Arc<Mutex<Vec<String>>> = Arc::default();
        let kept = Arc::clone(&asked);
        std::thread::spawn(move || {
            for mut stream in listener.incoming().map_while(Result::ok) {
                let (mut head, mut byte) = (Vec::new(), [0]);
                while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).is_ok_and(|n| n > 0) {
                    head.push(byte[0]);
                }
                kept.lock()
                    .unwrap()
                    .push(String::from_utf8_lossy(&head).into_owned());
                let _ = stream.write_all(
                    b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 7\r\nconnection: close\r\n\r\nreached",
                );
            }
        });
        Self { pair, asked }
    }

    fn asked(&self) -> usize {
        self.asked.lock().unwrap().len()
    }
}

#[test]
fn path_parameters_lead_out_of_no_rule() {
    let machine = Machine::new();
    let server = Server::new();
    let fetch = |rule: &str, path: &str| -> Output {
        let policy = policy(&machine, &[format!("http://{}{rule}", server.pair)]);
        let request = json!({"url": format!("http://{}{path}", server.pair)}).to_string();
        machine.run(&["run", "http.fetch_text", &request, "--policy", &policy])
    };
    for path in [
        "/docs/x/..;/admin",
        "/docs/..;a=b/admin",
        "/docs/x/..%3b/admin",
        "/docs;v=1/x",
    ] {
        let refused = fetch("/docs/", path);
        assert!(
            !refused.status.success() && server.asked() == 0,
            "{path}: {refused:?}"
        );
    }
    // The controls: a plain path below the rule, and a rule for all of the host.
    for (rule, path) in [("/docs/", "/docs/x"), ("/", "/docs/x/..;/admin")] {
        let before = server.asked();
        let reached = fetch(rule, path);
        assert!(
            reached.status.success() && server.asked() == before + 1,
            "{path}: {reached:?}"
        );
    }
}

#[test]
fn no_header_asks_for_another_method_or_path() {
    let machine = Machine::new();
    let server = Server::new();
    let home = machine.home().join(".hydrant");
    fs::create_dir(&home).unwrap();
    let pair = &server.pair;
    let configuration =
        format!("[govern]\nallow_private = [\"{pair}\"]\nsource_hosts = [\"{pair}\"]\n");
    fs::write(home.join("hydrant.toml"), configuration).unwrap();
    let execute = |name: &str, header: &str| {
        let command = format!("curl -H \\\"{header}\\\" http://{pair}/docs/x");
        let text = format!("name: {name}\noperations:\n- name: get\n  command: \"{command}\"\n");
        fs::write(machine.work().join("skill.yaml"), text).unwrap();
        let loaded = machine.run(&["skill", "load", "skill.yaml"]);
        machine.run(&[
            "approvals",
            "approve",
            &format!("{name}.get"),
            "--scope",
            "until-changed",
        ]);
        (
            loaded,
            machine.run(&["skill", "execute", name, "get", "{}"]),
        )
    };
    for (at, header) in [
        "X-HTTP-Method-Override: DELETE",
        "X-HTTP-Method: DELETE",
        "X-Method-Override: DELETE",
        "X_HTTP_METHOD_OVERRIDE: DELETE",
        "X-Original-URL: /admin",
        "X-Rewrite-URL: /admin",
    ]
    .into_iter()
    .enumerate()
    {
        let (loaded, refused) = execute(&format!("one{at}"), header);
        let said = String::from_utf8_lossy(&refused.stdout).into_owned()
            + &String::from_utf8_lossy(&refused.stderr);
        assert!(
            !refused.status.success() && said.contains("header-refused"),
            "{header}: {loaded:?} {refused:?}"
        );
        assert_eq!(server.asked(), 0, "{header}");
    }
    // The control.
    let (loaded, reached) = execute("other", "X-Other: DELETE");
    assert!(
        reached.status.success() && server.asked() == 1,
        "{loaded:?} {reached:?}"
    );
}
