//! The request of a call.

use kit::SkillError;
use kit::host::fs_read::TreeRequest;
use kit::members::Members;
use kit::path::{MAX_PATH_BYTES, Path};

/// What is to be listed.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) root: Path,
    max_entries: u32,
    max_depth: u32,
    include_hidden: bool,
}

impl Request {
    /// Reads a request (TS-01, TS-02).
    pub(crate) fn parse(request: &[u8]) -> Result<Self, SkillError> {
        let mut members = Members::parse(request)?;
        let root = members.optional_string("root", 0..=MAX_PATH_BYTES)?;
        let max_entries = members.integer("max_entries", 1..=10_000, 2_000)?;
        let max_depth = members.integer("max_depth", 1..=64, 8)?;
        let include_hidden = members.flag("include_hidden", false)?;
        members.finish()?;
        Ok(Self {
            root: Path::parse("root", root.as_deref().unwrap_or("."))?,
            max_entries,
            max_depth,
            include_hidden,
        })
    }

    /// What the host is asked for.
    pub(crate) fn hostcall(&self) -> TreeRequest {
        TreeRequest {
            root: self.root.absolute().to_owned(),
            max_entries: self.max_entries,
            max_depth: self.max_depth,
            include_hidden: self.include_hidden,
        }
    }
}
