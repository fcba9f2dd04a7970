//! Why a command did not run, as a skill says it, and why git had no answer.

use serde_json::json;

use crate::SkillError;
use crate::host::process::{Command, Ending, Exit, ProcessError, Program, Target};
use crate::path::Path;

/// Time of a git command at most: ten seconds less than a call has by default.
pub const GIT_TIMEOUT_MS: u32 = 120_000;

/// How git begins when there is no repository; `git diff` says it as a warning.
const NO_REPOSITORY: [&str; 2] = [
    "fatal: not a git repository",
    "warning: Not a git repository",
];

/// How git begins when there is a repository without a work tree.
const NO_WORK_TREE: &str = "fatal: this operation must be run in a work tree";

/// Characters of a message of git that an error shows.
const MAX_COMPLAINT_CHARACTERS: usize = 400;

/// A git command in a directory, whose streams are kept to `max_output_bytes` each.
#[must_use]
pub fn git(directory: &Path, arguments: &[&str], max_output_bytes: u32) -> Command {
    Command {
        target: Target::Program(Program {
            name: "git".to_owned(),
            directory: directory.absolute().to_owned(),
        }),
        arguments: arguments.iter().map(|word| (*word).to_owned()).collect(),
        timeout_ms: GIT_TIMEOUT_MS,
        max_output_bytes,
    }
}

/// The answer of a git command that succeeded.
///
/// # Errors
/// Of a command that did not run, [`process_error`]; of one that failed, `not_found`, `wrong_type`, `process_failed` or `timeout`.
pub fn git_answer(
    directory: &Path,
    answer: Option<Result<Exit, ProcessError>>,
) -> Result<Exit, SkillError> {
    let exit = answer
        .unwrap_or(Err(ProcessError::NotStartable))
        .map_err(|error| process_error("git", directory, error))?;
    let code = match exit.ending {
        Ending::Exited(0) => return Ok(exit),
        Ending::Exited(code) => u32::from(code),
        Ending::Signaled(signal) => u32::from(signal).saturating_add(128),
        Ending::TimedOut => return Err(SkillError::new("timeout", "git did not end in time")),
    };
    Err(git_failure(directory, code, &exit.stderr))
}

/// The error of a git command that failed. The host shows a real path in git's messages as the virtual one that it has.
fn git_failure(directory: &Path, code: u32, stderr: &[u8]) -> SkillError {
    let says = |begin: &str| {
        stderr
            .split(|byte| *byte == b'\n')
            .any(|line| line.starts_with(begin.as_bytes()))
    };
    let error = |code, what: &str| SkillError::new(code, &format!("{}: {what}", directory.shown()));
    if NO_REPOSITORY.into_iter().any(says) {
        error("not_found", "not in a git repository")
            .with_details(json!({ "reason": "repository" }).to_string())
    } else if says(NO_WORK_TREE) {
        error("wrong_type", "the repository has no work tree here")
            .with_details(json!({ "reason": "bare" }).to_string())
    } else {
        let why = complaint(stderr).map_or_else(String::new, |line| format!(": {line}"));
        error(
            "process_failed",
            &format!("git ended with status {code}{why}"),
        )
        .with_details(json!({ "exit_code": code }).to_string())
    }
}

/// The last line in which git says why it failed: what stands before it led to that.
fn complaint(stderr: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(stderr);
    let says_why = |line: &&str| line.starts_with("fatal: ") || line.starts_with("error: ");
    let line = text.lines().rfind(says_why)?;
    let shown = line.chars().filter(|character| !character.is_control());
    Some(shown.take(MAX_COMPLAINT_CHARACTERS).collect())
}

/// The error of a skill whose program did not run in `directory`.
#[must_use]
pub fn process_error(program: &str, directory: &Path, error: ProcessError) -> SkillError {
    let because = |code, what: &str, reason: &str| {
        SkillError::new(code, &format!("{program}: {what}"))
            .with_details(json!({ "reason": reason }).to_string())
    };
    let directory = directory.shown();
    match error {
        ProcessError::Denied | ProcessError::NotPermitted => {
            denied(program, "program", "not an allowed program")
        }
        ProcessError::ArgumentsDenied => {
            denied(program, "args", "not allowed with these arguments")
        }
        ProcessError::DirectoryDenied => denied(program, "cwd", "not allowed in this directory"),
        ProcessError::Unconfined => because(
            "unsupported",
            "processes must be confined, and this host cannot confine them",
            "confinement",
        ),
        ProcessError::NotFound => because("not_found", "no such program", "program"),
        ProcessError::NoDirectory => {
            SkillError::new("not_found", &format!("{directory}: no such directory"))
                .with_details(json!({ "reason": "cwd" }).to_string())
        }
        ProcessError::NotDirectory => {
            SkillError::new("wrong_type", &format!("{directory}: not a directory"))
                .with_details(json!({ "reason": "cwd" }).to_string())
        }
        ProcessError::NotStartable | ProcessError::FetchFailed => {
            SkillError::new("process_failed", &format!("{program} could not be started"))
        }
        ProcessError::InvalidRequest => SkillError::new(
            crate::request::INVALID_REQUEST,
            "the command is too long or holds a NUL",
        ),
    }
}

