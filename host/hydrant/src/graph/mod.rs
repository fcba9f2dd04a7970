//! The dependency graph of an agent: what it declares, what that declares, down to a depth; as JSON, Mermaid, DOT or SVG.
//!
//! It is made of hydrations of one level each, so that every reference was resolved and every name read inside the
//! component: this module sees URIs, names and error markers, and parses no document. The same hydrations give the same
//! bytes. Names are hostile text: each form escapes them by its own rules, and no form holds a script, a link or a style
//! sheet.

mod cycles;
mod dot;
mod explore;
mod label;
mod layout;
mod mermaid;
pub(crate) mod payload;
mod svg;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};

use crate::{Host, HostError, HydrateRequest};

/// Hydrations made for one graph; skills beyond are shown, but not what they declare.
pub const MAX_HYDRATIONS: usize = 256;
/// Nodes of one graph; what is declared beyond is left out.
pub const MAX_NODES: usize = 2000;

/// What a node stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// The resource that was asked for, which may be a skill itself.
    Agent,
    /// A document declared under `skills`.
    Skill,
    /// A program declared under `tools`.
    Tool,
}

/// Which node of a graph: its place in [`Graph::nodes`], written `n0`, `n1`, ….
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(usize);

impl NodeId {
    /// Its place in [`Graph::nodes`].
    #[must_use]
    pub fn index(self) -> usize {
        self.0
    }
}

impl std::fmt::Display for NodeId {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(to, "n{}", self.0)
    }
}

impl Serialize for NodeId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A resource of the graph.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Node {
    /// Its name in edges and cycles.
    pub id: NodeId,
    /// What it stands for.
    pub kind: Kind,
    /// Canonical, or as it was declared where it does not resolve.
    pub uri: String,
    /// The name of a skill. A tool has none; of what was asked for it is known where a skill declares it again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The codes of its error markers, such as `MISSING_NAME`, without those that repeat.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<String>,
    /// `sha256:…` of the resource, where it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checksum: Option<String>,
    /// Edges from what was asked for, 0 to 16.
    pub distance: u8,
}

/// A declaration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Edge {
    /// Who declares.
    pub from: NodeId,
    /// What is declared.
    pub to: NodeId,
}

/// What an agent depends on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Graph {
    /// What was asked for; its canonical form where there is one.
    pub uri: String,
    /// Levels that were looked at, 1 to 16.
    pub depth: u8,
    /// What was asked for first, then by distance, skills before tools, each sorted by URI for each declaring node.
    pub nodes: Vec<Node>,
    /// Sorted, each once.
    pub edges: Vec<Edge>,
    /// Groups of documents that depend on each other, or one that declares itself.
    pub cycles: Vec<Vec<NodeId>>,
    /// Whether [`MAX_HYDRATIONS`] or [`MAX_NODES`] left something out.
    pub truncated: bool,
}

/// How a graph is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum GraphFormat {
    /// The members of [`Graph`], one line.
    Json,
    /// A Mermaid flowchart.
    #[default]
    Mermaid,
    /// The language of Graphviz.
    Dot,
    /// A picture, laid out here.
    Svg,
}

impl GraphFormat {
    /// `json`, `mermaid`, `dot` or `svg`.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "json" => Some(Self::Json),
            "mermaid" => Some(Self::Mermaid),
            "dot" => Some(Self::Dot),
            "svg" => Some(Self::Svg),
            _ => None,
        }
    }

    /// The media type of this form.
    #[must_use]
    pub fn content_type(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::Mermaid => "text/vnd.mermaid",
            Self::Dot => "text/vnd.graphviz",
            Self::Svg => "image/svg+xml",
        }
    }
}

/// Why there is no graph.
#[derive(Debug, thiserror::Error)]
pub enum GraphError<E> {
    /// A hydration was refused.
    #[error(transparent)]
    Hydration(E),
    /// A hydration answered what is no payload.
    #[error("the hydration of {uri} is not a payload: {reason}")]
    NotAPayload {
        /// What was hydrated.
        uri: String,
        /// Where it is not.
        reason: String,
    },
}

impl Host {
    /// The graph of what `request.uri` depends on, down to `request.depth` levels. Each hydration is a call of its own.
    ///
    /// # Errors
    ///
    /// [`GraphError::Hydration`] for the first hydration that fails as a whole; an error of a resource is a marker of its
    /// node.
    pub fn graph(&self, request: &HydrateRequest) -> Result<Graph, GraphError<HostError>> {
        Graph::explore(&request.uri, request.depth, |uri| {
            self.hydrate(&HydrateRequest {
                uri: uri.to_owned(),
                format: crate::Format::Json,
                depth: 1,
                ..request.clone()
            })
        })
    }
}

impl Graph {
    /// The graph in one of its forms. The text forms end with a line end, JSON does not.
    #[must_use]
    pub fn render(&self, format: GraphFormat) -> String {
        match format {
            GraphFormat::Json => self.json(),
            GraphFormat::Mermaid => mermaid::render(self),
            GraphFormat::Dot => dot::render(self),
            GraphFormat::Svg => svg::render(self),
        }
    }

    fn json(&self) -> String {
        // Strings, numbers and lists: nothing here can fail to be written.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// The nodes that belong to a cycle.
    fn in_cycles(&self) -> std::collections::HashSet<NodeId> {
        self.cycles.iter().flatten().copied().collect()
    }

    /// `3 skills, 1 tool, 2 with errors`.
    fn summary(&self) -> String {
        let count = |kind| self.nodes.iter().filter(|node| node.kind == kind).count();
        let some = |count: usize, what: &str| match count {
            1 => format!("1 {what}"),
            _ => format!("{count} {what}s"),
        };
        let errors = self.nodes.iter().filter(|node| !node.errors.is_empty());
        let mut parts = vec![
            some(count(Kind::Skill), "skill"),
            some(count(Kind::Tool), "tool"),
        ];
        match errors.count() {
            0 => {}
            errors => parts.push(format!("{errors} with errors")),
        }
        if !self.cycles.is_empty() {
            parts.push(some(self.cycles.len(), "cycle"));
        }
        if self.truncated {
            parts.push("not all is shown".into());
        }
        parts.join(", ")
    }
}

#[cfg(test)]
mod tests;
