//! The process that launchers are forked from: it ends with its host, its jails end with it, and none of them sees it.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::HashSet;
use std::fs;
use std::io::Read;
use std::process::{Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use hydrant_jail::{
    How, InsidePath, Jailed, Launcher, Limits, Network, Plan, Program, Scratch, Streams,
};
use rustix::process::{Pid, Signal, kill_process};

/// One launcher at a time in this process, so that the zygote among its children is that one's.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn inside(path: &str) -> InsidePath {
    InsidePath::new(path).unwrap()
}

fn launcher() -> Launcher {
    Launcher::at(env!("CARGO_BIN_EXE_jail-try"))
}

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
            bytes: 1 << 20,
            inodes: 100,
            executable: false,
        }],
        files: vec![],
        links: vec![],
        execute: vec![],
        network: Network::None,
        sockets: vec![],
        limits: Limits {
            wall: Some(Duration::from_secs(60)),
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

fn start(launcher: &Launcher, text: &str) -> (Jailed, std::io::PipeReader) {
    let (reader, writer) = std::io::pipe().unwrap();
    let streams = Streams {
        stdout: Some(writer.into()),
        ..Streams::default()
    };
    (launcher.start(script(text), streams).unwrap(), reader)
}

fn output(launcher: &Launcher, text: &str) -> String {
    let (jailed, mut reader) = start(launcher, text);
    assert_eq!(jailed.wait().unwrap().how, How::Exited(0));
    let mut output = String::new();
    reader.read_to_string(&mut output).unwrap();
    output
}

/// Children of all threads of a process, and theirs.
fn below(process: u32) -> HashSet<u32> {
    let mut found = HashSet::new();
    let tasks = fs::read_dir(format!("/proc/{process}/task"));
    for task in tasks.into_iter().flatten().flatten() {
        let children = fs::read_to_string(task.path().join("children")).unwrap_or_default();
        for child in children.split_ascii_whitespace() {
            let child = child.parse().unwrap();
            found.insert(child);
            found.extend(below(child));
        }
    }
    found
}

fn is_zygote_of(process: u32, host: u32) -> bool {
    let line = fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    line == b"hydrant-jail\0" && status.contains(&format!("\nPPid:\t{host}\n"))
}

fn zygote_of(host: u32) -> u32 {
    let mut found = below(host).into_iter();
    found.find(|process| is_zygote_of(*process, host)).unwrap()
}

fn kill(process: u32) {
    let process = Pid::from_raw(process.try_into().unwrap()).unwrap();
    kill_process(process, Signal::KILL).unwrap();
}

/// Gone, or dead and not yet collected by whoever has to.
fn is_gone(process: u32) -> bool {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    status.is_empty() || status.contains("State:\tZ")
}

fn assert_gone(processes: &HashSet<u32>) {
    let start = Instant::now();
    while !processes.iter().all(|process| is_gone(*process)) {
        assert!(start.elapsed() < Duration::from_secs(10), "{processes:?}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn the_zygote_and_its_jails_end_when_the_host_is_killed() {
    let _alone = alone();
    let directory = tempfile::tempdir().unwrap();
    let plan = directory.path().join("plan.json");
    let text =
        r#"{"program":{"path":"/bin/sh"},"arguments":["sh","-c","sleep 60 & echo runs; wait"]}"#;
    fs::write(&plan, text).unwrap();
    let mut host = Command::new(env!("CARGO_BIN_EXE_jail-try"))
        .arg(&plan)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut word = [0; 5];
    host.stdout.take().unwrap().read_exact(&mut word).unwrap();
    let processes = below(host.id());
    let zygote = zygote_of(host.id());
    // Zygote, launcher, init, shell, sleep.
    assert!(
        processes.len() >= 5 && processes.contains(&zygote),
        "{processes:?}"
    );
    kill(host.id());
    host.wait().unwrap();
    assert_gone(&processes);
}

#[test]
fn with_a_zygote_that_is_killed_its_jails_end_and_the_next_one_has_another() {
    let _alone = alone();
    let launcher = launcher();
    let (jailed, mut reader) = start(&launcher, "sleep 60 & echo runs; wait");
    let mut word = [0; 5];
    reader.read_exact(&mut word).unwrap();
    let zygote = zygote_of(std::process::id());
    let processes = below(zygote);
    assert!(processes.len() >= 4, "{processes:?}");
    kill(zygote);
    // Nobody says how it ended.
    assert!(jailed.wait().is_err());
    assert_gone(&processes);
    assert_eq!(output(&launcher, "echo again"), "again\n");
    assert_ne!(zygote_of(std::process::id()), zygote);
}

#[test]
fn what_a_killed_zygote_had_prepared_is_not_used() {
    let _alone = alone();
    let launcher = launcher();
    assert_eq!(output(&launcher, "echo first"), "first\n");
    launcher.prepare();
    let zygote = zygote_of(std::process::id());
    kill(zygote);
    assert_gone(&HashSet::from([zygote]));
    assert_eq!(output(&launcher, "echo again"), "again\n");
}

#[test]
fn jails_of_one_zygote_share_no_namespace_and_see_nobody() {
    let _alone = alone();
    let launcher = launcher().ready();
    let look = "for n in user mnt pid net ipc uts; do readlink /proc/self/ns/$n; done; echo $$; ls /proc | grep '^[0-9]' | tr '\\n' ' '; ls /tmp; echo left > /tmp/left; sleep 0.3";
    let (first, mut one) = start(&launcher, look);
    let (second, mut two) = start(&launcher, look);
    let mut seen = [String::new(), String::new()];
    one.read_to_string(&mut seen[0]).unwrap();
    two.read_to_string(&mut seen[1]).unwrap();
    assert_eq!(first.wait().unwrap().how, How::Exited(0));
    assert_eq!(second.wait().unwrap().how, How::Exited(0));
    let third = output(&launcher, look);
    for lines in [&seen[0], &seen[1], &third] {
        let lines: Vec<&str> = lines.lines().collect();
        assert_eq!(lines.len(), 8, "{lines:?}");
        // Itself, init, and what it has started; and nothing in its directory.
        assert_eq!(lines[6], "2", "{lines:?}");
        let processes = lines[7].split(' ').filter(|one| !one.is_empty());
        assert!(
            processes
                .map(|one| one.parse::<u32>().unwrap())
                .all(|one| one < 12),
            "{lines:?}"
        );
    }
    // Those of the third may have the numbers of one that is gone.
    let namespaces = |text: &str| text.lines().take(6).map(str::to_owned).collect::<Vec<_>>();
    for (one, two) in namespaces(&seen[0]).iter().zip(&namespaces(&seen[1])) {
        assert_ne!(one, two);
    }
}

#[test]
fn the_zygote_has_nothing_of_the_host() {
    let _alone = alone();
    let launcher = launcher();
    assert_eq!(output(&launcher, "echo first"), "first\n");
    let zygote = zygote_of(std::process::id());
    let of = |name: &str| fs::read(format!("/proc/{zygote}/{name}")).unwrap_or_default();
    assert!(of("environ").is_empty());
    let status = String::from_utf8(of("status")).unwrap();
    assert!(status.contains("\nThreads:\t1\n"), "{status}");
    assert_eq!(
        fs::read_link(format!("/proc/{zygote}/cwd"))
            .unwrap()
            .to_str(),
        Some("/")
    );
    // The socket, two streams that are nothing, who the host is, and who has ended.
    let descriptors: Vec<_> = fs::read_dir(format!("/proc/{zygote}/fd"))
        .unwrap()
        .map(|entry| fs::read_link(entry.unwrap().path()).unwrap())
        .collect();
    assert_eq!(descriptors.len(), 5, "{descriptors:?}");
    for descriptor in descriptors {
        let name = descriptor.to_str().unwrap().to_owned();
        let known = [
            "socket:",
            "/dev/null",
            "anon_inode:[signalfd]",
            "anon_inode:[pidfd]",
            "pidfd:",
        ];
        assert!(known.iter().any(|known| name.starts_with(known)), "{name}");
    }
    drop(launcher);
    assert!(is_gone(zygote));
}

#[test]
fn a_mount_that_comes_after_a_jail_was_prepared_is_seen() {
    let _alone = alone();
    let launcher = launcher();
    launcher.prepare();
    std::thread::sleep(Duration::from_millis(50));
    let directory = tempfile::tempdir().unwrap();
    let mount = |arguments: &[&str]| {
        let path = directory.path().to_str().unwrap();
        let status = Command::new(arguments[0])
            .args(&arguments[1..])
            .arg(path)
            .status();
        status.is_ok_and(|status| status.success())
    };
    if !mount(&["mount", "-t", "tmpfs", "none"]) {
        // Only root's user may.
        return;
    }
    fs::write(directory.path().join("file"), "new").unwrap();
    let mut plan = script("cat /os/file");
    let source = rustix::fs::open(
        directory.path(),
        rustix::fs::OFlags::PATH | rustix::fs::OFlags::CLOEXEC,
        rustix::fs::Mode::empty(),
    );
    plan.mounts.push(hydrant_jail::Mount {
        source: source.unwrap(),
        at: inside("/os"),
        access: hydrant_jail::Access::ReadOnly,
        executable: false,
    });
    let (mut reader, writer) = std::io::pipe().unwrap();
    let streams = Streams {
        stdout: Some(writer.into()),
        ..Streams::default()
    };
    let started = launcher.start(plan, streams);
    let ended = started.map(|jailed| jailed.wait().unwrap().how);
    drop(launcher);
    assert!(mount(&["umount", "-l"]));
    assert_eq!(ended.unwrap(), How::Exited(0));
    let mut output = String::new();
    reader.read_to_string(&mut output).unwrap();
    assert_eq!(output, "new");
}
