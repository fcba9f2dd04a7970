//! Agents and skills below `os://`, read by the pinned skills that any caller could run: by no other way does the service
//! look into a tenant's files.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::skills::may_use;
use super::{Declaration, Effect, Operation, Page, Request, Roles, Tag, unknown_cursor};
use crate::host::{Failure, SkillCall};
use crate::serve::service::{Answer, Identity, Problem};

/// Lists directories.
const TREE: &str = "fs.read_tree";
/// Reads a file.
const TEXT: &str = "fs.read_text";
/// What is a resource.
const SUFFIX: &str = ".md";
const MARKDOWN: &str = "text/markdown";

/// Agents and skills below os://.
#[derive(Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Resources(pub Page);

/// A part of the list of resources.
#[derive(Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Resources")]
pub struct ResourceList {
    /// Sorted by URI.
    pub resources: Vec<ListedResource>,
    /// For the next part; null where there is none
    pub cursor: Option<String>,
}

/// A resource of a list.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct ListedResource {
    /// `os://…`
    pub uri: String,
    /// Its path below `os://`.
    pub name: String,
    /// What it is.
    pub mime_type: String,
}

impl Request for Resources {
    type Response = ResourceList;

    const DECLARATION: &'static Declaration = &Declaration::new(
        "resources",
        Roles::Agents,
        Effect::READS,
    )
    .get("/v1/resources", Tag::Skills, "resources");

    fn perform(self, who: &Identity) -> Result<ResourceList, Problem> {
        let Self(page) = self;
        // A cursor is the last path of the part before.
        let after = page.cursor.as_deref();
        if after.is_some_and(|cursor| !cursor.ends_with(SUFFIX)) {
            return Err(unknown_cursor());
        }
        let request = json!({ "root": "/os", "max_entries": 10_000 });
        let listed = match run(who, TREE, &request) {
            Ok(listed) => listed,
            // An empty `os://` has no resources, and a tenant that may not use the skill sees none.
            Err(problem) if matches!(problem.code.as_str(), "not_found" | "unknown-skill") => {
                json!({ "entries": [] })
            }
            Err(problem) => return Err(problem),
        };
        let entries = listed.get("entries").and_then(Value::as_array);
        let mut paths: Vec<&str> = entries
            .into_iter()
            .flatten()
            .filter(|entry| entry.get("kind").is_none_or(|kind| kind == "file"))
            .filter_map(|entry| entry.get("path")?.as_str())
            .filter(|path| path.ends_with(SUFFIX) && after.is_none_or(|cursor| *path > cursor))
            .collect();
        paths.sort_unstable();
        let more = paths.len() > page.most();
        paths.truncate(page.most());
        let cursor = paths.last().filter(|_| more);
        let resources = paths.iter().map(|&path| ListedResource {
            uri: format!("os://{path}"),
            name: path.to_owned(),
            mime_type: MARKDOWN.to_owned(),
        });
        Ok(ResourceList {
            resources: resources.collect(),
            cursor: cursor.map(|&path| path.to_owned()),
        })
    }
}

/// The text of an agent or a skill below `os://`: a resource of the Model Context Protocol.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Resource {
    /// `os://…`
    pub uri: String,
}

impl Request for Resource {
    type Response = Answer;

    const DECLARATION: &'static Declaration =
        &Declaration::new("resource", Roles::Agents, Effect::READS);

    fn perform(self, who: &Identity) -> Result<Answer, Problem> {
        let path = self
            .uri
            .strip_prefix("os://")
            .filter(|path| path.ends_with(SUFFIX))
            .ok_or_else(|| Problem::not_found("resource"))?;
        let path = format!("/os/{}", path.trim_start_matches('/'));
        let request = json!({ "path": path, "max_bytes": 2_097_152 });
        let read = run(who, TEXT, &request).map_err(|problem| match problem.code.as_str() {
            // What may not be read is as unknown as what is not there.
            "not_found" | "denied" | "wrong_type" | "invalid_request" | "unknown-skill" => {
                Problem::not_found("resource")
            }
            _ => problem,
        })?;
        let text = read.get("text").and_then(Value::as_str);
        let text = text.unwrap_or_default().to_owned();
        Ok(Answer::text("text/markdown; charset=utf-8", text))
    }
}

fn run(who: &Identity, skill: &str, request: &Value) -> Result<Value, Problem> {
    may_use(who, skill)?;
    let bytes = request.to_string().into_bytes();
    let call = SkillCall::new(skill, &bytes);
    let answer: Result<Vec<u8>, Failure> = who.tenant.host().answer(call)?;
    serde_json::from_slice(&answer?).map_err(|error| Problem::internal(&error))
}

pub(super) fn operations() -> Vec<Operation> {
    vec![Operation::new::<Resources>(), Operation::new::<Resource>()]
}
