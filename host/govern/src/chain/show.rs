//! `audit show`.

use std::ops::ControlFlow;
use std::path::Path;
use std::time::{Duration, Instant};

use super::record::{Record, Tail};
use super::seek::{self, Last};
use super::segment::{self, Lines};
use super::verify::Anchor;
use crate::failure::{Code, Failure};
use crate::state::{Folder, FolderError, Lock};

/// Which records.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Those after this one.
    pub since: u64,
    /// Those of this capability, and those of its skill: its loads lead to the document.
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

/// Returns a name as names are compared: without case, and with `_`, space and `-` alike.
fn folded(name: &str) -> String {
    name.chars()
        .map(|character| match character {
            '_' | ' ' => '-',
            other => other,
        })
        .flat_map(char::to_lowercase)
        .collect()
}

/// Gives each record that the filter takes, in order, until it is told to break off, and answers the anchor: where the
/// chain ends. Nothing is verified. What stands before [`Filter::since`] is not read, nor what follows the last record that
/// is wanted: a part of a long chain costs no more than that part of a short one.
///
/// # Errors
///
/// `audit-unavailable` where the files cannot be read or a line that is read is no record; `timeout` where it was stopped.
pub fn show(
    state: &Path,
    filter: &Filter,
    stop: Stop<'_>,
    give: &mut dyn FnMut(&serde_json::Value) -> ControlFlow<()>,
) -> Result<Option<Anchor>, Failure> {
    let unreadable =
        |error: FolderError| Failure::new(Code::AuditUnavailable, format!("chain: {error}"));
    let state = Folder::look(state).map_err(unreadable)?;
    let until = Instant::now() + Duration::from_secs(5);
    let lock = Lock::share(&state, until)?;
    let Some(chain) = state.child("chain").map_err(unreadable)? else {
        return Ok(None);
    };
    let end = segment::end(&chain).map_err(unreadable)?;
    // Whoever reads slowly keeps nobody from writing.
    drop(lock);
    let from = seek::near(&chain, end, filter.since, stop).map_err(unreadable)?;
    let mut lines = Lines::between(&chain, from, end);
    let mut tail = Tail::none();
    while let Some(line) = lines.next().map_err(unreadable)? {
        if stop() {
            return Err(stopped());
        }
        let Some(record) = Record::unchecked(&line.bytes).filter(|_| line.whole) else {
            return Err(no_record(tail.seq));
        };
        tail = record.tail.clone();
        if filter.takes(&record) && give(&record.members).is_break() {
            return match seek::last(&chain, end).map_err(unreadable)? {
                Last::Record(last) => Ok(Some(anchor(last.tail))),
                Last::NoRecord | Last::Nothing => Err(no_record(tail.seq)),
            };
        }
    }
    Ok((tail.seq > 0).then(|| anchor(tail)))
}

fn anchor(tail: Tail) -> Anchor {
    Anchor {
        seq: tail.seq,
        hash: tail.hash,
    }
}

fn no_record(seq: u64) -> Failure {
    Failure::new(
        Code::AuditUnavailable,
        format!("chain: a line after record {seq} is none"),
    )
    .with_hint("`hydrant audit verify` says more")
}
