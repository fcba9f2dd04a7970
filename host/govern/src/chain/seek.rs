//! Finding a record by its number, and the last one, without reading all before it.
//!
//! Records are in the order of their numbers, so the half of the chain that cannot hold one is never read. Nothing is
//! verified here, and nothing is refused: where a line is no record, the chain is read from its beginning, by whoever says
//! what is wrong with it.

use std::os::unix::fs::FileExt as _;

use rustix::fs::OFlags;

use super::record::{LONGEST, Record};
use super::segment::{self, Lines, Place};
use super::show::Stop;
use crate::state::{Folder, FolderError};

/// Bytes that are read line by line rather than halved once more.
const NEAR: u64 = 16 << 10;

/// Bytes from the end in which the last record is looked for first.
const WINDOW: u64 = 4 << 10;

/// A place at or before the first record after `since`, and not far from it. What follows `end` is not looked at. `stop`
/// is asked before each step, of which one reads two lines; once it says so the answer is any place.
pub(super) fn near(
    folder: &Folder,
    end: Place,
    since: u64,
    stop: Stop<'_>,
) -> Result<Place, FolderError> {
    let first = Place {
        segment: 1,
        offset: 0,
    };
    if since == 0 {
        return Ok(first);
    }
    Ok(halve(folder, end, since, stop)?.unwrap_or(first))
}

/// None where a line that was read is no record.
fn halve(
    folder: &Folder,
    end: Place,
    since: u64,
    stop: Stop<'_>,
) -> Result<Option<Place>, FolderError> {
    // The last segment that begins at `since` or before: what comes after `since` begins in it or with the next.
    let (mut low, mut high) = (1, end.segment.saturating_add(1));
    while high.saturating_sub(low) > 1 && !stop() {
        let middle = low.midpoint(high);
        let place = Place {
            segment: middle,
            offset: 0,
        };
        match number_at(folder, place, end)? {
            Found::Record(seq, _) if seq <= since => low = middle,
            // An empty one was begun before a crash.
            Found::Record(..) | Found::End => high = middle,
            Found::NoRecord => return Ok(None),
        }
    }
    let segment = low;
    let size = if segment == end.segment {
        end.offset
    } else {
        size_of(folder, segment)?
    };
    let (mut low, mut high) = (0_u64, size);
    while high.saturating_sub(low) > NEAR && !stop() {
        let middle = low.midpoint(high);
        // The first line that begins after the middle.
        let mut lines = Lines::few(
            folder,
            Place {
                segment,
                offset: middle,
            },
            end,
        );
        let begins = match lines.next()? {
            Some(rest) if rest.at.segment == segment && rest.whole => rest.end,
            Some(_) => return Ok(None),
            None => high,
        };
        if begins >= high {
            high = middle;
            continue;
        }
        let place = Place {
            segment,
            offset: begins,
        };
        match number_at(folder, place, end)? {
            Found::Record(seq, at) if seq <= since => low = at.offset,
            // The one before it may begin at the middle itself.
            Found::Record(..) | Found::End => high = middle.saturating_add(1),
            Found::NoRecord => return Ok(None),
        }
    }
    Ok(Some(Place {
        segment,
        offset: low,
    }))
}

enum Found {
    Record(u64, Place),
    NoRecord,
    End,
}

/// The number of the record that begins there.
fn number_at(folder: &Folder, place: Place, end: Place) -> Result<Found, FolderError> {
    let Some(line) = Lines::few(folder, place, end).next()? else {
        return Ok(Found::End);
    };
    if line.at != place {
        return Ok(Found::End);
    }
    let record = Record::unchecked(&line.bytes).filter(|_| line.whole);
    Ok(record.map_or(Found::NoRecord, |record| {
        Found::Record(record.tail.seq, line.at)
    }))
}

/// What stands at the end of the chain.
pub(super) enum Last {
    /// The last record.
    Record(Box<Record>),
    /// A last line that is none.
    NoRecord,
    /// The chain is empty.
    Nothing,
}

/// The last record before `end`.
pub(super) fn last(folder: &Folder, end: Place) -> Result<Last, FolderError> {
    let mut end = end;
    while end.offset == 0 {
        if end.segment <= 1 {
            return Ok(Last::Nothing);
        }
        end.segment = end.segment.saturating_sub(1);
        end.offset = size_of(folder, end.segment)?;
    }
    let name = segment::name(end.segment);
    let failed = |source| folder.failed(&name, source);
    let Some(file) = folder.open(&name, OFlags::RDONLY)? else {
        return Ok(Last::Nothing);
    };
    let longest = u64::try_from(LONGEST).unwrap_or(u64::MAX);
    let mut window = WINDOW;
    loop {
        let from = end.offset.saturating_sub(window);
        let length = usize::try_from(end.offset.saturating_sub(from)).unwrap_or(LONGEST);
        let mut bytes = vec![0; length];
        file.read_exact_at(&mut bytes, from).map_err(failed)?;
        let Some(lines) = bytes.strip_suffix(b"\n") else {
            return Ok(Last::NoRecord);
        };
        let before = lines.iter().rposition(|byte| *byte == b'\n');
        let line = match before {
            Some(before) => lines.get(before.saturating_add(1)..).unwrap_or_default(),
            None if from == 0 => lines,
            None if window > longest => return Ok(Last::NoRecord),
            None => {
                window = window.saturating_mul(8);
                continue;
            }
        };
        return Ok(
            Record::unchecked(line).map_or(Last::NoRecord, |record| Last::Record(Box::new(record)))
        );
    }
}

fn size_of(folder: &Folder, segment: u64) -> Result<u64, FolderError> {
    let stat = folder.stat(&segment::name(segment))?;
    Ok(stat
        .and_then(|stat| u64::try_from(stat.st_size).ok())
        .unwrap_or(0))
}
