//! The answer, written entry by entry so that it never holds more than it may (TS-73, TS-74).

use kit::SkillError;
use kit::cut;
use kit::path::Path;
use serde::Serialize;

use crate::text::Match;

/// Bytes of `match`, `text` and of each line around them (TS-73).
const MAX_LINE_BYTES: usize = 1_024;

/// Bytes of all entries: half of what a response may have, and far more than anybody reads.
const MAX_BYTES: usize = 8 * 1024 * 1024;

/// One matching line.
#[derive(Serialize)]
struct Entry<'a> {
    file: &'a str,
    line: u64,
    column: usize,
    #[serde(rename = "match")]
    found: &'a str,
    context_before: &'a str,
    context_after: &'a str,
    text: &'a str,
}

/// What was searched and what was not.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) searched: u32,
    pub(crate) binary: u32,
    pub(crate) too_large: u32,
    pub(crate) unreadable: u32,
}

/// What stands behind the entries.
#[derive(Serialize)]
struct End {
    truncated: bool,
    files_searched: u32,
    files_skipped: Skipped,
}

#[derive(Serialize)]
struct Skipped {
    binary: u32,
    too_large: u32,
    unreadable: u32,
}

/// The entries so far.
#[derive(Debug)]
pub(crate) struct Answer {
    json: Vec<u8>,
    entries_left: u32,
    context_lines: usize,
}

impl Answer {
    /// An answer of at most so many entries, each with so many lines before and behind.
    pub(crate) fn new(max_matches: u32, context_lines: u32) -> Self {
        Self {
            json: br#"{"matches":["#.to_vec(),
            entries_left: max_matches,
            context_lines: usize::try_from(context_lines).unwrap_or(0),
        }
    }

    /// Adds a line that matches; false if it does not fit any more.
    ///
    /// # Errors
    /// `internal`, for an entry that cannot be written; there is none.
    pub(crate) fn add(&mut self, file: &Path, found: &Match<'_>) -> Result<bool, SkillError> {
        let Some(entries_left) = self.entries_left.checked_sub(1) else {
            return Ok(false);
        };
        let mut before: Vec<_> = found.lines_before(self.context_lines).map(shown).collect();
        before.reverse();
        let after: Vec<_> = found.lines_after(self.context_lines).map(shown).collect();
        let line = found.line();
        let entry = Entry {
            file: file.shown(),
            line: found.line_number,
            column: found.found.start.saturating_add(1),
            found: &shown(line.get(found.found.clone()).unwrap_or_default()),
            context_before: &before.join("\n"),
            context_after: &after.join("\n"),
            text: &shown(line),
        };
        let begin = self.json.len();
        if !self.json.ends_with(b"[") {
            self.json.push(b',');
        }
        serde_json::to_writer(&mut self.json, &entry).map_err(internal)?;
        if self.json.len() > MAX_BYTES {
            self.json.truncate(begin);
            return Ok(false);
        }
        self.entries_left = entries_left;
        Ok(true)
    }

    /// The response.
    ///
    /// # Errors
    /// As [`Self::add`].
    pub(crate) fn finish(
        mut self,
        truncated: bool,
        counts: &Counts,
    ) -> Result<Vec<u8>, SkillError> {
        let end = End {
            truncated,
            files_searched: counts.searched,
            files_skipped: Skipped {
                binary: counts.binary,
                too_large: counts.too_large,
                unreadable: counts.unreadable,
            },
        };
        let end = serde_json::to_vec(&end).map_err(internal)?;
        self.json.extend_from_slice(b"],");
        self.json
            .extend_from_slice(end.get(1..).unwrap_or_default());
        Ok(self.json)
    }
}

/// A line as text, cut (TS-08, TS-79).
fn shown(line: &[u8]) -> std::borrow::Cow<'_, str> {
    String::from_utf8_lossy(cut::utf8_at_bytes(line, MAX_LINE_BYTES))
}

fn internal(error: serde_json::Error) -> SkillError {
    SkillError::new("internal", &error.to_string())
}
