//! The answer, written entry by entry so that it never holds more than it may.

use kit::SkillError;
use kit::cut;
use serde::Serialize;

use crate::request::Request;

/// Bytes of `match`, `text` and of each line around them.
const MAX_LINE_BYTES: usize = 1_024;

/// Bytes of what stands behind the entries, at most.
const END_BYTES: usize = 256;

/// One matching line and the lines around it.
#[derive(Serialize)]
pub(crate) struct Entry<'a> {
    pub(crate) file: &'a str,
    pub(crate) line: u64,
    /// 1-based, in bytes.
    pub(crate) column: usize,
    #[serde(rename = "match", serialize_with = "cut")]
    pub(crate) found: &'a [u8],
    #[serde(serialize_with = "cut_lines")]
    pub(crate) context_before: Vec<&'a [u8]>,
    #[serde(serialize_with = "cut_lines")]
    pub(crate) context_after: Vec<&'a [u8]>,
    #[serde(serialize_with = "cut")]
    pub(crate) text: &'a [u8],
}

/// What was not searched.
#[derive(Debug, Default, Clone, Copy, Serialize)]
pub(crate) struct Skipped {
    pub(crate) binary: u32,
    pub(crate) too_large: u32,
    pub(crate) unreadable: u32,
}

/// What stands behind the entries.
#[derive(Serialize)]
struct End {
    truncated: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<Next>,
    files_searched: u32,
    files_skipped: Skipped,
}

/// What the same request takes besides to get the entries that follow.
#[derive(Serialize)]
struct Next {
    skip: u32,
}

/// The entries so far.
#[derive(Debug)]
pub(crate) struct Answer {
    json: Vec<u8>,
    max_bytes: usize,
    max_entries: u32,
    skip: u32,
    /// Entries, those that are skipped too.
    entries: u32,
    is_full: bool,
    pub(crate) searched: u32,
    pub(crate) skipped: Skipped,
}

impl Answer {
    /// An answer within the bounds of a request.
    pub(crate) fn new(request: &Request) -> Self {
        Self {
            json: br#"{"matches":["#.to_vec(),
            max_bytes: usize::try_from(request.max_bytes)
                .unwrap_or(0)
                .saturating_sub(END_BYTES),
            max_entries: request.max_matches,
            skip: request.skip,
            entries: 0,
            is_full: false,
            searched: 0,
            skipped: Skipped::default(),
        }
    }

    /// Adds a line that matches; false if it does not fit any more. The first one always does.
    ///
    /// # Errors
    /// For an entry that cannot be written; there is none.
    pub(crate) fn add(&mut self, entry: &Entry<'_>) -> serde_json::Result<bool> {
        let Some(written) = self.entries.checked_sub(self.skip) else {
            self.entries = self.entries.saturating_add(1);
            return Ok(true);
        };
        let begin = self.json.len();
        self.is_full = written >= self.max_entries;
        if !self.is_full {
            if written > 0 {
                self.json.push(b',');
            }
            serde_json::to_writer(&mut self.json, entry)?;
            self.is_full = written > 0 && self.json.len() > self.max_bytes;
        }
        if self.is_full {
            self.json.truncate(begin);
        } else {
            self.entries = self.entries.saturating_add(1);
        }
        Ok(!self.is_full)
    }

    /// Whether an entry did not fit.
    pub(crate) fn is_full(&self) -> bool {
        self.is_full
    }

    /// The response; `incomplete` if files were left out for other reasons than what fits.
    ///
    /// # Errors
    /// As [`Self::add`].
    pub(crate) fn finish(mut self, incomplete: bool) -> Result<Vec<u8>, SkillError> {
        let end = End {
            truncated: self.is_full || incomplete,
            next: self.is_full.then_some(Next { skip: self.entries }),
            files_searched: self.searched,
            files_skipped: self.skipped,
        };
        let end = serde_json::to_vec(&end).map_err(|error| internal(&error))?;
        self.json.extend_from_slice(b"],");
        self.json
            .extend_from_slice(end.get(1..).unwrap_or_default());
        Ok(self.json)
    }
}

/// `internal`: an answer that cannot be written.
pub(crate) fn internal(error: &dyn std::fmt::Display) -> SkillError {
    SkillError::new("internal", &error.to_string())
}

fn cut<S: serde::Serializer>(line: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&shown(line))
}

fn cut_lines<S: serde::Serializer>(lines: &[&[u8]], serializer: S) -> Result<S::Ok, S::Error> {
    let lines: Vec<_> = lines.iter().map(|line| shown(line)).collect();
    serializer.serialize_str(&lines.join("\n"))
}

/// A line as text, cut.
fn shown(line: &[u8]) -> std::borrow::Cow<'_, str> {
    String::from_utf8_lossy(cut::utf8_at_bytes(line, MAX_LINE_BYTES))
}
