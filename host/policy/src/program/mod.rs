//! Programs: which file a name stands for, and which names run whatever their arguments say.
//!
//! A program is looked up once, when the policy is loaded; `PATH` of the host process does not matter.

mod arguments;

use std::fs;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Deserialize;

pub(super) use arguments::Arguments;

/// Where bare names are looked up, in this order.
const DIRECTORIES: [&str; 3] = ["/usr/local/bin", "/usr/bin", "/bin"];

/// Programs that run what their arguments say: a pattern for these would be leave to run anything. And
/// `busybox`, see [`is_busybox`].
const INTERPRETERS: [&str; 20] = [
    "sh", "bash", "dash", "zsh", "ksh", "fish", "csh", "tcsh", "env", "sudo", "su", "doas",
    "xargs", "nohup", "ssh", "python", "python3", "perl", "ruby", "node",
];

/// A program as a policy names it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(try_from = "String")]
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

    /// Whether it runs what its arguments say: by its own name, or by that of the file it leads to.
    ///
    /// This finds the interpreters of the list under another name or version; it cannot find a copy of one,
    /// a script that starts one, or a program that runs others on the side, such as `find` or `git`.
    pub(super) fn is_interpreter(&self) -> bool {
        let leads_to = self.look_up();
        let leads_to = leads_to.as_deref().and_then(Path::file_name);
        is_busybox(&self.name)
            || is_interpreter_name(&self.name)
            || leads_to.is_some_and(|name| is_interpreter_name(&name.to_string_lossy()))
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

/// BusyBox is what its own name says: the applet of that name, and any applet at all where the name begins
/// with `busybox`. So a link to it is judged by the name of the link alone: `ls` stays `ls`.
fn is_busybox(name: &str) -> bool {
    name.starts_with("busybox")
}

fn is_interpreter_name(name: &str) -> bool {
    // There are file systems that do not tell `Bash` from `bash`.
    let name = name.to_ascii_lowercase();
    [name.as_str(), without_version(&name)]
        .iter()
        .any(|name| INTERPRETERS.contains(name))
}

/// `python3.11`, `python3.13t`, `bash-5.2` or `perl5.36-x86_64-linux-gnu` without what begins at the version;
/// any other name as it is, `node2nix` too.
fn without_version(name: &str) -> &str {
    let is_version = |text: &str| {
        let rest = text.trim_start_matches(|one: char| one.is_ascii_digit() || one == '.');
        rest.len() <= 1 || rest.starts_with('-')
    };
    name.find(|one: char| one.is_ascii_digit())
        .and_then(|at| name.split_at_checked(at))
        .filter(|(_, version)| is_version(version))
        .map_or(name, |(stem, _)| stem.trim_end_matches(['-', '.', '_']))
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
    fn a_program_is_a_bare_name_or_an_absolute_path() {
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
    fn lookup_follows_links_and_wants_an_executable_file() {
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
    fn interpreters_are_known_by_name() {
        assert!(Program::parse("/opt/bin/bash").unwrap().is_interpreter());
        assert!(!Program::parse("git").unwrap().is_interpreter());
    }

    #[test]
    fn a_version_does_not_hide_an_interpreter() {
        for name in [
            "python3",
            "python2",
            "python3.11",
            "python3.13t",
            "python3-dbg",
            "perl5.36",
            "perl5.36.0",
            "perl5.36-x86_64-linux-gnu",
            "ruby3.1",
            "ruby-3.1",
            "bash-5.2",
            "ksh93",
            "node18",
            "Python",
            "busybox",
            "busybox-static",
            "busybox.nosuid",
        ] {
            // A directory that does not exist: only the name counts.
            let program = Program::parse(&format!("/no/such/place/{name}")).unwrap();
            assert!(program.is_interpreter(), "{name}");
        }
        for name in [
            "ssh-keygen",
            "node2nix",
            "7z",
            "sha256sum",
            "shellcheck",
            "envsubst",
            "python-config",
            "g++-12",
        ] {
            let program = Program::parse(&format!("/no/such/place/{name}")).unwrap();
            assert!(!program.is_interpreter(), "{name}");
        }
    }

    #[test]
    fn a_link_does_not_hide_an_interpreter() {
        use std::os::unix::fs::{PermissionsExt, symlink};

        let directory = tempfile::tempdir().unwrap();
        let directory = directory.path();
        for file in ["bash-5.2", "busybox", "report.pl"] {
            fs::write(directory.join(file), "").unwrap();
            let executable = fs::Permissions::from_mode(0o755);
            fs::set_permissions(directory.join(file), executable).unwrap();
        }
        for (link, target) in [
            ("step", "bash-5.2"),
            ("report", "step"),
            ("ls", "busybox"),
            ("sh", "busybox"),
            ("summary", "report.pl"),
        ] {
            symlink(target, directory.join(link)).unwrap();
        }
        for (name, is_interpreter) in [
            ("step", true),
            ("report", true),
            ("ls", false),
            ("sh", true),
            ("summary", false),
        ] {
            let path = directory.join(name);
            let program = Program::parse(path.to_str().unwrap()).unwrap();
            assert_eq!(program.is_interpreter(), is_interpreter, "{name}");
        }
    }
}
