//! The jail from outside: what runs, how it ends, and what it cannot do.
//!
//! Run as root and as an ordinary user: both must hold. The escape suite has the attacks; this has the properties.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic)]

use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::time::{Duration, Instant};

use hydrant_jail::{
    Access, Ended, File, How, InsidePath, Launcher, Limits, Link, Mount, Network, Plan, Program,
    Scratch, Socket, StartError, Step, Streams,
};
use rustix::fs::{Mode, OFlags};

fn inside(path: &str) -> InsidePath {
    InsidePath::new(path).unwrap()
}

fn source(path: impl AsRef<Path>) -> OwnedFd {
    rustix::fs::open(path.as_ref(), OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).unwrap()
}

/// A shell script in the usual jail.
fn script(text: &str) -> Plan {
    Plan {
        program: Program::Path(inside("/bin/sh")),
        arguments: vec!["sh".into(), "-c".into(), text.into()],
        environment: vec![("PATH".into(), "/usr/bin:/bin".into())],
        directory: inside("/tmp"),
        mounts: vec![],
        system: true,
        scratch: vec![Scratch {
            at: inside("/tmp"),
            bytes: 8 << 20,
            inodes: 1000,
            executable: false,
        }],
        files: vec![],
        links: vec![],
        execute: vec![],
        network: Network::None,
        sockets: vec![],
        limits: Limits {
            wall: Some(Duration::from_secs(10)),
            grace: None,
            cpu_seconds: Some(5),
            memory_bytes: Some(256 << 20),
            processes: Some(32),
            file_bytes: Some(4 << 20),
            open_files: Some(64),
        },
        landlock_min_abi: 1,
        #[cfg(feature = "jail-weakening")]
        without: vec![],
    }
}

struct Ran {
    how: How,
    ended: Ended,
    output: String,
}

fn start(plan: Plan, input: &str) -> Result<Ran, StartError> {
    let (reader, writer) = std::io::pipe().unwrap();
    let (stdin, mut feed) = std::io::pipe().unwrap();
    let streams = Streams {
        stdin: Some(stdin.into()),
        stdout: Some(writer.try_clone().unwrap().into()),
        stderr: Some(writer.into()),
        ..Streams::default()
    };
    let jailed = Launcher::at(env!("CARGO_BIN_EXE_jail-try")).start(plan, streams)?;
    feed.write_all(input.as_bytes()).unwrap();
    drop(feed);
    let output = std::thread::spawn(move || {
        let (mut reader, mut output) = (reader, Vec::new());
        reader.read_to_end(&mut output).unwrap();
        String::from_utf8_lossy(&output).into_owned()
    });
    let ended = jailed.wait().unwrap();
    Ok(Ran {
        how: ended.how,
        ended,
        output: output.join().unwrap(),
    })
}

fn run(plan: Plan) -> Ran {
    start(plan, "").unwrap()
}

/// Each line of the script that fails prints `no`, others `yes`.
fn try_each(plan: impl Fn(&str) -> Plan, attempts: &[&str]) -> Vec<String> {
    let lines = attempts
        .iter()
        .map(|line| format!("if ({line}) >/dev/null 2>&1; then echo yes; else echo no; fi\n"));
    let ran = run(plan(&lines.collect::<String>()));
    assert_eq!(ran.how, How::Exited(0), "{}", ran.output);
    ran.output.lines().map(ToOwned::to_owned).collect()
}

#[test]
fn a_program_runs_and_its_exit_status_comes_back() {
    assert_eq!(run(script("exit 0")).how, How::Exited(0));
    assert_eq!(run(script("exit 77")).how, How::Exited(77));
    assert_eq!(run(script("kill -TERM $$")).how, How::Signaled(15));
}

#[test]
fn k_338_usage_is_reported() {
    let ran = run(script("i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done"));
    assert!(
        ran.ended.usage.cpu > Duration::from_millis(20),
        "{:?}",
        ran.ended
    );
    assert!(
        ran.ended.usage.peak_memory_bytes > 500_000,
        "{:?}",
        ran.ended
    );
}

#[test]
fn standard_input_and_output_are_the_callers() {
    let ran = start(script("cat; echo done >&2"), "hello\n").unwrap();
    assert_eq!(ran.output, "hello\ndone\n");
}

