//! The files to search, in the order of the answer, found only as far as they are needed.
//!
//! What was not looked at yet waits in a map, in order. The first directory is replaced by what it contains, and with it, in the
//! same hostcall, some of the directories that follow. So an ignored directory is never entered, and a search that ends
//! early lists little.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use kit::SkillError;
use kit::glob::Globs;
use kit::host::ReadFiles;
use kit::host::fs_read::{Entry, EntryKind, FsError, Overflow, ReadRequest, Symlinks};
use kit::members::invalid;
use kit::path::{Path, fs_error};
use kit::tree::{self, Directory, Rules};

use crate::request::Request;

/// Files and directories that may wait, and bytes of their keys: the last ones are left out, and the search is truncated.
const MAX_WAITING: usize = 200_000;
const MAX_WAITING_BYTES: usize = 64 * 1024 * 1024;

/// Directories that are listed and ignore files that are read: then the search is truncated. With the files that are
/// searched they stay within the hostcalls of a call.
const MAX_LOOKUPS: usize = 250_000;

/// Directories that are listed in one hostcall: at first, and at most.
const FIRST_AT_ONCE: usize = 4;
const MOST_AT_ONCE: usize = 256;

/// Names of all directories that are listed in one hostcall, and bytes of names after which the host ends a listing.
const NAMES_AT_ONCE: usize = 100_000;
const MAX_LISTING_BYTES: usize = 16 * 1024 * 1024;

/// Files and directories that are looked through for more directories to list.
const LOOK_AHEAD: usize = 4_096;

/// The name of a repository's own directory, or of the file that leads to it.
const GIT: &str = ".git";

/// The length of a file that the host did not say.
pub(crate) const UNKNOWN_LENGTH: u64 = u64::MAX;

/// How much a batch of files may be.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BatchLimits {
    pub(crate) files: usize,
    /// Bytes of all files but the first.
    pub(crate) bytes: u64,
}

/// A file to search, or a file or directory that cannot be read.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) path: Path,
    /// Whether a link on the way to it was named in the request, and may be followed.
    pub(crate) symlinks: Symlinks,
    /// Its length, or [`UNKNOWN_LENGTH`]; `None` if it cannot be read.
    pub(crate) bytes: Option<u64>,
}

/// The files that are still to be searched.
#[derive(Debug)]
pub(crate) struct Walk {
    globs: Globs,
    include_hidden: bool,
    use_ignore: bool,
    /// By virtual path, with NUL for `/`: so paths are in order segment by segment.
    waiting: Waiting,
    /// The keys of the paths of the request. They are searched whatever the rules say, and once.
    named: BTreeSet<String>,
    at_once: usize,
    lookups_left: usize,
    is_truncated: bool,
}

/// What waits, and the bytes of its keys.
#[derive(Debug, Default)]
struct Waiting {
    items: BTreeMap<String, Item>,
    bytes: usize,
}

/// A path of the request.
#[derive(Debug)]
struct Root {
    path: Path,
    symlinks: Symlinks,
}

/// A file or directory that waits.
#[derive(Debug)]
struct Item {
    /// The path of the request that leads to it.
    root: Rc<Root>,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    /// A regular file, and its length or [`UNKNOWN_LENGTH`].
    File(u64),
    /// A directory, and the rules of those above it.
    Directory(Rules),
    /// A file or directory that cannot be opened.
    Unreadable,
}

impl Waiting {
    fn insert(&mut self, key: String, item: Item) {
        let bytes = key.len();
        if self.items.insert(key, item).is_none() {
            self.bytes = self.bytes.saturating_add(bytes);
        }
    }

    fn remove(&mut self, key: &str) -> Option<Item> {
        let item = self.items.remove(key)?;
        self.bytes = self.bytes.saturating_sub(key.len());
        Some(item)
    }

    fn pop_first(&mut self) -> Option<(String, Item)> {
        let (key, item) = self.items.pop_first()?;
        self.bytes = self.bytes.saturating_sub(key.len());
        Some((key, item))
    }

    /// Leaves out what is last, as long as there is too much; returns whether there was.
    fn leave_out(&mut self) -> bool {
        let mut left_out = false;
        while (self.items.len() > MAX_WAITING || self.bytes > MAX_WAITING_BYTES)
            && let Some((key, _)) = self.items.pop_last()
        {
            self.bytes = self.bytes.saturating_sub(key.len());
            left_out = true;
        }
        left_out
    }
}

/// A virtual path, empty for `/`: what lies below has a `/` behind it.
fn stem(path: &Path) -> &str {
    let path = path.absolute();
    path.strip_suffix('/').unwrap_or(path)
}

impl Root {
    /// The path from here to what has this key; globs see it.
    fn below(&self, key: &str) -> String {
        let prefix = stem(&self.path).len().saturating_add(1);
        key.get(prefix..).unwrap_or_default().replace('\0', "/")
    }
}

