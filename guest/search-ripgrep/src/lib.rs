//! The component `search.ripgrep`: searches files for a regular expression.
//!
//! It is made of ripgrep's own libraries for patterns, lines, globs and ignore files. Directories are listed and files read
//! through hostcalls, many in each; everything else is here: which files are searched, in what order, which lines
//! of them match.

mod answer;
mod lines;
mod pattern;
mod request;
mod search;
mod walk;

use kit::SkillError;
use kit::host::ReadFiles;

/// What the component says of itself: one JSON object.
#[must_use]
pub fn describe() -> &'static str {
    include_str!("describe.json").trim_ascii_end()
}

/// One call: a request in JSON, answered with the matching lines in JSON.
///
/// # Errors
/// `invalid_request` for a request that is out of its bounds, and for a pattern or glob that cannot be compiled;
/// `not_found`, `denied` and `network` for the first path that cannot be searched; `too_large` for ignore files.
pub fn run(host: &mut impl ReadFiles, request: &[u8]) -> Result<Vec<u8>, SkillError> {
    search::search(host, &request::Request::parse(request)?)
}

kit::component!(crate::describe, crate::run);
