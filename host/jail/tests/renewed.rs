//! Several programs in one jail that has scratch directories and pinned files: each finds it as the first one did.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic)]

use std::fs;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use hydrant_jail::{
    Access, File, Finished, How, Idle, InsidePath, Jailed, Launcher, Limits, Mount, Network, Pin,
    Plan, Program, Scratch, StartError, Step, Streams, Turn,
};
use rustix::fs::{Mode, OFlags};

fn inside(path: &str) -> InsidePath {
    InsidePath::new(path).unwrap()
}

fn launcher() -> Launcher {
    Launcher::at(env!("CARGO_BIN_EXE_jail-try"))
}

fn opened(path: &Path) -> OwnedFd {
    rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).unwrap()
}

/// A shell that works in a scratch directory and sees `root` as `/os`.
fn plan(root: &Path, text: &str) -> Plan {
    let turn = turn(text);
    Plan {
        program: Program::Path(inside("/bin/sh")),
        arguments: turn.arguments,
        environment: turn.environment,
        directory: inside("/scratch"),
        mounts: vec![Mount {
            source: opened(root),
            at: inside("/os"),
            access: Access::ReadOnly,
            executable: true,
        }],
        system: true,
        scratch: vec![Scratch {
            at: inside("/scratch"),
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
            wall: turn.wall,
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

fn turn(text: &str) -> Turn {
    Turn {
        program: None,
        arguments: vec!["sh".into(), "-c".into(), text.into()],
        environment: vec![("PATH".into(), "/usr/bin:/bin".into())],
        wall: Some(Duration::from_secs(10)),
        pins: vec![],
    }
}

/// Runs one program to its end.
fn finish(
    start: impl FnOnce(Streams) -> Result<Jailed, StartError>,
) -> (How, String, Option<Idle>) {
    let (mut reader, writer) = std::io::pipe().unwrap();
    let streams = Streams {
        stdout: Some(writer.into()),
        ..Streams::default()
    };
    let Finished { ended, idle, .. } = start(streams).unwrap().finish().unwrap();
    let mut output = String::new();
    reader.read_to_string(&mut output).unwrap();
    (ended.how, output, idle)
}

/// What `look` answers after `leave` has run in the same jail, and what it answers as the first one in a jail.
fn after_and_first(leave: &str, look: &str) -> (String, String) {
    let root = tempfile::tempdir().unwrap();
    fs::write(root.path().join("file"), "x").unwrap();
    let (how, _, idle) =
        finish(|streams| launcher().start_several(plan(root.path(), leave), vec![], streams));
    assert_eq!(how, How::Exited(0));
    let (_, after, _) = finish(|streams| idle.unwrap().start(turn(look), streams));
    let (_, first, _) =
        finish(|streams| launcher().start_several(plan(root.path(), look), vec![], streams));
    (after, first)
}

#[test]
fn the_scratch_directory_of_the_next_program_is_new() {
    let leave = "echo secret > f; mkdir -p a/b; mkfifo p; ln -s f l; chmod 0 a; touch -d 2001-01-01 .; chmod 0500 .; pwd";
    let look = "pwd; ls -lan; stat -c '%a %u %g %h %s %i' .; df --output=used,iused . | tail -1; echo new > f && cat f";
    let (after, first) = after_and_first(leave, look);
    // The time of its making is its own.
    let timeless = |text: &str| {
        text.lines()
            .filter(|line| !line.ends_with(" .") && !line.ends_with(" .."))
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(timeless(&after), timeless(&first));
    assert!(after.ends_with("new\n"), "{after}");
}

#[test]
fn no_process_of_the_last_program_is_left_and_numbers_begin_anew() {
    let leave = "for i in 1 2 3 4 5 6 7 8 9; do setsid sh -c 'trap \"\" TERM HUP; sleep 60' & done; sleep 0.1";
    let look = "echo $$; sh -c 'echo $$'; ls /proc | grep '^[0-9]' | head -1; cat /proc/1/stat 2>&1; ps ax 2>/dev/null | wc -l";
    let (after, first) = after_and_first(leave, look);
    assert_eq!(after, first);
    assert!(after.starts_with("2\n3\n2\n"), "{after}");
}

#[test]
fn no_shared_memory_queue_or_semaphore_is_left() {
    let leave = "ipcmk -M 4096; ipcmk -Q; ipcmk -S 1; echo x > /dev/shm/x; true";
    let look = "ipcs -m 2>&1; ipcs -q 2>&1; ipcs -s 2>&1; ls -A /dev/shm /dev/mqueue 2>&1";
    let (after, first) = after_and_first(leave, look);
    assert_eq!(after, first);
}

#[test]
fn no_lock_is_left() {
    let leave = "exec 9</os/file; flock -x 9; setsid sleep 60 & exit 0";
    let look = "exec 9</os/file; flock -n -x 9 && echo free; cat /proc/locks 2>&1";
    let (after, first) = after_and_first(leave, look);
    assert!(after.starts_with("free\n"), "{after}");
    assert_eq!(after, first);
}

#[test]
fn environment_directory_and_limits_are_those_of_the_plan() {
    let leave =
        "export LEFT=x; cd /usr; umask 077; ulimit -n 10; ulimit -t 3; nice -n 5 true; true";
    let look = "env; pwd; umask; ulimit -a; nice; id; cat /proc/self/status | grep -E '^(Cap|NoNew|Seccomp|Uid|Groups)'; cut -d' ' -f5- /proc/self/mountinfo; ls -l /proc/self/fd | wc -l";
    let (after, first) = after_and_first(leave, look);
    // Numbers of devices are given out by the whole machine.
    assert_eq!(after, first);
    assert!(
        after.contains(
            "CapPrm:\t0000000000000000\nCapEff:\t0000000000000000\nCapBnd:\t0000000000000000"
        ),
        "{after}"
    );
}

#[test]
fn the_first_program_cannot_mount_either() {
    let look = "mount -t tmpfs t /scratch 2>&1; umount /scratch 2>&1; umount -l /os 2>&1; unshare -m true 2>&1; touch /scratch/x && echo still";
    let (after, first) = after_and_first(look, look);
    assert_eq!(after, first);
    assert!(after.ends_with("still\n"), "{after}");
}

fn tool(root: &Path, name: &str, says: &str) {
    let path = root.join(name);
    fs::write(&path, format!("#!/bin/sh\necho {says} $0; pwd\n")).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

fn pinned(root: &Path, name: &str) -> (Option<InsidePath>, Vec<Pin>) {
    let at = inside(&format!("/os/{name}"));
    let pin = Pin {
        file: opened(&root.join(name)),
        at: at.clone(),
        executable: true,
    };
    (Some(at), vec![pin])
}

#[test]
fn each_program_is_the_file_that_was_opened() {
    let root = tempfile::tempdir().unwrap();
    let root = root.path();
    tool(root, "one", "one");
    tool(root, "two", "two");
    let (at, pins) = pinned(root, "one");
    let first = Plan {
        program: Program::Path(at.unwrap()),
        arguments: vec!["/os/one".into()],
        ..plan(root, "")
    };
    let (how, output, idle) = finish(|streams| launcher().start_several(first, pins, streams));
    assert_eq!(
        (how, output.as_str()),
        (How::Exited(0), "one /os/one\n/scratch\n")
    );
    let (program, pins) = pinned(root, "two");
    let second = Turn {
        program,
        arguments: vec!["/os/two".into()],
        pins,
        ..turn("")
    };
    let (how, output, idle) = finish(|streams| idle.unwrap().start(second, streams));
    assert_eq!(
        (how, output.as_str()),
        (How::Exited(0), "two /os/two\n/scratch\n")
    );
    // Another file under the name of the one that was opened.
    let (program, pins) = pinned(root, "one");
    fs::remove_file(root.join("one")).unwrap();
    tool(root, "one", "other");
    let third = Turn {
        program,
        arguments: vec!["/os/one".into()],
        pins,
        ..turn("")
    };
    let refused = idle.unwrap().start(third, Streams::default());
    assert!(
        matches!(&refused, Err(StartError::Refused(refused)) if refused.step == Step::Plan),
        "{refused:?}"
    );
}

#[test]
fn after_one_that_was_killed_the_jail_is_not_used_again() {
    let root = tempfile::tempdir().unwrap();
    let mut greedy = plan(root.path(), "sleep 10");
    greedy.limits.wall = Some(Duration::from_millis(200));
    let (how, _, idle) = finish(|streams| launcher().start_several(greedy, vec![], streams));
    assert_eq!(how, How::TimedOut);
    // Its time was up, and it was killed by init, which can start another.
    let (how, _, _) = finish(|streams| idle.unwrap().start(turn("true"), streams));
    assert_eq!(how, How::Exited(0));
    let plan = plan(root.path(), "sleep 10");
    let mut jailed = launcher()
        .start_several(plan, vec![], Streams::default())
        .unwrap();
    jailed.kill();
    assert!(jailed.finish().unwrap().idle.is_none());
}

#[test]
fn what_would_not_be_there_for_the_next_program_is_refused() {
    let root = tempfile::tempdir().unwrap();
    let mut with_file = plan(root.path(), "true");
    with_file.files.push(File {
        at: inside("/scratch/file"),
        bytes: vec![],
        mode: 0o444,
    });
    let mut writable = plan(root.path(), "true");
    for mount in &mut writable.mounts {
        mount.access = Access::ReadWrite;
    }
    for plan in [with_file, writable] {
        let started = launcher().start_several(plan, vec![], Streams::default());
        assert!(
            matches!(started, Err(StartError::Refused(refused)) if refused.step == Step::Protocol)
        );
    }
}
