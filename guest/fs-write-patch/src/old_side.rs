//! What a hunk takes for granted, as one run of bytes, and what it puts in its place (TS-48, TS-51).

use std::ops::Range;

use crate::diff::{Hunk, LineKind};
use crate::place::Edit;
use crate::request::MAX_FUZZ;

/// The old side of a hunk as bytes, and how they are made up.
pub(crate) struct OldSide {
    /// A line end, then the lines.
    pub(crate) bytes: Vec<u8>,
    lines: usize,
    leading: Context,
    trailing: Context,
    /// Without the line end in front: from the first changed line to the last one.
    pub(crate) changes: Range<usize>,
    /// Bytes of the new side that take their place.
    pub(crate) inserted: usize,
    ends_file: bool,
}

/// The context lines at one end.
#[derive(Default)]
struct Context {
    lines: usize,
    /// Bytes of the lines that fuzz may drop, the outermost first.
    bytes: [usize; MAX_FUZZ_LINES],
}

const MAX_FUZZ_LINES: usize = 2;
const _: () = assert!(MAX_FUZZ == 2);

impl Context {
    /// Bytes of the outermost `lines`.
    fn outermost(&self, lines: usize) -> usize {
        self.bytes.iter().take(lines).sum()
    }
}

/// An old side without the context lines that a level drops.
pub(crate) struct Trimmed<'a> {
    /// With the line end in front.
    pub(crate) needle: &'a [u8],
    pub(crate) lines: usize,
    /// Lines dropped before and behind.
    pub(crate) dropped: (usize, usize),
    /// Bytes dropped before.
    pub(crate) dropped_bytes: usize,
    pub(crate) ends_file: bool,
}

impl<'a> Trimmed<'a> {
    pub(crate) fn bytes(&self) -> &'a [u8] {
        self.needle.get(1..).unwrap_or_default()
    }
}

impl OldSide {
    pub(crate) fn new(hunk: &Hunk<'_>, line_end: &str) -> Self {
        let mut side = Self {
            bytes: vec![b'\n'],
            lines: 0,
            leading: Context::default(),
            trailing: Context::default(),
            changes: 0..0,
            inserted: 0,
            ends_file: hunk.ends_file,
        };
        let mut new_bytes = 0_usize;
        let mut changed = false;
        for line in hunk.lines() {
            let end = if line.ended { line_end } else { "" };
            let bytes = line.text.len().saturating_add(end.len());
            if line.kind != LineKind::Added {
                side.bytes.extend_from_slice(line.text.as_bytes());
                side.bytes.extend_from_slice(end.as_bytes());
                side.lines = side.lines.saturating_add(1);
            }
            if line.kind != LineKind::Removed {
                new_bytes = new_bytes.saturating_add(bytes);
            }
            if line.kind == LineKind::Context {
                side.context(bytes, changed);
            } else {
                changed = true;
                side.trailing = Context::default();
                side.changes.end = side.bytes.len().saturating_sub(1);
                side.inserted = new_bytes.saturating_sub(side.changes.start);
            }
        }
        side
    }

    /// Counts a context line to the end that it may belong to.
    fn context(&mut self, bytes: usize, changed: bool) {
        if changed {
            let [outer, _] = self.trailing.bytes;
            self.trailing.bytes = [bytes, outer];
            self.trailing.lines = self.trailing.lines.saturating_add(1);
        } else {
            if let Some(place) = self.leading.bytes.get_mut(self.leading.lines) {
                *place = bytes;
            }
            self.leading.lines = self.leading.lines.saturating_add(1);
            self.changes.start = self.changes.start.saturating_add(bytes);
        }
    }

    /// TS-51: without up to `level` context lines at each end.
    pub(crate) fn trimmed(&self, level: usize) -> Trimmed<'_> {
        let dropped = (
            level.min(self.leading.lines),
            level.min(self.trailing.lines),
        );
        let before = self.leading.outermost(dropped.0);
        let end = self
            .bytes
            .len()
            .saturating_sub(self.trailing.outermost(dropped.1));
        // The last byte before what is kept is a line end, as the first one of all is.
        Trimmed {
            needle: self.bytes.get(before..end).unwrap_or_default(),
            lines: self
                .lines
                .saturating_sub(dropped.0)
                .saturating_sub(dropped.1),
            dropped,
            dropped_bytes: before,
            ends_file: self.ends_file && dropped.1 == 0,
        }
    }
}

/// Appends what an edit inserts: the new side from the first line that changes to the last one.
pub(crate) fn write_new(out: &mut Vec<u8>, hunk: &Hunk<'_>, edit: &Edit, line_end: &str) {
    let end = out.len().saturating_add(edit.inserted);
    let changes = hunk
        .lines()
        .skip_while(|line| line.kind == LineKind::Context)
        .filter(|line| line.kind != LineKind::Removed);
    for line in changes {
        if out.len() >= end {
            break;
        }
        out.extend_from_slice(line.text.as_bytes());
        if line.ended {
            out.extend_from_slice(line_end.as_bytes());
        }
    }
}
