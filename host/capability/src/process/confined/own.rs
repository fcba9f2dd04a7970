//! What a child may write, what stays as it is even there (what is mounted read-only, and every `.git`), and hydrant's own
//! files, which no child sees.

use std::path::{Path, PathBuf};

use super::super::child::NotStarted;
use super::mounts::{below, beneath, holding};
use super::repositories;
use super::{Confined, Hidden};
use crate::aliases::Mounts;
use crate::fs::{Found, FsError, Symlinks};
use hydrant_jail::Access;
use hydrant_policy::{MountHandle, VirtualPath};

/// A directory that the child may write.
struct Writable {
    mount: MountHandle,
    /// Where it lies below the mount.
    below: PathBuf,
    /// What in it is hydrant's own, below the mount.
    own: Vec<PathBuf>,
    /// What in it stays read-only, below the mount.
    kept: Vec<PathBuf>,
}

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
            if own.to_str().is_none() && mount.real().join(&own).symlink_metadata().is_ok() {
                tracing::warn!(at = %mount.at(), "hydrant's own files lie here below a name that is not UTF-8: nothing of it is shown");
                return Ok(false);
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

    /// Lets the child write below these directories, but for what is kept as it is. One that is not there is passed
    /// over, and so is one that a link leads to: the link was made by whoever made the files, and not by the policy.
    ///
    /// # Errors
    /// [`NotStarted::System`]
    pub(in super::super) fn open_for_writing(
        &mut self,
        writable: &[VirtualPath],
    ) -> Result<(), NotStarted> {
        if writable.is_empty() {
            return Ok(());
        }
        let call = self.call;
        let mounts = call.grant.mounts();
        let mounted = Mounts::now()?;
        let read_only = call.grant.read_only().into_iter();
        let read_only: Vec<PathBuf> = read_only.map(|mount| mount.real().to_owned()).collect();
        let named: Vec<PathBuf> = writable
            .iter()
            .filter_map(|directory| holding(&mounts, directory))
            .map(|(mount, relative)| mount.real().join(relative))
            .collect();
        let mut opened = Vec::new();
        for directory in writable {
            let stays = |why: &str| tracing::warn!(%directory, "{why}: it stays read-only");
            let Some((mount, relative)) = holding(&mounts, directory) else {
                continue;
            };
            let found = match Found::with(&(mount.dir(), relative), Symlinks::Refuse) {
                Ok(found) => found,
                Err(FsError::Symlink) => {
                    stays("a link leads there");
                    call.journal
                        .denied_capability(format!("fs.write:{directory}"));
                    continue;
                }
                Err(_) => continue,
            };
            let Some(below) = below(mount, &found) else {
                continue;
            };
            let real = mount.real().join(&below);
            let checked = call.own.in_mount(mount);
            if checked
                .and_then(|own| own.check(found.reference()))
                .is_err()
                || read_only.iter().any(|kept| real.starts_with(kept))
            {
                stays("it is hydrant's own, or mounted read-only");
                continue;
            }
            let own = self.own_in(&mounted, mount, &below);
            if own
                .iter()
                .any(|own| !call.own.hold(&mount.real().join(own)))
                || read_only.iter().any(|kept| mounted.lead_to(kept, &real))
            {
                stays("what is hydrant's own or mounted read-only is mounted here once more");
                continue;
            }
            let mut kept = read_only.clone();
            if !found.is_file() && !repositories::is_in_git(&below) {
                match repositories::find(&found, &call.meter) {
                    Ok(found) => {
                        let found = found.iter().map(|git| real.join(git));
                        kept.extend(found.filter(|git| !named.contains(git)));
                    }
                    Err(error) => {
                        stays(&format!("every .git in it cannot be kept ({error})"));
                        continue;
                    }
                }
            }
            let mut kept = lying_in(kept, mount, &below);
            // Nobody sees what lies in hydrant's own.
            kept.retain(|kept| !own.iter().any(|own| kept.starts_with(own)));
            if own.iter().chain(&kept).any(|path| !is_there(mount, path)) {
                stays("what must stay as it is could be made or replaced here");
                continue;
            }
            self.show_in(mount, &below, &found, Access::ReadWrite)?;
            opened.push(Writable {
                mount: mount.clone(),
                below,
                own,
                kept,
            });
        }
        for directory in &opened {
            self.keep(directory)?;
        }
        Ok(())
    }

    /// What leads to hydrant's own in a directory, below its mount; what lies in it is not named by itself.
    fn own_in(&self, mounted: &Mounts, mount: &MountHandle, directory: &Path) -> Vec<PathBuf> {
        let own = self.call.own.places();
        let leading = own.flat_map(|own| mounted.leading_to(own, mount.real()));
        lying_in(leading, mount, directory)
    }

    /// Keeps what is hidden or read-only in a directory where it is: a mount point cannot be renamed, but the directories
    /// above it could, so that they become mount points as well.
    fn keep(&mut self, writable: &Writable) -> Result<(), NotStarted> {
        let Writable {
            mount,
            below: directory,
            own,
            kept,
        } = writable;
        let own = own.iter().map(|path| (path, false));
        for (path, is_shown) in own.chain(kept.iter().map(|path| (path, true))) {
            if self.is_covered(mount, &Path::new(mount.at().as_str()).join(path)) {
                continue;
            }
            let above = path.ancestors().skip(1);
            for above in
                above.take_while(|above| *above != directory && above.starts_with(directory))
            {
                if let Some(found) = beneath(mount, above) {
                    self.show_in(mount, above, &found, Access::ReadWrite)?;
                }
            }
            if let Some(found) = beneath(mount, path).filter(|_| is_shown) {
                self.show_in(mount, path, &found, Access::ReadOnly)?;
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
        let at: PathBuf = at.components().collect();
        self.add(found.reference(), &at, access, false)
    }
}

/// Which of these real paths lie in a directory, below its mount; what lies in another one of them is not named by itself.
fn lying_in(
    paths: impl IntoIterator<Item = PathBuf>,
    mount: &MountHandle,
    directory: &Path,
) -> Vec<PathBuf> {
    let below = paths
        .into_iter()
        .filter_map(|path| Some(path.strip_prefix(mount.real()).ok()?.to_owned()));
    let mut paths: Vec<_> = below.filter(|path| path.starts_with(directory)).collect();
    paths.sort();
    paths.dedup_by(|inner, outer| inner.starts_with(&*outer));
    paths
}

/// Whether something lies there, and no link on the way.
fn is_there(mount: &MountHandle, path: &Path) -> bool {
    let found = beneath(mount, path).and_then(|found| below(mount, &found));
    found.as_deref() == Some(path)
}
