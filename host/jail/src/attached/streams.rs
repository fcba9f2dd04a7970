//! This process's standard streams for a program in a jail.
//!
//! | what a stream is | what the program gets |
//! |---|---|
//! | a pipe without a name | that pipe |
//! | a terminal | one that is made for it, with the other's size; see [`super::terminal`] |
//! | the null device | the jail's own |
//! | a file, a named pipe, a socket, another device | a pipe, from or to which this process copies |
//!
//! Of a file or a device the program could change the mode for everybody (`fchmod`), a socket it could connect anew in
//! the host's network, and into a terminal it could put what the operator's shell reads next. A pipe without a name
//! belongs to nobody and is good for nothing else. Where a file is standard input, this process reads ahead of the
//! program.

use std::fs::File;
use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::thread;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{FileType, fstat, fstatfs, major, minor};
use rustix::stdio::{stderr, stdin, stdout};
use rustix::termios::isatty;

use super::terminal::Terminal;
use crate::plan::Streams;

/// `PIPEFS_MAGIC`: the file system of pipes without a name.
const PIPE: u64 = 0x5049_5045;

/// Bytes that are copied at a time.
const BUFFER: usize = 32 * 1024;

/// Copies between this process's streams and a program's, as long as it takes.
#[derive(Debug)]
pub struct CallerStreams {
    terminal: Option<Terminal>,
    /// At the end when all output has been written: every thread that writes holds the other end.
    written: PipeReader,
    /// Dropped to end what reads our input.
    stop: PipeWriter,
}

enum Kind {
    Pipe,
    Null,
    Terminal,
    Other,
}

impl Kind {
    fn of(stream: BorrowedFd<'_>) -> io::Result<Self> {
        let stat = fstat(stream)?;
        let (kind, device) = (FileType::from_raw_mode(stat.st_mode), stat.st_rdev);
        Ok(match kind {
            FileType::Fifo if u64::try_from(fstatfs(stream)?.f_type) == Ok(PIPE) => Self::Pipe,
            FileType::CharacterDevice if (major(device), minor(device)) == (1, 3) => Self::Null,
            FileType::CharacterDevice if isatty(stream) => Self::Terminal,
            _ => Self::Other,
        })
    }
}

/// What every thread that copies holds.
struct Ends {
    stopped: PipeReader,
    writing: PipeWriter,
}

impl CallerStreams {
    /// Streams for a program, and what serves them; a terminal reads key by key from here on, until this is dropped.
    ///
    /// # Errors
    /// What the system says.
    pub fn take() -> io::Result<(Streams, Self)> {
        let (written, writing) = io::pipe()?;
        let (stopped, stop) = io::pipe()?;
        let ends = Ends { stopped, writing };
        let ours = [stdin(), stdout(), stderr()];
        let kinds = [Kind::of(ours[0])?, Kind::of(ours[1])?, Kind::of(ours[2])?];
        let is_terminal = kinds.each_ref().map(|kind| matches!(kind, Kind::Terminal));
        let terminal = Terminal::between(ours, is_terminal)?;
        let given = |stream: BorrowedFd<'_>, kind: &Kind, input: bool| -> io::Result<_> {
            Ok(match kind {
                Kind::Null => None,
                Kind::Pipe => Some(stream.try_clone_to_owned()?),
                Kind::Terminal => terminal.as_ref().map(Terminal::inner).transpose()?,
                Kind::Other if input => Some(ends.copy_in(stream)?),
                Kind::Other => Some(ends.copy_out(stream)?),
            })
        };
        let streams = Streams {
            stdin: given(ours[0], &kinds[0], true)?,
            stdout: given(ours[1], &kinds[1], false)?,
            stderr: given(ours[2], &kinds[2], false)?,
            terminal: terminal.is_some(),
        };
        let mut terminal = terminal;
        if let Some(terminal) = &mut terminal {
            if is_terminal[0] {
                ends.copy(ours[0].try_clone_to_owned()?, terminal.outer()?)?;
            }
            let (from, to) = (terminal.outer()?, terminal.shown()?);
            let writing = ends.writing.try_clone()?;
            spawn(move || {
                let _writing = writing;
                copy_all(from, to)
            })?;
            // Only the program has it open from now on, so that its end is the end of the output.
            terminal.close_inner();
        }
        let caller = Self {
            terminal,
            written,
            stop,
        };
        Ok((streams, caller))
    }

    /// Tells the program's terminal that ours has another size.
    pub(super) fn resize(&self) {
        if let Some(terminal) = &self.terminal {
            terminal.resize();
        }
    }

    /// The program has ended: nothing more is read for it. What is answered is at its end when all that it has written
    /// has gone on.
    pub(super) fn finish(self) -> Finished {
        drop(self.stop);
        Finished {
            _terminal: self.terminal,
            written: self.written,
        }
    }
}

