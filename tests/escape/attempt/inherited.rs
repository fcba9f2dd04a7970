//! What the host left in its child's hands: descriptors, variables, a terminal, the way to the launcher.

use std::fs;

use crate::outcome::{Arguments, Outcome, any, clean};
use crate::raw::{Word, call};
use crate::read::processes;

/// The attempts of this file.
pub(crate) const ATTEMPTS: &[(&str, crate::Run)] = &[
    ("use_descriptor", use_descriptor),
    ("use_standard_socket", use_standard_socket),
    ("read_environment", read_environment),
    ("read_environment_of_others", read_environment_of_others),
    ("push_terminal_input", push_terminal_input),
    ("open_terminal", open_terminal),
];

/// Any descriptor above the three.
fn use_descriptor(_: &Arguments) -> Outcome {
    let open: Vec<i64> = (3..4096)
        .filter(|number| {
            call(
                libc::SYS_fcntl,
                &mut [Word::Number(*number), Word::Number(libc::F_GETFD.into())],
            )
            .is_ok()
        })
        .collect();
    if open.is_empty() {
        clean("none is open")
    } else {
        Ok(format!("{open:?} are open"))
    }
}

/// A socket among the three, over which the launcher may still be heard.
fn use_standard_socket(_: &Arguments) -> Outcome {
    any((0..3).map(|number| {
        let mut name = [0; 128];
        let mut length = 128_u32.to_ne_bytes();
        call(
            libc::SYS_getpeername,
            &mut [
                Word::Number(number),
                Word::Room(&mut name),
                Word::Room(&mut length),
            ],
        )?;
        Ok(format!("{number} is a socket"))
    }))
}

/// `TEXT`: in any variable of this process.
fn read_environment(arguments: &Arguments) -> Outcome {
    let text = arguments.text(0)?;
    match std::env::vars_os().find(|(_, value)| value.to_string_lossy().contains(text)) {
        Some((name, _)) => Ok(format!("{} holds it", name.display())),
        None => clean("no variable holds it"),
    }
}

/// `TEXT`: in any variable of any process that is seen.
fn read_environment_of_others(arguments: &Arguments) -> Outcome {
    let text = arguments.text(0)?.as_bytes();
    any(processes()
        .filter(|process| !process.ends_with("self"))
        .map(|process| {
            let environment = fs::read(process.join("environ"))?;
            if environment.windows(text.len()).any(|window| window == text) {
                Ok(format!("{} has it", process.display()))
            } else {
                clean("no process has it")
            }
        }))
}

/// A character put into the input of the terminal that is this process's stdin, for the shell that reads it next.
fn push_terminal_input(_: &Arguments) -> Outcome {
    let pushed = |request: u64| {
        let request = Word::Number(request.cast_signed());
        call(
            libc::SYS_ioctl,
            &mut [Word::Null, request, Word::Bytes(b"x")],
        )
    };
    // The high half of the request is not looked at by the kernel, but by a filter that compares 64 bits.
    let ways = [libc::TIOCSTI, libc::TIOCSTI | 1 << 32].map(pushed);
    any(ways.map(|answer| Ok(answer.map(|_| "pushed".to_owned())?)))
}

/// The controlling terminal.
fn open_terminal(_: &Arguments) -> Outcome {
    fs::OpenOptions::new()
        .read(true)
        .write(true)
        .open("/dev/tty")?;
    Ok("open".to_owned())
}
