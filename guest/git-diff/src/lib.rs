//! The component `git.diff`: what changed in a repository, as a unified diff.
//!
//! The options are fixed, so that neither the repository's configuration nor the request changes the form of the
//! diff. A commit is checked by its form and resolved to a full object id before git sees it as anything but
//! a revision.

mod answer;
mod request;
#[cfg(test)]
mod tests;

use kit::SkillError;
use kit::host::RunCommands;
use kit::host::process::{Ending, Exit};
use kit::path::Path;
use kit::process::{git, git_answer};

use request::{Request, Target};

kit::component!(crate::describe, crate::run);

/// The options of every diff.
const OPTIONS: [&str; 13] = [
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
    "--no-relative",
    "--src-prefix=a/",
    "--dst-prefix=b/",
    "--unified=3",
    "--inter-hunk-context=0",
    "--find-renames=50%",
    "--diff-algorithm=myers",
    "--full-index",
    "--submodule=short",
    "--ignore-submodules=dirty",
];

/// Bytes of an object id and its line feed, and of git's complaint that there is none.
const ID_OUTPUT_BYTES: u32 = 65_536;

/// Bytes that show whether there is more.
const LOOK_AHEAD: u32 = 1;

/// What the component says of itself.
#[must_use]
pub fn describe() -> &'static str {
    include_str!("describe.json").trim_ascii_end()
}

/// One call: a request in JSON, answered with a diff.
///
/// # Errors
/// `invalid_request`; `denied`, `not_found`, `wrong_type`, `unsupported`, `process_failed` and `timeout` when git
/// did not answer.
pub fn run(host: &mut impl RunCommands, request: &[u8]) -> Result<Vec<u8>, SkillError> {
    let request = Request::parse(request)?;
    let path = &request.path;
    let exit = match &request.target {
        Target::Working => one(host, path, &diff(&["--"]), request.max_bytes)?,
        Target::Staged => staged(host, path, request.max_bytes)?,
        Target::Commit(commit) => {
            let id = resolve(host, path, commit)?;
            one(host, path, &diff_tree(&id), request.max_bytes)?
        }
    };
    answer::write(&exit, request.max_bytes)
}

/// The arguments of a diff of the work tree or the index.
fn diff<'a>(last: &[&'a str]) -> Vec<&'a str> {
    [&["--no-pager", "diff"], OPTIONS.as_slice(), last].concat()
}

/// The arguments of a diff of a commit with its first parent.
fn diff_tree(id: &str) -> Vec<&str> {
    let last = ["--root", "--no-commit-id", "--diff-merges=first-parent", id];
    [
        &["--no-pager", "diff-tree", "-p", "-r"],
        OPTIONS.as_slice(),
        &last,
    ]
    .concat()
}

fn one(
    host: &mut impl RunCommands,
    path: &Path,
    arguments: &[&str],
    max_bytes: u32,
) -> Result<Exit, SkillError> {
    let command = git(path, arguments, max_bytes.saturating_add(LOOK_AHEAD));
    git_answer(path, host.run(&[command]).pop())
}

/// HEAD to index. A bare repository has no index, which git takes for an empty one: so git is also asked for the
/// changes of a path that it never tracks, which needs a work tree.
fn staged(host: &mut impl RunCommands, path: &Path, max_bytes: u32) -> Result<Exit, SkillError> {
    let commands = [
        git(
            path,
            &diff(&["--cached", "--"]),
            max_bytes.saturating_add(LOOK_AHEAD),
        ),
        git(path, &diff(&["--", ".git"]), LOOK_AHEAD),
    ];
    let mut answers = host.run(&commands).into_iter();
    let staged = answers.next();
    git_answer(path, answers.next())?;
    git_answer(path, staged)
}

/// Returns the full object id of a commit.
fn resolve(host: &mut impl RunCommands, path: &Path, commit: &str) -> Result<String, SkillError> {
    let revision = format!("{commit}^{{commit}}");
    let arguments = [
        "--no-pager",
        "rev-parse",
        "--verify",
        "--end-of-options",
        &revision,
    ];
    let answer = host.run(&[git(path, &arguments, ID_OUTPUT_BYTES)]).pop();
    // Whatever other status it ends with, git has not found it.
    let ended = matches!(&answer, Some(Ok(exit)) if matches!(exit.ending, Ending::Exited(_)));
    let exit = git_answer(path, answer).map_err(|error| match error.code() {
        "process_failed" if ended => no_commit(commit),
        _ => error,
    })?;
    // Checked, because it goes where an option could stand.
    std::str::from_utf8(&exit.stdout)
        .ok()
        .map(str::trim_ascii_end)
        .filter(|id| matches!(id.len(), 40 | 64) && request::is_hexadecimal(id))
        .map(str::to_owned)
        .ok_or_else(|| no_commit(commit))
}

fn no_commit(commit: &str) -> SkillError {
    SkillError::new("not_found", &format!("{commit}: no such commit"))
        .with_details(r#"{"reason":"commit"}"#.to_owned())
}
