//! What the tests of this folder share: a policy on disk, a call under it, and a server that ends.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::fetch::Fetcher;
use super::{Call, DescribeComponent, DescribeError, Journal, Meter, MeterBudgets, OwnFiles};
use hydrant_policy::{Grant, Policy};
use hydrant_trust::Capability;

/// Budgets that no test reaches unless it wants to.
pub(super) const AMPLE: MeterBudgets = MeterBudgets {
    hostcalls: 10_000_000,
    read_bytes: 64 * 1024 * 1024,
    egress_bytes: 64 * 1024 * 1024,
    wall_clock: Duration::from_secs(60),
};

/// A directory with `os/` and `work/`, and whatever a test puts there.
pub(super) struct Site {
    _directory: tempfile::TempDir,
    pub(super) root: PathBuf,
}

impl Site {
    pub(super) fn new() -> Site {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().canonicalize().unwrap();
        for name in ["os", "work"] {
            std::fs::create_dir(root.join(name)).unwrap();
        }
        Site {
            _directory: directory,
            root,
        }
    }

    pub(super) fn os(&self) -> PathBuf {
        self.root.join("os")
    }

    pub(super) fn work(&self) -> PathBuf {
        self.root.join("work")
    }

    /// What a component may do that declares everything, where `host` is added to `/os` and `/workspace`.
    pub(super) fn grant(&self, net: &[String], host: &str) -> Grant {
        let net = serde_json::to_string(net).unwrap();
        let text = format!(
            "version: 1\n\
             trusted_signers: [a]\n\
             capability_ceiling: {{fs: {{read: [/os, /workspace]}}, net: {net}, exec: true}}\n\
             host:\n  \
               mounts:\n  \
               - {{at: /os, dir: ./os, mode: ro}}\n  \
               - {{at: /workspace, dir: ./work, mode: rw}}\n{host}"
        );
        let file = self.root.join("policy.yaml");
        std::fs::write(&file, text).unwrap();
        let policy = Policy::load(&file, &[]).unwrap();
        let everything = [
            ("fs.read", "/os"),
            ("fs.read", "/workspace"),
            ("net.http", "*"),
            ("exec.safe", "*"),
        ]
        .map(|(kind, value)| Capability {
            kind: kind.to_owned(),
            value: value.to_owned(),
        });
        Grant::new(Arc::new(policy), &everything)
    }

    /// A call that may write below `/workspace`, journalled in `state/changes`; `mounts` are added, and may be
    /// written below as far as they are `rw`.
    pub(super) fn writer(&self, mounts: &str) -> Call {
        writer_at(&self.root, mounts)
    }

    /// A call that may read and nothing else.
    pub(super) fn call(&self) -> Call {
        call(self.grant(&[], ""))
    }
}

/// [`Site::writer`] of a site that somebody else made.
pub(super) fn writer_at(root: &Path, mounts: &str) -> Call {
    let text = format!(
        "version: 1\n\
             trusted_signers: [a]\n\
             capability_ceiling: {{fs: {{read: [/], write: [/]}}}}\n\
             host:\n  \
               mounts:\n  \
               - {{at: /os, dir: ./os, mode: ro}}\n  \
               - {{at: /workspace, dir: ./work, mode: rw}}\n{mounts}"
    );
    let file = root.join("policy.yaml");
    std::fs::write(&file, text).unwrap();
    let policy = Policy::load(&file, &[]).unwrap();
    let everything = ["fs.read", "fs.write"].map(|kind| Capability {
        kind: kind.to_owned(),
        value: "/".to_owned(),
    });
    Call {
        journals: Some(super::fs::Journals::new(root.join("state/changes"))),
        own: Arc::new(OwnFiles::new([root.join("state").as_path()])),
        ..call(Grant::new(Arc::new(policy), &everything))
    }
}

