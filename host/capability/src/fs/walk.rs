//! Opening a name beneath a directory component by component, for kernels without `openat2`.
//!
//! Links are followed by cap-std, which never leaves the directory; where none may be followed, each component is
//! opened beneath the one before it with `O_NOFOLLOW`.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use cap_std::fs::{Dir, OpenOptions, OpenOptionsExt};
use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;

use super::open::{from_errno, from_io};
use super::{FsError, Symlinks};

/// How the directories on the way are opened: no leave to list them is needed where the system can say so.
#[cfg(target_os = "linux")]
pub(super) const PASS: OFlags = OFlags::PATH;
#[cfg(not(target_os = "linux"))]
pub(super) const PASS: OFlags = OFlags::RDONLY;

/// Opens `relative` beneath `dir`; `""` is the directory itself.
///
/// # Errors
/// As [`super::open::Found::with`], and [`FsError::Symlink`] under [`Symlinks::Refuse`].
pub(super) fn open(
    dir: BorrowedFd<'_>,
    relative: &str,
    flags: OFlags,
    symlinks: Symlinks,
) -> Result<OwnedFd, FsError> {
    match symlinks {
        Symlinks::Follow => follow(dir, relative, flags),
        Symlinks::Refuse => refuse(dir, relative, flags),
    }
}

fn follow(dir: BorrowedFd<'_>, relative: &str, flags: OFlags) -> Result<OwnedFd, FsError> {
    let relative = if relative.is_empty() { "." } else { relative };
    let dir = dir.try_clone_to_owned().map_err(from_io)?;
    let mut options = OpenOptions::new();
    options.read(true);
    options.custom_flags(flags.bits().cast_signed());
    let opened = Dir::from_std_file(dir.into()).open_with(relative, &options);
    Ok(OwnedFd::from(opened.map_err(from_io)?.into_std()))
}

fn refuse(dir: BorrowedFd<'_>, relative: &str, flags: OFlags) -> Result<OwnedFd, FsError> {
    let (parents, name) = relative.rsplit_once('/').unwrap_or(("", relative));
    let mut held: Option<OwnedFd> = None;
    for parent in parents.split('/').filter(|parent| !parent.is_empty()) {
        let from = held.as_ref().map_or(dir, AsFd::as_fd);
        held = Some(step(
            from,
            parent,
            PASS | OFlags::DIRECTORY | OFlags::CLOEXEC,
        )?);
    }
    let from = held.as_ref().map_or(dir, AsFd::as_fd);
    step(from, if name.is_empty() { "." } else { name }, flags)
}

/// Opens one name; a link of that name is an error.
pub(crate) fn step(dir: BorrowedFd<'_>, name: &str, flags: OFlags) -> Result<OwnedFd, FsError> {
    let opened = rustix::fs::openat(dir, name, flags | OFlags::NOFOLLOW, Mode::empty());
    let is_link = match &opened {
        // A reference to a link is opened as such.
        Ok(reference) if flags.contains(PASS) => {
            let stat = rustix::fs::fstat(reference).map_err(from_errno)?;
            kind(&stat) == FileType::Symlink
        }
        // Systems differ in what they say of a link that is not followed.
        Err(Errno::LOOP | Errno::NOTDIR | Errno::MLINK) => {
            rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW)
                .is_ok_and(|stat| kind(&stat) == FileType::Symlink)
        }
        _ => false,
    };
    if is_link {
        return Err(FsError::Symlink);
    }
    opened.map_err(from_errno)
}

fn kind(stat: &rustix::fs::Stat) -> FileType {
    FileType::from_raw_mode(stat.st_mode)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fs::open::READ;

    #[test]
    fn the_walk_for_old_kernels_contains_links_as_well() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path();
        std::os::unix::fs::symlink("/etc", path.join("absolute")).unwrap();
        std::os::unix::fs::symlink("..", path.join("parent")).unwrap();
        std::fs::create_dir_all(path.join("a/b")).unwrap();
        std::fs::write(path.join("a/b/file"), "x").unwrap();
        std::os::unix::fs::symlink("a/b/file", path.join("stays")).unwrap();
        std::os::unix::fs::symlink("a", path.join("link")).unwrap();
        let dir = std::fs::File::open(path).unwrap();
        for (relative, followed, refused) in [
            ("", Ok(()), Ok(())),
            ("a/b/file", Ok(()), Ok(())),
            (
                "absolute/passwd",
                Err(FsError::LeavesMount),
                Err(FsError::Symlink),
            ),
            ("parent/x", Err(FsError::LeavesMount), Err(FsError::Symlink)),
            ("link/none", Err(FsError::NotFound), Err(FsError::Symlink)),
            ("none/link", Err(FsError::NotFound), Err(FsError::NotFound)),
            ("a/b/file/x", Err(FsError::NotFound), Err(FsError::NotFound)),
            ("stays", Ok(()), Err(FsError::Symlink)),
            ("link/b/file", Ok(()), Err(FsError::Symlink)),
        ] {
            let look = |symlinks| open(dir.as_fd(), relative, READ, symlinks).map(drop);
            assert_eq!(look(Symlinks::Follow), followed, "{relative}");
            assert_eq!(look(Symlinks::Refuse), refused, "{relative}");
        }
    }
}
