//! What an address is, by its text.

use std::path::{Path, PathBuf};

use url::Url;

use crate::config::{Config, pair_of};
use crate::failure::{Code, Failure};
use crate::request::has_credentials;
use hydrant_base::address::is_private_literal;

/// How the last path segment of a skill's address ends.
const SUFFIXES: [&str; 5] = [".md", ".markdown", ".yaml", ".yml", ".json"];
/// Hosts whose addresses, and those of their subdomains, are tweets.
const TWEETS: [&str; 2] = ["x.com", "twitter.com"];
/// Characters of an address that a message repeats.
const MAX_SHOWN: usize = 120;

/// Where the request came from, as far as files are concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Frontend {
    /// The operator's command line: paths are files below `skill_roots`.
    CommandLine,
    /// Any other: no files.
    Other,
}

/// An address that may be fetched, as far as its text tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// Where the document is.
    pub place: Place,
    /// Whether steps 5 and 6 were skipped.
    pub forced: bool,
}

/// Where a document is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// http or https, without user info and fragment.
    Url(Url),
    /// A regular file, at the time of the check.
    File {
        /// The canonical directory of `skill_roots` that it lies below.
        root: PathBuf,
        /// From there.
        below: PathBuf,
    },
    /// Nowhere: the caller gave its text, which has this digest.
    Given(String),
}

impl Address {
    /// The source identity.
    #[must_use]
    pub fn identity(&self) -> String {
        match &self.place {
            Place::Url(url) => url.to_string(),
            Place::File { root, below } => root.join(below).display().to_string(),
            Place::Given(digest) => format!("text:{digest}"),
        }
    }

    /// What the interpreter is told: the suffix decides the format, the origin may be the base of endpoints.
    #[must_use]
    pub fn source_url(&self) -> String {
        match &self.place {
            Place::Url(url) => url.to_string(),
            Place::File { .. } => format!("file:{}", self.identity()),
            Place::Given(_) => self.identity(),
        }
    }
}

/// Checks an address by everything but the grants of source hosts. Nothing is fetched.
///
/// # Errors
///
/// `url-not-skill`, `url-scheme`, `url-userinfo`, `file-not-allowed`, `path-not-allowed`, `url-tweet`, and what
/// `server` refuses.
pub fn address(
    text: &str,
    force: bool,
    frontend: Frontend,
    config: &Config,
) -> Result<Address, Failure> {
    let text = text.trim();
    if text.is_empty() {
        return Err(not_skill("the address is empty"));
    }
    let place = if frontend == Frontend::CommandLine && !has_scheme(text) {
        file(Path::new(text), config)?
    } else {
        named(text, frontend, config)?
    };
    if !force {
        if let Place::Url(url) = &place {
            tweet(url)?;
        }
        suffix(&place)?;
    }
    if let Place::Url(url) = &place {
        server(url, config)?;
    }
    Ok(Address {
        place,
        forced: force,
    })
}

/// `scheme:` as RFC 3986 has it.
fn has_scheme(text: &str) -> bool {
    text.split_once(':').is_some_and(|(scheme, _)| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
    })
}

fn named(text: &str, frontend: Frontend, config: &Config) -> Result<Place, Failure> {
    let mut url = Url::parse(text)
        .map_err(|error| not_skill(&format!("{} is no absolute URL: {error}", shown(text))))?;
    scheme(&url)?;
    userinfo(&url)?;
    if url.scheme() == "file" {
        if frontend != Frontend::CommandLine {
            return Err(Failure::new(
                Code::FileNotAllowed,
                "files are loaded from the command line only",
            ));
        }
        let path = url.to_file_path().map_err(|()| not_allowed(text))?;
        return file(&path, config);
    }
    url.set_fragment(None);
    Ok(Place::Url(url))
}

/// Refuses an address that is neither `http`, `https` nor `file`.
pub(super) fn scheme(url: &Url) -> Result<(), Failure> {
    if matches!(url.scheme(), "http" | "https" | "file") {
        return Ok(());
    }
    Err(Failure::new(
        Code::UrlScheme,
        format!(
            "{}: skills are loaded by https, http or file",
            shown(url.scheme())
        ),
    ))
}

/// Refuses an address with a user name or password.
fn userinfo(url: &Url) -> Result<(), Failure> {
    if !has_credentials(url) {
        return Ok(());
    }
    Err(Failure::new(
        Code::UrlUserinfo,
        "an address must not hold a user name or password",
    ))
}

