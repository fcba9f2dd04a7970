//! Reading stdin: at most 8 MiB, and closed within 5 s.

use std::io::Read;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// The longest input.
pub const MAX_INPUT_BYTES: u64 = 8 * 1024 * 1024;
/// How long stdin may stay open.
pub const INPUT_PATIENCE: Duration = Duration::from_secs(5);

/// Why stdin cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum InputError {
    /// It is longer than [`MAX_INPUT_BYTES`].
    #[error("more than 8 MiB")]
    TooLong,
    /// It was not closed within [`INPUT_PATIENCE`].
    #[error("not closed within 5 s")]
    Open,
    /// It is no text.
    #[error("not UTF-8")]
    NotUtf8,
    /// The system refuses.
    #[error("cannot be read: {0}")]
    Io(#[from] std::io::Error),
}

/// All of `input`, which must end before the patience does. A reader that is still waiting then is left behind: the
/// process is about to end.
///
/// # Errors
/// [`InputError`]
pub fn read_input(
    input: impl Read + Send + 'static,
    patience: Duration,
) -> Result<String, InputError> {
    let (sender, receiver) = mpsc::sync_channel(1);
    thread::Builder::new()
        .name("stdin".to_owned())
        .spawn(move || {
            let mut bytes = Vec::with_capacity(16 * 1024);
            let read = input
                .take(MAX_INPUT_BYTES.saturating_add(1))
                .read_to_end(&mut bytes);
            // Nobody listens any more where the patience was up.
            let _ = sender.send(read.map(|_| bytes));
        })?;
    let bytes = match receiver.recv_timeout(patience) {
        Ok(read) => read?,
        Err(_) => return Err(InputError::Open),
    };
    if u64::try_from(bytes.len()).is_ok_and(|length| length <= MAX_INPUT_BYTES) {
        String::from_utf8(bytes).map_err(|_| InputError::NotUtf8)
    } else {
        Err(InputError::TooLong)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Cursor, repeat};

    #[test]
    fn input_has_at_most_8_mib() {
        let limit = usize::try_from(MAX_INPUT_BYTES).unwrap();
        let read = |length| read_input(Cursor::new(vec![b'a'; length]), INPUT_PATIENCE);
        assert_eq!(read(limit).unwrap().len(), limit);
        assert!(matches!(read(limit + 1), Err(InputError::TooLong)));
        // An endless one is not read to its end.
        assert!(matches!(
            read_input(repeat(b'a'), INPUT_PATIENCE),
            Err(InputError::TooLong)
        ));
    }

    #[test]
    fn input_that_is_never_closed_is_given_up() {
        let (input, _open) = std::io::pipe().unwrap();
        let read = read_input(input, Duration::from_millis(50));
        assert!(matches!(read, Err(InputError::Open)));
    }

    #[test]
    fn bytes_that_are_not_utf_8_are_bad_input() {
        let read = read_input(Cursor::new(b"{\"prompt\":\"\xff\"}"), INPUT_PATIENCE);
        assert!(matches!(read, Err(InputError::NotUtf8)));
    }
}
