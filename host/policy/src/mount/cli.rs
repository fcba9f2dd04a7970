//! Mounts of the command line: `--root DIR` and `--mount PREFIX=TARGET`, `--mount AT=DIR` of `run`.

use std::path::{Path, PathBuf};

use url::Url;

use super::base::https_base;
use super::is_mount_point;
use crate::{PolicyError, VirtualPath};

/// A mount of the command line: `--mount PREFIX=TARGET`, `--root DIR`, `--mount AT=DIR`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CliMount {
    /// Where the target appears.
    pub at: VirtualPath,
    /// What appears there.
    pub target: MountTarget,
    pub(super) role: Role,
}

/// What a flag may do to the mounts of a policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Fill a mount with `dir: "@cli"`, or add one at or below `/os`.
    FillOrAdd,
    /// Fill a mount with `dir: "@cli"`, and nothing else.
    Fill,
    /// Fill a mount with `dir: "@cli"`, or leave it empty, if there is one.
    Offer,
    /// The same, of a directory that may lie in one of hydrant's own.
    Granted,
}

/// What a mount of the command line maps to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MountTarget {
    /// A directory, absolute or relative to the working directory.
    Directory(PathBuf),
    /// An https base that ends with `/`; http only for a loopback host, and only with `--allow-http-loopback`.
    Https(Url),
    /// Nothing: nobody named a directory, and none is guessed.
    Nothing,
}

impl CliMount {
    /// Reads `--mount` of a command that takes both of its forms: `PREFIX=TARGET`, whose prefix ends with `/`, and `AT=DIR`.
    ///
    /// # Errors
    /// As [`os_prefix`](Self::os_prefix) and [`of_policy`](Self::of_policy).
    pub fn parse(flag: &str, allow_http_loopback: bool) -> Result<Self, PolicyError> {
        match flag.split_once('=') {
            Some((at, _)) if at.starts_with('/') && !at.ends_with('/') => Self::of_policy(flag),
            _ => Self::os_prefix(flag, allow_http_loopback),
        }
    }

    /// Reads `--mount PREFIX=TARGET` of `hydrate` and `syscall`: `/lib/` is at `/os/lib`, `/` is `/os`.
    ///
    /// # Errors
    /// [`PolicyError::Flag`] when the flag has not that form, or maps to plain http without leave.
    pub fn os_prefix(flag: &str, allow_http_loopback: bool) -> Result<Self, PolicyError> {
        let fault = |rule: String| PolicyError::flag(flag, rule);
        let (prefix, target) = flag
            .split_once('=')
            .ok_or_else(|| fault("write PREFIX=TARGET, for example /lib/=../ours".to_owned()))?;
        if !prefix.starts_with('/') || !prefix.ends_with('/') {
            return Err(fault("the prefix must begin and end with `/`".to_owned()));
        }
        let at = format!("/os{}", prefix.strip_suffix('/').unwrap_or(prefix));
        let at = VirtualPath::parse(&at).map_err(|invalid| fault(invalid.to_string()))?;
        // As in a policy: so no mount point has a character that an `os://` URI would escape.
        if !is_mount_point(&at) {
            return Err(fault(
                "the prefix must consist of letters, digits, `.`, `_` and `-`".to_owned(),
            ));
        }
        Ok(Self {
            at,
            target: MountTarget::parse(target, allow_http_loopback).map_err(fault)?,
            role: Role::FillOrAdd,
        })
    }

    /// Reads `--mount AT=DIR` of `run`: the directory of a mount that the policy has with `dir: "@cli"`, or of
    /// a mount of the default policy. It adds no mount.
    ///
    /// # Errors
    /// [`PolicyError::Flag`] when the flag has not that form.
    pub fn of_policy(flag: &str) -> Result<Self, PolicyError> {
        let fault = |rule: &str| PolicyError::flag(flag, rule);
        let (at, directory) = flag
            .split_once('=')
            .ok_or_else(|| fault("write AT=DIR, for example /workspace=../project"))?;
        let at = VirtualPath::parse(at)
            .ok()
            .filter(is_mount_point)
            .ok_or_else(|| fault("AT must be a mount of the policy, such as /workspace"))?;
        if has_scheme(directory) {
            return Err(fault("the target must be a directory"));
        }
        let target = MountTarget::parse(directory, false).map_err(|rule| fault(&rule))?;
        Ok(Self {
            at,
            target,
            role: Role::Fill,
        })
    }

    /// A directory for a mount that has `dir: "@cli"`, or one of the default policy, and that must be there.
    pub fn named(at: VirtualPath, directory: PathBuf) -> Self {
        Self::new(at, MountTarget::Directory(directory), Role::Fill)
    }

    /// A directory for a mount that has `dir: "@cli"`, or one of the default policy; of no account where there is no such
    /// mount. For what a command always maps, as `--workspace` of `jail`.
    pub fn offered(at: VirtualPath, directory: &Path) -> Self {
        let target = MountTarget::Directory(directory.to_owned());
        Self::new(at, target, Role::Offer)
    }

    /// Leaves a mount that has `dir: "@cli"`, or one of the default policy, empty: for a program that others start, whose
    /// working directory nobody chose.
    pub fn nothing(at: VirtualPath) -> Self {
        Self::new(at, MountTarget::Nothing, Role::Offer)
    }

