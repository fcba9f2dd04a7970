//! The request of a call.

use kit::SkillError;
use kit::host::fs_read::{Listing, TreeRequest};
use kit::members::Members;
use kit::path::{MAX_PATH_BYTES, Path};

/// Entries of an answer at most, and those before it that it may skip: the host lists 100,000.
const MAX_ENTRIES: u32 = 10_000;
pub(crate) const MAX_SKIP: u32 = 90_000;

/// Bytes of an answer at most. A host takes 16 MiB, and an entry is far smaller than what is left.
const MAX_BYTES: u32 = 16 * 1024 * 1024 - 64 * 1024;

/// What is to be listed.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) root: Path,
    /// Entries that an earlier answer had: at most 90,000.
    pub(crate) skip: u32,
    pub(crate) max_bytes: usize,
    /// Entries to list, with those to skip.
    listed: u32,
    max_depth: u32,
    include_hidden: bool,
}

impl Request {
    /// Reads a request.
    pub(crate) fn parse(request: &[u8]) -> Result<Self, SkillError> {
        let mut members = Members::parse(request)?;
        let root = members.optional_string("root", 0..=MAX_PATH_BYTES)?;
        let max_entries = members.integer("max_entries", 1..=MAX_ENTRIES, 2_000)?;
        let skip = members.integer("skip", 0..=MAX_SKIP, 0)?;
        let max_bytes = members.integer("max_bytes", 1_024..=MAX_BYTES, 32 * 1024)?;
        let max_depth = members.integer("max_depth", 1..=64, 8)?;
        let include_hidden = members.flag("include_hidden", false)?;
        members.finish()?;
        Ok(Self {
            root: Path::parse("root", root.as_deref().unwrap_or("."))?,
            skip,
            max_bytes: usize::try_from(max_bytes).unwrap_or(usize::MAX),
            listed: max_entries.saturating_add(skip),
            max_depth,
            include_hidden,
        })
    }

    /// Whether the host listed as many entries as it was asked for.
    pub(crate) fn is_filled_by(&self, listing: &Listing) -> bool {
        u32::try_from(listing.entries.len()).is_ok_and(|entries| entries >= self.listed)
    }

    /// What the host is asked for.
    pub(crate) fn hostcall(&self) -> TreeRequest {
        TreeRequest {
            root: self.root.absolute().to_owned(),
            max_entries: self.listed,
            max_depth: self.max_depth,
            include_hidden: self.include_hidden,
        }
    }
}
