//! Privileges: capabilities, ids, files that give them, the way back from what was given up.

use std::os::unix::process::CommandExt;
use std::process::Command;

use crate::outcome::{Arguments, Errno, Outcome, any, clean};
use crate::raw::{Word, call};

/// The attempts of this file.
pub(crate) const ATTEMPTS: &[(&str, crate::Run)] = &[
    ("hold_capabilities", hold_capabilities),
    ("hold_bounding_set", hold_bounding_set),
    ("hold_ambient_set", hold_ambient_set),
    ("gain_privileges", gain_privileges),
    ("become_root", become_root),
    ("set_groups", set_groups),
    ("see_own_id", see_own_id),
    ("run_setuid_program", run_setuid_program),
    (
        "run_program_with_capabilities",
        run_program_with_capabilities,
    ),
    ("print_ids", print_ids),
    ("change_owner", change_owner),
];

/// Any capability in force, permitted or inheritable.
fn hold_capabilities(_: &Arguments) -> Outcome {
    let mut header = [0x2008_0522_u32.to_ne_bytes(), [0; 4]].concat();
    let mut sets = [0_u8; 24];
    call(
        libc::SYS_capget,
        &mut [Word::Room(&mut header), Word::Room(&mut sets)],
    )?;
    if sets.iter().all(|byte| *byte == 0) {
        clean("none is held")
    } else {
        Ok(format!("{sets:02x?}"))
    }
}

/// Any capability that a file could still give.
fn hold_bounding_set(_: &Arguments) -> Outcome {
    // PR_CAPBSET_READ
    let held: Vec<i64> = (0..64)
        .filter(|capability| prctl(23, *capability) == Ok(1))
        .collect();
    if held.is_empty() {
        clean("none is left")
    } else {
        Ok(format!("{held:?}"))
    }
}

/// Any capability that would survive `execve`.
fn hold_ambient_set(_: &Arguments) -> Outcome {
    // PR_CAP_AMBIENT: PR_CAP_AMBIENT_RAISE of CAP_NET_RAW, which must be permitted and inheritable; that is tried.
    let mut header = [0x2008_0522_u32.to_ne_bytes(), [0; 4]].concat();
    let bit = (1_u32 << 13).to_ne_bytes();
    let none = [0; 4];
    let sets = [bit, bit, bit, none, none, none].concat();
    call(
        libc::SYS_capset,
        &mut [Word::Room(&mut header), Word::Bytes(&sets)],
    )?;
    call(
        libc::SYS_prctl,
        &mut [Word::Number(47), Word::Number(2), Word::Number(13)],
    )?;
    Ok("raised".to_owned())
}

/// Whether `execve` may still give privileges.
fn gain_privileges(_: &Arguments) -> Outcome {
    // PR_GET_NO_NEW_PRIVS
    if prctl(39, 0)? == 0 {
        Ok("new privileges are possible".to_owned())
    } else {
        clean("no_new_privs")
    }
}

/// Id 0, by every call for it.
fn become_root(_: &Arguments) -> Outcome {
    let zero = || Word::Number(0);
    any([
        call(libc::SYS_setuid, &mut [zero()]),
        call(libc::SYS_setresuid, &mut [zero(), zero(), zero()]),
        call(libc::SYS_setgid, &mut [zero()]),
        call(libc::SYS_setresgid, &mut [zero(), zero(), zero()]),
    ]
    .map(|answer| Ok(answer.map(|_| "id 0".to_owned())?)))
}

/// No supplementary groups, which would undo what a group is denied.
fn set_groups(_: &Arguments) -> Outcome {
    call(libc::SYS_setgroups, &mut [])?;
    Ok("groups set".to_owned())
}

/// An id other than 65534.
fn see_own_id(_: &Arguments) -> Outcome {
    let id = rustix::process::getuid().as_raw();
    if id == 65534 {
        clean("65534")
    } else {
        Ok(format!("id {id}"))
    }
}

/// `FILE`: a copy of this program that is setuid or setgid to another.
fn run_setuid_program(arguments: &Arguments) -> Outcome {
    let own = ids();
    let output = Command::new(arguments.text(0)?).arg("print_ids").output()?;
    let got = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    if got == format!("escaped: {own}") {
        clean("the same ids")
    } else {
        Ok(format!("{got}, not {own}"))
    }
}

/// `FILE`: a copy of this program with capabilities in its attribute.
fn run_program_with_capabilities(arguments: &Arguments) -> Outcome {
    Err(Command::new(arguments.text(0)?)
        .arg("hold_capabilities")
        .exec()
        .into())
}

/// The ids of this process.
fn print_ids(_: &Arguments) -> Outcome {
    Ok(ids())
}

/// `FILE`: given to another user.
fn change_owner(arguments: &Arguments) -> Outcome {
    std::os::unix::fs::chown(arguments.text(0)?, Some(12345), Some(12345))?;
    Ok("changed".to_owned())
}

fn ids() -> String {
    let (user, group) = (
        rustix::process::geteuid().as_raw(),
        rustix::process::getegid().as_raw(),
    );
    format!("user {user} group {group}")
}

fn prctl(option: i64, argument: i64) -> Result<i64, Errno> {
    call(
        libc::SYS_prctl,
        &mut [Word::Number(option), Word::Number(argument)],
    )
}
