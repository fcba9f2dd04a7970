//! `http.fetch_text`, against servers on loopback only.

use std::io::Write;
use std::net::TcpListener;
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder};
use serde_json::{Value, json};

use crate::desk::Desk;
use crate::server::{Answer, Identity, Request, Server};

const ID: &str = "http.fetch_text";

/// A response with these header lines, each without its line end.
fn raw(status: &str, headers: &[&str], body: &[u8]) -> Answer {
    let mut bytes = format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n", body.len());
    for header in headers {
        bytes.push_str(header);
        bytes.push_str("\r\n");
    }
    bytes.push_str("connection: close\r\n\r\n");
    Answer::Raw([bytes.as_bytes(), body].concat())
}

/// A desk that may fetch everything from this server.
fn desk(server: &Server) -> Desk {
    Desk::fetching(&[server.url("/")])
}

/// One fetch of one body with this `content-type`; none if it is empty.
fn fetch(mime: &str, body: &[u8], more: &Value) -> Result<Value, Value> {
    let header = format!("content-type: {mime}");
    let (missing, body) = (mime.is_empty(), body.to_vec());
    let server = Server::new(move |_: &Request| {
        let headers: &[&str] = if missing { &[] } else { &[&header] };
        raw("200 OK", headers, &body)
    });
    let mut request = json!({"url": server.url("/x")});
    for (name, value) in more.as_object().unwrap() {
        request[name] = value.clone();
    }
    desk(&server).ask(ID, &request)
}

