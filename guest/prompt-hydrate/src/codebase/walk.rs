//! The walk: level by level, so that what is near the root is found first; ignored directories are never entered.

use kit::host::ReadFiles;
use kit::host::fs_read::{EntryKind, Overflow, ReadRequest, Symlinks};
use kit::path::Path;
use kit::tree::{self, Directory, Rules};

use super::is_secret;

/// Names of all directories together.
const MAX_ENTRIES: usize = 5_000;

/// Directories of one hostcall: what is listed past the names that are wanted costs the host a look at each file.
const LISTED_AT_ONCE: usize = 20;

/// Levels below the root.
const MAX_DEPTH: usize = 32;

/// Directories that are neither named nor entered.
const PASSED_OVER: &[&str] = &[".git", "node_modules", "target", ".venv", "dist", "build"];

/// The root is no readable directory, or an ignore file is too large.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unreadable;

/// What a working tree contains.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// Files and directories that are not ignored, level by level.
    pub(super) entries: Vec<Seen>,
    /// Names of the root's files, ignored or not.
    pub(super) root_files: Vec<String>,
}

/// A file or directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Seen {
    /// Relative to the root.
    pub(super) path: String,
    pub(super) is_directory: bool,
}

/// Walks through what is below the root.
pub(super) fn walk(host: &mut impl ReadFiles, root: &Path) -> Result<Found, Unreadable> {
    let mut found = Found::default();
    let mut names_left = MAX_ENTRIES;
    let mut level = vec![Directory {
        path: root.clone(),
        rules: Rules::default(),
        symlinks: Symlinks::Refuse,
    }];
    for depth in 0..MAX_DEPTH {
        level.truncate(names_left);
        let mut next = Vec::new();
        for directories in level.chunks(LISTED_AT_ONCE) {
            if names_left == 0 {
                return Ok(found);
            }
            // Each may have several times its share of the names that are wanted, but not all of them all.
            let share = names_left.saturating_mul(8).checked_div(directories.len());
            let options = tree::Options {
                max_entries: share.unwrap_or(names_left).clamp(64, names_left.max(64)),
                include_hidden: true,
                use_ignore: true,
            };
            let listed = tree::list(host, directories, options).map_err(|_| Unreadable)?;
            for (directory, answer) in directories.iter().zip(listed.answers) {
                let (listing, rules) = match answer {
                    Ok(contents) => contents,
                    Err(_) if depth == 0 => return Err(Unreadable),
                    Err(_) => continue,
                };
                if depth == 0 {
                    let files = listing.entries.iter();
                    let files = files.filter(|entry| entry.kind == EntryKind::File);
                    found.root_files = files.map(|entry| entry.path.clone()).collect();
                }
                for entry in listing.entries.into_iter().take(names_left) {
                    names_left = names_left.saturating_sub(1);
                    let is_directory = match entry.kind {
                        EntryKind::File => false,
                        EntryKind::Directory => true,
                        EntryKind::Symlink | EntryKind::Other => continue,
                    };
                    let path = directory.path.join(&entry.path);
                    let is_passed_over = is_directory && PASSED_OVER.contains(&entry.path.as_str());
                    if is_passed_over || rules.exclude(path.absolute(), is_directory) {
                        continue;
                    }
                    if is_directory && !is_secret(path.shown()) {
                        next.push(Directory {
                            path: path.clone(),
                            rules: rules.clone(),
                            symlinks: Symlinks::Refuse,
                        });
                    }
                    found.entries.push(Seen {
                        path: path.shown().to_owned(),
                        is_directory,
                    });
                }
            }
        }
        level = next;
    }
    Ok(found)
}

/// The request for the beginning of a file that no link leads to.
pub(super) fn request(root: &Path, path: &str, max_bytes: u32) -> ReadRequest {
    ReadRequest {
        path: root.join(path).absolute().to_owned(),
        max_bytes,
        overflow: Overflow::Cut,
        symlinks: Symlinks::Refuse,
    }
}
