//! The component `fs.read_tree`: lists what is below a directory.
//!
//! The host walks, sorts and bounds; this asks once and writes the answer. It follows nothing and reads no file.

mod request;
#[cfg(test)]
mod tests;

use kit::SkillError;
use kit::host::ReadFiles;
use kit::host::fs_read::{Entry, EntryKind, FsError, Listing};
use kit::json::response;
use kit::path::fs_error;
use serde::Serialize;

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
    answer(&request, &listing)
}

/// The response, written entry by entry up to its bound. It has at least one of the entries there are.
fn answer(request: &Request, listing: &Listing) -> Result<Vec<u8>, SkillError> {
    let mut out = Vec::with_capacity(request.max_bytes.min(64 * 1024));
    out.extend_from_slice(b"{\"root\":");
    out.extend(response(&request.root.shown())?);
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
        out.extend(response(&Shown::new(entry))?);
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
    Ok(out)
}

/// An entry as the response shows it.
#[derive(Serialize)]
struct Shown<'a> {
    path: &'a str,
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'static str>,
}

impl<'a> Shown<'a> {
    fn new(entry: &'a Entry) -> Self {
        let (kind, bytes) = match entry.kind {
            EntryKind::File => ("file", entry.bytes),
            EntryKind::Directory => ("dir", None),
            EntryKind::Symlink => ("symlink", None),
            EntryKind::Other => ("other", None),
        };
        let error = entry.error.map(|error| match error {
            FsError::Denied | FsError::NotAccessible | FsError::LeavesMount | FsError::Symlink => {
                "denied"
            }
            _ => "io",
        });
        Self {
            path: &entry.path,
            kind,
            bytes,
            error,
        }
    }
}

kit::component!(crate::describe, crate::run);