impl Walk {
    /// Begins at the paths of a request.
    ///
    /// # Errors
    /// `invalid_request` for a glob that cannot be parsed; the error of the first path that does not exist, is not allowed,
    /// or cannot be fetched; `too_large` for an ignore file above them.
    pub(crate) fn new(host: &mut impl ReadFiles, request: &Request) -> Result<Self, SkillError> {
        let mut globs = Globs::default();
        for glob in &request.globs {
            let mistake = |_| invalid("glob", &format!("holds `{glob}`, which is no valid glob"));
            let (mark, path) = match glob.strip_prefix('!') {
                Some(path) => ("!", path),
                None => ("", glob.as_str()),
            };
            // As people write it for what stands directly in a path.
            let added = match path.strip_prefix("./") {
                Some(below) => globs.add(&format!("{mark}/{below}")),
                None => globs.add(glob),
            };
            added.map_err(mistake)?;
        }
        let mut waiting = Waiting::default();
        let mut lookups_left = MAX_LOOKUPS;
        for path in &request.paths {
            let (symlinks, mut kind) = probe(host, path)?;
            if let Kind::Directory(rules) = &mut kind {
                if path.absolute().split('/').any(|name| name == GIT) {
                    continue;
                }
                if request.use_ignore {
                    let (above, read) = tree::rules_above(host, path).map_err(without_ignore)?;
                    *rules = above;
                    lookups_left = lookups_left.saturating_sub(read);
                }
            }
            let root = Rc::new(Root {
                path: path.clone(),
                symlinks,
            });
            let key = stem(path).replace('/', "\0");
            // The first of two ways to write a path decides how the answer shows it.
            if !waiting.items.contains_key(&key) {
                waiting.insert(key, Item { root, kind });
            }
        }
        Ok(Self {
            globs,
            include_hidden: request.include_hidden,
            use_ignore: request.use_ignore,
            named: waiting.items.keys().cloned().collect(),
            waiting,
            at_once: FIRST_AT_ONCE,
            lookups_left,
            is_truncated: false,
        })
    }

    /// Something was left out because there was too much of it.
    pub(crate) fn is_truncated(&self) -> bool {
        self.is_truncated
    }

    /// The next files, and what cannot be read, in order; empty at the end.
    ///
    /// # Errors
    /// `too_large` for an ignore file.
    pub(crate) fn next_batch(
        &mut self,
        host: &mut impl ReadFiles,
        limits: BatchLimits,
    ) -> Result<Vec<Found>, SkillError> {
        let mut batch: Vec<Found> = Vec::new();
        let mut bytes_left = limits.bytes;
        while batch.len() < limits.files
            && let Some((key, item)) = self.waiting.pop_first()
        {
            let bytes = match item.kind {
                Kind::Directory(_) => {
                    self.waiting.insert(key, item);
                    self.list_next(host)?;
                    continue;
                }
                Kind::File(bytes) => Some(bytes),
                Kind::Unreadable => None,
            };
            if bytes.unwrap_or(0) > bytes_left && !batch.is_empty() {
                self.waiting.insert(key, item);
                break;
            }
            bytes_left = bytes_left.saturating_sub(bytes.unwrap_or(0));
            batch.push(Found {
                path: item.root.path.join(&item.root.below(&key)),
                symlinks: item.root.symlinks,
                bytes,
            });
        }
        Ok(batch)
    }

    /// Replaces the next directories by what they contain.
    fn list_next(&mut self, host: &mut impl ReadFiles) -> Result<(), SkillError> {
        let ahead = self.waiting.items.iter().take(LOOK_AHEAD);
        let directories = ahead.filter(|(_, item)| matches!(item.kind, Kind::Directory(_)));
        let keys: Vec<String> = directories
            .map(|(key, _)| key.clone())
            .take(self.at_once)
            .collect();
        self.at_once = self.at_once.saturating_mul(2).min(MOST_AT_ONCE);
        let names = NAMES_AT_ONCE.checked_div(keys.len()).unwrap_or(1);
        for large in self.list(host, keys, names)? {
            self.list(host, vec![large], NAMES_AT_ONCE)?;
        }
        Ok(())
    }

    /// Lists directories; returns those with more names than asked for, which have to be listed alone.
    fn list(
        &mut self,
        host: &mut impl ReadFiles,
        keys: Vec<String>,
        names: usize,
    ) -> Result<Vec<String>, SkillError> {
        let Some(left) = self.lookups_left.checked_sub(keys.len()) else {
            self.waiting = Waiting::default();
            self.is_truncated = true;
            return Ok(Vec::new());
        };
        let directories: Vec<Directory> = keys
            .iter()
            .filter_map(|key| {
                let Item { root, kind } = self.waiting.items.get(key)?;
                let Kind::Directory(rules) = kind else {
                    return None;
                };
                Some(Directory {
                    path: root.path.join(&root.below(key)),
                    rules: rules.clone(),
                    symlinks: root.symlinks,
                })
            })
            .collect();
        let options = tree::Options {
            max_entries: names,
            include_hidden: self.include_hidden,
            use_ignore: self.use_ignore,
        };
        let listed = tree::list(host, &directories, options).map_err(without_ignore)?;
        self.lookups_left = left.saturating_sub(listed.ignore_files);
        let is_alone = keys.len() == 1;
        let mut large = Vec::new();
        for ((key, directory), answer) in keys.into_iter().zip(directories).zip(listed.answers) {
            let (listing, rules) = match answer {
                Ok(contents) => contents,
                Err(_) => {
                    if let Some(item) = self.waiting.items.get_mut(&key) {
                        item.kind = Kind::Unreadable;
                    }
                    continue;
                }
            };
            // What the host says of that also means levels further down.
            let bytes = listing.entries.iter().map(|entry| entry.path.len());
            let is_cut =
                listing.entries.len() >= names || bytes.sum::<usize>() >= MAX_LISTING_BYTES;
            if is_cut && !is_alone {
                large.push(key);
                continue;
            }
            self.is_truncated |= is_cut;
            if let Some(Item { root, .. }) = self.waiting.remove(&key) {
                for entry in listing.entries {
                    self.add(&root, &key, &directory.path, &rules, &entry);
                }
            }
        }
        Ok(large)
    }

