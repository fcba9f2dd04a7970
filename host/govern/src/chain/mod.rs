//! The causal chain: what was done, in order, linked and signed.
//!
//! Whoever can write to the state directory but has no signing key can neither change, remove, insert nor reorder a record
//! unseen, nor cut the end off: `HEAD` is signed on its own, and the database is a second witness. Of approvals the
//! chain is the truth: an older database in the place of the present one follows it or is refused. Putting back all of it to
//! an earlier state together is seen with an anchor that was kept elsewhere.

mod draft;
mod entry;
mod error;
mod head;
mod key;
mod log;
mod record;
mod scan;
mod seek;
pub(crate) mod segment;
mod show;
mod signer;
mod sync;
mod verify;

#[cfg(test)]
mod tests;

pub use entry::{Entry, Event, Outcome, Used};
pub use show::{Filter, Stop, show};
pub use verify::{Anchor, Reason, Verdict, verify};

pub(crate) use draft::Draft;
pub(crate) use error::ChainError;
pub(crate) use head::newest;
pub(crate) use key::ChainKey;
pub(crate) use log::{Closed, Log, Seen};
pub(crate) use record::Tail;
pub(crate) use scan::{Scan, Unwitnessed, Witness, at as record_at};
pub(crate) use segment::Place;
pub(crate) use verify::BEGUN_ANEW;

/// Whether a folder holds no chain: neither a segment nor `HEAD`.
pub(crate) fn is_empty(folder: &crate::state::Folder) -> Result<bool, ChainError> {
    Ok(segment::last(folder)? == Ok(0) && folder.stat(head::NAME)?.is_none())
}
