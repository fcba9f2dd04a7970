//! Programs: which file a name stands for, and which names run whatever their arguments say (TP-27, TP-33).
//!
//! A program is looked up once, when the policy is loaded; `PATH` of the host process does not matter.

mod arguments;

use std::fs;
use std::path::{Path, PathBuf};

pub(super) use arguments::Arguments;

/// Where bare names are looked up, in this order.
const DIRECTORIES: [&str; 3] = ["/usr/local/bin", "/usr/bin", "/bin"];

/// Programs that run what their arguments say: a pattern for these would be leave to run anything (TP-33).
const INTERPRETERS: [&str; 21] = [
    "sh", "bash", "dash", "zsh", "ksh", "fish", "csh", "tcsh", "busybox", "env", "sudo", "su",
    "doas", "xargs", "nohup", "ssh", "python", "python3", "perl", "ruby", "node",
];

/// A program as a policy names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Program {
    /// The name calls use.
    name: String,
    /// The path, if the policy gives one; else the name is looked up.
    path: Option<PathBuf>,
}

impl Program {
    /// A bare name, or an absolute path whose last component is the name.
    pub(super) fn parse(text: &str) -> Result<Self, &'static str> {
        let (name, path) = if text.starts_with('/') {
            (
                text.rsplit('/').next().unwrap_or_default(),
                Some(PathBuf::from(text)),
            )
        } else {
            (text, None)
        };
        if is_name(name) && !text.contains('\0') {
            Ok(Self {
                name: name.to_owned(),
                path,
            })
        } else {
            Err(
                "must be a bare name (letters, digits, `.`, `_`, `+`, `-`) or an absolute path to one",
            )
        }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn is_interpreter(&self) -> bool {
        INTERPRETERS.contains(&self.name.as_str())
    }

    /// The executable file without links, if it is installed.
    pub(super) fn look_up(&self) -> Option<PathBuf> {
        match &self.path {
            Some(path) => executable(path),
            None => DIRECTORIES
                .iter()
                .find_map(|directory| executable(&Path::new(directory).join(&self.name))),
        }
    }
}

/// Whether a text has the form of a program's name, `^[A-Za-z0-9][A-Za-z0-9._+-]*$`.
pub(super) fn is_name(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphanumeric())
        && text
            .chars()
            .all(|character| character.is_ascii_alphanumeric() || "._+-".contains(character))
}

fn executable(path: &Path) -> Option<PathBuf> {
    use std::os::unix::fs::PermissionsExt;

    let real = fs::canonicalize(path).ok()?;
    let metadata = fs::metadata(&real).ok()?;
    (metadata.is_file() && metadata.permissions().mode() & 0o111 != 0).then_some(real)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tp_27_a_program_is_a_bare_name_or_an_absolute_path() {
        for (text, name) in [
            ("git", "git"),
            ("g++", "g++"),
            ("/opt/tools/7z", "7z"),
            ("python3.11", "python3.11"),
        ] {
            assert_eq!(Program::parse(text).unwrap().name(), name);
        }
        for bad in [
            "",
            "-x",
            ".x",
            "a/b",
            "./a",
            "a b",
            "a;b",
            "/",
            "/usr/bin/",
            "/a\0/b",
            "été",
        ] {
            assert!(Program::parse(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn tp_27_lookup_follows_links_and_wants_an_executable_file() {
        let shell = Program::parse("sh").unwrap().look_up().unwrap();
        assert!(shell.is_absolute() && !shell.is_symlink());
        let missing = [
            "no-such-program-here",
            "/usr/bin/no-such-program-here",
            "/usr/bin",
            "/etc/passwd",
        ];
        assert!(
            missing
                .iter()
                .all(|text| Program::parse(text).unwrap().look_up().is_none())
        );
    }

    #[test]
    fn tp_33_interpreters_are_known_by_name() {
        assert!(Program::parse("/opt/bin/bash").unwrap().is_interpreter());
        assert!(!Program::parse("git").unwrap().is_interpreter());
    }
}
