//! The files of the chain, and reading them line by line.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _, Seek as _, SeekFrom};

use rustix::fs::OFlags;

use super::record::LONGEST;
use crate::state::{Folder, FolderError};

/// A new segment is begun at 64 MiB.
pub(crate) const LARGEST: u64 = 64 << 20;

/// `000001.jsonl`
pub(crate) fn name(number: u64) -> String {
    format!("{number:06}.jsonl")
}

fn number(name: &str) -> Option<u64> {
    let number = name.strip_suffix(".jsonl")?.parse().ok()?;
    (self::name(number) == name).then_some(number)
}

/// The number of the last segment, 0 where there is none; the number of one that is missing before it as the error.
pub(crate) fn last(folder: &Folder) -> Result<Result<u64, u64>, FolderError> {
    let mut numbers: Vec<u64> = folder
        .names()?
        .iter()
        .filter_map(|name| number(name))
        .collect();
    numbers.sort_unstable();
    let missing = (1..).zip(&numbers).find(|(wanted, found)| wanted != *found);
    Ok(match missing {
        Some((wanted, _)) => Err(wanted),
        None => Ok(numbers.last().copied().unwrap_or(0)),
    })
}

/// Where the chain ends now.
pub(crate) fn end(folder: &Folder) -> Result<Place, FolderError> {
    let last = last(folder)?.unwrap_or_else(|missing| missing.saturating_sub(1));
    let size = match folder.open(&name(last), OFlags::RDONLY)? {
        Some(file) => file
            .metadata()
            .map_err(|source| folder.failed(&name(last), source))?
            .len(),
        None => 0,
    };
    Ok(Place {
        segment: last,
        offset: size,
    })
}

/// Where a line begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    pub(crate) segment: u64,
    pub(crate) offset: u64,
}

/// One line.
#[derive(Debug)]
pub(crate) struct Line {
    pub(crate) at: Place,
    /// Without its end; where it is longer than [`LONGEST`], only that much.
    pub(crate) bytes: Vec<u8>,
    /// Whether its end is there.
    pub(crate) whole: bool,
    /// Where the next one begins.
    pub(crate) end: u64,
    /// Whether it is the last of its segment.
    pub(crate) last: bool,
}

/// Reads lines from a place on, segment after segment.
pub(crate) struct Lines<'a> {
    folder: &'a Folder,
    at: Place,
    until: Option<Place>,
    file: Option<BufReader<File>>,
    /// Bytes that are read at a time.
    buffer: usize,
}

/// Bytes that are read at a time where many lines are wanted, and where one is.
const MANY: usize = 64 << 10;
const FEW: usize = 4 << 10;

impl<'a> Lines<'a> {
    /// All that stands there now. What is appended later is not read: nobody has to be kept from writing meanwhile.
    pub(crate) fn all(folder: &'a Folder) -> Result<Self, FolderError> {
        let first = Place {
            segment: 1,
            offset: 0,
        };
        Ok(Self::between(folder, first, end(folder)?))
    }

    /// What stands from a place on, up to another.
    pub(crate) fn between(folder: &'a Folder, at: Place, end: Place) -> Self {
        Self {
            until: Some(end),
            ..Self::from(folder, at)
        }
    }

    /// The same where no more than one or two of them are wanted.
    pub(crate) fn few(folder: &'a Folder, at: Place, end: Place) -> Self {
        Self {
            buffer: FEW,
            ..Self::between(folder, at, end)
        }
    }

    pub(crate) fn from(folder: &'a Folder, at: Place) -> Self {
        Self {
            folder,
            at,
            until: None,
            file: None,
            buffer: MANY,
        }
    }

    /// The next line; none at the end of the last segment.
    pub(crate) fn next(&mut self) -> Result<Option<Line>, FolderError> {
        loop {
            if self.until.is_some_and(|until| self.at >= until) {
                return Ok(None);
            }
            let name = name(self.at.segment);
            let failed = |source| self.folder.failed(&name, source);
            if self.file.is_none() {
                let Some(mut file) = self.folder.open(&name, OFlags::RDONLY)? else {
                    return Ok(None);
                };
                file.seek(SeekFrom::Start(self.at.offset)).map_err(failed)?;
                self.file = Some(BufReader::with_capacity(self.buffer, file));
            }
            let Some(file) = self.file.as_mut() else {
                return Ok(None);
            };
            let mut bytes = Vec::new();
            let limit = u64::try_from(LONGEST).unwrap_or(u64::MAX);
            let limit = match self.until {
                Some(until) if until.segment == self.at.segment => {
                    limit.min(until.offset.saturating_sub(self.at.offset))
                }
                _ => limit,
            };
            let read = file
                .take(limit)
                .read_until(b'\n', &mut bytes)
                .map_err(failed)?;
            if read == 0 {
                self.file = None;
                self.at = Place {
                    segment: self.at.segment.saturating_add(1),
                    offset: 0,
                };
                continue;
            }
            let whole = bytes.last() == Some(&b'\n');
            if whole {
                bytes.pop();
            }
            let at = self.at;
            self.at.offset = at
                .offset
                .saturating_add(u64::try_from(read).unwrap_or(u64::MAX));
            let last = file.fill_buf().map_err(failed)?.is_empty();
            return Ok(Some(Line {
                at,
                bytes,
                whole,
                end: self.at.offset,
                last,
            }));
        }
    }
}
