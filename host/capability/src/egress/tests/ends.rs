//! How connections end: budgets, bounds, times, and the end of the proxy.

use super::*;

#[test]
fn what_is_over_the_budget_reaches_nobody() {
    let upstream = Upstream::echo();
    let mut bench = Bench::new(&[&upstream.pair()]);
    bench.ledger.meter = meter(30);
    bench.run(|egress| {
        let mut client = tunnel(&egress, &upstream.pair());
        client.write_all(b"0123456789").unwrap();
        client.read_exact(&mut [0; 10]).unwrap();
        assert_eq!(egress.exceeded(), None);
        // 20 are used; of this nothing goes on, not even what would fit.
        client.write_all(b"abcdefghijk").unwrap();
        assert_eq!(read_all(&mut client), "");
        assert_eq!(egress.exceeded().unwrap().budget, Budget::EgressBytes);
        let mut client = connect(&egress);
        write!(client, "CONNECT {} HTTP/1.1\r\n\r\n", upstream.pair()).unwrap();
        let answer = read_all(&mut client);
        assert!(answer.starts_with("HTTP/1.1 403 "), "{answer}");
        assert!(answer.contains("budget egress-bytes exceeded: limit 30"));
    });
    assert_eq!(upstream.got(), ["0123456789"]);
}

#[test]
fn what_a_server_sends_counts_too() {
    let upstream = Upstream::start(|_, stream| stream.write_all(&[b'x'; 100]).is_ok());
    let mut bench = Bench::new(&[&upstream.pair()]);
    bench.ledger.meter = meter(50);
    bench.run(|egress| {
        let mut client = tunnel(&egress, &upstream.pair());
        client.write_all(b"?").unwrap();
        assert_eq!(read_all(&mut client), "");
        assert_eq!(egress.exceeded().unwrap().used, 101);
    });
}

#[test]
fn a_head_is_at_most_16_kib() {
    let upstream = Upstream::echo();
    let bench = Bench::new(&[&upstream.pair()]);
    let head = |length: usize| {
        let begin = format!("CONNECT {} HTTP/1.1\r\na: ", upstream.pair());
        let rest = length - begin.len() - 4;
        format!("{begin}{}\r\n\r\n", "a".repeat(rest))
    };
    bench.run(|egress| {
        let mut client = connect(&egress);
        client.write_all(head(16_384).as_bytes()).unwrap();
        let mut answer = [0; 13];
        client.read_exact(&mut answer).unwrap();
        assert_eq!(&answer, b"HTTP/1.1 200 ");
    });
    for long in [head(16_385), "x".repeat(20_000)] {
        let answer = bench.answer(long);
        assert!(answer.starts_with("HTTP/1.1 403 "), "{answer}");
        assert!(answer.ends_with("its head is over 16384 bytes\n"));
        assert_eq!(bench.denied(), [None]);
    }
}

#[test]
fn a_head_that_comes_byte_by_byte_does_not_get_more_time() {
    let mut bench = Bench::new(&[]);
    bench.terms.head = Duration::from_millis(300);
    bench.run(|egress| {
        let mut client = connect(&egress);
        let started = Instant::now();
        while client.write_all(b"a").is_ok() {
            assert!(started.elapsed() < Duration::from_secs(4));
            thread::sleep(Duration::from_millis(10));
        }
        assert!(started.elapsed() >= Duration::from_millis(300));
    });
}

#[test]
fn a_tunnel_that_carries_nothing_ends() {
    let upstream = Upstream::echo();
    let mut bench = Bench::new(&[&upstream.pair()]);
    bench.terms.idle = Duration::from_millis(200);
    bench.run(|egress| {
        let mut client = tunnel(&egress, &upstream.pair());
        // It lives as long as something moves.
        for _ in 0..6 {
            client.write_all(b"x").unwrap();
            client.read_exact(&mut [0]).unwrap();
            thread::sleep(Duration::from_millis(60));
        }
        assert_eq!(read_all(&mut client), "");
    });
}

#[test]
fn a_client_that_reads_nothing_ends_its_own_connection_only() {
    let upstream = Upstream::start(|_, stream| {
        while stream.write_all(&[b'x'; 4096]).is_ok() {}
        false
    });
    let mut bench = Bench::new(&[&upstream.pair()]);
    bench.terms.idle = Duration::from_millis(300);
    bench.run(|egress| {
        let mut greedy = tunnel(&egress, &upstream.pair());
        greedy.write_all(b"?").unwrap();
        let mut client = tunnel(&egress, &upstream.pair());
        client.write_all(b"?").unwrap();
        client.read_exact(&mut [0; 100_000]).unwrap();
        thread::sleep(Duration::from_millis(600));
        // Cut, with no more than what the buffers of the system and ours hold.
        assert!(read_all(&mut greedy).len() < 16 * 1024 * 1024);
    });
}

