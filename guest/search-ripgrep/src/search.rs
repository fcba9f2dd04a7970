//! One search: files are read in batches that grow, and looked through in order until the answer is full.

use grep_regex::RegexMatcher;
use grep_searcher::Searcher;
use kit::SkillError;
use kit::host::ReadFiles;
use kit::host::fs_read::{File, FsError, Overflow, ReadRequest};

use crate::answer::{Answer, internal};
use crate::filter::Filter;
use crate::ignore_file::Reader;
use crate::item::{Item, Kind};
use crate::lines::{self, Collector};
use crate::listing::Lister;
use crate::named;
use crate::pattern;
use crate::request::Request;
use crate::walk::{BatchLimits, Walk};
use crate::work::Work;

/// Bytes of a file that is searched.
const MAX_FILE_BYTES: u32 = 16 * 1024 * 1024;

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
/// `invalid_request` for a pattern or glob that cannot be compiled, those of the paths, `too_large` for ignore files.
pub(crate) fn search(host: &mut impl ReadFiles, request: &Request) -> Result<Vec<u8>, SkillError> {
    let filter = Filter::of(request)?;
    let mut search = Search {
        matcher: pattern::compile(&request.pattern, request.case_sensitive)?,
        searcher: lines::searcher(),
        context_lines: usize::try_from(request.context_lines).unwrap_or(0),
        answer: Answer::new(request),
        work: Work::default(),
    };
    let mut ignore_files = request.use_ignore.then(Reader::default);
    let work = &mut search.work;
    let Some(named) = named::resolve(host, work, ignore_files.as_mut(), &request.paths)? else {
        return search.answer.finish(true);
    };
    let mut walk = Walk::new(Lister::new(&filter, ignore_files), named);
    let mut limits = FIRST_BATCH;
    let mut complete = true;
    while complete {
        let batch = walk.next_batch(host, &mut search.work, limits)?;
        if batch.is_empty() {
            break;
        }
        complete = search.batch(host, batch)?;
        limits = BatchLimits {
            files: limits.files.saturating_mul(2).min(LARGEST_BATCH.files),
            bytes: limits.bytes.saturating_mul(2).min(LARGEST_BATCH.bytes),
        };
    }
    search.answer.finish(!complete || walk.is_truncated())
}

struct Search {
    matcher: RegexMatcher,
    searcher: Searcher,
    context_lines: usize,
    answer: Answer,
    work: Work,
}

impl Search {
    /// Searches a batch; false if something was left out and the search ends.
    fn batch(&mut self, host: &mut impl ReadFiles, batch: Vec<Item>) -> Result<bool, SkillError> {
        let requests: Vec<_> = batch.iter().filter_map(read_request).collect();
        let mut answers = host.read(&requests).into_iter();
        for item in batch {
            let contents = match read_request(&item) {
                None => Err(unread(&item)),
                Some(request) => answers
                    .next()
                    .unwrap_or(Err(FsError::Io))
                    .or_else(|error| read_again(host, &mut self.work, request, error)),
            };
            let bytes = contents.as_ref().map_or(0, |contents| contents.bytes.len());
            if !self
                .work
                .take_file(u64::try_from(bytes).unwrap_or(u64::MAX))
                || !self.file(&item, contents)?
            {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Searches a file; false if the answer is full.
    fn file(&mut self, item: &Item, contents: Result<File, FsError>) -> Result<bool, SkillError> {
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
        let path = item.path();
        let collector = Collector {
            answer: &mut self.answer,
            matcher: &self.matcher,
            file: path.shown(),
            text: &text,
            context_lines: self.context_lines,
        };
        self.searcher
            .search_slice(&self.matcher, &text, collector)
            .map_err(|error| internal(&error))?;
        Ok(!self.answer.is_full())
    }
}

/// What to read of an item; none if it is known that it cannot be searched.
fn read_request(item: &Item) -> Option<ReadRequest> {
    let Kind::File { bytes } = item.kind else {
        return None;
    };
    let bytes = bytes.unwrap_or(MAX_FILE_BYTES.into());
    let max_bytes = u32::try_from(bytes).ok()?;
    (max_bytes <= MAX_FILE_BYTES).then(|| ReadRequest {
        path: item.path().absolute().to_owned(),
        max_bytes,
        overflow: Overflow::Refuse,
        symlinks: item.symlinks(),
    })
}

/// Why [`read_request`] has nothing to read.
fn unread(item: &Item) -> FsError {
    match item.kind {
        Kind::File { .. } => FsError::TooLarge,
        _ => FsError::NotAccessible,
    }
}

/// Reads a file alone that is longer than it was when it was listed: of a batch each may only have what it had then.
fn read_again(
    host: &mut impl ReadFiles,
    work: &mut Work,
    request: ReadRequest,
    error: FsError,
) -> Result<File, FsError> {
    if error != FsError::TooLarge || request.max_bytes >= MAX_FILE_BYTES || !work.take_lookups(1) {
        return Err(error);
    }
    let request = ReadRequest {
        max_bytes: MAX_FILE_BYTES,
        ..request
    };
    host.read(&[request]).pop().unwrap_or(Err(FsError::Io))
}
