//! Listing directories, many in one hostcall: their ignore files are read, and the names that are searched are kept.

use std::rc::Rc;

use kit::SkillError;
use kit::host::ReadFiles;
use kit::host::fs_read::{Entry, EntryKind, Listing, TreeRequest};
use kit::path::Path;

use crate::filter::{Filter, GIT};
use crate::ignore_file::{IgnoreFile, Located, Rank, Reader};
use crate::item::{Directory, Item, Kind};
use crate::work::Work;

/// Names of all directories that are listed in one hostcall.
const NAMES_AT_ONCE: usize = 100_000;

/// Bytes of names after which the host ends a listing.
const MAX_LISTING_BYTES: usize = 16 * 1024 * 1024;

/// What came of listing a directory.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// What is searched of it, in order.
    Listed {
        directory: Rc<Directory>,
        items: Vec<Item>,
        /// It holds more than one listing may.
        truncated: bool,
    },
    /// It has to be listed alone.
    Large,
    /// It cannot be read.
    Unreadable,
}

/// Lists directories one level deep.
#[derive(Debug)]
pub(crate) struct Lister<'a> {
    filter: &'a Filter,
    /// None: ignore files are not obeyed.
    ignore_files: Option<Reader>,
    include_hidden: bool,
}

impl<'a> Lister<'a> {
    pub(crate) fn new(filter: &'a Filter, ignore_files: Option<Reader>) -> Self {
        Self {
            filter,
            // Ignore files are hidden names.
            include_hidden: filter.includes_hidden() || ignore_files.is_some(),
            ignore_files,
        }
    }

    /// Lists `directories`; as many answers, in their order. None if that is more than the work allows.
    ///
    /// # Errors
    /// Those of the ignore files.
    pub(crate) fn list(
        &mut self,
        host: &mut impl ReadFiles,
        work: &mut Work,
        directories: &[&Item],
    ) -> Result<Option<Vec<Outcome>>, SkillError> {
        if !work.take_lookups(directories.len()) {
            return Ok(None);
        }
        let most = NAMES_AT_ONCE.checked_div(directories.len()).unwrap_or(1);
        let paths: Vec<Path> = directories.iter().map(|item| item.path()).collect();
        let requests: Vec<_> = paths
            .iter()
            .map(|path| TreeRequest {
                root: path.absolute().to_owned(),
                max_entries: u32::try_from(most).unwrap_or(u32::MAX),
                max_depth: 1,
                include_hidden: self.include_hidden,
            })
            .collect();
        let answers = host.tree(&requests);
        let Some(mut own) = self.own_ignore_files(host, work, directories, &paths, &answers)?
        else {
            return Ok(None);
        };
        let mut outcomes = Vec::with_capacity(answers.len());
        for (at, ((item, path), answer)) in directories.iter().zip(paths).zip(answers).enumerate() {
            let Ok(listing) = answer else {
                outcomes.push(Outcome::Unreadable);
                continue;
            };
            let truncated = is_cut(&listing, most);
            if truncated && directories.len() > 1 {
                outcomes.push(Outcome::Large);
                continue;
            }
            let own = own.get_mut(at).map(std::mem::take).unwrap_or_default();
            let directory = Rc::new(Directory {
                rules: item.rules().with(own, &path)?,
                symlinks: item.symlinks(),
                glob_prefix: item.glob_prefix(),
                path,
            });
            outcomes.push(Outcome::Listed {
                items: self.items(&directory, listing.entries),
                directory,
                truncated,
            });
        }
        Ok(Some(outcomes))
    }

    /// The ignore files of each directory; none if that is more than the work allows.
    fn own_ignore_files(
        &mut self,
        host: &mut impl ReadFiles,
        work: &mut Work,
        directories: &[&Item],
        paths: &[Path],
        answers: &[Result<Listing, kit::host::fs_read::FsError>],
    ) -> Result<Option<Vec<Vec<IgnoreFile>>>, SkillError> {
        let mut own: Vec<Vec<IgnoreFile>> = Vec::new();
        own.resize_with(directories.len(), Vec::new);
        let Some(reader) = &mut self.ignore_files else {
            return Ok(Some(own));
        };
        let mut owners = Vec::new();
        let mut located = Vec::new();
        for (at, ((item, path), answer)) in directories.iter().zip(paths).zip(answers).enumerate() {
            let entries = answer.iter().flat_map(|listing| &listing.entries);
            for rank in entries.filter_map(ignore_file) {
                owners.push(at);
                located.push(Located {
                    directory: path.clone(),
                    rank,
                    symlinks: item.symlinks(),
                });
            }
        }
        if !work.take_lookups(located.len()) {
            return Ok(None);
        }
        for (owner, file) in owners.into_iter().zip(reader.read(host, &located)?) {
            if let (Some(own), Some(file)) = (own.get_mut(owner), file) {
                own.push(file);
            }
        }
        Ok(Some(own))
    }

    /// The names of a directory that are searched.
    fn items(&self, directory: &Rc<Directory>, entries: Vec<Entry>) -> Vec<Item> {
        let mut path = format!("{}/", directory.path.absolute());
        let prefix = path.len();
        let mut items = Vec::new();
        for entry in entries {
            let is_directory = entry.kind == EntryKind::Directory;
            let kind = match entry.kind {
                EntryKind::File => Kind::File { bytes: entry.bytes },
                EntryKind::Directory if entry.error.is_some() => Kind::Unreadable,
                EntryKind::Directory => Kind::Directory,
                EntryKind::Symlink | EntryKind::Other => continue,
            };
            if self.filter.hides(&entry.path) {
                continue;
            }
            path.truncate(prefix);
            path.push_str(&entry.path);
            if self.filter.passes(directory, &path, is_directory) {
                items.push(Item::listed(directory, entry.path, kind));
            }
        }
        items
    }
}

/// Which ignore file a name is, or leads to.
fn ignore_file(entry: &Entry) -> Option<Rank> {
    match entry.kind {
        EntryKind::Directory if entry.path == GIT => Some(Rank::Exclude),
        EntryKind::File => Rank::ALL.into_iter().find(|rank| rank.path() == entry.path),
        _ => None,
    }
}

/// Whether names are missing. What the host says of that also means levels further down.
fn is_cut(listing: &Listing, most: usize) -> bool {
    let bytes = listing.entries.iter().map(|entry| entry.path.len());
    listing.entries.len() >= most || bytes.sum::<usize>() >= MAX_LISTING_BYTES
}
