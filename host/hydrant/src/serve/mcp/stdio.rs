//! Standard input and output, for the user of this machine: one client, one tenant, no token.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::http::HeaderMap;
use rmcp::service::{QuitReason, ServiceExt};
use rmcp::transport::io::stdio_pipes;
use tokio::io::{AsyncRead, ReadBuf};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::catalogue::{Selection, UnknownTool};
use super::lines::Lines;
use super::roots::Roots;
use super::server::{Called, Calls, Local, Server};
use crate::govern::client::Client;
use crate::govern::governor::Caller;
use crate::serve::operations::Call;
use crate::serve::service::{Identity, Problem, Service};

/// A call may take so long although standard input has ended: whoever writes all requests at once and ends it has the answers
/// of short ones.
const SHORT_CALL: Duration = Duration::from_millis(500);
/// How long calls that were stopped may take to be recorded.
const STOPPING: Duration = Duration::from_secs(2);

/// Why a client is not served, or no longer.
#[derive(Debug, thiserror::Error)]
pub enum StdioError {
    /// The selection names what is not there.
    #[error(transparent)]
    UnknownTool(#[from] UnknownTool),
    /// The tools cannot be told.
    #[error("the tools cannot be listed: {0}")]
    Tools(String),
    /// The client did not begin as the protocol says.
    #[error("the client: {0}")]
    Client(String),
    /// The server broke off.
    #[error("the server: {0}")]
    Server(String),
}

/// Serves one client until it goes away. Standard output belongs to the protocol meanwhile. A root of the client that is a
/// home directory becomes the workspace only by `force`.
///
/// # Errors
///
/// [`StdioError`]
pub async fn serve_stdio(
    service: Service,
    who: Identity,
    selection: Selection,
    force: bool,
) -> Result<(), StdioError> {
    // The connection is one session, and grants for a session are for it.
    let who = Identity {
        connection: Some(
            Caller::lasting(Client {
                frontend: who.frontend,
                jailed: false,
            })
            .map_err(|failure| StdioError::Server(failure.to_string()))?,
        ),
        ..who
    };
    let ended = CancellationToken::new();
    let local = Local {
        who: who.clone(),
        roots: who.tenant.has_open_workspace().then(|| Roots::new(force)),
        ended: ended.clone(),
    };
    let calls = UntilInputEnds {
        service: service.clone(),
        ended: ended.clone(),
    };
    let server = Server::new(Arc::new(calls), selection, Some(local));
    if server.selection().tools.is_some() {
        let catalogue = server.catalogue(&who).await;
        let catalogue = catalogue.map_err(|error| StdioError::Tools(error.to_string()))?;
        server.selection().check(&catalogue)?;
    } else {
        // A client waits for its tools for seconds only, and a skill that this program was not built with is compiled before
        // it says what it is.
        let (server, who) = (server.clone(), who.clone());
        tokio::spawn(async move { drop(server.catalogue(&who).await) });
    }
    let (input, output) = stdio_pipes();
    let lines = Lines::new((Input { input, ended }, output), server.arguments().clone());
    let running = match server.serve(lines).await {
        Ok(running) => running,
        // A client that goes away before it says anything wanted nothing.
        Err(rmcp::service::ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(error) => return Err(StdioError::Client(error.to_string())),
    };
    let ended = running.waiting().await;
    // What the client left behind is being stopped, and is recorded when it has.
    let _ = tokio::time::timeout(STOPPING, stopped(&service)).await;
    let end = move || service.end_session(&who);
    let _ = tokio::task::spawn_blocking(end).await;
    match ended {
        Ok(QuitReason::JoinError(error)) | Err(error) => Err(StdioError::Server(error.to_string())),
        Ok(_) => Ok(()),
    }
}

/// Standard input, whose end is that of the session: so clients end a server.
struct Input<R> {
    input: R,
    ended: CancellationToken,
}

impl<R: AsyncRead + Unpin> AsyncRead for Input<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = into.filled().len();
        let read = Pin::new(&mut self.input).poll_read(context, into);
        if matches!(read, Poll::Ready(Ok(()))) && into.filled().len() == before {
            self.ended.cancel();
        }
        read
    }
}

/// The service, whose calls end when standard input has.
struct UntilInputEnds {
    service: Service,
    ended: CancellationToken,
}

impl Calls for UntilInputEnds {
    fn call<'a>(
        &'a self,
        who: &'a Identity,
        _: &'a HeaderMap,
        call: Call,
        cancel: CancellationToken,
    ) -> Called<'a> {
        let last = Instant::now() + SHORT_CALL;
        let abandoned = async move {
            self.ended.cancelled().await;
            tokio::time::sleep_until(last).await;
        };
        Box::pin(async move {
            tokio::select! {
                biased;
                answer = self.service.call(who, call, cancel) => answer,
                () = abandoned => Err(Problem::cancelled()),
            }
        })
    }
}

async fn stopped(service: &Service) {
    while service.load().running > 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
