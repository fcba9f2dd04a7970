//! Reading one file under its cap and the call's budget of bytes read.
//!
//! What the system says of a file's length is where the reading starts, not what it trusts: a file that
//! grows meanwhile, or that claims no length (`/proc`), is cut or refused at the same cap.

use std::fs::File;
use std::io::{ErrorKind, Read};

use super::{FsError, Overflow};
use crate::{BudgetExceeded, Meter};

/// Bytes that are charged and read at a time beyond the length that the system told.
const STEP: u64 = 64 * 1024;

/// What was read of a file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Contents {
    /// Its first bytes, or all of them.
    pub(crate) bytes: Vec<u8>,
    /// The file holds at least one byte after `bytes`.
    pub(crate) truncated: bool,
}

/// Reads at most `max_bytes` of `file`, which had `length` bytes when it was found; every byte is charged before
/// it is read.
///
/// # Errors
/// Outside: [`BudgetExceeded`] for the bytes read. Inside: [`FsError::TooLarge`] and [`FsError::Io`].
pub(crate) fn read(
    mut file: File,
    length: u64,
    max_bytes: u64,
    overflow: Overflow,
    meter: &Meter,
) -> Result<Result<Contents, FsError>, BudgetExceeded> {
    if length > max_bytes && overflow == Overflow::Refuse {
        return Ok(Err(FsError::TooLarge));
    }
    let mut charged = length.min(max_bytes);
    meter.read_bytes(charged)?;
    let mut bytes = vec![0; usize::try_from(charged).unwrap_or(0).saturating_add(1)];
    match file.read(&mut bytes) {
        Ok(amount) => bytes.truncate(amount),
        Err(error) if error.kind() == ErrorKind::Interrupted => bytes.clear(),
        Err(_) => return Ok(Err(FsError::Io)),
    }
    // Nearly always one read is all: asked for a byte more, it ended where the file did when it was found.
    if length > 0 && length == charged && count(&bytes) == length {
        return Ok(Ok(Contents {
            bytes,
            truncated: false,
        }));
    }
    loop {
        // One byte more than what is charged tells whether there is more; it is not kept unless charged.
        let wanted = charged.saturating_add(1).saturating_sub(count(&bytes));
        if (&mut file).take(wanted).read_to_end(&mut bytes).is_err() {
            return Ok(Err(FsError::Io));
        }
        if count(&bytes) <= charged {
            return Ok(Ok(Contents {
                bytes,
                truncated: false,
            }));
        }
        let more = STEP.min(max_bytes.saturating_sub(charged));
        if more == 0 {
            break;
        }
        meter.read_bytes(more)?;
        charged = charged.saturating_add(more);
    }
    Ok(match overflow {
        Overflow::Refuse => Err(FsError::TooLarge),
        Overflow::Cut => {
            bytes.pop();
            Ok(Contents {
                bytes,
                truncated: true,
            })
        }
    })
}

fn count(bytes: &[u8]) -> u64 {
    u64::try_from(bytes.len()).unwrap_or(u64::MAX)
}
