//! One connection: how long its requests may take to arrive, and whose it is.
//!
//! A connection belongs to the tenant of its first token. Each tenant may have so many at a time, so that none takes all
//! that the server has; those that are nobody's yet may be half of all.

use std::io;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::Request;
use axum::response::Response;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpStream;
use tokio::sync::OwnedSemaphorePermit;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

use super::patient::{Patient, UNTAKEN};
use super::unauthenticated::Unauthenticated;
use crate::serve::config::Table;
use crate::serve::service::Problem;
use crate::serve::tenants::Tenant;

/// Headers of a request.
const MAX_HEADERS: usize = 64;
/// Bytes of a request's head, and of what is read ahead.
const MAX_HEAD_BYTES: usize = 32 * 1024;

type Answered = io::Result<Response>;

/// Whose a connection is.
pub(crate) struct Connection {
    owner: OnceLock<Owned>,
    /// Until it has an owner.
    unauthenticated: Mutex<Option<Unauthenticated>>,
}

/// Counts as one of the tenant's, until it is dropped.
struct Owned(Arc<Tenant>);

impl Drop for Owned {
    fn drop(&mut self) {
        self.0.connections.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Connection {
    fn new(unauthenticated: Unauthenticated) -> Self {
        Self {
            owner: OnceLock::new(),
            unauthenticated: Mutex::new(Some(unauthenticated)),
        }
    }

    fn unauthenticated(&self) -> MutexGuard<'_, Option<Unauthenticated>> {
        let unauthenticated = self.unauthenticated.lock();
        unauthenticated.unwrap_or_else(PoisonError::into_inner)
    }

    /// Answers a request, unless the connection has lost its place meanwhile.
    async fn answer(self: Arc<Self>, router: Router, request: Request<Incoming>) -> Answered {
        if self
            .unauthenticated()
            .as_ref()
            .is_some_and(|one| !one.begins())
        {
            return Err(io::ErrorKind::ConnectionAborted.into());
        }
        let mut request = request.map(Body::new);
        request.extensions_mut().insert(Arc::clone(&self));
        let Ok(answer) = router.oneshot(request).await;
        if let Some(one) = self.unauthenticated().as_ref() {
            one.is_done();
        }
        Ok(answer)
    }

    /// Makes it this tenant's, unless it is somebody's.
    pub(super) fn belongs_to(&self, tenant: &Arc<Tenant>) -> Result<(), Problem> {
        if self.owner.get().is_some() {
            return Ok(());
        }
        let before = tenant.connections.fetch_add(1, Ordering::Relaxed);
        let owned = Owned(Arc::clone(tenant));
        if before >= tenant.definition().connections {
            drop(owned);
            let detail = "the tenant has as many connections as it may";
            return Err(Problem::too_many(detail, Duration::from_secs(1)));
        }
        // Of two requests at once, the second gives back what it took.
        let _ = self.owner.set(owned);
        self.unauthenticated().take();
        Ok(())
    }
}

/// Serves a connection to its end; told to end, it finishes the request that it is at.
pub(super) async fn serve(
    stream: TcpStream,
    router: Router,
    table: Table,
    ending: CancellationToken,
    (permit, unauthenticated): (OwnedSemaphorePermit, Unauthenticated),
) {
    let _permit = permit;
    let replaced = unauthenticated.replaced();
    // One that comes when the service ends is for one request, which is told so.
    let comes_late = ending.is_cancelled();
    // What is answered in one piece does not wait for more.
    let _ = stream.set_nodelay(true);
    let connection = Arc::new(Connection::new(unauthenticated));
    let service = service_fn(move |request: Request<Incoming>| {
        Arc::clone(&connection).answer(router.clone(), request)
    });
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(table.header_timeout)
        .max_headers(MAX_HEADERS)
        .max_buf_size(MAX_HEAD_BYTES)
        .keep_alive(!comes_late)
        .serve_connection(TokioIo::new(Patient::new(stream, UNTAKEN)), service);
    let mut served = std::pin::pin!(served);
    let ended = tokio::select! {
        ended = served.as_mut() => ended,
        () = replaced.cancelled() => return,
        () = ending.cancelled(), if !comes_late => {
            served.as_mut().graceful_shutdown();
            served.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection ended early");
    }
}