/// Returns the place of a file: it must lie below one of `skill_roots`, symlinks resolved.
fn file(path: &Path, config: &Config) -> Result<Place, Failure> {
    let refused = || not_allowed(&path.display().to_string());
    let canonical = path.canonicalize().map_err(|error| {
        if error.kind() == std::io::ErrorKind::NotFound && may_be_told(path, config) {
            no_such_file(&path.display().to_string())
        } else {
            refused()
        }
    })?;
    let roots = config.skill_roots.iter();
    let (root, below) = roots
        .filter_map(|root| root.canonicalize().ok())
        .find_map(|root| {
            let below = canonical.strip_prefix(&root).ok()?.to_owned();
            Some((root, below))
        })
        .ok_or_else(refused)?;
    if !canonical.is_file() {
        return Err(refused());
    }
    Ok(Place::File { root, below })
}

/// Whether it may be said that a path leads nowhere: as it is written it stays below a root, so that nothing about files
/// outside is told.
fn may_be_told(path: &Path, config: &Config) -> bool {
    let Ok(path) = std::path::absolute(path) else {
        return false;
    };
    let climbs = path
        .components()
        .any(|part| part == std::path::Component::ParentDir);
    // A link that leads nowhere is there.
    let mut parts = path.ancestors();
    let existing = parts.find(|part| part.symlink_metadata().is_ok());
    let existing = existing.and_then(|part| part.canonicalize().ok());
    let roots = config.skill_roots.iter();
    let mut roots = roots.filter_map(|root| root.canonicalize().ok());
    !climbs && existing.is_some_and(|existing| roots.any(|root| existing.starts_with(root)))
}

fn no_such_file(path: &str) -> Failure {
    Failure::new(
        Code::PathNotAllowed,
        format!("no such file: {}", shown(path)),
    )
}

/// One answer for what is not there and what may not be read: it tells nothing about files outside the roots.
fn not_allowed(path: &str) -> Failure {
    Failure::new(
        Code::PathNotAllowed,
        format!("{}: no file below `skill_roots`", shown(path)),
    )
    .with_hint("`skill_roots` of [govern] in hydrant.toml names the directories; unless it does, it is the current one")
}

/// Refuses an address of X/Twitter.
pub(super) fn tweet(url: &Url) -> Result<(), Failure> {
    let host = url.host_str().unwrap_or_default().trim_end_matches('.');
    let is_tweet = TWEETS.iter().any(|name| {
        host.strip_suffix(name)
            .is_some_and(|before| before.is_empty() || before.ends_with('.'))
    });
    if !is_tweet {
        return Ok(());
    }
    Err(Failure::new(
        Code::UrlTweet,
        "X/Twitter addresses are not skills. If an operation asked for this address, give it to that operation; \
         --force (in a request `force`) loads it regardless.",
    ))
}

/// Refuses an address whose last path segment does not end like a skill's.
fn suffix(place: &Place) -> Result<(), Failure> {
    let last = match place {
        Place::Url(url) => url
            .path_segments()
            .and_then(|mut segments| segments.next_back())
            .unwrap_or_default()
            .to_lowercase(),
        Place::File { below, .. } => below
            .file_name()
            .map(|name| name.to_string_lossy().to_lowercase())
            .unwrap_or_default(),
        // There is no address that could look like anything.
        Place::Given(_) => return Ok(()),
    };
    if SUFFIXES.iter().any(|suffix| last.ends_with(suffix)) {
        return Ok(());
    }
    Err(not_skill(
        "No skill suffix in this address (.md, .markdown, .yaml, .yml, .json); --force (in a request `force`) \
         loads it regardless.",
    ))
}

/// What is known of a server before its name is resolved. `source_hosts` and grants are the caller's.
///
/// # Errors
///
/// `host-denied`, `private-address`, `plain-http-denied`.
pub(super) fn server(url: &Url, config: &Config) -> Result<(), Failure> {
    let Some(pair) = pair_of(url) else {
        return Err(not_skill("the address names no host"));
    };
    if config.is_denied(&pair) {
        return Err(Failure::new(
            Code::HostDenied,
            format!("{pair} is in `deny_hosts`"),
        ));
    }
    if is_private_literal(&pair) && !config.may_be_private(&pair) {
        return Err(Failure::new(
            Code::PrivateAddress,
            format!("{pair} is not a public address"),
        ));
    }
    if url.scheme() == "http" && !config.may_be_plain(&pair) {
        return Err(Failure::new(
            Code::PlainHttpDenied,
            format!("{pair} is neither in `plain_http_hosts` nor in `allow_private`"),
        ));
    }
    Ok(())
}

fn not_skill(message: &str) -> Failure {
    Failure::new(Code::UrlNotSkill, message)
}

/// At most 120 characters of what a caller wrote.
fn shown(text: &str) -> String {
    let visible = |c: char| if c.is_control() { '?' } else { c };
    text.chars().take(MAX_SHOWN).map(visible).collect()
}
