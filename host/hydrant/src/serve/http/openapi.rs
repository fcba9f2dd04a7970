//! The OpenAPI 3.1 document, served at `/openapi.json`: made from the operations, but for the routes that are none.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::serve::operations::{BodyKind, Operation, Route};

const JSON: &str = "application/json";

/// The document of these operations.
pub(super) fn document(operations: &[Operation]) -> Value {
    let mut schemas = schemas();
    let mut paths = service_paths();
    for operation in operations {
        let Some(route) = &operation.declaration.route else {
            continue;
        };
        if let Some(methods) = paths
            .entry(route.path)
            .or_insert_with(|| json!({}))
            .as_object_mut()
        {
            let described = described(operation, route, &mut schemas);
            methods.insert(route.method.as_str().to_ascii_lowercase(), described);
        }
    }
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
        "paths": paths,
        "components": {
            "securitySchemes": { "bearer": { "type": "http", "scheme": "bearer" } },
            "schemas": schemas,
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

/// Describes an operation; named schemas go to `schemas`.
fn described(operation: &Operation, route: &Route, schemas: &mut Map<String, Value>) -> Value {
    let declaration = operation.declaration;
    let mut parameters: Vec<Value> = route
        .segments()
        .map(|name| parameter(operation, "path", name))
        .collect();
    let in_query = operation.in_query(route);
    parameters.extend(in_query.map(|(name, _)| parameter(operation, "query", name)));
    if declaration.has_session {
        parameters.push(json!({
            "name": "Hydrant-Session", "in": "header",
            "description": "A session that calls share, and its budget with it.",
            "schema": { "type": "string", "pattern": "^[A-Za-z0-9._-]{1,64}$" },
        }));
    }
    let response = operation.response_name.as_ref();
    schemas.insert(response.to_owned(), operation.response.clone());
    let mut content = Map::from_iter([(JSON.to_owned(), media(response))]);
    let others = declaration.also_answers.iter();
    content.extend(others.map(|&other| (other.to_owned(), media("Text"))));
    let mut done = json!({ "description": "Done.", "content": content });
    if declaration.has_receipt {
        insert(
            &mut done,
            "headers",
            json!({ "Hydrant-Receipt": {
                "description": "The id of the receipt.",
                "schema": { "type": "string", "pattern": "^rcpt_[0-9A-HJKMNP-TV-Z]{26}$" },
            } }),
        );
    }
    let may_be_unknown = declaration.may_be_unknown || route.segments().next().is_some();
    let mut described = json!({
        "operationId": route.id,
        "tags": [route.tag],
        "summary": operation.summary,
        "parameters": parameters,
        "responses": answers(done, if may_be_unknown { &["404"] } else { &[] }),
    });
    let body = match route.body {
        BodyKind::None => return described,
        BodyKind::Members => {
            let schema = body_schema(operation, route);
            let is_required = schema.get("required").is_some();
            let name = operation.request_name.as_ref();
            schemas.insert(name.to_owned(), schema);
            json!({ "required": is_required, "content": { JSON: media(name) } })
        }
        BodyKind::Member(name) => {
            let schema = operation.member(name);
            json!({ "required": false, "content": { JSON: { "schema": schema } } })
        }
        BodyKind::Bytes => json!({ "required": false, "content": { JSON: media("AnyJson") } }),
    };
    insert(&mut described, "requestBody", body);
    described
}

/// The schema of a request without the members that stand in the path.
fn body_schema(operation: &Operation, route: &Route) -> Value {
    let mut schema = operation.request.clone();
    let in_path = |name: &str| route.segments().any(|segment| segment == name);
    if let Some(Value::Object(members)) = schema.get_mut("properties") {
        members.retain(|name, _| !in_path(name));
    }
    if let Some(members) = schema.as_object_mut()
        && let Some(Value::Array(required)) = members.get_mut("required")
    {
        required.retain(|name| !name.as_str().is_some_and(in_path));
        if required.is_empty() {
            members.remove("required");
        }
    }
    schema
}

fn parameter(operation: &Operation, place: &str, name: &str) -> Value {
    let mut schema = operation.member(name).cloned().unwrap_or_default();
    let description = schema
        .as_object_mut()
        .and_then(|schema| schema.remove("description"));
    let required = operation.request.get("required").and_then(Value::as_array);
    let is_required = required.is_some_and(|all| all.iter().any(|one| one == name));
    if place == "path" {
        insert(&mut schema, "minLength", json!(1));
    }
    json!({
        "name": name, "in": place, "required": is_required, "description": description.unwrap_or_default(),
        "schema": schema,
    })
}

fn media(schema: &str) -> Value {
    json!({ "schema": { "$ref": format!("#/components/schemas/{schema}") } })
}

fn insert(object: &mut Value, name: &str, value: Value) {
    if let Some(members) = object.as_object_mut() {
        members.insert(name.to_owned(), value);
    }
}

/// The routes that are no operation of a tenant. Health and this document need no token.
fn service_paths() -> BTreeMap<&'static str, Value> {
    let routes = [
        (
            "/healthz",
            "health",
            "Whether the process lives.",
            JSON,
            "Status",
        ),
        (
            "/readyz",
            "ready",
            "Whether calls are taken.",
            JSON,
            "Status",
        ),
        (
            "/openapi.json",
            "openapi",
            "This document.",
            JSON,
            "AnyJson",
        ),
        (
            "/metrics",
            "metrics",
            "Numbers for Prometheus; for tokens of `metrics_token_digests` only.",
            "application/openmetrics-text",
            "Text",
        ),
        (
            "/v1/events",
            "events",
            "Changes as they happen, as server-sent events.",
            "text/event-stream",
            "Text",
        ),
    ];
    let described = routes.map(|(path, id, summary, media_type, schema)| {
        let done = json!({ "description": "Done.", "content": { media_type: media(schema) } });
        let is_open = media_type == JSON;
        let responses = match id {
            "ready" => json!({ "200": done, "503": { "$ref": "#/components/responses/503" } }),
            _ if is_open => json!({ "200": done }),
            _ => answers(done, &[]),
        };
        let tag = if id == "events" { "approvals" } else { "service" };
        let mut described = json!({
            "operationId": id, "tags": [tag], "summary": summary, "parameters": [], "responses": responses,
        });
        if is_open {
            insert(&mut described, "security", json!([]));
        }
        (path, json!({ "get": described }))
    });
    BTreeMap::from(described)
}

/// Schemas that no type of an operation has.
fn schemas() -> Map<String, Value> {
    let schemas = json!({
        "AnyJson": { "description": "JSON of the skill, the plan or the governor." },
        "Text": { "type": "string" },
        "Status": {
            "type": "object",
            "required": ["status"],
            "properties": { "status": { "enum": ["ok", "ready"] } },
        },
        "Problem": {
            "description": "RFC 9457",
            "type": "object",
            "required": ["type", "title", "status", "detail", "code"],
            "properties": {
                "type": { "type": "string", "format": "uri" },
                "title": { "type": "string" },
                "status": { "type": "integer", "minimum": 400, "maximum": 599 },
                "detail": { "type": "string" },
                "code": { "type": "string", "description": "Stable." },
                "retry_after": { "type": "integer", "minimum": 1, "description": "Seconds." },
            },
        },
    });
    match schemas {
        Value::Object(schemas) => schemas,
        _ => Map::new(),
    }
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

/// The answer of a call that is done, and the problems of one that is not.
fn answers(done: Value, further: &[&str]) -> Value {
    let problems = ANY.iter().map(|(status, _)| status).chain(further);
    let problems = problems.map(|status| {
        let uri = format!("#/components/responses/{status}");
        ((*status).to_owned(), json!({ "$ref": uri }))
    });
    let mut all: Map<String, Value> = problems.collect();
    all.insert("200".to_owned(), done);
    Value::Object(all)
}

fn responses() -> Map<String, Value> {
    let more = [
        ("404", "There is no such thing, or it is not the tenant's."),
        ("405", "The route has no such method."),
    ];
    let response = |(status, description): (&str, &str)| {
        let mut response = json!({
            "description": description,
            "content": { "application/problem+json": media("Problem") },
        });
        if matches!(status, "429" | "503") {
            let header = json!({ "Retry-After": { "$ref": "#/components/headers/Retry-After" } });
            insert(&mut response, "headers", header);
        }
        (status.to_owned(), response)
    };
    ANY.into_iter().chain(more).map(response).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::serve::operations::{table, testing};

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
        let document = document(table());
        let (mut references, mut names) = (Vec::new(), Vec::new());
        walk(&document, &mut references, &mut names);
        assert!(references.len() > 100);
        for uri in references {
            let pointer = uri.strip_prefix('#').unwrap();
            assert!(document.pointer(pointer).is_some(), "{uri}");
        }
        let distinct: BTreeSet<_> = names.iter().collect();
        assert_eq!(distinct.len(), names.len());
        assert_eq!(names.len(), 28);
    }

    #[test]
    fn an_operation_is_described_by_its_declaration() {
        let document = document(testing::table());
        let described = &document["paths"]["/v1/repeat/{word}"]["get"];
        assert_eq!(described["operationId"], "repeat");
        assert_eq!(described["summary"], "Repeats a word.");
        assert_eq!(
            described["parameters"],
            json!([
                { "name": "word", "in": "path", "required": true, "description": "what is repeated",
                  "schema": { "type": "string", "minLength": 1 } },
                { "name": "times", "in": "query", "required": false, "description": "how often",
                  "schema": { "type": "integer", "default": 0, "minimum": 0, "maximum": 10 } },
                { "name": "spaced", "in": "query", "required": false, "description": "with a blank between two",
                  "schema": { "type": "boolean", "default": false } },
            ])
        );
        let schema = &document["components"]["schemas"]["Repeated"];
        assert_eq!(schema["properties"]["text"]["type"], "string");
    }
}
