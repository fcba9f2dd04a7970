//! The host's ends of a program's standard streams: standard input is fed, and the first bytes of the output are kept.
//!
//! No end blocks, so that a program that reads nothing, or a descendant that keeps a pipe open, keeps nobody from the
//! clock. Programs in a jail and those outside of one are served alike.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};

use super::plan::Streams;

/// Bytes that are read at a time.
const CHUNK: usize = 64 * 1024;

/// Chunks that are read in a row, so that an endless writer does not keep us from the clock. Also more than any pipe
/// holds, so that one row takes out what a program that has ended has left in it.
const CHUNKS_IN_A_ROW: usize = 17;

/// What a program wrote to one stream: the first bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Captured {
    /// No more of them than were to be kept.
    pub bytes: Vec<u8>,
    /// There was more, which was read and dropped.
    pub truncated: bool,
}

impl Captured {
    /// Returns whether nothing was written.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty() && !self.truncated
    }
}

/// The host's ends of the streams of one program.
#[derive(Debug)]
pub struct Pipes<'a> {
    /// With what is still to be given; none when it is closed.
    stdin: Option<(File, &'a [u8])>,
    stdout: Output,
    stderr: Output,
}

/// A stream that is read.
#[derive(Debug, Default)]
struct Output {
    /// None once everybody has closed the other end.
    pipe: Option<File>,
    limit: usize,
    captured: Captured,
    read: u64,
}

impl<'a> Pipes<'a> {
    /// Makes the pipes of a program, and returns the program's ends first. It reads `stdin`, or, where that is empty, the
    /// null device; of its standard output and error so many bytes are kept. Without a number its standard error is the
    /// null device.
    ///
    /// # Errors
    /// What the system says.
    pub fn new(
        stdin: &'a [u8],
        stdout: usize,
        stderr: Option<usize>,
    ) -> io::Result<(Streams, Self)> {
        let (stdout, stdout_written) = Output::new(stdout)?;
        let (stderr, stderr_written) = match stderr {
            None => (Output::default(), None),
            Some(limit) => {
                let (output, written) = Output::new(limit)?;
                (output, Some(written))
            }
        };
        let mut streams = Streams {
            stdin: None,
            stdout: Some(stdout_written),
            stderr: stderr_written,
            terminal: false,
        };
        let mut pipes = Self {
            stdin: None,
            stdout,
            stderr,
        };
        if !stdin.is_empty() {
            let (theirs, ours) = io::pipe()?;
            streams.stdin = Some(theirs.into());
            pipes.stdin = Some((not_blocking(ours.into())?, stdin));
        }
        Ok((streams, pipes))
    }

    /// Returns how many bytes were read, kept or not.
    pub fn written(&self) -> u64 {
        self.stdout.read.saturating_add(self.stderr.read)
    }

    /// Returns whether more output can come: somebody has a pipe open.
    pub fn are_open(&self) -> bool {
        self.stdout.pipe.is_some() || self.stderr.pipe.is_some()
    }

    /// Gives and takes what is possible now, without waiting.
    pub fn transfer(&mut self) {
        if let Some((pipe, rest)) = &mut self.stdin {
            let open = loop {
                match pipe.write(rest) {
                    Ok(0) => break false,
                    Ok(written) => *rest = rest.get(written..).unwrap_or_default(),
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(error) => break error.kind() == io::ErrorKind::WouldBlock,
                }
            };
            if !open || rest.is_empty() {
                // A program that does not read it all is none of our business.
                self.stdin = None;
            }
        }
        self.stdout.drain();
        self.stderr.drain();
    }

