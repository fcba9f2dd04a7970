//! The component `shell.exec_safe`: runs a program that the policy names, without a shell.
//!
//! It checks the request and words the answer; whether the program may run, and with what, the host decides.
//! No request can set a variable, feed standard input or reach another program than `argv[0]`.

mod answer;
mod request;
#[cfg(test)]
mod tests;

use kit::SkillError;
use kit::host::RunCommands;
use kit::process::process_error;

kit::component!(crate::describe, crate::run);

/// What the component says of itself.
#[must_use]
pub fn describe() -> &'static str {
    include_str!("describe.json").trim_ascii_end()
}

/// One call: a request in JSON, answered with how the program ended and what it wrote.
///
/// # Errors
/// `invalid_request`; `denied`, `not_found`, `wrong_type`, `unsupported` and `process_failed` when nothing ran.
pub fn run(host: &mut impl RunCommands, request: &[u8]) -> Result<Vec<u8>, SkillError> {
    let request = request::Request::parse(request)?;
    let command = request.command();
    let exit = host
        .run(&[command])
        .pop()
        .unwrap_or(Err(kit::host::process::ProcessError::NotStartable))
        .map_err(|error| process_error(&request.program, &request.directory, error))?;
    answer::write(exit, request.max_output_bytes)
}
