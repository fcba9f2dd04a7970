//! Finding a key, and refusing one that stands twice.
//!
//! Each text that is a key somewhere gets a number. It is compared once for each node that it stands on, and not once for
//! each map that has it: aliases let a small document use one long text as the key of many maps.
//!
//! What `<<` merges into a map is found once, too: a list of merged maps may be as long as the document, and a map that has
//! one may be asked for its keys many times.

use std::collections::{BTreeMap, BTreeSet};

use super::{Error, Kind, Tree, cut, number, position};

/// The keys of all maps of a tree.
#[derive(Debug, Default)]
pub(super) struct Index {
    /// A number for each different key.
    keys: BTreeMap<Box<str>, u32>,
    /// The position of the map, the number of the key, and the position of the value, in this order.
    values: Vec<((u32, u32), u32)>,
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
        // The number of the key that stands on a node, by the node's position.
        let mut numbers: Vec<Option<u32>> = vec![None; tree.nodes.len()];
        let maps = (0..).zip(&tree.nodes);
        for (map, _) in maps.filter(|(_, node)| node.kind == Kind::Map) {
            let first = index.values.len();
            for (key, value) in tree.pairs(map) {
                let node = tree.resolve(key);
                let Some(text) = tree.scalar_text(node) else {
                    if refuse_collections {
                        let line = tree.line(node);
                        return Err(Error::KeyIsNoScalar { line });
                    }
                    continue;
                };
                let known = numbers.get(position(node)).copied().flatten();
                let key_number = known.unwrap_or_else(|| index.number_of(text));
                if let Some(number) = numbers.get_mut(position(node)) {
                    *number = Some(key_number);
                }
                index.values.push(((map, key_number), value));
            }
            let own = index.values.get_mut(first..).unwrap_or_default();
            // By the position of the value where a key stands twice.
            own.sort_unstable();
            let twice = own.windows(2).filter_map(|pair| match pair {
                [(first, _), (second, value)] if first == second => Some(*value),
                _ => None,
            });
            if let Some(value) = twice.min() {
                let mut pairs = tree.pairs(map);
                let key = pairs.find_map(|(key, found)| (found == value).then_some(key));
                let key = key.unwrap_or(map);
                return Err(Error::DuplicateKey {
                    key: cut(tree.scalar_text(tree.resolve(key)).unwrap_or_default()),
                    line: tree.line(key),
                });
            }
        }
        if tree.merges
            && let Some(merge) = index.keys.get(MERGE).copied()
        {
            let merging = index.values.iter().filter(|((_, key), _)| *key == merge);
            for map in merging.map(|((map, _), _)| *map).collect::<Vec<_>>() {
                index.merge(tree, &numbers, merge, map);
            }
        }
        Ok(index)
    }

    /// The number of a key, a new one if it had none.
    fn number_of(&mut self, key: &str) -> u32 {
        if let Some(number) = self.keys.get(key) {
            return *number;
        }
        let number = number(self.keys.len());
        self.keys.insert(key.into(), number);
        number
    }

    /// The position of the value that a map has for a key of its own.
    fn own(&self, place: (u32, u32)) -> Option<u32> {
        let found = self
            .values
            .binary_search_by_key(&place, |(place, _)| *place);
        found
            .ok()
            .and_then(|at| self.values.get(at))
            .map(|(_, value)| *value)
    }

    /// Finds what is merged into a map: the entries of each source, then those merged into that; of two with one key, the
    /// first. Aliases make no cycle, and nest no deeper than the reader lets them.
    fn merge(&mut self, tree: &Tree<'_>, numbers: &[Option<u32>], merge: u32, map: u32) {
        let Some(value) = self.own((map, merge)) else {
            return;
        };
        if self.merged.contains_key(&map) {
            return;
        }
        let kind = |at: u32| tree.nodes.get(position(at)).map(|node| node.kind);
        let value = tree.resolve(value);
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
                let number = numbers.get(position(tree.resolve(key))).copied().flatten();
                let Some(number) = number else {
                    continue;
                };
                if number != merge
                    && self.own((map, number)).is_none()
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
        self.own(place)
            .or_else(|| self.merged_values.get(&place).copied())
    }
}
