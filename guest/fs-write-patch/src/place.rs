//! Where a hunk applies in the bytes of a file (TS-48 to TS-51).
//!
//! Nothing is split into lines or copied. The old side of a hunk is one run of bytes that must stand at the beginning
//! of a line; it is compared at its stated position, then looked for in what follows the hunk before. Looking takes
//! time linear in the bytes looked at, and [`Work`] bounds these bytes for the whole call.

use std::ops::Range;

use kit::SkillError;
use memchr::memmem;

use crate::diff::Hunk;
use crate::old_side::{OldSide, Trimmed};

/// Bytes that one call looks at for the places of its hunks: 32 times the longest file. Hunks that stand where they
/// say cost one pass of the file; each one that does not costs at most three more for each level of fuzz.
const MAX_WORK: u64 = 536_870_912;

/// What is left of [`MAX_WORK`].
#[derive(Debug)]
pub(crate) struct Work(u64);

impl Default for Work {
    fn default() -> Self {
        Self(MAX_WORK)
    }
}

impl Work {
    fn spend(&mut self, bytes: usize) -> Result<(), SkillError> {
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        self.0 = self.0.checked_sub(bytes).ok_or_else(|| {
            SkillError::new(
                "too_large",
                "too many hunks stand elsewhere than they say: looking for them all would take too long",
            )
        })?;
        Ok(())
    }
}

/// Whether there are line ends and all of them are CR LF.
pub(crate) fn ends_in_crlf(bytes: &[u8]) -> bool {
    let mut ends = memchr::memchr_iter(b'\n', bytes).peekable();
    ends.peek().is_some()
        && ends.all(|end| {
            let before = end.checked_sub(1).and_then(|before| bytes.get(before));
            before == Some(&b'\r')
        })
}

/// What a placed hunk does: these bytes go, and so many come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Edit {
    /// Bytes of the old content: from the first line that changes to the last one.
    pub(crate) replaced: Range<usize>,
    /// Bytes that [`write_new`](crate::old_side::write_new) writes.
    pub(crate) inserted: usize,
}

/// Why a hunk cannot be placed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Misfit {
    /// Its old side is nowhere; the line of the file, from 1, that first differs at its stated position.
    Nowhere { line: u64 },
    /// It is in several places and not in the stated one.
    Ambiguous,
}

/// A file whose hunks are being placed, in order.
pub(crate) struct Placer<'a> {
    content: &'a [u8],
    line_end: &'static str,
    fuzz: usize,
    /// Behind the hunk before.
    behind: Position,
    /// How many lines further down than stated the hunk before was.
    shift: i64,
}

/// The beginning of a line, or the end of the file.
#[derive(Debug, Clone, Copy)]
struct Position {
    byte: usize,
    /// Lines before it.
    line: i64,
}

impl<'a> Placer<'a> {
    /// Begins at the top of a file; `line_end` is what ends the lines of its hunks (TS-49).
    pub(crate) fn new(content: &'a [u8], line_end: &'static str, fuzz: usize) -> Self {
        Self {
            content,
            line_end,
            fuzz,
            behind: Position { byte: 0, line: 0 },
            shift: 0,
        }
    }

    /// Places the next hunk.
    pub(crate) fn place(
        &mut self,
        hunk: &Hunk<'_>,
        work: &mut Work,
    ) -> Result<Result<Edit, Misfit>, SkillError> {
        let old = OldSide::new(hunk, self.line_end);
        work.spend(old.bytes.len())?;
        let mut tried = None;
        for level in 0..=self.fuzz {
            let trimmed = old.trimmed(level);
            // A level that drops no more than the one before, or all that says where the hunk belongs.
            if level > 0 && (tried == Some(trimmed.dropped) || trimmed.lines == 0) {
                break;
            }
            tried = Some(trimmed.dropped);
            match self.find(hunk, &trimmed, work)? {
                Found::At(at) => return Ok(Ok(self.accept(hunk, &old, &trimmed, at))),
                Found::Ambiguous => return Ok(Err(Misfit::Ambiguous)),
                Found::Nowhere => {}
            }
        }
        let line = self.first_difference(hunk, &old, work)?;
        Ok(Err(Misfit::Nowhere { line }))
    }

    /// TS-50: the stated position first, then the rest of the file.
    fn find(
        &self,
        hunk: &Hunk<'_>,
        side: &Trimmed<'_>,
        work: &mut Work,
    ) -> Result<Found, SkillError> {
        if let Some(at) = self.stated(hunk, side.dropped.0, work)?
            && self.fits(side, at.byte)
        {
            return Ok(Found::At(at));
        }
        if side.lines == 0 {
            return Ok(Found::Nowhere);
        }
        if side.ends_file {
            return self.find_at_end(side, work);
        }
        // From the byte before, a line end, so that every occurrence of line end and old side is one of lines.
        let first = self.behind.byte == 0 && self.fits(side, 0);
        let from = self.behind.byte.saturating_sub(1);
        let finder = memmem::Finder::new(side.needle);
        let mut found = first.then_some(0);
        let mut start = from;
        loop {
            let rest = self.content.get(start..).unwrap_or_default();
            let Some(offset) = finder.find(rest) else {
                work.spend(rest.len())?;
                break;
            };
            work.spend(offset.saturating_add(side.needle.len()))?;
            let at = start.saturating_add(offset).saturating_add(1);
            if found.is_some() {
                return Ok(Found::Ambiguous);
            }
            found = Some(at);
            start = at;
        }
        match found {
            Some(byte) => Ok(Found::At(self.position(byte, work)?)),
            None => Ok(Found::Nowhere),
        }
    }

