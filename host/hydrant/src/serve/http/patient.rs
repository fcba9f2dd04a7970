//! A stream to a client that is not waited for without end: who takes nothing of what he is sent is cut off.
//!
//! Without it, whoever asks for a long answer and does not read it keeps his connection for as long as he likes, for the
//! system acknowledges in his place.

use std::io::{self, ErrorKind, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

/// How long a write may wait for the client.
pub(super) const UNTAKEN: Duration = Duration::from_secs(30);

/// See the module.
pub(super) struct Patient<S> {
    stream: S,
    patience: Duration,
    /// Since a write began to wait.
    waits: Option<Pin<Box<Sleep>>>,
}

impl<S> Patient<S> {
    /// A write that waits longer than `patience` is an error.
    pub(super) fn new(stream: S, patience: Duration) -> Self {
        Self {
            stream,
            patience,
            waits: None,
        }
    }

    fn timed<T>(
        &mut self,
        context: &mut Context<'_>,
        written: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.waits = None;
            return written;
        }
        let patience = self.patience;
        let waits = self.waits.get_or_insert_with(|| Box::pin(sleep(patience)));
        waits
            .as_mut()
            .poll(context)
            .map(|()| Err(ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Patient<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, into)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Patient<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.timed(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, pieces);
        self.timed(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(context);
        // A flush that has nothing to do is no sign of a client that reads.
        if flushed.is_ready() {
            return flushed;
        }
        self.timed(context, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let closed = Pin::new(&mut self.stream).poll_shutdown(context);
        self.timed(context, closed)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    use super::*;

    #[tokio::test]
    async fn who_takes_nothing_is_cut_off_and_who_does_is_not() {
        let (server, mut client) = duplex(16);
        let mut server = Patient::new(server, Duration::from_millis(100));
        let cut = server.write_all(&[1; 64]).await.unwrap_err();
        assert_eq!(cut.kind(), ErrorKind::TimedOut);
        drop(server);
        let mut taken = Vec::new();
        client.read_to_end(&mut taken).await.unwrap();
        assert_eq!(taken, [1; 16]);

        let (server, mut client) = duplex(16);
        let mut server = Patient::new(server, Duration::from_secs(60));
        let writing = tokio::spawn(async move { server.write_all(&[1; 64]).await });
        let mut taken = [0; 64];
        client.read_exact(&mut taken).await.unwrap();
        assert!(writing.await.unwrap().is_ok());
    }
}
