//! HTTP: the routes of the service, and the server that keeps connections within bounds.
//!
//! | file | subject |
//! |---|---|
//! | `routes` | which route asks for which operation |
//! | `request` | who asks (bearer token), and the body of a request, within its limits |
//! | `respond` | answers and problems as HTTP |
//! | `events` | the stream of changes |
//! | `mcp` | the Model Context Protocol, which has an endpoint of its own |
//! | `openapi` | the document that describes it all |
//! | `metrics`, `trace` | numbers for Prometheus, spans for OpenTelemetry |
//! | `connection` | one connection: its timeouts, and whose it is |
//! | `patient`, `unauthenticated` | who reads nothing, and who shows no token |
//! | `server` | the listener, and how it ends |
//!
//! Everything but health, the OpenAPI document and the files of the console needs a bearer token.

mod connection;
mod events;
mod mcp;
mod metrics;
mod openapi;
mod patient;
mod request;
mod respond;
mod routes;
mod server;
mod trace;
mod unauthenticated;

use std::sync::Arc;
use std::time::Instant;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, Method};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use tokio_util::sync::CancellationToken;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::cors::{AllowHeaders, AllowOrigin, CorsLayer};

use self::metrics::Metrics;
use self::trace::Tracer;
use crate::serve::console;
use crate::serve::operations::{self, Call};
use crate::serve::service::{Answer, Identity, Problem, Service};
use crate::serve::tenants::Tokens;

pub use self::server::{Server, ServerError};
pub use self::trace::TraceError;

/// What every handler sees. Cheap to clone.
#[derive(Clone)]
pub(crate) struct App(Arc<Shared>);

pub(crate) struct Shared {
    pub(crate) service: Service,
    metrics: Metrics,
    /// Those that may read the metrics of all tenants.
    monitors: Tokens,
    tracer: Option<Tracer>,
    openapi: bytes::Bytes,
}

impl std::ops::Deref for App {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        &self.0
    }
}

impl App {
    fn new(service: Service, tracer: Option<Tracer>) -> Self {
        let mut monitors = Tokens::default();
        for digest in &service.config().table.metrics_token_digests {
            monitors.add(digest, 0);
        }
        Self(Arc::new(Shared {
            metrics: Metrics::new(),
            monitors,
            tracer,
            openapi: openapi::document(operations::table()).to_string().into(),
            service,
        }))
    }

    /// Does an operation, counted and traced.
    pub(crate) async fn call(
        &self,
        who: &Identity,
        headers: &HeaderMap,
        call: Call,
        cancel: CancellationToken,
    ) -> Result<Answer, Problem> {
        let (tenant, name, started) = (who.tenant.name(), call.declaration().name, Instant::now());
        let tracer = self.tracer.as_ref();
        let span = tracer.map(|tracer| tracer.begin(headers, tenant, name));
        let result = self.service.call(who, call, cancel).await;
        let (outcome, status) = match &result {
            Ok(_) => ("done", 200),
            Err(problem) => (problem.outcome(), problem.status),
        };
        let took = started.elapsed();
        self.metrics.called(tenant, name, outcome, took);
        tracing::info!(tenant, operation = name, outcome, status, ?took, "answered");
        if let Some(span) = span {
            trace::end(span, outcome, status);
        }
        result
    }

    fn flush(&self) {
        if let Some(tracer) = &self.tracer {
            tracer.flush();
        }
    }
}

/// Every route.
fn router(app: App) -> Router {
    let origins = app.service.config().table.origins.clone();
    let all = routes::api(app.clone(), operations::table())
        .merge(mcp::router(app.clone()))
        .merge(console::router())
        .layer(from_fn_with_state(app, check_request));
    contained(if origins.is_empty() {
        all
    } else {
        all.layer(cors(&origins))
    })
}

/// Lets pages of these origins ask, and read what is answered (Fetch Standard, CORS protocol).
fn cors(origins: &[String]) -> CorsLayer {
    let origins = origins.iter().filter_map(|origin| origin.parse().ok());
    CorsLayer::new()
        .allow_origin(AllowOrigin::list(origins))
        .allow_methods([Method::GET, Method::POST, Method::DELETE])
        .allow_headers(AllowHeaders::mirror_request())
        .expose_headers(["mcp-session-id", "hydrant-receipt"].map(HeaderName::from_static))
}

/// Refuses a request with a header twice that may be there once, or for another host, whatever the route.
async fn check_request(
    State(app): State<App>,
    request: Request,
    next: Next,
) -> Result<Response, Problem> {
    request::unambiguous(request.headers())?;
    let table = &app.service.config().table;
    request::check_host(request.version(), request.headers(), table)?;
    Ok(next.run(request).await)
}

/// A handler that breaks off is a problem like any other, and its connection goes on.
fn contained(router: Router) -> Router {
    router.layer(CatchPanicLayer::custom(broke_off))
}

fn broke_off(_: Box<dyn std::any::Any + Send>) -> Response {
    Problem::internal(&"a handler broke off").into_response()
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use axum::routing::get;
    use tower::ServiceExt;

    use super::*;

    #[tokio::test]
    async fn whatever_route_breaks_off_is_answered() {
        let breaks = get(async || -> &'static str { panic!("broke off") });
        let router = contained(Router::new().merge(Router::new().route("/mcp", breaks)));
        let request = Request::get("/mcp").body(Body::empty()).unwrap();
        assert_eq!(router.oneshot(request).await.unwrap().status(), 500);
    }
}
