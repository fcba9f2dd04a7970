//! Finding a key, and refusing one that stands twice.
//!
//! Each text that is a key somewhere gets a number. It is compared once for each node that it stands on, and not once for
//! each map that has it: aliases let a small document use one long text as the key of many maps.
//!
//! What `<<` merges into a map is found once, too: a list of merged maps may be as long as the document, and a map that has
//! one may be asked for its keys many times.

use std::collections::{BTreeMap, BTreeSet};

use super::{Error, Kind, Tree, cut, number};

/// The keys of all maps of a tree.
#[derive(Debug, Default)]
pub(super) struct Index {
    /// A number for each different key.
    keys: BTreeMap<Box<str>, u32>,
    /// The position of the value that a map has for a key, by the position of the map and the number of the key.
    values: BTreeMap<(u32, u32), u32>,
    /// The same for what is merged, where the map has no such key of its own.
    merged_values: BTreeMap<(u32, u32), u32>,
    /// The positions of the keys and values that are merged into a map, in order, by the map's position. A map that merges
    /// none is not here.
    merged: BTreeMap<u32, Vec<(u32, u32)>>,
}

/// The key whose value is merged into its map.
const MERGE: &str = "<<";

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
        if tree.merges
            && let Some(merge) = index.keys.get(MERGE).copied()
        {
            let merging = index.values.keys().filter(|(_, key)| *key == merge);
            for map in merging.map(|(map, _)| *map).collect::<Vec<_>>() {
                index.merge(tree, &numbers, merge, map);
            }
        }
        Ok(index)
    }

    /// Finds what is merged into a map: the entries of each source, then those merged into that; of two with one key, the
    /// first. Aliases make no cycle, and nest no deeper than the reader lets them.
    fn merge(&mut self, tree: &Tree<'_>, numbers: &BTreeMap<u32, u32>, merge: u32, map: u32) {
        let Some(value) = self.values.get(&(map, merge)) else {
            return;
        };
        if self.merged.contains_key(&map) {
            return;
        }
        let kind = |at: u32| tree.nodes.get(super::position(at)).map(|node| node.kind);
        let value = tree.resolve(*value);
        let list = (kind(value) == Some(Kind::List)).then(|| tree.children(value));
        let sources = std::iter::once(value)
            .chain(list.into_iter().flatten().map(|item| tree.resolve(item)))
            .filter(|source| kind(*source) == Some(Kind::Map));
        let mut seen = BTreeSet::new();
        let mut entries = Vec::new();
        for source in sources.filter(|source| seen.insert(*source)) {
            self.merge(tree, numbers, merge, source);
            let below = self.merged.get(&source).cloned().unwrap_or_default();
            for (key, value) in tree.pairs(source).chain(below) {
                let Some(number) = numbers.get(&tree.resolve(key)).copied() else {
                    continue;
                };
                if number != merge
                    && !self.values.contains_key(&(map, number))
                    && !self.merged_values.contains_key(&(map, number))
                {
                    self.merged_values.insert((map, number), value);
                    entries.push((key, value));
                }
            }
        }
        if !seen.is_empty() {
            self.merged.insert(map, entries);
        }
    }

    /// The positions of the keys and values that are merged into a map; none if it merges no map.
    pub(super) fn merged(&self, map: u32) -> Option<&[(u32, u32)]> {
        self.merged.get(&map).map(Vec::as_slice)
    }

    /// Whether a key is the one whose value is merged.
    pub(super) fn is_merge(key: &str) -> bool {
        key == MERGE
    }

    /// The position of the value that a map has for a key, its own or a merged one.
    pub(super) fn find(&self, map: u32, key: &str) -> Option<u32> {
        let place = (map, *self.keys.get(key)?);
        let own = self.values.get(&place);
        own.or_else(|| self.merged_values.get(&place)).copied()
    }
}
