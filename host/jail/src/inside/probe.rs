//! The probes of the self-test, as they run inside a jail. Each one tries what its layer forbids.
//!
//! Where two layers forbid the same thing a probe chooses what only its own one does: `unshare` of nothing needs no
//! privileges, so that only the filter can refuse it; a script in memory that is mounted for execution is refused only
//! by Landlock.

use std::fs;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use rustix::net::{AddressFamily, SocketType, socket};
use rustix::process::{Pid, Resource, getgid, getpid, getrlimit, getuid, test_kill_process};

use super::namespaces::NOBODY;
use super::system;
use crate::layers::{EXECUTABLE, MEMORY_BYTES, NAME, OPEN_FILES, PROGRAM, Probe, layer};
use crate::outcome::LayerState;
use crate::plan::EGRESS_PORT;

/// What was found, or what got through.
type Found = Result<String, String>;

/// Runs the probe that the first argument names; answers one line for each layer.
pub(super) fn run(probe: &str) -> io::Result<()> {
    match serde_json::from_str(probe)? {
        Probe::Usual {
            hidden,
            host_process,
            host_port,
        } => {
            say("userns", userns())?;
            say("mount", mount(&hidden))?;
            say("pid", pid(host_process))?;
            say("net", net(host_port))?;
            say("privileges", privileges())?;
            say("landlock", landlock())?;
            say("seccomp", seccomp())?;
            say("rlimits", rlimits())
        }
        Probe::Egress { host_port } => say("egress", egress(host_port)),
        Probe::Memory => use_too_much(),
        Probe::MemoryPart => {
            let used = vec![1_u8; usize::try_from(MEMORY_BYTES / 2).unwrap_or(0)];
            std::thread::sleep(Duration::from_secs(5));
            drop(std::hint::black_box(used));
            Ok(())
        }
    }
}

fn say(name: &str, found: Found) -> io::Result<()> {
    let (state, detail) = match found {
        Ok(detail) => (LayerState::Ok, detail),
        Err(detail) => (LayerState::Failed, detail),
    };
    writeln!(
        io::stdout(),
        "{}",
        serde_json::to_string(&layer(name, state, detail))?
    )
}

/// A failure if `got_through`.
fn refused(got_through: bool, what: impl std::fmt::Display) -> Result<(), String> {
    if got_through {
        Err(format!("possible: {what}"))
    } else {
        Ok(())
    }
}

fn userns() -> Found {
    refused(
        getuid().as_raw() != NOBODY || getgid().as_raw() != NOBODY,
        "being another user",
    )?;
    // There is no other number in this namespace.
    refused(
        rustix::thread::set_thread_uid(rustix::process::Uid::from_raw(0)).is_ok(),
        "becoming user 0",
    )?;
    Ok(format!("user {NOBODY}"))
}

fn mount(hidden: &[PathBuf]) -> Found {
    let usual = ["/etc/shadow", "/root", "/home", "/sys", "/proc/sys", "/var"].map(PathBuf::from);
    for path in usual.iter().chain(hidden) {
        refused(
            fs::symlink_metadata(path).is_ok(),
            format_args!("seeing {}", path.display()),
        )?;
    }
    for directory in ["/", "/usr", "/etc", "/dev", "/run"] {
        refused(
            fs::write(Path::new(directory).join("probe"), "").is_ok(),
            format_args!("writing to {directory}"),
        )?;
    }
    fs::write("/tmp/probe", "x").map_err(|error| format!("scratch cannot be written: {error}"))?;
    let processes = Path::new("/proc/self").exists();
    Ok(if processes {
        "own root"
    } else {
        "own root, no /proc"
    }
    .to_owned())
}

/// Numbers that the jail's own processes may have.
const YOUNG: i32 = 16;

fn pid(host_process: u32) -> Found {
    let own = getpid().as_raw_nonzero().get();
    refused(own > YOUNG, "having a number of the host's")?;
    // In a container the host may have such a number itself, and then nothing can be said about it.
    if let Some(host) = i32::try_from(host_process)
        .ok()
        .filter(|number| *number > YOUNG)
        .and_then(Pid::from_raw)
    {
        refused(
            test_kill_process(host) != Err(rustix::io::Errno::SRCH),
            "seeing the host's process",
        )?;
    }
    Ok(format!("process {own}"))
}

