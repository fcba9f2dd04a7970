//! The paths of the document.

mod governed;

use serde_json::{Map, Value, json};

use super::problems;

/// One operation of a path.
struct Described {
    method: &'static str,
    id: &'static str,
    tag: &'static str,
    summary: &'static str,
    parameters: Vec<Value>,
    body: Option<&'static str>,
    /// Media types of the answer, with the schemas of what is JSON.
    answers: &'static [(&'static str, &'static str)],
    further: &'static [&'static str],
}

const TEXT: &str = "Text";

impl Described {
    fn new(
        method: &'static str,
        id: &'static str,
        tag: &'static str,
        summary: &'static str,
        answers: &'static [(&'static str, &'static str)],
    ) -> Self {
        Self {
            method,
            id,
            tag,
            summary,
            parameters: Vec::new(),
            body: None,
            answers,
            further: &[],
        }
    }

    fn body(self, schema: &'static str) -> Self {
        Self {
            body: Some(schema),
            ..self
        }
    }

    fn with(mut self, parameters: impl IntoIterator<Item = Value>) -> Self {
        self.parameters.extend(parameters);
        self
    }

    fn may_be_unknown(self) -> Self {
        Self {
            further: &["404"],
            ..self
        }
    }

    fn to_json(&self) -> Value {
        let content: Map<String, Value> = self
            .answers
            .iter()
            .map(|(media, schema)| {
                let uri = format!("#/components/schemas/{schema}");
                ((*media).to_owned(), json!({ "schema": { "$ref": uri } }))
            })
            .collect();
        let mut responses = problems(self.further);
        let mut done = json!({ "description": "Done.", "content": content });
        if self.id == "runSkill"
            && let Some(members) = done.as_object_mut()
        {
            let header = json!({
                "description": "The id of the receipt.",
                "schema": { "type": "string", "pattern": "^rcpt_[0-9A-HJKMNP-TV-Z]{26}$" },
            });
            members.insert("headers".into(), json!({ "Hydrant-Receipt": header }));
        }
        responses.insert("200".into(), done);
        let mut described = json!({
            "operationId": self.id,
            "tags": [self.tag],
            "summary": self.summary,
            "parameters": self.parameters,
            "responses": responses,
        });
        if let (Some(schema), Some(members)) = (self.body, described.as_object_mut()) {
            let uri = format!("#/components/schemas/{schema}");
            let required = !matches!(schema, "Approve" | "Because" | "Params" | "AnyJson");
            let body = json!({
                "required": required,
                "content": { "application/json": { "schema": { "$ref": uri } } },
            });
            members.insert("requestBody".into(), body);
        }
        described
    }
}

fn segment(name: &str, description: &str) -> Value {
    json!({
        "name": name, "in": "path", "required": true, "description": description,
        "schema": { "type": "string", "minLength": 1 },
    })
}

fn query(name: &str, description: &str, schema: Value) -> Value {
    let mut parameter = json!({ "name": name, "in": "query", "description": description });
    if let Some(members) = parameter.as_object_mut() {
        members.insert("schema".into(), schema);
    }
    parameter
}

fn page() -> [Value; 2] {
    [
        query(
            "cursor",
            "Where the part before ended.",
            json!({ "type": "string" }),
        ),
        query(
            "limit",
            "Entries of this part; 100 unless said.",
            json!({ "type": "integer", "minimum": 1, "maximum": 1000 }),
        ),
    ]
}

fn session() -> Value {
    json!({
        "name": "Hydrant-Session", "in": "header",
        "description": "A session that calls share, and its budget with it.",
        "schema": { "type": "string", "pattern": "^[A-Za-z0-9._-]{1,64}$" },
    })
}

const JSON: &str = "application/json";
const MARKDOWN: &str = "text/markdown";

/// Health and the document need no token.
fn open(mut described: Value, readiness: bool) -> Value {
    if let Some(members) = described.as_object_mut() {
        members.insert("security".into(), json!([]));
        let mut responses = Map::new();
        if let Some(done) = members.get("responses").and_then(|all| all.get("200")) {
            responses.insert("200".into(), done.clone());
        }
        if readiness {
            let busy = json!({ "$ref": "#/components/responses/503" });
            responses.insert("503".into(), busy);
        }
        members.insert("responses".into(), Value::Object(responses));
    }
    described
}

