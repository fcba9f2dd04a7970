//! Reading a path that lies on an https mount: a fetch with the limits of hydration.
//!
//! The mount does not replace the allowlist: the fetch asks the policy like any other.

use url::Url;

use super::{File, FsError, Overflow};
use crate::fetch::{self, FetchError};
use crate::{BudgetExceeded, Call};

/// Reads what `url` answers with a 2xx status.
///
/// # Errors
/// Outside: [`BudgetExceeded`]. Inside: [`FsError::Denied`] where the policy forbids the fetch,
/// [`FsError::TooLarge`], and [`FsError::FetchFailed`] for every other failure.
pub(super) fn read(
    call: &Call,
    url: &Url,
    max_bytes: u32,
    overflow: Overflow,
) -> Result<Result<File, FsError>, BudgetExceeded> {
    Ok(match fetch::resource(call, url, max_bytes, overflow)? {
        Ok(response) if (200..300).contains(&response.status) => Ok(File {
            bytes: response.body,
            truncated: response.truncated,
            executable: false,
        }),
        Ok(_) => Err(FsError::FetchFailed),
        Err(FetchError::Denied) => Err(FsError::Denied),
        Err(FetchError::TooLarge) => Err(FsError::TooLarge),
        Err(error) => {
            tracing::debug!(%error, "a path on an https mount could not be fetched");
            Err(FsError::FetchFailed)
        }
    })
}
