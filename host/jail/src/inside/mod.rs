//! What runs in the launcher's image: one thread, an empty environment, a socket to the parent as standard input.
//!
//! Nothing here runs in the host's own process, but for [`enter_if_asked`].

mod connects;
mod filter;
mod grace;
mod init;
mod landlock;
mod layout;
mod limits;
mod namespaces;
mod numbers;
mod privileges;
mod probe;
mod program;
mod relay;
mod renewal;
mod root;
mod syscalls;
mod system;
mod tree;
mod zygote;

use std::ffi::OsStr;

use rustix::process::WaitOptions;
use rustix::stdio::stdin;

use super::order::{Answer, Order};
use super::outcome::{How, InStep, Refused, Step, Usage};
use super::weakening::Without;
use super::{layers, weakening::Removed, wire, zygote::NAME};

/// Exit status of a launcher that made no jail; the host has the reason from the socket.
const REFUSED: i32 = 125;

/// To be called as the first statement of `main`: where this process was started as the launcher of a jail, or as a
/// probe inside one, it becomes that, and the call does not return.
pub fn enter_if_asked() {
    let mut arguments = std::env::args_os();
    let name = arguments.next();
    if name.as_deref() == Some(OsStr::new(layers::NAME)) {
        let probe = arguments.next().unwrap_or_default();
        std::process::exit(i32::from(probe::run(&probe.to_string_lossy()).is_err()));
    }
    if name.as_deref() == Some(OsStr::new(NAME)) {
        let launched = zygote::run().and_then(|launcher| match launcher {
            Some(without) => launch(&without),
            None => Ok(()),
        });
        std::process::exit(match launched {
            Ok(()) => 0,
            Err(refused) => {
                answer(&Answer::Refused(refused));
                REFUSED
            }
        });
    }
}

/// Tells the parent. That it cannot be told means that it is gone, and then nobody asks.
fn answer(answer: &Answer) {
    let _ = wire::send_message(stdin(), answer, &[]);
}

fn launch(without: &Without) -> Result<(), Refused> {
    // Away from the zygote, whose signals are not this one's.
    rustix::process::setsid().step(Step::Privileges, "make a session")?;
    // The plan is init's to read: all this can be done before there is one (`Launcher::prepare`).
    namespaces::enter(without)?;
    let Some(init) = system::fork().step(Step::Pid, "fork init")? else {
        std::process::exit(match init::run(without) {
            Ok(()) => 0,
            Err(refused) => {
                answer(&Answer::Refused(refused));
                REFUSED
            }
        });
    };
    // The launcher is outside the pid namespace, where the program cannot name it; it keeps nothing all the same.
    privileges::drop_all()?;
    let ended = rustix::process::waitpid(Some(init), WaitOptions::empty())
        .step(Step::Pid, "wait for init")?;
    if let Some(signal) = ended.and_then(|(_, status)| status.terminating_signal()) {
        // Init reports everything but its own violent end, as by the kernel for want of memory.
        let how = How::Signaled(u8::try_from(signal).unwrap_or(u8::MAX));
        answer(&Answer::Ended {
            how,
            usage: Usage::default(),
            kept: false,
        });
    }
    Ok(())
}

/// The step for which a removed layer stands is left out only in the tests that show what it is there for.
fn unless_removed(
    order: &Order,
    layer: Removed,
    step: impl FnOnce() -> Result<(), Refused>,
) -> Result<(), Refused> {
    if order.keeps(layer) { step() } else { Ok(()) }
}
