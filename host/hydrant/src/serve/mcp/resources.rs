//! Agents and skills below `os://`: listed by the service, read hydrated or as they are.
//!
//! What an agent needs of one is the hydrated document, so that is what a plain URI reads. A query says otherwise:
//! `?format=raw` is the file, `json` and `v2` are the other forms of a hydration. No `os://` URI has a query of its own.

use rmcp::ErrorData;
use rmcp::model::{
    ListResourcesResult, ReadResourceResult, Resource, ResourceContents, ResourceTemplate,
};

use super::results;
use crate::Format;
use crate::serve::operations::{self, Call, Hydrate, Page, ResourceList, Resources};
use crate::serve::service::{Answer, Problem};

/// What is below `os://`.
const SCHEME: &str = "os://";
const MARKDOWN: &str = "text/markdown";

/// Asks for the part of the list that `cursor` begins.
pub(super) fn listing(cursor: Option<String>) -> Call {
    Call::new(Resources(Page {
        cursor,
        limit: None,
    }))
}

pub(super) fn listed(answer: &Answer) -> Result<ListResourcesResult, ErrorData> {
    let listing: ResourceList = serde_json::from_slice(&answer.body)
        .map_err(|error| results::of_request(&Problem::internal(&error)))?;
    // The size of what is read is not that of the file, and nothing is read for the list.
    let resources = listing
        .resources
        .into_iter()
        .map(|entry| Resource::new(entry.uri, entry.name).with_mime_type(entry.mime_type));
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

/// Returns the call that reads `uri`.
///
/// # Errors
///
/// It is not below `os://`, or its query is none of those.
pub(super) fn reading(uri: &str) -> Result<Call, ErrorData> {
    let (uri, format) = parse(uri).map_err(|detail| {
        let problem = Problem::invalid(detail);
        results::of_request(&problem)
    })?;
    Ok(match format {
        None => Call::new(operations::Resource {
            uri: uri.to_owned(),
        }),
        Some(format) => Call::new(Hydrate {
            format,
            ..Hydrate::new(uri)
        }),
    })
}

/// The URI without its query, and the form of hydration that this asks for; none: the file as it is.
fn parse(uri: &str) -> Result<(&str, Option<Format>), &'static str> {
    if !uri.starts_with(SCHEME) {
        return Err("uri: only os:// is read here; the tool `hydrate` takes others");
    }
    let (uri, query) = uri.split_once('?').unwrap_or((uri, "format=link"));
    let format = match query {
        "format=raw" => None,
        "format=link" => Some(Format::Link),
        "format=v2" => Some(Format::V2),
        "format=json" => Some(Format::Json),
        _ => return Err("uri: its query must be format=raw, link, v2 or json"),
    };
    Ok((uri, format))
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
        let a = "os://a.md";
        assert_eq!(parse("os://a.md"), Ok((a, Some(Format::Link))));
        let json = parse("os://a.md?format=json");
        assert_eq!(json, Ok((a, Some(Format::Json))));
        assert_eq!(parse("os://a.md?format=v2"), Ok((a, Some(Format::V2))));
        assert_eq!(parse("os://a.md?format=raw"), Ok((a, None)));
        for refused in [
            "os://a.md?format=xml",
            "os://a.md?",
            "https://example.org/a.md",
            "file:///etc/passwd",
            "",
        ] {
            assert!(parse(refused).is_err(), "{refused}");
        }
    }
}