/// The last output.
pub(super) struct Finished {
    written: PipeReader,
    /// As it was before, when this is dropped.
    _terminal: Option<Terminal>,
}

impl AsFd for Finished {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.written.as_fd()
    }
}

impl Ends {
    /// The reading end of a pipe that gets what comes from `stream`.
    fn copy_in(&self, stream: BorrowedFd<'_>) -> io::Result<OwnedFd> {
        let (theirs, ours) = io::pipe()?;
        self.copy(stream.try_clone_to_owned()?, ours.into())?;
        Ok(theirs.into())
    }

    /// The writing end of a pipe whose contents go on to `stream`.
    fn copy_out(&self, stream: BorrowedFd<'_>) -> io::Result<OwnedFd> {
        let (ours, theirs) = io::pipe()?;
        let (to, writing) = (stream.try_clone_to_owned()?, self.writing.try_clone()?);
        spawn(move || {
            let _writing = writing;
            copy_all(ours.into(), to)
        })?;
        Ok(theirs.into())
    }

    /// Copies until one of the two ends, or the program has.
    fn copy(&self, from: OwnedFd, to: OwnedFd) -> io::Result<()> {
        let stopped = self.stopped.try_clone()?;
        spawn(move || {
            let (mut from, mut to) = (File::from(from), File::from(to));
            let mut buffer = vec![0; BUFFER];
            loop {
                let mut watched = [
                    PollFd::new(&stopped, PollFlags::IN),
                    PollFd::new(&from, PollFlags::IN),
                ];
                match poll(&mut watched, None) {
                    Err(rustix::io::Errno::INTR) => continue,
                    result => result?,
                };
                let [stopped, _] = watched;
                if !stopped.revents().is_empty() || !copy_some(&mut from, &mut to, &mut buffer)? {
                    return Ok(());
                }
            }
        })
    }
}

fn spawn(copy: impl FnOnce() -> io::Result<()> + Send + 'static) -> io::Result<()> {
    let thread = thread::Builder::new().name("hydrant-stream".to_owned());
    let copied = move || {
        if let Err(error) = copy()
            && !is_end(&error)
        {
            tracing::warn!(%error, "a stream of the jailed program is cut off");
        }
    };
    thread.spawn(copied).map(drop)
}

/// Nobody reads any more, or (`EIO`) nobody has the terminal open any more: ends, and no failures.
fn is_end(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::BrokenPipe || error.raw_os_error() == Some(libc::EIO)
}

fn copy_all(from: OwnedFd, to: OwnedFd) -> io::Result<()> {
    let (mut from, mut to) = (File::from(from), File::from(to));
    let mut buffer = vec![0; BUFFER];
    while copy_some(&mut from, &mut to, &mut buffer)? {}
    Ok(())
}

/// False at the end.
fn copy_some(from: &mut File, to: &mut File, buffer: &mut [u8]) -> io::Result<bool> {
    let count = match from.read(buffer) {
        Err(error) if error.kind() == io::ErrorKind::Interrupted => return Ok(true),
        // Our own standard input may not block: it is waited for before it is read the next time.
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(true),
        count => count?,
    };
    let mut rest = buffer.get(..count).unwrap_or_default();
    while !rest.is_empty() {
        match to.write(rest) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(count) => rest = rest.get(count..).unwrap_or_default(),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                poll(&mut [PollFd::new(to, PollFlags::OUT)], None)?;
            }
            Err(error) => return Err(error),
        }
    }
    Ok(count > 0)
}
