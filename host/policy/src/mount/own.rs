//! Directories that the host itself mounts for one call of one skill, such as the catalogue of `prompt.hydrate`.
//!
//! They are read only, whoever calls. They add nothing to what a manifest declares.

use std::io;
use std::path::Path;

use super::{AllowedPath, MountHandle};
use crate::VirtualPath;
use crate::grant::Location;

/// A directory that the host mounts for a call.
#[derive(Clone, Debug)]
pub struct OwnMount(MountHandle);

impl OwnMount {
    /// A directory that the user named for this very purpose: no ceiling has to hold it.
    ///
    /// # Errors
    /// It is no directory, or cannot be opened.
    pub fn granted(at: VirtualPath, directory: &Path) -> io::Result<Self> {
        Self::open(&at, directory, true)
    }

    /// A directory that every ceiling must hold by its mount point, as if the policy mounted it.
    ///
    /// # Errors
    /// As [`granted`](Self::granted).
    pub fn under_ceilings(at: VirtualPath, directory: &Path) -> io::Result<Self> {
        Self::open(&at, directory, false)
    }

    fn open(at: &VirtualPath, directory: &Path, granted: bool) -> io::Result<Self> {
        // Whoever names it may name it by a link; what lies in it is opened beneath the handle.
        let real = std::fs::canonicalize(directory)?;
        let opened = MountHandle::open(at, Path::new("/"), &real, granted);
        opened.map(Self).map_err(io::Error::other)
    }

    /// Where it appears.
    pub fn at(&self) -> &VirtualPath {
        self.0.at()
    }

    /// Whether the ceilings count for it.
    pub fn is_under_ceilings(&self) -> bool {
        !self.0.is_granted()
    }

    /// Where `path` is read from; none if this mount does not hold it.
    pub(crate) fn locate(&self, path: &VirtualPath) -> Option<Location> {
        AllowedPath::new(self.0.clone(), path, Vec::new()).map(Location::Directory)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{Grant, LayerFiles, Layers};
    use hydrant_trust::Capability;

    fn capability(value: &str) -> Capability {
        Capability {
            kind: "fs.read".to_owned(),
            value: value.to_owned(),
        }
    }

    fn path(text: &str) -> VirtualPath {
        VirtualPath::parse(text).unwrap()
    }

    #[test]
    fn a_host_mount_is_read_only_where_the_manifest_declares_it() {
        let folder = tempfile::tempdir().unwrap();
        let own: Arc<[OwnMount]> =
            Arc::new([OwnMount::granted(path("/catalog"), folder.path()).unwrap()]);
        let layers = Layers::load_unmounted(LayerFiles::default()).unwrap();
        let grant = |declared: &str| {
            Grant::new(layers.clone(), &[capability(declared)]).with_own_mounts(Arc::clone(&own))
        };
        assert!(grant("/catalog").read(&path("/catalog/a.md")).is_ok());
        assert!(grant("/workspace").read(&path("/catalog/a.md")).is_err());
        assert!(grant("/catalog").write(&path("/catalog/a.md")).is_err());
        // Of the default policy nothing is mounted here.
        assert!(grant("/workspace").read(&path("/workspace/a.md")).is_err());
    }

    /// A policy that lets nobody read the workspace counts for the working tree, whoever mounts it.
    #[test]
    fn a_ceiling_without_the_workspace_denies_the_working_tree() {
        let folder = tempfile::tempdir().unwrap();
        let policy = folder.path().join("policy.yaml");
        std::fs::write(
            &policy,
            "version: 1\ntrusted_signers: [a]\ncapability_ceiling: {fs: {read: [/os]}}\n",
        )
        .unwrap();
        let layers = Layers::load_unmounted(LayerFiles {
            policy: Some(&policy),
            ..LayerFiles::default()
        })
        .unwrap();
        let at = path("/workspace");
        for (mount, allowed) in [
            (OwnMount::under_ceilings(at.clone(), folder.path()), false),
            (OwnMount::granted(at, folder.path()), true),
        ] {
            let grant = Grant::new(layers.clone(), &[capability("/workspace")])
                .with_own_mounts(Arc::new([mount.unwrap()]));
            assert_eq!(grant.read(&path("/workspace/a")).is_ok(), allowed);
        }
    }
}
