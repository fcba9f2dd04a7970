//! The first message of TLS, as rustls writes it and as an attacker would.

use proptest::prelude::*;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, RootCertStore};

use super::super::client_hello::{ALERT, Hello, MAX_BYTES, read};
use super::*;

/// What a real client sends first.
fn hello(host: &str) -> Vec<u8> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(RootCertStore::empty())
        .with_no_client_auth();
    let name = ServerName::try_from(host.to_owned()).unwrap();
    let mut client = ClientConnection::new(Arc::new(config), name).unwrap();
    let mut sent = Vec::new();
    client.write_tls(&mut sent).unwrap();
    sent
}

fn sized<const N: usize>(content: &[u8]) -> Vec<u8> {
    let length = content.len().to_be_bytes();
    [&length[length.len() - N..], content].concat()
}

fn extension(kind: u16, content: &[u8]) -> Vec<u8> {
    [kind.to_be_bytes().as_slice(), &sized::<2>(content)].concat()
}

fn names(names: &[&[u8]]) -> Vec<u8> {
    let list: Vec<u8> = names
        .iter()
        .flat_map(|name| [vec![0], sized::<2>(name)].concat())
        .collect();
    extension(0, &sized::<2>(&list))
}

/// A message with these extensions, without record.
fn message(extensions: &[u8]) -> Vec<u8> {
    let mut body = vec![3, 3];
    body.extend([7; 32]);
    body.extend(sized::<1>(&[]));
    body.extend(sized::<2>(&[0x13, 0x01]));
    body.extend(sized::<1>(&[0]));
    body.extend(sized::<2>(extensions));
    [vec![1], sized::<3>(&body)].concat()
}

fn records(message: &[u8], size: usize) -> Vec<u8> {
    message
        .chunks(size)
        .flat_map(|part| [vec![22, 3, 1], sized::<2>(part)].concat())
        .collect()
}

fn complete(name: &str) -> Result<Hello, &'static str> {
    Ok(Hello::Complete(Some(name.to_owned())))
}

#[test]
fn the_name_is_read_once_all_of_the_message_is_there() {
    let sent = hello("lib.example");
    for end in 0..sent.len() {
        assert_eq!(read(&sent[..end]), Ok(Hello::Incomplete), "{end}");
    }
    assert_eq!(read(&sent), complete("lib.example"));
    // What follows in other records is not its business.
    assert_eq!(
        read(&[&sent[..], &[23, 3, 3, 0, 1, 0]].concat()),
        complete("lib.example")
    );
    assert_eq!(read(&hello("127.0.0.1")), Ok(Hello::Complete(None)));
}

#[test]
fn a_message_in_many_records_is_read_as_one() {
    let message = message(&names(&[b"lib.example"]));
    for size in [1, 2, 3, 5, 50, message.len()] {
        let sent = records(&message, size);
        assert_eq!(read(&sent), complete("lib.example"), "{size}");
        assert_eq!(read(&sent[..sent.len() - 1]), Ok(Hello::Incomplete));
    }
}

#[test]
fn what_can_be_read_in_two_ways_is_refused() {
    let one = names(&[b"lib.example"]);
    for (extensions, why) in [
        (names(&[b"lib.example", b"evil.example"]), "two names"),
        ([one.clone(), names(&[b"evil.example"])].concat(), "twice"),
        (names(&[]), "no name in the list"),
        (names(&[b""]), "an empty name"),
        (names(&[&[0xff]]), "no text"),
        (extension(0, &[]), "no list"),
        (extension(0, &[0, 3, 1, 0, 0]), "another type of name"),
        ([one.clone(), extension(0xfe0d, &[0])].concat(), "ech"),
        ([one.clone(), extension(0xffce, &[0])].concat(), "esni"),
        ([one.clone(), vec![0]].concat(), "an odd byte"),
    ] {
        assert!(
            read(&records(&message(&extensions), 9999)).is_err(),
            "{why}"
        );
    }
    let message = message(&one);
    let twice = [message.clone(), message.clone()].concat();
    let long = [vec![1, 0, 0x80, 0], vec![0; 20_000]].concat();
    let mut inner = message.clone();
    inner[3] -= 1;
    for (bytes, why) in [
        (b"GET / HTTP/1.1\r\n".to_vec(), "no TLS"),
        (vec![0x80, 0x2e, 1, 3, 1], "SSL 2"),
        (vec![22, 2, 0, 0, 1, 1], "an unknown version"),
        (vec![22, 3, 1, 0, 0], "an empty record"),
        (vec![22, 3, 1, 0x40, 1], "a record that is too long"),
        (vec![22, 3, 1, 0, 1, 2], "another message"),
        (records(&twice, 9999), "two messages in a record"),
        (records(&long, 1 << 14), "a message that is too long"),
        (records(&inner, 9999), "a length that is wrong"),
        (
            [records(&message[..20], 20), vec![23, 3, 3, 0, 1, 0]].concat(),
            "another record in between",
        ),
    ] {
        assert!(read(&bytes).is_err(), "{why}");
    }
    // Bytes that never become a message end at the bound.
    let endless = records(&[vec![1, 0, 0x3f, 0], vec![0; 9000]].concat(), 1);
    assert!(read(&endless[..MAX_BYTES]).is_err());
}

