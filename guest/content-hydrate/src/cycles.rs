//! Groups of documents that declare each other.

/// The strongly connected groups of more than one member, and single members that declare themselves; each group in
/// ascending order, and the groups by their first members.
///
/// `edges` has the successors of each vertex. This is Kosaraju's algorithm: searched against the edges, in the reverse of the
/// order in which a search along them ends, the vertices that are reached from one make a group with it.
pub(crate) fn groups(edges: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut against = vec![Vec::new(); edges.len()];
    for (vertex, successors) in edges.iter().enumerate() {
        for successor in successors {
            if let Some(predecessors) = against.get_mut(*successor) {
                predecessors.push(vertex);
            }
        }
    }
    let mut seen = vec![false; edges.len()];
    let ended = (0..edges.len()).flat_map(|vertex| search(edges, vertex, &mut seen));
    let ended: Vec<usize> = ended.collect();
    let mut seen = vec![false; edges.len()];
    let groups = ended.into_iter().rev().map(|vertex| {
        let mut group = search(&against, vertex, &mut seen);
        group.sort_unstable();
        group
    });
    let declares_itself = |vertex: &usize| {
        let successors = edges.get(*vertex);
        successors.is_some_and(|successors| successors.contains(vertex))
    };
    let mut groups: Vec<Vec<usize>> = groups
        .filter(|group| group.len() > 1 || group.iter().any(declares_itself))
        .collect();
    groups.sort();
    groups
}

/// The vertices that are reached from one and were not seen before, in the order in which the search leaves them. Its stack is
/// its own: how deep the graph is the documents decide.
fn search(edges: &[Vec<usize>], start: usize, seen: &mut [bool]) -> Vec<usize> {
    let mut enter = |vertex: usize| {
        let seen = seen.get_mut(vertex).filter(|seen| !**seen)?;
        *seen = true;
        Some((vertex, edges.get(vertex)?.iter()))
    };
    let mut path = Vec::from_iter(enter(start));
    let mut left = Vec::new();
    while let Some((vertex, successors)) = path.last_mut() {
        match successors.next() {
            Some(successor) => path.extend(enter(*successor)),
            None => {
                left.push(*vertex);
                path.pop();
            }
        }
    }
    left
}
