//! A client that shows what came back, byte by byte where it must.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::Value;

/// Long enough on a busy machine; a test that waits so long has failed.
const PATIENCE: Duration = Duration::from_secs(60);

/// Asks one server with one token.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    address: SocketAddr,
    token: Option<String>,
}

/// What came back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// Names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut found = self.headers.iter().filter(|(header, _)| header == name);
        found.next().map(|(_, value)| value.as_str())
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The answer of something that must succeed.
    pub(crate) fn ok(&self) -> Value {
        assert_eq!(self.status, 200, "{}", self.text());
        self.json()
    }

    /// A problem: its code.
    pub(crate) fn code(&self) -> String {
        assert_eq!(
            self.header("content-type"),
            Some("application/problem+json"),
            "{self:?}"
        );
        let problem = self.json();
        assert_eq!(problem["status"], self.status, "{problem}");
        problem["code"].as_str().unwrap().to_owned()
    }
}

impl Client {
    pub(crate) fn new(address: SocketAddr, token: Option<&str>) -> Self {
        Self {
            address,
            token: token.map(str::to_owned),
        }
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.send("GET", path, &[], None)
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Answer {
        let body = body.to_string();
        self.send("POST", path, &[], Some(body.as_bytes()))
    }

    pub(crate) fn delete(&self, path: &str) -> Answer {
        self.send("DELETE", path, &[], None)
    }

    /// Hydrates, with the defaults.
    pub(crate) fn hydrate(&self, uri: &str) -> Answer {
        self.post("/v1/hydrate", &serde_json::json!({ "uri": uri }))
    }

    pub(crate) fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<&[u8]>,
    ) -> Answer {
        let mut stream = self.begin(method, path, headers, body);
        answer(&mut stream)
    }

    /// Sends a request, and leaves its answer to be read.
    pub(crate) fn begin(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<&[u8]>,
    ) -> TcpStream {
        let mut head = format!(
            "{method} {path} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n",
            self.address
        );
        if let Some(token) = &self.token {
            head += &format!("authorization: Bearer {token}\r\n");
        }
        if let Some(body) = body {
            head += &format!(
                "content-type: application/json\r\ncontent-length: {}\r\n",
                body.len()
            );
        }
        for (name, value) in headers {
            head += &format!("{name}: {value}\r\n");
        }
        let mut request = format!("{head}\r\n").into_bytes();
        request.extend_from_slice(body.unwrap_or_default());
        let mut stream = self.connect();
        // A server that refuses early may not read it all.
        let _ = stream.write_all(&request);
        stream
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        stream
    }
}

/// Reads one answer from a connection that ends with it, or says how long it is.
pub(crate) fn answer(stream: &mut TcpStream) -> Answer {
    let mut bytes = Vec::new();
    let mut chunk = [0_u8; 16 * 1024];
    loop {
        if let Some(answer) = parse(&bytes, false) {
            return answer;
        }
        match stream.read(&mut chunk) {
            Ok(0) => break,
            Ok(amount) => bytes.extend_from_slice(&chunk[..amount]),
            // What was said before the connection broke counts.
            Err(_) if !bytes.is_empty() => break,
            Err(error) => panic!("no answer: {error}"),
        }
    }
    parse(&bytes, true).unwrap_or_else(|| panic!("{}", String::from_utf8_lossy(&bytes)))
}

fn parse(bytes: &[u8], ended: bool) -> Option<Answer> {
    let head_end = bytes.windows(4).position(|four| four == b"\r\n\r\n")?;
    let head = std::str::from_utf8(&bytes[..head_end]).unwrap();
    let mut lines = head.split("\r\n");
    let status = lines.next()?.split(' ').nth(1)?.parse().unwrap();
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
        .collect();
    let length = headers
        .iter()
        .find(|(name, _)| name == "content-length")
        .map(|(_, length)| length.parse::<usize>().unwrap());
    let body = &bytes[head_end + 4..];
    let body = match length {
        Some(length) if body.len() >= length => &body[..length],
        _ if ended => body,
        _ => return None,
    };
    Some(Answer {
        status,
        headers,
        body: body.to_vec(),
    })
}
