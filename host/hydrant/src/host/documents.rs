//! The documents behind `os://` as the operator of this host sees them: which URI a file has, which documents a folder
//! holds, and why one cannot be read.
//!
//! Everything is looked up under the grant of `content.hydrate`, so nothing is found here that a hydration would not
//! find. What is read is compared and searched as text; no document is parsed.

use std::cell::Cell;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use super::hydrate::HYDRATE;
use super::{Host, HostError};
use crate::capability::Call;
use crate::capability::fs::{
    self, EntryKind, FsError, Overflow, ReadRequest, Symlinks, TreeRequest,
};
use crate::engine::Budgets;
use crate::policy::{Grant, Location, MountHandle, VirtualPath};

/// Documents of one folder, at most.
pub const MAX_DOCUMENTS: usize = 10_000;
/// Names that a listing of a folder looks at.
const MAX_NAMES: u32 = 100_000;
/// Levels of folders below the one that is listed.
const MAX_LEVELS: u32 = 64;
/// Names that are compared with one that does not exist.
const MAX_COMPARED: u32 = 2_000;
/// Bytes of a path that is compared: comparing takes the product of both lengths.
const MAX_COMPARED_BYTES: usize = 128;
/// How often names are compared: a document may declare a thousand files that do not exist.
const MAX_COMPARISONS: u32 = 50;
/// Names that a message suggests.
const MAX_SUGGESTIONS: usize = 3;
/// How alike two names are that one may have been meant by the other, of 1.
const ALIKE: f64 = 0.6;
/// Bytes of a document, as `content.hydrate` reads it.
const MAX_BYTES: u32 = 4 * 1024 * 1024;

/// See the module.
pub struct Documents<'h> {
    host: &'h Host,
    grant: Grant,
    comparisons_left: Cell<u32>,
}

/// What a name below `os://` is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// A file, or something behind an https mount, which only a hydration fetches.
    Document,
    /// A folder.
    Folder,
}

/// A folder as listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listing {
    /// The URIs of its documents, sorted.
    pub uris: Vec<String>,
    /// There are more than [`MAX_DOCUMENTS`], or more names than a listing looks at.
    pub truncated: bool,
}

impl Host {
    /// The documents of this host.
    ///
    /// # Errors
    ///
    /// [`HostError::Pin`]: `content.hydrate`, under whose grant they are looked up, is not the pinned one.
    pub fn documents(&self) -> Result<Documents<'_>, HostError> {
        Ok(Documents {
            host: self,
            grant: self.grant_of(HYDRATE)?,
            comparisons_left: Cell::new(MAX_COMPARISONS),
        })
    }
}

