//! The `hydrant` program: reads the command line, calls the library, prints, exits.

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::run(std::env::args_os())
}
