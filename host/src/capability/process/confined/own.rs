//! What a child may write, and hydrant's own files in it, which it may not (TP-32).

use std::path::{Path, PathBuf};

use super::super::child::NotStarted;
use super::Confined;
use super::aliases::Mounts;
use super::mounts::{below, beneath, holding};
use crate::capability::fs::Found;
use crate::jail::Access;
use crate::policy::{MountHandle, VirtualPath};

impl Confined<'_> {
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
            let real = mount.real().join(&below);
            if self.call.protected.iter().any(|own| real.starts_with(own)) {
                tracing::warn!(%directory, "it is hydrant's own: it stays read-only");
                continue;
            }
            let mut own = self.call.protected.iter();
            if own.any(|own| mounted.lead_to(own, &real)) {
                tracing::warn!(%directory, "what is hydrant's own is mounted here once more: it stays read-only");
                continue;
            }
            if self.would_make_own(mount, &below) {
                tracing::warn!(%directory, "what is hydrant's own could be made here: it stays read-only");
                continue;
            }
            self.show_in(mount, &below, &found, Access::ReadWrite)?;
            opened.push((mount.clone(), below));
        }
        for (mount, below) in &opened {
            self.keep_own(mount, below)?;
        }
        Ok(())
    }

    /// What is hydrant's own in a directory that may be written, below its mount; what lies in it is not named by itself.
    fn own_in(&self, mount: &MountHandle, directory: &Path) -> Vec<PathBuf> {
        let own = self.call.protected.iter();
        let mut own: Vec<_> = own
            .filter_map(|own| own.strip_prefix(mount.real()).ok())
            .filter(|own| own.starts_with(directory))
            .map(Path::to_owned)
            .collect();
        own.sort();
        own.dedup_by(|inner, outer| inner.starts_with(&*outer));
        own
    }

    /// Whether something of hydrant's own is not there yet, or is a link, so that nothing could be mounted over it.
    fn would_make_own(&self, mount: &MountHandle, directory: &Path) -> bool {
        let really = |own: &Path| below(mount, &beneath(mount, own)?);
        let own = self.own_in(mount, directory);
        own.iter()
            .any(|own| really(own).as_deref() != Some(own.as_path()))
    }

    /// Keeps what is hydrant's own as it is, and where it is: a mount point cannot be renamed, but the directories above
    /// it could, so that they become mount points as well.
    fn keep_own(&mut self, mount: &MountHandle, directory: &Path) -> Result<(), NotStarted> {
        let mounts = self.call.grant.mounts();
        for own in self.own_in(mount, directory) {
            let inside = Path::new(mount.at().as_str()).join(&own);
            let covered = |other: &MountHandle| {
                other.at() != mount.at()
                    && other.at().starts_with(mount.at())
                    && inside.starts_with(other.at().as_str())
            };
            if mounts.iter().any(covered) {
                // Nobody sees it there.
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
            if let Some(found) = beneath(mount, &own) {
                self.show_in(mount, &own, &found, Access::ReadOnly)?;
            }
        }
        Ok(())
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
