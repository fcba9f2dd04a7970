//! No network, or the relay alone.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::net::UnixListener;

use hydrant_jail::{Network, Program};

use crate::support::{inside, run, script, source};

#[test]
fn there_is_no_network() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let mut plan = script("");
    plan.program = Program::Path(inside("/usr/bin/perl"));
    plan.arguments = vec!["perl".into(), "-e".into(), format!(
        "use Socket; for my $f (AF_INET, AF_INET6, 16, 17) {{ for my $t (1, 2, 3) {{ print socket(my $s, $f, $t, 0) ? 'yes' : 'no' }} }}
         my $s; print socket($s, AF_INET, SOCK_STREAM, 0) && connect($s, pack_sockaddr_in({port}, inet_aton('127.0.0.1'))) ? 'yes' : 'no'"
    ).into()];
    assert_eq!(run(plan).output, "no".repeat(13));
}

#[test]
fn the_relay_is_the_only_way_out() {
    let directory = tempfile::tempdir().unwrap();
    let socket = directory.path().join("proxy");
    let proxy = UnixListener::bind(&socket).unwrap();
    let host = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let served = std::thread::spawn(move || {
        let (mut connection, _) = proxy.accept().unwrap();
        let mut request = [0; 4];
        connection.read_exact(&mut request).unwrap();
        connection.write_all(b"pong").unwrap();
        request
    });
    let mut plan = script("");
    plan.network = Network::Relay {
        socket: source(&socket),
    };
    plan.program = Program::Path(inside("/usr/bin/perl"));
    plan.arguments = vec!["perl".into(), "-e".into(), format!(
        "use Socket; my ($s, $t, $u, $v); my $a = inet_aton('127.0.0.1'); $| = 1;
         print socket($s, AF_INET, SOCK_STREAM, 0) && connect($s, pack_sockaddr_in(3128, $a)) ? 'yes' : 'no';
         syswrite $s, 'ping'; sysread $s, my $b, 4; print $b;
         print socket($t, AF_INET, SOCK_STREAM, 0) && connect($t, pack_sockaddr_in({host}, $a)) ? 'yes' : 'no';
         print socket($u, AF_INET, SOCK_DGRAM, 0) ? 'yes' : 'no';
         print socket($v, AF_UNIX, SOCK_STREAM, 0) ? 'yes' : 'no'"
    ).into()];
    assert_eq!(run(plan).output, "yespongnonono");
    assert_eq!(&served.join().unwrap(), b"ping");
}