#[test]
fn the_65th_connection_waits_until_one_has_ended() {
    let upstream = Upstream::echo();
    let bench = Bench::new(&[&upstream.pair()]);
    bench.run(|egress| {
        let mut open: Vec<_> = (0..MAX_CONNECTIONS)
            .map(|_| tunnel(&egress, &upstream.pair()))
            .collect();
        let mut one_more = connect(&egress);
        write!(one_more, "CONNECT {} HTTP/1.1\r\n\r\n", upstream.pair()).unwrap();
        one_more
            .set_read_timeout(Some(Duration::from_millis(200)))
            .unwrap();
        let waits = one_more.read(&mut [0]).unwrap_err();
        assert_eq!(waits.kind(), io::ErrorKind::WouldBlock);
        open.pop();
        one_more
            .set_read_timeout(Some(Duration::from_secs(5)))
            .unwrap();
        one_more.read_exact(&mut [0; 39]).unwrap();
    });
}

#[test]
fn dropping_the_proxy_ends_everything_at_once() {
    let upstream = Upstream::echo();
    let bench = Bench::new(&[&upstream.pair()]);
    bench.run(|egress| {
        let mut tunnel = tunnel(&egress, &upstream.pair());
        let mut unfinished = connect(&egress);
        unfinished.write_all(b"CONNECT ").unwrap();
        let mut refused = connect(&egress);
        refused.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
        refused.read_exact(&mut [0; 12]).unwrap();
        let socket = egress.socket().to_owned();
        let started = Instant::now();
        drop(egress);
        assert!(started.elapsed() < Duration::from_millis(500));
        assert_eq!(read_all(&mut tunnel), "");
        assert_eq!(read_all(&mut unfinished), "");
        assert!(UnixStream::connect(socket).is_err());
    });
}

#[test]
fn dropping_the_proxy_ends_a_connection_attempt() {
    let silent = Silent::at("127.0.0.1:0");
    let address = silent.address;
    let mut bench = Bench::new(&[&address.to_string()]);
    bench.run(|egress| {
        let mut client = connect(&egress);
        write!(client, "CONNECT {address} HTTP/1.1\r\n\r\n").unwrap();
        thread::sleep(Duration::from_millis(100));
        let started = Instant::now();
        drop(egress);
        assert!(started.elapsed() < Duration::from_millis(500));
        assert_eq!(read_all(&mut client), "");
    });
    bench.terms.dial = Duration::from_millis(200);
    let answer = bench.answer(format!("CONNECT {address} HTTP/1.1\r\n\r\n"));
    assert!(answer.starts_with("HTTP/1.1 504 "), "{answer}");
}

#[test]
fn an_address_that_never_answers_leaves_time_for_the_next() {
    let upstream = Upstream::echo();
    let pair = format!("localhost:{}", upstream.port);
    let _silent = Silent::at(&format!("127.0.0.2:{}", upstream.port));
    let mut bench = Bench::new(&[&pair]).names(&["127.0.0.2", "127.0.0.1"]);
    bench.terms.dial = Duration::from_millis(600);
    bench.run(|egress| {
        let mut client = tunnel(&egress, &pair);
        client.write_all(b"x").unwrap();
        client.read_exact(&mut [0]).unwrap();
    });
}

#[test]
fn a_client_that_goes_away_is_not_waited_for() {
    let upstream = Upstream::echo();
    let bench = Bench::new(&[&upstream.pair()]);
    bench.run(|egress| {
        for _ in 0..3 * MAX_CONNECTIONS {
            drop(tunnel(&egress, &upstream.pair()));
        }
    });
    assert_eq!(upstream.got().len(), 3 * MAX_CONNECTIONS);
}

#[test]
fn the_directory_for_temporary_files_may_have_a_long_path() {
    let temporary = tempfile::tempdir().unwrap();
    let long = temporary.path().join("long".repeat(50));
    std::fs::create_dir(&long).unwrap();
    let directory = Scratch::create_in(&long).unwrap();
    assert!(directory.real().as_os_str().len() > 200);
    let listener = bind(&directory).unwrap();
    let name = Path::new(&descriptor_path(directory.directory())).join(SOCKET);
    let mut client = UnixStream::connect(name).unwrap();
    client.write_all(b"x").unwrap();
    let mut read = [0];
    listener.accept().unwrap().0.read_exact(&mut read).unwrap();
    assert_eq!(&read, b"x");
    assert!(directory.real().join(SOCKET).exists());
}