    /// Adds a name of a directory, if it is searched or entered.
    fn add(&mut self, root: &Rc<Root>, parent: &str, path: &Path, rules: &Rules, entry: &Entry) {
        let name = entry.path.as_str();
        let kind = match entry.kind {
            EntryKind::File => Kind::File(entry.bytes.unwrap_or(UNKNOWN_LENGTH)),
            EntryKind::Directory if entry.error.is_some() => Kind::Unreadable,
            EntryKind::Directory => Kind::Directory(rules.clone()),
            EntryKind::Symlink | EntryKind::Other => return,
        };
        if name == GIT || (name.starts_with('.') && !self.include_hidden) {
            return;
        }
        let is_directory = entry.kind == EntryKind::Directory;
        let key = format!("{parent}\0{name}");
        if !rules.exclude(path.join(name).absolute(), is_directory)
            && self.globs.choose(&root.below(&key), is_directory)
            && !self.named.contains(&key)
        {
            let root = Rc::clone(root);
            self.waiting.insert(key, Item { root, kind });
            self.is_truncated |= self.waiting.leave_out();
        }
    }
}

/// Asks the host what a path of the request is, first without following links. No byte is read.
fn probe(host: &mut impl ReadFiles, path: &Path) -> Result<(Symlinks, Kind), SkillError> {
    let mut answer = Err(FsError::Symlink);
    let mut symlinks = Symlinks::Refuse;
    for allowed in [Symlinks::Refuse, Symlinks::Follow] {
        if matches!(answer, Err(FsError::Symlink)) {
            symlinks = allowed;
            let request = ReadRequest {
                path: path.absolute().to_owned(),
                max_bytes: 0,
                overflow: Overflow::Cut,
                symlinks,
            };
            answer = host.read_file(request);
        }
    }
    let kind = match answer {
        Ok(_) => Kind::File(UNKNOWN_LENGTH),
        Err(FsError::IsDirectory) => Kind::Directory(Rules::default()),
        // Skipped, and counted.
        Err(FsError::NotAccessible | FsError::Special | FsError::Io) => Kind::Unreadable,
        // What would lie below a file does not exist.
        Err(FsError::NotDirectory) => return Err(fs_error("fs.read", path, FsError::NotFound)),
        Err(FsError::InvalidPath) => {
            let what = format!("holds {}, which cannot be searched", path.absolute());
            return Err(invalid("paths", &what));
        }
        Err(error) => return Err(fs_error("fs.read", path, error)),
    };
    Ok((symlinks, kind))
}

/// The error of an ignore file, with the way around it.
fn without_ignore(error: SkillError) -> SkillError {
    let message = format!("{}; `use_ignore` false searches without", error.message());
    error.because(&message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waiting(keys: impl Iterator<Item = String>) -> Waiting {
        let root = Rc::new(Root {
            path: Path::parse("paths", "/workspace").unwrap(),
            symlinks: Symlinks::Refuse,
        });
        let mut waiting = Waiting::default();
        for key in keys {
            let (root, kind) = (Rc::clone(&root), Kind::Unreadable);
            waiting.insert(key, Item { root, kind });
        }
        waiting
    }

    #[test]
    fn what_waits_is_bounded_in_number_and_the_last_is_left_out() {
        let mut all = waiting((0..MAX_WAITING).map(|number| format!("{number:08}")));
        assert!(!all.leave_out());
        all.insert(
            "zz".to_owned(),
            waiting(["a".to_owned()].into_iter()).pop_first().unwrap().1,
        );
        assert!(all.leave_out());
        assert_eq!(all.items.len(), MAX_WAITING);
        assert!(!all.items.contains_key("zz"));
    }

    #[test]
    fn what_waits_is_bounded_in_bytes_which_come_back_when_it_is_taken() {
        let long = |number: u32| format!("{number}{}", "x".repeat(MAX_WAITING_BYTES / 4));
        let mut all = waiting((0..3).map(long));
        assert!(!all.leave_out());
        all.pop_first().unwrap();
        all.remove(&long(1)).unwrap();
        assert_eq!(all.bytes, long(2).len());
        let mut all = waiting((0..4).map(long));
        assert!(all.leave_out());
        assert_eq!(all.items.len(), 3);
    }
}
