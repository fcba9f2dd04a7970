//! The listener: accepts connections within its bounds, reads the tenants file again when it is told to, and ends without
//! dropping what runs.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use super::trace::{TraceError, Tracer};
use super::unauthenticated::UnauthenticatedConnections;
use super::{App, connection, router};
use crate::serve::service::Service;

/// What a connection too many is told, before anything of it is read.
const FULL: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";
/// How long the listener rests when the system has no descriptor for a connection.
const NO_DESCRIPTOR: Duration = Duration::from_millis(50);

/// How long a connection that is replaced may take to end.
const SOON: Duration = Duration::from_secs(1);

/// Why nothing listens.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// The address cannot be had.
    #[error("listen {0}: {1}")]
    Listen(SocketAddr, std::io::Error),
    /// There is nowhere to send traces.
    #[error(transparent)]
    Trace(#[from] TraceError),
}

/// A server that listens.
pub struct Server {
    app: App,
    listener: TcpListener,
    connections: Arc<Semaphore>,
    /// Connections that came before the service was told to end.
    serving: tokio_util::task::TaskTracker,
}

impl Server {
    /// Listens at the address of `[serve]`.
    ///
    /// # Errors
    ///
    /// [`ServerError`]
    pub async fn listen(service: Service) -> Result<Self, ServerError> {
        let table = &service.config().table;
        let address = table.listen;
        let tracer = table.otlp_endpoint.as_ref().map(Tracer::new).transpose()?;
        let connections = Arc::new(Semaphore::new(table.connections));
        let listener = TcpListener::bind(address)
            .await
            .map_err(|error| ServerError::Listen(address, error))?;
        Ok(Self {
            app: App::new(service, tracer),
            listener,
            connections,
            serving: tokio_util::task::TaskTracker::new(),
        })
    }

    /// Where it listens: the port that the system gave, where none was named.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn address(&self) -> std::io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves until `end`, then lets what runs come to its end, for as long as `[serve]` says. Whoever asks meanwhile is
    /// told that the service ends.
    pub async fn run(self, end: CancellationToken) {
        let shutdown_timeout = self.app.service.config().table.shutdown_timeout;
        let drained = async {
            end.cancelled().await;
            self.app.service.end();
            self.serving.close();
            tokio::time::timeout(shutdown_timeout, self.serving.wait()).await
        };
        tokio::select! {
            drained = drained => if drained.is_err() {
                tracing::warn!("calls that still ran were broken off");
            },
            () = self.accept() => {}
        }
        self.app.flush();
    }

    /// Accepts connections, without end.
    async fn accept(&self) {
        let table = self.app.service.config().table.clone();
        let router = router(self.app.clone());
        let ending = self.app.service.ending();
        let unauthenticated = UnauthenticatedConnections::new(table.connections);
        loop {
            let (stream, peer) = match self.listener.accept().await {
                Ok(accepted) => accepted,
                Err(error) => {
                    tracing::warn!(%error, "a connection cannot be accepted");
                    tokio::time::sleep(NO_DESCRIPTOR).await;
                    continue;
                }
            };
            let mut permit = Arc::clone(&self.connections).try_acquire_owned().ok();
            if permit.is_none() && unauthenticated.replace_one() {
                let given_back = Arc::clone(&self.connections).acquire_owned();
                let given_back = tokio::time::timeout(SOON, given_back).await;
                permit = given_back.ok().and_then(Result::ok);
            }
            let admitted =
                permit.and_then(|permit| Some((permit, unauthenticated.admit(peer.ip())?)));
            let Some(admitted) = admitted else {
                turn_away(stream);
                continue;
            };
            let (router, table) = (router.clone(), table.clone());
            let served = connection::serve(stream, router, table, ending.clone(), admitted);
            if ending.is_cancelled() {
                // Nobody waits for one that came so late.
                tokio::spawn(served);
            } else {
                self.serving.spawn(served);
            }
        }
    }
}

/// Tells a connection too many so. Who does not listen to that is not waited for.
fn turn_away(mut stream: TcpStream) {
    tokio::spawn(async move {
        let _ = tokio::time::timeout(Duration::from_secs(1), stream.write_all(FULL)).await;
    });
}
