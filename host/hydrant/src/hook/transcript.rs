//! The end of a transcript. Nothing of it is understood here; the planner reads it.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use rustix::fs::{CWD, Mode, OFlags, openat};

/// How much of the end of a transcript is read.
const TAIL_BYTES: u64 = 1024 * 1024;

/// The last whole lines of a transcript, at most 1 MiB.
///
/// # Errors
/// It is no regular file, or cannot be read.
pub fn tail(path: &Path) -> io::Result<String> {
    // Opening a FIFO would wait for its other end.
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let mut file = File::from(openat(CWD, path, flags, Mode::empty())?);
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    let from = metadata.len().saturating_sub(TAIL_BYTES);
    if from > 0 {
        file.seek(SeekFrom::Start(from))?;
    }
    let mut bytes = Vec::with_capacity(usize::try_from(metadata.len() - from).unwrap_or_default());
    // It may grow meanwhile.
    file.take(TAIL_BYTES).read_to_end(&mut bytes)?;
    let whole = match (from, memchr::memchr(b'\n', &bytes)) {
        (0, _) => &bytes,
        (_, Some(end)) => bytes.get(end.saturating_add(1)..).unwrap_or_default(),
        // One line that is longer than all that is read.
        (_, None) => &[][..],
    };
    Ok(String::from_utf8_lossy(whole).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn of_a_long_file_the_last_whole_lines_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.jsonl");
        let line = format!("{}\n", "x".repeat(1023));
        fs::write(&path, format!("{}last\n", line.repeat(5000))).unwrap();
        let tail = tail(&path).unwrap();
        assert!(tail.len() <= 1024 * 1024);
        assert!(tail.ends_with("x\nlast\n"));
        assert!(
            tail.lines()
                .all(|line| line.len() == 1023 || line == "last")
        );
    }

    #[test]
    fn a_short_file_is_read_whole_and_bad_bytes_are_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.jsonl");
        fs::write(&path, b"half line \xff\nnext").unwrap();
        assert_eq!(tail(&path).unwrap(), "half line \u{fffd}\nnext");
    }

    #[test]
    fn a_line_without_end_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.jsonl");
        fs::write(&path, vec![b'x'; 3 * 1024 * 1024]).unwrap();
        assert_eq!(tail(&path).unwrap(), "");
    }

    #[test]
    fn a_fifo_a_directory_and_nothing_are_errors_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let fifo = folder.path().join("fifo");
        rustix::fs::mknodat(CWD, &fifo, rustix::fs::FileType::Fifo, Mode::RWXU, 0).unwrap();
        for path in [fifo, folder.path().to_owned(), folder.path().join("none")] {
            assert!(tail(&path).is_err(), "{}", path.display());
        }
    }
}
