//! Moving names within one directory so that nothing is ever overwritten unseen.
//!
//! Where the file system knows no renames with flags, hard links do the same in more steps; a host that is killed
//! between them leaves a name that [`settle`] puts in order.

use std::os::fd::BorrowedFd;

use rustix::fs::{AtFlags, Dev, FileType, linkat, renameat, statat, unlinkat};
use rustix::io::Errno;

use super::steps::Steps;

/// Exchanges two names.
///
/// # Errors
/// [`Errno::NOENT`] if one of them is not there; what the system says.
pub(super) fn exchange(
    directory: BorrowedFd<'_>,
    staged: &str,
    name: &str,
    steps: &Steps,
) -> Result<(), Errno> {
    match with_flags::exchange(directory, staged, name, steps) {
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {}
        done => return done,
    }
    let kept = kept(staged);
    linkat(directory, name, directory, &kept, AtFlags::empty())?;
    steps.mark();
    // What is linked must be what is replaced: somebody may have put another file there.
    let replaced = identity(directory, name).and_then(|target| {
        if target != identity(directory, &kept)? {
            return Err(Errno::NOENT);
        }
        renameat(directory, staged, directory, name)
    });
    if let Err(error) = replaced {
        let _ = unlinkat(directory, &kept, AtFlags::empty());
        return Err(error);
    }
    steps.mark();
    renameat(directory, &kept, directory, staged)
}

/// Gives what is at `from` the name `to`, which nothing may have.
///
/// # Errors
/// [`Errno::EXIST`] if something has that name; what the system says.
pub(super) fn rename_to_free(
    directory: BorrowedFd<'_>,
    from: &str,
    to: &str,
    steps: &Steps,
) -> Result<(), Errno> {
    match with_flags::to_free(directory, from, to, steps) {
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {}
        done => return done,
    }
    let stat = statat(directory, from, AtFlags::SYMLINK_NOFOLLOW)?;
    if FileType::from_raw_mode(stat.st_mode) == FileType::Directory {
        // A directory replaces an empty directory at most.
        return renameat(directory, from, directory, to);
    }
    linkat(directory, from, directory, to, AtFlags::empty())?;
    steps.mark();
    unlinkat(directory, from, AtFlags::empty())
}

/// Gives what is at `from` a name that nobody else knows.
///
/// # Errors
/// What the system says.
pub(super) fn rename_away(
    directory: BorrowedFd<'_>,
    from: &str,
    to: &str,
    steps: &Steps,
) -> Result<(), Errno> {
    match with_flags::to_free(directory, from, to, steps) {
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
            renameat(directory, from, directory, to)
        }
        done => done,
    }
}

/// Whether two names are of one file.
pub(super) fn are_one_file(directory: BorrowedFd<'_>, one: &str, other: &str) -> bool {
    matches!(
        (identity(directory, one), identity(directory, other)),
        (Ok(one), Ok(other)) if one == other
    )
}

/// Puts in order what an interrupted [`exchange`] without flags left.
///
/// # Errors
/// What the system says.
pub(super) fn settle(directory: BorrowedFd<'_>, staged: &str) -> Result<(), Errno> {
    let kept = kept(staged);
    match identity(directory, &kept) {
        Err(Errno::NOENT) => return Ok(()),
        Err(error) => return Err(error),
        Ok(_) => {}
    }
    match identity(directory, staged) {
        Ok(_) => unlinkat(directory, &kept, AtFlags::empty()),
        Err(Errno::NOENT) => renameat(directory, &kept, directory, staged),
        Err(error) => Err(error),
    }
}

/// The second name of what is being exchanged.
fn kept(staged: &str) -> String {
    format!("{staged}.old")
}

fn identity(directory: BorrowedFd<'_>, name: &str) -> Result<(Dev, u64), Errno> {
    let stat = statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)?;
    Ok((stat.st_dev, stat.st_ino))
}

#[cfg(any(target_os = "linux", target_vendor = "apple"))]
mod with_flags {
    use rustix::fs::{RenameFlags, renameat_with};

    use super::{BorrowedFd, Errno, Steps};

    pub(super) fn exchange(
        directory: BorrowedFd<'_>,
        one: &str,
        other: &str,
        steps: &Steps,
    ) -> Result<(), Errno> {
        rename(directory, one, other, RenameFlags::EXCHANGE, steps)
    }

    pub(super) fn to_free(
        directory: BorrowedFd<'_>,
        from: &str,
        to: &str,
        steps: &Steps,
    ) -> Result<(), Errno> {
        rename(directory, from, to, RenameFlags::NOREPLACE, steps)
    }

    fn rename(
        directory: BorrowedFd<'_>,
        from: &str,
        to: &str,
        flags: RenameFlags,
        steps: &Steps,
    ) -> Result<(), Errno> {
        if !steps.may_use_flags() {
            return Err(Errno::INVAL);
        }
        renameat_with(directory, from, directory, to, flags)
    }
}

#[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
mod with_flags {
    use super::{BorrowedFd, Errno, Steps};

    pub(super) fn exchange(_: BorrowedFd<'_>, _: &str, _: &str, _: &Steps) -> Result<(), Errno> {
        Err(Errno::INVAL)
    }

    pub(super) fn to_free(_: BorrowedFd<'_>, _: &str, _: &str, _: &Steps) -> Result<(), Errno> {
        Err(Errno::INVAL)
    }
}
