//! Where an allowed path lies, and how far it may lead.

use std::path::Path;

use super::MountHandle;
use crate::VirtualPath;

/// A path in a mounted directory, and the directory of the narrowest rule that allows it. What the path leads to must lie
/// in that directory: a link in it to another part of the mount leads to what the rule does not allow.
#[derive(Clone, Debug)]
pub struct AllowedPath {
    mount: MountHandle,
    relative: String,
    /// Bytes of `relative` that name the directory of the rule.
    rule: usize,
    /// Where other mounts lie below this one, relative to it: what this one holds there is nobody's.
    covered: Vec<String>,
}

impl AllowedPath {
    /// `path`, which `mount` holds; none if it does not. `covered` are mount points below that of `mount`.
    pub(crate) fn new(
        mount: MountHandle,
        path: &VirtualPath,
        covered: Vec<String>,
    ) -> Option<Self> {
        Some(Self {
            relative: path.strip_prefix(mount.at())?.to_owned(),
            mount,
            rule: 0,
            covered,
        })
    }

    /// The same under a rule that names `directory`, which holds the path.
    #[must_use]
    pub(crate) fn under(self, directory: &VirtualPath) -> Self {
        let named = directory.strip_prefix(self.mount.at());
        Self {
            rule: self.rule.max(named.map_or(0, str::len)),
            ..self
        }
    }

    /// The mount; everything is opened beneath its handle.
    pub fn mount(&self) -> &MountHandle {
        &self.mount
    }

    /// The path below the mount, without a leading slash; `""` is the mount itself.
    pub fn relative(&self) -> &str {
        &self.relative
    }

    /// The directory of the rule below the mount, and the path below that directory.
    pub fn rule(&self) -> (&str, &str) {
        let (rule, rest) = self
            .relative
            .split_at_checked(self.rule)
            .unwrap_or_default();
        (rule, rest.strip_prefix('/').unwrap_or(rest))
    }

    /// Whether what lies there below the mount is in the directory of the rule, and in no other mount.
    pub fn holds(&self, below: &Path) -> bool {
        below.starts_with(self.rule().0)
            && !self.covered.iter().any(|other| below.starts_with(other))
    }

    /// Where other mounts lie in the directory `below` the mount, relative to it.
    pub fn covered_in(&self, below: &Path) -> Vec<&Path> {
        let covered = self.covered.iter();
        covered
            .filter_map(|other| Path::new(other).strip_prefix(below).ok())
            .collect()
    }
}
