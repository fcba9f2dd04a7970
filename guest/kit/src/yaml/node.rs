//! Looking at a tree: nodes with aliases followed.

use serde_json::Map;

use super::{Index, Kind, Scalar, Stored, Tree, scalar};

/// One value of a document. It is a small handle, to be copied.
#[derive(Debug, Clone, Copy)]
pub struct Node<'t> {
    tree: &'t Tree<'t>,
    /// Never that of an alias.
    position: u32,
    stored: Stored,
    /// Where it is used: the line of the alias, if it came by one.
    line: u32,
}

/// What a value says.
#[derive(Debug, Clone)]
pub enum Value<'t> {
    /// Nothing.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// The source text of an integer.
    Integer(&'t str),
    /// The source text of a number that is not written as an integer.
    Number(&'t str),
    /// A string.
    Text(&'t str),
    /// A list; see [`Node::items`].
    List,
    /// A map; see [`Node::entries`] and [`Node::get`].
    Map,
}

impl<'t> Node<'t> {
    pub(super) fn at(tree: &'t Tree<'t>, position: u32) -> Option<Self> {
        let line = tree.nodes.get(super::position(position))?.line;
        let position = tree.resolve(position);
        Some(Self {
            tree,
            position,
            stored: *tree.nodes.get(super::position(position))?,
            line,
        })
    }

    /// The line it begins on, counted from 1 in the whole document: of a block scalar, where its text does.
    #[must_use]
    pub fn line(&self) -> u32 {
        self.line
    }

    /// A number of this value in its document: equal for all aliases of one value.
    #[must_use]
    pub fn identity(&self) -> u32 {
        self.position
    }

    /// What it says.
    #[must_use]
    pub fn value(&self) -> Value<'t> {
        match self.stored.kind {
            Kind::List => Value::List,
            Kind::Map => Value::Map,
            Kind::Scalar(scalar, text) => match scalar {
                Scalar::Bool(value) => Value::Bool(value),
                Scalar::Integer => Value::Integer(self.tree.text(text)),
                Scalar::Number => Value::Number(self.tree.text(text)),
                Scalar::Text => Value::Text(self.tree.text(text)),
                Scalar::Null => Value::Null,
            },
            // Aliases were followed.
            Kind::Alias(_) => Value::Null,
        }
    }

    /// The name of its type.
    #[must_use]
    pub fn type_name(&self) -> &'static str {
        match self.value() {
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::Integer(_) => "integer",
            Value::Number(_) => "number",
            Value::Text(_) => "string",
            Value::List => "list",
            Value::Map => "map",
        }
    }

    /// Whether it is `null`.
    #[must_use]
    pub fn is_null(&self) -> bool {
        matches!(self.value(), Value::Null)
    }

    /// Whether it is a map.
    #[must_use]
    pub fn is_map(&self) -> bool {
        matches!(self.value(), Value::Map)
    }

    /// Whether it is a list.
    #[must_use]
    pub fn is_list(&self) -> bool {
        matches!(self.value(), Value::List)
    }

    /// The source text of a scalar that is not `null`, with quotes, escapes and folding applied.
    #[must_use]
    pub fn scalar(&self) -> Option<&'t str> {
        match self.stored.kind {
            Kind::Scalar(Scalar::Null, _) => None,
            Kind::Scalar(_, text) => Some(self.tree.text(text)),
            _ => None,
        }
    }

    /// Its text, if it is a string.
    #[must_use]
    pub fn as_text(&self) -> Option<&'t str> {
        match self.value() {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The value of a key, if it is a map that has the key, its own or a merged one; `null` is a value here.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<Self> {
        if !self.is_map() {
            return None;
        }
        let value = self.tree.index.find(self.position, key)?;
        Self::at(self.tree, value)
    }

    /// The items of a list; of anything else, none.
    pub fn items(&self) -> impl Iterator<Item = Self> + use<'t> {
        let tree = self.tree;
        let list = (self.stored.kind == Kind::List).then_some(self.position);
        let children = list.into_iter().flat_map(|list| tree.children(list));
        children.filter_map(move |child| Self::at(tree, child))
    }

    /// The keys and values of a map in the order of the source, then those that `<<` merges into it; of anything else, none.
    pub fn entries(&self) -> impl Iterator<Item = (Key<'t>, Self)> + use<'t> {
        let tree = self.tree;
        let map = self.is_map().then_some(self.position);
        let merged = map.and_then(|map| tree.index.merged(map));
        let own = map.into_iter().flat_map(|map| tree.pairs(map));
        own.filter_map(move |pair| entry(tree, pair))
            .filter(move |(key, _)| merged.is_none() || !Index::is_merge(key.text))
            .chain(
                merged
                    .into_iter()
                    .flatten()
                    .filter_map(move |pair| entry(tree, *pair)),
            )
    }

    /// It and all below as JSON. Its size is bounded by the limits of the readers, and so is the depth of this.
    ///
    /// A number that JSON cannot hold exactly (see [`Self::inexact`]) is its source text.
    #[must_use]
    pub fn to_json(self) -> serde_json::Value {
        self.json(&|node| match node.value() {
            Value::Null => serde_json::Value::Null,
            Value::Bool(value) => serde_json::Value::Bool(value),
            Value::Integer(text) | Value::Number(text) => {
                scalar::number(text).map_or_else(|| text.into(), serde_json::Value::Number)
            }
            _ => node.scalar().into(),
        })
    }

    /// The same with each scalar as its text, so that a type may read `yes`, `5` or `2024` as it needs.
    #[must_use]
    pub fn to_json_texts(self) -> serde_json::Value {
        self.json(&|node| node.scalar().into())
    }

    fn json(self, scalar: &impl Fn(Self) -> serde_json::Value) -> serde_json::Value {
        match self.value() {
            Value::List => self.items().map(|item| item.json(scalar)).collect(),
            Value::Map => {
                let members = self
                    .entries()
                    .map(|(key, value)| (key.text.to_owned(), value.json(scalar)));
                serde_json::Value::Object(members.collect::<Map<_, _>>())
            }
            _ => scalar(self),
        }
    }

    /// The first number in it that JSON cannot hold exactly: `.inf`, `1e999`, or an integer of more than 64 bits that is no
    /// double.
    #[must_use]
    pub fn inexact(self) -> Option<Self> {
        match self.value() {
            Value::Integer(text) | Value::Number(text) => {
                scalar::number(text).is_none().then_some(self)
            }
            Value::List => self.items().find_map(Self::inexact),
            Value::Map => self.entries().find_map(|(_, value)| value.inexact()),
            _ => None,
        }
    }
}

/// A key and a value by their positions; none where the key is no scalar.
fn entry<'t>(tree: &'t Tree<'t>, (key, value): (u32, u32)) -> Option<(Key<'t>, Node<'t>)> {
    let line = tree.line(key);
    let text = tree.scalar_text(tree.resolve(key))?;
    Some((Key { text, line }, Node::at(tree, value)?))
}

/// A key of a map.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Key<'t> {
    /// Its text; that of `200:` is `200`.
    pub text: &'t str,
    /// The line it stands on.
    pub line: u32,
}
