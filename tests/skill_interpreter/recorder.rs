//! A server on the loopback that records what it is asked, bodies too, and answers as a test says.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serde_json::Value;

/// A request as it arrived.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Request {
    pub(crate) method: String,
    /// Path and query.
    pub(crate) target: String,
    /// Names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Request {
    /// The value of the only header with this name, in lower case.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut all = self.headers.iter().filter(|(given, _)| given == name);
        let value = all.next().map(|(_, value)| value.as_str());
        assert!(all.next().is_none(), "{name} twice in {self:?}");
        value
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

/// What is answered.
pub(crate) struct Reply {
    status: u16,
    headers: String,
    body: Vec<u8>,
    delay: Duration,
}

impl Reply {
    pub(crate) fn json(value: &Value) -> Self {
        Self::typed("application/json", value.to_string())
    }

    pub(crate) fn typed(media: &str, body: impl Into<Vec<u8>>) -> Self {
        Self {
            status: 200,
            headers: format!("content-type: {media}\r\n"),
            body: body.into(),
            delay: Duration::ZERO,
        }
    }

    pub(crate) fn redirect(status: u16, to: &str) -> Self {
        Self {
            status,
            headers: format!("location: {to}\r\n"),
            body: Vec::new(),
            delay: Duration::ZERO,
        }
    }

    /// The same, as an error.
    pub(crate) fn with_status(mut self, status: u16) -> Self {
        self.status = status;
        self
    }

    /// The same, this much later.
    pub(crate) fn after(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }
}

/// The running server; it ends when dropped.
pub(crate) struct Recorder {
    address: SocketAddr,
    state: Arc<State>,
    acceptor: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct State {
    stopped: AtomicBool,
    requests: Mutex<Vec<Request>>,
}

type Script = dyn Fn(&Request) -> Reply + Send + Sync;

impl Recorder {
    pub(crate) fn new(script: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let state = Arc::new(State::default());
        let (accepting, script) = (Arc::clone(&state), Arc::new(script));
        let acceptor = thread::spawn(move || {
            for stream in listener.incoming() {
                if accepting.stopped.load(SeqCst) {
                    return;
                }
                let (state, script): (_, Arc<Script>) = (Arc::clone(&accepting), script.clone());
                // A client that goes away in the middle of an answer is none of the server's business.
                thread::spawn(move || drop(serve(stream.unwrap(), &state, &*script)));
            }
        });
        Self {
            address,
            state,
            acceptor: Some(acceptor),
        }
    }

    /// Answers `{"ok":true}` to everything.
    pub(crate) fn content() -> Self {
        Self::new(|_| Reply::json(&serde_json::json!({"ok": true})))
    }

    /// `127.0.0.1:PORT`
    pub(crate) fn pair(&self) -> String {
        self.address.to_string()
    }

    /// `http://127.0.0.1:PORT` and `path`, which begins with `/`.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub(crate) fn requests(&self) -> Vec<Request> {
        self.state.requests.lock().unwrap().clone()
    }

    /// The only request so far.
    pub(crate) fn only(&self) -> Request {
        let mut all = self.requests();
        assert_eq!(all.len(), 1, "{all:?}");
        all.remove(0)
    }

    /// The newest request.
    pub(crate) fn last(&self) -> Request {
        self.requests().pop().expect("nothing arrived")
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.state.stopped.store(true, SeqCst);
        // Wakes the acceptor; if it cannot be reached it is gone already.
        drop(TcpStream::connect(self.address));
        if let Some(acceptor) = self.acceptor.take() {
            drop(acceptor.join());
        }
    }
}

fn serve(mut stream: TcpStream, state: &State, script: &Script) -> io::Result<()> {
    let Some(request) = read(&stream)? else {
        return Ok(());
    };
    state.requests.lock().unwrap().push(request.clone());
    let reply = script(&request);
    thread::sleep(reply.delay);
    let head = format!(
        "HTTP/1.1 {} X\r\n{}content-length: {}\r\nconnection: close\r\n\r\n",
        reply.status,
        reply.headers,
        reply.body.len()
    );
    stream.write_all(head.as_bytes())?;
    if request.method != "HEAD" {
        stream.write_all(&reply.body)?;
    }
    stream.flush()
}

fn read(stream: &TcpStream) -> io::Result<Option<Request>> {
    let mut reader = BufReader::new(stream);
    let mut first = String::new();
    if reader.read_line(&mut first)? == 0 {
        return Ok(None);
    }
    let mut words = first.split(' ').map(str::to_owned);
    let (method, target) = (words.next().unwrap(), words.next().unwrap_or_default());
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.split_once(':') else {
            break;
        };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let length = length.map_or(0, |(_, value)| value.parse().unwrap());
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok(Some(Request {
        method,
        target,
        headers,
        body,
    }))
}