#[test]
fn streams_that_nobody_gives_are_the_jails_own_null_device() {
    let plan = script("read line; readlink /proc/self/fd/1; echo x >&1 && chmod 600 /dev/null");
    let ended = Launcher::at(env!("CARGO_BIN_EXE_jail-try"))
        .start(plan, Streams::default())
        .unwrap()
        .wait()
        .unwrap();
    assert_eq!(ended.how, How::Exited(1), "chmod of the null device");
}

#[test]
fn k_333_the_environment_is_exactly_what_the_plan_says() {
    let mut plan = script("");
    plan.program = Program::Path(inside("/usr/bin/env"));
    plan.arguments = vec!["env".into()];
    plan.environment = vec![("A".into(), "1".into()), ("B".into(), "two words".into())];
    assert_eq!(run(plan).output, "A=1\nB=two words\n");
}

#[test]
fn k_329_the_jail_has_one_user_who_is_nobody() {
    let ran = run(script(
        "id -u; id -g; cat /proc/self/uid_map /proc/self/setgroups; hostname newname || echo no",
    ));
    let words: Vec<_> = ran.output.split_whitespace().collect();
    assert_eq!(
        (words[0], words[1], words[2], words[4], words[5]),
        ("65534", "65534", "65534", "1", "deny")
    );
    assert_eq!(words.last(), Some(&"no"));
}

#[test]
fn k_330_nothing_of_the_host_is_there() {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("secret"), "x").unwrap();
    let secret = format!("cat {}/secret", home.path().display());
    let attempts = [
        &secret,
        "cat /etc/shadow",
        "ls /root",
        "ls /home",
        "ls /sys",
        "ls /proc/sys",
        "ls /dev/kmsg",
    ];
    assert_eq!(try_each(script, &attempts), ["no"; 7]);
}

#[test]
fn k_331_only_scratch_and_writable_mounts_can_be_written() {
    let (writable, readable) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fs::write(readable.path().join("input"), "x").unwrap();
    let plan = |text: &str| {
        let mut plan = script(text);
        let mount = |directory: &tempfile::TempDir, at, access| Mount {
            source: source(directory),
            at: inside(at),
            access,
            executable: false,
        };
        plan.mounts
            .push(mount(&readable, "/input", Access::ReadOnly));
        plan.mounts
            .push(mount(&writable, "/site/deep", Access::ReadWrite));
        plan
    };
    let attempts = [
        "echo x > /tmp/a",
        "echo x > /site/deep/b",
        "cat /input/input",
        "mkdir /tmp/d && mv /tmp/a /tmp/d/",
    ];
    assert_eq!(try_each(plan, &attempts), ["yes"; 4]);
    let attempts = [
        "echo x > /c",
        "echo x > /usr/c",
        "echo x > /etc/c",
        "echo x > /site/c",
        "echo x > /input/c",
        "chmod 777 /input/input",
        "touch /input/input",
        "rm /input/input",
        "echo x > /proc/self/oom_score_adj",
    ];
    assert_eq!(try_each(plan, &attempts), ["no"; 9]);
    assert_eq!(fs::read(writable.path().join("b")).unwrap(), b"x\n");
    assert_eq!(fs::read(readable.path().join("input")).unwrap(), b"x");
}

#[test]
fn files_and_links_of_the_plan_are_there() {
    let mut plan = script("cat /run/script/a /tmp/link; echo x > /run/script/a");
    plan.files.push(File {
        at: inside("/run/script/a"),
        bytes: b"text\n".to_vec(),
        mode: 0o444,
    });
    plan.links.push(Link {
        at: inside("/tmp/link"),
        to: "/run/script/a".into(),
    });
    let ran = run(plan);
    assert!(ran.output.starts_with("text\ntext\n"), "{}", ran.output);
    assert_ne!(ran.how, How::Exited(0));
}

#[test]
fn nothing_is_created_in_a_directory_of_the_host() {
    let directory = tempfile::tempdir().unwrap();
    let mut plan = script("true");
    let mount = |at| Mount {
        source: source(&directory),
        at: inside(at),
        access: Access::ReadWrite,
        executable: false,
    };
    plan.mounts = vec![mount("/site"), mount("/site/below")];
    let Err(StartError::Refused(refused)) = start(plan, "") else {
        panic!("not refused")
    };
    assert_eq!(refused.step, Step::Plan);
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
}

