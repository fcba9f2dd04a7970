//! What people type for documents: URIs, files, folders and a list of these on stdin, as the URIs that are hydrated.

use std::collections::BTreeSet;
use std::io::{self, Read};
use std::path::Path;

use anyhow::{Context, bail};
use hydrant::check::line_of_unreadable;
use hydrant::policy::VirtualPath;
use hydrant::{Documents, Found, Host, MAX_DOCUMENTS};

use super::layout::visible;

/// Bytes of a list on stdin, at most.
const MAX_LIST_BYTES: u64 = 1024 * 1024;

/// The documents that a command line names.
pub(super) struct Wanted {
    /// In the order named, those of a folder sorted, each once.
    pub(super) uris: Vec<String>,
    /// Whether more than one may have been meant, so that each answer needs its own line or file.
    pub(super) are_several: bool,
}

impl Wanted {
    /// What `typed` names on this host: a URI is taken as it is, all else is looked for below `os://` and then among the
    /// files of this machine.
    pub(super) fn of(host: &Host, typed: &[String]) -> anyhow::Result<Self> {
        Self::collect(typed, |uris| {
            if uris.iter().all(|typed| has_scheme(typed)) {
                return Ok((uris, false));
            }
            let documents = host.documents()?;
            let mut found = Vec::new();
            let mut are_several = false;
            for typed in uris {
                match resolve(&documents, &typed)? {
                    Named::Document(uri) => found.push(uri),
                    Named::Folder(uri) => {
                        are_several = true;
                        found.extend(documents_below(&documents, &typed, &uri)?);
                    }
                }
            }
            Ok((found, are_several))
        })
    }

    /// The same where only the other end knows what lies below `os://`: everything is taken as it is.
    pub(super) fn as_typed(typed: &[String]) -> anyhow::Result<Self> {
        Self::collect(typed, |uris| Ok((uris, false)))
    }

    fn collect(
        typed: &[String],
        resolve: impl FnOnce(Vec<String>) -> anyhow::Result<(Vec<String>, bool)>,
    ) -> anyhow::Result<Self> {
        let mut are_several = typed.len() > 1;
        let mut named = Vec::new();
        for typed in typed {
            if typed == "-" {
                are_several = true;
                named.extend(listed()?);
            } else {
                named.push(typed.clone());
            }
        }
        let (mut uris, more) = resolve(named)?;
        let mut seen = BTreeSet::new();
        uris.retain(|uri| seen.insert(uri.clone()));
        if uris.len() > MAX_DOCUMENTS {
            bail!("more than {MAX_DOCUMENTS} documents; name fewer at a time");
        }
        Ok(Self {
            uris,
            are_several: are_several || more,
        })
    }
}

enum Named {
    Document(String),
    Folder(String),
}

/// The lines of stdin.
fn listed() -> anyhow::Result<Vec<String>> {
    let mut list = String::new();
    io::stdin()
        .lock()
        .take(MAX_LIST_BYTES.saturating_add(1))
        .read_to_string(&mut list)
        .context("the list of documents on stdin")?;
    if u64::try_from(list.len()).unwrap_or(u64::MAX) > MAX_LIST_BYTES {
        bail!("the list of documents on stdin has more than {MAX_LIST_BYTES} bytes");
    }
    let lines = list.lines().map(str::trim).filter(|line| !line.is_empty());
    Ok(lines.map(str::to_owned).collect())
}

/// `scheme:…`; a file of such a name can be written `./scheme:…`.
fn has_scheme(typed: &str) -> bool {
    typed.split_once(':').is_some_and(|(scheme, _)| {
        scheme.starts_with(|first: char| first.is_ascii_alphabetic())
            && scheme
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
    })
}

fn resolve(documents: &Documents<'_>, typed: &str) -> anyhow::Result<Named> {
    if has_scheme(typed) {
        return Ok(Named::Document(typed.to_owned()));
    }
    // A path has always meant one below os://, with a fragment that does not count.
    let before_fragment = typed.split('#').next().unwrap_or_default();
    let mut why_not = None;
    for reference in [before_fragment, typed] {
        let meant = VirtualPath::of_os_reference(reference).and_then(|path| path.os_uri());
        let Some(uri) = meant.filter(|_| !reference.is_empty()) else {
            continue;
        };
        match documents.look(&uri) {
            Ok(Found::Document) => return Ok(Named::Document(uri)),
            // `.` is the working directory.
            Ok(Found::Folder) if uri == "os://" && !reference.starts_with('/') => {}
            Ok(Found::Folder) => return Ok(Named::Folder(uri)),
            Err(error) => why_not = Some((uri, error)),
        }
    }
    let path = Path::new(typed);
    if let Ok(there) = path.metadata() {
        let Some(uri) = documents.uri_of(path) else {
            bail!("{}", outside(documents, path));
        };
        return Ok(if there.is_dir() {
            Named::Folder(uri)
        } else {
            Named::Document(uri)
        });
    }
    match why_not {
        Some((uri, error)) => bail!("{}", visible(&line_of_unreadable(documents, &uri, error))),
        None => bail!("no file {}", visible(typed)),
    }
}

/// What is wrong with a path that nothing below `os://` shows.
pub(super) fn outside(documents: &Documents<'_>, path: &Path) -> String {
    let shown = visible(&path.display().to_string());
    let root = match documents.file_of("os://") {
        Some(root) => format!("not below {}", visible(&root.display().to_string())),
        None => "not below os://, which is empty".to_owned(),
    };
    format!("{shown} is {root}; --root names the directory behind os://")
}

/// The documents of a folder, of which there has to be one.
pub(super) fn documents_below(
    documents: &Documents<'_>,
    typed: &str,
    uri: &str,
) -> anyhow::Result<Vec<String>> {
    let shown = visible(typed);
    let listing = documents
        .below(uri)
        .with_context(|| format!("{shown} cannot be listed"))?;
    if listing.truncated {
        bail!(
            "{shown} holds more than can be looked at, {MAX_DOCUMENTS} documents; name folders in it"
        );
    }
    if listing.uris.is_empty() {
        bail!("no .md file below {shown}");
    }
    Ok(listing.uris)
}
