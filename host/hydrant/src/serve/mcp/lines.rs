//! The transport of standard input and output: one message a line. A line that is no message is answered, and the next one
//! is read.

use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::sync::Arc;

use bytes::{Buf, BytesMut};
use futures_core::Stream;
use rmcp::RoleServer;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::sync::Mutex;
use tokio::task::JoinHandle;
use tokio_util::codec::{Decoder, FramedRead};

use super::arguments::Arguments;
use super::message;

/// Bytes of a line.
const LONGEST: usize = 16 * 1024 * 1024;

/// A transport that reads and writes one message a line.
pub(super) struct Lines<R, W> {
    read: FramedRead<R, Splitter>,
    write: Arc<Mutex<W>>,
    arguments: Arguments,
    /// An answer to a line that was no message. It is written before the next line is read, so that there is one at most.
    refusing: Option<JoinHandle<io::Result<()>>>,
}

impl<R: AsyncRead, W> Lines<R, W> {
    pub(super) fn new((read, write): (R, W), arguments: Arguments) -> Self {
        Self {
            read: FramedRead::new(read, Splitter::default()),
            write: Arc::new(Mutex::new(write)),
            arguments,
            refusing: None,
        }
    }
}

impl<R, W> Transport<RoleServer> for Lines<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let write = Arc::clone(&self.write);
        async move {
            let mut line = serde_json::to_vec(&message)?;
            line.push(b'\n');
            let mut write = write.lock().await;
            write.write_all(&line).await?;
            write.flush().await
        }
    }

    /// May be dropped at each point where it waits, and called again.
    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            if let Some(refusing) = &mut self.refusing {
                let written = refusing.await;
                self.refusing = None;
                written.ok()?.ok()?;
            }
            let line = poll_fn(|context| Pin::new(&mut self.read).poll_next(context)).await?;
            let read = match line.ok()? {
                Line::Whole(line) if line.trim_ascii().is_empty() => continue,
                Line::Whole(line) => {
                    self.arguments.keep(&line);
                    message::read(&line)
                }
                Line::TooLong => {
                    let why = format!("a line has at most {LONGEST} bytes");
                    Err(Some(Box::new(message::unreadable(&why))))
                }
            };
            match read {
                Ok(message) => return Some(message),
                Err(Some(refusal)) => self.refusing = Some(tokio::spawn(self.send(*refusal))),
                Err(None) => tracing::debug!("a notification that is not understood"),
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        Ok(())
    }
}

enum Line {
    Whole(BytesMut),
    TooLong,
}

/// Splits what is read into lines, and keeps no more of one than a line may have.
#[derive(Default)]
struct Splitter {
    /// Bytes that are known to hold no end of a line.
    searched: usize,
    /// The end of a line that is too long is still to come.
    skipping: bool,
}

impl Decoder for Splitter {
    type Item = Line;
    type Error = io::Error;

    fn decode(&mut self, buffer: &mut BytesMut) -> io::Result<Option<Line>> {
        let rest = buffer.get(self.searched..).unwrap_or_default();
        let Some(end) = rest.iter().position(|byte| *byte == b'\n') else {
            self.searched = buffer.len();
            if self.skipping || buffer.len() > LONGEST {
                self.skipping = true;
                self.searched = 0;
                buffer.clear();
            }
            return Ok(None);
        };
        let end = self.searched.saturating_add(end);
        self.searched = 0;
        let line = buffer.split_to(end);
        buffer.advance(1);
        let too_long = std::mem::take(&mut self.skipping) || line.len() > LONGEST;
        Ok(Some(if too_long {
            Line::TooLong
        } else {
            Line::Whole(line)
        }))
    }

    /// What has no end was not finished by whoever went away.
    fn decode_eof(&mut self, buffer: &mut BytesMut) -> io::Result<Option<Line>> {
        let line = self.decode(buffer)?;
        if line.is_none() {
            buffer.clear();
        }
        Ok(line)
    }
}
