//! A jailed program at this process's own standard streams, until one of the two ends: for `hydrant jail`.
//!
//! The program never gets a descriptor with which it could do more than read or write: see [`streams`].

mod signals;
mod streams;
mod terminal;

use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

pub use self::signals::Signals;
pub use self::streams::CallerStreams;
use super::jailed::Jailed;
use super::outcome::{Ended, Error};

/// Time between two samples.
const SAMPLE: Duration = Duration::from_millis(100);

/// How long the last output may take to be written after a signal has ended the jail.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// How a jail ended, and whether a signal to this process did it.
#[derive(Debug)]
pub struct Attached {
    /// The end of the jail.
    pub ended: Ended,
    /// The number of the signal.
    pub signal: Option<u8>,
}

impl Attached {
    /// Waits for the end of the jail and of its output. Each of `signals` ends the jail; one that comes after that ends
    /// the waiting for whoever reads the output.
    ///
    /// # Errors
    /// As [`Jailed::wait`].
    pub fn wait(
        mut jailed: Jailed,
        streams: CallerStreams,
        signals: &Signals,
    ) -> Result<Self, Error> {
        let mut signal = None;
        while !wait_for(&jailed.descriptor(), signals, SAMPLE) {
            while let Some(came) = signals.take() {
                if came.ends {
                    signal = signal.or(Some(came.number));
                    jailed.kill();
                } else {
                    streams.resize();
                }
            }
            jailed.sample()?;
        }
        let ended = jailed.wait()?;
        let written = streams.finish();
        let until = signal.and_then(|_| Instant::now().checked_add(LAST_WORDS));
        while !wait_for(&written, signals, SAMPLE) {
            let ends = std::iter::from_fn(|| signals.take()).any(|came| came.ends);
            if ends || until.is_some_and(|until| Instant::now() >= until) {
                break;
            }
        }
        Ok(Self { ended, signal })
    }
}

/// Waits until there is an end to read, a signal has come, or for `time`; true for the end.
fn wait_for(end: &impl AsFd, signals: &Signals, time: Duration) -> bool {
    let mut watched = [
        PollFd::new(end, PollFlags::IN),
        PollFd::new(signals, PollFlags::IN),
    ];
    // Whatever it answers, an interruption too, the caller looks for itself.
    let _ = poll(&mut watched, Timespec::try_from(time).ok().as_ref());
    let [end, _] = watched;
    !end.revents().is_empty()
}
