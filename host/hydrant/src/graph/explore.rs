//! Follows declarations level by level, each document hydrated once.

use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap, VecDeque};

use super::payload::{Payload, Skill, Tool, code};
use super::{Edge, Graph, GraphError, Kind, MAX_HYDRATIONS, MAX_NODES, Node, NodeId, cycles};

/// What makes two declarations the same node.
#[derive(PartialEq, Eq, Hash)]
enum Key {
    /// A document by its canonical URI: the same whoever declares it, the agent itself too.
    Document(String),
    Tool(String),
    /// What does not resolve means something only where it was declared.
    Unresolved(NodeId, Kind, String),
}

struct Exploration {
    nodes: Vec<Node>,
    keys: HashMap<Key, NodeId>,
    edges: BTreeSet<Edge>,
    /// Documents to hydrate.
    pending: VecDeque<NodeId>,
    truncated: bool,
}

impl Graph {
    /// The graph of `uri` down to `depth` levels; `hydrate` answers the payload of one resource at depth 1.
    ///
    /// # Errors
    ///
    /// The first error of `hydrate`, and [`GraphError::NotAPayload`].
    pub fn explore<E>(
        uri: &str,
        depth: u8,
        mut hydrate: impl FnMut(&str) -> Result<Vec<u8>, E>,
    ) -> Result<Self, GraphError<E>> {
        let mut read = |uri: &str| {
            let bytes = hydrate(uri).map_err(GraphError::Hydration)?;
            serde_json::from_slice::<Payload>(&bytes).map_err(|error| GraphError::NotAPayload {
                uri: uri.to_owned(),
                reason: error.to_string(),
            })
        };
        let root = read(uri)?;
        let mut exploration = Exploration::of(uri, &root);
        exploration.declare(NodeId(0), root);
        let mut hydrations = 1;
        while let Some(id) = exploration.pending.pop_front() {
            let Some(node) = exploration.nodes.get(id.index()) else {
                continue;
            };
            if node.distance >= depth {
                continue;
            }
            if hydrations == MAX_HYDRATIONS {
                exploration.truncated = true;
                break;
            }
            hydrations += 1;
            let payload = read(&node.uri.clone())?;
            exploration.declare(id, payload);
        }
        Ok(exploration.finish(depth))
    }
}

impl Exploration {
    fn of(uri: &str, root: &Payload) -> Self {
        let metadata = &root.metadata;
        let error = code(&metadata.uri);
        let uri = if error.is_some() { uri } else { &metadata.uri };
        let id = NodeId(0);
        let node = Node {
            id,
            kind: Kind::Agent,
            uri: uri.to_owned(),
            name: None,
            description: None,
            errors: error.map(str::to_owned).into_iter().collect(),
            checksum: metadata.checksum.clone(),
            distance: 0,
        };
        Self {
            keys: HashMap::from([(Key::Document(node.uri.clone()), id)]),
            nodes: vec![node],
            edges: BTreeSet::new(),
            pending: VecDeque::new(),
            truncated: false,
        }
    }

    /// Adds what `from` declares, in the order of the payload, which is sorted.
    fn declare(&mut self, from: NodeId, payload: Payload) {
        let dependencies = payload.metadata.dependencies;
        for skill in dependencies.skills {
            self.skill(from, skill);
        }
        for tool in dependencies.tools {
            self.tool(from, tool);
        }
    }

    fn skill(&mut self, from: NodeId, skill: Skill) {
        let key = if resolves(&skill.uri) {
            Key::Document(skill.uri.clone())
        } else {
            Key::Unresolved(from, Kind::Skill, skill.uri.clone())
        };
        let declares = skill.declares();
        let texts = [&skill.uri, &skill.name, &skill.description];
        let errors = codes(&texts);
        let node = |id, distance| Node {
            id,
            kind: Kind::Skill,
            uri: skill.uri.clone(),
            name: plain(skill.name.clone()),
            description: plain(skill.description.clone()),
            errors,
            checksum: skill.checksum.clone(),
            distance,
        };
        let Some((to, is_new)) = self.add(from, key, node) else {
            return;
        };
        if is_new && declares {
            self.pending.push_back(to);
        }
        // Of the agent itself the payload says no name; one that declares it back does.
        if to == NodeId(0)
            && let Some(agent) = self.nodes.first_mut()
            && agent.name.is_none()
        {
            agent.name = plain(skill.name);
            agent.description = plain(skill.description);
        }
    }

    fn tool(&mut self, from: NodeId, tool: Tool) {
        let key = if resolves(&tool.uri) {
            Key::Tool(tool.uri.clone())
        } else {
            Key::Unresolved(from, Kind::Tool, tool.uri.clone())
        };
        let errors = codes(&[&tool.uri, &tool.description]);
        self.add(from, key, |id, distance| Node {
            id,
            kind: Kind::Tool,
            uri: tool.uri,
            name: None,
            description: plain(tool.description),
            errors,
            checksum: tool.checksum,
            distance,
        });
    }

    /// The node of `key` and whether it is new, with an edge to it; none where there is no room for it.
    fn add(
        &mut self,
        from: NodeId,
        key: Key,
        node: impl FnOnce(NodeId, u8) -> Node,
    ) -> Option<(NodeId, bool)> {
        let full = self.nodes.len() >= MAX_NODES;
        let (to, is_new) = match self.keys.entry(key) {
            Entry::Occupied(known) => (*known.get(), false),
            Entry::Vacant(_) if full => {
                self.truncated = true;
                return None;
            }
            Entry::Vacant(free) => {
                let id = *free.insert(NodeId(self.nodes.len()));
                let distance = self.nodes.get(from.index()).map_or(0, |from| from.distance);
                self.nodes.push(node(id, distance.saturating_add(1)));
                (id, true)
            }
        };
        self.edges.insert(Edge { from, to });
        Some((to, is_new))
    }

    fn finish(self, depth: u8) -> Graph {
        let edges: Vec<Edge> = self.edges.into_iter().collect();
        Graph {
            uri: self
                .nodes
                .first()
                .map(|root| root.uri.clone())
                .unwrap_or_default(),
            depth,
            cycles: cycles::of(self.nodes.len(), &edges),
            nodes: self.nodes,
            edges,
            truncated: self.truncated,
        }
    }
}

/// Whether a dependency's URI is canonical, and not a declaration that does not resolve, or a marker.
fn resolves(uri: &str) -> bool {
    ["os://", "https://", "http://"]
        .iter()
        .any(|scheme| uri.starts_with(scheme))
}

/// The codes of the markers among `texts`, each once.
fn codes(texts: &[&String]) -> Vec<String> {
    let mut codes: Vec<String> = Vec::new();
    for code in texts.iter().filter_map(|text| code(text)) {
        if !codes.iter().any(|known| known == code) {
            codes.push(code.to_owned());
        }
    }
    codes
}

/// A text that is no marker.
fn plain(text: String) -> Option<String> {
    code(&text).is_none().then_some(text)
}
