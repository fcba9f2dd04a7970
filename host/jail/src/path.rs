//! A path inside the jail: absolute, without `.` and `..`, so that its text says where it leads.

use std::fmt;
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::bytes::Bytes;

/// Longest path that the kernel takes, with its final zero byte.
const PATH_MAX: usize = 4096;

/// An absolute, normal path inside the jail.
///
/// ```
/// use hydrant_jail::InsidePath;
/// assert!(InsidePath::new("/run/tool").is_ok());
/// assert!(InsidePath::new("run/tool").is_err());
/// assert!(InsidePath::new("/run/../etc").is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "Bytes", into = "Bytes")]
pub struct InsidePath(PathBuf);

/// A path that cannot be one of the jail.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{} is not an absolute path without `.` and `..`", .0.display())]
pub struct NotInside(PathBuf);

impl InsidePath {
    /// Checks `path`.
    ///
    /// # Errors
    /// The path is relative, has a component `.` or `..`, a zero byte, or 4096 bytes or more.
    pub fn new(path: impl Into<PathBuf>) -> Result<Self, NotInside> {
        let path = path.into();
        let bytes = path.as_os_str().as_encoded_bytes();
        // `components` drops `.` in the middle; the comparison with what it gives finds these and doubled slashes.
        let normal: PathBuf = path.components().collect();
        let plain = path
            .components()
            .all(|part| matches!(part, Component::RootDir | Component::Normal(_)));
        if path.is_absolute()
            && plain
            && normal.as_os_str() == path.as_os_str()
            && !bytes.contains(&0)
            && bytes.len() < PATH_MAX
        {
            Ok(Self(path))
        } else {
            Err(NotInside(path))
        }
    }

    /// The root of the jail.
    pub fn root() -> Self {
        Self(PathBuf::from("/"))
    }

    /// The path as text.
    pub fn as_path(&self) -> &Path {
        &self.0
    }

    /// Its components below the root.
    #[cfg(target_os = "linux")]
    pub(super) fn names(&self) -> impl Iterator<Item = &std::ffi::OsStr> {
        self.0.components().filter_map(|part| match part {
            Component::Normal(name) => Some(name),
            _ => None,
        })
    }
}

impl From<NotInside> for std::io::Error {
    fn from(error: NotInside) -> Self {
        Self::new(std::io::ErrorKind::InvalidInput, error)
    }
}

impl fmt::Display for InsidePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.display().fmt(f)
    }
}

impl From<InsidePath> for Bytes {
    fn from(path: InsidePath) -> Self {
        Self::from(path.0.as_os_str())
    }
}

impl TryFrom<Bytes> for InsidePath {
    type Error = NotInside;

    fn try_from(bytes: Bytes) -> Result<Self, NotInside> {
        Self::new(bytes.into_os_string())
    }
}

#[cfg(test)]
mod tests {
    use super::InsidePath;

    #[test]
    fn what_leads_elsewhere_is_refused() {
        for wrong in [
            "", "a", "./a", "/a/./b", "/a/../b", "/..", "/a//b", "/a/", "/a\0b",
        ] {
            assert!(InsidePath::new(wrong).is_err(), "{wrong:?}");
        }
        for right in ["/", "/a", "/a/b.c/..d"] {
            assert!(InsidePath::new(right).is_ok(), "{right:?}");
        }
    }
}
