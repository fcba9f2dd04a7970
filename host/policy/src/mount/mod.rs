//! Mounts: which directory, or which https base, stands behind a virtual path.
//!
//! A directory is opened once, when the policy is loaded, and all later access goes through that handle. What
//! maps a path is decided from the text of the path alone.

mod allowed;
mod base;
mod cli;
mod narrow;
mod open;
mod own;
mod table;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use cap_std::fs::Dir;

pub use allowed::AllowedPath;
pub(super) use base::{encode, https_base};
pub use cli::{CliMount, MountTarget};
use open::{OpenError, open_directory};
pub use own::OwnMount;
pub(super) use table::{Mapped, MountTable, Mounted, Origins};

use super::VirtualPath;

/// A mounted directory. Cheap to clone; all clones share the one handle.
#[derive(Clone, Debug)]
pub struct MountHandle(Arc<MountedDirectory>);

#[derive(Debug)]
struct MountedDirectory {
    at: VirtualPath,
    directory: Dir,
    real: PathBuf,
    granted: bool,
}

impl MountHandle {
    /// Opens `directory`, relative to `base`, which is absolute and without links.
    fn open(
        at: &VirtualPath,
        base: &Path,
        directory: &Path,
        granted: bool,
    ) -> Result<Self, OpenError> {
        let (directory, real) = open_directory(base, directory)?;
        Ok(Self(Arc::new(MountedDirectory {
            at: at.clone(),
            directory,
            real,
            granted,
        })))
    }

    /// The handle that was opened when the policy was loaded.
    pub fn dir(&self) -> &Dir {
        &self.0.directory
    }

    /// Where the directory appears.
    pub fn at(&self) -> &VirtualPath {
        &self.0.at
    }

    /// Whether the host itself named the directory for this purpose: it may then lie in a directory of hydrant's own.
    pub fn is_granted(&self) -> bool {
        self.0.granted
    }

    /// The real path, absolute and without links. For starting children and for taking it out of what they print; never shown
    /// to a guest, in an error or in an answer.
    pub fn real(&self) -> &Path {
        &self.0.real
    }
}

/// Whether a policy may mount there: `/name`, and below `/os` also further plain segments.
pub(super) fn is_mount_point(path: &VirtualPath) -> bool {
    let mut segments = path.segments();
    let first = segments.next().unwrap_or_default();
    let plain = |extra: &'static str| {
        move |character: char| character.is_ascii_alphanumeric() || extra.contains(character)
    };
    first.len() <= 32
        && first.starts_with(|character: char| character.is_ascii_lowercase())
        && first
            .chars()
            .all(|character| plain("_-")(character) && !character.is_ascii_uppercase())
        && segments.all(|segment| first == "os" && segment.chars().all(plain("._-")))
}

/// What a process in the jail has directly below its root. A mount there would hide it, or be hidden.
const OF_PROCESSES: [&str; 14] = [
    "bin", "dev", "etc", "lib", "lib32", "lib64", "libx32", "nix", "opt", "proc", "run", "sbin",
    "tmp", "usr",
];

/// Whether a process in the jail has something else there.
pub(super) fn is_of_processes(path: &VirtualPath) -> bool {
    let first = path.segments().next();
    first.is_some_and(|first| OF_PROCESSES.contains(&first))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mount_points_are_short_names_and_paths_below_os() {
        for good in [
            "/workspace",
            "/os",
            "/a-b_9",
            "/os/lib",
            "/os/Lib.v2/x_y-z",
            &format!("/{}", "a".repeat(32)),
        ] {
            assert!(is_mount_point(&VirtualPath::parse(good).unwrap()), "{good}");
        }
        for bad in [
            "/",
            "/Workspace",
            "/9",
            "/_a",
            "/a.b",
            "/workspace/x",
            "/os/a b",
            "/os/é",
            &format!("/{}", "a".repeat(33)),
        ] {
            assert!(!is_mount_point(&VirtualPath::parse(bad).unwrap()), "{bad}");
        }
    }
}
