//! The `hydrant` program: reads the command line, calls the library, prints, exits.

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    // A jail begins as a fresh image of this program.
    hydrant::jail::enter_if_asked();
    // Where that cannot be had, a limit on files ends the program as it always would.
    let _ = hydrant::jail::survive_file_size_limit();
    hydrant::govern::secrets::forbid_core_dumps();
    cli::run(std::env::args_os())
}
