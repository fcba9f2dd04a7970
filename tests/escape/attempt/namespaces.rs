//! New namespaces and those of others.

use std::fs;
use std::os::fd::AsRawFd;

use crate::mounts::structure;
use crate::outcome::{Arguments, Failure, Outcome, any};
use crate::raw::{Word, call, in_child};

/// The attempts of this file.
pub(crate) const ATTEMPTS: &[(&str, crate::Run)] = &[
    ("unshare", unshare),
    ("clone", clone),
    ("clone3", clone3),
    ("setns", setns),
    ("setns_by_pidfd", setns_by_pidfd),
    ("write_id_map", write_id_map),
];

/// `KIND`: a new namespace for this process; as an ordinary user together with a user namespace.
fn unshare(arguments: &Arguments) -> Outcome {
    let flag = kind(arguments)?;
    any([flag, flag | i64::from(libc::CLONE_NEWUSER)].map(|flags| {
        call(libc::SYS_unshare, &mut [Word::Number(flags)])?;
        Ok("unshared".to_owned())
    }))
}

/// `KIND`: a child in a new namespace, by the flags of `clone`.
fn clone(arguments: &Arguments) -> Outcome {
    let flag = kind(arguments)?;
    any([flag, flag | i64::from(libc::CLONE_NEWUSER)].map(|flags| {
        let flags = flags | i64::from(libc::SIGCHLD);
        born(call(libc::SYS_clone, &mut [Word::Number(flags)])?)
    }))
}

/// `KIND`: the same by `clone3`, whose flags a filter cannot read.
fn clone3(arguments: &Arguments) -> Outcome {
    let flag = kind(arguments)?;
    any([flag, flag | i64::from(libc::CLONE_NEWUSER)].map(|flags| {
        // struct clone_args: flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls.
        let signal = u64::from(libc::SIGCHLD.unsigned_abs());
        let members = structure(&[flags.cast_unsigned(), 0, 0, 0, signal, 0, 0, 0]);
        born(call(
            libc::SYS_clone3,
            &mut [Word::Bytes(&members), Word::Number(64)],
        )?)
    }))
}

/// `PID`: every namespace of another process, or of this one, entered by its file.
fn setns(arguments: &Arguments) -> Outcome {
    let process = arguments.text(0)?;
    any(
        ["user", "mnt", "pid", "net", "ipc", "uts", "cgroup"].map(|name| {
            let file = fs::File::open(format!("/proc/{process}/ns/{name}"))?;
            call(
                libc::SYS_setns,
                &mut [Word::Number(file.as_raw_fd().into()), Word::Null],
            )?;
            Ok(format!("in {name} of {process}"))
        }),
    )
}

/// `PID`: namespaces of another process, entered by a descriptor of it.
fn setns_by_pidfd(arguments: &Arguments) -> Outcome {
    let process = call(
        libc::SYS_pidfd_open,
        &mut [Word::Number(arguments.number(0)?)],
    )?;
    any(
        [libc::CLONE_NEWNET, libc::CLONE_NEWUTS, libc::CLONE_NEWIPC].map(|flag| {
            call(
                libc::SYS_setns,
                &mut [Word::Number(process), Word::Number(flag.into())],
            )?;
            Ok("entered".to_owned())
        }),
    )
}

/// A child with its own user namespace in which it is root.
fn write_id_map(_: &Arguments) -> Outcome {
    let outside = rustix::process::geteuid().as_raw();
    let mapped = in_child(|| {
        call(
            libc::SYS_unshare,
            &mut [Word::Number(libc::CLONE_NEWUSER.into())],
        )
        .is_ok()
            && fs::write("/proc/self/uid_map", format!("0 {outside} 1")).is_ok()
            && rustix::process::geteuid().is_root()
    })?;
    if mapped {
        Ok("root of a new user namespace".to_owned())
    } else {
        Err(Failure::Clean("not mapped".to_owned()))
    }
}

fn born(child: i64) -> Outcome {
    if child == 0 {
        std::process::exit(0);
    }
    let child = i32::try_from(child).map_err(|error| Failure::Untried(error.to_string()))?;
    crate::raw::wait(child)?;
    Ok("child in a new namespace".to_owned())
}

fn kind(arguments: &Arguments) -> Result<i64, Failure> {
    let flag = match arguments.text(0)? {
        "user" => libc::CLONE_NEWUSER,
        "mount" => libc::CLONE_NEWNS,
        "pid" => libc::CLONE_NEWPID,
        "net" => libc::CLONE_NEWNET,
        "ipc" => libc::CLONE_NEWIPC,
        "uts" => libc::CLONE_NEWUTS,
        "cgroup" => libc::CLONE_NEWCGROUP,
        "time" => libc::CLONE_NEWTIME,
        other => return Err(Failure::Untried(format!("no namespace `{other}`"))),
    };
    Ok(flag.into())
}
