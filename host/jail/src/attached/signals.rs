//! The signals that end a jail, and the one that says that a terminal has another size, as something to wait for.
#![allow(unsafe_code)] // One of the places that STYLE allows it: there is no safe call for these.

use std::ffi::c_int;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, FromRawFd, OwnedFd};

/// Signals that end the jail.
const ENDING: [c_int; 4] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT];

/// Blocked signals of this thread, and of all that it starts, until this is dropped. To be made before any other thread.
#[derive(Debug)]
pub struct Signals {
    descriptor: OwnedFd,
    before: libc::sigset_t,
}

/// A signal that came.
#[derive(Clone, Copy, Debug)]
pub(super) struct Came {
    pub(super) number: u8,
    pub(super) ends: bool,
}

impl Signals {
    /// Blocks the signals. One that this process ignores, as under `nohup`, stays ignored.
    ///
    /// # Errors
    /// What the system says.
    pub fn block() -> io::Result<Self> {
        let mut set = MaybeUninit::<libc::sigset_t>::uninit();
        let mut before = MaybeUninit::<libc::sigset_t>::uninit();
        // SAFETY: `sigemptyset` initializes the set before anything reads it, `pthread_sigmask` fills `before`, and both
        // outlive the calls; all zeros are a valid `sigaction`, and asking for one changes nothing; a descriptor that `signalfd` answers is new and has no other owner.
        unsafe {
            libc::sigemptyset(set.as_mut_ptr());
            for signal in ENDING.into_iter().chain([libc::SIGWINCH]) {
                // What is blocked is not ignored any more, whatever its disposition says.
                let mut action = MaybeUninit::<libc::sigaction>::zeroed();
                if libc::sigaction(signal, std::ptr::null(), action.as_mut_ptr()) != 0 {
                    return Err(io::Error::last_os_error());
                }
                if action.assume_init().sa_sigaction != libc::SIG_IGN {
                    libc::sigaddset(set.as_mut_ptr(), signal);
                }
            }
            let blocked = libc::pthread_sigmask(libc::SIG_BLOCK, set.as_ptr(), before.as_mut_ptr());
            if blocked != 0 {
                return Err(io::Error::from_raw_os_error(blocked));
            }
            let flags = libc::SFD_CLOEXEC | libc::SFD_NONBLOCK;
            let descriptor = libc::signalfd(-1, set.as_ptr(), flags);
            if descriptor < 0 {
                return Err(io::Error::last_os_error());
            }
            Ok(Self {
                descriptor: OwnedFd::from_raw_fd(descriptor),
                before: before.assume_init(),
            })
        }
    }

    /// The next signal that has come.
    pub(super) fn take(&self) -> Option<Came> {
        // `struct signalfd_siginfo`, which begins with the number.
        let mut info = [0; 128];
        let read = rustix::io::read(&self.descriptor, &mut info).ok()?;
        let number = info.first_chunk().filter(|_| read == info.len())?;
        let number = u32::from_ne_bytes(*number);
        let ends = c_int::try_from(number).is_ok_and(|number| ENDING.contains(&number));
        Some(Came {
            number: u8::try_from(number).ok()?,
            ends,
        })
    }
}

impl AsFd for Signals {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        // SAFETY: the set is the one that the system filled.
        unsafe {
            libc::pthread_sigmask(
                libc::SIG_SETMASK,
                &raw const self.before,
                std::ptr::null_mut(),
            );
        }
    }
}
