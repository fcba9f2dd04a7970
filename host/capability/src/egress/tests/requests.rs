//! The text of requests.

use proptest::prelude::*;

use super::super::pair::Authority;
use super::super::request::{Plain, Request};
use super::*;

fn plain(head: &str) -> Plain {
    match Request::parse(head.as_bytes()) {
        Ok(Request::Plain(plain)) => plain,
        other => panic!("{head:?}: {other:?}"),
    }
}

fn lines(head: &[u8]) -> Vec<&str> {
    let head = std::str::from_utf8(head).unwrap();
    head.strip_suffix("\r\n\r\n")
        .unwrap()
        .split("\r\n")
        .collect()
}

#[test]
fn a_tunnel_names_a_host_and_a_port() {
    let head = b"CONNECT Lib.Example:443 HTTP/1.1\r\nHost: other.example\r\nproxy-authorization: x\r\n\r\n";
    assert_eq!(
        Request::parse(head),
        Ok(Request::Tunnel(
            Authority::parse("lib.example:443", None).unwrap()
        ))
    );
}

#[test]
fn a_plain_request_is_written_anew_with_the_host_of_its_url() {
    let plain = plain(
        "POST HTTP://Lib.Example:8080?q=/x HTTP/1.1\r\n\
         Host: evil.example\r\nhost: evil.example:8080\r\n\
         Accept:\ttext/plain \r\nConnection: X-Hop, content-length,accept-not\r\nx-hop: 1\r\n\
         Proxy-Authorization: secret\r\nproxy-connection: keep-alive\r\nkeep-alive: 5\r\nUpgrade: h2c\r\n\
         TE: trailers\r\nTrailer: a\r\nhttp2-settings: a\r\nx-raw: \u{e9}\r\nContent-Length: 007\r\n\r\n",
    );
    assert_eq!(plain.authority.to_string(), "lib.example:8080");
    assert_eq!(plain.body, 7);
    assert_eq!(
        lines(&plain.head),
        [
            "POST /?q=/x HTTP/1.1",
            "host: lib.example:8080",
            "accept: text/plain",
            "x-raw: \u{e9}",
            "content-length: 7",
            "connection: close",
        ]
    );
}

#[test]
fn a_url_without_port_or_path_has_the_usual_ones() {
    let bare = plain("GET http://lib.example HTTP/1.0\r\n\r\n");
    assert_eq!(bare.authority.to_string(), "lib.example:80");
    assert_eq!(
        lines(&bare.head),
        ["GET / HTTP/1.0", "host: lib.example", "connection: close"]
    );
    let slashes = "GET http://lib.example//evil.example/ HTTP/1.1\r\n\r\n";
    assert_eq!(
        lines(&plain(slashes).head)[0],
        "GET //evil.example/ HTTP/1.1"
    );
}