#[test]
fn a_link_in_a_mounted_directory_is_not_followed_for_a_mount_point() {
    let directory = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink("/etc", directory.path().join("link")).unwrap();
    let mut plan = script("true");
    let mount = |at| Mount {
        source: source(&directory),
        at: inside(at),
        access: Access::ReadOnly,
        executable: false,
    };
    plan.mounts = vec![mount("/site"), mount("/site/link")];
    assert!(
        matches!(start(plan, ""), Err(StartError::Refused(refused)) if refused.step == Step::Plan)
    );
}

#[test]
fn a_source_whose_name_leads_elsewhere_by_now_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let (name, other) = (
        directory.path().join("name"),
        directory.path().join("other"),
    );
    fs::create_dir(&name).unwrap();
    let opened = source(&name);
    fs::remove_dir(&name).unwrap();
    std::os::unix::fs::symlink("/etc", &other).unwrap();
    let mut plan = script("ls /site");
    plan.mounts = vec![Mount {
        source: opened,
        at: inside("/site"),
        access: Access::ReadOnly,
        executable: false,
    }];
    assert!(
        matches!(start(plan, ""), Err(StartError::Refused(refused)) if refused.step == Step::Plan)
    );
}

#[test]
fn pe_08_the_file_that_was_opened_is_executed() {
    let directory = tempfile::tempdir().unwrap();
    let tool = directory.path().join("tool");
    fs::write(&tool, "#!/bin/sh\necho \"$0\" \"$1\"\n").unwrap();
    fs::set_permissions(&tool, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let mut plan = script("");
    plan.program = Program::Descriptor {
        file: source(&tool),
        at: inside("/os/bin/tool"),
    };
    plan.arguments = vec!["/os/bin/tool".into(), "--description".into()];
    assert_eq!(run(plan).output, "/os/bin/tool --description\n");
}

#[test]
fn only_what_is_listed_can_be_executed() {
    let plan = |text: &str| {
        let mut plan = script(text);
        plan.execute = [
            "/usr/bin/cat",
            "/lib64/ld-linux-x86-64.so.2",
            "/lib/ld-linux-aarch64.so.1",
        ]
        .map(inside)
        .into();
        plan
    };
    assert_eq!(
        try_each(
            plan,
            &[
                "cat /etc/hosts",
                "ls /",
                "/usr/bin/env",
                "cp /usr/bin/cat /tmp/x && /tmp/x"
            ]
        ),
        ["yes", "no", "no", "no"]
    );
}

#[test]
fn a_program_that_cannot_be_executed_is_not_a_refusal() {
    let mut plan = script("");
    plan.program = Program::Path(inside("/nothing"));
    assert!(matches!(
        start(plan, ""),
        Err(StartError::NotExecutable {
            errno: libc::ENOENT
        })
    ));
    let mut plan = script("");
    plan.program = Program::Path(inside("/etc/passwd"));
    assert!(matches!(
        start(plan, ""),
        Err(StartError::NotExecutable {
            errno: libc::EACCES
        })
    ));
}

#[test]
fn k_342_a_step_that_fails_is_a_refusal() {
    let mut plan = script("exit 0");
    plan.landlock_min_abi = 200;
    let Err(StartError::Refused(refused)) = start(plan, "") else {
        panic!("not refused")
    };
    assert_eq!(refused.step, Step::Landlock);
    let mut plan = script("exit 0");
    plan.directory = inside("/usr/nothing");
    assert!(
        matches!(start(plan, ""), Err(StartError::Refused(refused)) if refused.step == Step::Plan)
    );
}

#[test]
fn k_338_a_timeout_ends_whatever_has_forked_away() {
    let directory = tempfile::tempdir().unwrap();
    let mut plan = script(
        "(setsid sh -c '(while :; do date +%N > /site/alive; sleep 0.05; done) &' &); sleep 60",
    );
    plan.mounts = vec![Mount {
        source: source(&directory),
        at: inside("/site"),
        access: Access::ReadWrite,
        executable: false,
    }];
    plan.limits.wall = Some(Duration::from_millis(500));
    let begin = Instant::now();
    assert_eq!(run(plan).how, How::TimedOut);
    assert!(
        begin.elapsed() < Duration::from_secs(2),
        "{:?}",
        begin.elapsed()
    );
    let last = fs::read(directory.path().join("alive")).unwrap();
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(fs::read(directory.path().join("alive")).unwrap(), last);
}

/// What a program does when it is told to end; the shell waits for its child in a way that a signal interrupts.
const TIDIES: &str = "trap 'echo tidied; exit 3' TERM; echo began; sleep 60 & wait";

fn timed(text: &str, grace: Option<Duration>) -> (Ran, Duration) {
    let mut plan = script(text);
    plan.limits.wall = Some(Duration::from_millis(500));
    plan.limits.grace = grace;
    let started = Instant::now();
    (run(plan), started.elapsed())
}

#[test]
fn tc_45_a_program_whose_time_is_up_may_end_by_itself_where_it_is_given_time_to() {
    let grace = Some(Duration::from_secs(2));
    let (ran, took) = timed(TIDIES, grace);
    assert_eq!(
        (ran.how, ran.output.as_str()),
        (How::TimedOut, "began\ntidied\n")
    );
    assert!(took < Duration::from_secs(2), "{took:?}: all had ended");
    let (ran, took) = timed(TIDIES, None);
    assert_eq!((ran.how, ran.output.as_str()), (How::TimedOut, "began\n"));
    assert!(took < Duration::from_secs(2), "{took:?}");
}

#[test]
fn tc_45_a_program_that_does_not_end_by_itself_is_killed_after_that_time() {
    let grace = Some(Duration::from_millis(700));
    let deaf = "trap '' TERM; (while :; do sleep 1; done) & while :; do sleep 1; done";
    let (ran, took) = timed(deaf, grace);
    assert_eq!(ran.how, How::TimedOut);
    assert!(took >= Duration::from_millis(1_200), "{took:?}");
    assert!(took < Duration::from_secs(3), "{took:?}");
}

#[test]
fn tc_45_in_that_time_the_number_of_processes_is_limited_as_before() {
    let breeds = "trap 'for i in 1 2 3 4 5 6 7 8; do sleep 60 & done; wait' TERM; sleep 60 & wait";
    let mut plan = script(breeds);
    plan.limits.wall = Some(Duration::from_millis(300));
    plan.limits.grace = Some(Duration::from_secs(30));
    plan.limits.processes = Some(6);
    let started = Instant::now();
    assert_eq!(run(plan).how, How::Processes);
    assert!(started.elapsed() < Duration::from_secs(10));
}

#[test]
fn what_the_program_leaves_behind_ends_with_it_and_holds_nothing_open() {
    let begin = Instant::now();
    assert_eq!(
        run(script("sleep 60 & setsid sleep 60 & exit 4")).how,
        How::Exited(4)
    );
    assert!(
        begin.elapsed() < Duration::from_secs(2),
        "{:?}",
        begin.elapsed()
    );
}

#[test]
fn a_jail_that_is_dropped_is_gone() {
    let directory = tempfile::tempdir().unwrap();
    let mut plan = script("while :; do date +%N > /site/alive; sleep 0.02; done");
    plan.mounts = vec![Mount {
        source: source(&directory),
        at: inside("/site"),
        access: Access::ReadWrite,
        executable: false,
    }];
    let jailed = Launcher::at(env!("CARGO_BIN_EXE_jail-try"))
        .start(plan, Streams::default())
        .unwrap();
    std::thread::sleep(Duration::from_millis(200));
    drop(jailed);
    std::thread::sleep(Duration::from_millis(100));
    let last = fs::read(directory.path().join("alive")).unwrap();
    std::thread::sleep(Duration::from_millis(200));
    assert_eq!(fs::read(directory.path().join("alive")).unwrap(), last);
}

#[test]
fn k_332_inherited_descriptors_are_closed() {
    let held = fs::File::open("/etc/hosts").unwrap();
    // Without `O_CLOEXEC`, as a careless library would.
    rustix::io::fcntl_setfd(&held, rustix::io::FdFlags::empty()).unwrap();
    let ran = run(script(
        "for f in /proc/self/fd/*; do echo ${f##*/}; done | sort -n | tail -1",
    ));
    // The shell's own descriptor for reading the directory may be there, and 0 to 2.
    assert!(
        ran.output.trim().parse::<u32>().unwrap() <= 3,
        "{}",
        ran.output
    );
}

#[test]
fn k_332_there_are_no_privileges() {
    let ran = run(script(
        "grep -E '^(Cap|NoNewPrivs|Seccomp:)' /proc/self/status",
    ));
    let values: Vec<_> = ran.output.split_whitespace().skip(1).step_by(2).collect();
    assert_eq!(values[..5], ["0000000000000000"; 5]);
    assert_eq!(values[5..], ["1", "2"]);
}

#[test]
fn k_343_there_is_no_network() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let mut plan = script("");
    plan.program = Program::Path(inside("/usr/bin/perl"));
    plan.arguments = vec!["perl".into(), "-e".into(), format!(
        "use Socket; for my $f (AF_INET, AF_INET6, 16, 17) {{ for my $t (1, 2, 3) {{ print socket(my $s, $f, $t, 0) ? 'yes' : 'no' }} }}
         my $s; print socket($s, AF_INET, SOCK_STREAM, 0) && connect($s, pack_sockaddr_in({port}, inet_aton('127.0.0.1'))) ? 'yes' : 'no'"
    ).into()];
    assert_eq!(run(plan).output, "no".repeat(13));
}

