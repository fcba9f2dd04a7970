//! Requests against a server on loopback, and against names that lie.

mod bodies;
mod redirects;
mod tls;

use std::io::Write;
use std::net::{IpAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use super::resolve::Lookup;
use super::*;
use crate::testing::{AMPLE, Server, Site, call, meter, respond};
use crate::{Budget, MeterBudgets};

/// A call that may send every method below each of `prefixes`.
fn call_to(prefixes: &[String]) -> Call {
    let site = Site::new();
    let rules: String = prefixes
        .iter()
        .map(|url| {
            format!("  - {{url: \"{url}\", methods: [GET, HEAD, POST, PUT, PATCH, DELETE]}}\n")
        })
        .collect();
    let net = if rules.is_empty() {
        " []\n".to_owned()
    } else {
        format!("\n{rules}")
    };
    call(site.grant(prefixes, &format!("  net:{net}")))
}

fn get(url: impl Into<String>) -> HttpRequest {
    HttpRequest {
        method: Method::Get,
        url: url.into(),
        headers: Vec::new(),
        body: None,
        encodings: Encodings::Identity,
        max_bytes: 1024,
        overflow: Overflow::Refuse,
        timeout_ms: 5000,
        max_redirects: 5,
        body_types: Vec::new(),
    }
}

fn one(call: &Call, request: HttpRequest) -> Result<HttpResponse, FetchError> {
    answer(call, request).map_err(|failure| failure.reason)
}

fn answer(call: &Call, request: HttpRequest) -> Result<HttpResponse, FetchFailure> {
    send(call, vec![request]).unwrap().remove(0)
}

/// Names and what they resolve to; a second question is counted.
#[derive(Debug, Default)]
struct Names {
    addresses: Vec<IpAddr>,
    slow: Duration,
    asked: AtomicUsize,
}

impl Lookup for Names {
    fn lookup(&self, _: &str, within: Duration) -> Result<Vec<IpAddr>, ureq::Error> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        if self.slow > within {
            thread::sleep(within);
            return Err(connect::Obstacle::Slow.into());
        }
        Ok(self.addresses.clone())
    }
}

fn call_with_names(prefixes: &[String], names: &Arc<Names>) -> Call {
    let mut call = call_to(prefixes);
    let lookup = Arc::clone(names);
    call.fetcher = Arc::new(Fetcher::with_lookup(&[], lookup).unwrap());
    call
}

fn names(addresses: &[&str]) -> Arc<Names> {
    Arc::new(Names {
        addresses: addresses.iter().map(|text| text.parse().unwrap()).collect(),
        ..Names::default()
    })
}

#[test]
fn any_final_status_is_a_response_with_its_headers_and_body() {
    let server = Server::start(|_, stream| {
        respond(
            stream,
            "HTTP/1.1 404 Not Found\r\nX-Kind: a\r\nX-Raw: \u{e9}",
            b"gone",
        );
    });
    let call = call_to(&[server.url("/")]);
    let mut request = get(server.url("/a?b=c#fragment"));
    request.headers = vec![("accept".to_owned(), "text/plain".to_owned())];
    let response = one(&call, request).unwrap();
    assert_eq!(
        (response.status, response.body.as_slice()),
        (404, b"gone".as_slice())
    );
    assert_eq!(response.url, server.url("/a?b=c"));
    assert!(
        response
            .headers
            .contains(&("x-kind".to_owned(), "a".to_owned()))
    );
    let asked = server.asked().remove(0);
    assert!(asked.starts_with("GET /a?b=c HTTP/1.1\r\n"), "{asked}");
    // Host, user agent, accepted encoding, what was asked for, and nothing else.
    let mut names: Vec<_> = asked
        .lines()
        .skip(1)
        .filter_map(|line| line.split_once(':'))
        .map(|(name, _)| name)
        .collect();
    names.sort_unstable();
    assert_eq!(names, ["accept", "accept-encoding", "host", "user-agent"]);
}

#[test]
fn methods_and_bodies_are_sent_as_asked() {
    let server = Server::start(|_, stream| respond(stream, "HTTP/1.1 200 OK", b""));
    let call = call_to(&[server.url("/")]);
    for (method, body) in [
        (Method::Post, Some("p")),
        (Method::Put, Some("u")),
        (Method::Patch, None),
        (Method::Delete, Some("d")),
        (Method::Delete, None),
        (Method::Head, None),
    ] {
        let mut request = get(server.url("/"));
        request.method = method;
        request.body = body.map(|body| body.as_bytes().to_vec());
        assert_eq!(one(&call, request).unwrap().status, 200);
    }
    let asked = server.asked();
    for (request, (begin, end)) in asked.iter().zip([
        ("POST / ", "\r\n\r\np"),
        ("PUT / ", "\r\n\r\nu"),
        ("PATCH / ", "\r\n\r\n"),
        ("DELETE / ", "\r\n\r\nd"),
        ("DELETE / ", "\r\n\r\n"),
        ("HEAD / ", "\r\n\r\n"),
    ]) {
        assert!(
            request.starts_with(begin) && request.ends_with(end),
            "{request:?}"
        );
    }
    let mut request = get(server.url("/"));
    request.body = Some(b"GET /hidden HTTP/1.1\r\n\r\n".to_vec());
    assert_eq!(one(&call, request), Err(FetchError::InvalidRequest));
}

#[test]
fn what_the_policy_does_not_name_is_denied_and_nothing_is_sent() {
    let server = Server::start(|_, stream| respond(stream, "HTTP/1.1 200 OK", b""));
    let call = call_to(&[server.url("/allowed/")]);
    assert_eq!(
        one(&call, get(server.url("/other"))),
        Err(FetchError::Denied)
    );
    let user = server.url("/allowed/").replace("//", "//me@");
    assert_eq!(one(&call, get(user)), Err(FetchError::InvalidRequest));
    assert!(server.asked().is_empty());
}

