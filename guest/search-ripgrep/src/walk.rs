//! The files to search, in the order of the answer, found level by level and only as far as they are needed.
//!
//! What was not looked at yet stands on a stack, in order, the next on top. A directory on top is replaced by what
//! it holds, and with it, in the same hostcall, some of the directories that follow. So an ignored directory is
//! never entered, a search that ends early lists little, and memory is bounded whatever the tree looks like.

use kit::SkillError;
use kit::host::ReadFiles;
use kit::path::Path;

use crate::item::{Item, Kind, compare_paths};
use crate::listing::{Lister, Outcome};
use crate::work::Work;

/// Directories that are listed in one hostcall: at first, and at most.
const FIRST_AT_ONCE: usize = 4;
const MOST_AT_ONCE: usize = 256;

/// Items that are looked through for more directories to list.
const LOOK_AHEAD: usize = 4_096;

/// Bytes of items that may wait; then the last in order are given up.
const MAX_WAITING_BYTES: usize = 64 * 1024 * 1024;

/// How much a batch of files may be.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BatchLimits {
    pub(crate) files: usize,
    /// Bytes of all files but the first.
    pub(crate) bytes: u64,
}

/// The files that are still to be searched.
#[derive(Debug)]
pub(crate) struct Walk<'a> {
    lister: Lister<'a>,
    /// In order, the next one last.
    waiting: Vec<Item>,
    waiting_bytes: usize,
    at_once: usize,
    truncated: bool,
}

/// An item from the top of the stack.
struct Taken {
    item: Item,
    /// It is a directory to list now.
    listed: bool,
}

impl<'a> Walk<'a> {
    /// Begins at the paths of the request, in order.
    pub(crate) fn new(lister: Lister<'a>, named: Vec<Item>) -> Self {
        let mut walk = Self {
            lister,
            waiting: Vec::new(),
            waiting_bytes: 0,
            at_once: FIRST_AT_ONCE,
            truncated: false,
        };
        walk.push_all(named);
        walk
    }

    /// Something was left out because there was too much of it.
    pub(crate) fn is_truncated(&self) -> bool {
        self.truncated
    }

    /// The next files, and what cannot be read, in order; empty at the end.
    ///
    /// # Errors
    /// Those of the ignore files.
    pub(crate) fn next_batch(
        &mut self,
        host: &mut impl ReadFiles,
        work: &mut Work,
        limits: BatchLimits,
    ) -> Result<Vec<Item>, SkillError> {
        let mut batch = Vec::new();
        let mut bytes_left = limits.bytes;
        while batch.len() < limits.files
            && let Some(item) = self.pop()
        {
            if item.is_directory() {
                self.push(item);
                self.list(host, work)?;
                continue;
            }
            let bytes = match item.kind {
                Kind::File { bytes } => bytes.unwrap_or(u64::MAX),
                _ => 0,
            };
            if bytes > bytes_left && !batch.is_empty() {
                self.push(item);
                break;
            }
            bytes_left = bytes_left.saturating_sub(bytes);
            batch.push(item);
        }
        Ok(batch)
    }

    /// Replaces the directory on top, and some that follow, by what they hold.
    fn list(&mut self, host: &mut impl ReadFiles, work: &mut Work) -> Result<(), SkillError> {
        let window = self.take_window();
        let directories: Vec<_> = window
            .iter()
            .filter(|taken| taken.listed)
            .map(|taken| &taken.item)
            .collect();
        let Some(outcomes) = self.lister.list(host, work, &directories)? else {
            self.waiting.clear();
            self.truncated = true;
            return Ok(());
        };
        self.at_once = self.at_once.saturating_mul(2).min(MOST_AT_ONCE);
        let items = self.replace(window, outcomes);
        self.push_all(items);
        self.bound_memory();
        Ok(())
    }

    /// Takes items from the top, and chooses directories among them to list. A path of the request that lies
    /// below one of these waits for what the directory above it holds.
    fn take_window(&mut self) -> Vec<Taken> {
        let mut window: Vec<Taken> = Vec::new();
        let mut chosen: Vec<Path> = Vec::new();
        while let Some(item) = self.pop() {
            let alone = item.kind == Kind::LargeDirectory;
            let full = chosen.len() >= self.at_once || window.len() >= LOOK_AHEAD;
            let waits = item.is_named() && chosen.iter().any(|path| item.is_named_below(path));
            if !waits && (full || (alone && !window.is_empty())) {
                self.push(item);
                break;
            }
            let listed = item.is_directory() && !waits;
            if listed {
                chosen.push(item.path());
            }
            window.push(Taken { item, listed });
            if alone {
                break;
            }
        }
        window
    }

    /// The items of a window, directories that were listed replaced by what they hold.
    fn replace(&mut self, window: Vec<Taken>, outcomes: Vec<Outcome>) -> Vec<Item> {
        let mut outcomes = outcomes.into_iter();
        let mut window = window.into_iter().peekable();
        let mut items = Vec::with_capacity(window.len());
        while let Some(Taken { mut item, listed }) = window.next() {
            if !listed {
                items.push(item);
                continue;
            }
            match outcomes.next() {
                Some(Outcome::Listed {
                    directory,
                    items: mut below,
                    truncated,
                }) => {
                    self.truncated |= truncated;
                    let mut named = Vec::new();
                    while let Some(taken) =
                        window.next_if(|taken| taken.item.is_named_below(&directory.path))
                    {
                        named.push(taken.item);
                    }
                    merge(&mut below, named, &directory.path);
                    items.append(&mut below);
                }
                Some(Outcome::Large) => {
                    item.kind = Kind::LargeDirectory;
                    items.push(item);
                }
                Some(Outcome::Unreadable) | None => {
                    item.kind = Kind::Unreadable;
                    items.push(item);
                }
            }
        }
        items
    }

    fn push(&mut self, item: Item) {
        self.waiting_bytes = self.waiting_bytes.saturating_add(item.weight());
        self.waiting.push(item);
    }

    fn push_all(&mut self, items: Vec<Item>) {
        items.into_iter().rev().for_each(|item| self.push(item));
    }

    fn pop(&mut self) -> Option<Item> {
        let item = self.waiting.pop()?;
        self.waiting_bytes = self.waiting_bytes.saturating_sub(item.weight());
        Some(item)
    }

    /// Gives the last items in order up when too many wait.
    fn bound_memory(&mut self) {
        if self.waiting_bytes <= MAX_WAITING_BYTES {
            return;
        }
        let mut bytes = self.waiting_bytes;
        let last = self.waiting.iter().take_while(|item| {
            bytes = bytes.saturating_sub(item.weight());
            bytes > MAX_WAITING_BYTES / 2
        });
        let last = last.count();
        self.waiting.drain(..last);
        self.waiting_bytes = self.waiting.iter().map(Item::weight).sum();
        self.truncated = true;
    }
}

/// Adds the paths of the request that lie below `directory` to what is searched of it. They are searched whatever
/// the rules say, and once.
fn merge(items: &mut Vec<Item>, named: Vec<Item>, directory: &Path) {
    if named.is_empty() {
        return;
    }
    items.retain(|item| {
        let path = item.path_from(directory);
        named.iter().all(|named| named.path_from(directory) != path)
    });
    items.extend(named);
    items.sort_by(|one, other| compare_paths(one.path_from(directory), other.path_from(directory)));
}
