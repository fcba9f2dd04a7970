//! The request: what to compare, and how much of it to answer.

use std::ops::RangeInclusive;

use kit::SkillError;
use kit::members::{Members, invalid};
use kit::path::{MAX_PATH_BYTES, Path};

/// Bytes of a revision.
const COMMIT_BYTES: RangeInclusive<usize> = 4..=1_024;

/// Digits of an object id, or of the beginning of one.
const ID_DIGITS: RangeInclusive<usize> = 4..=64;

/// What is compared.
#[derive(Debug)]
pub(crate) enum Target {
    /// The work tree with the index.
    Working,
    /// The index with HEAD.
    Staged,
    /// This commit with its first parent; of the form that [`is_revision`] says.
    Commit(String),
}

#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) target: Target,
    pub(crate) max_bytes: u32,
    pub(crate) path: Path,
}

impl Request {
    pub(crate) fn parse(request: &[u8]) -> Result<Self, SkillError> {
        let mut members = Members::parse(request)?;
        let target = members.optional_string("target", 0..=usize::MAX)?;
        let commit = members.optional_string("commit", COMMIT_BYTES)?;
        let max_bytes = members.integer("max_bytes", 1..=2_097_152, 131_072)?;
        let path = members.optional_string("path", 0..=MAX_PATH_BYTES)?;
        members.finish()?;
        let target = match (target.as_deref().unwrap_or("working"), commit) {
            ("commit", commit) => Target::Commit(revision(commit)?),
            ("working" | "staged", Some(_)) => {
                return Err(invalid("commit", "is for the target `commit` only"));
            }
            ("working", None) => Target::Working,
            ("staged", None) => Target::Staged,
            _ => {
                return Err(invalid(
                    "target",
                    "is none of `working`, `staged`, `commit`",
                ));
            }
        };
        Ok(Self {
            target,
            max_bytes,
            path: Path::parse_directory("git", "path", path.as_deref().unwrap_or("."))?,
        })
    }
}

fn revision(commit: Option<String>) -> Result<String, SkillError> {
    let commit = commit.unwrap_or_else(|| "HEAD".to_owned());
    if is_revision(&commit) {
        Ok(commit)
    } else {
        Err(invalid(
            "commit",
            "is neither 4 to 64 hexadecimal digits in lower case nor HEAD with `~` and `^`",
        ))
    }
}

/// Whether a revision matches `^[0-9a-f]{4,64}$` or `^HEAD([~^][0-9]*)*$`.
fn is_revision(commit: &str) -> bool {
    match commit.strip_prefix("HEAD") {
        Some(steps) => {
            let step = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'~' | b'^');
            !steps.starts_with(|first: char| first.is_ascii_digit()) && steps.bytes().all(step)
        }
        None => ID_DIGITS.contains(&commit.len()) && is_hexadecimal(commit),
    }
}

/// Digits and `a` to `f`.
pub(crate) fn is_hexadecimal(text: &str) -> bool {
    text.bytes()
        .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_is_digits_or_head_with_steps() {
        for good in [
            "HEAD",
            "HEAD~",
            "HEAD^",
            "HEAD~2^1~",
            "HEAD^^^",
            "abcd",
            "0123456789abcdef",
            &"f".repeat(64),
        ] {
            assert!(is_revision(good), "{good}");
        }
        for bad in [
            "",
            "abc",
            "ABCD",
            "HEAD1",
            "head",
            "HEAD@{1}",
            "HEAD:x",
            "HEAD~-1",
            "HEAD^{tree}",
            "HEAD ",
            "HEAD\n",
            "main",
            "--output=x",
            "-p",
            "abcd..HEAD",
            "abcg",
            "@",
            &"f".repeat(65),
        ] {
            assert!(!is_revision(bad), "{bad}");
        }
    }
}
