//! Real paths of the host, looked up without following a link.
//!
//! A declared value is looked up from `/` in one operation of the kernel that refuses every link; what lies below it
//! is looked up beneath its handle. Where directories have to be made, and on kernels without that operation, the
//! path is walked: each component is opened, as a mere reference, beneath the one before it, and a link is seen for
//! what it is after it was opened. So there is never a path that was checked and is resolved again.

use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{CWD, FileType, Mode, OFlags};
use rustix::io::Errno;

use hydrant_policy::VirtualPath;

/// A handle that names something and reads nothing, where the system has such handles.
#[cfg(target_os = "linux")]
const PASS: OFlags = OFlags::PATH.union(OFlags::CLOEXEC);
#[cfg(not(target_os = "linux"))]
const PASS: OFlags = OFlags::RDONLY
    .union(OFlags::NONBLOCK)
    .union(OFlags::NOCTTY)
    .union(OFlags::CLOEXEC);

/// Times a lookup is tried again that a concurrent change disturbed.
#[cfg(target_os = "linux")]
const DISTURBED_TRIES: usize = 8;

/// Permission bits of the directories that a write makes, before the umask.
const NEW_DIRECTORY: Mode = Mode::from_raw_mode(0o755);

/// Why a path leads nowhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Obstacle {
    /// A component is a symbolic link.
    Link,
    /// A component is missing, or is a file where a directory is needed.
    Missing,
    /// The system refuses.
    Refused,
}

/// What happens to directories that are not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Absent {
    Keep,
    Make,
}

/// What `path` names; no component of it is a link.
pub(super) fn refer(path: &VirtualPath) -> Result<OwnedFd, Obstacle> {
    refer_beneath(&top()?, relative(path))
}

/// What `relative` names beneath `start`; no component of it is a link. `""` is `start` itself.
#[cfg(target_os = "linux")]
pub(super) fn refer_beneath(start: &OwnedFd, relative: &str) -> Result<OwnedFd, Obstacle> {
    use rustix::fs::ResolveFlags;

    let name = if relative.is_empty() { "." } else { relative };
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS | ResolveFlags::NO_SYMLINKS;
    for _ in 0..DISTURBED_TRIES {
        match rustix::fs::openat2(start, name, PASS, Mode::empty(), resolve) {
            Err(Errno::AGAIN | Errno::INTR) => {}
            // A kernel before 5.6, or a filter that does not know the call.
            Err(Errno::NOSYS | Errno::PERM) => return walk(start, relative, Absent::Keep),
            found => return found.map_err(obstacle),
        }
    }
    Err(Obstacle::Refused)
}

/// Elsewhere the path is walked.
#[cfg(not(target_os = "linux"))]
pub(super) fn refer_beneath(start: &OwnedFd, relative: &str) -> Result<OwnedFd, Obstacle> {
    walk(start, relative, Absent::Keep)
}

/// The directory `path`, made with all that leads to it where it is missing; no component is a link.
pub(super) fn make_directory(path: &VirtualPath) -> Result<OwnedFd, Obstacle> {
    let top = top()?;
    match refer_beneath(&top, relative(path)) {
        Err(Obstacle::Missing) => walk(&top, relative(path), Absent::Make),
        found => found,
    }
}

/// The directory that a reference names, to be listed; [`Obstacle::Missing`] if it is none.
pub(super) fn list(reference: &OwnedFd) -> Result<OwnedFd, Obstacle> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    rustix::fs::openat(reference, ".", flags, Mode::empty()).map_err(obstacle)
}

/// The kind of what a handle names.
pub(super) fn kind(handle: impl AsFd) -> Result<FileType, Obstacle> {
    let stat = rustix::fs::fstat(handle).map_err(obstacle)?;
    Ok(FileType::from_raw_mode(stat.st_mode))
}

fn top() -> Result<OwnedFd, Obstacle> {
    let flags = PASS | OFlags::DIRECTORY;
    rustix::fs::openat(CWD, "/", flags, Mode::empty()).map_err(obstacle)
}

fn relative(path: &VirtualPath) -> &str {
    path.as_str().trim_start_matches('/')
}

fn walk(start: &OwnedFd, relative: &str, absent: Absent) -> Result<OwnedFd, Obstacle> {
    let mut handle = step(start, ".", Absent::Keep)?;
    for name in relative.split('/').filter(|name| !name.is_empty()) {
        handle = step(&handle, name, absent)?;
    }
    Ok(handle)
}

fn step(parent: &OwnedFd, name: &str, absent: Absent) -> Result<OwnedFd, Obstacle> {
    let open = || rustix::fs::openat(parent, name, PASS | OFlags::NOFOLLOW, Mode::empty());
    let opened = match open() {
        Err(Errno::NOENT) if absent == Absent::Make => {
            match rustix::fs::mkdirat(parent, name, NEW_DIRECTORY) {
                // Somebody else has made it: what it is shows when it is opened.
                Ok(()) | Err(Errno::EXIST) => open(),
                Err(error) => Err(error),
            }
        }
        opened => opened,
    };
    let handle = opened.map_err(obstacle)?;
    // A reference to a link is opened as such.
    match kind(&handle)? {
        FileType::Symlink => Err(Obstacle::Link),
        _ => Ok(handle),
    }
}

/// What a failed lookup means.
pub(super) fn obstacle(errno: Errno) -> Obstacle {
    match errno {
        Errno::LOOP | Errno::XDEV => Obstacle::Link,
        Errno::NOENT | Errno::NOTDIR | Errno::NAMETOOLONG => Obstacle::Missing,
        _ => Obstacle::Refused,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{MetadataExt, symlink};

    /// Both ways of looking up say the same.
    #[test]
    fn no_component_may_be_a_link() {
        let directory = tempfile::tempdir().unwrap();
        let real = directory.path().canonicalize().unwrap();
        std::fs::create_dir_all(real.join("a/b")).unwrap();
        std::fs::write(real.join("a/file"), "").unwrap();
        symlink("a", real.join("link")).unwrap();
        symlink("../a", real.join("a/b/up")).unwrap();
        symlink("none", real.join("dangling")).unwrap();
        let start = std::fs::File::open(&real).unwrap().into();
        for (name, found) in [
            ("", Ok(())),
            ("a/b", Ok(())),
            ("a/file", Ok(())),
            ("a/file/x", Err(Obstacle::Missing)),
            ("none", Err(Obstacle::Missing)),
            ("link", Err(Obstacle::Link)),
            ("link/b", Err(Obstacle::Link)),
            ("a/b/up", Err(Obstacle::Link)),
            ("a/b/up/file", Err(Obstacle::Link)),
            ("dangling", Err(Obstacle::Link)),
        ] {
            assert_eq!(refer_beneath(&start, name).map(drop), found, "{name}");
            assert_eq!(walk(&start, name, Absent::Keep).map(drop), found, "{name}");
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
        assert_eq!(make("link/x"), Err(Obstacle::Link));
        assert_eq!(make("file/x"), Err(Obstacle::Missing));
        assert_eq!(std::fs::read_dir(real.join("outside")).unwrap().count(), 0);
    }
}