    /// Waits until something can be given or taken, `end` is readable, or for `time`. Returns whether `end` is readable.
    pub fn wait(&self, end: Option<BorrowedFd<'_>>, time: Duration) -> bool {
        let mut polled = Vec::with_capacity(4);
        polled.extend(end.map(|end| PollFd::from_borrowed_fd(end, PollFlags::IN)));
        if let Some((pipe, _)) = &self.stdin {
            polled.push(PollFd::new(pipe, PollFlags::OUT));
        }
        let outputs = [&self.stdout.pipe, &self.stderr.pipe];
        let open = outputs.into_iter().flatten();
        polled.extend(open.map(|pipe| PollFd::new(pipe, PollFlags::IN)));
        // Whatever it answers, an interruption too, the caller looks for itself.
        let _ = poll(&mut polled, Timespec::try_from(time).ok().as_ref());
        let first = polled.first().filter(|_| end.is_some());
        first.is_some_and(|end| !end.revents().is_empty())
    }

    /// Returns what was written to standard output and standard error.
    pub fn into_captured(self) -> [Captured; 2] {
        [self.stdout.captured, self.stderr.captured]
    }
}

impl Output {
    /// A stream of which so many bytes are kept, and the end that is written to.
    fn new(limit: usize) -> io::Result<(Self, OwnedFd)> {
        let (ours, theirs) = io::pipe()?;
        let output = Self {
            pipe: Some(not_blocking(ours.into())?),
            limit,
            ..Self::default()
        };
        Ok((output, theirs.into()))
    }

    fn drain(&mut self) {
        let Some(pipe) = &mut self.pipe else { return };
        let mut chunk = vec![0; CHUNK];
        for _ in 0..CHUNKS_IN_A_ROW {
            match pipe.read(&mut chunk) {
                Ok(amount) if amount > 0 => {
                    let more = u64::try_from(amount).unwrap_or(u64::MAX);
                    self.read = self.read.saturating_add(more);
                    let space = self.limit.saturating_sub(self.captured.bytes.len());
                    self.captured.truncated |= amount > space;
                    let kept = chunk.get(..amount.min(space)).unwrap_or_default();
                    self.captured.bytes.extend_from_slice(kept);
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // The end, or as good as the end.
                Ok(_) | Err(_) => {
                    self.pipe = None;
                    return;
                }
            }
        }
    }
}

fn not_blocking(pipe: OwnedFd) -> io::Result<File> {
    let flags = fcntl_getfl(pipe.as_fd())?;
    fcntl_setfl(&pipe, flags | OFlags::NONBLOCK)?;
    Ok(File::from(pipe))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn input_is_given_and_the_first_output_kept() {
        let input = vec![b'x'; 1 << 20];
        let (streams, mut pipes) = Pipes::new(&input, 3, Some(0)).unwrap();
        let (Some(stdin), Some(stdout), Some(stderr)) =
            (streams.stdin, streams.stdout, streams.stderr)
        else {
            panic!("a stream is missing");
        };
        let mut child = std::process::Command::new("cat")
            .stdin(stdin)
            .stdout(stdout)
            .stderr(stderr)
            .spawn()
            .unwrap();
        while pipes.are_open() {
            pipes.wait(None, Duration::from_secs(10));
            pipes.transfer();
        }
        assert!(child.wait().unwrap().success());
        assert_eq!(pipes.written(), 1 << 20);
        let [stdout, stderr] = pipes.into_captured();
        assert_eq!((&*stdout.bytes, stdout.truncated), (&b"xxx"[..], true));
        assert!(stderr.is_empty());
    }

    #[test]
    fn an_end_is_told_from_output() {
        let (streams, mut pipes) = Pipes::new(b"", 8, None).unwrap();
        let (end, ending) = io::pipe().unwrap();
        File::from(streams.stdout.unwrap())
            .write_all(b"hello")
            .unwrap();
        assert!(!pipes.wait(Some(end.as_fd()), Duration::from_secs(10)));
        pipes.transfer();
        assert!(streams.stdin.is_none() && streams.stderr.is_none());
        drop(ending);
        assert!(pipes.wait(Some(end.as_fd()), Duration::from_secs(10)));
        let [stdout, _] = pipes.into_captured();
        assert_eq!((&*stdout.bytes, stdout.truncated), (&b"hello"[..], false));
    }
}
