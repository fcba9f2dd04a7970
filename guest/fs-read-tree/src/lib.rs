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
use kit::path::fs_error;

use request::{MAX_SKIP, Request};

/// Bytes of what stands behind the entries, at most.
const END_BYTES: usize = 64;

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
/// cannot be read is an entry with an error.
pub fn run(host: &mut impl ReadFiles, request: &[u8]) -> Result<Vec<u8>, SkillError> {
    let request = Request::parse(request)?;
    let outcome = host.tree(&[request.hostcall()]).pop();
    let listing = outcome
        .unwrap_or(Err(FsError::Io))
        .map_err(|error| fs_error("fs.read", &request.root, error))?;
    Ok(answer(&request, &listing))
}

/// The response, written by hand: a listing is long and of one form. It has at least one of the entries there are.
fn answer(request: &Request, listing: &Listing) -> Vec<u8> {
    let mut out = Vec::with_capacity(request.max_bytes.min(64 * 1024));
    out.extend_from_slice(b"{\"root\":");
    write_string(&mut out, request.root.shown());
    out.extend_from_slice(b",\"entries\":[");
    let first = out.len();
    let room = request.max_bytes.saturating_sub(END_BYTES);
    let mut next = request.skip;
    let skipped = usize::try_from(request.skip).unwrap_or(usize::MAX);
    let mut is_cut = false;
    for entry in listing.entries.iter().skip(skipped) {
        let begin = out.len();
        if begin > first {
            out.push(b',');
        }
        write_entry(&mut out, entry);
        if out.len() > room && begin > first {
            out.truncate(begin);
            is_cut = true;
            break;
        }
        next = next.saturating_add(1);
    }
    let goes_on = is_cut || (listing.truncated && request.is_filled_by(listing));
    let truncated = is_cut || listing.truncated;
    out.extend_from_slice(format!("],\"truncated\":{truncated}").as_bytes());
    if goes_on && next <= MAX_SKIP {
        out.extend_from_slice(format!(",\"next\":{{\"skip\":{next}}}").as_bytes());
    }
    out.push(b'}');
    out
}

/// Appends one entry.
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