/// All of them.
pub(super) fn paths() -> Value {
    let mut paths: Map<String, Value> = Map::new();
    let mut add = |path: &str, method: &str, described: Value| {
        let methods = paths.entry(path.to_owned()).or_insert_with(|| json!({}));
        if let Some(methods) = methods.as_object_mut() {
            methods.insert(method.to_owned(), described);
        }
    };
    for (path, id, summary, schema) in [
        ("/healthz", "health", "Whether the process lives.", "Status"),
        ("/readyz", "ready", "Whether calls are taken.", "Status"),
        ("/openapi.json", "openapi", "This document.", "AnyJson"),
    ] {
        let media: &'static [(&str, &str)] = match schema {
            "Status" => &[(JSON, "Status")],
            _ => &[(JSON, "AnyJson")],
        };
        let described = Described::new("get", id, "service", summary, media).to_json();
        add(path, "get", open(described, path == "/readyz"));
    }
    for (path, described) in described() {
        add(path, described.method, described.to_json());
    }
    Value::Object(paths)
}

fn described() -> Vec<(&'static str, Described)> {
    let mut all = skills();
    all.extend(governed::capabilities());
    all.extend(governed::approvals());
    all
}

fn skills() -> Vec<(&'static str, Described)> {
    let version = || {
        query(
            "version",
            "The highest unless said.",
            json!({ "type": "string" }),
        )
    };
    vec![
        (
            "/metrics",
            Described::new(
                "get",
                "metrics",
                "service",
                "Numbers for Prometheus; for tokens of `metrics_token_digests` only.",
                &[("application/openmetrics-text", TEXT)],
            ),
        ),
        (
            "/v1/hydrate",
            Described::new(
                "post",
                "hydrate",
                "skills",
                "Hydrates an agent or a skill: its content, and what each dependency is for.",
                &[(JSON, "AnyJson"), (MARKDOWN, TEXT)],
            )
            .body("Hydrate")
            .may_be_unknown(),
        ),
        (
            "/v1/plan",
            Described::new(
                "post",
                "plan",
                "skills",
                "Plans what to do about a prompt.",
                &[(JSON, "AnyJson"), (MARKDOWN, TEXT)],
            )
            .body("Plan")
            .may_be_unknown(),
        ),
        (
            "/v1/skills",
            Described::new(
                "get",
                "skills",
                "skills",
                "The pinned skills.",
                &[(JSON, "Skills")],
            ),
        ),
        (
            "/v1/skills/{id}",
            Described::new(
                "get",
                "describeSkill",
                "skills",
                "What a pinned skill says of itself, with the schemas of its request and response.",
                &[(JSON, "Skill")],
            )
            .with([segment("id", "Such as `content.hydrate`."), version()])
            .may_be_unknown(),
        ),
        (
            "/v1/skills/{id}/run",
            Described::new(
                "post",
                "runSkill",
                "skills",
                "Runs a pinned skill; the answer is its response.",
                &[(JSON, "AnyJson")],
            )
            .with([segment("id", "Such as `json.validate`."), version()])
            .body("AnyJson")
            .may_be_unknown(),
        ),
        (
            "/v1/receipts",
            Described::new(
                "get",
                "receipts",
                "skills",
                "The receipts of runs, newest first.",
                &[(JSON, "Receipts")],
            )
            .with(page()),
        ),
        (
            "/v1/receipts/{id}",
            Described::new(
                "get",
                "receipt",
                "skills",
                "A receipt.",
                &[(JSON, "AnyJson")],
            )
            .with([segment("id", "`rcpt_…`")])
            .may_be_unknown(),
        ),
        (
            "/v1/graph",
            Described::new(
                "get",
                "graph",
                "skills",
                "The dependency graph of an agent.",
                &[
                    (JSON, "AnyJson"),
                    ("text/vnd.mermaid", TEXT),
                    ("text/vnd.graphviz", TEXT),
                    ("image/svg+xml", TEXT),
                ],
            )
            .with([
                json!({
                    "name": "uri", "in": "query", "required": true,
                    "description": "As in a hydration.",
                    "schema": { "type": "string", "minLength": 1 },
                }),
                query(
                    "format",
                    "json unless said.",
                    json!({ "enum": ["json", "mermaid", "dot", "svg"] }),
                ),
                query(
                    "depth",
                    "Levels; 1 unless said.",
                    json!({ "type": "integer", "minimum": 1, "maximum": 16 }),
                ),
            ])
            .may_be_unknown(),
        ),
        (
            "/v1/resources",
            Described::new(
                "get",
                "resources",
                "skills",
                "Agents and skills below os://.",
                &[(JSON, "Resources")],
            )
            .with(page()),
        ),
        (
            "/v1/workflows",
            Described::new(
                "get",
                "workflows",
                "skills",
                "The workflows that a plan may follow.",
                &[(JSON, "Workflows")],
            )
            .may_be_unknown(),
        ),
    ]
}
