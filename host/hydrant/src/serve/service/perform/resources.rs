//! Agents and skills below `os://`, read by the pinned skills that any caller could run: by no other way does the service
//! look into a tenant's files.

use serde_json::{Value, json};

use crate::graph::{self, GraphError};
use crate::host::Failure;
use crate::serve::service::{
    Answer, GraphFormat, GraphOptions, HydrateOptions, Identity, Page, Problem,
};

/// Lists directories.
const TREE: &str = "fs.read_tree";
/// Reads a file.
const TEXT: &str = "fs.read_text";
/// What is a resource.
const SUFFIX: &str = ".md";

pub(super) fn list(who: &Identity, page: &Page) -> Result<Answer, Problem> {
    // A cursor is the last path of the part before.
    let ours = |cursor: &String| cursor.ends_with(SUFFIX);
    if !page.cursor.as_ref().is_none_or(ours) {
        return Err(Problem::invalid("cursor: it is none of this list"));
    }
    let request = json!({ "root": "/os", "max_entries": 10_000 });
    let listed = match run(who, TREE, &request) {
        Ok(listed) => listed,
        // An empty `os://` has no resources, and whoever may not use the skill sees none.
        Err(problem) if matches!(problem.code.as_str(), "not_found" | "unknown-skill") => {
            json!({ "entries": [] })
        }
        Err(problem) => return Err(problem),
    };
    let entries = listed.get("entries").and_then(Value::as_array);
    let paths = entries
        .into_iter()
        .flatten()
        .filter(|entry| entry.get("kind").is_none_or(|kind| kind == "file"))
        .filter_map(|entry| entry.get("path")?.as_str())
        .filter(|path| path.ends_with(SUFFIX));
    let mut paths: Vec<&str> = paths
        .filter(|path| page.cursor.as_deref().is_none_or(|cursor| *path > cursor))
        .collect();
    paths.sort_unstable();
    let more = paths.len() > page.most();
    paths.truncate(page.most());
    let cursor = paths.last().filter(|_| more).copied();
    let resources: Vec<Value> = paths
        .iter()
        .map(|path| json!({ "uri": format!("os://{path}"), "name": path, "mime_type": "text/markdown" }))
        .collect();
    Ok(Answer::json(
        &json!({ "resources": resources, "cursor": cursor }),
    ))
}

pub(super) fn read(who: &Identity, uri: &str) -> Result<Answer, Problem> {
    let path = uri
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
    let text = read.get("text");
    let text = text.and_then(Value::as_str).unwrap_or_default().to_owned();
    Ok(Answer::text("text/markdown; charset=utf-8", text))
}

pub(super) fn graph(who: &Identity, options: &GraphOptions) -> Result<Answer, Problem> {
    let hydration = HydrateOptions {
        depth: options.depth,
        ..HydrateOptions::new(options.uri.clone())
    };
    super::pinned::check(who, &hydration)?;
    let graph = who
        .tenant
        .host()
        .graph(&hydration.request())
        .map_err(|error| match error {
            GraphError::Hydration(error) => Problem::from(error),
            error @ GraphError::NotAPayload { .. } => Problem::internal(&error),
        })?;
    let format = match options.format {
        GraphFormat::Json => graph::GraphFormat::Json,
        GraphFormat::Mermaid => graph::GraphFormat::Mermaid,
        GraphFormat::Dot => graph::GraphFormat::Dot,
        GraphFormat::Svg => graph::GraphFormat::Svg,
    };
    Ok(Answer::text(format.content_type(), graph.render(format)))
}

fn run(who: &Identity, skill: &str, request: &Value) -> Result<Value, Problem> {
    super::pinned::may_use(who, skill)?;
    let bytes = request.to_string().into_bytes();
    let answer: Result<Vec<u8>, Failure> = who.tenant.host().answer(skill, &bytes)?;
    serde_json::from_slice(&answer?).map_err(|error| Problem::internal(&error))
}
