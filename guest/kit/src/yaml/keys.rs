//! Y-04: duplicate keys, in any mapping of the document.
//!
//! Each text that is a key somewhere gets a number first, by one sort of all of them, and mappings are then
//! compared by number. Comparing texts within each mapping would let aliases make one long text be read
//! once for every mapping that uses it as a key.

use super::{
    YamlError,
    tree::{Kind, Node, Yaml, resolve},
};

/// Refuses a mapping that has two scalar keys of equal text. Keys that are collections are not compared.
pub(super) fn refuse_duplicates(yaml: &Yaml<'_>) -> Result<(), YamlError> {
    let nodes = &yaml.nodes;
    // (mapping, key): an alias counts by its target.
    let mut pairs: Vec<(usize, usize)> = Vec::new();
    for (mapping, node) in nodes.iter().enumerate() {
        if matches!(node.kind, Kind::Mapping(_)) {
            let keys = yaml.pairs(mapping).map(|(key, _)| resolve(nodes, key));
            pairs.extend(
                keys.filter(|key| text(nodes, *key).is_some())
                    .map(|key| (mapping, key)),
            );
        }
    }
    let numbers = number_texts(nodes, &pairs);
    for (_, key) in &mut pairs {
        *key = numbers.get(*key).copied().unwrap_or(*key);
    }
    pairs.sort_unstable();
    let duplicate = pairs.windows(2).find_map(|pair| match pair {
        [first, second] if first == second => Some(first.1),
        _ => None,
    });
    match duplicate {
        None => Ok(()),
        Some(key) => Err(YamlError::DuplicateKey {
            key: text(nodes, key).unwrap_or_default().to_owned(),
        }),
    }
}

/// For each node that is a key, the first node of the same text; other nodes have a meaningless number.
fn number_texts(nodes: &[Node<'_>], pairs: &[(usize, usize)]) -> Vec<usize> {
    let mut keys: Vec<usize> = pairs.iter().map(|(_, key)| *key).collect();
    keys.sort_unstable();
    keys.dedup();
    keys.sort_by(|a, b| text(nodes, *a).cmp(&text(nodes, *b)));
    let mut numbers = vec![0; nodes.len()];
    let mut first: Option<usize> = None;
    for key in keys {
        let same = first.filter(|first| text(nodes, *first) == text(nodes, key));
        let number = same.unwrap_or(key);
        first = Some(number);
        if let Some(slot) = numbers.get_mut(key) {
            *slot = number;
        }
    }
    numbers
}

fn text<'t>(nodes: &'t [Node<'_>], position: usize) -> Option<&'t str> {
    match nodes.get(position).map(|node| &node.kind) {
        Some(Kind::Scalar { text, .. }) => Some(text),
        _ => None,
    }
}
