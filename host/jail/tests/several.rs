//! Several programs in one jail, one after the other; launchers that are prepared or tested before.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic)]

use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

use hydrant_jail::{
    Access, Ended, Finished, How, Idle, InsidePath, Jailed, Launcher, Limits, Mount, Network, Plan,
    Program, StartError, Step, Streams, Turn,
};
use rustix::fs::{Mode, OFlags};

fn inside(path: &str) -> InsidePath {
    InsidePath::new(path).unwrap()
}

fn launcher() -> Launcher {
    Launcher::at(env!("CARGO_BIN_EXE_jail-try"))
}

/// A shell in a jail in which nothing can be written.
fn script(text: &str) -> Plan {
    let turn = turn(text);
    Plan {
        program: Program::Path(inside("/bin/sh")),
        arguments: turn.arguments,
        environment: turn.environment,
        directory: inside("/"),
        mounts: vec![],
        system: true,
        scratch: vec![],
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
        pins: vec![],
        arguments: vec!["sh".into(), "-c".into(), text.into()],
        environment: vec![("PATH".into(), "/usr/bin:/bin".into())],
        wall: Some(Duration::from_secs(10)),
    }
}

/// Runs one program to its end.
fn finish(
    start: impl FnOnce(Streams) -> Result<Jailed, StartError>,
) -> (Ended, String, Option<Idle>) {
    let (mut reader, writer) = std::io::pipe().unwrap();
    let streams = Streams {
        stdout: Some(writer.into()),
        ..Streams::default()
    };
    let Finished { ended, idle, .. } = start(streams).unwrap().finish().unwrap();
    let mut output = String::new();
    reader.read_to_string(&mut output).unwrap();
    (ended, output, idle)
}

#[test]
fn each_program_has_its_own_words_and_streams() {
    let first = |streams| launcher().start_several(script("echo first; exit 3"), vec![], streams);
    let (ended, output, idle) = finish(first);
    assert_eq!((ended.how, output.as_str()), (How::Exited(3), "first\n"));
    let mut second = turn("echo \"$1 $NAME\"; kill -TERM $$");
    second.arguments.extend(["sh".into(), "second".into()]);
    second.environment.push(("NAME".into(), "named".into()));
    let (ended, output, idle) = finish(|streams| idle.unwrap().start(second, streams));
    assert_eq!(ended.how, How::Signaled(15));
    assert_eq!(output, "second named\n");
    let third = turn("echo \"third $NAME\"");
    let (ended, output, _) = finish(|streams| idle.unwrap().start(third, streams));
    assert_eq!((ended.how, output.as_str()), (How::Exited(0), "third \n"));
}

#[test]
fn usage_is_each_programs_own() {
    let busy = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done";
    let (busy, _, idle) = finish(|streams| launcher().start_several(script(busy), vec![], streams));
    let (short, _, _) = finish(|streams| idle.unwrap().start(turn("true"), streams));
    assert!(
        short.usage.cpu * 2 < busy.usage.cpu,
        "{busy:?} and {short:?}"
    );
}

#[test]
fn each_program_is_as_confined_as_the_first() {
    let attempts = "grep -E '^(Cap(Inh|Prm|Eff|Bnd|Amb)|NoNewPrivs|Seccomp):' /proc/self/status; \
        ulimit -n; ulimit -u; cat /proc/1/environ /proc/1/maps 2>&1 | head -c 20; \
        (echo x > /tmp/x) 2>&1; ls /proc/self/fd | wc -l; unshare -r true 2>&1; echo $$ > /dev/null";
    let (_, first, idle) =
        finish(|streams| launcher().start_several(script(attempts), vec![], streams));
    let (_, second, _) = finish(|streams| idle.unwrap().start(turn(attempts), streams));
    assert_eq!(first, second);
    assert!(first.contains("Seccomp:\t2") && first.contains("CapBnd:\t0000000000000000"));
}

