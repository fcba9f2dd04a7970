//! Strongly connected groups (Tarjan, without recursion: a chain may be as long as there are nodes).

use super::{Edge, NodeId};

#[derive(Default, Clone)]
struct Visit {
    /// Order of the first visit, from 1; 0 for none.
    index: usize,
    lowest: usize,
    on_stack: bool,
}

/// The groups with more than one node, or one that has an edge to itself; each sorted, sorted by their first.
pub(super) fn of(nodes: usize, edges: &[Edge]) -> Vec<Vec<NodeId>> {
    let mut targets: Vec<Vec<usize>> = vec![Vec::new(); nodes];
    for edge in edges {
        if let Some(targets) = targets.get_mut(edge.from.index()) {
            targets.push(edge.to.index());
        }
    }
    let mut search = Search {
        targets,
        visits: vec![Visit::default(); nodes],
        stack: Vec::new(),
        visited: 0,
        groups: Vec::new(),
    };
    for node in 0..nodes {
        search.visit_from(node);
    }
    let itself = |node: NodeId| {
        edges.contains(&Edge {
            from: node,
            to: node,
        })
    };
    let mut groups = search.groups;
    groups.retain(|group| group.len() > 1 || group.first().is_some_and(|node| itself(*node)));
    groups.sort();
    groups
}

struct Search {
    targets: Vec<Vec<usize>>,
    visits: Vec<Visit>,
    stack: Vec<usize>,
    visited: usize,
    groups: Vec<Vec<NodeId>>,
}

impl Search {
    fn visit_from(&mut self, start: usize) {
        if self.visits.get(start).is_none_or(|visit| visit.index != 0) {
            return;
        }
        self.open(start);
        // A node, and how many of its targets have been looked at.
        let mut path = vec![(start, 0)];
        while let Some((node, looked_at)) = path.last_mut() {
            let node = *node;
            let target = self
                .targets
                .get(node)
                .and_then(|all| all.get(*looked_at).copied());
            *looked_at += 1;
            if let Some(target) = target {
                match self.visits.get(target).cloned() {
                    Some(visit) if visit.index == 0 => {
                        self.open(target);
                        path.push((target, 0));
                    }
                    Some(visit) if visit.on_stack => self.lower(node, visit.index),
                    _ => {}
                }
                continue;
            }
            path.pop();
            let lowest = self.visits.get(node).map_or(0, |visit| visit.lowest);
            if let Some((parent, _)) = path.last() {
                self.lower(*parent, lowest);
            }
            if self
                .visits
                .get(node)
                .is_some_and(|visit| visit.index == lowest)
            {
                self.close(node);
            }
        }
    }

    fn open(&mut self, node: usize) {
        self.visited += 1;
        self.stack.push(node);
        if let Some(visit) = self.visits.get_mut(node) {
            *visit = Visit {
                index: self.visited,
                lowest: self.visited,
                on_stack: true,
            };
        }
    }

    fn lower(&mut self, node: usize, to: usize) {
        if let Some(visit) = self.visits.get_mut(node) {
            visit.lowest = visit.lowest.min(to);
        }
    }

    /// Takes the group that begins at `node` off the stack.
    fn close(&mut self, node: usize) {
        let mut group = Vec::new();
        while let Some(member) = self.stack.pop() {
            if let Some(visit) = self.visits.get_mut(member) {
                visit.on_stack = false;
            }
            group.push(NodeId(member));
            if member == node {
                break;
            }
        }
        group.sort();
        self.groups.push(group);
    }
}
