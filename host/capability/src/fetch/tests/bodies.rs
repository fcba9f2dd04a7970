//! Answers that drip, swell, lie about themselves or are no HTTP.

use std::io::Write;
use std::time::Instant;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::*;

#[test]
fn one_byte_at_a_time_ends_at_the_timeout() {
    let server = Server::start(|line, stream| {
        let (head, drip) = match line.split(' ').nth(1).unwrap() {
            "/body" => ("HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n", "x"),
            "/head" => ("HTTP/1.1 200 OK\r\nx: ", "x"),
            _ => ("", ""),
        };
        let _ = stream.write_all(head.as_bytes());
        for _ in 0..200 {
            thread::sleep(Duration::from_millis(10));
            if stream.write_all(drip.as_bytes()).is_err() {
                break;
            }
        }
    });
    let call = call_to(&[server.url("/")]);
    for path in ["/body", "/head", "/silence"] {
        let started = Instant::now();
        let mut request = get(server.url(path));
        request.max_bytes = 200_000;
        request.timeout_ms = 150;
        assert_eq!(one(&call, request), Err(FetchError::Timeout), "{path}");
        assert!(started.elapsed() < Duration::from_millis(1500), "{path}");
    }
    // What the call has left is less than what the request asks for.
    let mut call = call_to(&[server.url("/")]);
    call.meter = meter(MeterBudgets {
        wall_clock: Duration::from_millis(100),
        ..AMPLE
    });
    let exceeded = send(&call, vec![get(server.url("/body"))]).unwrap_err();
    assert_eq!(exceeded.budget, Budget::WallClock);
}

#[test]
fn a_body_is_cut_or_refused_at_its_cap_and_not_read_further() {
    let server = Server::start(|line, stream| match line.split(' ').nth(1).unwrap() {
        "/five" => respond(stream, "HTTP/1.1 200 OK", b"12345"),
        "/huge" => {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 9999999999\r\n\r\n");
            while stream.write_all(&[b'x'; 4096]).is_ok() {}
        }
        _ => {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n");
            while stream.write_all(&[b'x'; 4096]).is_ok() {}
        }
    });
    let call = call_to(&[server.url("/")]);
    let with = |path: &str, max_bytes, overflow| {
        let mut request = get(server.url(path));
        (request.max_bytes, request.overflow) = (max_bytes, overflow);
        one(&call, request).map(|response| (response.body, response.truncated))
    };
    assert_eq!(
        with("/five", 5, Overflow::Refuse),
        Ok((b"12345".to_vec(), false))
    );
    assert_eq!(
        with("/five", 4, Overflow::Refuse),
        Err(FetchError::TooLarge)
    );
    assert_eq!(
        with("/five", 4, Overflow::Cut),
        Ok((b"1234".to_vec(), true))
    );
    for path in ["/huge", "/endless"] {
        assert_eq!(
            with(path, 1000, Overflow::Refuse),
            Err(FetchError::TooLarge)
        );
        assert_eq!(
            with(path, 1000, Overflow::Cut),
            Ok((vec![b'x'; 1000], true))
        );
    }
    assert!(call.meter.used().read_bytes < 1 << 20);
}