#[test]
fn k_344_the_relay_is_the_only_way_out() {
    let directory = tempfile::tempdir().unwrap();
    let socket = directory.path().join("proxy");
    let proxy = UnixListener::bind(&socket).unwrap();
    let host = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let served = std::thread::spawn(move || {
        let (mut connection, _) = proxy.accept().unwrap();
        let mut request = [0; 4];
        connection.read_exact(&mut request).unwrap();
        connection.write_all(b"pong").unwrap();
        request
    });
    let mut plan = script("");
    plan.network = Network::Relay {
        socket: source(&socket),
    };
    plan.program = Program::Path(inside("/usr/bin/perl"));
    plan.arguments = vec!["perl".into(), "-e".into(), format!(
        "use Socket; my ($s, $t, $u, $v); my $a = inet_aton('127.0.0.1'); $| = 1;
         print socket($s, AF_INET, SOCK_STREAM, 0) && connect($s, pack_sockaddr_in(3128, $a)) ? 'yes' : 'no';
         syswrite $s, 'ping'; sysread $s, my $b, 4; print $b;
         print socket($t, AF_INET, SOCK_STREAM, 0) && connect($t, pack_sockaddr_in({host}, $a)) ? 'yes' : 'no';
         print socket($u, AF_INET, SOCK_DGRAM, 0) ? 'yes' : 'no';
         print socket($v, AF_UNIX, SOCK_STREAM, 0) ? 'yes' : 'no'"
    ).into()];
    assert_eq!(run(plan).output, "yespongnonono");
    assert_eq!(&served.join().unwrap(), b"ping");
}

