//! One escape from the jail for each name: `attempt NAME [ARGUMENT…]`, `attempt --list` for all names.
//!
//! Exit status 0: the escape succeeded. 1: it failed cleanly; the name of the error is on stdout. 2: it could not be
//! tried. The attempts that outlive their process (`outlive`) say nothing by their status; the file they leave does.
//! Outside a jail every attempt is harmless: bombs stop at a number they are given, what is changed is changed to
//! what it was, and calls that would end the machine carry an argument that the kernel refuses after it has checked
//! the caller's right to make them.
#![allow(
    clippy::print_stdout,
    clippy::indexing_slicing,
    reason = "a program for tests: its answer is its output, and a wrong index is a failed attempt"
)]

mod execute;
mod exhaust;
mod inherited;
mod kernel;
mod machine;
mod memory;
mod mounts;
mod namespaces;
mod network;
mod outcome;
mod outlive;
mod privileges;
mod processes;
mod raw;
mod read;
mod sockets;
mod succession;
mod write;

use std::io::Write;
use std::process::ExitCode;

use crate::outcome::{Arguments, Failure, Outcome};

/// What tries one escape.
type Run = fn(&Arguments) -> Outcome;
/// A name and what it tries.
type Attempt = (&'static str, Run);

/// The attempts of one layer.
const LAYERS: &[(&str, &[Attempt])] = &[
    ("read outside", read::ATTEMPTS),
    ("write outside", write::ATTEMPTS),
    ("mounts", mounts::ATTEMPTS),
    ("namespaces", namespaces::ATTEMPTS),
    ("processes", processes::ATTEMPTS),
    ("sockets", sockets::ATTEMPTS),
    ("network", network::ATTEMPTS),
    ("inherited", inherited::ATTEMPTS),
    ("exhaustion", exhaust::ATTEMPTS),
    ("memory", memory::ATTEMPTS),
    ("outlive", outlive::ATTEMPTS),
    ("succession", succession::ATTEMPTS),
    ("privileges", privileges::ATTEMPTS),
    ("kernel", kernel::ATTEMPTS),
    ("machine", machine::ATTEMPTS),
    ("execute", execute::ATTEMPTS),
];

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    let name = words.next().unwrap_or_default();
    if name == "--list" {
        for (layer, attempts) in LAYERS {
            for (name, _) in *attempts {
                println!("{layer}\t{name}");
            }
        }
        return ExitCode::SUCCESS;
    }
    let Some((_, run)) = LAYERS
        .iter()
        .flat_map(|(_, all)| *all)
        .find(|(known, _)| *known == name)
    else {
        println!("usage: attempt NAME [ARGUMENT…]; `attempt --list` names all");
        return ExitCode::from(2);
    };
    let (status, said) = match run(&Arguments(words.collect())) {
        Ok(escaped) => (0, format!("escaped: {escaped}")),
        Err(Failure::Refused(errno)) => (1, errno.to_string()),
        Err(Failure::Clean(why)) => (1, why),
        Err(Failure::Untried(why)) => (2, format!("not tried: {why}")),
    };
    // Stdout may be what was used up.
    let _ = writeln!(std::io::stdout(), "{said}");
    ExitCode::from(status)
}
