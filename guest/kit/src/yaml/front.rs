//! Front matter of documents that are hydrated: YAML 1.2 to the letter, of which some values are used.
//!
//! Everything is parsed and checked, but only what the used values expand to counts against the limits of expansion: an
//! alias bomb under another key is harmless. A document that is written again needs to know where its values stand.

use std::ops::Range;

use super::reader::{self, Dialect};
use super::{Error, Kind, MAX_NODES, Tree, number, position};

/// Lists and maps within each other, the root being the first.
pub(super) const MAX_DEPTH: usize = 64;

/// How the root mapping is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// `key: value`, line by line.
    Block {
        /// Where its keys begin, in characters from the beginning of the line.
        column: usize,
    },
    /// `{key: value}`
    Flow,
}

/// One key of the root and its value, as ranges of bytes of the source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The key, its tag and anchor included.
    pub key: Range<usize>,
    /// The value, its tag and anchor included, up to the end of its last token.
    pub value: Range<usize>,
}

/// Reads front matter; `used` are the keys of the root whose values will be looked at. Where it is empty or null, the tree
/// has no root.
///
/// # Errors
///
/// See [`Error`].
pub fn read_front_matter<'a>(text: &'a str, used: &[&str]) -> Result<Tree<'a>, Error> {
    let mut tree = reader::read(text, 1, Dialect::FrontMatter)?;
    match tree.root() {
        Some(root) if root.is_null() => tree.nodes.clear(),
        Some(root) if !root.is_map() => return Err(Error::RootIsNoMapping { line: root.line() }),
        _ => {}
    }
    tree.check_expansion(used)?;
    Ok(tree)
}

impl Tree<'_> {
    /// What the values of `used` expand to, together.
    fn check_expansion(&self, used: &[&str]) -> Result<(), Error> {
        let mut nodes = 0_usize;
        for (_, at) in used.iter().filter_map(|key| self.find(key)) {
            let Some(extent) = self.extents.get(position(at)) else {
                continue;
            };
            let line = self.line(at);
            nodes = nodes.saturating_add(extent.nodes);
            if extent.height >= MAX_DEPTH {
                return Err(Error::too_deep(MAX_DEPTH, line));
            }
            if nodes > MAX_NODES {
                return Err(Error::too_many_nodes(MAX_NODES, line));
            }
        }
        Ok(())
    }

    /// The positions of a key of the root and of its value; an alias counts by its target.
    fn find(&self, key: &str) -> Option<(u32, u32)> {
        self.pairs(0)
            .find(|(at, _)| self.scalar_text(self.resolve(*at)) == Some(key))
    }

    /// Where a key of the root and its value stand.
    #[must_use]
    pub fn entry(&self, key: &str) -> Option<Entry> {
        let (key, value) = self.find(key)?;
        let range = |at: u32| {
            let extent = self.extents.get(position(at))?;
            Some(position(extent.start)..position(extent.end.max(extent.start)))
        };
        Some(Entry {
            key: range(key)?,
            value: range(value)?,
        })
    }

    /// How the root is written; none when there is none.
    #[must_use]
    pub fn style(&self) -> Option<Style> {
        self.style
    }

    /// Whether an alias outside all of `ranges` stands for a node inside one of them.
    #[must_use]
    pub fn is_referred_to(&self, ranges: &[Range<usize>]) -> bool {
        let inside = |at: u32| {
            let start = self.extents.get(position(at)).map(|extent| extent.start);
            start.is_some_and(|start| ranges.iter().any(|range| range.contains(&position(start))))
        };
        (0..).zip(&self.nodes).any(|(at, node)| match node.kind {
            Kind::Alias(target) => inside(target) && !inside(number(at)),
            _ => false,
        })
    }
}
