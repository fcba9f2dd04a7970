//! The response.

use std::borrow::Cow;

use kit::SkillError;

use crate::porcelain::Status;

#[derive(serde::Serialize)]
struct Response<'a> {
    branch: Cow<'a, str>,
    ahead: u64,
    behind: u64,
    staged: Vec<Cow<'a, str>>,
    unstaged: Vec<Cow<'a, str>>,
    untracked: Vec<Cow<'a, str>>,
    head: Option<Cow<'a, str>>,
    detached: bool,
    unborn: bool,
    upstream: Option<Cow<'a, str>>,
    upstream_gone: bool,
    conflicted: Vec<Conflict<'a>>,
    renames: Vec<Rename<'a>>,
    truncated: bool,
}

#[derive(serde::Serialize)]
struct Conflict<'a> {
    path: Cow<'a, str>,
    code: Cow<'a, str>,
}

#[derive(serde::Serialize)]
struct Rename<'a> {
    from: Cow<'a, str>,
    to: Cow<'a, str>,
    staged: bool,
}

/// The response about a status, of each array the first `most` entries; `cut` says that git had more to say.
pub(crate) fn write(status: Status<'_>, most: usize, cut: bool) -> Result<Vec<u8>, SkillError> {
    let mut truncated = cut;
    let (ahead, behind) = status.ahead_behind.unwrap_or((0, 0));
    let response = Response {
        branch: status.branch.map_or(Cow::Borrowed("HEAD"), text),
        ahead,
        behind,
        staged: first(status.staged, most, &mut truncated, text),
        unstaged: first(status.unstaged, most, &mut truncated, text),
        untracked: first(status.untracked, most, &mut truncated, text),
        detached: status.branch.is_none(),
        unborn: status.head.is_none(),
        head: status.head.map(text),
        upstream_gone: status.upstream.is_some() && status.ahead_behind.is_none(),
        upstream: status.upstream.map(text),
        conflicted: first(status.conflicted, most, &mut truncated, |conflict| {
            Conflict {
                path: text(conflict.path),
                code: text(conflict.code),
            }
        }),
        renames: first(status.renames, most, &mut truncated, |rename| Rename {
            from: text(rename.from),
            to: text(rename.to),
            staged: rename.staged,
        }),
        truncated,
    };
    kit::json::response(&response)
}

/// Decodes a path; what is not UTF-8 appears as U+FFFD.
fn text(bytes: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}

/// Returns the first `most` entries, sorted by the bytes of their paths; sets `truncated` if there are more.
fn first<T: Ord, U>(
    mut entries: Vec<T>,
    most: usize,
    truncated: &mut bool,
    show: impl Fn(T) -> U,
) -> Vec<U> {
    entries.sort_unstable();
    *truncated |= entries.len() > most;
    entries.into_iter().take(most).map(show).collect()
}
