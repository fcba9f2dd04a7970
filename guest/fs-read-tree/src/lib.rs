//! The component `fs.read_tree`: lists what is below a directory.
//!
//! The host walks, sorts and bounds; this asks once and writes the answer. It follows nothing and reads no file.

mod request;
#[cfg(test)]
mod tests;

use kit::SkillError;
use kit::host::ReadFiles;
use kit::host::fs_read::{Entry, EntryKind, FsError, Listing};
use kit::json::write_string;
use kit::path::{Path, fs_error};

use request::Request;

/// Bytes of an answer at which no entry is added. A host takes 16 MiB, and names may consist of characters whose
/// escapes are six times as long as they are; an entry is far smaller than what is left.
const MAX_ANSWER_BYTES: usize = 16 * 1024 * 1024 - 64 * 1024;

/// Bytes of an entry without its path, about.
const ENTRY_BYTES: usize = 48;

/// What the component says of itself: one JSON object with `name`, `description`, `input_schema` and
/// `output_schema`.
#[must_use]
pub fn describe() -> &'static str {
    include_str!("describe.json").trim_ascii_end()
}

/// One call.
///
/// # Errors
/// `invalid_request`; `not_found`, `wrong_type`, `denied` and `io` of the root. A directory further down that
/// cannot be read is an entry with an error (TS-37).
pub fn run(host: &mut impl ReadFiles, request: &[u8]) -> Result<Vec<u8>, SkillError> {
    let request = Request::parse(request)?;
    let outcome = host.tree(&[request.hostcall()]).pop();
    let listing = outcome
        .unwrap_or(Err(FsError::Io))
        .map_err(|error| fs_error("fs.read", &request.root, error))?;
    Ok(answer(&request.root, &listing))
}

/// The response (TS-03), written by hand: a listing is long and of one form.
fn answer(root: &Path, listing: &Listing) -> Vec<u8> {
    let entries = &listing.entries;
    let room = entries.iter().fold(root.shown().len(), |sum, entry| {
        sum.saturating_add(entry.path.len())
            .saturating_add(ENTRY_BYTES)
    });
    let mut out = Vec::with_capacity(room.min(MAX_ANSWER_BYTES).saturating_add(ENTRY_BYTES));
    out.extend_from_slice(b"{\"root\":");
    write_string(&mut out, root.shown());
    out.extend_from_slice(b",\"entries\":[");
    let mut truncated = listing.truncated;
    for (position, entry) in entries.iter().enumerate() {
        if out.len() > MAX_ANSWER_BYTES {
            truncated = true;
            break;
        }
        if position > 0 {
            out.push(b',');
        }
        write_entry(&mut out, entry);
    }
    out.extend_from_slice(if truncated {
        b"],\"truncated\":true}".as_slice()
    } else {
        b"],\"truncated\":false}"
    });
    out
}

/// TS-33, TS-37.
fn write_entry(out: &mut Vec<u8>, entry: &Entry) {
    out.extend_from_slice(b"{\"path\":");
    write_string(out, &entry.path);
    let kind: &[u8] = match entry.kind {
        EntryKind::File => b",\"kind\":\"file\"",
        EntryKind::Directory => b",\"kind\":\"dir\"",
        EntryKind::Symlink => b",\"kind\":\"symlink\"",
        EntryKind::Other => b",\"kind\":\"other\"",
    };
    out.extend_from_slice(kind);
    if let (EntryKind::File, Some(bytes)) = (entry.kind, entry.bytes) {
        out.extend_from_slice(format!(",\"bytes\":{bytes}").as_bytes());
    }
    if let Some(error) = entry.error {
        let error: &[u8] = match error {
            FsError::Denied | FsError::NotAccessible | FsError::LeavesMount | FsError::Symlink => {
                b",\"error\":\"denied\""
            }
            _ => b",\"error\":\"io\"",
        };
        out.extend_from_slice(error);
    }
    out.push(b'}');
}

kit::component!(crate::describe, crate::run);
