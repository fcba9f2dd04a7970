//! A loopback HTTP server that answers every request with the same bytes and counts connections.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::thread::{self, JoinHandle};

pub(crate) struct Loopback {
    address: SocketAddr,
    connections: Arc<AtomicUsize>,
    stopped: Arc<AtomicBool>,
    acceptor: Option<JoinHandle<()>>,
}

impl Loopback {
    /// This status line, these further header lines (each with CR LF), this body.
    pub(crate) fn new(status: &str, headers: &str, body: &[u8]) -> Self {
        let length = body.len();
        let mut answer = format!(
            "HTTP/1.1 {status}\r\ncontent-length: {length}\r\nconnection: close\r\n{headers}\r\n"
        )
        .into_bytes();
        answer.extend(body);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let connections = Arc::new(AtomicUsize::new(0));
        let stopped = Arc::new(AtomicBool::new(false));
        let (counting, stopping) = (Arc::clone(&connections), Arc::clone(&stopped));
        let acceptor = thread::spawn(move || {
            for stream in listener.incoming() {
                if stopping.load(SeqCst) {
                    return;
                }
                counting.fetch_add(1, SeqCst);
                // A client that goes away is none of the server's business.
                drop(stream.and_then(|stream| serve(stream, &answer)));
            }
        });
        Self {
            address,
            connections,
            stopped,
            acceptor: Some(acceptor),
        }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub(crate) fn port(&self) -> u16 {
        self.address.port()
    }

    pub(crate) fn connections(&self) -> usize {
        self.connections.load(SeqCst)
    }
}

impl Drop for Loopback {
    fn drop(&mut self) {
        self.stopped.store(true, SeqCst);
        drop(TcpStream::connect(self.address));
        if let Some(acceptor) = self.acceptor.take() {
            drop(acceptor.join());
        }
    }
}

fn serve(mut stream: TcpStream, answer: &[u8]) -> std::io::Result<()> {
    let mut lines = BufReader::new(stream.try_clone()?).lines();
    while lines
        .next()
        .transpose()?
        .is_some_and(|line| !line.is_empty())
    {}
    stream.write_all(answer)
}
