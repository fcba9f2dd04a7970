//! Where an archive comes from: a path, a `file://` URL, or one HTTP request.
//!
//! A download follows no redirect, waits no longer than half a minute and keeps no more than an archive
//! may have. It proves nothing: the caller has to verify the archive, which `install` does by
//! demanding keys. Proxies of the environment are used, as the original does; TLS cannot be turned off.

use hydrant_base::{FileError, escaped, read_at_most, read_bounded_as};
use std::path::PathBuf;
use std::time::Duration;

use ureq::Agent;
use ureq::config::AutoHeaderValue;
use url::Url;

use super::limits::MAX_ARCHIVE_BYTES;

/// How long a download of an archive may take.
const WAITS: Waits = Waits {
    connect: Duration::from_secs(5),
    total: Duration::from_secs(30),
};

/// Bytes of status line and headers of a response.
const MAX_HEADER_BYTES: usize = 64 * 1024;

/// Whether archives may come over plain HTTP: `--allow-insecure-http`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InsecureHttp {
    /// The default.
    Refused,
    /// The caller asked for it.
    Allowed,
}

/// Why there is no archive. No message repeats the credentials of a URL.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// Registries of images are no source.
    #[error("OCI refs are not supported; use a file path, file://, or an http(s) URL")]
    Oci,
    /// Plain HTTP needs the flag.
    #[error(
        "http:// artifacts are disabled by default; pass --allow-insecure-http only for local development"
    )]
    InsecureHttp,
    /// A URL that cannot be read, or that names no file of this machine.
    #[error("invalid artifact URL {url}: {reason}")]
    Url {
        /// The URL, escaped and without credentials.
        url: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The file cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// The server sends the download elsewhere.
    #[error("artifact fetch redirects are not allowed for security reasons: {0}")]
    Redirect(String),
    /// The server answers with something other than the archive.
    #[error("failed to fetch artifact from {url}: HTTP status {status}")]
    Status {
        /// The URL, escaped and without credentials.
        url: String,
        /// What the server says.
        status: u16,
    },
    /// No connection, no TLS, or no answer in time.
    #[error("failed to fetch artifact from {url}: {reason}")]
    Fetch {
        /// The URL, escaped and without credentials.
        url: String,
        /// What went wrong.
        reason: String,
    },
    /// Longer than an archive may be.
    #[error("artifact exceeds maximum size ({size} bytes > {MAX_ARCHIVE_BYTES} bytes)")]
    TooLarge {
        /// What the server announces, or the limit and one more.
        size: u64,
    },
}

/// How long a download may take.
#[derive(Debug, Clone, Copy)]
struct Waits {
    connect: Duration,
    total: Duration,
}

/// A place that archives come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    place: Place,
    recorded: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Place {
    File(PathBuf),
    Remote(Url),
}

impl Source {
    /// Reads a source as a user gives it.
    ///
    /// # Errors
    /// [`SourceError`] if it is of a kind that is not supported or not allowed.
    pub fn parse(text: &str, http: InsecureHttp) -> Result<Self, SourceError> {
        let place = match scheme(text).as_deref() {
            Some("oci") => return Err(SourceError::Oci),
            Some("http") if http == InsecureHttp::Refused => return Err(SourceError::InsecureHttp),
            Some("http" | "https") => Place::Remote(url(text)?),
            Some("file") => {
                let path = url(text)?.to_file_path();
                Place::File(path.map_err(|()| invalid(text, "it names no file of this machine"))?)
            }
            _ => Place::File(PathBuf::from(text)),
        };
        Ok(Self {
            place,
            recorded: without_user_info(text),
        })
    }

    /// Whether the archive comes over the network, so that only signatures can tell what it is.
    #[must_use]
    pub fn is_remote(&self) -> bool {
        matches!(self.place, Place::Remote(_))
    }

    /// The source as given, the user info of a URL replaced by `***`.
    #[must_use]
    pub fn recorded(&self) -> &str {
        &self.recorded
    }

    /// Reads the archive, no more than an archive may have.
    ///
    /// # Errors
    /// [`SourceError`] says why there is none.
    pub fn read(&self) -> Result<Vec<u8>, SourceError> {
        match &self.place {
            Place::File(path) => Ok(read_bounded_as(path, MAX_ARCHIVE_BYTES, "artifact")?),
            Place::Remote(url) => self.download(url, WAITS),
        }
    }

    fn download(&self, url: &Url, waits: Waits) -> Result<Vec<u8>, SourceError> {
        let shown = || escaped(&self.recorded);
        let failed = |reason: String| SourceError::Fetch {
            url: shown(),
            reason: escaped(&reason),
        };
        let response = agent(waits, url.scheme() == "https")
            .get(url.as_str())
            .call()
            .map_err(|error| failed(error.to_string()))?;
        let status = response.status();
        if status.is_redirection() {
            return Err(SourceError::Redirect(shown()));
        }
        if !status.is_success() {
            return Err(SourceError::Status {
                url: shown(),
                status: status.as_u16(),
            });
        }
        let body = response.into_body();
        if let Some(size) = body
            .content_length()
            .filter(|size| *size > MAX_ARCHIVE_BYTES)
        {
            return Err(SourceError::TooLarge { size });
        }
        read_at_most(body.into_reader(), 0, MAX_ARCHIVE_BYTES)
            .map_err(|error| failed(error.to_string()))?
            .ok_or(SourceError::TooLarge {
                size: MAX_ARCHIVE_BYTES.saturating_add(1),
            })
    }
}

fn agent(waits: Waits, https_only: bool) -> Agent {
    Agent::config_builder()
        .https_only(https_only)
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .timeout_connect(Some(waits.connect))
        .timeout_global(Some(waits.total))
        .user_agent(concat!("hydrant/", env!("CARGO_PKG_VERSION")))
        .accept_encoding(AutoHeaderValue::None)
        .max_response_header_size(MAX_HEADER_BYTES)
        .build()
        .into()
}

/// What stands before `://`, in lower case.
fn scheme(text: &str) -> Option<String> {
    let (scheme, _) = text.split_once("://")?;
    let known = ["oci", "http", "https", "file"];
    let scheme = scheme.to_ascii_lowercase();
    known.contains(&scheme.as_str()).then_some(scheme)
}

fn url(text: &str) -> Result<Url, SourceError> {
    // A URL parser drops these silently, so that two programs could see two different hosts.
    if text.contains(|c: char| c.is_control() || c == '\\') {
        return Err(invalid(text, "it has control characters or backslashes"));
    }
    Url::parse(text).map_err(|error| invalid(text, &error.to_string()))
}

fn invalid(text: &str, reason: &str) -> SourceError {
    SourceError::Url {
        url: escaped(&without_user_info(text)),
        reason: reason.to_owned(),
    }
}

/// Returns a source as it is recorded: a URL without its user name and password. Text that is no URL stays as it is.
fn without_user_info(text: &str) -> String {
    let Some(scheme) = scheme(text) else {
        return text.to_owned();
    };
    // Like a URL parser, which takes any number of slashes there.
    let behind_scheme = text.get(scheme.len()..).unwrap_or_default();
    let rest = behind_scheme.trim_start_matches([':', '/', '\\']);
    let end = rest.find(['/', '\\', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at_checked(end).unwrap_or((rest, ""));
    match authority.rsplit_once('@') {
        Some((_, host)) => {
            let start = text.strip_suffix(rest).unwrap_or_default();
            format!("{start}***@{host}{path}")
        }
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests;