/// A proxy that wants TLS on the port of `upstream`, which `localhost` names.
fn bench(upstream: &Upstream) -> (Bench, String) {
    let pair = format!("localhost:{}", upstream.port);
    let mut bench = Bench::new(&[&pair]).names(&["127.0.0.1"]);
    bench.terms.tls_port = upstream.port;
    (bench, pair)
}

#[test]
fn a_tunnel_to_tls_begins_with_the_name_of_its_host() {
    let upstream = Upstream::echo();
    let (bench, pair) = bench(&upstream);
    let sent = hello("LOCALHOST");
    bench.run(|egress| {
        let mut client = tunnel(&egress, &pair);
        for piece in sent.chunks(40) {
            client.write_all(piece).unwrap();
            thread::sleep(Duration::from_millis(2));
        }
        let mut back = vec![0; sent.len()];
        client.read_exact(&mut back).unwrap();
        assert!(back == sent);
        client.write_all(b"anything").unwrap();
        client.read_exact(&mut [0; 8]).unwrap();
    });
    assert_eq!(bench.denied(), []);
}

#[test]
fn a_tunnel_to_tls_that_names_somebody_else_sends_nothing() {
    let upstream = Upstream::echo();
    let (bench, pair) = bench(&upstream);
    let hidden = [names(&[b"localhost"]), extension(0xfe0d, &[0])].concat();
    for first in [
        hello("evil.example"),
        hello("localhost.evil.example"),
        hello("127.0.0.1"),
        records(&message(&[]), 9),
        records(&message(&names(&[b"localhost."])), 9),
        records(&message(&names(&[b"localhost\0"])), 9),
        records(&message(&hidden), 9),
        b"SSH-2.0-x\r\n".to_vec(),
    ] {
        bench.run(|egress| {
            let mut client = tunnel(&egress, &pair);
            client.write_all(&first).unwrap();
            let mut alert = Vec::new();
            client.read_to_end(&mut alert).unwrap();
            assert_eq!(alert, ALERT);
        });
        assert_eq!(bench.denied(), [Some(pair.clone())]);
    }
    assert!(upstream.got().iter().all(String::is_empty));
}

#[test]
fn an_address_needs_no_name_and_takes_no_other() {
    let upstream = Upstream::echo();
    let mut bench = Bench::new(&[&upstream.pair()]);
    bench.terms.tls_port = upstream.port;
    bench.run(|egress| {
        let mut client = tunnel(&egress, &upstream.pair());
        client.write_all(&hello("127.0.0.1")).unwrap();
        client.read_exact(&mut [0]).unwrap();
        let mut client = tunnel(&egress, &upstream.pair());
        client.write_all(&hello("evil.example")).unwrap();
        assert_eq!(read_all(&mut client).len(), ALERT.len());
    });
}

#[test]
fn a_hello_that_does_not_come_in_time_ends_the_tunnel() {
    let upstream = Upstream::echo();
    let (mut bench, pair) = bench(&upstream);
    bench.terms.head = Duration::from_millis(300);
    bench.run(|egress| {
        let mut client = tunnel(&egress, &pair);
        let sent = hello("localhost");
        for byte in &sent {
            if client.write_all(&[*byte]).is_err() {
                break;
            }
            thread::sleep(Duration::from_millis(10));
        }
        assert_eq!(read_all(&mut client), "");
    });
    assert!(upstream.got().iter().all(String::is_empty));
}

proptest! {
    #[test]
    fn no_bytes_make_the_reader_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let _ = read(&bytes);
        let _ = read(&records(&message(&bytes), 100));
        let _ = read(&records(&[&[1], sized::<3>(&bytes).as_slice()].concat(), 100));
    }

    /// However a message is split, and whatever one byte of it becomes, it never names another host in silence.
    #[test]
    fn a_changed_byte_changes_what_is_read_or_nothing(at in 0_usize..200, to in any::<u8>(), size in 1_usize..300) {
        let mut message = message(&[extension(10, &[0, 2, 0, 29]), names(&[b"lib.example"])].concat());
        let at = at % message.len();
        message[at] = to;
        if let Ok(Hello::Complete(Some(name))) = read(&records(&message, size)) {
            prop_assert_eq!(name.len(), "lib.example".len());
        }
    }
}
