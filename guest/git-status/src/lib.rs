//! The component `git.status`: what git says of a work tree.
//!
//! It asks git for its machine-readable status, reads that, and sorts it. It never enters a submodule and never
//! writes the index; what a hostile repository could make git start is the host's to stop.

mod answer;
mod porcelain;
#[cfg(test)]
mod tests;

use kit::SkillError;
use kit::host::RunCommands;
use kit::members::Members;
use kit::path::{MAX_PATH_BYTES, Path};
use kit::process::{git, git_answer};

kit::component!(crate::describe, crate::run);

/// The arguments of git.
const COMMAND: [&str; 8] = [
    "--no-pager",
    "status",
    "--porcelain=v2",
    "--branch",
    "-z",
    "--untracked-files=all",
    "--ignore-submodules=dirty",
    "--find-renames=50%",
];

/// Bytes of git's answer at most: all that the hostcall gives.
const MAX_OUTPUT_BYTES: u32 = 8 * 1024 * 1024;

/// What the component says of itself.
#[must_use]
pub fn describe() -> &'static str {
    include_str!("describe.json").trim_ascii_end()
}

/// One call: a request in JSON, answered with the branch and the changed paths.
///
/// # Errors
/// `invalid_request`; `denied`, `not_found`, `wrong_type`, `unsupported`, `process_failed` and `timeout` when git
/// did not answer; `malformed` when its answer cannot be read.
pub fn run(host: &mut impl RunCommands, request: &[u8]) -> Result<Vec<u8>, SkillError> {
    let mut members = Members::parse(request)?;
    let path = members.optional_string("path", 0..=MAX_PATH_BYTES)?;
    let max_entries = members.integer("max_entries", 1..=10_000, 2_000)?;
    members.finish()?;
    let path = Path::parse_directory("git", "path", path.as_deref().unwrap_or("."))?;
    let command = git(&path, &COMMAND, MAX_OUTPUT_BYTES);
    let exit = git_answer(&path, host.run(&[command]).pop())?;
    let status = porcelain::read(&exit.stdout, exit.stdout_truncated)?;
    let most = usize::try_from(max_entries).unwrap_or(usize::MAX);
    answer::write(status, most, exit.stdout_truncated)
}
