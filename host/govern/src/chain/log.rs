//! Appending: the lines and `HEAD` to disk, or nothing.

use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::sync::Arc;

use rustix::fs::{OFlags, RenameFlags};

use super::draft::Draft;
use super::entry::Entry;
use super::error::ChainError;
use super::head;
use super::key::ChainKey;
use super::record::Tail;
use super::scan::Scan;
use super::segment::{self, LARGEST, Place};
use super::sync::Syncer;
use super::verify::Reason;
use crate::state::{Folder, kill_point};

const SPARE: &str = "HEAD.next";

/// The chain of a state directory, open for writing. Its methods are called with the lock held only.
pub(crate) struct Log {
    folder: Folder,
    key: Arc<ChainKey>,
    syncer: Syncer,
    /// Whether the name of the last `HEAD` is on disk.
    named: bool,
    /// Of the last segment; none: it is opened when it is needed.
    file: Option<Arc<File>>,
    /// What `HEAD` has; none: it is not there.
    head: Option<Vec<u8>>,
    /// How large a segment gets.
    pub(crate) largest: u64,
    /// What is known of the chain, and where it ends.
    pub(crate) known: Scan,
    /// Segments that nothing is written to any more, and that the database does not know as they are.
    closed: Vec<Closed>,
}

/// A segment as it was left, and where the chain ended in it.
#[derive(Debug, Clone)]
pub(crate) struct Closed {
    pub(crate) number: u64,
    pub(crate) seen: Seen,
    pub(crate) tail: Tail,
}

/// A segment as it was when it was last looked at: the same again means that nobody has touched it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) inode: u64,
    pub(crate) size: u64,
    pub(crate) changed_s: i64,
    pub(crate) changed_ns: i64,
}

impl Seen {
    pub(crate) fn of(file: &File) -> io::Result<Self> {
        let stat = file.metadata()?;
        Ok(Self {
            inode: stat.ino(),
            size: stat.size(),
            changed_s: stat.ctime(),
            changed_ns: stat.ctime_nsec(),
        })
    }
}

impl Log {
    /// `known` is taken for read; [`Self::stale`] and [`Self::catch_up`] bring the rest.
    pub(crate) fn new(folder: Folder, key: Arc<ChainKey>, known: Scan) -> Self {
        Self {
            folder,
            key,
            syncer: Syncer::new(),
            named: false,
            file: None,
            head: None,
            largest: LARGEST,
            known,
            closed: Vec::new(),
        }
    }

    pub(crate) fn folder(&self) -> &Folder {
        &self.folder
    }

    /// Whether somebody else has written since.
    pub(crate) fn stale(&self) -> Result<bool, ChainError> {
        if self.folder.read(head::NAME, head::LONGEST)? != self.head {
            return Ok(true);
        }
        let name = segment::name(self.known.at.segment);
        let stat = self.folder.stat(&name)?;
        Ok(match (&self.file, stat) {
            (None, None) => self.known.tail.seq > 0,
            (Some(file), Some(stat)) => {
                let seen = Seen::of(file).map_err(|source| self.folder.failed(&name, source))?;
                seen.inode != stat.st_ino || seen.size != self.known.at.offset
            }
            _ => true,
        })
    }

    /// Reads what others have written.
    pub(crate) fn catch_up(&mut self, witness: &super::Witness) -> Result<(), ChainError> {
        let head = self.folder.read(head::NAME, head::LONGEST)?;
        let says = match &head {
            None => Tail::none(),
            Some(file) => head::read(file, &self.key.verifying()).ok_or(ChainError::Damaged {
                seq: self.known.tail.seq,
                reason: Reason::Head,
            })?,
        };
        let before = self.known.tail.clone();
        if says.seq < before.seq && self.head.is_some() {
            // It was further when it was last looked at.
            return Err(ChainError::Damaged {
                seq: says.seq,
                reason: Reason::Head,
            });
        }
        if says.seq < before.seq || self.is_another_file()? {
            // What was known of it may not hold: from the beginning.
            self.known = Scan::default();
        }
        self.known
            .run(&self.folder, &says, witness, &before, &self.key.verifying())?;
        for (number, tail) in std::mem::take(&mut self.known.passed) {
            self.close(number, tail);
        }
        self.head = head;
        self.named = false;
        let name = segment::name(self.known.at.segment);
        self.file = self
            .folder
            .open(&name, OFlags::WRONLY | OFlags::APPEND)?
            .map(Arc::new);
        Ok(())
    }

    /// Has the database told of a segment that was left, if it can be looked at: else all of the chain from there on is
    /// read at the next start.
    fn close(&mut self, number: u64, tail: Tail) {
        let file = self.folder.open(&segment::name(number), OFlags::RDONLY);
        if let Ok(Some(file)) = file
            && let Ok(seen) = Seen::of(&file)
        {
            self.closed.push(Closed { number, seen, tail });
        }
    }

