//! The OpenAPI 3.1 document, served at `/openapi.json`. Tests hold it against the table of routes.

mod paths;
mod schemas;

use serde_json::{Map, Value, json};

/// The document.
#[must_use]
pub fn document() -> Value {
    json!({
        "openapi": "3.1.1",
        "info": {
            "title": "hydrant",
            "summary": "A host for agent skills: hydrate, run and verify them inside WebAssembly.",
            "version": env!("CARGO_PKG_VERSION"),
            "license": { "name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0" },
        },
        "servers": [{ "url": "/" }],
        "security": [{ "bearer": [] }],
        "tags": [
            { "name": "skills", "description": "Pinned skills: hydration, planning, runs and their receipts." },
            { "name": "capabilities", "description": "Foreign skills: loaded, governed, executed." },
            { "name": "approvals", "description": "What a person decides." },
            { "name": "service", "description": "Health, metrics, this document." },
        ],
        "paths": paths::paths(),
        "components": {
            "securitySchemes": {
                "bearer": { "type": "http", "scheme": "bearer" },
            },
            "schemas": schemas::schemas(),
            "responses": responses(),
            "headers": {
                "Retry-After": {
                    "description": "Seconds after which it is worth to try again.",
                    "schema": { "type": "integer", "minimum": 1 },
                },
            },
        },
    })
}

/// Statuses of problems that any route with a token may answer.
const ANY: [(&str, &str); 10] = [
    ("400", "The request is not valid."),
    ("401", "No bearer token that is known."),
    (
        "403",
        "The role of the token, the policy or governance forbids it.",
    ),
    ("408", "The body came too slowly."),
    ("413", "The body is too large."),
    ("415", "The body is not JSON."),
    (
        "422",
        "The skill, the document or the operation refuses the request.",
    ),
    ("424", "What the operation relies on failed."),
    ("429", "A limit of the tenant."),
    ("503", "The service is busy or ends."),
];

/// The problems that a route may answer, and `further` ones.
fn problems(further: &[&str]) -> Map<String, Value> {
    let named = ANY.iter().map(|(status, _)| *status);
    named
        .chain(further.iter().copied())
        .map(|status| {
            let uri = format!("#/components/responses/{status}");
            (status.to_owned(), json!({ "$ref": uri }))
        })
        .collect()
}

fn responses() -> Map<String, Value> {
    let more = [
        ("404", "There is no such thing, or it is not the tenant's."),
        ("405", "The route has no such method."),
    ];
    let response = |(status, description): (&str, &str)| {
        let mut response = json!({
            "description": description,
            "content": {
                "application/problem+json": { "schema": { "$ref": "#/components/schemas/Problem" } },
            },
        });
        if matches!(status, "429" | "503")
            && let Some(members) = response.as_object_mut()
        {
            let header = json!({ "$ref": "#/components/headers/Retry-After" });
            members.insert("headers".into(), json!({ "Retry-After": header }));
        }
        (status.to_owned(), response)
    };
    ANY.into_iter().chain(more).map(response).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_route_is_in_the_document_and_the_reverse() {
        let routed: BTreeSet<(String, String)> = super::super::routes::table()
            .iter()
            .map(|route| (route.path.to_owned(), route.method.to_owned()))
            .collect();
        let document = document();
        let described: BTreeSet<(String, String)> = document["paths"]
            .as_object()
            .unwrap()
            .iter()
            .flat_map(|(path, methods)| {
                let methods = methods.as_object().unwrap().keys();
                methods.map(|method| (path.clone(), method.clone()))
            })
            .collect();
        assert_eq!(routed, described);
    }

    #[test]
    fn every_reference_leads_somewhere_and_every_operation_has_a_name_of_its_own() {
        fn walk<'a>(value: &'a Value, references: &mut Vec<&'a str>, names: &mut Vec<&'a str>) {
            match value {
                Value::Object(members) => {
                    for (name, value) in members {
                        match (name.as_str(), value.as_str()) {
                            ("$ref", Some(uri)) => references.push(uri),
                            ("operationId", Some(id)) => names.push(id),
                            _ => walk(value, references, names),
                        }
                    }
                }
                Value::Array(all) => {
                    for value in all {
                        walk(value, references, names);
                    }
                }
                _ => {}
            }
        }
        let document = document();
        let (mut references, mut names) = (Vec::new(), Vec::new());
        walk(&document, &mut references, &mut names);
        assert!(references.len() > 100);
        for uri in references {
            let pointer = uri.strip_prefix('#').unwrap();
            assert!(document.pointer(pointer).is_some(), "{uri}");
        }
        let distinct: BTreeSet<_> = names.iter().collect();
        assert_eq!(distinct.len(), names.len());
    }
}
