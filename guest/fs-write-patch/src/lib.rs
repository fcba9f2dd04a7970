//! The component `fs.write_patch`: applies a unified diff, all of it or nothing.
//!
//! It parses the whole diff, decides which paths it names, reads them in their old state, computes every new
//! content in memory, and hands them to the host in one list. Staging, comparing digests, renaming and undoing
//! are the host's. Whatever is wrong is found before anything is written.

mod commit;
mod diff;
mod files;
mod outcome;
mod place;
mod request;
mod response;
mod target;
mod text;

use kit::SkillError;
use kit::host::{ReadFiles, WriteFiles};

use request::Request;
use response::Rejects;

/// What the component says of itself: one JSON object with `name`, `description`, `input_schema` and
/// `output_schema`.
#[must_use]
pub fn describe() -> &'static str {
    include_str!("describe.json").trim_ascii_end()
}

/// One call: a request in JSON, answered in JSON.
///
/// # Errors
///
/// `invalid_request`; `malformed` with the line of the diff; `denied` for a path that may not be written;
/// `unsupported` for a name that is not UTF-8; `too_large`; and `conflict`, `io` or `denied` of the host, which then
/// has changed nothing.
pub fn run<H: ReadFiles + WriteFiles>(host: &mut H, request: &[u8]) -> Result<Vec<u8>, SkillError> {
    let request = Request::parse(request)?;
    let sections = diff::parse(&request.diff)?;
    let (targets, files) = target::resolve(host, &sections, &request)?;
    let mut rejects = Rejects::default();
    let mut outcomes = Vec::with_capacity(targets.len());
    for target in &targets {
        // Nothing will be written any more, and the list of reasons is full.
        if rejects.truncated && !request.partial {
            break;
        }
        outcomes.extend(outcome::compute(target, &files, request.fuzz, &mut rejects));
    }
    if !rejects.is_empty() && !request.partial {
        outcomes.clear();
    }
    let written = !request.dry_run && !outcomes.is_empty();
    if written {
        commit::apply(host, &mut outcomes)?;
    }
    response::to_json(written, &outcomes, rejects)
}

kit::component!(crate::describe, crate::run);
