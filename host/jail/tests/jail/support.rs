//! What the tests start: scripts in the usual jail.

use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::Duration;

use hydrant_jail::{
    Ended, How, InsidePath, Launcher, Limits, Plan, Program, Scratch, StartError, Streams,
};
use rustix::fs::{Mode, OFlags};

pub(crate) fn inside(path: &str) -> InsidePath {
    InsidePath::new(path).unwrap()
}

pub(crate) fn source(path: impl AsRef<Path>) -> OwnedFd {
    rustix::fs::open(path.as_ref(), OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).unwrap()
}

/// A shell script in the usual jail.
pub(crate) fn script(text: &str) -> Plan {
    Plan {
        environment: vec![("PATH".into(), "/usr/bin:/bin".into())],
        directory: inside("/tmp"),
        scratch: vec![Scratch {
            at: inside("/tmp"),
            bytes: 8 << 20,
            inodes: 1000,
            executable: false,
        }],
        limits: Limits {
            wall: Some(Duration::from_secs(10)),
            grace: None,
            cpu_seconds: Some(5),
            memory_bytes: Some(256 << 20),
            processes: Some(32),
            file_bytes: Some(4 << 20),
            open_files: Some(64),
        },
        ..Plan::new(
            Program::Path(inside("/bin/sh")),
            vec!["sh".into(), "-c".into(), text.into()],
        )
    }
}

pub(crate) struct Ran {
    pub(crate) how: How,
    pub(crate) ended: Ended,
    pub(crate) output: String,
}

pub(crate) fn start(plan: Plan, input: &str) -> Result<Ran, StartError> {
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

pub(crate) fn run(plan: Plan) -> Ran {
    start(plan, "").unwrap()
}

/// Each line of the script that fails prints `no`, others `yes`.
pub(crate) fn try_each(plan: impl Fn(&str) -> Plan, attempts: &[&str]) -> Vec<String> {
    let lines = attempts
        .iter()
        .map(|line| format!("if ({line}) >/dev/null 2>&1; then echo yes; else echo no; fi\n"));
    let ran = run(plan(&lines.collect::<String>()));
    assert_eq!(ran.how, How::Exited(0), "{}", ran.output);
    ran.output.lines().map(ToOwned::to_owned).collect()
}
