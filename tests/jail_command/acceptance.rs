//! What a jailed agent tries by itself fails, and the same by way of the socket succeeds.

use std::fs;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};

use serde_json::json;

use crate::cell::Cell;
use crate::server::{Answer, Server};

const TEXT: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 13\r\nconnection: close\r\n\r\nof the server";

/// A cell whose policy allows one server of this machine.
fn with_server() -> (Cell, Server) {
    let server = Server::new(|_| Answer::Raw(TEXT.as_bytes().to_vec()));
    let cell = Cell::new();
    let prefix = server.url("/");
    cell.policy(
        &json!({
            "fs": {"read": ["/workspace", "/os", "/more"], "write": ["/workspace"]},
            "net": [prefix],
        }),
        &json!({"net": [{"url": prefix, "methods": ["GET"]}]}),
    );
    (cell, server)
}

#[test]
fn curl_and_python_fail_and_the_same_request_by_the_socket_succeeds() {
    let (cell, server) = with_server();
    let url = server.url("/page");
    let run = cell.python(
        &[],
        &format!(
            r#"
import subprocess, urllib.request
print('curl', subprocess.run(['curl', '-s', '-m', '5', '{url}'], capture_output=True).returncode != 0)
try:
    print('python', urllib.request.urlopen('{url}', timeout=5).status)
except OSError as error:
    print('python', error)
print('skill', call('http.fetch_text', url='{url}')['text'].split()[-1])
"#
        ),
    );
    assert_eq!(
        run.stdout,
        "curl True\npython <urlopen error [Errno 1] Operation not permitted>\nskill server\n",
        "{}",
        run.stderr
    );
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn a_document_that_the_agent_cannot_reach_is_hydrated_by_the_socket() {
    let cell = Cell::new();
    let run = cell.governed(
        "cat /os/crew/cook.md > /dev/null && hydrant hydrate os://crew/cook.md; cat /etc/shadow",
    );
    assert!(run.stdout.contains(r#""content":"Cook.""#), "{run:?}");
    assert_eq!(run.status, 1);
    // Without the policy's mounts it sees no document, and has it hydrated all the same.
    let run = cell.with(
        &["--root", "os"],
        "ls /os; hydrant hydrate os://crew/cook.md --format link",
    );
    assert_eq!(run.stdout, "---\ntype: Agent\n---\nCook.");
}

#[test]
fn sockets_ptrace_and_the_home_are_out_of_reach() {
    let cell = Cell::new();
    let name = format!("hydrant-test-{}", std::process::id());
    let address = SocketAddr::from_abstract_name(&name).unwrap();
    let _abstract = UnixListener::bind_addr(&address).unwrap();
    let docker = UnixListener::bind(cell.folder().path("ws/docker.sock")).unwrap();
    docker.set_nonblocking(true).unwrap();
    let home = cell.folder().home();
    fs::create_dir_all(&home).unwrap();
    let run = cell.python(
        &[],
        &format!(
            r#"
import ctypes
def attempt(what, act):
    try:
        act(); print(what, 'succeeded')
    except OSError as error:
        print(what, error.strerror)
attempt('raw', lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP))
attempt('packet', lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW))
attempt('tcp', lambda: socket.socket())
attempt('udp', lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
attempt('abstract', lambda: socket.socket(socket.AF_UNIX).connect('\0{name}'))
attempt('docker', lambda: socket.socket(socket.AF_UNIX).connect('/workspace/docker.sock'))
attempt('home', lambda: open('{home}/x', 'w'))
libc = ctypes.CDLL(None, use_errno=True)
child = os.fork()
if child == 0: time.sleep(30)
print('ptrace', libc.ptrace(16, child, 0, 0), os.strerror(ctypes.get_errno()))
print('init', libc.ptrace(16, 1, 0, 0), os.strerror(ctypes.get_errno()))
print('socket', call('fs.read_text', path='/workspace/a.txt')['text'].strip())
"#,
            home = home.display()
        ),
    );
    let denied = "Operation not permitted";
    assert_eq!(
        run.stdout,
        format!(
            "raw {denied}\npacket {denied}\ntcp {denied}\nudp {denied}\nabstract Connection refused\n\
             docker Permission denied\nhome No such file or directory\nptrace -1 {denied}\ninit -1 {denied}\n\
             socket of the workspace\n"
        ),
        "{}",
        run.stderr
    );
    assert!(docker.accept().is_err(), "somebody came");
}

#[test]
fn egress_is_for_exactly_the_named_pairs() {
    let (cell, server) = with_server();
    let other = Server::new(|_| Answer::Body(b"of the other".to_vec()));
    let pair = server.url("").replace("http://", "");
    let script = format!(
        "curl -s -m 5 {}; echo; curl -s -m 5 -o /dev/null -w '%{{http_code}}\\n' {}; curl -s -m 5 --noproxy '*' {}; echo $?",
        server.url("/page"),
        other.url("/page"),
        server.url("/page"),
    );
    let run = cell.with(&["--allow-http-loopback", "--egress", &pair], &script);
    assert!(run.stdout.starts_with("of the server\n403\n"), "{run:?}");
    assert!(!run.stdout.ends_with("\n0\n"), "{run:?}");
    assert_eq!((server.requests().len(), other.requests().len()), (1, 0));
    // Without the leave for plain http not even that one.
    let run = cell.with(&["--egress", &pair], &script);
    assert!(!run.stdout.contains("of the server"), "{run:?}");
}

#[test]
fn a_bad_pair_is_no_jail() {
    let cell = Cell::new();
    for bad in [
        "",
        "example.net",
        "example.net:0",
        "example.net:port",
        "u@example.net:443",
        "0x7f.1:80",
        "*:443",
    ] {
        let run = cell.with(&["--egress", bad], "echo ran");
        assert_eq!(
            (run.status, run.stdout.as_str()),
            (125, ""),
            "{bad}: {}",
            run.stderr
        );
        assert!(run.stderr.contains("--egress"), "{}", run.stderr);
    }
}
