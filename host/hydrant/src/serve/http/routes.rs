//! The routes: those of the operations, made from their table, and a few that are none.

use axum::Router;
use axum::extract::{FromRequestParts, Request, State};
use axum::http::{HeaderMap, HeaderValue};
use axum::response::Response;
use axum::routing::{MethodFilter, get, on};
use tokio_util::sync::CancellationToken;

use super::request::{self, Who, bearer};
use super::respond::response;
use super::{App, events};
use crate::serve::operations::{Method, Operation, Route};
use crate::serve::service::{Answer, Problem};

/// The router of these operations.
pub(super) fn api(app: App, operations: &'static [Operation]) -> Router {
    let mut router = Router::new()
        .route("/healthz", get(healthz))
        .route("/readyz", get(readyz))
        .route("/metrics", get(metrics))
        .route("/openapi.json", get(openapi))
        .route("/v1/events", get(events::stream));
    for operation in operations {
        let Some(route) = &operation.declaration.route else {
            continue;
        };
        let method = match route.method {
            Method::Get => MethodFilter::GET,
            Method::Post => MethodFilter::POST,
            Method::Delete => MethodFilter::DELETE,
        };
        let handler =
            move |State(app): State<App>, request: Request| answer(operation, route, app, request);
        router = router.route(route.path, on(method, handler));
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

/// Answers a request for an operation. Who asks is known before anything else is looked at.
async fn answer(
    operation: &Operation,
    route: &Route,
    app: App,
    request: Request,
) -> Result<Answer, Problem> {
    let (mut parts, body) = request.into_parts();
    let Who(who) = Who::from_request_parts(&mut parts, &app).await?;
    let call = request::call(operation, route, &mut parts, body, &app).await?;
    let cancel = CancellationToken::new();
    app.call(&who, &parts.headers, call, cancel).await
}

async fn healthz() -> Answer {
    Answer::json_bytes(&br#"{"status":"ok"}"#[..])
}

async fn readyz(State(app): State<App>) -> Result<Answer, Problem> {
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

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use axum::body::Body;
    use http_body_util::BodyExt;
    use serde_json::{Value, json};
    use tower::ServiceExt;

    use super::*;
    use crate::serve::config::ServeConfig;
    use crate::serve::operations::testing;
    use crate::serve::service::Service;
    use crate::serve::tenants::token_digest;

    async fn get(router: &Router, path: &str, token: &str) -> (u16, Value) {
        let request = Request::get(path)
            .header("authorization", format!("Bearer {token}"))
            .body(Body::empty())
            .unwrap();
        let answer = router.clone().oneshot(request).await.unwrap();
        let status = answer.status().as_u16();
        let body = answer.into_body().collect().await.unwrap().to_bytes();
        (status, serde_json::from_slice(&body).unwrap())
    }

    #[tokio::test]
    async fn an_operation_is_served_by_its_declaration() {
        let folder = tempfile::tempdir().unwrap();
        let mut config = ServeConfig {
            home: folder.path().join("home"),
            ..ServeConfig::default()
        };
        config.table.tenants = folder.path().join("tenants.toml");
        let tokens = ["caller", "approver"].map(|role| {
            let digest = token_digest(role);
            format!("[[tenant.token]]\nrole = \"{role}\"\ndigest = \"{digest}\"\n")
        });
        let text = format!("[[tenant]]\nname = \"acme\"\n{}", tokens.concat());
        fs::write(&config.table.tenants, text).unwrap();
        let mode = fs::Permissions::from_mode(0o600);
        fs::set_permissions(&config.table.tenants, mode).unwrap();
        let (service, _) = Service::open(&config).unwrap();
        let router = api(App::new(service, None), testing::table());

        let path = "/v1/repeat/a%2Fb?times=2&spaced=true";
        let (status, answer) = get(&router, path, "caller").await;
        assert_eq!((status, answer), (200, json!({ "text": "a/b a/b" })));
        assert_eq!(get(&router, path, "approver").await.0, 403);
        assert_eq!(get(&router, path, "nobody").await.0, 401);
        for (query, why) in [
            ("times=x", "times: invalid digit found in string"),
            ("times=-1", "invalid value: integer `-1`, expected u8"),
            ("times=1&times=2", "duplicate field `times`"),
            (
                "word=b",
                "unknown field `word`, expected one of `times`, `spaced`",
            ),
            (
                "spaced=1",
                "spaced: provided string was not `true` or `false`",
            ),
            (
                "often=1",
                "unknown field `often`, expected one of `times`, `spaced`",
            ),
        ] {
            let (status, problem) = get(&router, &format!("/v1/repeat/a?{query}"), "caller").await;
            assert_eq!((status, &problem["code"]), (400, &json!("invalid-request")));
            assert_eq!(problem["detail"], format!("the query: {why}"));
        }
    }
}
