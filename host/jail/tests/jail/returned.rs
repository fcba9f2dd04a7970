//! A directory that a program leaves, and files that are too large for a message.

use std::fs;
use std::io::Read;
use std::os::fd::{AsRawFd, OwnedFd};

use hydrant_jail::{Ended, File, How, Launcher, Plan, Scratch, StartError, Step, Streams};

use crate::support::{inside, run, script};

fn returning(plan: Plan) -> Result<(Ended, OwnedFd), StartError> {
    let launcher = Launcher::at(env!("CARGO_BIN_EXE_jail-try"));
    let jailed = launcher.start_returning(plan, Streams::default(), inside("/output"))?;
    let finished = jailed.finish().unwrap();
    Ok((finished.ended, finished.directory.unwrap()))
}

fn with_output(text: &str) -> Plan {
    let mut plan = script(text);
    plan.scratch.push(Scratch {
        at: inside("/output"),
        bytes: 1 << 20,
        inodes: 100,
        executable: false,
    });
    plan
}

/// By way of the descriptor.
fn read(directory: &OwnedFd, name: &str) -> std::io::Result<String> {
    fs::read_to_string(format!("/proc/self/fd/{}/{name}", directory.as_raw_fd()))
}

#[test]
fn a_scratch_directory_outlives_the_jail() {
    let (ended, directory) =
        returning(with_output("mkdir /output/d && echo x >/output/d/a")).unwrap();
    assert_eq!(ended.how, How::Exited(0));
    assert_eq!(read(&directory, "d/a").unwrap(), "x\n");
}

#[test]
fn what_the_program_does_to_the_directory_does_not_hide_it() {
    let (_, directory) = returning(with_output("echo x >/output/a; chmod 0 /output")).unwrap();
    let names = rustix::fs::Dir::read_from(&directory).unwrap();
    let names = names.map(|entry| entry.unwrap().file_name().to_owned());
    assert!(names.into_iter().any(|name| name.as_c_str() == c"a"));
}

#[test]
fn it_comes_back_of_a_program_that_was_ended_and_nobody_writes_to_it_any_more() {
    let mut plan = with_output(
        "(while :; do date +%N >>/output/a; done) & setsid sh -c 'while :; do date >>/output/b; done' & wait",
    );
    plan.limits.wall = Some(std::time::Duration::from_millis(300));
    let (ended, directory) = returning(plan).unwrap();
    assert_eq!(ended.how, How::TimedOut);
    let before = read(&directory, "a").unwrap();
    assert!(!before.is_empty());
    std::thread::sleep(std::time::Duration::from_millis(50));
    assert_eq!(read(&directory, "a").unwrap(), before);
}

#[test]
fn what_is_no_scratch_directory_is_not_returned() {
    for plan in [script("echo ran"), script("exit 0")] {
        let Err(StartError::Refused(refused)) = returning(plan) else {
            panic!("not refused")
        };
        assert_eq!(refused.step, Step::Protocol);
    }
}

#[test]
fn the_program_has_no_descriptor_of_the_directory() {
    let (_, directory) = returning(with_output("ls /proc/self/fd >/output/a")).unwrap();
    // 3 is the listing itself.
    assert_eq!(read(&directory, "a").unwrap(), "0\n1\n2\n3\n");
}

#[test]
fn files_may_be_longer_than_a_message() {
    let large: Vec<u8> = (0..3_u32 << 20)
        .map(|n| n.to_le_bytes()[0] ^ 0x5a)
        .collect();
    let file = |at: &str, bytes: &[u8]| File {
        at: inside(at),
        bytes: bytes.to_vec(),
        mode: 0o444,
    };
    let mut plan = script("cksum /input/*; cat /input/small; ls /proc/self/fd");
    plan.files = vec![
        file("/input/large", &large),
        file("/input/none", b""),
        file("/input/small", b"small\n"),
        file("/input/twice", &large),
    ];
    let on_host = tempfile::NamedTempFile::new().unwrap();
    fs::write(on_host.path(), &large).unwrap();
    let mut expected = String::new();
    std::process::Command::new("cksum")
        .stdin(fs::File::open(on_host.path()).unwrap())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap()
        .stdout
        .unwrap()
        .read_to_string(&mut expected)
        .unwrap();
    let sum = expected.trim();
    let ran = run(plan);
    let lines: Vec<_> = ran.output.lines().collect();
    assert_eq!(lines[0], format!("{sum} /input/large"));
    assert!(lines[1].ends_with(" 0 /input/none"), "{}", lines[1]);
    assert_eq!(lines[3], format!("{sum} /input/twice"));
    assert_eq!(lines[4..], ["small", "0", "1", "2", "3"]);
}
