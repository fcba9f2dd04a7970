//! A proxy with clients on its socket and servers on loopback.

mod ends;
mod hellos;
mod pairs;
mod plain;
mod requests;

use std::io::{Read, Write};
use std::net::{IpAddr, TcpListener, TcpStream};
use std::os::unix::fs::MetadataExt;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use std::thread::JoinHandle;

use super::*;
use crate::fetch::Lookup;
use crate::testing::Site;
use crate::{Budget, Meter, MeterBudgets};

/// Times that no test waits for unless it wants to.
const AMPLE: Terms = Terms {
    head: Duration::from_secs(5),
    dial: Duration::from_secs(5),
    idle: Duration::from_secs(5),
    tls_port: 443,
};

struct Ledger {
    meter: Meter,
    denied: Mutex<Vec<(Option<String>, String)>>,
}

impl Account for Ledger {
    fn count(&self, bytes: u64) -> Result<(), BudgetExceeded> {
        self.meter.egress(bytes)
    }

    fn remaining(&self) -> Result<Duration, BudgetExceeded> {
        self.meter.remaining()
    }

    fn denied(&self, asked: Option<&str>, reason: &str) {
        assert!(!reason.contains(['\r', '\n']), "{reason}");
        let denied = (asked.map(str::to_owned), reason.to_owned());
        self.denied.lock().unwrap().push(denied);
    }
}

/// Every name has these addresses; questions are counted.
#[derive(Debug, Default)]
struct Names {
    addresses: Vec<IpAddr>,
    asked: AtomicUsize,
}

impl Lookup for Names {
    fn lookup(&self, _: &str, _: Duration) -> Result<Vec<IpAddr>, ureq::Error> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        Ok(self.addresses.clone())
    }
}

/// A proxy to be.
struct Bench {
    ledger: Ledger,
    names: Arc<Names>,
    pairs: Vec<Pair>,
    terms: Terms,
}

impl Bench {
    fn new(pairs: &[&str]) -> Bench {
        Bench {
            ledger: Ledger {
                meter: meter(1 << 30),
                denied: Mutex::default(),
            },
            names: Arc::default(),
            pairs: pairs
                .iter()
                .map(|pair| Pair::parse(pair, PlainHttp::Allowed).unwrap())
                .collect(),
            terms: AMPLE,
        }
    }

    fn names(self, addresses: &[&str]) -> Bench {
        let addresses = addresses.iter().map(|text| text.parse().unwrap()).collect();
        let names = Arc::new(Names {
            addresses,
            ..Names::default()
        });
        Bench { names, ..self }
    }

    fn run<R>(&self, inside: impl FnOnce(Egress<'_>) -> R) -> R {
        let lookup = Arc::clone(&self.names);
        let fetcher = Fetcher::with_lookup(&[], lookup).unwrap();
        thread::scope(|scope| {
            let pairs = self.pairs.clone();
            inside(Egress::start_with(scope, &self.ledger, &fetcher, pairs, self.terms).unwrap())
        })
    }

    /// What a client gets that sends these bytes and nothing more.
    fn answer(&self, request: impl AsRef<[u8]>) -> String {
        self.run(|egress| {
            let mut client = connect(&egress);
            client.write_all(request.as_ref()).unwrap();
            read_all(&mut client)
        })
    }

    fn denied(&self) -> Vec<Option<String>> {
        let mut denied = self.ledger.denied.lock().unwrap();
        denied.drain(..).map(|(asked, _)| asked).collect()
    }
}

fn meter(egress_bytes: u64) -> Meter {
    let budgets = MeterBudgets {
        hostcalls: 0,
        read_bytes: 0,
        egress_bytes,
        wall_clock: Duration::from_secs(60),
    };
    Meter::new(budgets, Instant::now())
}

fn connect(egress: &Egress<'_>) -> UnixStream {
    let client = UnixStream::connect(egress.socket()).unwrap();
    client
        .set_read_timeout(Some(Duration::from_secs(10)))
        .unwrap();
    client
}

/// A client with a tunnel to `to`.
fn tunnel(egress: &Egress<'_>, to: &str) -> UnixStream {
    let mut client = connect(egress);
    write!(client, "CONNECT {to} HTTP/1.1\r\nhost: {to}\r\n\r\n").unwrap();
    let mut answer = [0; 39];
    client.read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"HTTP/1.1 200 Connection established\r\n\r\n");
    client
}

/// What comes to the end; that a peer went away with something unread counts as an end.
fn read_all(client: &mut impl Read) -> String {
    let mut all = Vec::new();
    if let Err(error) = client.read_to_end(&mut all) {
        assert_eq!(error.kind(), io::ErrorKind::ConnectionReset);
    }
    String::from_utf8_lossy(&all).into_owned()
}

