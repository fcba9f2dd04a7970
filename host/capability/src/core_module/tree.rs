//! `fs_read_tree`: what lies below a directory, as one JSON document.
//!
//! The walk goes down in the order of names, follows no link and opens one directory at a time, each looked up from
//! the handle of the top. What a directory holds is not bounded, so only as many names are kept as can still be
//! answered: the first ones by name.

use std::collections::BinaryHeap;
use std::os::fd::OwnedFd;

use rustix::fs::{AtFlags, Dir, FileType, OFlags};
use serde::Serialize;

use super::{CoreCall, CoreKind, Ended, declared};
use crate::BudgetExceeded;
use crate::fs::{READ, Symlinks, resolve};

/// Entries of a document.
const MAX_ENTRIES: usize = 10_000;
/// Bytes of all its files together.
const MAX_FILE_BYTES: u64 = 64 * 1024 * 1024;

// Members are in alphabetical order, as the document has them.
#[derive(Serialize)]
struct Document<'path> {
    entries: Vec<Entry>,
    root: &'path str,
    truncated: bool,
}

#[derive(Serialize)]
struct Entry {
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<u64>,
    kind: &'static str,
    path: String,
}

/// A name that is still to be answered: a directory has no bytes. Ordered by path.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Pending {
    path: String,
    bytes: Option<u64>,
}

impl CoreCall {
    /// The document about the directory, unless it is longer than `room` bytes.
    ///
    /// # Errors
    /// [`Ended`].
    pub fn read_tree(&self, path: &[u8], room: usize) -> Result<Option<Vec<u8>>, Ended> {
        let Some(path) = declared::path(path) else {
            return Ok(None);
        };
        let found = self.below_roots(&path, |value, rest| self.directory(value, rest));
        let Some(top) = self.noted(CoreKind::FsRead, found)? else {
            return Ok(None);
        };
        let (entries, truncated) = self.walk(&top)?;
        let document = Document {
            entries,
            root: path.as_str(),
            truncated,
        };
        let bytes = serde_json::to_vec(&document).ok();
        Ok(bytes.filter(|bytes| bytes.len() <= room))
    }

    fn walk(&self, top: &OwnedFd) -> Result<(Vec<Entry>, bool), BudgetExceeded> {
        let mut entries: Vec<Entry> = Vec::new();
        let (mut sum, mut truncated) = (0_u64, false);
        // The next one is the last.
        let mut pending = self.children(top, "")?;
        while let Some(next) = pending.pop() {
            sum = sum.saturating_add(next.bytes.unwrap_or(0));
            if entries.len() >= MAX_ENTRIES || sum > MAX_FILE_BYTES {
                truncated = true;
                break;
            }
            if next.bytes.is_none() {
                pending.extend(self.children(top, &next.path)?);
                // What lies too far down to be reached is not kept.
                let excess = pending.len().saturating_sub(MAX_ENTRIES.saturating_add(1));
                pending.drain(..excess);
            }
            entries.push(Entry {
                bytes: next.bytes,
                kind: if next.bytes.is_some() { "file" } else { "dir" },
                path: next.path,
            });
        }
        entries.sort_by(|left, right| left.path.cmp(&right.path));
        Ok((entries, truncated))
    }

    /// The first files and directories of a directory, in reverse order of their names; none if it cannot be listed.
    fn children(&self, top: &OwnedFd, relative: &str) -> Result<Vec<Pending>, BudgetExceeded> {
        let listed = resolve(top, relative, READ | OFlags::DIRECTORY, Symlinks::Refuse);
        let listed = listed
            .ok()
            .filter(|listed| self.own.anywhere().check(listed).is_ok());
        let Some(directory) = listed else {
            return Ok(Vec::new());
        };
        let Ok(names) = Dir::read_from(&directory) else {
            return Ok(Vec::new());
        };
        let mut first = BinaryHeap::new();
        for entry in names {
            self.meter.remaining()?;
            let Ok(entry) = entry else { break };
            // A name that is no text cannot be asked for either.
            let Ok(name) = entry.file_name().to_str() else {
                continue;
            };
            if matches!(name, "." | "..") {
                continue;
            }
            let Ok(stat) = rustix::fs::statat(&directory, name, AtFlags::SYMLINK_NOFOLLOW) else {
                continue;
            };
            let bytes = match FileType::from_raw_mode(stat.st_mode) {
                FileType::Directory => None,
                FileType::RegularFile => Some(stat.st_size.try_into().unwrap_or(0)),
                _ => continue,
            };
            let path = if relative.is_empty() {
                name.to_owned()
            } else {
                format!("{relative}/{name}")
            };
            first.push(Pending { path, bytes });
            if first.len() > MAX_ENTRIES.saturating_add(1) {
                first.pop();
            }
        }
        let mut children = first.into_sorted_vec();
        children.reverse();
        Ok(children)
    }
}