impl Path {
    /// Reads the member `member`: the directory that `program` is to run in.
    ///
    /// # Errors
    /// As [`Path::parse`], but what climbs too far is `denied` as a working directory.
    pub fn parse_directory(program: &str, member: &str, text: &str) -> Result<Self, SkillError> {
        Self::parse(member, text).map_err(|error| match error.code() {
            "denied" => denied(program, "cwd", "not allowed in this directory"),
            _ => error,
        })
    }
}

/// `denied` for a program, and which part of the rule refuses it.
fn denied(program: &str, reason: &str, what: &str) -> SkillError {
    SkillError::new("denied", &format!("{program}: {what}")).with_details(
        json!({ "capability": format!("exec.safe:{program}"), "reason": reason }).to_string(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exit(ending: Ending, stderr: &str) -> Option<Result<Exit, ProcessError>> {
        Some(Ok(Exit {
            ending,
            stdout: Vec::new(),
            stdout_truncated: false,
            stderr: stderr.as_bytes().to_vec(),
            stderr_truncated: false,
            duration_ms: 1,
        }))
    }

    #[test]
    fn each_refusal_says_what_refuses() {
        let path = Path::parse("cwd", "a").unwrap();
        for (error, code, details) in [
            (
                ProcessError::Denied,
                "denied",
                r#"{"capability":"exec.safe:npm","reason":"program"}"#,
            ),
            (
                ProcessError::ArgumentsDenied,
                "denied",
                r#"{"capability":"exec.safe:npm","reason":"args"}"#,
            ),
            (
                ProcessError::DirectoryDenied,
                "denied",
                r#"{"capability":"exec.safe:npm","reason":"cwd"}"#,
            ),
            (
                ProcessError::Unconfined,
                "unsupported",
                r#"{"reason":"confinement"}"#,
            ),
            (
                ProcessError::NotFound,
                "not_found",
                r#"{"reason":"program"}"#,
            ),
            (
                ProcessError::NoDirectory,
                "not_found",
                r#"{"reason":"cwd"}"#,
            ),
            (
                ProcessError::NotDirectory,
                "wrong_type",
                r#"{"reason":"cwd"}"#,
            ),
        ] {
            let answer = process_error("npm", &path, error);
            assert_eq!((answer.code(), answer.details()), (code, Some(details)));
        }
        for (error, code) in [
            (ProcessError::NotStartable, "process_failed"),
            (ProcessError::InvalidRequest, "invalid_request"),
        ] {
            assert_eq!(process_error("npm", &path, error).code(), code);
        }
    }

    #[test]
    fn a_directory_above_the_first_one_is_a_denied_working_directory() {
        let error = Path::parse_directory("npm", "cwd", "../x").unwrap_err();
        assert_eq!(
            error.details(),
            Some(r#"{"capability":"exec.safe:npm","reason":"cwd"}"#)
        );
        let long = Path::parse_directory("npm", "cwd", &"a".repeat(4097)).unwrap_err();
        assert_eq!(long.code(), "invalid_request");
        assert_eq!(
            Path::parse_directory("npm", "cwd", "a/..").unwrap().shown(),
            "."
        );
    }

    #[test]
    fn what_git_says_has_a_code() {
        let path = Path::parse("path", "a").unwrap();
        let none = "fatal: not a git repository (or any of the parent directories): .git\n";
        for (ending, stderr, code, details) in [
            (
                Ending::Exited(128),
                none,
                "not_found",
                r#"{"reason":"repository"}"#,
            ),
            (
                Ending::Exited(129),
                "warning: Not a git repository. Use --no-index\nusage: git diff\n",
                "not_found",
                r#"{"reason":"repository"}"#,
            ),
            (
                Ending::Exited(128),
                "warning: x\nfatal: this operation must be run in a work tree\n",
                "wrong_type",
                r#"{"reason":"bare"}"#,
            ),
            (
                Ending::Exited(128),
                "error: a file called 'fatal: not a git repository'\n",
                "process_failed",
                r#"{"exit_code":128}"#,
            ),
            (
                Ending::Signaled(9),
                "",
                "process_failed",
                r#"{"exit_code":137}"#,
            ),
        ] {
            let error = git_answer(&path, exit(ending, stderr)).unwrap_err();
            assert_eq!(
                (error.code(), error.details()),
                (code, Some(details)),
                "{stderr}"
            );
            assert_eq!(
                error.message().contains("fatal"),
                code == "process_failed" && stderr.contains("fatal")
            );
        }
        let why = git_answer(
            &path,
            exit(
                Ending::Exited(128),
                "warning: x\nerror: y\nfatal: bad\x1b object\n",
            ),
        );
        assert_eq!(
            why.unwrap_err().message(),
            "a: git ended with status 128: fatal: bad object"
        );
        let late = git_answer(&path, exit(Ending::TimedOut, none)).unwrap_err();
        assert_eq!(late.code(), "timeout");
        assert!(git_answer(&path, exit(Ending::Exited(0), none)).is_ok());
    }
}