    /// Segments that the database is to be told of.
    pub(crate) fn closed(&self) -> &[Closed] {
        &self.closed
    }

    /// It was told.
    pub(crate) fn forget_closed(&mut self) {
        self.closed.clear();
    }

    /// Only this much is known: whatever follows is read again before anything is written.
    pub(crate) fn forget(&mut self, known: Scan) {
        self.known = known;
        self.head = None;
    }

    /// Whether the segment that is known is not the one that was written to.
    fn is_another_file(&self) -> Result<bool, ChainError> {
        let name = segment::name(self.known.at.segment);
        let Some(stat) = self.folder.stat(&name)? else {
            return Ok(self.known.tail.seq > 0);
        };
        let size = u64::try_from(stat.st_size).unwrap_or(0);
        let inode = self
            .file
            .as_deref()
            .map(Seen::of)
            .transpose()
            .map_err(|source| self.folder.failed(&name, source))?
            .map(|seen| seen.inode);
        Ok(size < self.known.at.offset || inode.is_some_and(|inode| inode != stat.st_ino))
    }

    /// Has `HEAD` say where the chain ends, where it was behind.
    pub(crate) fn adopt(&mut self) -> Result<(), ChainError> {
        let says = self
            .head
            .as_deref()
            .and_then(|file| head::read(file, &self.key.verifying()));
        let tail = self.known.tail.clone();
        if tail.seq > 0 && says.as_ref() != Some(&tail) {
            self.finish(&tail, || ())?;
        }
        Ok(())
    }

    /// Moves the torn last line aside; answers what to say of it.
    pub(crate) fn mend(&mut self) -> Result<Option<String>, ChainError> {
        let Some((place, end)) = self.known.torn.take() else {
            return Ok(None);
        };
        let name = segment::name(place.segment);
        let torn = format!("{name}.torn");
        let failed = |source| ChainError::Write {
            what: "the torn line",
            source,
        };
        let file = self
            .folder
            .open(&name, OFlags::RDWR)?
            .ok_or_else(|| failed(io::ErrorKind::NotFound.into()))?;
        let length = end.saturating_sub(place.offset);
        let mut bytes = vec![0; usize::try_from(length).unwrap_or(0)];
        file.read_exact_at(&mut bytes, place.offset)
            .map_err(failed)?;
        let aside = self
            .folder
            .open_or_make(&torn, OFlags::WRONLY | OFlags::APPEND)?;
        io::Write::write_all(&mut &aside, &bytes)
            .and_then(|()| aside.sync_all())
            .map_err(failed)?;
        self.folder.sync()?;
        kill_point();
        file.set_len(place.offset)
            .and_then(|()| file.sync_all())
            .map_err(failed)?;
        Ok(Some(format!("{length} bytes moved to {torn}")))
    }

    /// Nothing yet, after what is known.
    pub(crate) fn draft(&self) -> Draft {
        Draft::new(Arc::clone(&self.key), self.known.tail.clone())
    }

    /// Writes entries, as [`Self::append`] does.
    pub(crate) fn append_all(&mut self, entries: &[Entry]) -> Result<(), ChainError> {
        let mut draft = self.draft();
        entries.iter().for_each(|entry| draft.push(entry));
        self.append(draft, || ())
    }

    /// Writes records with one time, later than any before, and does `meanwhile` while they are brought to disk. They are
    /// there and `HEAD` says so when this returns; after an error nothing of them is there.
    pub(crate) fn append(
        &mut self,
        draft: Draft,
        meanwhile: impl FnOnce(),
    ) -> Result<(), ChainError> {
        let before = (self.known.at, self.known.tail.clone(), self.file.clone());
        let closed = self.closed.len();
        let written = self.try_append(draft, meanwhile);
        if written.is_err() {
            self.closed.truncate(closed);
            self.undo(before)?;
        }
        written
    }

    fn try_append(&mut self, draft: Draft, meanwhile: impl FnOnce()) -> Result<(), ChainError> {
        let mut tail = self.known.tail.clone();
        let mut at = self.known.at;
        let lines = draft.lines()?;
        if !self.named {
            // No file system has to keep the order of names and contents: without this two appends could be ahead of HEAD
            // after a loss of power. Most of the time it costs nothing, for the disk had time since the last append.
            self.folder.sync()?;
            self.named = true;
        }
        let mut places = Vec::with_capacity(lines.len());
        let mut bytes = Vec::new();
        for (record, line) in lines {
            let length = u64::try_from(line.len()).unwrap_or(u64::MAX);
            if at.offset > 0 && at.offset.saturating_add(length) > self.largest {
                self.write(&bytes)?;
                self.sync_segment()?;
                self.close(at.segment, tail.clone());
                bytes.clear();
                at = Place {
                    segment: at.segment.saturating_add(1),
                    offset: 0,
                };
                self.begin(at.segment)?;
            }
            let begins = at;
            at.offset = at.offset.saturating_add(length);
            bytes.extend_from_slice(&line);
            tail = record.tail.clone();
            places.push((record, begins));
        }
        if self.file.is_none() {
            self.begin(at.segment)?;
        }
        self.write(&bytes)?;
        kill_point();
        self.finish(&tail, meanwhile)?;
        for (record, place) in places {
            match record.event {
                super::Event::CapabilityCall => {
                    self.known.open.insert(record.tail.seq, place);
                }
                super::Event::CapabilityExecuted => {
                    self.known.open.remove(&record.call_seq.unwrap_or_default());
                }
                _ => {}
            }
        }
        self.known.at = at;
        self.known.tail = tail;
        Ok(())
    }

