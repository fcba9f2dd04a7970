//! The listener: accepts connections within its bounds, reads the tenants file again when it is told to, and ends without
//! dropping what runs.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use super::strangers::Strangers;
use super::trace::{TraceError, Tracer};
use super::{App, connection, router};
use crate::serve::service::Service;

/// What a connection too many is told, before anything of it is read.
const FULL: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";
/// How long the listener rests when the system has no descriptor for a connection.
const NO_DESCRIPTOR: Duration = Duration::from_millis(50);

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
    /// Connections that are being served; the one of the server itself is first.
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

    /// Serves until `end`, then lets what runs come to its end, for as long as `[serve]` says.
    pub async fn run(self, end: CancellationToken) {
        let table = self.app.service.config().table.clone();
        let router = router(self.app.clone());
        let ending = self.app.service.ending();
        let strangers = Strangers::of(table.connections);
        loop {
            let accepted = tokio::select! {
                () = end.cancelled() => break,
                accepted = self.listener.accept() => accepted,
            };
            let (stream, peer) = match accepted {
                Ok(accepted) => accepted,
                Err(error) => {
                    tracing::warn!(%error, "a connection cannot be accepted");
                    tokio::time::sleep(NO_DESCRIPTOR).await;
                    continue;
                }
            };
            let permit = Arc::clone(&self.connections).try_acquire_owned().ok();
            match permit.zip(strangers.admit(peer.ip())) {
                Some(admitted) => {
                    let served = connection::serve(
                        stream,
                        router.clone(),
                        table.clone(),
                        ending.clone(),
                        admitted,
                    );
                    self.serving.spawn(served);
                }
                None => turn_away(stream),
            }
        }
        // Nobody new can come; who is here is told.
        drop(self.listener);
        self.app.service.end();
        self.serving.close();
        if tokio::time::timeout(table.shutdown_timeout, self.serving.wait())
            .await
            .is_err()
        {
            tracing::warn!("calls that still ran were broken off");
        }
        self.app.flush();
    }
}

/// Tells a connection too many so. Who does not listen to that is not waited for.
fn turn_away(mut stream: TcpStream) {
    tokio::spawn(async move {
        let _ = tokio::time::timeout(Duration::from_secs(1), stream.write_all(FULL)).await;
    });
}
