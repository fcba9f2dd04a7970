//! Sockets of the network, and families of sockets that are a way into the kernel.

use std::io::Write;
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::time::Duration;

use crate::outcome::{Arguments, Failure, Outcome, clean};
use crate::raw::{Word, call};

/// The attempts of this file.
pub(crate) const ATTEMPTS: &[(&str, crate::Run)] = &[
    ("tcp_connect", tcp_connect),
    ("tcp_connect_without_blocking", tcp_connect_without_blocking),
    ("tcp_fast_open", tcp_fast_open),
    ("udp_send", udp_send),
    ("dns_query", dns_query),
    ("tcp_bind", tcp_bind),
    ("udp_bind", udp_bind),
    ("own_loopback", own_loopback),
    ("socket", socket),
    ("netlink_list", netlink_list),
    ("vsock_connect", vsock_connect),
];

const PATIENCE: Duration = Duration::from_secs(2);

/// `ADDRESS`: a listener of the host.
fn tcp_connect(arguments: &Arguments) -> Outcome {
    let mut host = TcpStream::connect_timeout(&arguments.number(0)?, PATIENCE)?;
    host.write_all(b"from the jail")?;
    Ok("connected".to_owned())
}

/// `PORT`: the same with a socket that does not wait, as a port scan does.
fn tcp_connect_without_blocking(arguments: &Arguments) -> Outcome {
    let kind = libc::SOCK_STREAM | libc::SOCK_NONBLOCK;
    let socket = open(libc::AF_INET, kind, 0)?;
    let address = loopback(arguments.number(0)?);
    match call(
        libc::SYS_connect,
        &mut [
            Word::Number(socket),
            Word::Bytes(&address),
            Word::Number(16),
        ],
    ) {
        Ok(_) => {}
        Err(errno) if errno.0 == libc::EINPROGRESS => {}
        Err(errno) => return Err(errno.into()),
    }
    std::thread::sleep(Duration::from_millis(50));
    let mut peer = [0; 16];
    let mut length = 16_u32.to_ne_bytes();
    call(
        libc::SYS_getpeername,
        &mut [
            Word::Number(socket),
            Word::Room(&mut peer),
            Word::Room(&mut length),
        ],
    )?;
    Ok("connected".to_owned())
}

/// `PORT`: a connection made by `sendto`, past what looks at `connect`.
fn tcp_fast_open(arguments: &Arguments) -> Outcome {
    let socket = open(libc::AF_INET, libc::SOCK_STREAM, 0)?;
    let address = loopback(arguments.number(0)?);
    call(
        libc::SYS_sendto,
        &mut [
            Word::Number(socket),
            Word::Bytes(b"hello"),
            Word::Number(5),
            Word::Number((libc::MSG_FASTOPEN | libc::MSG_NOSIGNAL).into()),
            Word::Bytes(&address),
            Word::Number(16),
        ],
    )?;
    Ok("sent".to_owned())
}

/// `ADDRESS`: a datagram and its echo, since one that nobody gets is sent as well.
fn udp_send(arguments: &Arguments) -> Outcome {
    let address: SocketAddr = arguments.number(0)?;
    let socket = UdpSocket::bind(if address.is_ipv4() {
        "0.0.0.0:0"
    } else {
        "[::]:0"
    })?;
    echo(&socket, address, b"from the jail")
}

/// `ADDRESS`: a question for a name to the host's resolver.
fn dns_query(arguments: &Arguments) -> Outcome {
    let socket = UdpSocket::bind("0.0.0.0:0")?;
    let question = b"\x12\x34\x01\x00\0\x01\0\0\0\0\0\0\x07hydrant\x04test\0\0\x01\0\x01";
    echo(&socket, arguments.number(0)?, question)
}

/// `PORT`: a listener on every address of the host.
fn tcp_bind(arguments: &Arguments) -> Outcome {
    let listener = TcpListener::bind(("0.0.0.0", arguments.number(0)?))?;
    Ok(format!("listening on {}", listener.local_addr()?))
}

/// `PORT`
fn udp_bind(arguments: &Arguments) -> Outcome {
    let socket = UdpSocket::bind(("0.0.0.0", arguments.number(0)?))?;
    Ok(format!("bound to {}", socket.local_addr()?))
}

/// A listener of its own on loopback and a connection to it.
fn own_loopback(_: &Arguments) -> Outcome {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    TcpStream::connect_timeout(&listener.local_addr()?, PATIENCE)?;
    Ok("connected".to_owned())
}

/// `FAMILY KIND PROTOCOL`: only the socket.
fn socket(arguments: &Arguments) -> Outcome {
    let number = |index| arguments.number::<i32>(index);
    let socket = open(number(0)?, number(1)?, number(2)?)?;
    Ok(format!("descriptor {socket}"))
}

/// The interfaces of the machine, other than loopback.
fn netlink_list(_: &Arguments) -> Outcome {
    let socket = open(libc::AF_NETLINK, libc::SOCK_RAW, libc::NETLINK_ROUTE)?;
    // struct nlmsghdr {20, RTM_GETLINK, NLM_F_REQUEST | NLM_F_DUMP}, struct rtgenmsg
    let mut request = vec![20, 0, 0, 0, 18, 0, 1, 3];
    request.resize(20, 0);
    call(
        libc::SYS_sendto,
        &mut [
            Word::Number(socket),
            Word::Bytes(&request),
            Word::Number(20),
        ],
    )?;
    let mut answer = vec![0; 16384];
    let length = call(
        libc::SYS_recvfrom,
        &mut [
            Word::Number(socket),
            Word::Room(&mut answer),
            Word::Number(16384),
        ],
    )?;
    // RTM_NEWLINK is 16; an error would be 2.
    if answer.get(4) == Some(&16) {
        Ok(format!("{length} bytes of interfaces"))
    } else {
        clean("an error message")
    }
}

/// The hypervisor's socket; a closed port is an answer too.
fn vsock_connect(_: &Arguments) -> Outcome {
    let socket = open(libc::AF_VSOCK, libc::SOCK_STREAM, 0)?;
    Ok(format!("descriptor {socket}"))
}

fn open(family: i32, kind: i32, protocol: i32) -> Result<i64, Failure> {
    let words = [family, kind, protocol].map(|number| Word::Number(number.into()));
    match call(libc::SYS_socket, &mut { words }) {
        // The machine has no such family: nothing to try, in a jail or out of it.
        Err(errno) if errno.0 == libc::EAFNOSUPPORT || errno.0 == libc::EPROTONOSUPPORT => {
            Err(Failure::Untried(errno.to_string()))
        }
        answer => Ok(answer?),
    }
}

fn echo(socket: &UdpSocket, address: SocketAddr, message: &[u8]) -> Outcome {
    socket.set_read_timeout(Some(PATIENCE))?;
    socket.send_to(message, address)?;
    let mut answer = [0; 512];
    let length = socket.recv(&mut answer)?;
    Ok(format!("{length} bytes came back"))
}

/// struct sockaddr_in for 127.0.0.1
fn loopback(port: u16) -> [u8; 16] {
    let mut address = [0; 16];
    let family = u16::try_from(libc::AF_INET)
        .unwrap_or_default()
        .to_ne_bytes();
    address[..2].copy_from_slice(&family);
    address[2..4].copy_from_slice(&port.to_be_bytes());
    address[4..8].copy_from_slice(&[127, 0, 0, 1]);
    address
}
