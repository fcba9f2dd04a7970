//! Living on after the end of the call. The process that is started ends with status 1 or is killed; the escape
//! succeeded when a file appears later.

use std::fs;
use std::time::Duration;

use crate::outcome::{Arguments, Failure, Outcome, clean};
use crate::raw::{Side, Word, call, fork, ignore};

/// The attempts of this file. `FILE MILLISECONDS`: the file, and how long after the start it is made.
pub(crate) const ATTEMPTS: &[(&str, crate::Run)] = &[
    ("orphan", orphan),
    ("double_fork", double_fork),
    ("double_fork_and_wait", double_fork_and_wait),
    ("daemon", daemon),
    ("stopped_child", stopped_child),
];

/// A child that lives on when its parent ends.
fn orphan(arguments: &Arguments) -> Outcome {
    leave(arguments)?;
    clean("the child lives on")
}

/// A grandchild whose parent is gone.
fn double_fork(arguments: &Arguments) -> Outcome {
    leave_twice(arguments)?;
    clean("the grandchild lives on")
}

/// The same, and this process does not end by itself: the wall-clock limit ends it.
fn double_fork_and_wait(arguments: &Arguments) -> Outcome {
    leave_twice(arguments)?;
    std::thread::sleep(Duration::from_secs(5));
    clean("the grandchild lives on")
}

/// In its own session, without a parent, deaf to every signal that can be ignored, with nothing open.
fn daemon(arguments: &Arguments) -> Outcome {
    if let Side::Parent(_) = fork()? {
        return clean("the daemon lives on");
    }
    call(libc::SYS_setsid, &mut []).ok();
    (1..=31).for_each(ignore);
    // PR_SET_PDEATHSIG: none.
    call(libc::SYS_prctl, &mut [Word::Number(1)]).ok();
    call(
        libc::SYS_close_range,
        &mut [Word::Null, Word::Number(u32::MAX.into())],
    )
    .ok();
    leave(arguments)?;
    std::process::exit(1)
}

/// A process that is stopped, so that a polite signal waits; its child makes the file and ends it.
fn stopped_child(arguments: &Arguments) -> Outcome {
    if let Side::Parent(_) = fork()? {
        return clean("the stopped child lives on");
    }
    // In a session of its own: a group that has lost its parent would be continued.
    call(libc::SYS_setsid, &mut []).ok();
    let stopped = i64::from(std::process::id());
    let number = |number: i32| Word::Number(number.into());
    if let Side::Child = fork()? {
        if let Side::Parent(_) = leave(arguments)? {
            std::thread::sleep(Duration::from_millis(arguments.number::<u64>(1)? + 100));
            call(
                libc::SYS_kill,
                &mut [Word::Number(stopped), number(libc::SIGKILL)],
            )?;
        }
        std::process::exit(0);
    }
    call(
        libc::SYS_kill,
        &mut [Word::Number(stopped), number(libc::SIGSTOP)],
    )?;
    std::process::exit(1)
}

fn leave_twice(arguments: &Arguments) -> Result<(), Failure> {
    if let Side::Child = fork()? {
        leave(arguments).ok();
        std::process::exit(0);
    }
    Ok(())
}

/// A child that makes the file later; it does not return from here.
fn leave(arguments: &Arguments) -> Result<Side, Failure> {
    let delay = Duration::from_millis(arguments.number(1)?);
    let file = arguments.text(0)?;
    let side = fork()?;
    if let Side::Child = side {
        std::thread::sleep(delay);
        let written = fs::write(file, "written after the end");
        std::process::exit(i32::from(written.is_err()));
    }
    Ok(side)
}