#[test]
fn the_second_program_has_its_own_time_and_ends_the_jail_with_it() {
    let (_, _, idle) = finish(|streams| launcher().start_several(script("true"), vec![], streams));
    let hurried = Turn {
        wall: Some(Duration::from_millis(200)),
        ..turn("sleep 5")
    };
    let start = Instant::now();
    let (ended, _, _) = finish(|streams| idle.unwrap().start(hurried, streams));
    assert_eq!(ended.how, How::TimedOut);
    assert!(start.elapsed() < Duration::from_secs(3));
}

#[test]
fn the_second_program_is_sampled() {
    let (_, _, idle) = finish(|streams| launcher().start_several(script("true"), vec![], streams));
    let many = "for i in 1 2 3 4; do perl -e '$x = \"a\" x (80 << 20); sleep 8' & done; wait";
    let (ended, _, idle) = finish(|streams| idle.unwrap().start(turn(many), streams));
    assert_eq!(ended.how, How::Memory);
    assert!(idle.is_none(), "a jail that was killed is not kept");
}

#[test]
fn a_program_that_is_killed_ends_the_jail() {
    let mut jailed = launcher()
        .start_several(script("sleep 10"), vec![], Streams::default())
        .unwrap();
    jailed.kill();
    let Finished { ended, idle, .. } = jailed.finish().unwrap();
    assert_eq!(ended.how, How::Signaled(9));
    assert!(idle.is_none());
}

#[test]
fn a_jail_for_one_program_is_not_kept() {
    let (_, _, idle) = finish(|streams| launcher().start(script("true"), streams));
    assert!(idle.is_none());
}

#[test]
fn a_launcher_that_was_prepared_makes_the_same_jail() {
    let what = "stat -c '%A %u %g %t %T %n' /* /dev/*; cut -d' ' -f4- /proc/self/mountinfo; \
        cat /proc/net/dev; id; hostname";
    let launcher = launcher();
    let (_, usual, _) = finish(|streams| launcher.start(script(what), streams));
    launcher.prepare();
    let (ended, prepared, _) = finish(|streams| launcher.start(script(what), streams));
    assert_eq!(ended.how, How::Exited(0));
    assert_eq!(usual, prepared);
    // One that nobody uses ends with its launcher, or after it.
    launcher.prepare();
}

#[test]
fn a_launcher_that_fails_its_test_starts_nothing() {
    // It answers nothing at all, as no jail does.
    let broken = Launcher::at("/bin/true").checked();
    for _ in 0..2 {
        let Err(StartError::Refused(refused)) = broken.start(script("true"), Streams::default())
        else {
            panic!("started");
        };
        assert_eq!(refused.step, Step::SelfTest);
        assert!(refused.is_of_a_layer());
    }
    let sound = launcher().checked();
    for _ in 0..2 {
        let (ended, _, _) = finish(|streams| sound.start(script("true"), streams));
        assert_eq!(ended.how, How::Exited(0));
    }
}

#[test]
fn what_the_plan_names_is_its_fault_and_not_a_layers() {
    let directory = tempfile::tempdir().unwrap();
    let locked = directory.path().join("locked");
    std::fs::create_dir(&locked).unwrap();
    let mount = |at: &str| Mount {
        source: open(&locked),
        at: inside(at),
        access: Access::ReadOnly,
        executable: false,
    };
    let refused = |plan: Plan| {
        let started = Instant::now();
        let Err(StartError::Refused(refused)) = launcher().start(plan, Streams::default()) else {
            panic!("started");
        };
        assert!(started.elapsed() < Duration::from_secs(5));
        assert_eq!(refused.step, Step::Plan, "{refused}");
        assert!(!refused.is_of_a_layer());
        refused.reason
    };
    let many = Plan {
        mounts: (0..260)
            .map(|number| mount(&format!("/m{number}")))
            .collect(),
        ..script("true")
    };
    assert!(refused(many).starts_with("260 mounts"));
    // As is for root's user a directory of somebody else.
    std::fs::set_permissions(&locked, PermissionsExt::from_mode(0o000)).unwrap();
    let plan = Plan {
        mounts: vec![mount("/locked")],
        directory: inside("/locked"),
        ..script("true")
    };
    assert!(refused(plan).contains("enter /locked: Permission denied"));
}

fn open(path: &Path) -> std::os::fd::OwnedFd {
    rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).unwrap()
}
