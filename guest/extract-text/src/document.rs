//! The bytes of a document, and what they are.

use kit::SkillError;
use kit::fetch::fetch_error;
use kit::host::fetch::{Encodings, FetchError, HttpRequest, Method, Overflow};
use kit::host::fs_read::{FsError, Overflow as FileOverflow, ReadRequest, Symlinks};
use kit::host::{Fetch, ReadFiles};
use kit::media::MediaType;
use kit::path::{Path, fs_error};
use serde_json::json;

use crate::error::{too_large, unsupported};
use crate::pdf;
use crate::request::{MAX_INPUT, Source, larger};

/// What a document is.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// HTML, with the `charset` that was given.
    Html(Option<String>),
    /// Markdown, with the `charset` that was given.
    Markdown(Option<String>),
    Pdf,
}

/// A document.
#[derive(Debug)]
pub(crate) struct Document {
    pub(crate) kind: Kind,
    pub(crate) bytes: Vec<u8>,
}

impl Document {
    /// Gets the bytes from where they are. What they are says `content_type`, else the server, the end of the name, or the bytes
    /// themselves.
    ///
    /// # Errors
    /// `unsupported` for another type; what reading or fetching fails with: `denied` names the capability that is missing.
    pub(crate) fn get(
        host: &mut (impl ReadFiles + Fetch),
        source: Source,
        content_type: Option<&str>,
    ) -> Result<Self, SkillError> {
        let (bytes, name, served_as) = match source {
            Source::Bytes(bytes) => (bytes, String::new(), None),
            Source::File(path) => (read(host, &path)?, path.shown().to_owned(), None),
            Source::Url(url) => fetch(host, url)?,
        };
        let kind = match content_type {
            Some(content_type) => kind(content_type),
            None => served_as
                .as_deref()
                .and_then(kind)
                .or_else(|| guess(&name, &bytes)),
        };
        let kind = kind.ok_or_else(|| {
            let what = content_type.or(served_as.as_deref()).unwrap_or("unknown");
            let message = format!(
                "the content type is {what:?}, not text/html, text/markdown or application/pdf"
            );
            unsupported("content_type", &message)
        })?;
        Ok(Self { kind, bytes })
    }
}

fn read(host: &mut impl ReadFiles, path: &Path) -> Result<Vec<u8>, SkillError> {
    let request = ReadRequest {
        path: path.absolute().to_owned(),
        max_bytes: u32::try_from(MAX_INPUT).unwrap_or(u32::MAX),
        overflow: FileOverflow::Refuse,
        symlinks: Symlinks::Follow,
    };
    match host.read(&[request]).pop().unwrap_or(Err(FsError::Io)) {
        Ok(file) => Ok(file.bytes),
        Err(FsError::TooLarge) => Err(larger()),
        Err(error) => Err(fs_error("fs.read", path, error)),
    }
}

/// The body of a response, the URL that answered without its query, and the content type of the body.
fn fetch(
    host: &mut impl Fetch,
    url: String,
) -> Result<(Vec<u8>, String, Option<String>), SkillError> {
    let accept = "text/markdown, text/html;q=0.9, application/pdf;q=0.9, */*;q=0.1";
    let request = HttpRequest {
        method: Method::Get,
        url,
        headers: vec![("accept".to_owned(), accept.to_owned())],
        body: None,
        encodings: Encodings::Gzip,
        max_bytes: u32::try_from(MAX_INPUT).unwrap_or(u32::MAX),
        overflow: Overflow::Refuse,
        timeout_ms: 120_000,
        max_redirects: 5,
        body_types: Vec::new(),
    };
    let response = host
        .send(&[request])
        .pop()
        .ok_or_else(|| SkillError::new("internal", "the host gave no answer"))?
        .map_err(|failure| match failure.reason {
            // The policy bounds a body more closely than `max_bytes` does.
            FetchError::TooLarge => {
                let message = format!("the body is larger than may be fetched: {}", failure.url);
                too_large("input", &message)
            }
            _ => fetch_error(&failure),
        })?;
    if !(200..300).contains(&response.status) {
        let (status, url) = (response.status, &response.url);
        let error = SkillError::new("network", &format!("{url} answered with status {status}"));
        return Err(error.with_details(json!({"phase": "http", "status": status}).to_string()));
    }
    let mut headers = response.headers.into_iter();
    let content_type = headers.find(|(name, _)| name == "content-type");
    let name = response.url.split(['?', '#']).next().unwrap_or_default();
    Ok((
        response.body,
        name.to_owned(),
        content_type.map(|(_, value)| value),
    ))
}

fn kind(content_type: &str) -> Option<Kind> {
    let media = MediaType::parse(content_type)?;
    let charset = media.charset().map(str::to_owned);
    match media.essence() {
        "text/html" => Some(Kind::Html(charset)),
        "text/markdown" => Some(Kind::Markdown(charset)),
        "application/pdf" => Some(Kind::Pdf),
        _ => None,
    }
}

/// What bytes of this name are.
fn guess(name: &str, bytes: &[u8]) -> Option<Kind> {
    if pdf::header(bytes).is_some() {
        return Some(Kind::Pdf);
    }
    let (_, extension) = name.rsplit_once('.')?;
    match extension.to_ascii_lowercase().as_str() {
        "html" | "htm" | "xhtml" => Some(Kind::Html(None)),
        "md" | "markdown" | "mdx" => Some(Kind::Markdown(None)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_types_are_read_with_their_charset() {
        let html = |charset: &str| Kind::Html(Some(charset.to_owned()));
        for (content_type, expected) in [
            ("text/html", Kind::Html(None)),
            ("TEXT/HTML ; CharSet=Latin1", html("Latin1")),
            ("text/html;charset=\"utf-8\"", html("utf-8")),
            (
                "text/html; x=\"a;charset=b\"; charset=c; charset=d",
                html("c"),
            ),
            ("text/markdown; variant=GFM", Kind::Markdown(None)),
            ("application/pdf;version=1", Kind::Pdf),
        ] {
            assert_eq!(kind(content_type), Some(expected), "{content_type}");
        }
        for content_type in ["", "text/plain", "text/htmlx", "html", "text /html"] {
            assert_eq!(kind(content_type), None, "{content_type}");
        }
    }
}
