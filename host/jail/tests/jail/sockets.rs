//! Sockets of the plan, and no other socket of the host's.

use std::net::TcpListener;
use std::os::unix::net::UnixListener;
use std::path::Path;

use hydrant_jail::{Access, Mount, Network, Plan, Program, Socket};

use crate::support::{inside, run, script, source};

#[test]
fn a_socket_of_the_plan_can_be_connected_to() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("host");
    let listener = UnixListener::bind(&path).unwrap();
    let perl = |mut plan: Plan| {
        plan.program = Program::Path(inside("/usr/bin/perl"));
        let code = "use Socket; my $s; print socket($s, AF_UNIX, SOCK_STREAM, 0) && connect($s, pack_sockaddr_un('/run/hydrant.sock')) ? 'yes' : 'no'";
        plan.arguments = vec!["perl".into(), "-e".into(), code.into()];
        plan
    };
    let mut plan = perl(script(""));
    plan.sockets.push(Socket {
        source: source(&path),
        at: inside("/run/hydrant.sock"),
    });
    assert_eq!(run(plan).output, "yes");
    // The same socket in a directory that is mounted for its files.
    let mut plan = perl(script(""));
    std::os::unix::fs::symlink("host", directory.path().join("hydrant.sock")).unwrap();
    plan.mounts.push(Mount {
        source: source(&directory),
        at: inside("/run"),
        access: Access::ReadWrite,
        executable: false,
    });
    assert_eq!(run(plan).output, "no");
    drop(listener);
}

/// A jail with a socket of the host at `/run/hydrant.sock`, in which this runs.
fn with_socket(listener: &Path, code: &str) -> Plan {
    let mut plan = script("");
    plan.program = Program::Path(inside("/usr/bin/python3"));
    plan.arguments = vec!["python3".into(), "-c".into(), code.into()];
    plan.sockets.push(Socket {
        source: source(listener),
        at: inside("/run/hydrant.sock"),
    });
    plan
}

const CONNECT: &str = "
import os, socket, threading
def connect(path, kind=socket.SOCK_STREAM):
    try:
        socket.socket(socket.AF_UNIX, kind).connect(path)
        print('connected', end=' ')
    except OSError as error:
        print(error.strerror, end=' ')
";

#[test]
fn a_socket_of_the_host_in_a_mount_is_not_reached_by_any_name() {
    let directory = tempfile::tempdir().unwrap();
    let (ours, theirs) = (
        directory.path().join("ours"),
        directory.path().join("docker.sock"),
    );
    let listener = UnixListener::bind(&ours).unwrap();
    let other = UnixListener::bind(&theirs).unwrap();
    other.set_nonblocking(true).unwrap();
    let mut plan = with_socket(
        &ours,
        &format!(
            "{CONNECT}
os.chdir('/mnt')
os.symlink('/mnt/docker.sock', '/tmp/link')
for path in ['/mnt/docker.sock', 'docker.sock', './docker.sock', '/tmp/link', '/proc/self/cwd/docker.sock',
             '/tmp/../mnt/docker.sock']:
    connect(path)
connect('/run/hydrant.sock')"
        ),
    );
    plan.mounts.push(Mount {
        source: source(&directory),
        at: inside("/mnt"),
        access: Access::ReadWrite,
        executable: false,
    });
    let output = run(plan).output;
    let denied = "Permission denied ";
    // The name by way of `/proc/self` is refused for the way.
    assert_eq!(
        output,
        format!(
            "{denied}{denied}{denied}{denied}Too many levels of symbolic links {denied}connected "
        )
    );
    assert!(other.accept().is_err(), "somebody came");
    drop(listener);
}

