//! A loopback HTTP server that answers `{"ok":true}` to everything, and knows what it was asked last.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

pub(crate) struct Server {
    address: SocketAddr,
    last: Arc<Mutex<Received>>,
}

/// One request.
#[derive(Clone, Default)]
pub(crate) struct Received {
    /// Its first line and its headers.
    pub(crate) head: Vec<String>,
    pub(crate) body: Vec<u8>,
}

impl Server {
    /// Serves until the process ends.
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let last = Arc::new(Mutex::new(Received::default()));
        let shared = Arc::clone(&last);
        thread::spawn(move || {
            for connection in listener.incoming().flatten() {
                let shared = Arc::clone(&shared);
                thread::spawn(move || serve(connection, &shared));
            }
        });
        Self { address, last }
    }

    /// `127.0.0.1:PORT`
    pub(crate) fn pair(&self) -> String {
        self.address.to_string()
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/v1/search", self.address)
    }

    pub(crate) fn last(&self) -> Received {
        self.last.lock().unwrap().clone()
    }
}

fn serve(mut connection: TcpStream, last: &Mutex<Received>) {
    let mut requests = BufReader::new(connection.try_clone().unwrap());
    loop {
        let mut received = Received::default();
        let mut length = 0;
        loop {
            let mut line = String::new();
            if requests.read_line(&mut line).unwrap_or(0) == 0 {
                return;
            }
            let line = line.trim_end().to_ascii_lowercase();
            if line.is_empty() {
                break;
            }
            if let Some(value) = line.strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
            received.head.push(line);
        }
        received.body = vec![0; length];
        requests.read_exact(&mut received.body).unwrap();
        *last.lock().unwrap() = received;
        let answer = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 11\r\n\r\n{\"ok\":true}";
        if connection.write_all(answer).is_err() {
            return;
        }
    }
}