fn text(mime: &str, body: &[u8]) -> String {
    let answer = fetch(mime, body, &json!({})).unwrap();
    assert_eq!(answer["bytes"], body.len());
    assert_eq!(answer["truncated"], false);
    answer["text"].as_str().unwrap().to_owned()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn what_is_asked_for_and_echoed() {
    let server = Server::new(|_: &Request| raw("200 OK", &["content-type: text/plain"], b"hi"));
    let desk = desk(&server);
    let url = format!("{}#frag?x", server.url("/a/../b%20c?q=%2F&r"));
    let answer = desk.ok(ID, &json!({ "url": url }));
    let expected = json!({
        "url": url, "final_url": server.url("/b%20c?q=%2F&r"), "status": 200, "mime": "text/plain",
        "text": "hi", "bytes": 2, "truncated": false,
    });
    assert_eq!(answer, expected);
    assert_eq!(
        server.hits("/b%20c?q=%2F&r"),
        1,
        "GET, without the fragment"
    );
    for scheme in ["ftp", "file", "data", "gopher", "ws", "javascript"] {
        desk.error(
            ID,
            &json!({"url": format!("{scheme}://127.0.0.1/x")}),
            "unsupported",
        );
    }
    let port = server.port();
    for user in ["user:secret@", "user@", ":secret@"] {
        let url = format!("http://{user}127.0.0.1:{port}/");
        desk.error(ID, &json!({ "url": url }), "invalid_request");
    }
    for bad in [
        "x",
        "/x",
        "//127.0.0.1/",
        "http://",
        "http://[::1",
        "http://127.0.0.1:99999/",
    ] {
        desk.error(ID, &json!({ "url": bad }), "invalid_request");
    }
    assert_eq!(server.connections(), 1);
}

#[test]
fn what_is_outside_the_grant() {
    let server = Server::new(|_: &Request| Answer::Body(b"x".into()));
    let desk = Desk::fetching(&[server.url("/docs/")]);
    assert_eq!(
        desk.ok(ID, &json!({"url": server.url("/docs/x")}))["text"],
        "x"
    );
    let port = server.port();
    for url in [
        server.url("/"),
        server.url("/docs2/"),
        server.url("/docs/../x"),
        server.url("/docs/%2e%2e/x"),
        format!("http://localhost:{port}/docs/x"),
        format!("https://127.0.0.1:{port}/docs/x"),
        format!("http://127.0.0.1:{}/docs/x", port ^ 1),
        server.url("/docs/%5ca"),
    ] {
        desk.error(ID, &json!({ "url": url }), "denied");
    }
    assert_eq!(server.connections(), 1);
    let by_name = Desk::fetching(&[format!("http://localhost:{port}/")]);
    assert_eq!(
        by_name.ok(
            ID,
            &json!({"url": format!("http://localhost:{port}/docs/x")})
        )["status"],
        200
    );
}

#[test]
fn redirects_are_followed_up_to_five() {
    let server = Server::new(|request: &Request| match request.path.split_once("/hop") {
        Some((_, "0")) => raw("200 OK", &["content-type: text/plain"], b"end"),
        Some((_, number)) => {
            let next: u32 = number.parse::<u32>().unwrap() - 1;
            let status = [301, 302, 303, 307, 308][next as usize % 5];
            Answer::Redirect(status, format!("hop{next}"))
        }
        None => raw(
            "300 X",
            &["location: /hop0", "content-type: text/plain"],
            b"choices",
        ),
    });
    let desk = desk(&server);
    for hops in [1, 2, 5] {
        let answer = desk.ok(ID, &json!({"url": server.url(&format!("/hop{hops}"))}));
        assert_eq!(
            (&answer["text"], &answer["final_url"]),
            (&json!("end"), &json!(server.url("/hop0")))
        );
    }
    let request = json!({"url": server.url("/hop6")});
    desk.refused(ID, &request, "too_large", &json!({"reason": "redirects"}));
    let other = desk.ok(ID, &json!({"url": server.url("/choices")}));
    assert_eq!(
        (&other["status"], &other["text"]),
        (&json!(300), &json!("choices")),
        "no other status"
    );
}

#[test]
fn redirects_out_of_the_grant_are_never_connected_to() {
    let other = Server::new(|_: &Request| Answer::Body(b"secret".into()));
    let target = other.url("/secret");
    let to = target.clone();
    let server = Server::new(move |request: &Request| match request.path.as_str() {
        "/in/out" => Answer::Redirect(302, to.clone()),
        "/in/up" => Answer::Redirect(307, "/x".into()),
        "/in/scheme" => Answer::Redirect(301, "file:///etc/passwd".into()),
        _ => Answer::Body(b"x".into()),
    });
    let desk = Desk::fetching(&[server.url("/in/")]);
    for (path, target) in [("/in/out", target), ("/in/up", server.url("/x"))] {
        let details = desk.error(ID, &json!({"url": server.url(path)}), "denied");
        assert_eq!(details["redirect_to"], json!(target), "{details}");
    }
    let scheme = desk.ask(ID, &json!({"url": server.url("/in/scheme")}));
    assert!(scheme.is_err(), "{scheme:?}");
    assert_eq!(other.connections(), 0);
    assert_eq!(server.hits("/x"), 0);
}

#[test]
fn tls_is_verified_and_not_left() {
    let identity = Identity::of(&["127.0.0.1"]);
    let plain = Server::new(|_: &Request| Answer::Body(b"plain".into()));
    let down = plain.url("/");
    let server = Server::tls(&identity, move |request: &Request| {
        match request.path.as_str() {
            "/down" => Answer::Redirect(302, down.clone()),
            _ => Answer::Body(b"safe".into()),
        }
    });
    let url = |path: &str| format!("https://127.0.0.1:{}{path}", server.port());
    let desk = Desk::bare();
    desk.folder().put("roots.pem", &identity.pem);
    let urls = [url("/"), plain.url("/")];
    desk.fetches(&urls, &json!({"tls_roots": ["roots.pem"]}));
    assert_eq!(desk.ok(ID, &json!({"url": url("/x")}))["text"], "safe");
    let details = desk.error(ID, &json!({"url": url("/down")}), "denied");
    assert_eq!(details["redirect_to"], json!(plain.url("/")));
    assert_eq!(plain.connections(), 0);
    desk.fetches(&urls, &json!({}));
    desk.refused(
        ID,
        &json!({"url": url("/x")}),
        "network",
        &json!({"phase": "tls"}),
    );
}

#[test]
fn every_final_status_is_a_response() {
    let server = Server::new(|request: &Request| {
        let status = request.path.trim_start_matches('/').to_owned();
        match status.as_str() {
            "204" | "304" => Answer::Raw(
                format!(
                    "HTTP/1.1 {status} X\r\ncontent-type: image/png\r\nconnection: close\r\n\r\n"
                )
                .into(),
            ),
            "empty" => raw("200 OK", &["content-type: image/png"], b""),
            _ => raw(
                &format!("{status} X"),
                &["content-type: text/plain"],
                b"body",
            ),
        }
    });
    let desk = desk(&server);
    for status in [200, 201, 400, 401, 404, 429, 500, 503] {
        let answer = desk.ok(ID, &json!({"url": server.url(&format!("/{status}"))}));
        assert_eq!(
            (&answer["status"], &answer["text"]),
            (&json!(status), &json!("body"))
        );
    }
    for (path, status) in [("/204", 204), ("/304", 304), ("/empty", 200)] {
        let answer = desk.ok(ID, &json!({"url": server.url(path)}));
        let actual = json!([
            answer["status"],
            answer["text"],
            answer["bytes"],
            answer["truncated"]
        ]);
        assert_eq!(actual, json!([status, "", 0, false]), "{path}");
    }
}

#[test]
fn the_media_type() {
    for (header, mime) in [
        ("Text/HTML; charset=utf-8", "text/html"),
        ("text/markdown;variant=x", "text/markdown"),
        ("  application/JSON  ", "application/json"),
        ("", "text/plain"),
        ("nonsense", "text/plain"),
        ("/", "text/plain"),
    ] {
        let answer = fetch(header, "é".as_bytes(), &json!({})).unwrap();
        assert_eq!(
            (&answer["mime"], &answer["text"]),
            (&json!(mime), &json!("é")),
            "{header:?}"
        );
    }
    for header in ["", "nonsense"] {
        for body in [&b"\xff\xfex"[..], b"a\0b", b"caf\xe9"] {
            let error = fetch(header, body, &json!({})).unwrap_err();
            assert_eq!(error["code"], "unsupported", "{header:?} {body:?}");
        }
    }
}

#[test]
fn text_types_and_others() {
    for mime in [
        "text/plain",
        "text/css",
        "text/x-anything",
        "application/json",
        "application/xml",
        "application/javascript",
        "application/ecmascript",
        "application/yaml",
        "application/x-yaml",
        "application/toml",
        "application/x-ndjson",
        "application/x-sh",
        "application/ld+json",
        "image/svg+xml",
        "application/openapi+yaml",
    ] {
        assert_eq!(text(mime, b"x"), "x", "{mime}");
    }
    for mime in [
        "image/png",
        "application/pdf",
        "application/octet-stream",
        "application/zip",
        "application/jsonx",
        "video/mp4",
        "font/woff2",
        "multipart/form-data",
        "application/xml-dtd",
    ] {
        let error = fetch(mime, b"x", &json!({})).unwrap_err();
        assert_eq!(error["code"], "unsupported", "{mime}");
        assert_eq!(error["details"], json!({"mime": mime, "status": 200}));
    }
}

/// Of a body that nobody wants not a byte is waited for.
#[test]
fn another_body_is_not_read() {
    let server = Server::new(|_: &Request| {
        Answer::Raw(
            b"HTTP/1.1 200 OK\r\ncontent-type: image/png\r\ncontent-length: 99999999\r\n\r\n"
                .into(),
        )
    });
    let started = Instant::now();
    let request = json!({"url": server.url("/")});
    let details = json!({"mime": "image/png", "status": 200});
    desk(&server).refused(ID, &request, "unsupported", &details);
    assert!(started.elapsed() < Duration::from_secs(10));
}

#[test]
fn charsets() {
    #[rustfmt::skip]
    let rows: [(&str, &[u8], &str); 18] = [
        ("text/plain", b"\xef\xbb\xbf\xc3\xa9", "é"),
        ("text/plain; charset=iso-8859-1", b"\xef\xbb\xbf\xc3\xa9", "é"),
        ("text/plain; charset=utf-8", b"\xff\xfeh\0i\0", "hi"),
        ("text/plain", b"\xfe\xff\0h\0i", "hi"),
        ("text/plain; charset=UTF-8", b"a\xffb", "a\u{fffd}b"),
        ("text/plain; charset=\"latin1\"", b"\xe9\x80", "é€"),
        ("text/plain; charset=windows-1251", b"\xcf", "П"),
        ("text/plain; charset=Shift_JIS", b"\x93\xfa", "日"),
        ("text/plain; charset=utf-16be", b"\0h\0i", "hi"),
        ("text/plain", b"caf\xe9 \x93", "café “"),
        ("text/plain", "café".as_bytes(), "café"),
        ("text/html", b"<meta charset=windows-1251>\xcf", "<meta charset=windows-1251>П"),
        ("text/html", b"<meta http-equiv='Content-Type' content='text/html; charset=koi8-r'>\xf0", "<meta http-equiv='Content-Type' content='text/html; charset=koi8-r'>П"),
        ("text/html; charset=koi8-r", b"<meta charset=windows-1251>\xf0", "<meta charset=windows-1251>П"),
        ("text/plain", b"<meta charset=windows-1251>\xcf", "<meta charset=windows-1251>Ï"),
        ("application/xml", b"<?xml version='1.0' encoding='iso-8859-2'?><a>\xb1</a>", "<?xml version='1.0' encoding='iso-8859-2'?><a>ą</a>"),
        ("image/svg+xml", b"<?xml version=\"1.0\" encoding=\"iso-8859-2\"?>\xb1", "<?xml version=\"1.0\" encoding=\"iso-8859-2\"?>ą"),
        ("text/html", b"<p>\xe9", "<p>é"),
    ];
    for (mime, body, expected) in rows {
        assert_eq!(text(mime, body), expected, "{mime} {body:?}");
    }
    let late = [
        b"<!--".to_vec(),
        vec![b' '; 1024],
        b"--><meta charset=windows-1251>\xcf".to_vec(),
    ]
    .concat();
    assert!(
        text("text/html", &late).ends_with('Ï'),
        "only in the first 1024 bytes"
    );
    let error = fetch("text/plain; charset=klingon", b"x", &json!({})).unwrap_err();
    assert_eq!(
        (&error["code"], &error["details"]),
        (&json!("unsupported"), &json!({"charset": "klingon"}))
    );
}

#[test]
fn the_body_is_cut_between_characters() {
    // Type, body, max_bytes; text, bytes, truncated.
    #[rustfmt::skip]
    let rows: [(&str, &[u8], usize, &str, u64, bool); 10] = [
        ("text/plain", b"abc", 3, "abc", 3, false),
        ("text/plain", b"abc", 2, "ab", 2, true),
        ("text/plain", "aé".as_bytes(), 2, "a", 1, true),
        ("text/plain", "é".as_bytes(), 1, "", 0, true),
        ("text/plain", "\u{feff}éx".as_bytes(), 5, "é", 5, true),
        ("text/plain; charset=utf-16le", b"a\0b\0", 3, "a", 2, true),
        ("text/plain; charset=utf-16le", b"a\0\x3d\xd8\0\xde", 4, "a", 2, true),
        ("text/plain; charset=Shift_JIS", b"a\x93\xfab", 2, "a", 1, true),
        ("text/plain; charset=Shift_JIS", b"a\x93\xfab", 3, "a日", 3, true),
        ("text/plain; charset=latin1", b"\xe9\xe9", 1, "é", 1, true),
    ];
    for (mime, body, most, expected, bytes, cut) in rows {
        let answer = fetch(mime, body, &json!({ "max_bytes": most })).unwrap();
        let actual = (&answer["text"], &answer["bytes"], &answer["truncated"]);
        assert_eq!(
            actual,
            (&json!(expected), &json!(bytes), &json!(cut)),
            "{mime} {body:?} {most}"
        );
    }
    let answer = fetch("text/plain", &vec![b'x'; 200_000], &json!({})).unwrap();
    assert_eq!(
        (&answer["bytes"], &answer["truncated"]),
        (&json!(131_072), &json!(true)),
        "the default"
    );
}

#[test]
fn content_encodings() {
    let body = "é".repeat(50_000);
    let packed = gzip(body.as_bytes());
    let server = Server::new(move |request: &Request| {
        let encoding = format!("content-encoding: {}", request.path.trim_start_matches('/'));
        let headers = ["content-type: text/plain", &encoding];
        match request.path.as_str() {
            "/gzip" => raw("200 OK", &headers, &packed),
            "/deflate" => {
                let mut encoder = DeflateEncoder::new(Vec::new(), Compression::fast());
                encoder.write_all(b"x").unwrap();
                raw("200 OK", &headers, &encoder.finish().unwrap())
            }
            _ => raw("200 OK", &headers, b"x"),
        }
    });
    let desk = desk(&server);
    let whole = desk.ok(ID, &json!({"url": server.url("/gzip")}));
    assert_eq!(
        (&whole["bytes"], &whole["truncated"]),
        (&json!(100_000), &json!(false)),
        "decoded bytes count"
    );
    assert_eq!(whole["text"], json!(body));
    let cut = desk.ok(ID, &json!({"url": server.url("/gzip"), "max_bytes": 5}));
    assert_eq!(
        json!([cut["text"], cut["bytes"], cut["truncated"]]),
        json!(["éé", 4, true])
    );
    assert_eq!(
        desk.ok(ID, &json!({"url": server.url("/identity")}))["text"],
        "x"
    );
    for other in ["/deflate", "/br", "/zstd", "/nonsense"] {
        desk.error(ID, &json!({"url": server.url(other)}), "unsupported");
    }
}

/// A gigabyte in a megabyte, and a body without end.
#[test]
fn reading_stops_at_the_limit() {
    let zeros = vec![b'a'; 1 << 20];
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    for _ in 0..512 {
        encoder.write_all(&zeros).unwrap();
    }
    let bomb = encoder.finish().unwrap();
    let server = Server::new(move |request: &Request| match request.path.as_str() {
        "/bomb" => raw(
            "200 OK",
            &["content-type: text/plain", "content-encoding: gzip"],
            &bomb,
        ),
        _ => Answer::Endless(vec![b'x'; 4096], Duration::ZERO),
    });
    let desk = desk(&server);
    let started = Instant::now();
    for path in ["/bomb", "/endless"] {
        let answer = desk.ok(
            ID,
            &json!({"url": server.url(path), "max_bytes": 2_097_152}),
        );
        assert_eq!(
            (&answer["bytes"], &answer["truncated"]),
            (&json!(2_097_152), &json!(true)),
            "{path}"
        );
    }
    assert!(started.elapsed() < Duration::from_secs(20));
}

#[test]
fn timeouts() {
    let slow = Server::slow(Duration::from_secs(5), |_: &Request| {
        Answer::Body(b"x".into())
    });
    let drip = Server::new(|_: &Request| Answer::Endless(b"x".into(), Duration::from_millis(100)));
    for server in [&slow, &drip] {
        let desk = Desk::bare();
        desk.fetches(&[server.url("/")], &json!({"limits": {"http_ms": 700}}));
        let started = Instant::now();
        desk.error(ID, &json!({"url": server.url("/")}), "timeout");
        assert!(started.elapsed() < Duration::from_secs(4));
    }
}

#[test]
fn the_phase_that_failed() {
    // A port that nobody listens on.
    let closed = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let garbage = Server::new(|_: &Request| Answer::Raw(b"SSH-2.0-x\r\n\r\n".into()));
    let silent = Server::new(|_: &Request| Answer::Raw(Vec::new()));
    let short = Server::new(|_: &Request| {
        Answer::Raw(
            b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 10\r\n\r\nabc".into(),
        )
    });
    let tls = format!("https://127.0.0.1:{}/", garbage.port());
    let unknown = format!("http://{}.test/", "a".repeat(64));
    for (url, phase) in [
        (format!("http://127.0.0.1:{closed}/"), "connect"),
        (garbage.url("/"), "http"),
        (silent.url("/"), "http"),
        (short.url("/"), "http"),
        (tls, "tls"),
        (unknown, "dns"),
    ] {
        let desk = Desk::fetching(std::slice::from_ref(&url));
        desk.refused(
            ID,
            &json!({ "url": url }),
            "network",
            &json!({ "phase": phase }),
        );
    }
}

#[test]
fn nothing_but_four_headers_is_sent() {
    let proxy = Server::new(|_: &Request| Answer::Body(b"proxy".into()));
    let server = Server::new(|request: &Request| {
        match request.path.as_str() {
        "/one" => Answer::Raw(
            b"HTTP/1.1 302 X\r\nlocation: /two\r\nset-cookie: a=b\r\ncontent-length: 0\r\nconnection: close\r\n\r\n".into(),
        ),
        _ => Answer::Body(b"x".into()),
    }
    });
    let desk = desk(&server);
    let mut command = desk.command(ID);
    for name in ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"] {
        command.env(name, proxy.url("/"));
    }
    let request = json!({"url": server.url("/one")}).to_string();
    let run = crate::desk::finish(command, request.as_bytes());
    assert_eq!(
        (run.status, &run.json()["text"]),
        (0, &json!("x")),
        "{run:?}"
    );
    assert_eq!(proxy.connections(), 0);
    let version = desk.folder().ok(&["--version"]).stdout;
    let version = version.split_whitespace().nth(1).unwrap().to_owned();
    for request in server.requests() {
        let mut names: Vec<&str> = request
            .headers
            .iter()
            .map(|(name, _)| name.as_str())
            .collect();
        names.sort_unstable();
        assert_eq!(
            names,
            ["accept", "accept-encoding", "host", "user-agent"],
            "{}",
            request.path
        );
        let value = |name: &str| {
            &request
                .headers
                .iter()
                .find(|header| header.0 == name)
                .unwrap()
                .1
        };
        assert_eq!(value("user-agent"), &format!("hydrant/{version}"));
        assert_eq!(value("host"), &format!("127.0.0.1:{}", server.port()));
        assert!(value("accept-encoding").contains("gzip"));
    }
    assert_eq!(server.requests().len(), 2);
}
