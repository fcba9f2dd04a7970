//! The walk: level by level, all directories of a level in one hostcall, ignored ones never entered.

use std::rc::Rc;

use kit::host::ReadFiles;
use kit::host::fs_read::{Entry, EntryKind, Listing, Overflow, ReadRequest, Symlinks, TreeRequest};

use super::ignore_file::{IgnoreFile, Reader, Rules};
use super::is_secret;
use super::test_command::BUILD_FILES;

/// Names of all directories together.
const MAX_ENTRIES: usize = 5_000;

/// Directories of one hostcall: what is listed past the names that are wanted costs the host a look at each file.
const LISTED_AT_ONCE: usize = 20;

/// Levels below the root.
const MAX_DEPTH: usize = 32;

/// Bytes of an ignore or build file, and such files of one walk.
const MAX_FILE_BYTES: u32 = 64 * 1024;
const MAX_FILES: usize = 256;

/// Directories that are neither named nor entered.
const PASSED_OVER: &[&str] = &[".git", "node_modules", "target", ".venv", "dist", "build"];

/// The root is no readable directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unreadable;

/// What a walk came upon.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// Files and directories that are not ignored, level by level.
    pub(super) entries: Vec<Seen>,
    /// Of the root.
    pub(super) root: Root,
}

/// A file or directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Seen {
    /// Relative to the root.
    pub(super) path: String,
    pub(super) is_directory: bool,
}

/// What the root tells of how the project is tested.
#[derive(Debug, Default)]
pub(super) struct Root {
    /// Names of its files.
    pub(super) names: Vec<String>,
    /// Those of [`BUILD_FILES`] that could be read.
    pub(super) texts: Vec<(&'static str, String)>,
}

/// A directory to list.
struct Directory {
    /// Relative to the root; empty for the root.
    path: String,
    rules: Rules,
}

/// Walks through what is below a mount.
pub(super) fn walk(host: &mut impl ReadFiles, mount: &str) -> Result<Found, Unreadable> {
    let mut found = Found::default();
    let mut reader = Reader::default();
    let mut left = MAX_ENTRIES;
    let mut files_left = MAX_FILES;
    let mut level = vec![Directory {
        path: String::new(),
        rules: Rules::default(),
    }];
    for depth in 0..MAX_DEPTH {
        level.truncate(left);
        if level.is_empty() {
            break;
        }
        let mut next = Vec::new();
        for some in level.chunks(LISTED_AT_ONCE) {
            let requests: Vec<_> = some
                .iter()
                .map(|directory| listing_of(mount, directory, left, some.len()))
                .collect();
            let listings = host.tree(&requests);
            if depth == 0 {
                match listings.first() {
                    Some(Ok(listing)) => found.root.names = files(listing),
                    Some(Err(_)) | None => return Err(Unreadable),
                }
            }
            let listings: Vec<Listing> = listings
                .into_iter()
                .map(|listing| {
                    listing.unwrap_or_else(|_| Listing {
                        entries: Vec::new(),
                        truncated: false,
                    })
                })
                .collect();
            let read = read(host, mount, some, &listings, files_left);
            files_left = files_left.saturating_sub(read.len());
            for (number, (directory, listing)) in some.iter().zip(listings).enumerate() {
                let mut own = Vec::new();
                for (owner, name, text) in &read {
                    if *owner != number {
                        continue;
                    }
                    if let Some(name) = BUILD_FILES.iter().find(|known| *known == name) {
                        found.root.texts.push((name, text.clone()));
                    } else if let Some(file) = reader.compile(&directory.path, name, text) {
                        own.push(Rc::new(file));
                    }
                }
                let rules = directory.rules.with(own);
                for entry in listing.entries {
                    let Some(rest) = left.checked_sub(1) else {
                        return Ok(found);
                    };
                    left = rest;
                    if let Some(seen) = see(directory, &rules, entry) {
                        if seen.is_directory && !is_secret(&seen.path) {
                            next.push(Directory {
                                path: seen.path.clone(),
                                rules: rules.clone(),
                            });
                        }
                        found.entries.push(seen);
                    }
                }
            }
        }
        level = next;
    }
    Ok(found)
}

fn below(directory: &str, name: &str) -> String {
    if directory.is_empty() {
        name.to_owned()
    } else {
        format!("{directory}/{name}")
    }
}

/// One of `count` directories of which `left` names in all are wanted. Each may have several times its share, but not all of
/// them all: what is listed in vain costs time too.
fn listing_of(mount: &str, directory: &Directory, left: usize, count: usize) -> TreeRequest {
    let share = left.saturating_mul(8).checked_div(count).unwrap_or(left);
    TreeRequest {
        root: format!("{mount}/{}", directory.path)
            .trim_end_matches('/')
            .to_owned(),
        max_entries: u32::try_from(share.clamp(64, left.max(64))).unwrap_or(1),
        max_depth: 1,
        include_hidden: true,
    }
}

fn files(listing: &Listing) -> Vec<String> {
    let files = listing
        .entries
        .iter()
        .filter(|entry| entry.kind == EntryKind::File);
    files.map(|entry| entry.path.clone()).collect()
}

/// The ignore files of a level, and the build files of the root, in one hostcall: number of the directory, name, text.
fn read(
    host: &mut impl ReadFiles,
    mount: &str,
    level: &[Directory],
    listings: &[Listing],
    most: usize,
) -> Vec<(usize, String, String)> {
    let mut wanted = Vec::new();
    for (number, (directory, listing)) in level.iter().zip(listings).enumerate() {
        for entry in &listing.entries {
            let name = entry.path.as_str();
            let is_wanted = IgnoreFile::NAMES.contains(&name)
                || (directory.path.is_empty() && BUILD_FILES.contains(&name));
            if entry.kind == EntryKind::File && is_wanted {
                wanted.push((number, name.to_owned(), below(&directory.path, name)));
            }
        }
    }
    wanted.truncate(most);
    if wanted.is_empty() {
        return Vec::new();
    }
    let requests: Vec<_> = wanted
        .iter()
        .map(|(_, _, path)| request(mount, path, MAX_FILE_BYTES))
        .collect();
    let texts = host.read(&requests);
    let read = wanted
        .into_iter()
        .zip(texts)
        .filter_map(|((number, name, _), answer)| {
            Some((
                number,
                name,
                String::from_utf8_lossy(&answer.ok()?.bytes).into_owned(),
            ))
        });
    read.collect()
}

/// The request for the beginning of a file that no link leads to.
pub(super) fn request(mount: &str, path: &str, max_bytes: u32) -> ReadRequest {
    ReadRequest {
        path: format!("{mount}/{path}"),
        max_bytes,
        overflow: Overflow::Cut,
        symlinks: Symlinks::Refuse,
    }
}

/// The entry, unless it is passed over.
fn see(directory: &Directory, rules: &Rules, entry: Entry) -> Option<Seen> {
    let is_directory = match entry.kind {
        EntryKind::File => false,
        EntryKind::Directory => true,
        EntryKind::Symlink | EntryKind::Other => return None,
    };
    if is_directory && PASSED_OVER.contains(&entry.path.as_str()) {
        return None;
    }
    let path = below(&directory.path, &entry.path);
    (!rules.exclude(&path, is_directory)).then_some(Seen { path, is_directory })
}
