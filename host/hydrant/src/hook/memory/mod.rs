//! What the user has written down before and might matter now.
//!
//! The sources only cut, count and hand on; what a passage means is for the planner, and it is shown as data.

mod bm25;
mod http;
mod notes;
mod passages;

use std::time::Instant;

use serde::Serialize;

pub use self::http::HttpMemory;
pub use self::notes::Notes;

/// Passages that are asked for: more than a budget of 4,000 tokens holds of the usual ones would be of no use.
pub(super) const MAX_PASSAGES: usize = 40;
/// Characters of a query.
pub(super) const MAX_QUERY_CHARS: usize = 512;

/// One remembered text.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Passage {
    /// The text.
    pub text: String,
    /// Where it stands: a file below the notes, or what a server says.
    pub source: String,
    /// Higher is better.
    pub score: f64,
}

/// Why there are no passages.
#[derive(Debug, thiserror::Error)]
pub enum MemoryError {
    /// The time was up.
    #[error("too slow")]
    TooSlow,
    /// The directory cannot be read.
    #[error("{0}")]
    Unreadable(String),
    /// The policy forbids the URL, or the request failed.
    #[error("{0}")]
    Request(String),
    /// The server answers something else.
    #[error("the answer is not the one that was asked for: {0}")]
    Answer(String),
}

/// Somewhere to look for remembered text.
pub trait MemorySource: Send {
    /// The best passages for `query`, best first, at most `limit`; done by the `deadline`.
    ///
    /// # Errors
    /// [`MemoryError`]. To find nothing is none.
    fn search(
        &self,
        query: &str,
        limit: usize,
        deadline: Instant,
    ) -> Result<Vec<Passage>, MemoryError>;
}
