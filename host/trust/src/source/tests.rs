//! Sources, and downloads from a server on this machine.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::thread::{JoinHandle, sleep, spawn};
use std::time::Instant;

use super::*;

fn parsed(text: &str) -> Result<Source, String> {
    Source::parse(text, InsecureHttp::Allowed).map_err(|error| error.to_string())
}

#[test]
fn paths_and_file_urls_are_read() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a b.tar.zst");
    std::fs::write(&path, "bytes").unwrap();
    let plain = parsed(path.to_str().unwrap()).unwrap();
    let url = parsed(Url::from_file_path(&path).unwrap().as_str()).unwrap();
    for source in [plain, url] {
        assert!(!source.is_remote());
        assert_eq!(source.read().unwrap(), b"bytes");
    }
    // A colon or an at sign makes no URL of a path.
    assert!(!parsed("c:/x@y").unwrap().is_remote());
    assert!(
        parsed("file://elsewhere/x")
            .unwrap_err()
            .contains("invalid artifact URL")
    );
}

#[test]
fn http_needs_its_flag_and_oci_is_never_read() {
    for text in ["http://127.0.0.1/x", "HTTP://127.0.0.1/x"] {
        let refused = Source::parse(text, InsecureHttp::Refused).unwrap_err();
        assert!(
            refused
                .to_string()
                .contains("http:// artifacts are disabled by default")
        );
        assert!(parsed(text).unwrap().is_remote());
    }
    let secure = Source::parse("https://example.org/x", InsecureHttp::Refused).unwrap();
    assert!(secure.is_remote());
    for text in ["oci://example.org/x:1", "OCI://x"] {
        assert!(
            parsed(text)
                .unwrap_err()
                .contains("OCI refs are not supported")
        );
    }
}

#[test]
fn what_is_no_regular_file_is_refused_without_waiting() {
    let directory = tempfile::tempdir().unwrap();
    assert!(
        parsed(directory.path().to_str().unwrap())
            .unwrap()
            .read()
            .is_err()
    );
    let pipe = directory.path().join("pipe");
    let mode = rustix::fs::Mode::RWXU;
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    assert!(parsed(pipe.to_str().unwrap()).unwrap().read().is_err());
    let large = directory.path().join("large");
    let file = std::fs::File::create(&large).unwrap();
    file.set_len(MAX_ARCHIVE_BYTES + 1).unwrap();
    let error = parsed(large.to_str().unwrap())
        .unwrap()
        .read()
        .unwrap_err()
        .to_string();
    let expected = "artifact exceeds maximum size (134217729 bytes > 134217728 bytes)";
    assert!(error.contains(expected), "{error}");
}

#[test]
fn user_info_is_not_recorded() {
    for (given, recorded) in [
        (
            "https://user:secret@example.org/a",
            "https://***@example.org/a",
        ),
        ("https://secret@example.org", "https://***@example.org"),
        (
            "https://a:secret@b@example.org/@x",
            "https://***@example.org/@x",
        ),
        (
            "HTTPS://u:secret@example.org?q=@",
            "HTTPS://***@example.org?q=@",
        ),
        (
            "https:////u:secret@example.org/",
            "https:////***@example.org/",
        ),
        (
            "http://u:secret@[::1]:80/a#b@c",
            "http://***@[::1]:80/a#b@c",
        ),
        (
            "https://example.org/a@b?c=d@e",
            "https://example.org/a@b?c=d@e",
        ),
        ("dir/user@host/file", "dir/user@host/file"),
    ] {
        assert_eq!(parsed(given).unwrap().recorded(), recorded);
    }
    for bad in [
        "https://u:secret@exa mple.org/",
        "https://u:sec\nret@example.org/",
        "https://u:secret@host\\@other/",
        "file://u:secret@elsewhere/x",
    ] {
        let error = parsed(bad).unwrap_err();
        assert!(error.contains("***@") && !error.contains("ret@"), "{error}");
    }
}

/// Serves one connection after the request was read; gives the request's first line.
fn server(answer: impl FnOnce(TcpStream) + Send + 'static) -> (String, JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!(
        "http://u:secret@{}/skill.tar.zst",
        listener.local_addr().unwrap()
    );
    let thread = spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
        let first = lines.next().unwrap().unwrap();
        while !lines.next().unwrap().unwrap().is_empty() {}
        answer(stream);
        first
    });
    (url, thread)
}

fn answers(response: &'static [u8]) -> (String, JoinHandle<String>) {
    server(move |mut stream| {
        // The client may have hung up already, which is what some tests are about.
        let _ = stream.write_all(response);
    })
}

