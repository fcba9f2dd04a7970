//! The request of a call.

use kit::SkillError;
use kit::members::{Members, invalid};
use kit::path::{MAX_PATH_BYTES, Path};

use crate::encoding::Requested;

/// Bytes of the window at most, and without a request.
const MAX_BYTES: u32 = 2_097_152;
const DEFAULT_BYTES: u32 = 65_536;

/// Bytes before the window at most: with those of the window, what the host reads of a file.
pub(crate) const MAX_OFFSET: u32 = 16 * 1024 * 1024 - MAX_BYTES;

/// Where the text begins and ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Range {
    /// So many bytes from the beginning.
    From(usize),
    /// These lines, from 1, both included.
    Lines { first: u32, last: u32 },
}

/// What is to be read.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) path: Path,
    /// Bytes of the window: at least 1, at most 2,097,152.
    pub(crate) max_bytes: usize,
    pub(crate) range: Range,
    pub(crate) encoding: Requested,
}

impl Request {
    /// Reads a request.
    pub(crate) fn parse(request: &[u8]) -> Result<Self, SkillError> {
        let mut members = Members::parse(request)?;
        let path = members.string("path", 0..=MAX_PATH_BYTES)?;
        let max_bytes = members.integer("max_bytes", 1..=MAX_BYTES, DEFAULT_BYTES)?;
        let encoding = members.optional_string("encoding", 0..=usize::MAX)?;
        let range = range(&mut members)?;
        members.finish()?;
        Ok(Self {
            path: Path::parse("path", &path)?,
            max_bytes: usize::try_from(max_bytes).unwrap_or(usize::MAX),
            range,
            encoding: Requested::parse(encoding.as_deref().unwrap_or("utf-8"))?,
        })
    }
}

fn range(members: &mut Members) -> Result<Range, SkillError> {
    let lines = members.has("start_line") || members.has("end_line");
    if lines && members.has("offset") {
        return Err(invalid("offset", "does not go with lines"));
    }
    if !lines {
        let offset = members.integer("offset", 0..=MAX_OFFSET, 0)?;
        return Ok(Range::From(usize::try_from(offset).unwrap_or(usize::MAX)));
    }
    let first = members.integer("start_line", 1..=u32::MAX, 1)?;
    let last = members.integer("end_line", 1..=u32::MAX, u32::MAX)?;
    if last < first {
        return Err(invalid("end_line", "is before start_line"));
    }
    Ok(Range::Lines { first, last })
}
