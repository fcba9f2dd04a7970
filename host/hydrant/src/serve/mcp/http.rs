//! Streamable HTTP, for tenants. Who serves HTTP authenticates a request, refuses pages of other sites, and gives it here with
//! whose it is.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE};
use axum::http::{Method, Request, Response, StatusCode};
use axum::response::IntoResponse;
use bytes::Bytes;
use http_body_util::Full;
use rmcp::transport::streamable_http_server::session::local::SessionConfig;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio_util::sync::CancellationToken;

use super::catalogue::Selection;
use super::message;
use super::server::{Calls, Server};
use super::sessions::{Owner, Sessions, serving};
use crate::serve::service::{Identity, JSON, Problem, Service};

/// A session that nothing came from for so long ends.
const IDLE: Duration = Duration::from_secs(600);
/// Which session a request is of.
const SESSION: &str = "mcp-session-id";
/// A session is begun within this time.
const BEGINNING: Duration = Duration::from_secs(15);

/// How the transport is served.
#[derive(Debug, Clone)]
pub struct HttpOptions {
    /// Bytes of the body of a request.
    pub request_bytes: usize,
    /// Cancelled when the service ends: so do its sessions and their streams.
    pub ending: CancellationToken,
}

/// See the module; cheap to clone.
#[derive(Clone)]
pub struct StreamableHttp {
    inner: StreamableHttpService<Server, Sessions>,
    sessions: Arc<Sessions>,
}

impl StreamableHttp {
    /// Serves the operations of `service`, which `calls` does.
    #[must_use]
    pub fn new(service: Service, calls: Arc<dyn Calls>, options: HttpOptions) -> Self {
        let server = Server::new(calls, Selection::default(), None);
        let mut config = SessionConfig::default();
        config.keep_alive = Some(IDLE);
        config.init_timeout = Some(BEGINNING);
        // Whoever reconnects goes on reading what still runs. What is done is not kept for him: answers of all sessions
        // would be, for as long as this says, and nobody would count them.
        config.completed_cache_ttl = Duration::ZERO;
        let sessions = Arc::new(Sessions::new(config, move |who| service.end_session(&who)));
        let config = StreamableHttpServerConfig::default()
            // The service checks the host of every request, whatever its route.
            .with_allowed_hosts(Vec::<String>::new())
            .with_max_request_body_bytes(options.request_bytes)
            .with_cancellation_token(options.ending);
        Self {
            inner: StreamableHttpService::new(
                move || Ok(server.clone()),
                Arc::clone(&sessions),
                config,
            ),
            sessions,
        }
    }

    /// Answers a request to the endpoint that `who` made.
    pub async fn handle(&self, mut who: Identity, mut request: Request<Bytes>) -> Response<Body> {
        // From here on the identity counts. The token is not shown to what may log a request.
        let token = request.headers_mut().remove(AUTHORIZATION);
        let token = token.as_ref().map(|token| token.as_bytes());
        let owner = Owner::of(&who, token.unwrap_or_default());
        let session = request.headers().get(SESSION);
        if let Some(session) = session.and_then(|id| id.to_str().ok()) {
            who.connection = self.sessions.connection(&owner, session);
            // To end what is not there would be an error inside.
            if who.connection.is_none() && request.method() == Method::DELETE {
                return Problem::not_found("session").into_response();
            }
        }
        request.extensions_mut().insert(who);
        let body = request.body().clone();
        let request = request.map(Full::new);
        let response = serving(owner, self.inner.handle(request)).await;
        // What it says of a body that is no message is no answer of the protocol.
        if response.status() == StatusCode::UNSUPPORTED_MEDIA_TYPE
            && let Err(Some(refusal)) = message::read(&body)
        {
            let json = [(CONTENT_TYPE, JSON)];
            let text = serde_json::to_string(&refusal).unwrap_or_default();
            return (StatusCode::BAD_REQUEST, json, text).into_response();
        }
        response.map(Body::new)
    }
}
