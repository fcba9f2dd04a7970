//! Agents and skills below `os://`: listed by the service, read hydrated or as they are.
//!
//! What an agent needs of one is the hydrated document, so that is what a plain URI reads. A query says otherwise:
//! `?format=raw` is the file, `json` and `v2` are the other forms of a hydration. No `os://` URI has a query of its own.

use rmcp::ErrorData;
use rmcp::model::{
    ListResourcesResult, ReadResourceResult, Resource, ResourceContents, ResourceTemplate,
};
use serde::Deserialize;

use super::results;
use crate::Format;
use crate::serve::service::{Answer, HydrateOptions, Operation, Page, Problem};

/// What is below `os://`.
const SCHEME: &str = "os://";
const MARKDOWN: &str = "text/markdown";

/// What the service answers.
#[derive(Deserialize)]
struct Listing {
    resources: Vec<Entry>,
    cursor: Option<String>,
}

#[derive(Deserialize)]
struct Entry {
    uri: String,
    name: Option<String>,
    description: Option<String>,
    size: Option<u64>,
}

/// Asks for the part of the list that `cursor` begins.
pub(super) fn listing(cursor: Option<String>) -> Operation {
    Operation::Resources(Page {
        cursor,
        limit: None,
    })
}

pub(super) fn listed(answer: &Answer) -> Result<ListResourcesResult, ErrorData> {
    let listing: Listing = serde_json::from_slice(&answer.body)
        .map_err(|error| results::of_request(&Problem::internal(&error)))?;
    let resources = listing.resources.into_iter().map(|entry| {
        // A name that is short, and which nothing has to be read for.
        let path = entry.uri.strip_prefix(SCHEME).unwrap_or(&entry.uri);
        let name = entry.name.unwrap_or_else(|| path.to_owned());
        let mut resource = Resource::new(entry.uri, name).with_mime_type(MARKDOWN);
        resource.description = entry.description;
        // Of the file; what is read by default is longer.
        resource.size = entry.size;
        resource
    });
    let mut result = ListResourcesResult::with_all_items(resources.collect());
    result.next_cursor = listing.cursor;
    Ok(result)
}

pub(super) fn templates() -> Vec<ResourceTemplate> {
    vec![
        ResourceTemplate::new("os://{+path}", "hydrated")
            .with_title("Hydrated agent or skill")
            .with_description("The document, its lists of skills and tools replaced by what each of them is for")
            .with_mime_type(MARKDOWN),
        ResourceTemplate::new("os://{+path}{?format}", "formatted")
            .with_title("Agent or skill in a form")
            .with_description(
                "format is raw (the file as it is), link (as without a format), v2 (link with mappings) or json (the payload)",
            ),
    ]
}

/// What reads `uri`.
///
/// # Errors
///
/// It is not below `os://`, or its query is none of those.
pub(super) fn reading(uri: &str) -> Result<Operation, ErrorData> {
    let refused = |detail: String| Err(results::of_request(&Problem::invalid(detail)));
    if !uri.starts_with(SCHEME) {
        return refused("uri: only os:// is read here; the tool `hydrate` takes others".into());
    }
    let (uri, query) = match uri.split_once('?') {
        Some((uri, query)) => (uri, query),
        None => (uri, "format=link"),
    };
    let format = match query {
        "format=raw" => {
            return Ok(Operation::Resource {
                uri: uri.to_owned(),
            });
        }
        "format=link" => Format::Link,
        "format=v2" => Format::V2,
        "format=json" => Format::Json,
        _ => return refused("uri: its query must be format=raw, link, v2 or json".into()),
    };
    Ok(Operation::Hydrate(HydrateOptions {
        format,
        ..HydrateOptions::new(uri)
    }))
}

pub(super) fn read(uri: &str, answer: &Answer) -> ReadResourceResult {
    let text = String::from_utf8_lossy(&answer.body);
    let contents = ResourceContents::text(text, uri).with_mime_type(essence(answer.content_type));
    ReadResourceResult::new(vec![contents])
}

fn essence(content_type: &str) -> &str {
    content_type.split(';').next().unwrap_or_default().trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_says_in_which_form() {
        let form = |uri| match reading(uri) {
            Ok(Operation::Hydrate(options)) => Some((options.uri, Some(options.format))),
            Ok(Operation::Resource { uri }) => Some((uri, None)),
            Ok(other) => panic!("{other:?}"),
            Err(_) => None,
        };
        let a = "os://a.md".to_owned();
        assert_eq!(form("os://a.md"), Some((a.clone(), Some(Format::Link))));
        assert_eq!(
            form("os://a.md?format=json"),
            Some((a.clone(), Some(Format::Json)))
        );
        assert_eq!(
            form("os://a.md?format=v2"),
            Some((a.clone(), Some(Format::V2)))
        );
        assert_eq!(form("os://a.md?format=raw"), Some((a, None)));
        for refused in [
            "os://a.md?format=xml",
            "os://a.md?",
            "https://example.org/a.md",
            "file:///etc/passwd",
            "",
        ] {
            assert_eq!(form(refused), None, "{refused}");
        }
    }
}
