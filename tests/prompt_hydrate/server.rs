//! A server on the loopback that answers as it is told, and remembers what it was asked.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// How a connection is answered.
#[derive(Clone)]
pub(crate) enum Answer {
    /// Status line and body.
    With(&'static str, String),
    /// Status line, headers and body.
    WithHeaders(&'static str, Vec<(&'static str, String)>, String),
    /// Accepted, read, and never answered.
    Never,
    /// Half an answer.
    Half(String),
}

pub(crate) struct Server {
    port: u16,
    asked: Arc<Mutex<Vec<Request>>>,
}

/// What was asked.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    /// Method, path and version.
    pub(crate) line: String,
    /// Lower-case names.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Request {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        headers
            .find(|(other, _)| other == name)
            .map(|(_, value)| value.as_str())
    }
}

impl Server {
    /// Answers every request the same.
    pub(crate) fn answering(answer: Answer) -> Self {
        Self::start(move |_, _| answer.clone())
    }

    /// Answers by the number of the request, from 0 on, and the request.
    pub(crate) fn start(
        answer: impl Fn(usize, &Request) -> Answer + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (answer, log) = (Arc::new(answer), Arc::clone(&asked));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (answer, log) = (Arc::clone(&answer), Arc::clone(&log));
                thread::spawn(move || {
                    let mut stream = stream;
                    if let Some(request) = read(&mut stream) {
                        let number = {
                            let mut log: std::sync::MutexGuard<'_, Vec<Request>> =
                                log.lock().unwrap();
                            log.push(request.clone());
                            log.len() - 1
                        };
                        reply(&mut stream, answer(number, &request));
                    }
                });
            }
        });
        Self { port, asked }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// A policy that lets requests of this method go to the server, and nothing else anywhere.
    pub(crate) fn policy(&self, method: &str) -> String {
        let url = self.url("/");
        format!(
            "version: 1\ntrusted_signers: [hydrant.build, hydrant.release]\n\
             capability_ceiling:\n  fs: {{read: [/workspace]}}\n  net: [\"{url}\"]\n\
             host:\n  net:\n    - {{url: \"{url}\", methods: [{method}]}}\n"
        )
    }

    pub(crate) fn asked(&self) -> Vec<Request> {
        self.asked.lock().unwrap().clone()
    }
}

fn read(stream: &mut TcpStream) -> Option<Request> {
    stream
        .set_read_timeout(Some(Duration::from_secs(30)))
        .unwrap();
    let mut bytes = Vec::new();
    let mut buffer = [0; 8192];
    let end = loop {
        if let Some(end) = bytes.windows(4).position(|part| part == b"\r\n\r\n") {
            break end;
        }
        match stream.read(&mut buffer) {
            Ok(0) | Err(_) => return None,
            Ok(read) => bytes.extend_from_slice(&buffer[..read]),
        }
    };
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let mut lines = head.lines();
    let line = lines.next()?.to_owned();
    let headers: Vec<_> = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_lowercase(), value.to_owned()))
        .collect();
    let length: usize = headers
        .iter()
        .find(|(name, _)| name == "content-length")
        .map_or(0, |(_, value)| value.parse().unwrap());
    let mut body = bytes[end + 4..].to_vec();
    while body.len() < length {
        match stream.read(&mut buffer) {
            Ok(0) | Err(_) => break,
            Ok(read) => body.extend_from_slice(&buffer[..read]),
        }
    }
    Some(Request {
        line,
        headers,
        body: String::from_utf8_lossy(&body).into_owned(),
    })
}

fn reply(stream: &mut TcpStream, answer: Answer) {
    // Who has gone does not read.
    let _ = match answer {
        Answer::With(status, body) => write!(
            stream,
            "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
            body.len()
        ),
        Answer::WithHeaders(status, headers, body) => {
            let headers: String = headers
                .iter()
                .map(|(name, value)| format!("{name}: {value}\r\n"))
                .collect();
            write!(
                stream,
                "HTTP/1.1 {status}\r\n{headers}content-length: {}\r\nconnection: close\r\n\r\n{body}",
                body.len()
            )
        }
        Answer::Half(body) => write!(
            stream,
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len() + 1000
        ),
        Answer::Never => {
            thread::sleep(Duration::from_secs(120));
            Ok(())
        }
    };
}
