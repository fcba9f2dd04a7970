//! Paths of requests and responses, and why one could not be used.

use serde_json::json;

use crate::SkillError;
use crate::host::fs_read::FsError;
use crate::members::invalid;

/// Bytes of a path.
pub const MAX_PATH_BYTES: usize = 4_096;

/// Where relative paths begin.
const WORKSPACE: &str = "/workspace";

/// A path of a request, normalised lexically.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Path {
    /// `/`, or `/`-separated segments with a leading `/`.
    absolute: String,
    /// The request's own form, which responses keep.
    relative: bool,
}

impl Path {
    /// Reads a path of the request member `member`.
    ///
    /// # Errors
    /// `invalid_request` over 4,096 bytes or with a NUL; `denied` when it climbs above its first directory.
    pub fn parse(member: &str, text: &str) -> Result<Self, SkillError> {
        if text.len() > MAX_PATH_BYTES {
            return Err(invalid(member, "is longer than 4096 bytes"));
        }
        if text.contains('\0') {
            return Err(invalid(member, "holds a NUL"));
        }
        let relative = !text.starts_with('/');
        let mut segments = if relative {
            vec!["workspace"]
        } else {
            Vec::new()
        };
        for segment in text.split('/') {
            match segment {
                "" | "." => {}
                ".." if segments.len() > 1 => {
                    segments.pop();
                }
                ".." => return Err(denied("fs.read", text)),
                segment => segments.push(segment),
            }
        }
        let absolute = format!("/{}", segments.join("/"));
        if absolute.len() > MAX_PATH_BYTES {
            return Err(invalid(member, "is longer than 4096 bytes"));
        }
        Ok(Self { absolute, relative })
    }

    /// The virtual path, as hostcalls take it.
    #[must_use]
    pub fn absolute(&self) -> &str {
        &self.absolute
    }

    /// The path of something below this one; `below` has no leading `/`, and empty means this path.
    #[must_use]
    pub fn join(&self, below: &str) -> Self {
        let absolute = match (below, self.absolute.as_str()) {
            ("", absolute) => absolute.to_owned(),
            (below, "/") => format!("/{below}"),
            (below, absolute) => format!("{absolute}/{below}"),
        };
        Self {
            absolute,
            relative: self.relative,
        }
    }

    /// How a response shows it: relative to `/workspace` if the request's path was relative.
    #[must_use]
    pub fn shown(&self) -> &str {
        if !self.relative {
            return &self.absolute;
        }
        match self.absolute.strip_prefix(WORKSPACE) {
            Some("") => ".",
            Some(below) => below.trim_start_matches('/'),
            None => &self.absolute,
        }
    }
}

/// `denied` for an operation of `kind` (`fs.read`, `fs.write`, …) on `value`.
#[must_use]
pub fn denied(kind: &str, value: &str) -> SkillError {
    SkillError::new("denied", &format!("{kind} of {value} is not allowed"))
        .with_details(json!({ "capability": format!("{kind}:{value}") }).to_string())
}

/// `wrong_type` and its reason.
#[must_use]
pub fn wrong_type(path: &Path, reason: &str) -> SkillError {
    SkillError::new("wrong_type", &format!("{}: {reason}", path.shown()))
        .with_details(json!({ "reason": reason }).to_string())
}

/// The error of a skill whose path answered `error` to an operation of `kind`.
#[must_use]
pub fn fs_error(kind: &str, path: &Path, error: FsError) -> SkillError {
    let plain = |code, what: &str| SkillError::new(code, &format!("{}: {what}", path.shown()));
    match error {
        FsError::Denied | FsError::LeavesMount | FsError::Symlink => denied(kind, path.absolute()),
        FsError::NotAccessible => plain(
            "denied",
            "the operating system does not let the host do this",
        )
        .with_details(
            json!({
                "capability": format!("{kind}:{}", path.absolute()),
                "reason": "permissions",
            })
            .to_string(),
        ),
        FsError::NotFound => plain("not_found", "no such file or directory"),
        FsError::IsDirectory => wrong_type(path, "directory"),
        FsError::NotDirectory => wrong_type(path, "not_directory"),
        FsError::Special => wrong_type(path, "special"),
        FsError::TooLarge => plain("too_large", "the file is too large"),
        FsError::InvalidPath => plain("invalid_request", "not a path that can exist"),
        FsError::FetchFailed => plain("network", "could not be fetched"),
        FsError::Conflict => plain("conflict", "changed meanwhile"),
        FsError::Io => plain("io", "input or output failed"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> Result<Path, SkillError> {
        Path::parse("path", text)
    }

    #[test]
    fn paths_are_normalised_lexically() {
        for (text, absolute) in [
            (".", "/workspace"),
            ("", "/workspace"),
            ("./a//b/../c/", "/workspace/a/c"),
            ("a/..", "/workspace"),
            ("/workspace/./a", "/workspace/a"),
            ("/os/x/..", "/os"),
            ("/", "/"),
        ] {
            assert_eq!(path(text).unwrap().absolute(), absolute, "{text}");
        }
        for text in ["..", "a/../..", "/..", "/os/../workspace", "/workspace/.."] {
            assert_eq!(path(text).unwrap_err().code(), "denied", "{text}");
        }
        assert_eq!(
            path(&"a".repeat(4097)).unwrap_err().code(),
            "invalid_request"
        );
    }

    #[test]
    fn responses_keep_the_form_of_the_request() {
        for (text, shown) in [
            (".", "."),
            ("./a/b", "a/b"),
            ("/workspace/a", "/workspace/a"),
            ("/workspace", "/workspace"),
            ("/os/a", "/os/a"),
        ] {
            assert_eq!(path(text).unwrap().shown(), shown, "{text}");
        }
        assert_eq!(path(".").unwrap().join("x/y").shown(), "x/y");
        assert_eq!(path("/os").unwrap().join("x").shown(), "/os/x");
    }
}
