//! Which program a jailed agent is: a name is looked for in the directories of the system, which inside are what they are
//! outside; a path is one of the jail.

use std::ffi::{OsStr, OsString};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{Access, access};

use super::{AgentError, BINARY};
use crate::jail::InsidePath;

/// `PATH` of the jail.
pub(super) const PATH: [&str; 7] = [
    "/run/hydrant/bin",
    "/usr/local/sbin",
    "/usr/local/bin",
    "/usr/sbin",
    "/usr/bin",
    "/sbin",
    "/bin",
];

/// As shells have it.
const NOT_EXECUTABLE: u8 = 126;
const NOT_FOUND: u8 = 127;

/// The path of the program inside; `directory` is where it starts.
pub(super) fn resolve(
    name: Option<&OsString>,
    directory: &InsidePath,
) -> Result<InsidePath, AgentError> {
    let name = name.map(OsString::as_os_str).unwrap_or_default();
    if name.is_empty() {
        return Err(not_found(name, ""));
    }
    if name.as_encoded_bytes().contains(&b'/') {
        let path = normal(&directory.as_path().join(name));
        return Ok(InsidePath::new(path)?);
    }
    if name == "hydrant" {
        return Ok(InsidePath::new(BINARY)?);
    }
    match in_directories(name, PATH.iter().map(PathBuf::from)) {
        Some(path) => Ok(InsidePath::new(path)?),
        None => {
            let ours = std::env::var_os("PATH").unwrap_or_default();
            let elsewhere = in_directories(name, std::env::split_paths(&ours));
            let hint = elsewhere.map(|path| {
                format!(
                    ": {} is outside of what the jail shows, the system directories and what is mounted",
                    path.display()
                )
            });
            Err(not_found(name, &hint.unwrap_or_default()))
        }
    }
}

/// What `execve` said.
pub(super) fn not_executable(name: &OsStr, errno: i32) -> AgentError {
    if matches!(errno, libc::ENOENT | libc::ENOTDIR) {
        return not_found(name, " in the jail, or its interpreter is not");
    }
    let error = std::io::Error::from_raw_os_error(errno);
    AgentError::NotStarted {
        status: NOT_EXECUTABLE,
        message: format!("{} cannot be executed: {error}", name.display()),
    }
}

fn not_found(name: &OsStr, hint: &str) -> AgentError {
    AgentError::NotStarted {
        status: NOT_FOUND,
        message: format!("{} is not there{hint}", name.display()),
    }
}

fn in_directories(name: &OsStr, directories: impl Iterator<Item = PathBuf>) -> Option<PathBuf> {
    directories
        .map(|directory| directory.join(name))
        .find(|path| path.is_file() && access(path, Access::EXEC_OK).is_ok())
}

/// Without `.` and `..`, as text: links inside are not known here.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::from("/");
    for part in path.components() {
        match part {
            Component::Normal(name) => normal.push(name),
            Component::ParentDir => drop(normal.pop()),
            Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
        }
    }
    normal
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_of_the_system_and_a_path_is_one_of_the_jail() {
        let workspace = InsidePath::new("/workspace").unwrap();
        let found = |name: &str| match resolve(Some(&name.into()), &workspace) {
            Ok(path) => path.to_string(),
            Err(AgentError::NotStarted { status, .. }) => status.to_string(),
            Err(error) => panic!("{error}"),
        };
        assert_eq!(found("hydrant"), BINARY);
        assert!(["/usr/bin/sh", "/bin/sh"].contains(&found("sh").as_str()));
        assert_eq!(found("./agent"), "/workspace/agent");
        assert_eq!(found("bin/../agent"), "/workspace/agent");
        assert_eq!(found("/opt/agent"), "/opt/agent");
        assert_eq!(found("../../../opt/agent"), "/opt/agent");
        assert_eq!(found(""), "127");
        assert_eq!(found("no-such-program-anywhere"), "127");
    }
}