#[test]
fn special_addresses_are_refused_however_they_are_written() {
    let call = call_to(&[]);
    for url in [
        "http://169.254.169.254/latest/",
        "https://localhost/",
        "https://[::ffff:10.0.0.1]/",
    ] {
        assert_eq!(one(&call, get(url)), Err(FetchError::Denied), "{url}");
    }
    // Also where a policy allows the name: it does not name the address.
    for addresses in [
        ["127.0.0.1"].as_slice(),
        &["10.0.0.1"],
        &["::ffff:169.254.169.254"],
        &["2606:4700::1111", "192.168.0.1"],
    ] {
        let names = names(addresses);
        let call = call_with_names(&["http://rebind.example/".to_owned()], &names);
        assert_eq!(
            one(&call, get("http://rebind.example/")),
            Err(FetchError::Denied)
        );
    }
}

#[test]
fn a_policy_that_names_localhost_reaches_loopback_and_nothing_else() {
    let server = Server::start(|_, stream| respond(stream, "HTTP/1.1 200 OK", b"home"));
    let url = format!("http://localhost:{}/", server.port());
    let call = call_with_names(std::slice::from_ref(&url), &names(&["127.0.0.1"]));
    assert_eq!(one(&call, get(&url)).unwrap().body, b"home");
    for lie in ["10.0.0.1", "8.8.8.8"] {
        let call = call_with_names(std::slice::from_ref(&url), &names(&[lie]));
        assert_eq!(one(&call, get(&url)), Err(FetchError::Denied), "{lie}");
    }
}

/// The connection goes to the address that was checked: nobody asks for the name's again.
#[test]
fn the_name_of_a_request_that_is_sent_is_resolved_once() {
    let server = Server::start(|_, stream| respond(stream, "HTTP/1.1 200 OK", b"home"));
    let url = format!("http://localhost:{}/", server.port());
    let names = names(&["127.0.0.1"]);
    let call = call_with_names(std::slice::from_ref(&url), &names);
    assert_eq!(one(&call, get(&url)).unwrap().body, b"home");
    assert_eq!(names.asked.load(Ordering::SeqCst), 1);
}

#[test]
fn a_name_is_resolved_once_for_a_request() {
    let names = names(&["192.0.2.1"]);
    let call = call_with_names(&["http://once.example/".to_owned()], &names);
    assert_eq!(
        one(&call, get("http://once.example/")),
        Err(FetchError::Denied)
    );
    assert_eq!(names.asked.load(Ordering::SeqCst), 1);
}

#[test]
fn a_name_that_does_not_resolve_is_told_apart_from_one_that_takes_too_long() {
    let prefix = ["http://slow.example/".to_owned()];
    let call = call_with_names(&prefix, &names(&[]));
    assert_eq!(
        one(&call, get("http://slow.example/")),
        Err(FetchError::Dns)
    );
    let slow = Arc::new(Names {
        slow: Duration::from_secs(60),
        ..Names::default()
    });
    let call = call_with_names(&prefix, &slow);
    let mut request = get("http://slow.example/");
    request.timeout_ms = 50;
    assert_eq!(one(&call, request), Err(FetchError::Timeout));
}

#[test]
fn no_connection_and_no_tls_are_told_apart() {
    let free = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let url = format!("http://{free}/");
    let call = call_to(std::slice::from_ref(&url));
    assert_eq!(one(&call, get(&url)), Err(FetchError::Connect));
    let server = Server::start(|_, stream| respond(stream, "HTTP/1.1 200 OK", b""));
    let url = server.url("/").replace("http:", "https:");
    let plain = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = plain.local_addr().unwrap();
    let talker = thread::spawn(move || {
        let mut stream: TcpStream = plain.accept().unwrap().0;
        let _ = stream.write_all(b"220 welcome, this is no TLS at all\r\n");
    });
    let talk = format!("https://{address}/");
    let call = call_to(&[url, talk.clone()]);
    assert_eq!(one(&call, get(talk)), Err(FetchError::Tls));
    talker.join().unwrap();
}

#[test]
fn ten_requests_at_a_time_answered_in_order() {
    let now = Arc::new((AtomicUsize::new(0), AtomicUsize::new(0)));
    let seen = Arc::clone(&now);
    let server = Server::start(move |line, stream| {
        let (at_work, most) = &*seen;
        most.fetch_max(at_work.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        thread::sleep(Duration::from_millis(10));
        at_work.fetch_sub(1, Ordering::SeqCst);
        respond(stream, "HTTP/1.1 200 OK", line.as_bytes());
    });
    let call = call_to(&[server.url("/")]);
    let requests = (0..40).map(|number| get(server.url(&format!("/{number}"))));
    let answers = send(&call, requests.collect()).unwrap();
    for (number, answer) in answers.into_iter().enumerate() {
        let expected = format!("GET /{number} HTTP/1.1");
        assert_eq!(answer.unwrap().body, expected.as_bytes());
    }
    let most = now.1.load(Ordering::SeqCst);
    assert!((2..=10).contains(&most), "{most}");
}

#[test]
fn a_file_of_roots_without_a_certificate_is_named() {
    let site = Site::new();
    let file = site.root.join("roots.pem");
    assert!(matches!(
        Fetcher::new(std::slice::from_ref(&file)),
        Err(FetcherError::Unreadable { .. })
    ));
    for text in [
        "",
        "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
    ] {
        std::fs::write(&file, text).unwrap();
        let error = Fetcher::new(std::slice::from_ref(&file)).unwrap_err();
        assert!(error.to_string().contains("roots.pem"), "{error}");
    }
}
