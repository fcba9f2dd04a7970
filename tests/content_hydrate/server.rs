//! A loopback HTTP/1.1 server with scripted answers, one request a connection, plain or over TLS.
//!
//! It counts what reaches it, so that a test can tell "refused" from "asked and failed".

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rcgen::{CertificateParams, KeyPair};
use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};

/// What the server does with one request.
pub(crate) enum Answer {
    /// 200 and this body.
    Body(Vec<u8>),
    /// This status with these header lines and no body.
    Status(u16, &'static str),
    /// This status and `location`.
    Redirect(u16, String),
    /// These bytes as they are, then the connection closes.
    Raw(Vec<u8>),
    /// 200 without a length, then this chunk again and again, this long apart.
    Endless(Vec<u8>, Duration),
}

/// A request as it arrived.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) path: String,
    /// Names in lower case.
    pub(crate) headers: Vec<(String, String)>,
}

/// The running server; it ends when dropped.
pub(crate) struct Server {
    address: SocketAddr,
    state: Arc<State>,
    acceptor: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct State {
    stopped: AtomicBool,
    connections: AtomicUsize,
    open: AtomicUsize,
    peak: AtomicUsize,
    requests: Mutex<Vec<Request>>,
}

type Script = dyn Fn(&Request) -> Answer + Send + Sync;

impl Server {
    pub(crate) fn new(script: impl Fn(&Request) -> Answer + Send + Sync + 'static) -> Self {
        Self::start(Duration::ZERO, None, Arc::new(script))
    }

    /// Waits this long before each answer.
    pub(crate) fn slow(
        delay: Duration,
        script: impl Fn(&Request) -> Answer + Send + Sync + 'static,
    ) -> Self {
        Self::start(delay, None, Arc::new(script))
    }

    /// Speaks TLS with this identity.
    pub(crate) fn tls(
        identity: &Identity,
        script: impl Fn(&Request) -> Answer + Send + Sync + 'static,
    ) -> Self {
        let config = Arc::clone(&identity.config);
        Self::start(Duration::ZERO, Some(config), Arc::new(script))
    }

    fn start(delay: Duration, tls: Option<Arc<ServerConfig>>, script: Arc<Script>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let state = Arc::new(State::default());
        let accepting = Arc::clone(&state);
        let acceptor = thread::spawn(move || {
            for stream in listener.incoming() {
                if accepting.stopped.load(SeqCst) {
                    return;
                }
                let (state, script) = (Arc::clone(&accepting), Arc::clone(&script));
                let (stream, tls) = (stream.unwrap(), tls.clone());
                state.connections.fetch_add(1, SeqCst);
                // A client that goes away in the middle of an answer is none of the server's business.
                thread::spawn(move || match tls {
                    None => drop(serve(stream, &state, &*script, delay)),
                    Some(config) => {
                        let connection = ServerConnection::new(config).unwrap();
                        let stream = StreamOwned::new(connection, stream);
                        drop(serve(stream, &state, &*script, delay));
                    }
                });
            }
        });
        Self {
            address,
            state,
            acceptor: Some(acceptor),
        }
    }

    pub(crate) fn port(&self) -> u16 {
        self.address.port()
    }

    /// `http://127.0.0.1:PORT` and `path`, which begins with `/`.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Connections so far, whatever came through them.
    pub(crate) fn connections(&self) -> usize {
        self.state.connections.load(SeqCst)
    }

    /// The most requests that were waiting for their answer at one time.
    pub(crate) fn peak(&self) -> usize {
        self.state.peak.load(SeqCst)
    }

    pub(crate) fn requests(&self) -> Vec<Request> {
        self.state.requests.lock().unwrap().clone()
    }

    /// How often this path was asked for.
    pub(crate) fn hits(&self, path: &str) -> usize {
        let requests = self.requests();
        requests.iter().filter(|r| r.path == path).count()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.state.stopped.store(true, SeqCst);
        // Wakes the acceptor; if it cannot be reached it is gone already.
        drop(TcpStream::connect(self.address));
        if let Some(acceptor) = self.acceptor.take() {
            drop(acceptor.join());
        }
    }
}

fn serve(
    mut stream: impl Read + Write,
    state: &State,
    script: &Script,
    delay: Duration,
) -> io::Result<()> {
    let request = read(&mut stream)?;
    state.requests.lock().unwrap().push(request.clone());
    state
        .peak
        .fetch_max(state.open.fetch_add(1, SeqCst) + 1, SeqCst);
    thread::sleep(delay);
    let answer = script(&request);
    // Before the answer: a client that has it may well ask again at once.
    state.open.fetch_sub(1, SeqCst);
    write(&mut stream, answer, state)
}

fn read(stream: &mut impl Read) -> io::Result<Request> {
    let mut lines = BufReader::new(stream).lines();
    let first = lines.next().unwrap_or_else(|| Ok(String::new()))?;
    let path = first.split(' ').nth(1).unwrap_or_default().to_owned();
    let mut headers = Vec::new();
    for line in lines {
        let line = line?;
        let Some((name, value)) = line.split_once(':') else {
            break;
        };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    Ok(Request { path, headers })
}

fn write(stream: &mut impl Write, answer: Answer, state: &State) -> io::Result<()> {
    match answer {
        Answer::Body(body) => {
            let head = format!(
                "HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
                body.len()
            );
            stream.write_all(head.as_bytes())?;
            stream.write_all(&body)?;
            stream.flush()
        }
        Answer::Status(status, headers) => {
            let head = format!(
                "HTTP/1.1 {status} X\r\n{headers}content-length: 0\r\nconnection: close\r\n\r\n"
            );
            stream.write_all(head.as_bytes())
        }
        Answer::Redirect(status, to) => {
            let head = format!(
                "HTTP/1.1 {status} X\r\nlocation: {to}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
            );
            stream.write_all(head.as_bytes())
        }
        Answer::Raw(bytes) => stream.write_all(&bytes),
        Answer::Endless(chunk, pause) => {
            stream.write_all(b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n")?;
            while !state.stopped.load(SeqCst) {
                stream.write_all(&chunk)?;
                thread::sleep(pause);
            }
            Ok(())
        }
    }
}

/// A certificate that signs itself, and its key.
pub(crate) struct Identity {
    config: Arc<ServerConfig>,
    /// The certificate, for `tls_roots`.
    pub(crate) pem: String,
}

impl Identity {
    /// For these host names and addresses.
    pub(crate) fn of(names: &[&str]) -> Self {
        let names = names.iter().map(|name| (*name).to_owned());
        Self::with(CertificateParams::new(names.collect::<Vec<_>>()).unwrap())
    }

    pub(crate) fn with(parameters: CertificateParams) -> Self {
        let key = KeyPair::generate().unwrap();
        let certificate = parameters.self_signed(&key).unwrap();
        let private = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], private)
            .unwrap();
        Self {
            config: Arc::new(config),
            pem: certificate.pem(),
        }
    }
}