fn gzipped(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn a_compressed_bomb_never_expands_beyond_the_cap() {
    let bomb = gzipped(&vec![0; 32 << 20]);
    let empty_members = gzipped(b"").repeat(20_000);
    let small = gzipped(b"small");
    let server = Server::start(move |line, stream| {
        let gzip = "HTTP/1.1 200 OK\r\ncontent-encoding: gzip";
        match line.split(' ').nth(1).unwrap() {
            "/bomb" => respond(stream, gzip, &bomb),
            "/members" => respond(stream, gzip, &empty_members),
            "/small" => respond(stream, gzip, &small),
            "/none" => respond(stream, gzip, b""),
            "/broken" => respond(stream, gzip, b"no gzip at all"),
            _ => respond(stream, "HTTP/1.1 200 OK\r\ncontent-encoding: br", b"x"),
        }
    });
    let call = call_to(&[server.url("/")]);
    let with = |path: &str, encodings| {
        let mut request = get(server.url(path));
        request.encodings = encodings;
        one(&call, request).map(|response| response.body)
    };
    assert_eq!(with("/bomb", Encodings::Gzip), Err(FetchError::TooLarge));
    assert_eq!(with("/members", Encodings::Gzip), Err(FetchError::TooLarge));
    assert_eq!(with("/small", Encodings::Gzip), Ok(b"small".to_vec()));
    assert_eq!(with("/none", Encodings::Gzip), Ok(Vec::new()));
    assert_eq!(with("/broken", Encodings::Gzip), Err(FetchError::Protocol));
    assert_eq!(
        with("/br", Encodings::Gzip),
        Err(FetchError::UnsupportedEncoding)
    );
    assert_eq!(
        with("/small", Encodings::Identity),
        Err(FetchError::UnsupportedEncoding)
    );
    let mut request = get(server.url("/small"));
    request.encodings = Encodings::Gzip;
    let headers = one(&call, request).unwrap().headers;
    assert!(!headers.iter().any(|(name, _)| name == "content-encoding"));
}

#[test]
fn an_answer_that_is_no_http_or_has_endless_headers_is_a_protocol_error() {
    let server = Server::start(|line, stream| match line.split(' ').nth(1).unwrap() {
        "/ssh" => drop(stream.write_all(b"SSH-2.0-OpenSSH_9.9\r\n\r\n")),
        "/many" => {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n");
            for number in 0..100_000 {
                if stream
                    .write_all(format!("x-{number}: y\r\n").as_bytes())
                    .is_err()
                {
                    break;
                }
            }
        }
        "/long" => {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nx: ");
            while stream.write_all(&[b'x'; 4096]).is_ok() {}
        }
        "/short" => drop(stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nx")),
        _ => {}
    });
    let call = call_to(&[server.url("/")]);
    for path in ["/ssh", "/many", "/long", "/short", "/closed"] {
        assert_eq!(
            one(&call, get(server.url(path))),
            Err(FetchError::Protocol),
            "{path}"
        );
    }
    // Sent again once, because not one byte came.
    let closed = |asked: &String| asked.starts_with("GET /closed");
    assert_eq!(server.asked().into_iter().filter(closed).count(), 2);
}

#[test]
fn egress_counts_requests_and_bodies() {
    let server = Server::start(|_, stream| respond(stream, "HTTP/1.1 200 OK", &[b'x'; 500]));
    let url = server.url("/");
    let mut call = call_to(std::slice::from_ref(&url));
    one(&call, get(&url)).unwrap();
    let request = u64::try_from("GET".len() + url.len()).unwrap();
    assert_eq!(call.meter.used().egress_bytes, request + 500);
    assert_eq!(call.meter.used().read_bytes, 500);
    call.meter = meter(MeterBudgets {
        egress_bytes: 10,
        ..AMPLE
    });
    let exceeded = send(&call, vec![get(&url)]).unwrap_err();
    assert_eq!(exceeded.budget, Budget::EgressBytes);
    assert_eq!(server.asked().len(), 1);
}

#[test]
fn a_body_of_another_type_is_not_read() {
    let server = Server::start(|line, stream| match line.split(' ').nth(1).unwrap() {
        "/endless" => {
            let head = b"HTTP/1.1 404 Not Found\r\ncontent-type: image/png\r\n\r\n";
            let _ = stream.write_all(head);
            while stream.write_all(&[b'x'; 4096]).is_ok() {}
        }
        "/coded" => {
            let head = "HTTP/1.1 200 OK\r\ncontent-type: image/png\r\ncontent-encoding: br";
            respond(stream, head, b"x");
        }
        "/text" => respond(
            stream,
            "HTTP/1.1 200 OK\r\nContent-Type: Text/HTML; a=b",
            b"x",
        ),
        "/odd" => respond(stream, "HTTP/1.1 200 OK\r\ncontent-type: image", b"x"),
        "/none" => respond(stream, "HTTP/1.1 200 OK", b"x"),
        "/empty" => respond(stream, "HTTP/1.1 200 OK\r\ncontent-type: image/png", b""),
        _ => {
            let head = b"HTTP/1.1 304 Not Modified\r\ncontent-type: image/png\r\n\r\n";
            let _ = stream.write_all(head);
        }
    });
    let call = call_to(&[server.url("/")]);
    let with = |path: &str| {
        let mut request = get(server.url(path));
        request.body_types = vec!["text/*".to_owned(), "*/*+json".to_owned()];
        one(&call, request)
            .map(|response| (response.body, response.unread))
            .unwrap()
    };
    assert_eq!(with("/endless"), (Vec::new(), true));
    assert_eq!(with("/coded"), (Vec::new(), true));
    assert_eq!(call.meter.used().read_bytes, 0);
    for path in ["/text", "/odd", "/none"] {
        assert_eq!(with(path), (b"x".to_vec(), false), "{path}");
    }
    // Where there is no body, none was left.
    for path in ["/empty", "/unchanged"] {
        assert_eq!(with(path), (Vec::new(), false), "{path}");
    }
    let mut request = get(server.url("/text"));
    request.body_types = vec!["*/*".to_owned()];
    assert_eq!(one(&call, request), Err(FetchError::InvalidRequest));
}

#[test]
fn a_connection_with_an_unread_body_is_not_used_again() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let server = thread::spawn(move || {
        for _ in 0..2 {
            let (mut stream, _) = listener.accept().unwrap();
            let mut buffer = [0; 4096];
            assert!(std::io::Read::read(&mut stream, &mut buffer).unwrap() > 0);
            let head = "HTTP/1.1 200 OK\r\ncontent-type: image/png\r\ncontent-length: 44\r\n\r\n";
            // A body that looks like the answer to a next request.
            let body = "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nlies!";
            let _ = stream.write_all(format!("{head}{body}").as_bytes());
        }
    });
    let call = call_to(std::slice::from_ref(&url));
    for _ in 0..2 {
        let mut request = get(&url);
        request.body_types = vec!["text/*".to_owned()];
        let response = one(&call, request).unwrap();
        assert!(response.unread && response.body.is_empty());
    }
    server.join().unwrap();
}
