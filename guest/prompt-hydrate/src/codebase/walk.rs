//! The walk: level by level, all directories of a level in one hostcall, ignored ones never entered.

use std::rc::Rc;

use kit::host::ReadFiles;
use kit::host::fs_read::{
    Entry, EntryKind, FsError, Listing, Overflow, ReadRequest, Symlinks, TreeRequest,
};

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
#[derive(Default)]
struct Directory {
    /// Relative to the root; empty for the root.
    path: String,
    rules: Rules,
}

/// Walks through what is below a mount.
pub(super) fn walk(host: &mut impl ReadFiles, mount: &str) -> Result<Found, Unreadable> {
    let mut walk = Walk {
        mount,
        found: Found::default(),
        reader: Reader::default(),
        names_left: MAX_ENTRIES,
        files_left: MAX_FILES,
    };
    let mut level = vec![Directory::default()];
    for depth in 0..MAX_DEPTH {
        level.truncate(walk.names_left);
        let mut next = Vec::new();
        for some in level.chunks(LISTED_AT_ONCE) {
            if walk.names_left == 0 {
                return Ok(walk.found);
            }
            let listings = walk.list(host, some);
            if depth == 0 {
                let Some(Ok(root)) = listings.first() else {
                    return Err(Unreadable);
                };
                let files = root
                    .entries
                    .iter()
                    .filter(|entry| entry.kind == EntryKind::File);
                walk.found.root.names = files.map(|entry| entry.path.clone()).collect();
            }
            let listings: Vec<Vec<Entry>> = listings
                .into_iter()
                .map(|listing| listing.map_or_else(|_| Vec::new(), |listing| listing.entries))
                .collect();
            let rules = walk.read_rules(host, some, &listings);
            for ((directory, rules), entries) in some.iter().zip(rules).zip(listings) {
                walk.see_all(directory, &rules, entries, &mut next);
            }
        }
        level = next;
    }
    Ok(walk.found)
}

struct Walk<'a> {
    mount: &'a str,
    found: Found,
    reader: Reader,
    names_left: usize,
    files_left: usize,
}

impl Walk<'_> {
    /// Lists directories in one hostcall. Each may have several times its share of the names that are wanted, but not all of
    /// them all: what is listed in vain costs time too.
    fn list(
        &self,
        host: &mut impl ReadFiles,
        directories: &[Directory],
    ) -> Vec<Result<Listing, FsError>> {
        let wanted = self.names_left.max(64);
        let share = wanted.saturating_mul(8).checked_div(directories.len());
        let most = share.unwrap_or(wanted).clamp(64, wanted);
        let request = |directory: &Directory| TreeRequest {
            root: match directory.path.as_str() {
                "" => self.mount.to_owned(),
                path => format!("{}/{path}", self.mount),
            },
            max_entries: u32::try_from(most).unwrap_or(u32::MAX),
            max_depth: 1,
            include_hidden: true,
        };
        let requests: Vec<_> = directories.iter().map(request).collect();
        host.tree(&requests)
    }

    /// Reads the ignore files of directories, and the build files of the root, in one hostcall; returns the rules that hold
    /// in each of the directories.
    fn read_rules(
        &mut self,
        host: &mut impl ReadFiles,
        directories: &[Directory],
        listings: &[Vec<Entry>],
    ) -> Vec<Rules> {
        let mut wanted = Vec::new();
        for (number, (directory, entries)) in directories.iter().zip(listings).enumerate() {
            let is_wanted = |entry: &&Entry| {
                let name = entry.path.as_str();
                let is_build_file = directory.path.is_empty() && BUILD_FILES.contains(&name);
                entry.kind == EntryKind::File
                    && (is_build_file || IgnoreFile::NAMES.contains(&name))
            };
            let names = entries.iter().filter(is_wanted);
            wanted.extend(names.map(|entry| (number, directory, entry.path.as_str())));
        }
        wanted.truncate(self.files_left);
        self.files_left = self.files_left.saturating_sub(wanted.len());
        let requests: Vec<_> = wanted
            .iter()
            .map(|(_, directory, name)| {
                request(self.mount, &below(&directory.path, name), MAX_FILE_BYTES)
            })
            .collect();
        let answers = if requests.is_empty() {
            Vec::new()
        } else {
            host.read(&requests)
        };
        let mut own: Vec<Vec<Rc<IgnoreFile>>> = vec![Vec::new(); directories.len()];
        for ((number, directory, name), answer) in wanted.into_iter().zip(answers) {
            let Ok(file) = answer else { continue };
            let text = String::from_utf8_lossy(&file.bytes);
            if let Some(&name) = BUILD_FILES.iter().find(|known| **known == name) {
                self.found.root.texts.push((name, text.into_owned()));
            } else if let Some(own) = own.get_mut(number) {
                let file = self.reader.read(&directory.path, name, &text);
                own.extend(file.map(Rc::new));
            }
        }
        let rules = directories.iter().zip(own);
        rules
            .map(|(directory, own)| directory.rules.with(own))
            .collect()
    }

    /// Notes what a directory holds, and the directories in it that are entered.
    fn see_all(
        &mut self,
        directory: &Directory,
        rules: &Rules,
        entries: Vec<Entry>,
        next: &mut Vec<Directory>,
    ) {
        for entry in entries.into_iter().take(self.names_left) {
            self.names_left = self.names_left.saturating_sub(1);
            let is_directory = match entry.kind {
                EntryKind::File => false,
                EntryKind::Directory => true,
                EntryKind::Symlink | EntryKind::Other => continue,
            };
            let path = below(&directory.path, &entry.path);
            let is_passed_over = is_directory && PASSED_OVER.contains(&entry.path.as_str());
            if is_passed_over || rules.exclude(&path, is_directory) {
                continue;
            }
            if is_directory && !is_secret(&path) {
                next.push(Directory {
                    path: path.clone(),
                    rules: rules.clone(),
                });
            }
            self.found.entries.push(Seen { path, is_directory });
        }
    }
}

fn below(directory: &str, name: &str) -> String {
    if directory.is_empty() {
        name.to_owned()
    } else {
        format!("{directory}/{name}")
    }
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
