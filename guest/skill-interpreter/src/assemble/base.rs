//! The base of relative endpoints.

use url::Url;

use crate::failure::{Code, Failure};

/// The base: of the request, of the document, or the origin of the source; none for a local file.
///
/// # Errors
///
/// `invalid-request` for a requested base that is no `http` or `https` URL.
pub fn choose(
    requested: Option<&str>,
    declared: Option<&str>,
    source: Option<&str>,
) -> Result<Option<Url>, Failure> {
    if let Some(requested) = requested {
        return web_url(requested).map(Some).ok_or_else(|| {
            Failure::new(
                Code::InvalidRequest,
                "base-url: expected an http or https URL",
            )
            .at_path("base-url")
        });
    }
    Ok(declared
        .and_then(web_url)
        .or_else(|| source.and_then(web_url).and_then(|url| url.join("/").ok())))
}

/// What of the path of a base stands before a relative path: all of it, but for an end that the relative path repeats.
/// `/api/items` below `/api`, and `/v2/items` below `/api/v2`, are the same items.
#[must_use]
pub fn path_before<'b>(base: &'b str, relative: &str) -> &'b str {
    let repeats = |end: &str| {
        relative
            .strip_prefix(end)
            .is_some_and(|behind| behind.is_empty() || behind.starts_with(['/', '?']))
    };
    if repeats(base) {
        return "";
    }
    let ends = base.match_indices('/').map(|(at, _)| base.split_at(at));
    ends.filter(|(_, end)| repeats(end) && end.split('/').skip(1).all(is_version))
        .map(|(before, _)| before)
        .next()
        .unwrap_or(base)
}

/// The segments that all of these paths begin with, as long as they are those of a version: `/api/v1`.
#[must_use]
pub fn shared_version<'p>(mut paths: impl Iterator<Item = &'p str>) -> String {
    let versions = |path: &'p str| path.split('/').skip(1).take_while(|part| is_version(part));
    let mut shared: Vec<&str> = paths
        .next()
        .map(|path| versions(path).collect())
        .unwrap_or_default();
    for path in paths {
        let same = shared
            .iter()
            .zip(versions(path))
            .take_while(|(one, other)| *one == other);
        shared.truncate(same.count());
    }
    shared.into_iter().map(|part| format!("/{part}")).collect()
}

/// `api`, `v1`, `v2.1`
fn is_version(segment: &str) -> bool {
    let is_number = |text: &str| {
        text.starts_with(|c: char| c.is_ascii_digit())
            && text
                .bytes()
                .all(|byte| byte.is_ascii_digit() || byte == b'.')
    };
    segment == "api" || segment.strip_prefix('v').is_some_and(is_number)
}

/// A URL that a request can be sent to, without user information.
fn web_url(text: &str) -> Option<Url> {
    let mut url = Url::parse(text.trim()).ok()?;
    if !matches!(url.scheme(), "http" | "https")
        || !url.username().is_empty()
        || url.password().is_some()
    {
        return None;
    }
    url.set_fragment(None);
    url.set_query(None);
    Some(url)
}
