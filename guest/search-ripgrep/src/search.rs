//! One search: files are read in batches that grow, and looked through in order until the answer is full.

use grep_regex::RegexMatcher;
use grep_searcher::Searcher;
use kit::SkillError;
use kit::host::ReadFiles;
use kit::host::fs_read::{File, FsError, Overflow, ReadRequest};

use crate::answer::{Answer, internal};
use crate::lines::{self, Collector};
use crate::pattern;
use crate::request::Request;
use crate::walk::{BatchLimits, Found, UNKNOWN_LENGTH, Walk};

/// Bytes of a file that is searched.
const MAX_FILE_BYTES: u32 = 16 * 1024 * 1024;

/// Files that are searched or skipped, and bytes that are read of them.
const MAX_FILES: u32 = 200_000;
const MAX_READ_BYTES: u64 = 2 * 1024 * 1024 * 1024;

/// The first batch is small, so that a search whose answer is full soon reads little.
const FIRST_BATCH: BatchLimits = BatchLimits {
    files: 32,
    bytes: 256 * 1024,
};

/// No batch is larger: what is read stands in memory.
const LARGEST_BATCH: BatchLimits = BatchLimits {
    files: 1_024,
    bytes: 8 * 1024 * 1024,
};

/// Answers a request.
///
/// # Errors
/// `invalid_request` for a pattern or glob that cannot be compiled, those of the paths, `too_large` for an ignore file.
pub(crate) fn search(host: &mut impl ReadFiles, request: &Request) -> Result<Vec<u8>, SkillError> {
    let mut search = Search {
        matcher: pattern::compile(&request.pattern, request.case_sensitive)?,
        searcher: lines::searcher(),
        context_lines: usize::try_from(request.context_lines).unwrap_or(0),
        answer: Answer::new(request),
        files_left: MAX_FILES,
        bytes_left: MAX_READ_BYTES,
    };
    let mut walk = Walk::new(host, request)?;
    let mut limits = FIRST_BATCH;
    let mut is_complete = true;
    while is_complete {
        let batch = walk.next_batch(host, limits)?;
        if batch.is_empty() {
            break;
        }
        is_complete = search.batch(host, batch)?;
        limits = BatchLimits {
            files: limits.files.saturating_mul(2).min(LARGEST_BATCH.files),
            bytes: limits.bytes.saturating_mul(2).min(LARGEST_BATCH.bytes),
        };
    }
    search.answer.finish(!is_complete || walk.is_truncated())
}

struct Search {
    matcher: RegexMatcher,
    searcher: Searcher,
    context_lines: usize,
    answer: Answer,
    files_left: u32,
    bytes_left: u64,
}

impl Search {
    /// Searches a batch; false if something was left out and the search ends.
    fn batch(&mut self, host: &mut impl ReadFiles, batch: Vec<Found>) -> Result<bool, SkillError> {
        let requests: Vec<_> = batch
            .iter()
            .filter_map(|found| read_request(found).ok())
            .collect();
        let mut answers = host.read(&requests).into_iter();
        for found in batch {
            let contents = match read_request(&found) {
                Err(error) => Err(error),
                Ok(request) => match answers.next().unwrap_or(Err(FsError::Io)) {
                    // Longer than it was when it was listed: of a batch each may only have what it had then.
                    Err(FsError::TooLarge) if request.max_bytes < MAX_FILE_BYTES => {
                        let max_bytes = MAX_FILE_BYTES;
                        let request = ReadRequest {
                            max_bytes,
                            ..request
                        };
                        host.read_file(request)
                    }
                    contents => contents,
                },
            };
            let bytes = contents.as_ref().map_or(0, |contents| contents.bytes.len());
            let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
            let left = (self.files_left.checked_sub(1)).zip(self.bytes_left.checked_sub(bytes));
            let Some(left) = left else {
                return Ok(false);
            };
            (self.files_left, self.bytes_left) = left;
            if !self.file(found.path.shown(), contents)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Searches a file; false if the answer is full.
    fn file(&mut self, file: &str, contents: Result<File, FsError>) -> Result<bool, SkillError> {
        let skipped = &mut self.answer.skipped;
        let text = match contents {
            Ok(contents) => lines::text(contents.bytes).ok_or(&mut skipped.binary),
            Err(FsError::TooLarge) => Err(&mut skipped.too_large),
            Err(_) => Err(&mut skipped.unreadable),
        };
        let text = match text {
            Ok(text) => text,
            Err(count) => {
                *count = count.saturating_add(1);
                return Ok(true);
            }
        };
        self.answer.searched = self.answer.searched.saturating_add(1);
        let collector = Collector {
            answer: &mut self.answer,
            matcher: &self.matcher,
            file,
            text: &text,
            context_lines: self.context_lines,
        };
        self.searcher
            .search_slice(&self.matcher, &text, collector)
            .map_err(|error| internal(&error))?;
        Ok(!self.answer.is_full())
    }
}

/// What to read of a file, or why it cannot be searched.
fn read_request(found: &Found) -> Result<ReadRequest, FsError> {
    let bytes = match found.bytes.ok_or(FsError::NotAccessible)? {
        UNKNOWN_LENGTH => MAX_FILE_BYTES.into(),
        bytes => bytes,
    };
    let max_bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
    if max_bytes > MAX_FILE_BYTES {
        return Err(FsError::TooLarge);
    }
    Ok(ReadRequest {
        path: found.path.absolute().to_owned(),
        max_bytes,
        overflow: Overflow::Refuse,
        symlinks: found.symlinks,
    })
}
