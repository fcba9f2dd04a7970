//! The tree of a YAML or JSON document: values with the line they stand on and the source text of scalars.
//!
//! Both readers give the same tree, so that a skill in YAML and its JSON twin are read by one code. It is a list of
//! nodes in the order of the source; a node knows where the next one after its descendants stands, and an alias
//! points back to a node that was complete before it. Nothing is expanded and nothing recurses here.
//!
//! What is refused: a key that stands twice in one mapping, a key that is no scalar, a second document, tags outside
//! YAML's core schema (K-50), and what goes beyond the limits of K-05.

mod index;
mod json;
mod node;
mod scalar;
mod yaml;

#[cfg(test)]
mod tests;

pub use json::read as read_json;
pub use node::{Node, Value};
pub use yaml::read as read_yaml;

use index::Index;

/// Bytes of text of a YAML document, each alias counted as all that it stands for. A document has 1 MiB; what
/// aliases make of it must fit into the memory of a component several times.
pub const MAX_YAML_TEXT: usize = 4 << 20;

/// Why a text is no tree. Lines are counted from 1 in the whole document.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TreeError {
    /// Not the grammar.
    #[error("not {language}: {reason}")]
    Syntax {
        /// `JSON` or `YAML`.
        language: &'static str,
        /// What the parser says.
        reason: String,
        /// Where.
        line: u32,
    },
    /// K-50
    #[error("the key {key:?} stands twice in one mapping")]
    DuplicateKey {
        /// The key's text, cut.
        key: String,
        /// Where it stands the second time.
        line: u32,
    },
    /// A list or a mapping as a key.
    #[error("a key is not a scalar")]
    KeyIsNoScalar {
        /// Where.
        line: u32,
    },
    /// K-50
    #[error("the tag {tag} is unknown or does not fit its value")]
    Tag {
        /// The tag as written, cut.
        tag: String,
        /// Where.
        line: u32,
    },
    /// An alias within the node it names.
    #[error("an alias names a value that contains it")]
    Cycle {
        /// Where.
        line: u32,
    },
    /// K-50
    #[error("a second document begins")]
    SecondDocument {
        /// Where.
        line: u32,
    },
    /// K-05
    #[error("more than {most} {what}")]
    Limit {
        /// What there is too much of.
        what: &'static str,
        /// How much there may be.
        most: usize,
        /// Where it was noticed.
        line: u32,
    },
}

impl TreeError {
    /// Where, counted from 1.
    pub fn line(&self) -> u32 {
        match self {
            Self::Syntax { line, .. }
            | Self::DuplicateKey { line, .. }
            | Self::KeyIsNoScalar { line }
            | Self::Tag { line, .. }
            | Self::Cycle { line }
            | Self::SecondDocument { line }
            | Self::Limit { line, .. } => *line,
        }
    }

    /// Whether it is a limit (code `limit`) and not a fault of the text (`json`, `yaml`).
    pub fn is_limit(&self) -> bool {
        matches!(self, Self::Limit { .. })
    }
}

/// A document. Positions and offsets are `u32`: a document has at most 1 MiB (K-05).
#[derive(Debug)]
pub struct Tree<'a> {
    source: &'a str,
    nodes: Vec<Stored>,
    /// Texts that do not stand in the source as they are: with escapes or folding applied.
    texts: Vec<Box<str>>,
    index: Index,
    /// Whether it is YAML, where `<<` merges.
    is_yaml: bool,
}

/// One node.
#[derive(Debug, Clone, Copy)]
struct Stored {
    kind: Kind,
    /// The line it begins on (a block scalar: its text), counted from 1 in the whole document.
    line: u32,
    /// The position after its last descendant.
    next: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Scalar(Scalar, Text),
    List,
    Map,
    /// The node that it stands for, which is never an alias itself.
    Alias(u32),
}

/// What a scalar is by the core schema (YAML 1.2.2, 10.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scalar {
    Null,
    Bool(bool),
    Integer,
    Number,
    Text,
}

/// Where a text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Text {
    /// Bytes of the source.
    Source { start: u32, end: u32 },
    /// A number of `texts`.
    Own(u32),
}

impl<'a> Tree<'a> {
    /// The root; none for an empty document.
    pub fn root(&self) -> Option<Node<'_>> {
        Node::at(self, 0)
    }

    /// Checks the keys of all mappings and makes them findable.
    fn new(
        source: &'a str,
        nodes: Vec<Stored>,
        texts: Vec<Box<str>>,
        is_yaml: bool,
    ) -> Result<Self, TreeError> {
        let mut tree = Self {
            source,
            nodes,
            texts,
            index: Index::default(),
            is_yaml,
        };
        tree.index = Index::new(&tree)?;
        Ok(tree)
    }

    fn text(&self, text: Text) -> &str {
        match text {
            Text::Source { start, end } => {
                let range = position(start)..position(end);
                self.source.get(range).unwrap_or_default()
            }
            Text::Own(number) => self
                .texts
                .get(position(number))
                .map(AsRef::as_ref)
                .unwrap_or_default(),
        }
    }

    /// The text of the scalar at a position; none where there is a collection.
    fn scalar_text(&self, at: u32) -> Option<&str> {
        match self.nodes.get(position(at))?.kind {
            Kind::Scalar(_, text) => Some(self.text(text)),
            _ => None,
        }
    }

    /// The position of the node that the one at `at` stands for.
    fn resolve(&self, at: u32) -> u32 {
        match self.nodes.get(position(at)).map(|node| node.kind) {
            Some(Kind::Alias(target)) => target,
            _ => at,
        }
    }

    /// The position after the last descendant of the node at `at`.
    fn after(&self, at: u32) -> u32 {
        let after = at.saturating_add(1);
        self.nodes
            .get(position(at))
            .map_or(after, |node| node.next.max(after))
    }

    /// The positions of the children of the node at `at`.
    fn children(&self, at: u32) -> Children<'_> {
        Children {
            tree: self,
            position: at.saturating_add(1),
            end: self.after(at),
        }
    }
}

/// The positions of the children of a collection, in order: items, or keys and values by turns.
#[derive(Debug, Clone)]
pub struct Children<'t> {
    tree: &'t Tree<'t>,
    position: u32,
    end: u32,
}

impl Iterator for Children<'_> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        let child = (self.position < self.end).then_some(self.position)?;
        self.position = self.tree.after(child);
        Some(child)
    }
}

/// A position or an offset as an index.
fn position(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// An index as a position or an offset; beyond 4 GiB, which no document reaches, a number that names nothing.
fn number(position: usize) -> u32 {
    u32::try_from(position).unwrap_or(u32::MAX)
}

/// The beginning of a text a stranger wrote, for a message (K-38).
fn cut(text: &str) -> String {
    const CHARACTERS: usize = 60;
    let mut cut: String = text.chars().take(CHARACTERS).collect();
    if text.chars().nth(CHARACTERS).is_some() {
        cut.push('…');
    }
    cut
}
