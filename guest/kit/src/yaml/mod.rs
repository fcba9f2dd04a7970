//! The tree of a YAML or JSON document: values with the line they stand on and the source text of scalars.
//!
//! Everything that reads YAML reads it here: front matter, skills, OpenAPI descriptions, catalogues. JSON gives the same
//! tree. A tree is a list of nodes in the order of the source; a node knows where the next one after its descendants
//! stands, and an alias points back to a node that was complete before it. Nothing is expanded while a text is read and
//! nothing recurses.
//!
//! The parser of YAML is `granit-parser`, a maintained fork of `saphyr-parser` that is linear, bounded and gives bytes.
//! What it is laxer about is refused here: a key that stands twice in one mapping, a second document, tags outside YAML's
//! core schema, cycles, halves of surrogate pairs, and what goes beyond the limits below.

mod front;
mod index;
mod json;
mod node;
mod reader;
mod scalar;

#[cfg(test)]
mod tests;

pub use front::{Entry, Style, read_front_matter};
pub use json::read as read_json;
pub use node::{Key, Node, Value};

use index::Index;
use reader::Extent;

/// Lists and maps within each other.
pub const MAX_DEPTH: usize = 128;

/// Nodes of YAML with aliases followed; of a text that is long without any alias, as many as a node for eight bytes.
pub const MAX_NODES: usize = 100_000;

/// Bytes of text of a YAML document, each alias counted as all that it stands for.
const MAX_TEXT: usize = 4 << 20;

/// Why a text is no tree. Lines are counted from 1 in the whole document.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
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
    /// A key that one mapping has twice.
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
    /// A tag outside the core schema, or one that its value does not fit.
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
    /// A second document.
    #[error("a second document begins")]
    SecondDocument {
        /// Where.
        line: u32,
    },
    /// Front matter that is a list or a scalar.
    #[error("the root is a scalar or a list and not a mapping")]
    RootIsNoMapping {
        /// Where.
        line: u32,
    },
    /// A limit.
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

impl Error {
    /// Where, counted from 1.
    #[must_use]
    pub fn line(&self) -> u32 {
        match self {
            Self::Syntax { line, .. }
            | Self::DuplicateKey { line, .. }
            | Self::KeyIsNoScalar { line }
            | Self::Tag { line, .. }
            | Self::Cycle { line }
            | Self::SecondDocument { line }
            | Self::RootIsNoMapping { line }
            | Self::Limit { line, .. } => *line,
        }
    }

    /// Whether it is a limit and not a fault of the text.
    #[must_use]
    pub fn is_limit(&self) -> bool {
        matches!(self, Self::Limit { .. })
    }

    fn too_deep(most: usize, line: u32) -> Self {
        Self::Limit {
            what: "lists and maps within each other",
            most,
            line,
        }
    }

    fn too_many_nodes(most: usize, line: u32) -> Self {
        Self::Limit {
            what: "YAML nodes with aliases followed",
            most,
            line,
        }
    }
}

/// Reads one YAML document as people write it; `first_line` is the line of the whole document on which the text begins.
///
/// # Errors
///
/// See [`Error`].
pub fn read_yaml(source: &str, first_line: u32) -> Result<Tree<'_>, Error> {
    reader::read(source, first_line, reader::Dialect::Lenient)
}

/// A document. Positions and offsets are `u32`, and a node takes 24 bytes: a description has up to 16 MiB.
#[derive(Debug)]
pub struct Tree<'a> {
    source: &'a str,
    nodes: Vec<Stored>,
    /// Texts that do not stand in the source as they are: with escapes or folding applied.
    texts: Vec<Box<str>>,
    /// Of YAML: how far each node reaches.
    extents: Vec<Extent>,
    /// How the root is written, if it is a map of YAML.
    style: Option<Style>,
    index: Index,
    /// Whether `<<` merges.
    merges: bool,
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
    fn new(source: &'a str) -> Self {
        Self {
            source,
            nodes: Vec::new(),
            texts: Vec::new(),
            extents: Vec::new(),
            style: None,
            index: Index::default(),
            merges: false,
        }
    }

    /// The root; none for an empty document.
    #[must_use]
    pub fn root(&self) -> Option<Node<'_>> {
        Node::at(self, 0)
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

    /// Adds a text that does not stand in the source.
    fn keep(&mut self, text: Box<str>) -> Text {
        self.texts.push(text);
        Text::Own(number(self.texts.len().saturating_sub(1)))
    }

    /// Adds a node without descendants.
    fn push(&mut self, kind: Kind, line: u32) {
        let next = number(self.nodes.len()).saturating_add(1);
        self.nodes.push(Stored { kind, line, next });
    }

    /// Ends the collection at a position: what was added since is in it.
    fn end(&mut self, at: usize) {
        let next = number(self.nodes.len());
        if let Some(node) = self.nodes.get_mut(at) {
            node.next = next;
        }
    }

    /// The text of the scalar at a position; none where there is a collection.
    fn scalar_text(&self, at: u32) -> Option<&str> {
        match self.nodes.get(position(at))?.kind {
            Kind::Scalar(_, text) => Some(self.text(text)),
            _ => None,
        }
    }

    fn line(&self, at: u32) -> u32 {
        self.nodes.get(position(at)).map_or(1, |node| node.line)
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

    /// The positions of the children of the node at `at`, in order: items, or keys and values by turns.
    fn children(&self, at: u32) -> impl Iterator<Item = u32> {
        let (mut next, end) = (at.saturating_add(1), self.after(at));
        std::iter::from_fn(move || {
            let child = (next < end).then_some(next)?;
            next = self.after(child);
            Some(child)
        })
    }

    /// The positions of the keys and values of the map at `at`.
    fn pairs(&self, at: u32) -> impl Iterator<Item = (u32, u32)> {
        let mut children = self.children(at);
        std::iter::from_fn(move || Some((children.next()?, children.next()?)))
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

/// The beginning of a text a stranger wrote, for a message.
fn cut(text: &str) -> String {
    const CHARACTERS: usize = 60;
    let mut cut: String = text.chars().take(CHARACTERS).collect();
    if text.chars().nth(CHARACTERS).is_some() {
        cut.push('…');
    }
    cut
}
