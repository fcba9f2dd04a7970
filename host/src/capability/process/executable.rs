//! What kind of executable a tool is, and under which path it is started (TD-07, PE-08).
//!
//! A binary is started through the descriptor of the file that was looked up, so that it is that file.
//! A script cannot be: its interpreter opens it once more, by name, when the descriptor is closed; and
//! `$0` has to be its path. So its path is checked to be still that file, right before it is used.

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

    match found.first_bytes() {
        Some([b'#', b'!', ..]) if found.is_still_at(path) => Format::Script(path.to_owned()),
        Some([b'#', b'!', ..]) => Format::Moved,
        Some([0x7f, b'E', b'L', b'F']) | None => {
            Format::Binary(descriptor_path(found.reference()).into())
        }
        Some(_) => Format::Unknown,
    }
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
