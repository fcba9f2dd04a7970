//! Opening the directory of a mount: once, and refused when any component of its name is a symbolic link.
//!
//! Each component is opened beneath the one before it without following links, so what was checked is what is held.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use cap_std::fs::Dir;
use rustix::fd::OwnedFd;
use rustix::fs::{CWD, Mode, OFlags, openat};

/// Passing through a directory needs no leave to list it, where the system can say so.
#[cfg(target_os = "linux")]
pub(super) const PASS: OFlags = OFlags::PATH;
#[cfg(not(target_os = "linux"))]
pub(super) const PASS: OFlags = OFlags::RDONLY;

/// Why a directory cannot be mounted. For the operator: names real paths.
#[derive(Debug, thiserror::Error)]
pub(super) enum OpenError {
    #[error("goes through the symbolic link {}; name the directory itself: {}", link.display(), resolved.display())]
    Link { link: PathBuf, resolved: PathBuf },
    #[error("does not exist: {}", .0.display())]
    Missing(PathBuf),
    #[error("is not a directory: {}", .0.display())]
    NotDirectory(PathBuf),
    #[error("cannot be opened: {}: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
}

/// Opens `directory`, relative to `base`, which is absolute and without links. Returns the handle and the real path.
pub(super) fn open_directory(base: &Path, directory: &Path) -> Result<(Dir, PathBuf), OpenError> {
    let start = if directory.is_absolute() {
        Path::new("/")
    } else {
        base
    };
    let mut real = start.to_owned();
    let mut handle =
        step(None, start.as_os_str(), PASS).map_err(|source| fault(&real, start, source))?;
    for component in directory.components() {
        let (name, next) = match component {
            Component::Normal(name) => (name, real.join(name)),
            // Without links the parent of the handle is the parent of the name.
            Component::ParentDir => (
                OsStr::new(".."),
                real.parent().unwrap_or(Path::new("/")).to_owned(),
            ),
            Component::CurDir | Component::RootDir | Component::Prefix(_) => continue,
        };
        handle = step(Some(&handle), name, PASS)
            .map_err(|source| fault(&next, &base.join(directory), source))?;
        real = next;
    }
    let handle = step(Some(&handle), OsStr::new("."), OFlags::RDONLY)
        .map_err(|source| fault(&real, &base.join(directory), source))?;
    Ok((Dir::from_std_file(fs::File::from(handle)), real))
}

fn step(parent: Option<&OwnedFd>, name: &OsStr, access: OFlags) -> io::Result<OwnedFd> {
    let flags = access | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = match parent {
        Some(parent) => openat(parent, name, flags, Mode::empty()),
        None => openat(CWD, name, flags, Mode::empty()),
    };
    Ok(opened?)
}

/// Says why `path` could not be opened on the way to `whole`.
fn fault(path: &Path, whole: &Path, source: io::Error) -> OpenError {
    match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_symlink() => OpenError::Link {
            link: path.to_owned(),
            resolved: fs::canonicalize(whole).unwrap_or_else(|_| whole.to_owned()),
        },
        Ok(metadata) if !metadata.is_dir() => OpenError::NotDirectory(path.to_owned()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            OpenError::Missing(path.to_owned())
        }
        _ => OpenError::Io {
            path: path.to_owned(),
            source,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn scratch() -> (tempfile::TempDir, PathBuf) {
        let scratch = tempfile::tempdir().unwrap();
        let real = scratch.path().canonicalize().unwrap();
        fs::create_dir_all(real.join("a/b")).unwrap();
        fs::write(real.join("a/file"), "").unwrap();
        symlink("a", real.join("link")).unwrap();
        symlink("nowhere", real.join("dangling")).unwrap();
        (scratch, real)
    }

    #[test]
    fn a_directory_is_opened_relative_or_absolute() {
        let (_scratch, real) = scratch();
        for (directory, opened) in [
            (PathBuf::from("."), real.clone()),
            (PathBuf::from("./a/b"), real.join("a/b")),
            (PathBuf::from("a/../a/b/.."), real.join("a")),
            (real.join("a"), real.join("a")),
        ] {
            let (handle, found) = open_directory(&real, &directory).unwrap();
            assert_eq!(found, opened);
            assert!(handle.entries().is_ok());
        }
        let (handle, _) = open_directory(&real, Path::new("a")).unwrap();
        assert!(handle.metadata("file").unwrap().is_file());
    }

    #[test]
    fn a_link_in_any_component_is_refused_and_the_message_names_the_resolved_path() {
        let (_scratch, real) = scratch();
        for directory in [
            PathBuf::from("link"),
            PathBuf::from("link/b"),
            PathBuf::from("link/.."),
            real.join("link/b"),
        ] {
            let error = open_directory(&real, &directory).unwrap_err();
            assert!(
                matches!(error, OpenError::Link { .. }),
                "{directory:?}: {error}"
            );
        }
        let error = open_directory(&real, Path::new("link/b"))
            .unwrap_err()
            .to_string();
        assert!(
            error.contains(real.join("a/b").to_str().unwrap()),
            "{error}"
        );
        assert!(matches!(
            open_directory(&real, Path::new("dangling")).unwrap_err(),
            OpenError::Link { .. }
        ));
    }

    #[test]
    fn it_must_exist_and_be_a_directory() {
        let (_scratch, real) = scratch();
        assert!(matches!(
            open_directory(&real, Path::new("none/x")).unwrap_err(),
            OpenError::Missing(_)
        ));
        assert!(matches!(
            open_directory(&real, Path::new("a/file")).unwrap_err(),
            OpenError::NotDirectory(_)
        ));
        assert!(matches!(
            open_directory(&real, Path::new("a/file/x")).unwrap_err(),
            OpenError::NotDirectory(_)
        ));
    }
}