fn net(host_port: u16) -> Found {
    refused(
        TcpStream::connect((Ipv4Addr::LOCALHOST, host_port)).is_ok(),
        "TCP to the host",
    )?;
    for (family, kind, what) in [
        (AddressFamily::INET, SocketType::STREAM, "a TCP socket"),
        (AddressFamily::INET, SocketType::DGRAM, "a UDP socket"),
        (AddressFamily::INET6, SocketType::DGRAM, "a UDP socket"),
        (AddressFamily::INET, SocketType::RAW, "a raw socket"),
        (AddressFamily::PACKET, SocketType::RAW, "a packet socket"),
        (AddressFamily::NETLINK, SocketType::RAW, "a netlink socket"),
        (
            AddressFamily::VSOCK,
            SocketType::STREAM,
            "a socket to the hypervisor",
        ),
        (AddressFamily::UNIX, SocketType::STREAM, "a Unix socket"),
    ] {
        refused(socket(family, kind, None).is_ok(), what)?;
    }
    if let Ok(table) = fs::read_to_string("/proc/self/net/dev") {
        let others = table
            .lines()
            .skip(2)
            .filter(|line| !line.trim_start().starts_with("lo:"))
            .count();
        refused(others > 0, "another interface than loopback")?;
    }
    Ok("none".to_owned())
}

fn privileges() -> Found {
    let sets = rustix::thread::capabilities(None).map_err(|error| error.to_string())?;
    refused(
        !sets.permitted.is_empty() || !sets.effective.is_empty(),
        "having capabilities",
    )?;
    refused(
        !rustix::thread::no_new_privs().unwrap_or(false),
        "new privileges",
    )?;
    Ok("none".to_owned())
}

fn landlock() -> Found {
    let script = Path::new(EXECUTABLE).join("script");
    let made = fs::write(&script, "#!/bin/sh\n");
    made.and_then(|()| fs::set_permissions(&script, fs::Permissions::from_mode(0o700)))
        .map_err(|error| format!("no file for the test: {error}"))?;
    refused(
        Command::new(&script).status().is_ok(),
        "executing what is not listed",
    )?;
    Ok(format!("ABI {}", system::landlock_abi()))
}

fn seccomp() -> Found {
    for (call, what) in [
        (libc::SYS_unshare, "unshare"),
        (libc::SYS_ptrace, "ptrace"),
        (libc::SYS_keyctl, "keyctl"),
        (libc::SYS_bpf, "bpf"),
        (libc::SYS_io_uring_setup, "io_uring_setup"),
        (libc::SYS_userfaultfd, "userfaultfd"),
        (libc::SYS_memfd_create, "memfd_create"),
    ] {
        // With zeros these answer success or another error where no filter stands before them.
        refused(system::answer_to_zeros(call) != libc::EPERM, what)?;
    }
    refused(
        system::answer_to_zeros(libc::SYS_clone3) != libc::ENOSYS,
        "clone3",
    )?;
    Ok("filtered".to_owned())
}

fn rlimits() -> Found {
    refused(
        getrlimit(Resource::Core)
            .maximum
            .is_none_or(|bytes| bytes > 1),
        "dumping core",
    )?;
    for resource in [
        Resource::Fsize,
        Resource::Data,
        Resource::Nproc,
        Resource::Cpu,
    ] {
        refused(
            getrlimit(resource).maximum.is_none(),
            format_args!("any amount of {resource:?}"),
        )?;
    }
    let mut files = Vec::new();
    while let Ok(file) = fs::File::open("/dev/null") {
        files.push(file);
        let count = u64::try_from(files.len()).unwrap_or(u64::MAX);
        refused(count > OPEN_FILES, "more open files than allowed")?;
    }
    Ok("set".to_owned())
}

fn egress(host_port: u16) -> Found {
    refused(
        TcpStream::connect((Ipv4Addr::LOCALHOST, host_port)).is_ok(),
        "TCP to the host past the proxy",
    )?;
    refused(
        socket(AddressFamily::INET, SocketType::DGRAM, None).is_ok(),
        "a UDP socket",
    )?;
    let mut greeting = String::new();
    let read = TcpStream::connect((Ipv4Addr::LOCALHOST, EGRESS_PORT)).and_then(|mut proxy| {
        proxy.set_read_timeout(Some(Duration::from_secs(5)))?;
        proxy.read_to_string(&mut greeting)
    });
    read.map_err(|error| format!("the relay does not answer: {error}"))?;
    if greeting == "hello" {
        Ok("through the relay only".to_owned())
    } else {
        Err("the relay loses bytes".to_owned())
    }
}

/// Three processes with half of the allowed memory each.
fn use_too_much() -> io::Result<()> {
    use std::os::unix::process::CommandExt;
    let part = serde_json::to_string(&Probe::MemoryPart)?;
    let start = |_| Command::new(PROGRAM).arg0(NAME).arg(&part).spawn();
    for mut child in (0..3).map(start).collect::<io::Result<Vec<_>>>()? {
        child.wait()?;
    }
    Ok(())
}
