//! A terminal made for a jailed program, between it and the operator's.
//!
//! The operator's terminal itself would be too much: its owner may change its mode for everybody, and what is put into
//! it, the operator's shell reads next. Its own one the program may do with as it likes: it is the controlling terminal
//! of its session, keys such as ctrl-C are signals to it, and with it everything is gone.
#![allow(unsafe_code)] // One of the places that STYLE allows it: there is no safe call that makes a terminal.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use rustix::process::getpgrp;
use rustix::termios::{
    OptionalActions, OutputModes, QueueSelector, Termios, tcflush, tcgetattr, tcgetpgrp,
    tcgetwinsize, tcsetattr, tcsetwinsize,
};

#[derive(Debug)]
pub(super) struct Terminal {
    /// The operator's.
    operators: OwnedFd,
    /// Where the program's output is shown, which may be opened for writing only.
    shown: OwnedFd,
    outer: OwnedFd,
    inner: Option<OwnedFd>,
    /// What the operator's terminal was set to, where it was changed.
    before: Option<Termios>,
}

impl Terminal {
    /// One terminal in place of those of the standard streams that are one; none if none is.
    pub(super) fn between(
        streams: [BorrowedFd<'_>; 3],
        is_terminal: [bool; 3],
    ) -> io::Result<Option<Self>> {
        let mut found = std::iter::zip(streams, is_terminal)
            .filter_map(|(stream, is_terminal)| is_terminal.then_some(stream));
        let Some(first) = found.next() else {
            return Ok(None);
        };
        let [input, ..] = is_terminal;
        // Standard output, else standard error; else what keys are read from.
        let shown = if input { found.next() } else { None }.unwrap_or(first);
        let (outer, inner) = open()?;
        let mut settings = tcgetattr(first)?;
        // Somebody else may have made it raw already; the program's is usual in any case, and the output is prepared for
        // display once only.
        let in_front = tcgetpgrp(first).is_ok_and(|group| group == getpgrp());
        let keys = input && in_front;
        let mut before = None;
        if keys {
            before = Some(settings.clone());
            let mut raw = settings.clone();
            raw.make_raw();
            tcsetattr(&inner, OptionalActions::Now, &settings)?;
            tcsetattr(first, OptionalActions::Now, &raw)?;
        } else {
            settings.output_modes.remove(OutputModes::OPOST);
            tcsetattr(&inner, OptionalActions::Now, &settings)?;
        }
        let terminal = Self {
            operators: first.try_clone_to_owned()?,
            shown: shown.try_clone_to_owned()?,
            outer,
            inner: Some(inner),
            before,
        };
        terminal.resize();
        Ok(Some(terminal))
    }

    /// The program's end.
    pub(super) fn inner(&self) -> io::Result<OwnedFd> {
        let inner = self.inner.as_ref().ok_or(io::ErrorKind::NotConnected)?;
        inner.try_clone()
    }

    pub(super) fn close_inner(&mut self) {
        self.inner = None;
    }

    /// Our end.
    pub(super) fn outer(&self) -> io::Result<OwnedFd> {
        self.outer.try_clone()
    }

    /// Where the program's output goes.
    pub(super) fn shown(&self) -> io::Result<OwnedFd> {
        self.shown.try_clone()
    }

    /// Gives the program's terminal the size of the operator's, and so the program a signal.
    pub(super) fn resize(&self) {
        // A terminal without a size has none inside either.
        if let Ok(size) = tcgetwinsize(&self.operators) {
            let _ = tcsetwinsize(&self.outer, size);
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            // What the terminal answered to the program's output, or was typed for it, is not for the shell.
            let _ = tcflush(&self.operators, QueueSelector::IFlush);
            let _ = tcsetattr(&self.operators, OptionalActions::Drain, before);
        }
    }
}

/// A pair of terminals: our end, and the program's.
fn open() -> io::Result<(OwnedFd, OwnedFd)> {
    let checked = |number: i32| {
        if number < 0 {
            Err(io::Error::last_os_error())
        } else {
            Ok(number)
        }
    };
    // SAFETY: numbers only, but for the descriptors that are answered, which are new and have no other owner.
    unsafe {
        let outer = libc::posix_openpt(libc::O_RDWR | libc::O_NOCTTY | libc::O_CLOEXEC);
        let outer = OwnedFd::from_raw_fd(checked(outer)?);
        checked(libc::grantpt(outer.as_raw_fd()))?;
        checked(libc::unlockpt(outer.as_raw_fd()))?;
        // By its other end and not by its name: whatever lies at `/dev/pts` does not matter.
        let flags = libc::O_RDWR | libc::O_NOCTTY | libc::O_CLOEXEC;
        let inner = libc::ioctl(outer.as_fd().as_raw_fd(), libc::TIOCGPTPEER, flags);
        let inner = OwnedFd::from_raw_fd(checked(inner)?);
        Ok((outer, inner))
    }
}
