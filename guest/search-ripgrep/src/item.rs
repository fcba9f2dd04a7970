//! What the walk still has before it: a file, a directory, or something that cannot be read.

use std::cmp::Ordering;
use std::rc::Rc;

use kit::host::fs_read::Symlinks;
use kit::path::Path;

use crate::ignore_file::Rules;

/// A directory, and what holds for the names in it.
#[derive(Debug)]
pub(crate) struct Directory {
    pub(crate) path: Path,
    /// Of its own ignore files and of those above it.
    pub(crate) rules: Rules,
    /// A link on the way to it was named in the request, and may be followed.
    pub(crate) symlinks: Symlinks,
    /// Bytes of the path of the request that leads to it and the `/` behind it: globs see what follows.
    pub(crate) glob_prefix: usize,
}

/// What kind of thing an item is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A regular file, and its length in bytes as far as it is known.
    File { bytes: Option<u64> },
    /// A directory that was not listed yet.
    Directory,
    /// A directory that has too many names to be listed together with others.
    LargeDirectory,
    /// A file or directory that cannot be opened.
    Unreadable,
}

/// One file or directory.
#[derive(Debug)]
pub(crate) struct Item {
    place: Place,
    pub(crate) kind: Kind,
}

#[derive(Debug)]
enum Place {
    /// A path of the request; the rules are those of the directories above it.
    Named(Directory),
    /// A name in a directory that was listed. Paths are put together when they are needed: there may be many.
    Listed(Rc<Directory>, Box<str>),
}

impl Item {
    /// A path of the request.
    pub(crate) fn named(directory: Directory, kind: Kind) -> Self {
        let place = Place::Named(directory);
        Self { place, kind }
    }

    /// A name in a directory.
    pub(crate) fn listed(directory: &Rc<Directory>, name: String, kind: Kind) -> Self {
        let place = Place::Listed(Rc::clone(directory), name.into_boxed_str());
        Self { place, kind }
    }

    pub(crate) fn is_named(&self) -> bool {
        matches!(self.place, Place::Named(_))
    }

    pub(crate) fn is_directory(&self) -> bool {
        matches!(self.kind, Kind::Directory | Kind::LargeDirectory)
    }

    pub(crate) fn path(&self) -> Path {
        match &self.place {
            Place::Named(directory) => directory.path.clone(),
            Place::Listed(directory, name) => directory.path.join(name),
        }
    }

    pub(crate) fn symlinks(&self) -> Symlinks {
        match &self.place {
            Place::Named(directory) => directory.symlinks,
            Place::Listed(directory, _) => directory.symlinks,
        }
    }

    /// Bytes of a path below it that globs do not see.
    pub(crate) fn glob_prefix(&self) -> usize {
        match &self.place {
            Place::Named(directory) => directory.glob_prefix,
            Place::Listed(directory, _) => directory.glob_prefix,
        }
    }

    /// The rules of the directories above it.
    pub(crate) fn rules(&self) -> &Rules {
        match &self.place {
            Place::Named(directory) => &directory.rules,
            Place::Listed(directory, _) => &directory.rules,
        }
    }

    /// Its path from `directory`; empty for what is not below it.
    pub(crate) fn path_from(&self, directory: &Path) -> &str {
        match &self.place {
            Place::Named(named) => below(&named.path, directory).unwrap_or_default(),
            Place::Listed(_, name) => name,
        }
    }

    /// Whether it is named in the request and lies below `directory`.
    pub(crate) fn is_named_below(&self, directory: &Path) -> bool {
        match &self.place {
            Place::Named(named) => below(&named.path, directory).is_some(),
            Place::Listed(..) => false,
        }
    }

    /// Bytes of memory, about.
    pub(crate) fn weight(&self) -> usize {
        let text = match &self.place {
            Place::Named(directory) => directory.path.absolute().len(),
            Place::Listed(_, name) => name.len(),
        };
        text.saturating_add(2 * size_of::<Self>())
    }
}

fn below<'a>(path: &'a Path, directory: &Path) -> Option<&'a str> {
    path.absolute()
        .strip_prefix(directory.absolute())?
        .strip_prefix('/')
}

/// The order of answers: segment by segment, by bytes.
pub(crate) fn compare_paths(one: &str, other: &str) -> Ordering {
    one.split('/').cmp(other.split('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_compared_segment_by_segment() {
        let mut paths = ["/a-b/c", "/a/z", "/a.c", "/a", "/a/b/c", "/B"];
        paths.sort_by(|one, other| compare_paths(one, other));
        assert_eq!(paths, ["/B", "/a", "/a/b/c", "/a/z", "/a-b/c", "/a.c"]);
    }
}