    /// The one place of a hunk that ends the file.
    fn find_at_end(&self, side: &Trimmed<'_>, work: &mut Work) -> Result<Found, SkillError> {
        let at = self.content.len().checked_sub(side.bytes().len());
        match at {
            Some(at) if at >= self.behind.byte && self.begins_line(at) && self.fits(side, at) => {
                Ok(Found::At(self.position(at, work)?))
            }
            _ => Ok(Found::Nowhere),
        }
    }

    /// Where the hunk says it is, moved as far as the one before was, behind the lines that a level drops.
    fn stated(
        &self,
        hunk: &Hunk<'_>,
        dropped: usize,
        work: &mut Work,
    ) -> Result<Option<Position>, SkillError> {
        let dropped = i64::try_from(dropped).unwrap_or(i64::MAX);
        let line = i64::from(hunk.position)
            .saturating_add(self.shift)
            .saturating_add(dropped);
        let Ok(lines) = usize::try_from(line.saturating_sub(self.behind.line)) else {
            return Ok(None);
        };
        let rest = self.content.get(self.behind.byte..).unwrap_or_default();
        let Some(skipped) = skip_lines(rest, lines) else {
            work.spend(rest.len())?;
            return Ok(None);
        };
        work.spend(skipped)?;
        Ok(Some(Position {
            byte: self.behind.byte.saturating_add(skipped),
            line,
        }))
    }

    /// Whether the old side stands at this beginning of a line.
    fn fits(&self, side: &Trimmed<'_>, at: usize) -> bool {
        let rest = self.content.get(at..).unwrap_or_default();
        // A line without newline ends its file, and lines are added only behind a newline.
        rest.starts_with(side.bytes())
            && (!side.ends_file || rest.len() == side.bytes().len())
            && (side.lines > 0 || self.begins_line(at))
    }

    fn begins_line(&self, at: usize) -> bool {
        at == 0 || at.checked_sub(1).and_then(|at| self.content.get(at)) == Some(&b'\n')
    }

    /// The position of a beginning of a line behind the hunk before.
    fn position(&self, byte: usize, work: &mut Work) -> Result<Position, SkillError> {
        let passed = self.content.get(self.behind.byte..byte).unwrap_or_default();
        work.spend(passed.len())?;
        Ok(Position {
            byte,
            line: self.behind.line.saturating_add(count_lines(passed)),
        })
    }

    fn accept(&mut self, hunk: &Hunk<'_>, old: &OldSide, side: &Trimmed<'_>, at: Position) -> Edit {
        let lines = i64::try_from(side.lines).unwrap_or(i64::MAX);
        let dropped = i64::try_from(side.dropped.0).unwrap_or(i64::MAX);
        self.shift = at
            .line
            .saturating_sub(dropped)
            .saturating_sub(i64::from(hunk.position));
        self.behind = Position {
            byte: at.byte.saturating_add(side.bytes().len()),
            line: at.line.saturating_add(lines),
        };
        // Where byte 0 of the whole old side would be.
        let place = |byte: usize| {
            at.byte
                .saturating_add(byte)
                .saturating_sub(side.dropped_bytes)
        };
        Edit {
            replaced: place(old.changes.start)..place(old.changes.end),
            inserted: old.inserted,
        }
    }

    /// The first line of the file, from 1, that is not as the hunk says at its stated position.
    fn first_difference(
        &self,
        hunk: &Hunk<'_>,
        old: &OldSide,
        work: &mut Work,
    ) -> Result<u64, SkillError> {
        let Some(at) = self.stated(hunk, 0, work)? else {
            return Ok(u64::from(hunk.position).saturating_add(1));
        };
        let rest = self.content.get(at.byte..).unwrap_or_default();
        let wanted = old.trimmed(0);
        let same = rest
            .iter()
            .zip(wanted.bytes())
            .take_while(|(a, b)| a == b)
            .count();
        let same = count_lines(rest.get(..same).unwrap_or_default());
        let line = at.line.saturating_add(same).saturating_add(1);
        Ok(u64::try_from(line).unwrap_or(1))
    }
}

/// The outcome of one level.
enum Found {
    At(Position),
    Ambiguous,
    Nowhere,
}

/// Bytes of so many lines; none if there are fewer. The end of the file ends a line too.
fn skip_lines(bytes: &[u8], lines: usize) -> Option<usize> {
    let Some(last) = lines.checked_sub(1) else {
        return Some(0);
    };
    let mut ends = memchr::memchr_iter(b'\n', bytes);
    if last > 0 {
        ends.nth(last.saturating_sub(1))?;
    }
    match ends.next() {
        Some(end) => Some(end.saturating_add(1)),
        None => bytes
            .last()
            .is_some_and(|last| *last != b'\n')
            .then_some(bytes.len()),
    }
}

/// Line ends among these bytes.
fn count_lines(bytes: &[u8]) -> i64 {
    i64::try_from(memchr::memchr_iter(b'\n', bytes).count()).unwrap_or(i64::MAX)
}