    /// A new segment, or the first.
    fn begin(&mut self, number: u64) -> Result<(), ChainError> {
        let name = segment::name(number);
        let file = self.folder.create(&name, OFlags::WRONLY | OFlags::APPEND)?;
        self.file = Some(Arc::new(file));
        self.folder.sync()?;
        kill_point();
        Ok(())
    }

    fn file(&self) -> Result<&Arc<File>, ChainError> {
        self.file.as_ref().ok_or_else(|| ChainError::Write {
            what: "the segment",
            source: io::ErrorKind::NotFound.into(),
        })
    }

    fn write(&self, bytes: &[u8]) -> Result<(), ChainError> {
        io::Write::write_all(&mut self.file()?.as_ref(), bytes).map_err(|source| {
            ChainError::Write {
                what: "the segment",
                source,
            }
        })
    }

    fn sync_segment(&self) -> Result<(), ChainError> {
        self.file()?
            .sync_data()
            .map_err(|source| ChainError::Write {
                what: "the segment",
                source,
            })
    }

    /// Syncs the segment and the next `HEAD` at the same time, and then makes that `HEAD`: it never says more than what is
    /// on disk.
    fn finish(&mut self, tail: &Tail, meanwhile: impl FnOnce()) -> Result<(), ChainError> {
        let bytes = head::write(tail, &self.key)?;
        // Two files change places, and each is overwritten in turn: that costs no new inode.
        let spare = self.folder.open_or_make(SPARE, OFlags::WRONLY)?;
        let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        self.syncer
            .during(self.file()?, || {
                spare.write_all_at(&bytes, 0)?;
                if spare.metadata()?.len() != length {
                    spare.set_len(length)?;
                }
                meanwhile();
                spare.sync_data()
            })
            .map_err(|source| ChainError::Write {
                what: "the segment or HEAD",
                source,
            })?;
        kill_point();
        self.replace_head()?;
        // The lines are on disk: where the name is not, they are adopted at the next start.
        self.named = false;
        // The one before is signed as well: nothing stays that whoever cuts the last append off could put in HEAD's place.
        if let Ok(Some(before)) = self.folder.open(SPARE, OFlags::WRONLY) {
            let _ = before.write_all_at(b"-", 0);
        }
        kill_point();
        self.head = Some(bytes);
        Ok(())
    }

    fn replace_head(&self) -> Result<(), ChainError> {
        let rename = |flags| {
            rustix::fs::renameat_with(self.folder.fd(), SPARE, self.folder.fd(), head::NAME, flags)
        };
        rename(RenameFlags::EXCHANGE)
            .or_else(|_| {
                // No HEAD yet, or a file system that cannot exchange.
                rustix::fs::renameat(self.folder.fd(), SPARE, self.folder.fd(), head::NAME)
            })
            .map_err(|error| ChainError::Write {
                what: "HEAD",
                source: error.into(),
            })
    }

    /// Takes back what an append wrote before it failed.
    fn undo(
        &mut self,
        (at, tail, file): (Place, Tail, Option<Arc<File>>),
    ) -> Result<(), ChainError> {
        let begun = segment::last(&self.folder)?.unwrap_or(0);
        let failed = |source| ChainError::Write {
            what: "the segment back to what it was",
            source,
        };
        if let Some(file) = &file {
            file.set_len(at.offset)
                .and_then(|()| file.sync_data())
                .map_err(failed)?;
        }
        let kept = if file.is_some() {
            at.segment
        } else {
            at.segment.saturating_sub(1)
        };
        for number in kept.saturating_add(1)..=begun {
            self.folder.remove(&segment::name(number))?;
        }
        self.known.at = at;
        self.known.tail = tail;
        self.file = file;
        Ok(())
    }

    /// The last segment, as it is now.
    pub(crate) fn seen(&self) -> io::Result<Option<(u64, Seen)>> {
        self.file
            .as_deref()
            .map(|file| Ok((self.known.at.segment, Seen::of(file)?)))
            .transpose()
    }
}
