//! `/mcp`: the Model Context Protocol over streamable HTTP, for clients with a token.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use bytes::Bytes;
use tokio_util::sync::CancellationToken;

use super::App;
use super::connection::Connection;
use super::request::{self, identify};
use crate::govern::client::Frontend;
use crate::serve::mcp::{Called, Calls, HttpOptions, StreamableHttp, keep_arguments};
use crate::serve::operations::Call;
use crate::serve::service::{Identity, Problem};

pub(super) fn router(app: App) -> Router {
    let options = HttpOptions {
        request_bytes: app.service.config().table.request_bytes,
        ending: app.service.ending(),
    };
    let calls = Arc::new(app.clone());
    let endpoint = StreamableHttp::new(app.service.clone(), calls, options);
    Router::new()
        .route("/mcp", any(handle))
        .with_state((app, endpoint))
}

/// Counts and traces calls as those of the other routes.
impl Calls for App {
    fn call<'a>(
        &'a self,
        who: &'a Identity,
        headers: &'a HeaderMap,
        call: Call,
        cancel: CancellationToken,
    ) -> Called<'a> {
        Box::pin(App::call(self, who, headers, call, cancel))
    }
}

async fn handle(
    State((app, endpoint)): State<(App, StreamableHttp)>,
    request: Request,
) -> Response {
    match read(&app, request).await {
        Ok((who, request)) => endpoint.handle(who, request).await,
        Err(problem) => problem.into_response(),
    }
}

/// Reads the identity and the whole request, within the limits of the other routes.
async fn read(app: &App, request: Request) -> Result<(Identity, Request<Bytes>), Problem> {
    let connection = request.extensions().get::<Arc<Connection>>().cloned();
    let who = identify(app, request.headers(), connection.as_deref(), Frontend::Mcp)?;
    let (mut parts, body) = request.into_parts();
    let body = request::body(&parts.headers, body, app).await?;
    keep_arguments(&body, &mut parts.extensions);
    Ok((who, Request::from_parts(parts, body)))
}
