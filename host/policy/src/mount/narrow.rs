//! Mounts of a tenant or a run in place of the policy's: the same directory or one below it, and no wider mode.
//!
//! Directories are compared through the handles that were opened when the policies were loaded, never by their names.

use std::io;

use cap_std::fs::Dir;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{Mode as Permissions, OFlags, Stat, fstat, openat};

use super::{Mapped, MountTable, Mounted};
use crate::document::Mode;
use crate::error::PolicyError;

/// Directories between two others at most; Linux allows no deeper names in one piece.
const DEEPEST: usize = 4096;

impl MountTable {
    /// This table with the mounts of a layer in place of its own; `policy` is the table of the policy layer, which alone
    /// says what may be mounted, and `file` names the layer.
    pub(crate) fn narrowed(
        &self,
        layer: &Self,
        policy: &Self,
        file: &str,
    ) -> Result<Self, PolicyError> {
        for mount in &layer.mounts {
            mount
                .check_within(policy.at(&mount.at))
                .map_err(|rule| mount.constraint(file, rule))?;
        }
        let narrowed = self
            .mounts
            .iter()
            .map(|mount| match layer.at(&mount.at) {
                Some(narrower) => mount.narrowed(narrower, file),
                None => Ok(Mounted {
                    mapped: Mapped::Unlisted,
                    ..mount.clone()
                }),
            })
            .collect::<Result<_, _>>()?;
        // The order, longest first, is that of this table.
        Ok(Self { mounts: narrowed })
    }
}

impl Mounted {
    /// Whether this mount of a layer may stand in place of the policy's.
    fn check_within(&self, policy: Option<&Self>) -> Result<(), String> {
        let Some(policy) = policy else {
            return Err("must be a mount of the policy, which mounts nothing there".to_owned());
        };
        if self.mode == Mode::ReadWrite && policy.mode == Mode::ReadOnly {
            return Err("must not have mode: rw, because the policy mounts it ro".to_owned());
        }
        match self.mapped.is_within(&policy.mapped) {
            Ok(true) => Ok(()),
            Ok(false) => Err("must be what the policy mounts there, or lie below it".to_owned()),
            Err(error) => Err(format!(
                "cannot be compared with what the policy mounts there: {error}"
            )),
        }
    }

    /// What both this mount and `other` allow, of which one lies within the other.
    fn narrowed(&self, other: &Self, file: &str) -> Result<Self, PolicyError> {
        if matches!(self.mapped, Mapped::Unlisted | Mapped::Unnamed) {
            return Ok(self.clone());
        }
        let within = |inner: &Self, outer: &Self| inner.mapped.is_within(&outer.mapped);
        let narrower = match (within(other, self), within(self, other)) {
            (Ok(true), _) => other,
            (_, Ok(true)) => self,
            _ => {
                let rule = "must lie within what the tenant layer mounts there, or hold it";
                return Err(other.constraint(file, rule.to_owned()));
            }
        };
        let mode = match (self.mode, other.mode) {
            (Mode::ReadWrite, Mode::ReadWrite) => Mode::ReadWrite,
            _ => Mode::ReadOnly,
        };
        Ok(Self {
            mode,
            ..narrower.clone()
        })
    }

    fn constraint(&self, file: &str, rule: String) -> PolicyError {
        let member = format!("the mount {}", self.at);
        PolicyError::constraint(file, self.line.unwrap_or(1), member, rule)
    }
}

impl Mapped {
    fn is_within(&self, outer: &Self) -> io::Result<bool> {
        Ok(match (self, outer) {
            (Self::Directory(inner), Self::Directory(outer)) => {
                lies_within(inner.dir(), outer.dir())?
            }
            // Nothing lies within whatever it is.
            (Self::Unnamed, _) => true,
            // Both are normalised, without user, query and fragment, and end with `/`.
            (Self::Https(inner), Self::Https(outer)) => inner.as_str().starts_with(outer.as_str()),
            _ => false,
        })
    }
}

/// Whether `inner` is the directory `outer` or lies below it, by walking up from the one to the other.
fn lies_within(inner: &Dir, outer: &Dir) -> io::Result<bool> {
    let identity = |directory: BorrowedFd<'_>| -> io::Result<_> {
        let Stat { st_dev, st_ino, .. } = fstat(directory)?;
        Ok((st_dev, st_ino))
    };
    let wanted = identity(outer.as_fd())?;
    let mut found = identity(inner.as_fd())?;
    let mut handle: Option<OwnedFd> = None;
    for _ in 0..DEEPEST {
        if found == wanted {
            return Ok(true);
        }
        let here = handle.as_ref().map_or(inner.as_fd(), OwnedFd::as_fd);
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let parent = openat(here, "..", flags | super::open::PASS, Permissions::empty())?;
        let above = identity(parent.as_fd())?;
        // Only the root is its own parent.
        if above == found {
            return Ok(false);
        }
        found = above;
        handle = Some(parent);
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use cap_std::ambient_authority;

    use super::*;

    fn open(path: &Path) -> Dir {
        Dir::open_ambient_dir(path, ambient_authority()).unwrap()
    }

    #[test]
    fn a_directory_lies_within_itself_and_those_above_it() {
        let scratch = tempfile::tempdir().unwrap();
        let root = scratch.path();
        fs::create_dir_all(root.join("a/b/c")).unwrap();
        fs::create_dir_all(root.join("ab")).unwrap();
        let within = |inner: &str, outer: &str| {
            lies_within(&open(&root.join(inner)), &open(&root.join(outer))).unwrap()
        };
        for (inner, outer) in [("a", "a"), ("a/b", "a"), ("a/b/c", "a"), ("a/b/c", "")] {
            assert!(within(inner, outer), "{inner} {outer}");
        }
        for (inner, outer) in [("a", "a/b"), ("ab", "a"), ("", "a"), ("a/b", "ab")] {
            assert!(!within(inner, outer), "{inner} {outer}");
        }
        assert!(lies_within(&open(root), &open(Path::new("/"))).unwrap());
        assert!(!lies_within(&open(Path::new("/")), &open(root)).unwrap());
    }

    #[test]
    fn the_handle_counts_and_not_the_name() {
        let scratch = tempfile::tempdir().unwrap();
        let root = scratch.path();
        fs::create_dir_all(root.join("a/b")).unwrap();
        let (outer, inner) = (open(&root.join("a")), open(&root.join("a/b")));
        fs::rename(root.join("a/b"), root.join("moved")).unwrap();
        fs::create_dir(root.join("a/b")).unwrap();
        assert!(!lies_within(&inner, &outer).unwrap());
        assert!(lies_within(&open(&root.join("a/b")), &outer).unwrap());
    }
}