#[test]
fn a_name_that_is_exchanged_while_it_is_looked_at_leads_nowhere_else() {
    let directory = tempfile::tempdir().unwrap();
    let (ours, theirs) = (
        directory.path().join("ours"),
        directory.path().join("docker.sock"),
    );
    let listener = UnixListener::bind(&ours).unwrap();
    let other = UnixListener::bind(&theirs).unwrap();
    other.set_nonblocking(true).unwrap();
    let mut plan = with_socket(
        &ours,
        "
import ctypes, os, socket, threading, time
libc = ctypes.CDLL(None, use_errno=True)
own = socket.socket(socket.AF_UNIX); own.bind('/tmp/own'); own.listen(100)
os.symlink('/tmp/own', '/tmp/a'); os.symlink('/mnt/docker.sock', '/tmp/b')
address = ctypes.create_string_buffer(b'\\x01\\x00' + b'/tmp/own'.ljust(20, b'\\0'))
until = time.time() + 2
def exchange_names():
    while time.time() < until:
        for to in ['/tmp/own', '/mnt/docker.sock']:
            os.symlink(to, '/tmp/new'); os.rename('/tmp/new', '/tmp/name')
def exchange_bytes():
    while time.time() < until:
        address[2:22] = b'/mnt/docker.sock'.ljust(20, b'\\0'); address[2:22] = b'/tmp/own'.ljust(20, b'\\0')
os.symlink('/tmp/own', '/tmp/name')
for exchange in [exchange_names, exchange_bytes]:
    threading.Thread(target=exchange).start()
tried = 0
while time.time() < until:
    for attempt in range(2):
        s = socket.socket(socket.AF_UNIX)
        try:
            if attempt: s.connect('/tmp/name')
            else: libc.connect(s.fileno(), address, 22)
        except OSError: pass
        s.close(); tried += 1
        own.setblocking(False)
        try:
            own.accept()[0].close()
        except OSError: pass
print(tried > 50)",
    );
    plan.mounts.push(Mount {
        source: source(&directory),
        at: inside("/mnt"),
        access: Access::ReadWrite,
        executable: false,
    });
    assert_eq!(run(plan).output, "True\n");
    assert!(other.accept().is_err(), "somebody came");
    drop(listener);
}

#[test]
fn processes_of_a_jail_with_a_socket_reach_each_other_and_not_by_datagrams() {
    let directory = tempfile::tempdir().unwrap();
    let ours = directory.path().join("ours");
    let listener = UnixListener::bind(&ours).unwrap();
    let plan = with_socket(
        &ours,
        &format!(
            "{CONNECT}
os.chdir('/tmp')
for name in ['/tmp/own', '\\0own']:
    server = socket.socket(socket.AF_UNIX); server.bind(name); server.listen(5)
    if os.fork() == 0:
        connect(name)
        threads = [threading.Thread(target=connect, args=(name,)) for _ in range(2)]
        for thread in threads: thread.start(); thread.join()
        if name[0] == '/': connect('own')
        os._exit(print('', end='', flush=True) or 0)
    os.wait()
connect('/tmp/nothing')
try:
    socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
except OSError as error:
    print(error.strerror)"
        ),
    );
    assert_eq!(
        run(plan).output,
        "connected connected connected connected connected connected connected No such file or directory Operation not permitted\n"
    );
    drop(listener);
}

#[test]
fn with_a_socket_and_egress_only_the_relay_is_reached_by_tcp() {
    let directory = tempfile::tempdir().unwrap();
    let (ours, proxy) = (
        directory.path().join("ours"),
        directory.path().join("proxy"),
    );
    let listener = UnixListener::bind(&ours).unwrap();
    let relay = UnixListener::bind(&proxy).unwrap();
    let host = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = host.local_addr().unwrap().port();
    let mut plan = with_socket(
        &ours,
        &format!(
            "
import socket
for family, address in [(socket.AF_INET, ('127.0.0.1', 3128)), (socket.AF_INET, ('127.0.0.1', {port})),
                        (socket.AF_INET, ('10.0.0.1', 3128)), (socket.AF_INET6, ('::1', 3128)),
                        (socket.AF_INET6, ('::ffff:127.0.0.1', 3128))]:
    try:
        socket.socket(family).connect(address)
        print('connected', end=' ')
    except OSError as error:
        print(error.strerror, end=' ')"
        ),
    );
    plan.network = Network::Relay {
        socket: source(&proxy),
    };
    let denied = "Permission denied ";
    assert_eq!(
        run(plan).output,
        format!("connected {denied}{denied}{denied}connected ")
    );
    drop((listener, relay));
}
