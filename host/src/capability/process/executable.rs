//! What kind of executable a tool is, and under which path it is started (TD-07, PE-08).
//!
//! A binary is started through the descriptor of the file that was looked up, so that it is that file.
//! A script cannot be: its interpreter opens it once more, by name, when the descriptor is closed; and
//! `$0` has to be its path. So its path is checked to be still that file, right before it is used.
//!
//! A program of the policy has been looked up when the policy was loaded and lies outside of all mounts; of it only
//! the format is asked. For the C library hands a file that the system does not know to a shell (TC-41).

use std::path::{Path, PathBuf};

use crate::capability::fs::Found;

/// What is to be executed.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Format {
    /// A binary, or a file that we may execute but not read.
    Binary(PathBuf),
    /// A file that begins with `#!`.
    Script(PathBuf),
    /// Neither: no system call is made that might hand it to a shell.
    Unknown,
    /// Its path no longer names the file that was found.
    Moved,
}

/// Looks at the file that was `found` at the real path `path`.
#[cfg(target_os = "linux")]
pub(super) fn format_of(found: &Found, path: &Path) -> Format {
    use crate::capability::fs::descriptor_path;

    match found.first_bytes().as_ref().map(|bytes| known(bytes)) {
        Some(Some(Known::Script)) if found.is_still_at(path) => Format::Script(path.to_owned()),
        Some(Some(Known::Script)) => Format::Moved,
        Some(Some(Known::Binary)) | None => {
            Format::Binary(descriptor_path(found.reference()).into())
        }
        Some(None) => Format::Unknown,
    }
}

/// Whether the system knows how to execute the program at `path`, or nobody may read it, so that no shell could either.
#[cfg(target_os = "linux")]
pub(super) fn is_known(path: &Path) -> bool {
    use std::fs::OpenOptions;
    use std::io::Read;
    use std::os::unix::fs::OpenOptionsExt;

    let mut bytes = [0; 4];
    let opened = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NONBLOCK)
        .open(path);
    match opened.and_then(|mut file| file.read(&mut bytes)) {
        Ok(read) => known(bytes.get(..read).unwrap_or_default()).is_some(),
        Err(_) => true,
    }
}

/// Elsewhere there are formats that are not known here.
#[cfg(not(target_os = "linux"))]
pub(super) fn is_known(_: &Path) -> bool {
    true
}

/// What the system executes.
#[cfg(target_os = "linux")]
enum Known {
    Binary,
    Script,
}

/// What a file that begins with these bytes is.
#[cfg(target_os = "linux")]
fn known(beginning: &[u8]) -> Option<Known> {
    if beginning.starts_with(b"#!") {
        return Some(Known::Script);
    }
    beginning.starts_with(b"\x7fELF").then_some(Known::Binary)
}

/// Elsewhere files are started by name, and the system says what they are.
#[cfg(not(target_os = "linux"))]
pub(super) fn format_of(found: &Found, path: &Path) -> Format {
    if found.is_still_at(path) {
        Format::Binary(path.to_owned())
    } else {
        Format::Moved
    }
}
