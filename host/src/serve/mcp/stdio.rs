//! Standard input and output, for the user of this machine: one client, one tenant, no token.

use std::sync::Arc;
use std::time::Duration;

use rmcp::service::{QuitReason, ServiceExt};
use rmcp::transport::io::stdio_pipes;

use super::catalogue::{Selection, UnknownTool};
use super::server::Server;
use crate::govern::client::Client;
use crate::govern::governor::Caller;
use crate::serve::service::{Identity, Service};

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

/// Serves one client until it goes away. Standard output belongs to the protocol meanwhile.
///
/// # Errors
///
/// [`StdioError`]
pub async fn serve_stdio(
    service: Service,
    who: Identity,
    selection: Selection,
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
    let server = Server::new(Arc::new(service.clone()), selection, Some(who.clone()));
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
    let running = match server.serve(stdio_pipes()).await {
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

async fn stopped(service: &Service) {
    while service.load().running > 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