#[test]
fn an_archive_is_downloaded() {
    let (url, thread) =
        answers(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nbytes");
    assert_eq!(parsed(&url).unwrap().read().unwrap(), b"bytes");
    assert_eq!(thread.join().unwrap(), "GET /skill.tar.zst HTTP/1.1");
}

#[test]
fn redirects_are_refused() {
    for status in [
        "301 Moved",
        "302 Found",
        "303 See",
        "307 Temporary",
        "308 Permanent",
    ] {
        // Were it followed, it would lead to a server that hangs; the test would not end.
        let target = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = target.local_addr().unwrap();
        let response = format!(
            "HTTP/1.1 {status}\r\nLocation: http://{address}/\r\nContent-Length: 0\r\n\r\n"
        );
        let (url, thread) = server(move |mut stream| {
            stream.write_all(response.as_bytes()).unwrap();
        });
        let error = parsed(&url).unwrap().read().unwrap_err().to_string();
        thread.join().unwrap();
        let expected = "artifact fetch redirects are not allowed for security reasons: http://***@";
        assert!(error.contains(expected), "{error}");
        target.set_nonblocking(true).unwrap();
        assert!(target.accept().is_err(), "nobody came");
    }
}

#[test]
fn any_other_status_is_an_error() {
    for status in ["404 Not Found", "500 Oops", "401 Unauthorized"] {
        let response = format!("HTTP/1.1 {status}\r\nContent-Length: 5\r\n\r\nbytes");
        let (url, thread) = server(move |mut stream| {
            stream.write_all(response.as_bytes()).unwrap();
        });
        let error = parsed(&url).unwrap().read().unwrap_err().to_string();
        thread.join().unwrap();
        assert!(
            error.contains("failed to fetch artifact from http://***@"),
            "{error}"
        );
        assert!(
            error.contains(status.split(' ').next().unwrap()) && !error.contains("secret"),
            "{error}"
        );
    }
}

#[test]
fn a_download_ends_at_the_limit() {
    let (url, thread) = answers(b"HTTP/1.1 200 OK\r\nContent-Length: 134217729\r\n\r\n");
    let error = parsed(&url).unwrap().read().unwrap_err().to_string();
    assert_eq!(
        error,
        "artifact exceeds maximum size (134217729 bytes > 134217728 bytes)"
    );
    thread.join().unwrap();

    // Without a length the server could go on for ever, and this one does.
    let (url, thread) = server(|mut stream| {
        let head = b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n";
        let mut sent = stream.write_all(head);
        let chunk = vec![0; 1 << 20];
        while sent.is_ok() {
            sent = stream.write_all(&chunk);
        }
    });
    let error = parsed(&url).unwrap().read().unwrap_err().to_string();
    assert_eq!(
        error,
        "artifact exceeds maximum size (134217729 bytes > 134217728 bytes)"
    );
    thread.join().unwrap();
}

#[test]
fn a_body_that_ends_early_is_an_error() {
    let (url, thread) =
        answers(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\nConnection: close\r\n\r\nbytes");
    assert!(matches!(
        parsed(&url).unwrap().read(),
        Err(SourceError::Fetch { .. })
    ));
    thread.join().unwrap();
}

#[test]
fn a_slow_server_is_not_waited_for() {
    assert_eq!(WAITS.connect, Duration::from_secs(5));
    assert_eq!(WAITS.total, Duration::from_secs(30));
    let (url, thread) = server(|mut stream| {
        let head = b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n";
        let mut sent = stream.write_all(head);
        while sent.is_ok() {
            sleep(Duration::from_millis(20));
            sent = stream.write_all(b"x");
        }
    });
    let source = parsed(&url).unwrap();
    let Place::Remote(url) = &source.place else {
        panic!("{source:?}");
    };
    let waits = Waits {
        connect: Duration::from_millis(300),
        total: Duration::from_millis(300),
    };
    let start = Instant::now();
    let refused = source.download(url, waits);
    assert!(
        matches!(refused, Err(SourceError::Fetch { .. })),
        "{refused:?}"
    );
    assert!(start.elapsed() < Duration::from_secs(10));
    thread.join().unwrap();
}

#[test]
fn https_is_never_answered_in_the_clear() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://{}/x", listener.local_addr().unwrap());
    let thread = spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nbytes");
    });
    let refused = parsed(&url).unwrap().read();
    assert!(
        matches!(refused, Err(SourceError::Fetch { .. })),
        "{refused:?}"
    );
    thread.join().unwrap();
}