impl Documents<'_> {
    /// What the host's own file system has at a path below `os://`, written as in a URI.
    ///
    /// # Errors
    ///
    /// Why it cannot be read.
    pub fn look(&self, uri: &str) -> Result<Found, FsError> {
        let path = VirtualPath::of_os_reference(uri).ok_or(FsError::InvalidPath)?;
        if let Ok(Location::Https { .. }) = self.grant.read(&path) {
            return Ok(Found::Document);
        }
        match self.read_file(&path, 1, Overflow::Cut) {
            Ok(_) => Ok(Found::Document),
            Err(FsError::IsDirectory) => Ok(Found::Folder),
            Err(error) => Err(error),
        }
    }

    /// The text of a document, as far as it is UTF-8; what stands behind that may be anything.
    ///
    /// # Errors
    ///
    /// Why a hydration cannot read it. One behind an https mount is not fetched: [`FsError::FetchFailed`].
    pub fn read(&self, uri: &str) -> Result<Vec<u8>, FsError> {
        let path = VirtualPath::of_os_reference(uri).ok_or(FsError::InvalidPath)?;
        if let Ok(Location::Https { .. }) = self.grant.read(&path) {
            return Err(FsError::FetchFailed);
        }
        self.read_file(&path, MAX_BYTES, Overflow::Refuse)
    }

    /// The URI of a file or folder of this machine; none where no mount below `os://` shows it.
    #[must_use]
    pub fn uri_of(&self, path: &Path) -> Option<String> {
        let named = std::path::absolute(path).ok();
        let real = path.canonicalize().ok();
        // By the name that was given if possible: a link in the root has a place, and references, of its own.
        [named, real]
            .into_iter()
            .flatten()
            .find_map(|path| self.shown_at(&path)?.os_uri())
    }

    /// The file of this machine behind a URI, for messages to the operator; none if it is on no mounted directory.
    #[must_use]
    pub fn file_of(&self, uri: &str) -> Option<PathBuf> {
        match self.grant.read(&VirtualPath::of_os_reference(uri)?).ok()? {
            Location::Directory(path) => Some(if path.relative().is_empty() {
                path.mount().real().to_owned()
            } else {
                path.mount().real().join(path.relative())
            }),
            Location::Https { .. } => None,
        }
    }

    /// The documents below a folder: every `.md` file, hidden ones and what lies behind linked folders left out.
    ///
    /// # Errors
    ///
    /// Why the folder cannot be listed.
    pub fn below(&self, uri: &str) -> Result<Listing, FsError> {
        let (folder, entries, mut truncated) = self.names(uri, MAX_NAMES, MAX_LEVELS)?;
        let mut uris: Vec<String> = entries
            .iter()
            .filter(|entry| entry.to_ascii_lowercase().ends_with(".md"))
            .filter_map(|entry| joined(&folder, entry)?.os_uri())
            .collect();
        uris.sort();
        truncated |= uris.len() > MAX_DOCUMENTS;
        uris.truncate(MAX_DOCUMENTS);
        Ok(Listing { uris, truncated })
    }

    /// `did you mean …?`, where files have names like a URI of nothing.
    #[must_use]
    pub fn suggestion(&self, uri: &str) -> Option<String> {
        let near = self.nearest(uri);
        (!near.is_empty()).then(|| format!("did you mean {}?", near.join(" or ")))
    }

    /// URIs that somebody may have meant who wrote one of nothing, the likeliest first.
    fn nearest(&self, uri: &str) -> Vec<String> {
        let wanted = uri.strip_prefix("os://").unwrap_or(uri).to_lowercase();
        if wanted.is_empty() || wanted.len() > MAX_COMPARED_BYTES {
            return Vec::new();
        }
        let Some(left) = self.comparisons_left.get().checked_sub(1) else {
            return Vec::new();
        };
        self.comparisons_left.set(left);
        let Ok((root, entries, _)) = self.names("os://", MAX_COMPARED, 16) else {
            return Vec::new();
        };
        let mut near: Vec<(f64, String)> = entries
            .iter()
            .filter(|entry| entry.len() <= MAX_COMPARED_BYTES)
            .filter_map(|entry| {
                let likeness = likeness(&wanted, &entry.to_lowercase())?;
                Some((likeness, joined(&root, entry)?.os_uri()?))
            })
            // A link to nothing has a name too.
            .filter(|(_, near)| near != uri)
            .collect();
        near.sort_by(|(one, a), (other, b)| other.total_cmp(one).then_with(|| a.cmp(b)));
        near.into_iter()
            .take(MAX_SUGGESTIONS)
            .map(|(_, uri)| uri)
            .collect()
    }

    /// Files and links below a folder, relative to it.
    fn names(
        &self,
        uri: &str,
        max_entries: u32,
        max_depth: u32,
    ) -> Result<(VirtualPath, Vec<String>, bool), FsError> {
        let folder = VirtualPath::of_os_reference(uri).ok_or(FsError::InvalidPath)?;
        let request = TreeRequest {
            root: folder.as_str().to_owned(),
            max_entries,
            max_depth,
            include_hidden: false,
        };
        let listed = fs::tree(&self.call(), vec![request]);
        // Out of time: what a folder holds is not known then.
        let tree = listed
            .ok()
            .and_then(|mut trees| trees.pop())
            .unwrap_or(Err(FsError::Io))?;
        let names = tree
            .entries
            .into_iter()
            .filter(|entry| matches!(entry.kind, EntryKind::File | EntryKind::Symlink))
            .map(|entry| entry.path)
            .collect();
        Ok((folder, names, tree.truncated))
    }

    fn read_file(
        &self,
        path: &VirtualPath,
        max_bytes: u32,
        overflow: Overflow,
    ) -> Result<Vec<u8>, FsError> {
        let request = ReadRequest {
            path: path.as_str().to_owned(),
            max_bytes,
            overflow,
            symlinks: Symlinks::Follow,
        };
        fs::read(&self.call(), vec![request])
            .ok()
            .and_then(|mut files| files.pop())
            .unwrap_or(Err(FsError::Io))
            .map(|file| file.bytes)
    }

    /// Budgets of a call of its own for each look.
    fn call(&self) -> Arc<Call> {
        let budgets = Budgets::of(&self.host.layers.limits());
        self.host.context(self.grant.clone(), &budgets, None)
    }

    /// Where a mount shows `path`, which is absolute.
    fn shown_at(&self, path: &Path) -> Option<VirtualPath> {
        path.ancestors().find_map(|ancestor| {
            let rest = path.strip_prefix(ancestor).ok()?;
            let plain = |part| matches!(part, Component::Normal(_));
            if !rest.components().all(plain) {
                return None;
            }
            let real = ancestor.canonicalize().ok()?;
            let shown = |mount: &MountHandle| {
                let path = joined(mount.at(), rest.to_str()?)?;
                // Another mount may lie in front of that place.
                let there = match self.grant.read(&path) {
                    Ok(Location::Directory(there)) => there.mount().real() == mount.real(),
                    Ok(Location::Https { .. }) => false,
                    Err(_) => true,
                };
                there.then_some(path)
            };
            self.grant
                .mounts()
                .iter()
                .filter(|mount| mount.at().starts_with(&VirtualPath::os()) && mount.real() == real)
                .find_map(shown)
        })
    }
}

fn joined(folder: &VirtualPath, relative: &str) -> Option<VirtualPath> {
    if relative.is_empty() {
        return Some(folder.clone());
    }
    VirtualPath::parse(&format!("{}/{relative}", folder.as_str())).ok()
}

/// How alike two paths are, from 0 to 1: half by their names without an ending, half as a whole, so that of files with the
/// same name, as each SKILL.md has, the one in the likelier folder comes first. None for names that are not alike.
fn likeness(wanted: &str, there: &str) -> Option<f64> {
    let name = |path: &str| {
        let name = path.rsplit('/').next().unwrap_or_default();
        name.split('.').next().unwrap_or_default().to_owned()
    };
    let names = strsim::normalized_damerau_levenshtein(&name(wanted), &name(there));
    let whole = strsim::normalized_damerau_levenshtein(wanted, there);
    let both = names.midpoint(whole);
    (names >= ALIKE && both >= ALIKE).then_some(both)
}
