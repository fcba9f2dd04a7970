//! Which mounts a child sees, and where in them something lies.

use std::path::{Path, PathBuf};

use crate::fs::{self, Found};
use hydrant_policy::{MountHandle, VirtualPath};

/// The mount that holds a path, and the rest of the path.
pub(super) fn holding<'m>(
    mounts: &'m [MountHandle],
    path: &'m VirtualPath,
) -> Option<(&'m MountHandle, &'m str)> {
    mounts
        .iter()
        .filter_map(|mount| Some((mount, path.strip_prefix(mount.at())?)))
        .min_by_key(|(_, rest)| rest.len())
}

/// The mounts that can be shown with each other, the outermost first: an inner one needs a directory of its name in the
/// outer one, in which nothing is created. The `wanted` one is among them, if need be without those around it.
pub(super) fn shown_together(
    mounts: Vec<MountHandle>,
    wanted: Option<&MountHandle>,
) -> Vec<MountHandle> {
    let fits = |outer: &MountHandle, inner: &MountHandle| match inner.at().strip_prefix(outer.at())
    {
        None => true,
        Some(rest) => Found::of(&(outer.dir(), rest)).is_ok_and(|found| !found.is_file()),
    };
    let mut shown: Vec<MountHandle> = Vec::new();
    for mount in mounts {
        let covers_wanted = wanted.is_some_and(|wanted| !fits(&mount, wanted));
        if !covers_wanted && shown.iter().all(|outer| fits(outer, &mount)) {
            shown.push(mount);
        } else {
            tracing::warn!(at = %mount.at(), "a process does not see this mount: one needs a directory of its name in the one around it");
        }
    }
    shown
}

/// Where something that was found below a mount really lies, below that mount: links on the way are followed by then, and
/// inside nothing is put behind one.
pub(in super::super) fn below(mount: &MountHandle, found: &Found) -> Option<PathBuf> {
    fs::below(mount.dir(), found.reference())
}

pub(super) fn beneath(mount: &MountHandle, below: &Path) -> Option<Found> {
    Found::of(&(mount.dir(), below.to_str()?)).ok()
}
