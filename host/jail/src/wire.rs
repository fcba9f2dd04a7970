//! Messages between the host and its launcher: a length of four bytes, then JSON; descriptors with the length.
//!
//! The host does not trust what comes back more than it must: lengths are bounded, and every wait has an end.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Instant;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, send, sendmsg,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Longest message.
const MESSAGE_BYTES: usize = 1 << 20;

/// Most descriptors of one message (`SCM_MAX_FD` of the kernel).
pub(super) const DESCRIPTORS: usize = 253;

/// Sends `message` with `descriptors`.
pub(super) fn send_message(
    socket: impl AsFd,
    message: &impl Serialize,
    descriptors: &[BorrowedFd<'_>],
) -> io::Result<()> {
    let body = serde_json::to_vec(message)?;
    if body.len() > MESSAGE_BYTES || descriptors.len() > DESCRIPTORS {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "the plan is too large",
        ));
    }
    let length = u32::try_from(body.len())
        .map_err(io::Error::other)?
        .to_le_bytes();
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    if !descriptors.is_empty() && !ancillary.push(SendAncillaryMessage::ScmRights(descriptors)) {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "too many descriptors",
        ));
    }
    let sent = sendmsg(
        &socket,
        &[IoSlice::new(&length)],
        &mut ancillary,
        SendFlags::NOSIGNAL,
    )?;
    let mut rest = length
        .get(sent..)
        .unwrap_or_default()
        .iter()
        .chain(&body)
        .copied()
        .collect::<Vec<u8>>();
    while !rest.is_empty() {
        let sent = rustix::io::retry_on_intr(|| send(&socket, &rest, SendFlags::NOSIGNAL))?;
        rest.drain(..sent);
    }
    Ok(())
}

/// Receives a message with its descriptors, which are closed on `execve`. `until`: when to give up (`TimedOut`).
pub(super) fn receive_message<T: DeserializeOwned>(
    socket: impl AsFd,
    until: Option<Instant>,
) -> io::Result<(T, Vec<OwnedFd>)> {
    let mut descriptors = Vec::new();
    let mut length = [0; 4];
    read_exactly(&socket, &mut length, until, &mut descriptors)?;
    let length = usize::try_from(u32::from_le_bytes(length)).map_err(io::Error::other)?;
    if length > MESSAGE_BYTES {
        return Err(io::Error::new(
            io::ErrorKind::InvalidData,
            "a message is too long",
        ));
    }
    let mut body = vec![0; length];
    read_exactly(&socket, &mut body, until, &mut descriptors)?;
    Ok((serde_json::from_slice(&body)?, descriptors))
}

fn read_exactly(
    socket: impl AsFd,
    buffer: &mut [u8],
    until: Option<Instant>,
    descriptors: &mut Vec<OwnedFd>,
) -> io::Result<()> {
    let mut filled = 0;
    while let Some(rest) = buffer.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        if !readable(&socket, until)? {
            return Err(io::ErrorKind::TimedOut.into());
        }
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS))];
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        let received = rustix::io::retry_on_intr(|| {
            recvmsg(
                &socket,
                &mut [IoSliceMut::new(rest)],
                &mut ancillary,
                RecvFlags::CMSG_CLOEXEC,
            )
        })?;
        for message in ancillary.drain() {
            if let RecvAncillaryMessage::ScmRights(received) = message {
                descriptors.extend(received);
            }
        }
        if received.bytes == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        filled = filled.saturating_add(received.bytes);
    }
    Ok(())
}

/// Waits until there is something to read, or the end of the stream; `false` when `until` came first.
pub(super) fn readable(descriptor: impl AsFd, until: Option<Instant>) -> io::Result<bool> {
    loop {
        let timeout = until.map(|until| until.saturating_duration_since(Instant::now()));
        let timeout = timeout
            .map(Timespec::try_from)
            .transpose()
            .map_err(io::Error::other)?;
        match poll(
            &mut [PollFd::new(&descriptor, PollFlags::IN)],
            timeout.as_ref(),
        ) {
            Ok(count) => return Ok(count > 0),
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}
