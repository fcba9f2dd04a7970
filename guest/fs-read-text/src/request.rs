//! The request of a call.

use kit::SkillError;
use kit::members::Members;
use kit::path::{MAX_PATH_BYTES, Path};

use crate::encoding::Requested;

/// Bytes of the window at most, and without a request.
const MAX_BYTES: u32 = 2_097_152;
const DEFAULT_BYTES: u32 = 65_536;

/// What is to be read.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) path: Path,
    /// Bytes of the window: at least 1, at most 2,097,152.
    pub(crate) max_bytes: usize,
    pub(crate) encoding: Requested,
}

impl Request {
    /// Reads a request (TS-01, TS-02, TS-21).
    pub(crate) fn parse(request: &[u8]) -> Result<Self, SkillError> {
        let mut members = Members::parse(request)?;
        let path = members.string("path", 0..=MAX_PATH_BYTES)?;
        let max_bytes = members.integer("max_bytes", 1..=MAX_BYTES, DEFAULT_BYTES)?;
        let encoding = members.optional_string("encoding", 0..=usize::MAX)?;
        members.finish()?;
        Ok(Self {
            path: Path::parse("path", &path)?,
            max_bytes: usize::try_from(max_bytes).unwrap_or(usize::MAX),
            encoding: Requested::parse(encoding.as_deref().unwrap_or("utf-8"))?,
        })
    }
}
