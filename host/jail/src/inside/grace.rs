//! The time between the signal that asks programs to end and the one that does not ask.

use std::io;
use std::os::fd::OwnedFd;
use std::time::Instant;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{WaitOptions, wait};
use rustix::stdio::stdin;

use super::system;
use crate::order::Order;
use crate::outcome::How;
use crate::weakening::Removed;

/// After its time was up, lets the jail end by itself: every process gets `TERM`, and whoever has not ended when the time
/// for that is up, or the parent does not want to wait any longer, is left to be killed. Collects who ended; `ended` tells
/// when.
pub(super) fn give(order: &Order, how: Option<How>, ended: &OwnedFd) -> io::Result<()> {
    let Some(grace) = order.limits.grace else {
        return Ok(());
    };
    if how != Some(How::TimedOut) || !order.keeps(Removed::Pid) {
        return Ok(());
    }
    system::terminate_all()?;
    let deadline = Instant::now().checked_add(grace);
    loop {
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some(_)) => {}
                Ok(None) => break,
                // Nobody is left.
                Err(Errno::CHILD) => return Ok(()),
                Err(error) => return Err(error.into()),
            }
        }
        let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let timeout = left.map(Timespec::try_from).transpose();
        let socket = stdin();
        let mut watched = [
            PollFd::new(ended, PollFlags::IN),
            PollFd::new(&socket, PollFlags::IN),
        ];
        match poll(&mut watched, timeout.map_err(io::Error::other)?.as_ref()) {
            Ok(0) => return Ok(()),
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let [_, parent] = watched.map(|descriptor| !descriptor.revents().is_empty());
        if parent {
            return Ok(());
        }
        // One signal stands for any number of children.
        let _ = rustix::io::read(ended, &mut [0; 512]);
    }
}
