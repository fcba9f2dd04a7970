//! Requests of plain http on their way.

use super::*;

/// Answers each request once its head is there, and keeps the connection open like a server that ignores `close`.
fn stubborn() -> Upstream {
    Upstream::start(|piece, stream| {
        if piece.ends_with(b"\r\n\r\n") || piece.ends_with(b"!") {
            let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
            stream.write_all(answer).unwrap();
        }
        true
    })
}

/// Answers and closes, as it is asked to.
fn polite() -> Upstream {
    Upstream::start(|_, stream| {
        let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
        stream.write_all(answer).unwrap();
        false
    })
}

#[test]
fn an_absolute_request_reaches_the_server_in_origin_form() {
    let upstream = polite();
    let pair = upstream.pair();
    let bench = Bench::new(&[&pair]);
    let answer = bench.answer(format!(
        "GET http://{pair}/a?b HTTP/1.1\r\nhost: evil.example\r\n\r\n"
    ));
    assert!(answer.ends_with("\r\n\r\nok"), "{answer}");
    let head = format!("GET /a?b HTTP/1.1\r\nhost: {pair}\r\nconnection: close\r\n\r\n");
    assert_eq!(upstream.got(), std::slice::from_ref(&head));
    let used = bench.ledger.meter.used().egress_bytes;
    assert_eq!(usize::try_from(used).unwrap(), head.len() + answer.len());
}

#[test]
fn a_body_passes_in_pieces_and_to_its_last_byte() {
    let upstream = stubborn();
    let pair = upstream.pair();
    Bench::new(&[&pair]).run(|egress| {
        let mut client = connect(&egress);
        let head = format!("POST http://{pair}/ HTTP/1.1\r\ncontent-length: 9\r\n\r\nab");
        for piece in [head.as_bytes(), b"cdef", b"gh!"] {
            client.write_all(piece).unwrap();
            thread::sleep(Duration::from_millis(20));
        }
        let mut answer = [0; 40];
        client.read_exact(&mut answer).unwrap();
        assert!(answer.ends_with(b"ok"));
    });
    assert!(upstream.got()[0].ends_with("connection: close\r\n\r\nabcdefgh!"));
}

#[test]
fn a_second_request_on_the_same_connection_reaches_nobody() {
    let (upstream, other) = (stubborn(), stubborn());
    let bench = Bench::new(&[&upstream.pair(), &other.pair()]);
    let get = |pair: String| format!("GET http://{pair}/ HTTP/1.1\r\n\r\n");
    // At once.
    let both = get(upstream.pair()) + &get(other.pair());
    assert!(
        bench
            .answer(both)
            .ends_with("something follows it on the same connection\n")
    );
    assert!(upstream.got().is_empty());
    // After the answer, as a client that keeps connections does.
    bench.run(|egress| {
        let mut client = connect(&egress);
        client.write_all(get(upstream.pair()).as_bytes()).unwrap();
        client.read_exact(&mut [0; 40]).unwrap();
        client.write_all(get(other.pair()).as_bytes()).unwrap();
        assert_eq!(read_all(&mut client), "");
    });
    assert_eq!(upstream.got().len(), 1);
    assert_eq!(upstream.got()[0].matches("HTTP/1.1").count(), 1);
    assert!(other.got().is_empty());
}

#[test]
fn a_client_that_ends_its_direction_still_gets_the_answer() {
    let upstream = polite();
    let pair = upstream.pair();
    Bench::new(&[&pair]).run(|egress| {
        let mut client = connect(&egress);
        write!(client, "GET http://{pair}/ HTTP/1.1\r\n\r\n").unwrap();
        client.shutdown(std::net::Shutdown::Write).unwrap();
        assert!(read_all(&mut client).ends_with("ok"));
    });
}

#[test]
fn a_body_that_does_not_come_ends_the_connection() {
    let upstream = Upstream::start(|_, _| true);
    let pair = upstream.pair();
    Bench::new(&[&pair]).run(|egress| {
        let mut client = connect(&egress);
        let head = format!("PUT http://{pair}/ HTTP/1.1\r\ncontent-length: 5\r\n\r\nabc");
        client.write_all(head.as_bytes()).unwrap();
        client.shutdown(std::net::Shutdown::Write).unwrap();
        let started = Instant::now();
        assert_eq!(read_all(&mut client), "");
        assert!(started.elapsed() < AMPLE.idle / 2);
    });
}

#[test]
fn plain_http_needs_leave_and_so_does_a_tunnel_to_its_port() {
    let upstream = polite();
    let mut bench = Bench::new(&[]);
    for pair in [upstream.pair(), "lib.example:80".to_owned()] {
        let pair = Pair::parse(&pair, PlainHttp::Refused).unwrap();
        bench.pairs.push(pair);
    }
    let pair = upstream.pair();
    for request in [
        format!("GET http://{pair}/ HTTP/1.1\r\n\r\n"),
        "GET http://lib.example/ HTTP/1.1\r\n\r\n".to_owned(),
        "CONNECT lib.example:80 HTTP/1.1\r\n\r\n".to_owned(),
    ] {
        let answer = bench.answer(request);
        assert!(answer.contains("\r\n\r\nplain http to "), "{answer}");
        assert_eq!(bench.denied().len(), 1);
    }
    assert_eq!(bench.names.asked.load(Ordering::SeqCst), 0);
    assert!(upstream.got().is_empty());
}
