//! A parsed document: nodes in the order of the source, and the ways to look at them.
//!
//! The children of the node at `i` are `i + 1`, then the `next` of that one, and so on up to the `next` of
//! `i` itself. Aliases point back to a node that was complete before them, so following one never loops.

use std::{borrow::Cow, ops::Range};

use super::{MAX_DEPTH, MAX_NODES, YamlError};

/// A document whose root is a mapping. Borrows from its source where the text stands there as it is.
#[derive(Debug, Clone)]
pub struct Yaml<'a> {
    pub(super) nodes: Vec<Node<'a>>,
    /// The root mapping; none when the document is empty or null.
    pub(super) root: Option<usize>,
}

#[derive(Debug, Clone)]
pub(super) struct Node<'a> {
    pub(super) kind: Kind<'a>,
    /// Where it begins, its tag and anchor included.
    pub(super) start: usize,
    /// Where its last token ends, its tag and anchor being tokens; 0 for a node without any.
    pub(super) end: usize,
    /// The position after its last descendant.
    pub(super) next: usize,
    /// Nodes that it expands to, itself included.
    pub(super) size: usize,
    /// Collections within each other that it expands to; 0 for a scalar.
    pub(super) height: usize,
}

#[derive(Debug, Clone)]
pub(super) enum Kind<'a> {
    Scalar {
        text: Cow<'a, str>,
        null: bool,
    },
    Sequence,
    Mapping(Style),
    /// The node that it stands for, which is never an alias itself.
    Alias(usize),
}

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

/// What a node says once aliases are followed.
#[derive(Debug, Clone)]
pub enum Value<'t> {
    /// Y-02: plain and empty, `~`, `null`, `Null` or `NULL`; or `!!null`.
    Null,
    /// Any other scalar's text, with quotes, escapes and folding applied.
    Text(&'t str),
    /// A sequence.
    Sequence(Items<'t>),
    /// A mapping.
    Mapping,
}

/// One item of a sequence.
#[derive(Debug, Clone)]
pub struct Item<'t> {
    /// Which node of the source it is: items that are aliases of one node share it.
    pub node: usize,
    /// What it says.
    pub value: Value<'t>,
}

/// One key of the root and its value, as ranges of bytes of the source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The key, its tag and anchor included.
    pub key: Range<usize>,
    /// The value, its tag and anchor included, up to the end of its last token.
    pub value: Range<usize>,
}

/// The items of a sequence, in order.
#[derive(Debug, Clone)]
pub struct Items<'t> {
    nodes: &'t [Node<'t>],
    position: usize,
    end: usize,
}

impl<'t> Iterator for Items<'t> {
    type Item = Item<'t>;

    fn next(&mut self) -> Option<Item<'t>> {
        if self.position >= self.end {
            return None;
        }
        let node = resolve(self.nodes, self.position);
        let item = Item {
            node,
            value: value(self.nodes, node),
        };
        self.position = next(self.nodes, self.position);
        Some(item)
    }
}

impl<'a> Yaml<'a> {
    /// The value of a key of the root; `Null` and absent are different.
    #[must_use]
    pub fn get<'t>(&'t self, key: &str) -> Option<Value<'t>> {
        let (_, position) = self.find(key)?;
        Some(value(&self.nodes, resolve(&self.nodes, position)))
    }

    /// Where a key of the root and its value stand.
    #[must_use]
    pub fn entry(&self, key: &str) -> Option<Entry> {
        let (key, value) = self.find(key)?;
        let range = |position: usize| {
            let node = self.nodes.get(position)?;
            Some(node.start..node.end.max(node.start))
        };
        Some(Entry {
            key: range(key)?,
            value: range(value)?,
        })
    }

    /// How the root is written; none when the document is empty or null.
    #[must_use]
    pub fn style(&self) -> Option<Style> {
        match self.nodes.get(self.root?)?.kind {
            Kind::Mapping(style) => Some(style),
            _ => None,
        }
    }

    /// Whether an alias outside all of `ranges` stands for a node inside one of them.
    #[must_use]
    pub fn is_referred_to(&self, ranges: &[Range<usize>]) -> bool {
        let inside = |position: usize| {
            self.nodes
                .get(position)
                .is_some_and(|node| ranges.iter().any(|range| range.contains(&node.start)))
        };
        self.nodes
            .iter()
            .enumerate()
            .any(|(position, node)| match node.kind {
                Kind::Alias(target) => inside(target) && !inside(position),
                _ => false,
            })
    }

    /// Y-10, Y-11: what the values of `used` expand to, together.
    pub(super) fn check_expansion(&self, used: &[&str]) -> Result<(), YamlError> {
        let values = used.iter().filter_map(|key| self.find(key));
        let mut visited = 0_usize;
        for (_, position) in values {
            if let Some(node) = self.nodes.get(position) {
                visited = visited.saturating_add(node.size);
                if node.height.saturating_add(1) > MAX_DEPTH {
                    return Err(YamlError::TooDeep);
                }
            }
        }
        if visited > MAX_NODES {
            return Err(YamlError::TooManyNodes);
        }
        Ok(())
    }

    /// The positions of a key of the root and of its value. Y-04: an alias counts by its target.
    fn find(&self, key: &str) -> Option<(usize, usize)> {
        self.pairs(self.root?).find(|(position, _)| {
            matches!(
                self.nodes.get(resolve(&self.nodes, *position)).map(|node| &node.kind),
                Some(Kind::Scalar { text, .. }) if text == key
            )
        })
    }

    /// The positions of the keys and values of a mapping.
    pub(super) fn pairs(&self, mapping: usize) -> impl Iterator<Item = (usize, usize)> {
        let mut children = self.children(mapping);
        std::iter::from_fn(move || Some((children.next()?, children.next()?)))
    }

    /// The positions of what stands directly in a collection.
    pub(super) fn children(&self, collection: usize) -> impl Iterator<Item = usize> {
        let end = next(&self.nodes, collection);
        let mut position = collection.saturating_add(1);
        std::iter::from_fn(move || {
            let child = position;
            position = next(&self.nodes, child);
            (child < end).then_some(child)
        })
    }
}

/// The position of the node that the one at `position` stands for.
pub(super) fn resolve(nodes: &[Node<'_>], position: usize) -> usize {
    match nodes.get(position).map(|node| &node.kind) {
        Some(Kind::Alias(target)) => *target,
        _ => position,
    }
}

/// The position after the last descendant of the node at `position`.
fn next(nodes: &[Node<'_>], position: usize) -> usize {
    let after = position.saturating_add(1);
    nodes
        .get(position)
        .map_or(after, |node| node.next.max(after))
}

fn value<'t>(nodes: &'t [Node<'t>], position: usize) -> Value<'t> {
    match nodes.get(position).map(|node| &node.kind) {
        Some(Kind::Scalar { text, null: false }) => Value::Text(text),
        Some(Kind::Sequence) => Value::Sequence(Items {
            nodes,
            position: position.saturating_add(1),
            end: next(nodes, position),
        }),
        Some(Kind::Mapping(_)) => Value::Mapping,
        Some(Kind::Scalar { null: true, .. } | Kind::Alias(_)) | None => Value::Null,
    }
}
