//! Blobs: contents too long for an OsMessage line, put into files.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};

use hydrant_base::Digest;

/// Names tried for one unfinished file. Crashed processes with our number may have left some of them behind.
const MAX_ATTEMPTS: usize = 128;

/// Tells apart the unfinished files of all threads of this process.
static UNFINISHED: AtomicU64 = AtomicU64::new(0);

/// The folder that an operator named for blobs.
pub(super) struct BlobFolder {
    folder: PathBuf,
}

impl BlobFolder {
    pub(super) fn open(folder: &Path) -> io::Result<Self> {
        let folder = fs::canonicalize(folder)?;
        if !folder.is_dir() {
            return Err(io::Error::new(
                io::ErrorKind::NotADirectory,
                "not a directory",
            ));
        }
        Ok(Self { folder })
    }

    /// The payload with its `content` replaced by a pointer to a file that holds it.
    pub(super) fn point(&self, payload: &str) -> io::Result<String> {
        let mut payload: Value = serde_json::from_str(payload)?;
        if let Some(content) = payload.get_mut("content")
            && let Value::String(text) = content
        {
            let path = self.keep(text)?;
            *content = json!({ "scheme": "file", "path": path.to_string_lossy() });
        }
        Ok(payload.to_string())
    }

    /// Written once: a file of that name with those bytes is left alone, anything else is replaced.
    fn keep(&self, content: &str) -> io::Result<PathBuf> {
        let digest = Digest::of(content.as_bytes());
        let path = self.folder.join(format!("{}.md", digest.hex()));
        if holds(&path, content)? {
            return Ok(path);
        }
        let (unfinished, mut file) = create_unfinished(&path)?;
        let written = file
            .write_all(content.as_bytes())
            // Else a crash of the machine could leave the name with nothing, or half of it, behind it.
            .and_then(|()| file.sync_all())
            .and_then(|()| fs::rename(&unfinished, &path));
        if written.is_err() {
            let _ = fs::remove_file(&unfinished);
        }
        written.map(|()| path)
    }
}

/// A new private file beside `path` that nobody else writes to, and its name.
fn create_unfinished(path: &Path) -> io::Result<(PathBuf, File)> {
    for _ in 0..MAX_ATTEMPTS {
        let number = UNFINISHED.fetch_add(1, Ordering::Relaxed);
        let unfinished = path.with_extension(format!("{}-{number}.tmp", std::process::id()));
        match File::options()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&unfinished)
        {
            Ok(file) => return Ok((unfinished, file)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

/// Whether `path` is a regular file with exactly this content. A link is never followed.
fn holds(path: &Path, content: &str) -> io::Result<bool> {
    let metadata = match fs::symlink_metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(error),
    };
    let length = u64::try_from(content.len()).unwrap_or(u64::MAX);
    if !metadata.is_file() || metadata.len() != length {
        return Ok(false);
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(length).read_to_end(&mut bytes)?;
    Ok(bytes == content.as_bytes())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_blob_is_private_and_written_once() {
        let folder = tempfile::tempdir().unwrap();
        let blobs = BlobFolder::open(folder.path()).unwrap();
        let path = blobs.keep("hello").unwrap();
        let metadata = fs::metadata(&path).unwrap();
        assert_eq!(metadata.permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read_to_string(&path).unwrap(), "hello");
        assert_eq!(blobs.keep("hello").unwrap(), path);
        assert_eq!(
            fs::metadata(&path).unwrap().modified().unwrap(),
            metadata.modified().unwrap()
        );
    }

    #[test]
    fn a_link_that_waits_under_the_name_of_a_blob_is_replaced_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let blobs = BlobFolder::open(folder.path()).unwrap();
        let path = blobs.keep("hello").unwrap();
        let victim = folder.path().join("victim");
        fs::write(&victim, "hello").unwrap();
        fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink(&victim, &path).unwrap();
        blobs.keep("hello").unwrap();
        assert!(fs::symlink_metadata(&path).unwrap().is_file());
    }

    #[test]
    fn what_a_crashed_process_left_behind_is_neither_in_the_way_nor_touched() {
        let folder = tempfile::tempdir().unwrap();
        let blobs = BlobFolder::open(folder.path()).unwrap();
        let name = Digest::of(b"hello").hex().to_owned();
        let (pid, next) = (std::process::id(), UNFINISHED.load(Ordering::Relaxed));
        let mut left = vec![folder.path().join(format!("{name}.{pid}.tmp"))];
        left.extend((next..next + 50).map(|n| folder.path().join(format!("{name}.{pid}-{n}.tmp"))));
        for path in &left {
            fs::write(path, "hal").unwrap();
        }
        let path = blobs.keep("hello").unwrap();
        assert_eq!(fs::read_to_string(path).unwrap(), "hello");
        for path in &left {
            assert_eq!(fs::read_to_string(path).unwrap(), "hal");
        }
    }

    #[test]
    fn threads_that_keep_the_same_content_at_once_all_succeed() {
        let folder = tempfile::tempdir().unwrap();
        let blobs = BlobFolder::open(folder.path()).unwrap();
        let content = "hello".repeat(100_000);
        let barrier = std::sync::Barrier::new(8);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    barrier.wait();
                    blobs.keep(&content).unwrap();
                });
            }
        });
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
