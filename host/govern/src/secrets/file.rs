//! The file, read only if it is the operator's alone, and replaced as a whole.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;
use std::time::{Duration, Instant};

use hydrant_base::{FileLock, LockKind};
use rustix::fs::OFlags;
use zeroize::Zeroizing;

use super::content::Content;
use crate::failure::{Code, Failure};

/// Bytes of the file.
const MOST: u64 = 16 * 1024 * 1024;
/// How long a change waits for the one before it.
const PATIENCE: Duration = Duration::from_secs(5);

/// What it says; nothing where there is none.
pub(super) fn read(path: &Path) -> Result<Content, Failure> {
    let opened = OpenOptions::new()
        .read(true)
        // A link could be anybody's, and a pipe would be waited for.
        .custom_flags(flags())
        .open(path);
    let mut file = match opened {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Content::default()),
        Err(error) if error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) => {
            return Err(permissions("it is a link"));
        }
        Err(error) => return Err(unavailable(&error)),
    };
    let metadata = file.metadata().map_err(|error| unavailable(&error))?;
    if !metadata.is_file() {
        return Err(permissions("it is not a regular file"));
    }
    if metadata.uid() != rustix::process::geteuid().as_raw() {
        return Err(permissions("it belongs to somebody else"));
    }
    if metadata.mode() & 0o7777 != 0o600 {
        return Err(permissions("its mode is not 0600"));
    }
    parent(path)?;
    if metadata.len() > MOST {
        return Err(unavailable(&"it is larger than 16 MiB"));
    }
    // One more than there is, so that reading to the end makes it no longer.
    let capacity = usize::try_from(metadata.len())
        .unwrap_or(0)
        .saturating_add(1);
    let mut bytes = Zeroizing::new(Vec::with_capacity(capacity));
    Read::by_ref(&mut file)
        .take(MOST)
        .read_to_end(&mut bytes)
        .map_err(|error| unavailable(&error))?;
    let text = std::str::from_utf8(&bytes).map_err(|_| unavailable(&"it is not UTF-8"))?;
    // What the parser says quotes the line, and with it a value.
    toml::from_str(text).map_err(|error| {
        let line = error
            .span()
            .and_then(|span| text.get(..span.start))
            .map_or(1, |before| before.matches('\n').count().saturating_add(1));
        unavailable(&format!("line {line} is not what a store of secrets has"))
    })
}

/// Replaces it: temporary file, fsync, rename, fsync of the directory. Never by one that could not be read again.
pub(super) fn replace(path: &Path, text: &str) -> Result<(), Failure> {
    if length(text.len()) > MOST {
        return Err(full());
    }
    let parent = path.parent().unwrap_or(Path::new("."));
    let temporary = path.with_extension("toml.new");
    let written = (|| {
        match fs::remove_file(&temporary) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .custom_flags(flags())
            .open(&temporary)?;
        // The mode is given less the umask.
        file.set_permissions(fs::Permissions::from_mode(0o600))?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&temporary, path)?;
        File::open(parent)?.sync_all()
    })();
    written.map_err(|error| {
        // It holds values; that it could not be written is what is reported.
        let _ = fs::remove_file(&temporary);
        unavailable(&error)
    })
}

/// Whether a value of so many bytes more can be written, whatever it is.
pub(super) fn has_room(path: &Path, bytes: usize) -> Result<(), Failure> {
    let now = match fs::metadata(path) {
        Ok(metadata) => metadata.len(),
        Err(error) if error.kind() == ErrorKind::NotFound => 0,
        Err(error) => return Err(unavailable(&error)),
    };
    // The longest escape of one byte has six; and its name.
    let more = length(bytes).saturating_mul(6).saturating_add(4096);
    if now.saturating_add(more) > MOST {
        return Err(full());
    }
    Ok(())
}

fn length(bytes: usize) -> u64 {
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

fn full() -> Failure {
    Failure::new(
        Code::Limit,
        "the store of secrets: it would be larger than 16 MiB",
    )
}

/// Held while the file is changed; makes the directory. Two processes change it one after the other.
pub(super) fn lock(path: &Path) -> Result<FileLock, Failure> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
        .map_err(|error| unavailable(&error))?;
    parent(path)?;
    let file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .custom_flags(flags())
        .open(path.with_extension("lock"))
        .map_err(|error| unavailable(&error))?;
    let until = Instant::now() + PATIENCE;
    let left = || until.checked_duration_since(Instant::now());
    FileLock::wait(file.into(), LockKind::Exclusive, left)
        .map_err(|error| unavailable(&error))?
        .ok_or_else(|| unavailable(&"somebody has been changing it for 5 s"))
}

fn parent(path: &Path) -> Result<(), Failure> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let metadata = fs::metadata(folder).map_err(|error| unavailable(&error))?;
    if metadata.mode() & 0o022 != 0 {
        return Err(permissions("others may write in its directory"));
    }
    Ok(())
}

fn flags() -> i32 {
    let flags = OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    i32::try_from(flags.bits()).unwrap_or(0)
}

fn permissions(why: &str) -> Failure {
    Failure::new(Code::SecretStorePermissions, format!("the store of secrets: {why}")).with_hint(
        "it has to be a regular file of mode 0600 that is yours, in a directory that nobody else may write to",
    )
}

fn unavailable(error: &dyn std::fmt::Display) -> Failure {
    Failure::new(
        Code::StoreUnavailable,
        format!("the store of secrets: {error}"),
    )
}