#[test]
fn k_350_a_socket_of_the_plan_can_be_connected_to() {
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
fn k_350_a_socket_of_the_host_in_a_mount_is_not_reached_by_any_name() {
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
fn k_350_a_name_that_is_exchanged_while_it_is_looked_at_leads_nowhere_else() {
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
fn k_350_processes_of_a_jail_with_a_socket_reach_each_other_and_not_by_datagrams() {
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
fn k_350_with_a_socket_and_egress_only_the_relay_is_reached_by_tcp() {
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

#[test]
fn k_337_too_much_memory_ends_the_jail() {
    let mut plan = script(
        "perl -e '$x = \"a\" x (40 << 20); sleep 5' & perl -e '$x = \"a\" x (40 << 20); sleep 5' & wait",
    );
    plan.limits.memory_bytes = Some(96 << 20);
    let ran = run(plan);
    assert_eq!(ran.how, How::Memory, "{}", ran.output);
    assert!(ran.ended.usage.peak_memory_bytes > 96 << 20);
}

#[test]
fn k_336_one_process_has_no_more_data_than_the_limit() {
    let mut plan = script("perl -e '$x = \"a\" x (100 << 20); print \"got it\"'");
    plan.limits.memory_bytes = Some(64 << 20);
    assert!(!run(plan).output.contains("got it"));
}

#[test]
fn k_336_there_are_no_more_processes_than_the_limit() {
    let mut plan = script(
        "i=0; while [ $i -lt 40 ]; do sleep 3 & i=$((i+1)); done; sleep 0.5; echo all of them",
    );
    plan.limits.processes = Some(8);
    let begin = Instant::now();
    let ran = run(plan);
    // An ordinary user's fork fails; root, for whom the kernel has no limit, is ended by the sample.
    assert!(
        !ran.output.contains("all of them"),
        "{:?} {}",
        ran.how,
        ran.output
    );
    assert!(begin.elapsed() < Duration::from_secs(3));
}

#[test]
fn k_336_a_file_grows_to_the_limit() {
    let ran = run(script(
        "head -c 5000000 /dev/zero > /tmp/a; stat -c %s /tmp/a",
    ));
    assert!(ran.output.contains("4194304"), "{}", ran.output);
}

#[test]
fn a_scratch_directory_is_full_at_its_limit() {
    let ran = run(script(
        "for i in 1 2 3 4; do head -c 4000000 /dev/zero > /tmp/$i; done; du -sk /tmp",
    ));
    let kibibytes: u32 = ran
        .output
        .split_whitespace()
        .rev()
        .nth(1)
        .unwrap()
        .parse()
        .unwrap();
    assert!(kibibytes <= 8192, "{}", ran.output);
}

#[test]
fn signals_do_not_leave_the_jail() {
    // To its group, to everybody, to init, to the launcher's number.
    let ran = run(script(
        "trap '' TERM; kill -TERM 0; kill -TERM 1; kill -KILL 1; kill -TERM -1; echo alive",
    ));
    assert_eq!(ran.how, How::Exited(0));
    assert!(ran.output.ends_with("alive\n"), "{}", ran.output);
}

#[test]
fn no_set_user_id_file_is_left_in_a_directory_of_the_host() {
    let directory = tempfile::tempdir().unwrap();
    let plan = |text: &str| {
        let mut plan = script(text);
        plan.mounts = vec![Mount {
            source: source(&directory),
            at: inside("/site"),
            access: Access::ReadWrite,
            executable: true,
        }];
        plan
    };
    let attempts = [
        "cp /bin/sh /site/a && chmod 4755 /site/a",
        "cp /bin/sh /site/b && chmod g+s /site/b",
        "mkdir -m 2755 /site/c",
        "perl -e 'use Fcntl; sysopen(F, \"/site/d\", O_CREAT|O_WRONLY, 04755) or exit 1'",
        "mkfifo -m 4644 /site/e",
    ];
    assert_eq!(try_each(plan, &attempts), ["no"; 5]);
    assert_eq!(
        try_each(
            plan,
            &[
                "chmod 700 /site/a",
                "perl -e 'use Fcntl; sysopen(F, \"/site/f\", O_CREAT|O_WRONLY, 0755) or exit 1'"
            ]
        ),
        ["yes"; 2]
    );
    for entry in fs::read_dir(directory.path()).unwrap() {
        let mode = std::os::unix::fs::PermissionsExt::mode(
            &entry.unwrap().metadata().unwrap().permissions(),
        );
        assert_eq!(mode & 0o6000, 0);
    }
}

#[test]
fn k_347_all_layers_hold_here() {
    let layers = hydrant_jail::layers(
        &Launcher::at(env!("CARGO_BIN_EXE_jail-try")),
        &["/site".into()],
    );
    let names: Vec<_> = layers.iter().map(|layer| layer.name.as_str()).collect();
    let expected = [
        "userns",
        "mount",
        "pid",
        "net",
        "privileges",
        "landlock",
        "seccomp",
        "rlimits",
        "memory",
        "egress",
    ];
    assert_eq!(names, expected, "{layers:?}");
    assert!(
        layers
            .iter()
            .all(|layer| layer.state == hydrant_jail::LayerState::Ok),
        "{layers:?}"
    );
}