#[test]
fn everything_else_is_no_request() {
    const PLAIN: &str = "GET http://a.example/ HTTP/1.1\r\n";
    for head in [
        // Not for a proxy, or not plain http.
        "GET / HTTP/1.1\r\nhost: a.example\r\n",
        "OPTIONS * HTTP/1.1\r\n",
        "GET https://a.example/ HTTP/1.1\r\n",
        "GET ftp://a.example/ HTTP/1.1\r\n",
        "GET http:/a.example/ HTTP/1.1\r\n",
        "GET //a.example/ HTTP/1.1\r\n",
        "GET a.example:80 HTTP/1.1\r\n",
        "CONNECT a.example HTTP/1.1\r\n",
        "CONNECT http://a.example:443/ HTTP/1.1\r\n",
        "CONNECT a.example:443/ HTTP/1.1\r\n",
        "CONNECT a.example:443 HTTP/1.1\r\ncontent-length: 0\r\n",
        "connect a.example:443 HTTP/1.1\r\n",
        // Hosts.
        "GET http:/// HTTP/1.1\r\n",
        "GET http://:80/ HTTP/1.1\r\n",
        "GET http://a.example@b.example/ HTTP/1.1\r\n",
        "GET http://a.example:80@b.example/ HTTP/1.1\r\n",
        "GET http://a.example\\@b.example/ HTTP/1.1\r\n",
        "GET http://a.example#@b.example/ HTTP/1.1\r\n",
        "GET http://a%2eexample/ HTTP/1.1\r\n",
        "GET http://a.example/#x HTTP/1.1\r\n",
        "GET http://a.example/a\\b HTTP/1.1\r\n",
        "CONNECT me@a.example:443 HTTP/1.1\r\n",
        "CONNECT a.example:443#x HTTP/1.1\r\n",
        // First lines.
        "\r\nGET http://a.example/ HTTP/1.1\r\n",
        "GET  http://a.example/ HTTP/1.1\r\n",
        "GET http://a.example/ HTTP/1.1 \r\n",
        " GET http://a.example/ HTTP/1.1\r\n",
        "GET http://a.example/ b HTTP/1.1\r\n",
        "GET http://a.example/\tb HTTP/1.1\r\n",
        "GET http://a.example/\u{e9} HTTP/1.1\r\n",
        "GET http://a.example/\r\n",
        "GET http://a.example/ HTTP/2.0\r\n",
        "GET http://a.example/ HTTP/1.10\r\n",
        "GET http://a.example/ http/1.1\r\n",
        "PRI * HTTP/2.0\r\n",
        "G(T http://a.example/ HTTP/1.1\r\n",
        // Line ends and headers.
        &format!("{PLAIN}a: b\nhost: c\r\n"),
        &format!("{PLAIN}a: b\rhost: c\r\n"),
        &format!("{PLAIN}a: b\r\r\n"),
        &format!("{PLAIN}a: b\0\r\n"),
        &format!("{PLAIN}a: b\r\n folded\r\n"),
        &format!("{PLAIN} a: b\r\n"),
        &format!("{PLAIN}a : b\r\n"),
        &format!("{PLAIN}a\r\n"),
        &format!("{PLAIN}: b\r\n"),
        "GET http://a.example/ HTTP/1.1\nhost: a\r\n",
        // Bodies that two readers could measure in two ways.
        &format!("{PLAIN}content-length: 1\r\ncontent-length: 1\r\n"),
        &format!("{PLAIN}content-length: 1, 1\r\n"),
        &format!("{PLAIN}content-length: +1\r\n"),
        &format!("{PLAIN}content-length: 0x1\r\n"),
        &format!("{PLAIN}content-length:\r\n"),
        &format!("{PLAIN}content-length: 18446744073709551616\r\n"),
        &format!("{PLAIN}transfer-encoding: chunked\r\n"),
        &format!("{PLAIN}Transfer-Encoding:\tidentity\r\ncontent-length: 1\r\n"),
    ] {
        let head = format!("{head}\r\n");
        assert!(Request::parse(head.as_bytes()).is_err(), "{head:?}");
    }
    assert!(Request::parse(b"GET http://a.example/ HTTP/1.1\n\n").is_err());
    assert!(Request::parse(b"").is_err());
}

#[test]
fn other_requests_are_answered_403_and_recorded() {
    let bench = Bench::new(&["lib.example:443"]);
    let answer = bench.answer("GET / HTTP/1.1\r\nhost: lib.example\r\n\r\n");
    assert!(answer.starts_with("HTTP/1.1 403 Forbidden\r\n"), "{answer}");
    assert!(answer.ends_with(
        "egress denied: the request cannot be served: it is neither CONNECT nor an absolute http:// URL\n"
    ));
    assert_eq!(bench.denied(), [None]);
}

proptest! {
    #[test]
    fn no_bytes_make_the_reader_panic(head in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = Request::parse(&head);
        let _ = Request::parse(&[head.as_slice(), b"\r\n\r\n"].concat());
    }

    /// What passes is, once more, one request to the same host without anything between two readers.
    #[test]
    fn what_is_written_anew_is_one_request(
        target in "(http://)?[a-c@:\\[\\].0-9%#\\\\]{1,12}(:80)?/?[ -~]{0,8}",
        headers in proptest::collection::vec(
            ("(host|connection|content-length|transfer-encoding|x|Upgrade|te)[ :]{0,2}", "[ -~\r\n\t]{0,12}"), 0..5),
    ) {
        let mut head = format!("POST {target} HTTP/1.1\r\n");
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str("\r\n");
        if let Ok(Request::Plain(plain)) = Request::parse(head.as_bytes()) {
            let lines = lines(&plain.head);
            let named = |name: &str| lines.iter().filter(|line| line.starts_with(name)).count();
            prop_assert_eq!(named("host: "), 1);
            prop_assert_eq!(named("connection: close"), 1);
            prop_assert_eq!(named("connection"), 1);
            prop_assert!(named("content-length") <= 1);
            prop_assert_eq!(named("transfer-encoding"), 0);
            prop_assert!(lines.iter().all(|line| !line.contains(['\r', '\n'])));
            let host = plain.authority.host_header();
            prop_assert_eq!(lines[1], format!("host: {host}"));
        }
    }
}
