//! Finding a key, and refusing one that stands twice (K-50).
//!
//! Each text that is a key somewhere gets a number first, by one sort of all of them; mappings are then a sorted list
//! of (mapping, key, value) by number. Comparing texts within each mapping would let aliases make one long text be read
//! once for every mapping that uses it as a key.

use super::{Kind, Tree, TreeError, cut, number, position};

/// The keys of all mappings of a tree.
#[derive(Debug, Default)]
pub(super) struct Index {
    /// Of each different key one node, sorted by text.
    keys: Vec<u32>,
    /// (mapping, number of the key in `keys`, value), sorted.
    entries: Vec<(u32, u32, u32)>,
}

impl Index {
    /// Looks at the keys of every mapping.
    pub(super) fn new(tree: &Tree<'_>) -> Result<Self, TreeError> {
        let mut entries: Vec<(u32, u32, u32)> = Vec::new();
        for (mapping, node) in tree.nodes.iter().enumerate() {
            if node.kind != Kind::Map {
                continue;
            }
            let mapping = number(mapping);
            let mut children = tree.children(mapping);
            while let (Some(key), Some(value)) = (children.next(), children.next()) {
                let key = tree.resolve(key);
                if tree.scalar_text(key).is_none() {
                    let line = line(tree, key);
                    return Err(TreeError::KeyIsNoScalar { line });
                }
                entries.push((mapping, key, value));
            }
        }
        let (keys, numbers) = number_texts(tree, &entries);
        for (_, key, _) in &mut entries {
            *key = numbers.get(position(*key)).copied().unwrap_or(*key);
        }
        entries.sort_unstable();
        let index = Self { keys, entries };
        index.refuse_duplicates(tree)?;
        Ok(index)
    }

    fn refuse_duplicates(&self, tree: &Tree<'_>) -> Result<(), TreeError> {
        let second = self.entries.windows(2).filter_map(|pair| match pair {
            [first, second] if (first.0, first.1) == (second.0, second.1) => Some(*second),
            _ => None,
        });
        // The one that stands first in the document.
        let Some((_, key, value)) = second.min_by_key(|(_, _, value)| *value) else {
            return Ok(());
        };
        let text = self.keys.get(position(key)).copied();
        let text = text.and_then(|key| tree.scalar_text(key));
        Err(TreeError::DuplicateKey {
            key: cut(text.unwrap_or_default()),
            // The key's node is the one before its value.
            line: line(tree, value.saturating_sub(1)),
        })
    }

    /// The position of the value that a mapping has for a key.
    pub(super) fn find(&self, tree: &Tree<'_>, mapping: u32, key: &str) -> Option<u32> {
        let text = |node: &u32| tree.scalar_text(*node).unwrap_or_default();
        let key = self
            .keys
            .binary_search_by(|node| text(node).cmp(key))
            .ok()?;
        let wanted = (mapping, number(key));
        let entry = self
            .entries
            .binary_search_by_key(&wanted, |(mapping, key, _)| (*mapping, *key))
            .ok()?;
        self.entries.get(entry).map(|(_, _, value)| *value)
    }
}

/// One node of each different key text, sorted by text; and for each node that is a key, its number in that list.
fn number_texts(tree: &Tree<'_>, entries: &[(u32, u32, u32)]) -> (Vec<u32>, Vec<u32>) {
    let text = |node: &u32| tree.scalar_text(*node).unwrap_or_default();
    let mut keys: Vec<u32> = entries.iter().map(|(_, key, _)| *key).collect();
    keys.sort_unstable();
    keys.dedup();
    keys.sort_by(|a, b| text(a).cmp(text(b)));
    let mut numbers = vec![0; tree.nodes.len()];
    let mut different: Vec<u32> = Vec::new();
    for key in keys {
        if different.last().is_none_or(|last| text(last) != text(&key)) {
            different.push(key);
        }
        if let Some(slot) = numbers.get_mut(position(key)) {
            *slot = number(different.len().saturating_sub(1));
        }
    }
    (different, numbers)
}

fn line(tree: &Tree<'_>, at: u32) -> u32 {
    tree.nodes.get(position(at)).map_or(1, |node| node.line)
}