/// Takes connections at this address and never answers one: its queue of one is full.
struct Silent {
    address: std::net::SocketAddr,
    _listener: TcpListener,
    _first: TcpStream,
}

impl Silent {
    fn at(address: &str) -> Silent {
        let address: std::net::SocketAddr = address.parse().unwrap();
        let family = rustix::net::AddressFamily::INET;
        let kind = rustix::net::SocketType::STREAM;
        let socket = rustix::net::socket(family, kind, None).unwrap();
        rustix::net::bind(&socket, &address).unwrap();
        rustix::net::listen(&socket, 0).unwrap();
        let listener = TcpListener::from(socket);
        let address = listener.local_addr().unwrap();
        Silent {
            address,
            _listener: listener,
            _first: TcpStream::connect(address).unwrap(),
        }
    }
}

/// A server on loopback that keeps what it is sent, and ends with the test.
struct Upstream {
    port: u16,
    got: Arc<Mutex<Vec<Vec<u8>>>>,
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Upstream {
    /// `answer` gets each piece that comes and writes what it likes, until it answers `false` or the client ends.
    fn start(answer: impl Fn(&[u8], &mut TcpStream) -> bool + Send + Sync + 'static) -> Upstream {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let got: Arc<Mutex<Vec<Vec<u8>>>> = Arc::default();
        let over = Arc::new(AtomicBool::new(false));
        let (keep, end) = (Arc::clone(&got), Arc::clone(&over));
        let thread = thread::spawn(move || {
            thread::scope(|scope| {
                for stream in listener.incoming() {
                    if end.load(Ordering::SeqCst) {
                        break;
                    }
                    let (answer, keep, mut stream) = (&answer, &keep, stream.unwrap());
                    let at = {
                        let mut keep = keep.lock().unwrap();
                        keep.push(Vec::new());
                        keep.len() - 1
                    };
                    scope.spawn(move || {
                        let mut piece = [0; 4096];
                        while let Ok(amount @ 1..) = stream.read(&mut piece) {
                            keep.lock().unwrap()[at].extend_from_slice(&piece[..amount]);
                            if !answer(&piece[..amount], &mut stream) {
                                break;
                            }
                        }
                    });
                }
            });
        });
        Upstream {
            port,
            got,
            over,
            thread: Some(thread),
        }
    }

    /// One that sends everything back.
    fn echo() -> Upstream {
        Upstream::start(|piece, stream| stream.write_all(piece).is_ok())
    }

    fn pair(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// What each connection has sent.
    fn got(&self) -> Vec<String> {
        let got = self.got.lock().unwrap();
        let text = |bytes: &Vec<u8>| String::from_utf8_lossy(bytes).into_owned();
        got.iter().map(text).collect()
    }
}

impl Drop for Upstream {
    fn drop(&mut self) {
        self.over.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(("127.0.0.1", self.port));
        if let Some(thread) = self.thread.take() {
            let ended = thread.join();
            assert!(ended.is_ok() || thread::panicking());
        }
    }
}

#[test]
fn the_socket_lies_in_a_directory_of_its_own_and_goes_with_the_proxy() {
    let socket = Bench::new(&[]).run(|egress| {
        let socket = egress.socket().to_owned();
        let directory = socket.parent().unwrap();
        assert_eq!(directory.metadata().unwrap().mode() & 0o7777, 0o700);
        assert_eq!(socket.metadata().unwrap().mode() & 0o777, 0o600);
        socket
    });
    assert!(!socket.parent().unwrap().exists());
}

#[test]
fn a_tunnel_copies_both_ways_and_passes_an_end_on() {
    let upstream = Upstream::echo();
    let bench = Bench::new(&[&upstream.pair()]);
    bench.run(|egress| {
        let mut client = tunnel(&egress, &upstream.pair());
        let sent: String = (0..200_000).map(|at| format!("{at:07} ")).collect();
        thread::scope(|scope| {
            let mut writer = client.try_clone().unwrap();
            let sent = sent.as_bytes();
            scope.spawn(move || {
                writer.write_all(sent).unwrap();
                writer.shutdown(std::net::Shutdown::Write).unwrap();
            });
            let started = Instant::now();
            let back = read_all(&mut client);
            // The server has seen the end, not the idle time.
            assert!(started.elapsed() < AMPLE.idle / 2);
            assert!(back.as_bytes() == sent, "{} bytes", back.len());
        });
        let used = bench.ledger.meter.used().egress_bytes;
        assert_eq!(usize::try_from(used).unwrap(), 2 * sent.len());
        assert_eq!(egress.exceeded(), None);
    });
    assert_eq!(bench.denied(), []);
}

#[test]
fn what_follows_a_connect_at_once_is_the_beginning_of_the_tunnel() {
    let upstream = Upstream::start(|piece, stream| {
        stream.write_all(piece).unwrap();
        false
    });
    let bench = Bench::new(&[&upstream.pair()]);
    let request = format!("CONNECT {} HTTP/1.1\r\n\r\nearly", upstream.pair());
    assert!(bench.answer(request).ends_with("\r\n\r\nearly"));
}

#[test]
fn a_pair_that_is_not_named_is_denied_in_one_line_and_recorded() {
    let upstream = Upstream::echo();
    let port = upstream.port;
    let bench = Bench::new(&["lib.example:443", "127.0.0.1:1"]).names(&["127.0.0.1"]);
    for asked in [
        "evil.example:443".to_owned(),
        "lib.example:8443".to_owned(),
        "lib.example.:443".to_owned(),
        format!("127.0.0.1:{port}"),
        format!("localhost:{port}"),
        format!("2130706433:{port}"),
        format!("0177.0.0.1:{port}"),
        format!("[::ffff:127.0.0.1]:{port}"),
    ] {
        let answer = bench.answer(format!("CONNECT {asked} HTTP/1.1\r\n\r\n"));
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 403 Forbidden\r\n"), "{answer}");
        assert_eq!(
            body,
            format!(
                "egress to {asked} denied: no pair of the policy names it; what it needs is egress:{asked}\n"
            )
        );
        assert_eq!(bench.denied(), [Some(asked)]);
    }
    assert!(upstream.got().is_empty());
    assert_eq!(bench.names.asked.load(Ordering::SeqCst), 0);
}

#[test]
fn a_name_that_leads_to_an_address_that_is_not_public_is_denied() {
    let upstream = Upstream::echo();
    let pair = format!("lib.example:{}", upstream.port);
    for addresses in [
        &["127.0.0.1"][..],
        &["::1"],
        &["::ffff:127.0.0.1"],
        &["64:ff9b::7f00:1"],
        &["169.254.169.254"],
        // One among several refuses the host.
        &["8.8.8.8", "127.0.0.1"],
    ] {
        let bench = Bench::new(&[&pair]).names(addresses);
        for request in [
            format!("CONNECT {pair} HTTP/1.1\r\n\r\n"),
            format!("GET http://{pair}/ HTTP/1.1\r\n\r\n"),
        ] {
            let answer = bench.answer(request);
            assert!(answer.starts_with("HTTP/1.1 403 "), "{answer}");
            assert!(answer.contains("is not public"), "{answer}");
            assert_eq!(bench.denied(), [Some(pair.clone())]);
        }
        assert_eq!(bench.names.asked.load(Ordering::SeqCst), 2);
    }
    assert!(upstream.got().is_empty());
}

#[test]
fn localhost_is_looked_up_once_and_leads_to_loopback_only() {
    let upstream = Upstream::echo();
    let pair = format!("localhost:{}", upstream.port);
    let bench = Bench::new(&[&pair]).names(&["127.0.0.1"]);
    bench.run(|egress| {
        let mut client = tunnel(&egress, &pair.to_uppercase());
        client.write_all(b"x").unwrap();
        client.read_exact(&mut [0]).unwrap();
    });
    assert_eq!(bench.names.asked.load(Ordering::SeqCst), 1);
    let bench = Bench::new(&[&pair]).names(&["8.8.8.8"]);
    let answer = bench.answer(format!("CONNECT {pair} HTTP/1.1\r\n\r\n"));
    assert!(answer.starts_with("HTTP/1.1 403 "), "{answer}");
}

#[test]
fn where_nobody_listens_or_no_address_is_the_answer_says_so() {
    let port = {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap().port()
    };
    let pair = format!("127.0.0.1:{port}");
    let bench = Bench::new(&[&pair, "lib.example:1"]);
    let answer = bench.answer(format!("CONNECT {pair} HTTP/1.1\r\n\r\n"));
    assert!(answer.starts_with("HTTP/1.1 502 "), "{answer}");
    assert!(answer.ends_with(&format!("no connection to {pair}: no connection\n")));
    let answer = bench.answer("CONNECT lib.example:1 HTTP/1.1\r\n\r\n");
    assert!(answer.ends_with("lib.example:1: the name could not be resolved\n"));
    assert_eq!(bench.denied(), []);
}

#[test]
fn a_call_counts_with_its_meter_and_keeps_denials_in_its_journal() {
    let mut call = Site::new().call();
    call.meter = meter(10);
    let account: &dyn Account = &call;
    account.denied(Some("evil.example:443"), "because");
    account.denied(None, "because");
    assert_eq!(
        call.journal.take().denied,
        ["egress:evil.example:443", "egress:unreadable"]
    );
    assert_eq!(account.count(10), Ok(()));
    assert_eq!(account.count(1).unwrap_err().budget, Budget::EgressBytes);
}
