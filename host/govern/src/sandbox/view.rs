//! What a policy names of the world outside: directories of the host, and pairs for egress.

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use hydrant_jail::{Access, InsidePath, Mount, is_of_the_system};
use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};
use serde_json::Value;

use super::Settings;
use super::plan::{INPUT, OUTPUT};
use crate::failure::{Code, Failure};
use hydrant_plan::Policy;

/// The jail's own places and the host's, beside those of the system: nothing of a document is mounted over them or in
/// them.
const TAKEN: [&str; 8] = [
    INPUT, OUTPUT, "/run", "/proc", "/sys", "/dev", "/etc", "/boot",
];

/// The directories of the policy beside `/input` and `/output`.
///
/// # Errors
///
/// `path-not-allowed` for one that does not lie in a directory of the configuration, is not there or behind a link there,
/// is hydrant's own, or has the place of something of the jail; `invalid-plan` for what is no list of paths.
pub(super) fn mounts(policy: &Policy, settings: &Settings) -> Result<Vec<Mount>, Failure> {
    let mut found: Vec<Mount> = Vec::new();
    for (list, own, roots, access) in [
        ("write", OUTPUT, &settings.fs_write, Access::ReadWrite),
        ("read", INPUT, &settings.fs_read, Access::ReadOnly),
    ] {
        for path in texts(&policy.filesystem, list)? {
            let named = Path::new(path);
            // What the program writes, or has for itself, it may read as well.
            if named.starts_with(own) || named.starts_with(OUTPUT) || named == Path::new("/tmp") {
                continue;
            }
            let refused = |why: &str| {
                let shown: String = path.chars().take(120).collect();
                Failure::new(Code::PathNotAllowed, format!("{shown} {why}"))
                    .at_path(format!("sandbox.filesystem.{list}"))
            };
            let at = InsidePath::new(named)
                .map_err(|_| refused("is not an absolute path without `.` and `..`"))?;
            // Below `/tmp`, which is the jail's own, there is room for a mount.
            if named == Path::new("/")
                || is_of_the_system(named)
                || TAKEN.iter().any(|taken| named.starts_with(taken))
            {
                return Err(refused("is a place of the jail itself"));
            }
            // The approval names this directory: a link on the way from the configured one would lead to another.
            let below = |root: &PathBuf| {
                let below = named.strip_prefix(root).ok()?;
                let real: PathBuf = std::fs::canonicalize(root)
                    .ok()?
                    .join(below)
                    .components()
                    .collect();
                (std::fs::canonicalize(&real).ok()? == real).then_some(real)
            };
            let Some(real) = roots.iter().find_map(below) else {
                let key = if access == Access::ReadOnly {
                    "fs_read"
                } else {
                    "fs_write"
                };
                return Err(refused(
                    "is not there, behind a link, or in no directory of the configuration",
                )
                .with_hint(format!("`{key}` of `[govern]` lists what skills may use")));
            };
            if is_own(&real, &settings.protected) {
                return Err(refused("holds what is hydrant's own"));
            }
            if found.iter().any(|mount| mount.at == at) {
                // Named for writing as well.
                continue;
            }
            found.push(Mount {
                source: exactly(&real).map_err(|error| refused(&error.to_string()))?,
                at,
                access,
                executable: false,
            });
        }
    }
    Ok(found)
}

/// Whether it lies in one of these directories, or contains one.
fn is_own(real: &Path, protected: &[PathBuf]) -> bool {
    protected.iter().any(|own| {
        let own = std::fs::canonicalize(own).unwrap_or_else(|_| own.clone());
        real.starts_with(&own) || own.starts_with(real)
    })
}

/// Opens a real path: should a link have come into it since, it is refused.
fn exactly(real: &Path) -> io::Result<OwnedFd> {
    Ok(openat2(
        CWD,
        real,
        OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC,
        Mode::empty(),
        ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS,
    )?)
}

/// The pairs of the policy; empty for `none`.
pub(super) fn egress(policy: &Policy) -> Result<Vec<String>, Failure> {
    match policy.network.get("egress") {
        None => Ok(Vec::new()),
        Some(Value::String(none)) if none == "none" => Ok(Vec::new()),
        Some(_) => Ok(texts(&policy.network, "egress")?
            .into_iter()
            .map(str::to_owned)
            .collect()),
    }
}

fn texts<'p>(object: &'p Value, key: &str) -> Result<Vec<&'p str>, Failure> {
    let wrong = || {
        let message = format!("`{key}` of the policy is not a list of texts");
        Failure::new(Code::InvalidPlan, message)
    };
    match object.get(key) {
        None => Ok(Vec::new()),
        Some(Value::Array(list)) => list
            .iter()
            .map(|one| one.as_str().ok_or_else(wrong))
            .collect(),
        Some(_) => Err(wrong()),
    }
}

/// A reference to a file, for mounting.
pub(super) fn reference(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(rustix::fs::open(path, flags, Mode::empty())?)
}
