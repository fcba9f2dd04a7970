//! Finding a key, and refusing one that stands twice.
//!
//! Each text that is a key somewhere gets a number. It is compared once for each node that it stands on, and not once for
//! each map that has it: aliases let a small document use one long text as the key of many maps.

use std::collections::BTreeMap;

use super::{Error, Kind, Tree, cut, number};

/// The keys of all maps of a tree.
#[derive(Debug, Default)]
pub(super) struct Index {
    /// A number for each different key.
    keys: BTreeMap<Box<str>, u32>,
    /// The position of the value that a map has for a key, by the position of the map and the number of the key.
    values: BTreeMap<(u32, u32), u32>,
}

impl Index {
    /// Looks at the keys of every map. A list or a map as a key is refused, or else passed over.
    pub(super) fn new(tree: &Tree<'_>, refuse_collections: bool) -> Result<Self, Error> {
        let mut index = Self::default();
        let mut numbers: BTreeMap<u32, u32> = BTreeMap::new();
        let maps = (0..).zip(&tree.nodes);
        for (map, _) in maps.filter(|(_, node)| node.kind == Kind::Map) {
            for (key, value) in tree.pairs(map) {
                let node = tree.resolve(key);
                let Some(text) = tree.scalar_text(node) else {
                    if refuse_collections {
                        let line = tree.line(node);
                        return Err(Error::KeyIsNoScalar { line });
                    }
                    continue;
                };
                let next = number(index.keys.len());
                let key_number = *numbers
                    .entry(node)
                    .or_insert_with(|| *index.keys.entry(text.into()).or_insert(next));
                if index.values.insert((map, key_number), value).is_some() {
                    return Err(Error::DuplicateKey {
                        key: cut(text),
                        line: tree.line(key),
                    });
                }
            }
        }
        Ok(index)
    }

    /// The position of the value that a map has for a key.
    pub(super) fn find(&self, map: u32, key: &str) -> Option<u32> {
        let key = self.keys.get(key)?;
        self.values.get(&(map, *key)).copied()
    }
}
