//! A loopback HTTP server that answers everything with 200 and keeps what it was sent.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// A request as it arrived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Received {
    pub(crate) method: String,
    pub(crate) target: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

/// The server; its thread ends with the test.
pub(crate) struct Recorder {
    pub(crate) port: u16,
    received: Receiver<Received>,
}

impl Recorder {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let (sender, received) = channel();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                if let Some(request) = stream.ok().and_then(|stream| serve(stream).ok())
                    && sender.send(request).is_err()
                {
                    return;
                }
            }
        });
        Self { port, received }
    }

    /// What arrived since the last call, when whoever sent it has ended.
    pub(crate) fn drain(&self, expected: usize) -> Vec<Received> {
        let mut all = Vec::new();
        while all.len() < expected {
            match self.received.recv_timeout(Duration::from_secs(20)) {
                Ok(request) => all.push(request),
                Err(_) => break,
            }
        }
        all.extend(self.received.try_iter());
        all
    }
}

fn serve(mut stream: TcpStream) -> std::io::Result<Received> {
    stream.set_read_timeout(Some(Duration::from_secs(60)))?;
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    let head_end = loop {
        if let Some(at) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break at;
        }
        match stream.read(&mut buffer)? {
            0 => return Err(std::io::ErrorKind::UnexpectedEof.into()),
            count => bytes.extend_from_slice(&buffer[..count]),
        }
    };
    // Header values are bytes; the tests send UTF-8.
    let head = String::from_utf8_lossy(&bytes[..head_end]).into_owned();
    let mut lines = head.split("\r\n");
    let first = lines.next().unwrap();
    let (method, rest) = first.split_once(' ').unwrap();
    let (target, _) = rest.rsplit_once(' ').unwrap();
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_owned(), value.trim_matches([' ', '\t']).to_owned()))
        .collect();
    let length: usize = headers
        .iter()
        .find(|(name, _)| name.eq_ignore_ascii_case("content-length"))
        .map_or(0, |(_, value)| value.parse().unwrap());
    if headers
        .iter()
        .any(|(name, _)| name.eq_ignore_ascii_case("expect"))
    {
        stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
    }
    let mut body = bytes[head_end + 4..].to_vec();
    while body.len() < length {
        match stream.read(&mut buffer)? {
            0 => break,
            count => body.extend_from_slice(&buffer[..count]),
        }
    }
    stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")?;
    Ok(Received {
        method: method.to_owned(),
        target: target.to_owned(),
        headers,
        body,
    })
}
