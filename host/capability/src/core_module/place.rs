//! Real paths of the host, looked up without following a link.
//!
//! A declared value is looked up from `/` in one operation that refuses every link; what lies below it is looked up beneath
//! its handle. Where directories have to be made the path is walked, each component opened beneath the one before it. So
//! there is never a path that was checked and is resolved again.

use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{CWD, Mode, OFlags};
use rustix::io::Errno;

use crate::fs::{FsError, REFERENCE, Symlinks, from_errno, resolve, step};
use hydrant_policy::VirtualPath;

/// Permission bits of the directories that a write makes, before the umask.
const NEW_DIRECTORY: Mode = Mode::from_raw_mode(0o755);

/// Returns a reference to what `path` names.
///
/// # Errors
/// [`FsError::Symlink`] where a component is a link; what the system says.
pub(super) fn refer(path: &VirtualPath) -> Result<OwnedFd, FsError> {
    resolve(top()?, relative(path), REFERENCE, Symlinks::Refuse)
}

/// Returns a reference to the directory `path`, made with all that leads to it where it is missing.
///
/// # Errors
/// As [`refer`].
pub(super) fn make_directory(path: &VirtualPath) -> Result<OwnedFd, FsError> {
    match refer(path) {
        Err(FsError::NotFound) => {}
        found => return found,
    }
    let mut handle = top()?;
    for name in relative(path).split('/').filter(|name| !name.is_empty()) {
        handle = match step(handle.as_fd(), name, REFERENCE) {
            Err(FsError::NotFound) => {
                match rustix::fs::mkdirat(&handle, name, NEW_DIRECTORY) {
                    // Somebody else has made it: what it is shows when it is opened.
                    Ok(()) | Err(Errno::EXIST) => {}
                    Err(error) => return Err(from_errno(error)),
                }
                step(handle.as_fd(), name, REFERENCE)
            }
            found => found,
        }?;
    }
    Ok(handle)
}

fn top() -> Result<OwnedFd, FsError> {
    let flags = REFERENCE | OFlags::DIRECTORY;
    rustix::fs::openat(CWD, "/", flags, Mode::empty()).map_err(from_errno)
}

fn relative(path: &VirtualPath) -> &str {
    path.as_str().trim_start_matches('/')
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{MetadataExt, symlink};

    #[test]
    fn no_component_may_be_a_link() {
        let directory = tempfile::tempdir().unwrap();
        let real = directory.path().canonicalize().unwrap();
        std::fs::create_dir_all(real.join("a/b")).unwrap();
        std::fs::write(real.join("a/file"), "").unwrap();
        symlink("a", real.join("link")).unwrap();
        symlink("../a", real.join("a/b/up")).unwrap();
        symlink("none", real.join("dangling")).unwrap();
        for (name, found) in [
            ("", Ok(())),
            ("a/b", Ok(())),
            ("a/file", Ok(())),
            ("a/file/x", Err(FsError::NotFound)),
            ("none", Err(FsError::NotFound)),
            ("link", Err(FsError::Symlink)),
            ("link/b", Err(FsError::Symlink)),
            ("a/b/up", Err(FsError::Symlink)),
            ("a/b/up/file", Err(FsError::Symlink)),
            ("dangling", Err(FsError::Symlink)),
        ] {
            let whole = real.join(name);
            let path = VirtualPath::normalise(whole.to_str().unwrap()).unwrap();
            assert_eq!(refer(&path).map(drop), found, "{name}");
        }
    }

    #[test]
    fn missing_directories_are_made_but_not_through_a_link() {
        let directory = tempfile::tempdir().unwrap();
        let real = directory.path().canonicalize().unwrap();
        std::fs::create_dir(real.join("outside")).unwrap();
        symlink("outside", real.join("link")).unwrap();
        std::fs::write(real.join("file"), "").unwrap();
        let make = |name: &str| {
            let path = real.join(name);
            make_directory(&VirtualPath::normalise(path.to_str().unwrap()).unwrap()).map(drop)
        };
        assert_eq!(make("a/b/c"), Ok(()));
        assert_eq!(make("a/b/c"), Ok(()));
        assert!(real.join("a/b/c").metadata().unwrap().mode() & 0o022 == 0);
        assert_eq!(make("link/x"), Err(FsError::Symlink));
        assert_eq!(make("file/x"), Err(FsError::NotFound));
        assert_eq!(std::fs::read_dir(real.join("outside")).unwrap().count(), 0);
    }
}
