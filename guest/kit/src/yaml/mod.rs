//! YAML front matter (§9), read from events and never typed: a scalar is its text.
//!
//! The parser below is `granit-parser`, a maintained fork of `saphyr-parser`. The original spends quadratic
//! time on nested flow collections, has no nesting limit, lets control characters and directives through
//! and gives positions in characters only; the fork is linear, bounded, strict about indentation and gives
//! bytes. What both are laxer about than the specification is checked here: tags, duplicate keys, cycles,
//! surrogate escapes, tabs before the first key, the number of nodes and what aliases expand to.
//!
//! Nothing here recurses: a document is a list of nodes in the order of the source, and a node knows where
//! the next one after its descendants stands.

mod json;
mod keys;
mod reader;
mod tag;
mod tree;

#[cfg(test)]
mod tests;

pub use json::to_json;
pub use tree::{Entry, Item, Items, Style, Value, Yaml};

/// L-05: nodes of the source, and nodes visited while the used values are expanded.
pub const MAX_NODES: usize = 100_000;

/// L-05: collections within each other, the root mapping being the first.
pub const MAX_DEPTH: usize = 64;

/// Why front matter is no mapping that can be used; to a document each of these is `PARSE_ERROR`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum YamlError {
    /// Not YAML 1.2.
    #[error("not YAML 1.2 at line {line}, column {column} of the front matter")]
    Syntax {
        /// Counted from 1, within the front matter.
        line: usize,
        /// Counted from 1, in characters.
        column: usize,
    },
    /// Y-01
    #[error("a second document begins")]
    SecondDocument,
    /// H-24
    #[error("the root is a scalar or a sequence and not a mapping")]
    RootIsNoMapping,
    /// Y-04
    #[error("the key {key:?} stands twice in one mapping")]
    DuplicateKey {
        /// The key's text.
        key: String,
    },
    /// Y-05
    #[error("the tag {tag} is unknown or does not fit its node")]
    Tag {
        /// The tag as written.
        tag: String,
    },
    /// Y-06
    #[error("an alias names a node that contains it")]
    Cycle,
    /// Only of [`to_json`].
    #[error("an alias, which is not allowed here")]
    Alias,
    /// Only of [`to_json`].
    #[error("a key is no text")]
    Key,
    /// Y-10
    #[error("more than {MAX_NODES} nodes")]
    TooManyNodes,
    /// Y-11
    #[error("collections nested more than {MAX_DEPTH} deep")]
    TooDeep,
}

/// Reads front matter; `used` are the keys of the root whose values will be looked at.
///
/// Everything is parsed and checked, but only what the used values expand to counts against the budgets of
/// expansion: an alias bomb under another key is harmless (Y-10). Empty and null front matter is an empty
/// mapping (H-23).
///
/// # Errors
///
/// See [`YamlError`].
pub fn parse<'a>(text: &'a str, used: &[&str]) -> Result<Yaml<'a>, YamlError> {
    let yaml = reader::read(text)?;
    keys::refuse_duplicates(&yaml)?;
    yaml.check_expansion(used)?;
    Ok(yaml)
}
