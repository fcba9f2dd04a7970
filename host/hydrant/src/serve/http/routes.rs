//! Which route asks for which operation. One table: the router is made from it, and the OpenAPI document is checked
//! against it.

use axum::Router;
use axum::extract::{FromRequestParts, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue};
use axum::response::Response;
use axum::routing::{MethodRouter, delete, get, post};
use serde::Deserialize;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::request::{Bytewise, Options, Params, Query, Segment, Who, bearer};
use super::respond::response;
use super::{App, events};
use crate::serve::service::{
    Answer, ApproveOptions, ChainOptions, GraphOptions, HydrateOptions, LoadOptions, Operation,
    Page, PlanOptions, Problem,
};

/// A route of the table.
pub(super) struct Route {
    /// As the OpenAPI document writes it.
    pub(super) method: &'static str,
    /// With `{name}` for a segment that is a name.
    pub(super) path: &'static str,
    handler: MethodRouter<App>,
}

fn route(method: &'static str, path: &'static str, handler: MethodRouter<App>) -> Route {
    Route {
        method,
        path,
        handler,
    }
}

/// Every route of the API.
pub(super) fn table() -> Vec<Route> {
    vec![
        route("get", "/healthz", get(healthz)),
        route("get", "/readyz", get(readyz)),
        route("get", "/metrics", get(metrics)),
        route("get", "/openapi.json", get(openapi)),
        route("post", "/v1/hydrate", post(hydrate)),
        route("post", "/v1/plan", post(plan)),
        route("get", "/v1/skills", get(skills)),
        route("get", "/v1/skills/{id}", get(describe)),
        route("post", "/v1/skills/{id}/run", post(run)),
        route("get", "/v1/receipts", get(receipts)),
        route("get", "/v1/receipts/{id}", get(receipt)),
        route("get", "/v1/graph", get(graph)),
        route("get", "/v1/capabilities", get(capabilities)),
        route("post", "/v1/capabilities", post(load)),
        route("get", "/v1/capabilities/{skill}", get(capability)),
        route("post", "/v1/capabilities/{skill}", post(onboard)),
        route("delete", "/v1/capabilities/{skill}", delete(unload)),
        route(
            "post",
            "/v1/capabilities/{skill}/{operation}",
            post(execute),
        ),
        route("post", "/v1/map", post(map)),
        route("get", "/v1/approvals", get(approvals)),
        route("get", "/v1/approvals/{id}", get(approval)),
        route("post", "/v1/approvals/{id}/approve", post(approve)),
        route("post", "/v1/approvals/{id}/deny", post(deny)),
        route("post", "/v1/approvals/{id}/revoke", post(revoke)),
        route("get", "/v1/chain", get(chain)),
        route("get", "/v1/resources", get(resources)),
        route("get", "/v1/workflows", get(workflows)),
        route("get", "/v1/events", get(events::stream)),
    ]
}

/// The router of the table.
pub(super) fn api(app: App) -> Router {
    let mut router = Router::new();
    for route in table() {
        tracing::trace!(method = route.method, path = route.path, "a route");
        router = router.route(route.path, route.handler);
    }
    router
        .fallback(async || Problem::not_found("route"))
        .method_not_allowed_fallback(async || {
            Problem::new(
                405,
                "method-not-allowed",
                "the route has no such method",
                "the route is there, but not for this method",
            )
        })
        .with_state(app)
}

type Answered = Result<Answer, Problem>;

/// Who asks, and whom.
struct Caller {
    app: App,
    who: Who,
    headers: HeaderMap,
}

impl FromRequestParts<App> for Caller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        Ok(Self {
            app: app.clone(),
            who: Who::from_request_parts(parts, app).await?,
            headers: parts.headers.clone(),
        })
    }
}

impl Caller {
    async fn ask(&self, operation: Operation) -> Answered {
        self.app
            .call(
                &self.who.0,
                &self.headers,
                operation,
                CancellationToken::new(),
            )
            .await
    }
}

