//! Hydrations, and the graphs of what documents depend on.

use bytes::Bytes;
use schemars::JsonSchema;
use serde::Deserialize;

use super::skills::may_use;
use super::{Declaration, Effect, Operation, Request, Roles, Tag};
use crate::graph::{GraphError, GraphFormat};
use crate::serve::service::{Answer, Identity, JSON, Problem};
use crate::{Format, HydrateRequest};

/// The skill behind a hydration.
const SKILL: &str = "content.hydrate";

/// Hydrates an agent or a skill: its content, and what each dependency is for.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Hydrate {
    /// os:// or https:// URI, or a path relative to os://
    #[schemars(length(min = 1))]
    pub uri: String,
    /// json: the payload; link and v2: the document with its declarations hydrated
    #[serde(default)]
    pub format: Format,
    /// levels of skills that are followed
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 16))]
    pub depth: u8,
    /// add SHA-256 digests of what was read
    #[serde(default)]
    pub checksums: bool,
    /// read names and descriptions of dependencies whose front matter cannot be parsed
    #[serde(default)]
    pub lenient: bool,
}

fn one() -> u8 {
    1
}

impl Hydrate {
    /// With the defaults.
    #[must_use]
    pub fn new(uri: impl Into<String>) -> Self {
        Self {
            uri: uri.into(),
            format: Format::default(),
            depth: 1,
            checksums: false,
            lenient: false,
        }
    }

    /// The request to the host, if the tenant may make it.
    fn checked(&self, who: &Identity) -> Result<HydrateRequest, Problem> {
        may_use(who, SKILL)?;
        if self.uri.is_empty() {
            return Err(Problem::invalid("uri: it is empty"));
        }
        if !(1..=16).contains(&self.depth) {
            return Err(Problem::invalid("depth: it must be 1 to 16"));
        }
        Ok(HydrateRequest {
            format: self.format,
            depth: self.depth,
            checksums: self.checksums,
            lenient: self.lenient,
            ..HydrateRequest::new(self.uri.clone())
        })
    }

    fn answer(&self, document: Bytes) -> Answer {
        let content_type = match self.format {
            Format::Json => JSON,
            Format::Link | Format::V2 => "text/markdown; charset=utf-8",
        };
        Answer::text(content_type, document)
    }
}

impl Request for Hydrate {
    type Response = Answer;

    const DECLARATION: &'static Declaration = &Declaration {
        also_answers: &["text/markdown"],
        may_be_unknown: true,
        ..Declaration::new("hydrate", Roles::Agents, Effect::FETCHES)
            .post("/v1/hydrate", Tag::Skills, "hydrate")
            .tool(
                "hydrate",
                "Hydrate",
                "Turn a compact Markdown file (an agent, a skill) into its content and what \
                each skill and tool it declares is for",
            )
    };

    /// A hydration whose files are as they were is answered without asking the component.
    fn known(&self, who: &Identity) -> Option<Result<Answer, Problem>> {
        let known = self
            .checked(who)
            .and_then(|request| Ok(who.tenant.host().hydrate_again(&request)?));
        known
            .map(|document| document.map(|document| self.answer(document)))
            .transpose()
    }

    fn perform(self, who: &Identity) -> Result<Answer, Problem> {
        let request = self.checked(who)?;
        let document = who.tenant.host().hydrate_keeping(&request)?;
        Ok(self.answer(document))
    }
}

/// The dependency graph of an agent.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Graph {
    /// os:// or https:// URI, or a path relative to os://
    #[schemars(length(min = 1))]
    uri: String,
    #[serde(default = "json")]
    format: GraphFormat,
    /// levels of skills that are followed
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 16))]
    depth: u8,
}

fn json() -> GraphFormat {
    GraphFormat::Json
}

impl Request for Graph {
    type Response = Answer;

    const DECLARATION: &'static Declaration = &Declaration {
        also_answers: &["text/vnd.mermaid", "text/vnd.graphviz", "image/svg+xml"],
        may_be_unknown: true,
        ..Declaration::new("graph", Roles::All, Effect::FETCHES)
            .get("/v1/graph", Tag::Skills, "graph")
            .tool(
                "graph",
                "Dependency graph",
                "What an agent or skill depends on, and what that depends on, as nodes and \
                edges or as a picture",
            )
    };

    fn perform(self, who: &Identity) -> Result<Answer, Problem> {
        let hydration = Hydrate {
            depth: self.depth,
            ..Hydrate::new(self.uri)
        };
        let request = hydration.checked(who)?;
        let graph = who.tenant.host().graph(&request);
        let graph = graph.map_err(|error| match error {
            GraphError::Hydration(error) => Problem::from(error),
            error @ GraphError::NotAPayload { .. } => Problem::internal(&error),
        })?;
        let format = self.format;
        Ok(Answer::text(format.content_type(), graph.render(format)))
    }
}

pub(super) fn operations() -> Vec<Operation> {
    vec![Operation::new::<Hydrate>(), Operation::new::<Graph>()]
}
