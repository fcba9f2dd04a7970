//! What is to be changed, decided from the text of the paths alone.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use super::directories::identity;
use super::record::ChangeRecord;
use super::{Change, Content, Ended, Expected, FsError, MAX_CHANGES, MAX_CONTENT_BYTES, stage};
use crate::Call;
use crate::aliases::Mounts;
use crate::fs::{Found, MAX_FILE_BYTES, Symlinks};
use hydrant_policy::{MountHandle, VirtualPath, WriteLeave};

/// The changes of one list, all of them allowed.
#[derive(Debug)]
pub(super) struct Plan {
    /// The mounts that are written.
    pub(super) mounts: Vec<MountHandle>,
    /// One for each change, in the order given; [`ChangeRecord::mount`] is one of [`Plan::mounts`].
    pub(super) changes: Vec<ChangeRecord>,
    /// What else is known of each.
    pub(super) items: Vec<Item>,
}

/// What of one change is in no journal.
#[derive(Debug)]
pub(super) struct Item {
    /// As asked for.
    pub(super) path: String,
    pub(super) content: Option<Content>,
}

impl Plan {
    /// Asks the policy for every path before any is touched.
    ///
    /// # Errors
    /// The first change that is too much, not a path, or denied; then the first that collides with another.
    pub(super) fn new(call: &Call, changes: Vec<Change>) -> Result<Plan, Ended> {
        if changes.len() > MAX_CHANGES {
            return Err(Ended::Change(MAX_CHANGES, FsError::TooLarge));
        }
        let mut plan = Plan {
            mounts: Vec::new(),
            changes: Vec::with_capacity(changes.len()),
            items: Vec::with_capacity(changes.len()),
        };
        let mut places = Vec::with_capacity(changes.len());
        let mut room = MAX_CONTENT_BYTES;
        for (index, change) in changes.into_iter().enumerate() {
            let (change, item) = plan
                .item(call, change, &mut room)
                .map_err(|reason| Ended::Change(index, reason))?;
            if let Some(mount) = plan.mounts.get(change.mount) {
                places.push((mount.real().join(&change.parent).join(&change.name), index));
            }
            plan.changes.push(change);
            plan.items.push(item);
        }
        if let Some(index) = read_only(call, &plan)? {
            if let Some(item) = plan.items.get(index) {
                call.journal
                    .denied_capability(format!("fs.write:{}", item.path));
            }
            return Err(Ended::Change(index, FsError::Denied));
        }
        match collision(places) {
            Some(index) => Err(Ended::Change(index, FsError::InvalidPath)),
            None => Ok(plan),
        }
    }

    fn item(
        &mut self,
        call: &Call,
        change: Change,
        room: &mut usize,
    ) -> Result<(ChangeRecord, Item), FsError> {
        let path = VirtualPath::parse(&change.path).map_err(|_| FsError::InvalidPath)?;
        let WriteLeave { mount, relative } = call.grant.write(&path).map_err(|denial| {
            call.journal.denied(&denial);
            FsError::Denied
        })?;
        call.journal.used("fs.write");
        let (parent, name) = relative.rsplit_once('/').unwrap_or(("", &relative));
        if name.is_empty() {
            // The mount itself.
            return Err(FsError::IsDirectory);
        }
        let length = change.content.as_ref().map_or(0, |new| new.bytes.len());
        if u32::try_from(length).map_or(true, |length| length > MAX_FILE_BYTES) {
            return Err(FsError::TooLarge);
        }
        *room = room.checked_sub(length).ok_or(FsError::TooLarge)?;
        let record = ChangeRecord {
            parent: parent.to_owned(),
            name: name.to_owned(),
            staged: stage::name()?,
            old: match change.expected {
                Expected::Absent => None,
                Expected::Sha256(digest) => Some(digest),
                Expected::Impossible => return Err(FsError::Conflict),
            },
            new: change
                .content
                .as_ref()
                .map(|new| Sha256::digest(&new.bytes).into()),
            mount: self.mount(mount),
            inode: None,
            deleted: None,
        };
        let item = Item {
            path: change.path,
            content: change.content,
        };
        Ok((record, item))
    }

    fn mount(&mut self, mount: MountHandle) -> usize {
        let known = self
            .mounts
            .iter()
            .position(|known| known.at() == mount.at());
        known.unwrap_or_else(|| {
            self.mounts.push(mount);
            self.mounts.len().saturating_sub(1)
        })
    }
}

/// The first change of a file that lies in the directory of a read-only mount by another name of that directory; the text
/// of the path has been asked about before. What is mounted twice is known by the list of mounts, and what was moved
/// since the policy was loaded by device and inode.
fn read_only(call: &Call, plan: &Plan) -> Result<Option<usize>, Ended> {
    let kept = call.grant.read_only();
    if kept.is_empty() {
        return Ok(None);
    }
    let failed = |error| Ended::Change(0, error);
    let mounts = Mounts::now().map_err(|_| failed(FsError::Io))?;
    let identities: Vec<_> = kept
        .iter()
        .map(|mount| identity(mount.dir()))
        .collect::<Result<_, _>>()
        .map_err(failed)?;
    let holds = |real: &Path| kept.iter().any(|mount| mounts.hold(mount.real(), real));
    let mut apart = HashSet::new();
    for (index, change) in plan.changes.iter().enumerate() {
        let Some(mount) = plan.mounts.get(change.mount) else {
            continue;
        };
        let parent = Path::new(&change.parent);
        if holds(&mount.real().join(parent)) {
            return Ok(Some(index));
        }
        // From above, for below a directory that is not there nothing is.
        let mut directory = PathBuf::new();
        let mut names = parent.iter();
        loop {
            if !apart.contains(&(change.mount, directory.clone())) {
                let name = (mount.dir(), directory.to_str().unwrap_or_default());
                let found = Found::with(&name, Symlinks::Refuse);
                let Ok(found) = found.and_then(|found| identity(found.reference())) else {
                    break;
                };
                if identities.contains(&found) || holds(&mount.real().join(&directory)) {
                    return Ok(Some(index));
                }
                apart.insert((change.mount, directory.clone()));
            }
            let Some(name) = names.next() else { break };
            directory.push(name);
        }
    }
    Ok(None)
}

/// The first change of a file that an earlier change has, too, or that lies below or above one; by real paths, because
/// two mounts may show one directory.
fn collision(mut places: Vec<(PathBuf, usize)>) -> Option<usize> {
    // Paths compare by components: between a directory and a file below it there are only others below it.
    places.sort_unstable();
    places
        .iter()
        .zip(places.iter().skip(1))
        .filter(|((earlier, _), (later, _))| later.starts_with(earlier))
        .map(|((_, one), (_, other))| *one.max(other))
        .min()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn collides(paths: &[&str]) -> Option<usize> {
        let numbered = paths.iter().enumerate();
        collision(
            numbered
                .map(|(index, path)| (PathBuf::from(path), index))
                .collect(),
        )
    }

    #[test]
    fn one_file_is_changed_once_and_nothing_below_it() {
        assert_eq!(collides(&["/w/a", "/w/b", "/w/a-b", "/w/ab/c"]), None);
        assert_eq!(collides(&["/w/a", "/w/b", "/w/a"]), Some(2));
        assert_eq!(collides(&["/w/a/b", "/w/a-b", "/w/a"]), Some(2));
        assert_eq!(collides(&["/w/a", "/w/a!", "/w/a/b/c/d"]), Some(2));
        assert_eq!(collides(&["/x", "/w", "/w/a", "/x/y"]), Some(2));
    }
}