/// A call with ample budgets.
pub(super) fn call(grant: Grant) -> Call {
    Call {
        grant,
        meter: meter(AMPLE),
        journal: Journal::default(),
        limits: hydrant_policy::Limits::default(),
        fetcher: Arc::new(Fetcher::new(&[]).unwrap()),
        credential: None,
        components: Arc::new(Describer),
        journals: None,
        own: Arc::default(),
        jail: None,
        descriptions: None,
    }
}

pub(super) fn meter(budgets: MeterBudgets) -> Meter {
    Meter::new(budgets, Instant::now())
}

/// Describes a component by its bytes, unless they say otherwise.
struct Describer;

impl DescribeComponent for Describer {
    fn describe(
        &self,
        component: &[u8],
        _: Duration,
        _: Duration,
        _: Option<&hydrant_jail::Launcher>,
    ) -> Result<String, DescribeError> {
        match component {
            b"slow" => Err(DescribeError::Timeout),
            b"broken" => Err(DescribeError::NotDescribable),
            bytes => Ok(format!(
                "{{\"description\":{:?}}}",
                String::from_utf8_lossy(bytes)
            )),
        }
    }
}

/// An HTTP server on loopback. It keeps what was asked, and ends with the test.
pub(super) struct Server {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<String>>>,
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// `answer` gets the request line and writes what it likes; then the connection is closed.
    pub(super) fn start(answer: impl Fn(&str, &mut TcpStream) + Send + Sync + 'static) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let over = Arc::new(AtomicBool::new(false));
        let (keep, end) = (Arc::clone(&asked), Arc::clone(&over));
        let thread = std::thread::spawn(move || {
            std::thread::scope(|scope| {
                for stream in listener.incoming() {
                    if end.load(Ordering::SeqCst) {
                        break;
                    }
                    let (answer, keep, mut stream) = (&answer, &keep, stream.unwrap());
                    scope.spawn(move || {
                        stream
                            .set_read_timeout(Some(Duration::from_secs(5)))
                            .unwrap();
                        let request = read_request(&stream);
                        if let Some(line) = request.lines().next() {
                            keep.lock().unwrap().push(request.clone());
                            answer(line, &mut stream);
                        }
                    });
                }
            });
        });
        Server {
            address,
            asked,
            over,
            thread: Some(thread),
        }
    }

    /// `http://127.0.0.1:PORT` and `path`.
    pub(super) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub(super) fn port(&self) -> u16 {
        self.address.port()
    }

    /// Request lines and headers, as they came.
    pub(super) fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.over.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(self.address);
        if let Some(thread) = self.thread.take() {
            let ended = thread.join();
            assert!(ended.is_ok() || std::thread::panicking());
        }
    }
}

/// The head of a request and as much of a body as it announces.
fn read_request(stream: &TcpStream) -> String {
    let mut reader = BufReader::new(stream);
    let mut request = String::new();
    let mut length = 0;
    while reader
        .read_line(&mut request)
        .is_ok_and(|amount| amount > 0)
    {
        let line = request.lines().last().unwrap().to_owned();
        if let Some(announced) = line.strip_prefix("content-length: ") {
            length = announced.parse().unwrap();
        }
        if line.is_empty() {
            let mut body = vec![0; length];
            std::io::Read::read_exact(&mut reader, &mut body).unwrap();
            request.push_str(&String::from_utf8(body).unwrap());
            return request;
        }
    }
    request
}

/// Writes a whole answer; a client that has gone away is not an error.
pub(super) fn respond(stream: &mut TcpStream, head: &str, body: &[u8]) {
    let head = format!(
        "{head}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    let _ = stream
        .write_all(head.as_bytes())
        .and_then(|()| stream.write_all(body));
}

/// Every file below `directory`, with its bytes.
pub(super) fn snapshot(directory: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files: Vec<_> = std::fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| (path.clone(), std::fs::read(&path).unwrap_or_default()))
        .collect();
    files.sort();
    files
}
