//! Replacing a whole file in a directory that is held open.
//!
//! The bytes go to a new file under a name that nobody can guess, which then takes the place of the old one. So
//! whoever reads sees the old file or the new one, and a link of that name is replaced, never followed.

use std::io::{self, Write};
use std::os::fd::OwnedFd;

use rustix::fs::{AtFlags, Mode};

use crate::fs::create_private;
use hydrant_base::random_hex;

/// The bits of a mode that a replaced file keeps: those of the user, the group and others, and no setuid.
pub(super) const PERMISSIONS: Mode = Mode::from_raw_mode(0o777);

/// Puts a file of these bytes and permissions in the place of `name`.
///
/// # Errors
/// What the system says; nothing is left behind and `name` is what it was.
pub(super) fn replace(
    directory: &OwnedFd,
    name: &str,
    bytes: &[u8],
    permissions: Mode,
) -> io::Result<()> {
    let temporary = format!(".hydrant-{}.tmp", random_hex::<12>()?);
    let mut file = create_private(directory, &temporary)?;
    let written = file
        .write_all(bytes)
        .and_then(|()| Ok(rustix::fs::fchmod(&file, permissions & PERMISSIONS)?))
        .and_then(|()| {
            let moved = rustix::fs::renameat(directory, &temporary, directory, name);
            Ok(moved?)
        });
    if written.is_err() {
        // Nothing more can be done about a name that cannot be removed.
        let _ = rustix::fs::unlinkat(directory, &temporary, AtFlags::empty());
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn the_file_is_replaced_whole_or_left_alone() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path();
        let handle: OwnedFd = File::open(path).unwrap().into();
        std::fs::write(path.join("outside"), "outside").unwrap();
        std::os::unix::fs::symlink("outside", path.join("name")).unwrap();
        let mode = Mode::from_raw_mode(0o4640);
        replace(&handle, "name", b"new", mode).unwrap();
        assert_eq!(std::fs::read(path.join("name")).unwrap(), b"new");
        assert_eq!(std::fs::read(path.join("outside")).unwrap(), b"outside");
        let metadata = std::fs::symlink_metadata(path.join("name")).unwrap();
        assert_eq!(metadata.permissions().mode() & 0o7777, 0o640);
        std::fs::create_dir(path.join("taken")).unwrap();
        assert!(replace(&handle, "taken", b"new", mode).is_err());
        assert_eq!(std::fs::read_dir(path).unwrap().count(), 3, "no remains");
    }
}
