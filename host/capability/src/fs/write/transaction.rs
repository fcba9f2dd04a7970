//! One list of changes: checked, staged, committed, and undone from wherever it fails.

use std::collections::HashSet;
use std::os::fd::AsFd;
use std::sync::Arc;

use super::directories::{Directories, Index, Syncing};
use super::journals::Locked;
use super::look::{self, Held, HeldFile};
use super::plan::{Item, Plan};
use super::record::{ChangeRecord, MadeRecord, MountRecord, Phase, Record};
use super::steps::Steps;
use super::{Content, Ended, FsError, MAX_DIRECTORIES, stage};
use crate::{Call, parallel};

/// See the module.
pub(super) struct Transaction<'call> {
    call: &'call Call,
    steps: &'call Steps,
    journal: Option<(&'call Locked, String)>,
    record: Record,
    directories: Directories,
    items: Vec<Item>,
    /// The files that are to be replaced or deleted, as they were found.
    found: Vec<Option<HeldFile>>,
    /// The directory of each change, once it is there; none where nothing is and nothing comes.
    places: Vec<Option<Index>>,
    sync: Syncing,
    /// Those of the record that were made.
    made: Vec<MadeRecord>,
}

impl<'call> Transaction<'call> {
    /// A transaction that has touched nothing yet.
    ///
    /// # Errors
    /// A mount cannot be looked at.
    pub(super) fn new(
        call: &'call Call,
        plan: Plan,
        locked: Option<&'call Locked>,
        steps: &'call Steps,
    ) -> Result<Transaction<'call>, Ended> {
        let at_first = |reason| Ended::Change(0, reason);
        let mut record = Record::new(plan.changes);
        let mut mounts = Vec::with_capacity(plan.mounts.len());
        for mount in &plan.mounts {
            let directory = mount.dir().as_fd();
            let known = MountRecord::of(mount.real(), directory);
            record
                .mounts
                .push(known.map_err(|_| at_first(FsError::Io))?);
            let handle = directory.try_clone_to_owned();
            mounts.push(handle.map_err(|_| at_first(FsError::Io))?);
        }
        let journal = match locked {
            Some(locked) => Some((locked, Locked::new_name().map_err(at_first)?)),
            None => None,
        };
        Ok(Transaction {
            call,
            steps,
            journal,
            record,
            directories: Directories::new(mounts, Arc::clone(&call.own)),
            found: Vec::with_capacity(plan.items.len()),
            places: Vec::with_capacity(plan.items.len()),
            sync: Syncing::of(plan.items.len()),
            items: plan.items,
            made: Vec::new(),
        })
    }

    /// Makes all changes or none.
    ///
    /// # Errors
    /// Why none was made.
    pub(super) fn run(mut self) -> Result<(), Ended> {
        self.check()?;
        let at_first = |reason| Ended::Change(0, reason);
        let committed = self
            .store(Phase::Staging)
            .map_err(at_first)
            .and_then(|()| self.make_directories())
            .and_then(|()| self.stage())
            .and_then(|()| self.check_again())
            .and_then(|()| self.directories.sync(self.sync).map_err(at_first))
            // The last look at the deadline: from here on the answer says what became of the files.
            .and_then(|()| Ok(self.call.meter.remaining().map(drop)?))
            .and_then(|()| self.store(Phase::Commit).map_err(at_first))
            .and_then(|()| self.commit());
        match committed {
            Ok(()) => {
                self.clean_up();
                Ok(())
            }
            Err(ended) => {
                self.undo();
                Err(ended)
            }
        }
    }

    /// Looks whether every path holds what is expected, and what directories are missing.
    fn check(&mut self) -> Result<(), Ended> {
        let mut planned = HashSet::new();
        for index in 0..self.items.len() {
            self.call.meter.remaining()?;
            match self.check_one(index, &mut planned) {
                Ok(found) => self.found.push(found),
                Err(reason) => {
                    self.note_denied(index, reason);
                    return Err(Ended::Change(index, reason));
                }
            }
        }
        Ok(())
    }

    /// What is hydrant's own shows only when it is found.
    fn note_denied(&self, index: usize, reason: FsError) {
        if let (FsError::Denied, Some(item)) = (reason, self.items.get(index)) {
            let asked = format!("fs.write:{}", item.path);
            self.call.journal.denied_capability(asked);
        }
    }

    fn check_one(
        &mut self,
        index: usize,
        planned: &mut HashSet<(usize, String)>,
    ) -> Result<Option<HeldFile>, FsError> {
        let (Some(change), Some(item)) = (self.record.changes.get(index), self.items.get(index))
        else {
            return Err(FsError::Io);
        };
        match self.directories.find(change.mount, &change.parent) {
            Ok(directory) => {
                self.directories.check_name(directory, &change.name)?;
                let handle = self.directories.handle(directory)?;
                check(change, look::look(handle.as_fd(), &change.name))
            }
            Err(FsError::NotFound) if change.old.is_none() => {
                let known = planned.contains(&(change.mount, change.parent.clone()));
                let missing = if known || item.content.is_none() {
                    Vec::new()
                } else {
                    self.directories.missing(change.mount, &change.parent)?
                };
                let mount = change.mount;
                let new = missing.into_iter().map(|path| MadeRecord { mount, path });
                let new = new.filter(|made| planned.insert((mount, made.path.clone())));
                self.record.made.extend(new);
                if self.record.made.len() > MAX_DIRECTORIES {
                    return Err(FsError::TooLarge);
                }
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    fn make_directories(&mut self) -> Result<(), Ended> {
        for index in 0..self.record.made.len() {
            let Some(missing) = self.record.made.get(index) else {
                break;
            };
            let made = self
                .directories
                .make(missing.mount, &missing.path, self.steps);
            let needed_by = |change: &ChangeRecord| {
                change.mount == missing.mount
                    && change
                        .parent
                        .strip_prefix(&missing.path)
                        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            };
            match made {
                Ok(true) => self.made.push(missing.clone()),
                Ok(false) => {}
                Err(reason) => {
                    let change = self
                        .record
                        .changes
                        .iter()
                        .position(needed_by)
                        .unwrap_or_default();
                    return Err(Ended::Change(change, reason));
                }
            }
        }
        Ok(())
    }

    /// Writes every new content beside its target.
    fn stage(&mut self) -> Result<(), Ended> {
        let mut contents = Vec::with_capacity(self.items.len());
        for (index, (item, change)) in self.items.iter_mut().zip(&self.record.changes).enumerate() {
            if (change.old, change.new) == (None, None) {
                self.places.push(None);
                continue;
            }
            let directory = self.directories.find(change.mount, &change.parent);
            let directory = directory.map_err(|reason| Ended::Change(index, reason))?;
            self.places.push(Some(directory));
            if let Some(content) = item.content.take() {
                contents.push((index, content));
            }
        }
        let staged = {
            let alone = parallel::FILES_ALONE;
            parallel::map(contents, parallel::AT_ONCE, alone, |(index, content)| {
                self.stage_one(index, &content)
            })?
        };
        for (index, inode) in staged {
            if let Some(change) = self.record.changes.get_mut(index) {
                change.inode = Some(inode);
            }
        }
        Ok(())
    }

    fn stage_one(&self, index: usize, content: &Content) -> Result<(usize, u64), Ended> {
        self.call.meter.remaining()?;
        let at_this = |reason| Ended::Change(index, reason);
        let place = self.places.get(index).copied().flatten();
        let (Some(directory), Some(change)) = (place, self.record.changes.get(index)) else {
            return Err(at_this(FsError::Io));
        };
        let handle = self.directories.handle(directory).map_err(at_this)?;
        let replaced = self.found.get(index).and_then(Option::as_ref);
        let permissions = replaced.map(|found| found.stamp.permissions);
        let inode = stage::stage(
            handle.as_fd(),
            &change.staged,
            content,
            permissions,
            (self.sync, self.steps),
        );
        Ok((index, inode.map_err(at_this)?))
    }

    /// What changed while contents were staged is seen before the first target is touched.
    fn check_again(&mut self) -> Result<(), Ended> {
        let mut deleted = Vec::new();
        for (index, change, directory) in self.placed() {
            self.call.meter.remaining()?;
            let at_this = |reason| Ended::Change(index, reason);
            let Some(found) = self.found.get(index) else {
                break;
            };
            let handle = self.directories.handle(directory).map_err(at_this)?;
            let directory = handle.as_fd();
            if change.new.is_none() {
                // Before the look, so that what is touched after it is another.
                deleted.push((index, look::instance(directory, &change.name)));
            }
            let unchanged = match found {
                Some(file) => look::stamp(directory, &change.name) == Some(file.stamp),
                None => look::is_free(directory, &change.name),
            };
            if !unchanged {
                let now = look::look(directory, &change.name);
                let now = check(change, now).map_err(at_this)?;
                let permissions =
                    |file: &Option<HeldFile>| file.as_ref().map(|file| file.stamp.permissions);
                if permissions(&now) != permissions(found) {
                    return Err(at_this(FsError::Conflict));
                }
            }
        }
        for (index, instance) in deleted {
            if let Some(change) = self.record.changes.get_mut(index) {
                change.deleted = instance;
            }
        }
        Ok(())
    }

    fn commit(&self) -> Result<(), Ended> {
        let mut kept = Vec::with_capacity(self.places.len());
        for (index, change, directory) in self.placed() {
            let stamp = self
                .directories
                .handle(directory)
                .and_then(|handle| change.commit(handle.as_fd(), self.steps));
            let stamp = stamp.map_err(|reason| Ended::Change(index, reason))?;
            // Ours has the permissions that were found; what somebody took away since must not come back.
            let found = self.found.get(index).and_then(Option::as_ref);
            let found = found.map(|found| found.stamp.permissions);
            if stamp.is_some_and(|stamp| Some(stamp.permissions) != found) {
                return Err(Ended::Change(index, FsError::Conflict));
            }
            kept.push(stamp);
        }
        // Whoever had a replaced file open may have written to it since it was looked at.
        for ((index, change, directory), stamp) in self.placed().zip(kept) {
            let at_this = |reason| Ended::Change(index, reason);
            let handle = self.directories.handle(directory).map_err(at_this)?;
            if stamp.is_some() && look::stamp(handle.as_fd(), &change.staged) != stamp {
                return Err(at_this(FsError::Conflict));
            }
        }
        let at_first = |reason| Ended::Change(0, reason);
        self.steps.pass().map_err(at_first)?;
        self.directories.sync(self.sync).map_err(at_first)
    }

    /// Removes what was replaced, then the journal. What cannot be removed now, the journal keeps for later.
    fn clean_up(&self) {
        let mut done = true;
        let replaced = self.placed().filter(|(_, change, _)| change.old.is_some());
        for (_, change, directory) in replaced {
            let discarded = self
                .directories
                .handle(directory)
                .and_then(|handle| change.discard(handle.as_fd(), self.steps));
            done &= discarded.is_ok();
        }
        self.close(done);
    }

    fn undo(&mut self) {
        let staging = self.record.phase == Phase::Staging;
        if !staging && self.store(Phase::Undo).is_err() {
            tracing::warn!("the journal cannot be told that changes are being undone");
        }
        let mut done = true;
        let placed: Vec<_> = self.placed().collect();
        for (_, change, directory) in placed.into_iter().rev() {
            let undone = self.directories.handle(directory).and_then(|handle| {
                if staging {
                    change.discard(handle.as_fd(), self.steps)
                } else {
                    change.undo(handle.as_fd(), self.steps)
                }
            });
            done &= undone.is_ok();
        }
        for made in self.made.iter().rev() {
            self.directories.unmake(made.mount, &made.path, self.steps);
        }
        let done = done && self.directories.sync(self.sync).is_ok();
        self.close(done);
    }

    /// The changes whose directories are there, with their numbers.
    fn placed(&self) -> impl Iterator<Item = (usize, &ChangeRecord, Index)> {
        let placed = self.record.changes.iter().zip(&self.places).enumerate();
        placed.filter_map(|(number, (change, place))| Some((number, change, (*place)?)))
    }

    fn close(&self, done: bool) {
        let Some((locked, name)) = &self.journal else {
            return;
        };
        if done {
            self.steps.mark();
            locked.remove(name);
        }
    }

    fn store(&mut self, phase: Phase) -> Result<(), FsError> {
        self.record.phase = phase;
        match &self.journal {
            Some((locked, name)) => locked.store(name, &self.record, self.steps),
            None => Ok(()),
        }
    }
}

/// Whether a path holds what the change expects: the file, if there is to be one.
///
/// # Errors
/// What it holds instead.
fn check(change: &ChangeRecord, held: Result<Held, FsError>) -> Result<Option<HeldFile>, FsError> {
    match (change.old, held) {
        (_, Ok(Held::Symlink)) => Err(FsError::Symlink),
        (None, Ok(Held::Nothing)) => Ok(None),
        (None, Ok(_)) => Err(FsError::Conflict),
        // No name can be this long.
        (None, Err(FsError::NotFound)) => Err(FsError::InvalidPath),
        (_, Err(error)) => Err(error),
        (Some(_), Ok(Held::Nothing)) => Err(FsError::NotFound),
        (Some(expected), Ok(Held::File(file))) if file.digest == expected => Ok(Some(file)),
        (Some(_), Ok(Held::File(_))) => Err(FsError::Conflict),
        (Some(_), Ok(Held::LargeFile)) => Err(FsError::TooLarge),
        (Some(_), Ok(Held::Directory)) => Err(FsError::IsDirectory),
        (Some(_), Ok(Held::Special)) => Err(FsError::Special),
    }
}