    /// As [`offered`](Self::offered), of a directory that the host has made for this purpose among its own.
    pub fn granted(at: VirtualPath, directory: &Path) -> Self {
        let target = MountTarget::Directory(directory.to_owned());
        Self::new(at, target, Role::Granted)
    }

    /// `--root DIR`: the mount `/`, at `/os`.
    pub fn root(directory: &Path) -> Self {
        let target = MountTarget::Directory(directory.to_owned());
        Self::new(VirtualPath::os(), target, Role::FillOrAdd)
    }

    fn new(at: VirtualPath, target: MountTarget, role: Role) -> Self {
        Self { at, target, role }
    }

    /// The mount in the form of the policy's own mount points, for messages.
    pub(super) fn flag(&self) -> String {
        match &self.target {
            MountTarget::Directory(directory) => format!("{}={}", self.at, directory.display()),
            MountTarget::Https(url) => format!("{}={url}", self.at),
            MountTarget::Nothing => format!("{}=", self.at),
        }
    }
}

impl MountTarget {
    fn parse(text: &str, allow_http_loopback: bool) -> Result<Self, String> {
        if text.is_empty() {
            return Err("the target must not be empty".to_owned());
        }
        if !has_scheme(text) {
            return Ok(Self::Directory(PathBuf::from(text)));
        }
        let url = https_base(text).map_err(|rule| format!("the target {rule}"))?;
        if url.scheme() == "http" && !allow_http_loopback {
            return Err("an http target needs --allow-http-loopback".to_owned());
        }
        Ok(Self::Https(url))
    }
}

/// Whether a target was meant as a URL: `scheme://…`. A directory of such a name can be written `./scheme:/…`.
fn has_scheme(text: &str) -> bool {
    text.split_once("://").is_some_and(|(scheme, _)| {
        scheme.starts_with(|first: char| first.is_ascii_alphabetic())
            && scheme
                .chars()
                .all(|character| character.is_ascii_alphanumeric() || "+-.".contains(character))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_becomes_a_mount_point_below_os() {
        for (flag, at, target) in [
            ("/lib/=../ours", "/os/lib", "../ours"),
            ("/=/srv/os", "/os", "/srv/os"),
            ("/lib/ours/=a=b", "/os/lib/ours", "a=b"),
        ] {
            let mount = CliMount::os_prefix(flag, false).unwrap();
            assert_eq!(mount.at.as_str(), at);
            assert_eq!(mount.target, MountTarget::Directory(PathBuf::from(target)));
        }
        let mount = CliMount::os_prefix("/lib/=https://cdn.example/v3/", false).unwrap();
        assert_eq!(
            mount.target,
            MountTarget::Https(Url::parse("https://cdn.example/v3/").unwrap())
        );
        assert_eq!(
            CliMount::root(Path::new("x")),
            CliMount::os_prefix("/=x", false).unwrap()
        );
    }

    #[test]
    fn anything_else_is_a_usage_error() {
        for flag in [
            "",
            "/lib/",
            "lib/=x",
            "/lib=x",
            "lib=x",
            "=x",
            "/lib/=",
            "//=x",
            "/../=x",
            "/./=x",
            "/a//b/=x",
            "/a b/=x",
            "/%61/=x",
            "/lib/=https://cdn.example/v3",
            "/lib/=https://cdn.example/?q=/",
            "/lib/=http://cdn.example/",
            "/lib/=ftp://cdn.example/",
            "/lib/=file:///srv/",
            "/lib/=https://",
        ] {
            let error = CliMount::os_prefix(flag, true).unwrap_err();
            assert!(error.is_usage(), "{flag}");
        }
    }

    #[test]
    fn a_flag_of_run_names_a_mount_point_and_a_directory() {
        for (flag, at, target) in [
            ("/workspace=.", "/workspace", "."),
            ("/os=/srv/os", "/os", "/srv/os"),
            ("/os/lib=a=b", "/os/lib", "a=b"),
            ("/data=./https:", "/data", "./https:"),
        ] {
            let mount = CliMount::of_policy(flag).unwrap();
            assert_eq!(mount.at.as_str(), at);
            assert_eq!(mount.target, MountTarget::Directory(PathBuf::from(target)));
        }
        for flag in [
            "",
            "=",
            "/workspace",
            "/workspace=",
            "workspace=.",
            "/=.",
            "/workspace/=.",
            "/workspace/x=.",
            "/Workspace=.",
            "/os/lib/=.",
            "/os=https://cdn.example/",
            "/os=http://127.0.0.1/",
        ] {
            let error = CliMount::of_policy(flag).unwrap_err();
            assert!(error.is_usage(), "{flag}");
        }
    }

    #[test]
    fn http_needs_the_flag_and_a_loopback_host() {
        for target in [
            "http://127.0.0.1:8000/",
            "http://[::1]:8000/x/",
            "http://localhost/",
        ] {
            let flag = format!("/lib/={target}");
            assert!(CliMount::os_prefix(&flag, true).is_ok());
            assert!(
                CliMount::os_prefix(&flag, false)
                    .unwrap_err()
                    .to_string()
                    .contains("--allow-http-loopback")
            );
        }
    }
}
