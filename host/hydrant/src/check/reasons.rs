//! What each marker means and what to do about it: the table of the manual's chapter on error markers.

use super::Subject;
use crate::capability::fs::FsError;

/// What is wrong, and what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reason {
    pub(super) reason: String,
    pub(super) remedy: String,
}

/// Every code with what it says of a document, its skill or its tool.
pub(super) const CODES: [(&str, &str); 13] = [
    (
        "EXECUTION_FAILED",
        "A tool answers the questions for its description.",
    ),
    (
        "EXECUTION_SKIPPED",
        "A tool may be asked for its description.",
    ),
    (
        "FETCH_FAILED",
        "A document and each reference in it can be read.",
    ),
    ("LIMIT_EXCEEDED", "A list has at most 1000 entries."),
    ("MISSING_DESCRIPTION", "A skill has a description."),
    ("MISSING_NAME", "A skill has a name."),
    ("NOT_FOUND", "A tool is a file."),
    (
        "NO_ANSWER",
        "A document can be hydrated within the limits of a call.",
    ),
    ("NO_OUTPUT", "A tool prints a description."),
    (
        "PARSE_ERROR",
        "A document is UTF-8 and its front matter one valid YAML mapping, with lists of strings.",
    ),
    ("PERMISSION_DENIED", "A tool can be started."),
    ("TIMEOUT", "A tool answers in time."),
    (
        "UNSUPPORTED_SCHEME",
        "A reference is os://, https:// or a path.",
    ),
];

pub(super) fn is_code(code: &str) -> bool {
    CODES.iter().any(|(known, _)| *known == code)
}

impl Reason {
    fn new(reason: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self {
            reason: reason.into(),
            remedy: remedy.into(),
        }
    }
}

/// What a code says that nothing more is known of.
pub(super) fn of(subject: Subject, code: &str) -> Reason {
    let (reason, remedy) = match (subject, code) {
        (Subject::Document, "PARSE_ERROR") => (
            "the front matter is not one valid YAML mapping",
            "look for a duplicate key, a value with `: ` that has no quotes, a tab, or a bracket that is not closed",
        ),
        (Subject::Skill, "PARSE_ERROR") => (
            "the skill is not UTF-8, or its front matter is not one valid YAML mapping with lists of strings",
            "run `hydrant check` on the file of the skill",
        ),
        (_, "FETCH_FAILED") => ("it could not be read", "look at the file or the server"),
        (_, "UNSUPPORTED_SCHEME") => (
            "only os:// and https:// are read",
            "write os://…, https://… or a path; write `./` in front of a file name with a colon",
        ),
        (_, "MISSING_NAME") => (
            "the skill has no name",
            "add `name:` to its front matter; a `title:` does not count",
        ),
        (_, "MISSING_DESCRIPTION") => (
            "the skill has no description",
            "add `description:` to its front matter: one sentence that says when to use the skill",
        ),
        (_, "EXECUTION_SKIPPED") => (
            "the tool was not asked what it is for",
            "leave `--no-exec` out, let the policy allow the tool, or see `hydrant doctor` for the jail",
        ),
        (_, "PERMISSION_DENIED") => (
            "the tool cannot be started: it has no execute bit and no runner, or a link on the way leads out of its mount",
            "`chmod +x` the file, or name a runner for its ending in the policy",
        ),
        (_, "TIMEOUT") => (
            "the tool did not answer within 5 seconds",
            "let it answer `--description` before it does anything else",
        ),
        (_, "EXECUTION_FAILED") => (
            "the tool failed when it was asked with `--description` and `--help`",
            "start it by hand with `--help`, and look at its `#!` line",
        ),
        (_, "NO_OUTPUT") => (
            "the tool printed nothing when it was asked what it is for",
            "let it print a description to standard output; standard error does not count",
        ),
        (_, "LIMIT_EXCEEDED") => ("a list of the skill is too long", "split the skill"),
        _ => ("it has an error marker", "see the chapter on error markers"),
    };
    Reason::new(reason, remedy)
}

/// Of an entry that stands for a part of a list, or for all of it.
pub(super) fn of_list(subject: Subject, code: &str) -> Reason {
    let key = subject.key();
    if code == "LIMIT_EXCEEDED" {
        return Reason::new(
            "the document has more than 1000 skills and tools",
            "split the document",
        );
    }
    Reason::new(
        format!("`{key}` is no list, or an item of it is no string"),
        "write a YAML list with one URI for each item",
    )
}

pub(super) fn not_utf8() -> Reason {
    Reason::new("the file is not UTF-8", "save it as UTF-8")
}

pub(super) fn unquoted_colon() -> Reason {
    Reason::new(
        "a value with `: ` in it has no quotes, so the front matter is not valid YAML",
        "put the value in quotes, or use --lenient",
    )
}

/// Of a reference that is no `os://` URI.
pub(super) fn unresolved(uri: &str) -> Reason {
    if uri.starts_with("https://") || uri.starts_with("http://") {
        return Reason::new(
            "it could not be fetched, or the policy does not let it be",
            "ask `hydrant policy explain --skill content.hydrate --url URL`, then look at the server",
        );
    }
    Reason::new(
        "it leads above the root, or is no well-formed reference",
        "write os://…, https://… or a path that stays below the root",
    )
}

/// Of a file that is not there, and what may have been meant.
pub(super) fn missing(uri: &str, suggestion: Option<String>) -> Reason {
    let correct = || "correct the reference, or add the file".to_owned();
    Reason::new(format!("no file {uri}"), suggestion.unwrap_or_else(correct))
}

/// Of a file that is there.
pub(super) fn unreadable(uri: &str, error: FsError) -> Reason {
    let path = uri.strip_prefix("os://").unwrap_or(uri);
    match error {
        FsError::Denied => Reason::new(
            format!("the policy does not let {uri} be read"),
            format!(
                "ask `hydrant policy explain --skill content.hydrate --path /os/{path}`; --root names the directory behind os://"
            ),
        ),
        FsError::IsDirectory => Reason::new(
            format!("{uri} is a folder"),
            "name a file in it, such as its SKILL.md",
        ),
        FsError::LeavesMount => Reason::new(
            format!("a symbolic link on the way to {uri} leads out of its mount"),
            "put the file itself there, or mount its folder with --mount",
        ),
        FsError::NotAccessible => Reason::new(
            format!("you may not read {uri}"),
            "change the permissions of the file",
        ),
        FsError::TooLarge => Reason::new(format!("{uri} has more than 4 MiB"), "make it shorter"),
        FsError::Special => Reason::new(
            format!("{uri} is no regular file"),
            "put a regular file there",
        ),
        _ => Reason::new(format!("{uri} could not be read"), "look at the file"),
    }
}
