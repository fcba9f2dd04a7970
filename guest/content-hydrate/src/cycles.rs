//! D-06: groups of documents that declare each other.

use std::collections::BTreeMap;

/// The strongly connected groups of more than one member, and single members that declare themselves;
/// each group in ascending order, and the groups by their first members.
///
/// `edges` has the successors of each vertex. Tarjan's algorithm with a stack of its own, because the
/// depth of the graph is the documents' to choose.
pub(crate) fn groups(edges: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut search = Search {
        edges,
        order: BTreeMap::new(),
        low: vec![0; edges.len()],
        waiting: Vec::new(),
        is_waiting: vec![false; edges.len()],
        groups: Vec::new(),
    };
    for vertex in 0..edges.len() {
        if !search.order.contains_key(&vertex) {
            search.from(vertex);
        }
    }
    let mut groups = search.groups;
    groups.sort();
    groups
}

struct Search<'e> {
    edges: &'e [Vec<usize>],
    /// When a vertex was first seen.
    order: BTreeMap<usize, usize>,
    /// The earliest vertex that each one is known to reach.
    low: Vec<usize>,
    /// Vertices that belong to no group yet.
    waiting: Vec<usize>,
    is_waiting: Vec<bool>,
    groups: Vec<Vec<usize>>,
}

impl Search<'_> {
    fn from(&mut self, start: usize) {
        // A vertex, and how many of its successors have been looked at.
        let mut path = vec![(start, 0_usize)];
        self.enter(start);
        while let Some((vertex, looked_at)) = path.last_mut() {
            let vertex = *vertex;
            let successor = self
                .edges
                .get(vertex)
                .and_then(|edges| edges.get(*looked_at));
            *looked_at = looked_at.saturating_add(1);
            match successor {
                Some(&successor) => match self.order.get(&successor).copied() {
                    None => {
                        self.enter(successor);
                        path.push((successor, 0));
                    }
                    Some(order) if self.is_waiting.get(successor) == Some(&true) => {
                        self.reach(vertex, order);
                    }
                    Some(_) => {}
                },
                None => {
                    path.pop();
                    let low = self.low.get(vertex).copied().unwrap_or_default();
                    if self.order.get(&vertex) == Some(&low) {
                        self.close(vertex);
                    }
                    if let Some((parent, _)) = path.last() {
                        self.reach(*parent, low);
                    }
                }
            }
        }
    }

    fn enter(&mut self, vertex: usize) {
        let order = self.order.len();
        self.order.insert(vertex, order);
        if let (Some(low), Some(is_waiting)) =
            (self.low.get_mut(vertex), self.is_waiting.get_mut(vertex))
        {
            *low = order;
            *is_waiting = true;
        }
        self.waiting.push(vertex);
    }

    fn reach(&mut self, vertex: usize, order: usize) {
        if let Some(low) = self.low.get_mut(vertex) {
            *low = order.min(*low);
        }
    }

    /// Takes the group whose first vertex is this one.
    fn close(&mut self, vertex: usize) {
        let mut group = Vec::new();
        while let Some(member) = self.waiting.pop() {
            if let Some(is_waiting) = self.is_waiting.get_mut(member) {
                *is_waiting = false;
            }
            group.push(member);
            if member == vertex {
                break;
            }
        }
        let declares_itself = || {
            self.edges
                .get(vertex)
                .is_some_and(|edges| edges.contains(&vertex))
        };
        if group.len() > 1 || declares_itself() {
            group.sort_unstable();
            self.groups.push(group);
        }
    }
}
