//! Leaving something to the program that runs next in the same jail: what `leave_…` leaves, `meet_…` finds. The first
//! always ends with status 1; the escape succeeded when the second one finds it.

use std::fs;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::path::Path;
use std::time::Duration;

use crate::outcome::{Arguments, Failure, Outcome, clean};
use crate::raw::{Side, Word, call, fork, ignore};

/// The attempts of this file.
pub(crate) const ATTEMPTS: &[(&str, crate::Run)] = &[
    ("leave_process", leave_process),
    ("meet_process", meet_process),
    ("leave_file", leave_file),
    ("meet_file", meet_file),
    ("leave_socket", leave_socket),
    ("meet_socket", meet_socket),
    ("leave_mount", leave_mount),
    ("meet_mount", meet_mount),
    ("leave_priority", leave_priority),
    ("meet_priority", meet_priority),
];

/// How long what is left behind lives.
const LIFE: Duration = Duration::from_secs(2);

const NAME: &str = "left-behind";

/// A niceness that nobody has by chance.
const NICE: i64 = 7;

/// A process in its own session, without a parent, deaf to every signal that can be ignored.
fn leave_process(_: &Arguments) -> Outcome {
    outlive(|| std::thread::sleep(LIFE))?;
    clean("left")
}

/// Any process that was started as [`leave_process`].
fn meet_process(_: &Arguments) -> Outcome {
    for entry in fs::read_dir("/proc")?.flatten() {
        let command = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        if command.windows(13).any(|part| part == b"leave_process") {
            return Ok(entry.file_name().to_string_lossy().into_owned());
        }
    }
    clean("nobody")
}

/// `DIRECTORY…`: a file in each of them that takes one.
fn leave_file(arguments: &Arguments) -> Outcome {
    for directory in &arguments.0 {
        fs::write(Path::new(directory).join(NAME), "").ok();
    }
    clean("left")
}

fn meet_file(arguments: &Arguments) -> Outcome {
    let left = |directory: &&String| Path::new(directory).join(NAME).exists();
    match arguments.0.iter().find(left) {
        Some(directory) => Ok(directory.clone()),
        None => clean("nothing"),
    }
}

/// An abstract socket that somebody listens on, as there is no directory for one with a path.
fn leave_socket(_: &Arguments) -> Outcome {
    let bound = SocketAddr::from_abstract_name(NAME).and_then(|at| UnixListener::bind_addr(&at));
    if let Ok(listener) = bound {
        outlive(move || {
            listener.accept().ok();
        })?;
    }
    clean("left")
}

fn meet_socket(_: &Arguments) -> Outcome {
    let connected =
        SocketAddr::from_abstract_name(NAME).and_then(|at| UnixStream::connect_addr(&at));
    connected?;
    Ok("connected".to_owned())
}

/// `DIRECTORY`: a file system over it.
fn leave_mount(arguments: &Arguments) -> Outcome {
    let (kind, at) = (c"tmpfs", arguments.c_text(0)?);
    call(
        libc::SYS_mount,
        &mut [
            Word::Text(kind),
            Word::Text(&at),
            Word::Text(kind),
            Word::Number(0),
            Word::Null,
        ],
    )
    .ok();
    clean("left")
}

fn meet_mount(arguments: &Arguments) -> Outcome {
    let at = arguments.text(0)?;
    let mounts = fs::read_to_string("/proc/self/mountinfo")?;
    let found = |line: &&str| line.split(' ').nth(4) == Some(at) && line.contains(" - tmpfs ");
    match mounts.lines().find(found) {
        Some(line) => Ok(line.to_owned()),
        None => clean("not mounted"),
    }
}

/// `PROCESS`: a niceness for the process that starts the next one, which that one inherits.
fn leave_priority(arguments: &Arguments) -> Outcome {
    let process = || arguments.number::<i64>(0).map(Word::Number);
    let processors = 1_u64.to_ne_bytes();
    call(
        libc::SYS_setpriority,
        &mut [Word::Number(0), process()?, Word::Number(NICE)],
    )
    .ok();
    call(
        libc::SYS_sched_setaffinity,
        &mut [process()?, Word::Number(8), Word::Bytes(&processors)],
    )
    .ok();
    clean("left")
}

fn meet_priority(_: &Arguments) -> Outcome {
    // The kernel answers 20 minus the niceness.
    match call(
        libc::SYS_getpriority,
        &mut [Word::Number(0), Word::Number(0)],
    )? {
        raised if raised == 20 - NICE => Ok(format!("niceness {NICE}")),
        _ => clean("as before"),
    }
}

/// Does this in a grandchild that nobody waits for.
fn outlive(what: impl FnOnce()) -> Result<(), Failure> {
    if let Side::Parent(_) = fork()? {
        return Ok(());
    }
    call(libc::SYS_setsid, &mut []).ok();
    (1..=31).for_each(ignore);
    if let Side::Child = fork()? {
        what();
    }
    std::process::exit(0)
}