async fn healthz() -> Answer {
    Answer::json_bytes(&br#"{"status":"ok"}"#[..])
}

async fn readyz(State(app): State<App>) -> Answered {
    if !app.service.is_ready() {
        return Err(Problem::not_ready());
    }
    Ok(Answer::json_bytes(&br#"{"status":"ready"}"#[..]))
}

async fn openapi(State(app): State<App>) -> Answer {
    Answer::json_bytes(app.openapi.clone())
}

async fn metrics(State(app): State<App>, headers: HeaderMap) -> Result<Response, Problem> {
    bearer(&headers)
        .and_then(|token| app.monitors.find(token))
        .ok_or_else(Problem::unauthenticated)?;
    let text = app
        .metrics
        .text(app.service.load())
        .map_err(|error| Problem::internal(&error))?;
    let content_type =
        HeaderValue::from_static("application/openmetrics-text; version=1.0.0; charset=utf-8");
    Ok(response(content_type, text))
}

async fn hydrate(caller: Caller, Options(options): Options<HydrateOptions>) -> Answered {
    caller.ask(Operation::Hydrate(options)).await
}

async fn plan(caller: Caller, Options(options): Options<PlanOptions>) -> Answered {
    caller.ask(Operation::Plan(options)).await
}

async fn skills(caller: Caller) -> Answered {
    caller.ask(Operation::Skills).await
}

/// Which version of a skill.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Version {
    version: Option<String>,
}

impl Version {
    fn of(self, id: String) -> String {
        match self.version {
            Some(version) => format!("{id}@{version}"),
            None => id,
        }
    }
}

async fn describe(
    caller: Caller,
    Segment(id): Segment<String>,
    Query(version): Query<Version>,
) -> Answered {
    let id = version.of(id);
    caller.ask(Operation::Describe { id }).await
}

async fn run(
    caller: Caller,
    Segment(id): Segment<String>,
    Query(version): Query<Version>,
    Bytewise(body): Bytewise,
) -> Answered {
    let request = if body.is_empty() {
        b"{}".to_vec()
    } else {
        body.to_vec()
    };
    let skill = version.of(id);
    caller.ask(Operation::Run { skill, request }).await
}

async fn receipts(caller: Caller, Query(page): Query<Page>) -> Answered {
    caller.ask(Operation::Receipts(page)).await
}

async fn receipt(caller: Caller, Segment(id): Segment<String>) -> Answered {
    caller.ask(Operation::Receipt { id }).await
}

async fn graph(caller: Caller, Query(options): Query<GraphOptions>) -> Answered {
    caller.ask(Operation::Graph(options)).await
}

async fn capabilities(caller: Caller) -> Answered {
    caller.ask(Operation::SkillList).await
}

async fn load(caller: Caller, Options(options): Options<LoadOptions>) -> Answered {
    caller.ask(Operation::SkillLoad(options)).await
}

async fn capability(caller: Caller, Segment(skill): Segment<String>) -> Answered {
    caller.ask(Operation::SkillShow { skill }).await
}

/// What a step of an onboarding asks of the user.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Onboard {
    user_input: Option<Value>,
}

async fn onboard(
    caller: Caller,
    Segment(skill): Segment<String>,
    Options(Onboard { user_input }): Options<Onboard>,
) -> Answered {
    caller
        .ask(Operation::SkillOnboard { skill, user_input })
        .await
}

/// What stays when a skill is removed.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Unload {
    #[serde(default)]
    keep_approvals: bool,
}

async fn unload(
    caller: Caller,
    Segment(skill): Segment<String>,
    Query(Unload { keep_approvals }): Query<Unload>,
) -> Answered {
    let operation = Operation::SkillUnload {
        skill,
        keep_approvals,
    };
    caller.ask(operation).await
}

async fn execute(
    caller: Caller,
    Segment((skill, operation)): Segment<(String, String)>,
    Params(params): Params,
) -> Answered {
    let operation = Operation::SkillExecute {
        skill,
        operation,
        params,
    };
    caller.ask(operation).await
}

/// A command to map.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Command {
    command: String,
}

async fn map(caller: Caller, Options(Command { command }): Options<Command>) -> Answered {
    caller.ask(Operation::Map { command }).await
}

/// Which approvals.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Listed {
    status: Option<String>,
}

async fn approvals(caller: Caller, Query(Listed { status }): Query<Listed>) -> Answered {
    caller.ask(Operation::Approvals { status }).await
}

async fn approval(caller: Caller, Segment(id): Segment<String>) -> Answered {
    caller.ask(Operation::Approval { id }).await
}

async fn approve(
    caller: Caller,
    Segment(id): Segment<String>,
    Options(options): Options<ApproveOptions>,
) -> Answered {
    caller.ask(Operation::Approve { id, options }).await
}

/// Why somebody decided so.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Because {
    reason: Option<String>,
}

async fn deny(
    caller: Caller,
    Segment(id): Segment<String>,
    Options(Because { reason }): Options<Because>,
) -> Answered {
    caller.ask(Operation::Deny { id, reason }).await
}

async fn revoke(
    caller: Caller,
    Segment(id): Segment<String>,
    Options(Because { reason }): Options<Because>,
) -> Answered {
    caller.ask(Operation::Revoke { id, reason }).await
}

async fn chain(caller: Caller, Query(options): Query<ChainOptions>) -> Answered {
    caller.ask(Operation::Chain(options)).await
}

async fn resources(caller: Caller, Query(page): Query<Page>) -> Answered {
    caller.ask(Operation::Resources(page)).await
}

async fn workflows(caller: Caller) -> Answered {
    caller.ask(Operation::Workflows).await
}
