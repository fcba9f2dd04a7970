//! Unix sockets of the host: abstract ones, those with a path, and descriptors that come over them.

use std::fs;
use std::io::{IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::AsRawFd;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixStream};

use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};

use crate::outcome::{Arguments, Outcome, clean};
use crate::raw::{Word, call};

/// The attempts of this file.
pub(crate) const ATTEMPTS: &[(&str, crate::Run)] = &[
    ("abstract_stream", abstract_stream),
    ("abstract_datagram", abstract_datagram),
    ("path_stream", path_stream),
    ("path_datagram", path_datagram),
    ("path_by_pair", path_by_pair),
    ("path_by_datagram_pair", path_by_datagram_pair),
    ("receive_descriptor", receive_descriptor),
    ("see_message_queue", see_message_queue),
];

/// `NAME`: a listener of the host.
fn abstract_stream(arguments: &Arguments) -> Outcome {
    greet(UnixStream::connect_addr(&SocketAddr::from_abstract_name(
        arguments.text(0)?,
    )?)?)
}

/// `NAME`
fn abstract_datagram(arguments: &Arguments) -> Outcome {
    let address = SocketAddr::from_abstract_name(arguments.text(0)?)?;
    UnixDatagram::unbound()?.send_to_addr(b"from the jail", &address)?;
    Ok("sent".to_owned())
}

/// `PATH`: a listener of the host, outside of all mounts or in one.
fn path_stream(arguments: &Arguments) -> Outcome {
    greet(UnixStream::connect(arguments.text(0)?)?)
}

/// `PATH`
fn path_datagram(arguments: &Arguments) -> Outcome {
    UnixDatagram::unbound()?.send_to(b"from the jail", arguments.text(0)?)?;
    Ok("sent".to_owned())
}

/// `PATH`: by one end of a pair, which is a Unix socket as well, connected anew.
fn path_by_pair(arguments: &Arguments) -> Outcome {
    let (near, far) = UnixStream::pair()?;
    drop(far);
    let mut address = u16::try_from(libc::AF_UNIX)
        .unwrap_or_default()
        .to_ne_bytes()
        .to_vec();
    address.extend(arguments.text(0)?.bytes());
    address.push(0);
    let length = i64::try_from(address.len()).unwrap_or_default();
    let socket = Word::Number(near.as_raw_fd().into());
    call(
        libc::SYS_connect,
        &mut [socket, Word::Bytes(&address), Word::Number(length)],
    )?;
    greet(near)
}

/// `PATH`: by one end of a pair of datagram sockets, which may send to anybody.
fn path_by_datagram_pair(arguments: &Arguments) -> Outcome {
    let (near, _far) = UnixDatagram::pair()?;
    near.send_to(b"from the jail", arguments.text(0)?)?;
    Ok("sent".to_owned())
}

/// `PATH`: a host that hands out a descriptor of one of its files.
fn receive_descriptor(arguments: &Arguments) -> Outcome {
    let host = UnixStream::connect(arguments.text(0)?)?;
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(4))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let mut byte = [0];
    recvmsg(
        &host,
        &mut [IoSliceMut::new(&mut byte)],
        &mut ancillary,
        RecvFlags::empty(),
    )?;
    let descriptors = ancillary.drain().filter_map(|message| match message {
        RecvAncillaryMessage::ScmRights(descriptors) => Some(descriptors),
        _ => None,
    });
    let Some(descriptor) = descriptors.flatten().next() else {
        return clean("no descriptor came");
    };
    let mut text = String::new();
    fs::File::from(descriptor).read_to_string(&mut text)?;
    Ok(format!("{} bytes of the host's file", text.len()))
}

/// `NAME`: a POSIX message queue of the host.
fn see_message_queue(arguments: &Arguments) -> Outcome {
    let name = arguments.c_text(0)?;
    let queue = call(
        libc::SYS_mq_open,
        &mut [Word::Text(&name), Word::Number(libc::O_RDWR.into())],
    )?;
    Ok(format!("queue {queue}"))
}

fn greet(mut host: UnixStream) -> Outcome {
    host.write_all(b"from the jail")?;
    Ok("connected".to_owned())
}
