//! What a child may write, and hydrant's own files, which it does not see (TP-32).

use std::path::{Path, PathBuf};

use super::super::child::NotStarted;
use super::aliases::Mounts;
use super::mounts::{below, beneath, holding};
use super::{Confined, Hidden};
use crate::capability::fs::Found;
use crate::jail::Access;
use crate::policy::{MountHandle, VirtualPath};

impl Confined<'_> {
    /// Puts something empty in the place of what is hydrant's own in a mount that is shown; false if all of it is.
    ///
    /// # Errors
    /// [`NotStarted::System`]
    pub(super) fn hide_own(&mut self, mount: &MountHandle) -> Result<bool, NotStarted> {
        let mounted = Mounts::now()?;
        let linked = self.call.own.linked_in(mount.real()).into_iter();
        let linked =
            linked.filter_map(|path| Some(path.strip_prefix(mount.real()).ok()?.to_owned()));
        let own = self.own_in(&mounted, mount, Path::new(""));
        for own in own.into_iter().chain(linked) {
            if own.as_os_str().is_empty() {
                return Ok(mount.is_granted());
            }
            let at = Path::new(mount.at().as_str()).join(&own);
            // A link leads to what is hidden where it lies, or to nothing.
            if is_there(mount, &own) && !self.is_covered(mount, &at) {
                let directory = beneath(mount, &own).is_some_and(|found| !found.is_file());
                self.hidden.push(Hidden { at, directory });
            }
        }
        Ok(true)
    }

    /// Lets the child write below these directories (TP-32), but for what is hydrant's own. One that is not there is
    /// passed over.
    ///
    /// # Errors
    /// [`NotStarted::System`]
    pub(in super::super) fn open_for_writing(
        &mut self,
        writable: &[VirtualPath],
    ) -> Result<(), NotStarted> {
        let mounts = self.call.grant.mounts();
        if writable.is_empty() {
            return Ok(());
        }
        let mounted = Mounts::now()?;
        let mut opened = Vec::new();
        for directory in writable {
            let Some((mount, relative)) = holding(&mounts, directory) else {
                continue;
            };
            let Ok(found) = Found::beneath(mount.dir(), relative) else {
                continue;
            };
            let Some(below) = below(mount, &found) else {
                continue;
            };
            let own = self.call.own.in_mount(mount);
            if own.and_then(|own| own.check(found.reference())).is_err() {
                tracing::warn!(%directory, "it is hydrant's own, and not written");
                continue;
            }
            let own = self.own_in(&mounted, mount, &below);
            let is_alias = |own: &PathBuf| !self.call.own.hold(&mount.real().join(own));
            if own.iter().any(is_alias) {
                tracing::warn!(%directory, "what is hydrant's own is mounted here once more: it stays read-only");
                continue;
            }
            if own.iter().any(|own| !is_there(mount, own)) {
                tracing::warn!(%directory, "what is hydrant's own could be made here: it stays read-only");
                continue;
            }
            self.show_in(mount, &below, &found, Access::ReadWrite)?;
            opened.push((mount.clone(), below, own));
        }
        for (mount, below, own) in &opened {
            self.keep_in_place(mount, below, own)?;
        }
        Ok(())
    }

    /// What leads to hydrant's own in a directory, below its mount; what lies in it is not named by itself.
    fn own_in(&self, mounted: &Mounts, mount: &MountHandle, directory: &Path) -> Vec<PathBuf> {
        let own = self.call.own.places();
        let leading = own.flat_map(|own| mounted.leading_to(own, mount.real()));
        let mut own: Vec<_> = leading
            .filter_map(|own| Some(own.strip_prefix(mount.real()).ok()?.to_owned()))
            .filter(|own| own.starts_with(directory))
            .collect();
        own.sort();
        own.dedup_by(|inner, outer| inner.starts_with(&*outer));
        own
    }

    /// Keeps what is hidden in a directory where it is: a mount point cannot be renamed, but the directories above it
    /// could, so that they become mount points as well.
    fn keep_in_place(
        &mut self,
        mount: &MountHandle,
        directory: &Path,
        own: &[PathBuf],
    ) -> Result<(), NotStarted> {
        for own in own {
            if self.is_covered(mount, &Path::new(mount.at().as_str()).join(own)) {
                continue;
            }
            let above = own.ancestors().skip(1);
            for above in
                above.take_while(|above| *above != directory && above.starts_with(directory))
            {
                if let Some(found) = beneath(mount, above) {
                    self.show_in(mount, above, &found, Access::ReadWrite)?;
                }
            }
        }
        Ok(())
    }

    /// Whether another mount lies over this path of a mount, so that nobody sees what is there.
    fn is_covered(&self, mount: &MountHandle, inside: &Path) -> bool {
        self.call.grant.mounts().iter().any(|other| {
            other.at() != mount.at()
                && other.at().starts_with(mount.at())
                && inside.starts_with(other.at().as_str())
        })
    }

    fn show_in(
        &mut self,
        mount: &MountHandle,
        below: &Path,
        found: &Found,
        access: Access,
    ) -> Result<(), NotStarted> {
        let at = Path::new(mount.at().as_str()).join(below);
        // Joining an empty path would end it with a slash.
        let at = at.components().collect();
        self.add(found.reference(), at, access, false)
    }
}

/// Whether something lies there, and no link on the way.
fn is_there(mount: &MountHandle, own: &Path) -> bool {
    let found = beneath(mount, own).and_then(|found| below(mount, &found));
    found.as_deref() == Some(own)
}
