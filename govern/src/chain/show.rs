//! `audit show` (K-27, K-364, K-366).

use std::path::Path;
use std::time::{Duration, Instant};

use super::record::{Record, Tail};
use super::segment::Lines;
use super::verify::Anchor;
use crate::failure::{Code, Failure};
use crate::state::{Folder, FolderError, Lock};

/// Which records.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Those after this one.
    pub since: u64,
    /// Those of this capability, and those of its skill (K-366): its loads lead to the document.
    pub capability: Option<String>,
}

/// Whether nobody waits any more; asked before each record, for a chain may be long.
pub type Stop<'a> = &'a dyn Fn() -> bool;

/// What is said to nobody.
pub(super) fn stopped() -> Failure {
    Failure::new(Code::Timeout, "nobody waits for the chain any more")
}

impl Filter {
    fn takes(&self, record: &Record) -> bool {
        if record.tail.seq <= self.since {
            return false;
        }
        let Some(wanted) = self.capability.as_deref().map(folded) else {
            return true;
        };
        record.text("capability").map(folded).is_some_and(|found| {
            found == wanted
                || (record
                    .text("event")
                    .is_some_and(|event| event.starts_with("skill-"))
                    && wanted
                        .strip_prefix(&found)
                        .is_some_and(|rest| rest.starts_with('.')))
        })
    }
}

/// K-10
fn folded(name: &str) -> String {
    name.chars()
        .map(|character| match character {
            '_' | ' ' => '-',
            other => other,
        })
        .flat_map(char::to_lowercase)
        .collect()
}

/// Gives each record that the filter takes, in order, and answers the anchor: where the chain ends. Nothing is verified.
///
/// # Errors
///
/// `audit-unavailable` where the files cannot be read or a line is no record; `timeout` where it was stopped.
pub fn show(
    state: &Path,
    filter: &Filter,
    stop: Stop<'_>,
    give: &mut dyn FnMut(&serde_json::Value),
) -> Result<Option<Anchor>, Failure> {
    let unreadable =
        |error: FolderError| Failure::new(Code::AuditUnavailable, format!("chain: {error}"));
    let state = Folder::look(state).map_err(unreadable)?;
    let lock = Lock::share(&state, Instant::now() + Duration::from_secs(5));
    let Some(chain) = state.child("chain").map_err(unreadable)? else {
        return Ok(None);
    };
    let mut tail = Tail::none();
    let mut lines = Lines::all(&chain).map_err(unreadable)?;
    // Whoever reads slowly keeps nobody from writing.
    drop(lock);
    while let Some(line) = lines.next().map_err(unreadable)? {
        if stop() {
            return Err(stopped());
        }
        let Some(record) = Record::unchecked(&line.bytes).filter(|_| line.whole) else {
            return Err(Failure::new(
                Code::AuditUnavailable,
                format!("chain: the line after record {} is none", tail.seq),
            )
            .with_hint("`hydrant audit verify` says more"));
        };
        if filter.takes(&record) {
            give(&record.members);
        }
        tail = record.tail;
    }
    Ok((tail.seq > 0).then_some(Anchor {
        seq: tail.seq,
        hash: tail.hash,
    }))
}
