//! `http_fetch` against a server on loopback.

use super::*;
use crate::testing::{Server, respond};
use std::io::Write;
use std::net::TcpStream;
use std::time::Instant;

fn fetch(call: &CoreCall, url: &str) -> Result<Option<String>, String> {
    let answer = call.fetch(url.as_bytes(), 16);
    let text = |bytes: Option<Vec<u8>>| bytes.map(|bytes| String::from_utf8(bytes).unwrap());
    answer.map(text).map_err(|ended| ended.to_string())
}

fn denied_url(url: &str) -> Result<Option<String>, String> {
    Err(format!("capability denied: net.http:{url}"))
}

/// Paths and what the server does about them.
fn answer(line: &str, stream: &mut TcpStream) {
    let path = line.split(' ').nth(1).unwrap();
    match path.split('?').next().unwrap() {
        "/v1/ok" => respond(stream, "HTTP/1.1 201 Created", b"0123456789abcdef"),
        "/v1/long" => respond(stream, "HTTP/1.1 200 OK", b"0123456789abcdefg"),
        "/v1/gzip" => respond(stream, "HTTP/1.1 200 OK\r\ncontent-encoding: gzip", b"x"),
        "/v1/moved" => respond(stream, "HTTP/1.1 302 Found\r\nlocation: /v1/ok", b"moved"),
        "/v1/endless" => {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n");
            while stream.write_all(&[b'x'; 4096]).is_ok() {}
        }
        "/v1/drip" => {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n");
            while stream.write_all(b"x").is_ok() {
                std::thread::sleep(Duration::from_millis(100));
            }
        }
        "/v1/never" => std::thread::sleep(Duration::from_secs(1)),
        _ => respond(stream, "HTTP/1.1 404 Not Found", b"none"),
    }
}

/// A status other than 2xx is no answer.
#[test]
fn the_body_of_a_success_is_the_answer_and_nothing_else() {
    let server = Server::start(answer);
    let site = Site::new();
    let call = site.call(&[("net.http", &server.url("/v1"))]);
    let get = |path: &str| fetch(&call, &server.url(path));
    assert_eq!(get("/v1/ok?q=%20"), Ok(Some("0123456789abcdef".into())));
    for path in [
        "/v1/none",
        "/v1/moved",
        "/v1/long",
        "/v1/gzip",
        "/v1/endless",
    ] {
        assert_eq!(get(path), Ok(None), "{path}");
    }
    let asked = server.asked();
    assert_eq!(asked.len(), 6, "a redirect is not followed");
    assert!(asked[0].starts_with("GET /v1/ok?q=%20 HTTP/1.1\r\n"));
    for header in ["cookie", "authorization", "referer"] {
        assert!(!asked[0].to_lowercase().contains(header));
    }
    assert_eq!(call.caps_used(), BTreeSet::from(["net.http".to_owned()]));
}

#[test]
fn other_urls_are_denied_before_anything_is_sent() {
    let server = Server::start(answer);
    let site = Site::new();
    let call = site.call(&[("net.http", &server.url("/v1/")), ("net.http", "*")]);
    for path in [
        "/",
        "/v2/ok",
        "/v1x",
        "/v1/../v2",
        "/v1/%2e%2e/v2",
        "/v1/%20",
        "/v1/ok#f",
    ] {
        let url = server.url(path);
        assert_eq!(fetch(&call, &url), denied_url(&url));
    }
    let port = server.port();
    for url in [
        format!("https://127.0.0.1:{port}/v1/ok"),
        format!("http://localhost:{port}/v1/ok"),
        "http://example.com/v1/".to_owned(),
    ] {
        assert_eq!(fetch(&call, &url), denied_url(&url));
    }
    let url = format!("http://me:pw@127.0.0.1:{port}/v1/ok");
    let shown = format!("http://127.0.0.1:{port}/v1/ok");
    assert_eq!(fetch(&call, &url), denied_url(&shown), "no credentials");
    assert!(server.asked().is_empty() && call.caps_used().is_empty());
}

#[test]
fn what_is_no_url_has_no_answer() {
    let site = Site::new();
    let call = site.call(&[("net.http", "http://127.0.0.1:1/")]);
    for url in [
        "",
        "/v1",
        "127.0.0.1:1",
        "http://",
        "http://127.0.0.1:1/\n",
        "http://[::1/",
    ] {
        assert_eq!(fetch(&call, url), Ok(None), "{url:?}");
    }
    assert_eq!(call.fetch(b"http://127.0.0.1:1/\xff", 16).unwrap(), None);
    assert!(call.caps_used().is_empty());
    // Nobody listens there; the check has passed all the same.
    assert_eq!(fetch(&call, "http://127.0.0.1:1/"), Ok(None));
    assert_eq!(call.caps_used().len(), 1);
}

#[test]
fn credentials_are_not_sent_even_if_declared() {
    let server = Server::start(answer);
    let site = Site::new();
    let url = format!("http://me:pw@127.0.0.1:{}/v1/ok", server.port());
    let call = site.call(&[("net.http", &url)]);
    assert_eq!(fetch(&call, &url), Ok(None));
    assert!(server.asked().is_empty());
}

#[test]
fn a_name_that_leads_to_this_machine_is_denied() {
    let server = Server::start(answer);
    let site = Site::new();
    // The system resolves names below `localhost` to loopback, or not at all.
    let url = format!("http://x.localhost:{}/v1/ok", server.port());
    let call = site.call(&[("net.http", &url)]);
    let outcome = fetch(&call, &url);
    assert!(
        outcome == denied_url(&url) || outcome == Ok(None),
        "{outcome:?}"
    );
    assert!(server.asked().is_empty());
}

#[test]
fn a_server_that_is_slow_ends_with_the_time_of_the_run() {
    let server = Server::start(answer);
    let site = Site::new();
    for path in ["/v1/never", "/v1/drip"] {
        let prefix = server.url("/v1");
        let call = site.call_for(&[("net.http", &prefix)], Duration::from_millis(200));
        let started = Instant::now();
        let ended = call.fetch(server.url(path).as_bytes(), 16);
        assert!(matches!(ended, Err(Ended::Budget(_))), "{path} {ended:?}");
        assert!(started.elapsed() < Duration::from_millis(900), "{path}");
    }
}
