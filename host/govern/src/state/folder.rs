//! A directory that only its owner can change, and files in it that are what they seem.
//!
//! Everything is opened relative to the directory's descriptor, never through a link, never blocking, and looked at after
//! opening: a name that leads to a link, a pipe, a device, another owner's file or a file with a second name is refused.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, RawMode, Stat};

/// Why a directory or a file is not used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FolderError {
    #[error("{}: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error("{}: not a {wanted}", path.display())]
    Kind { path: PathBuf, wanted: &'static str },
    #[error("{}: belongs to user {found}, not to this one", path.display())]
    Owner { path: PathBuf, found: u32 },
    #[error("{}: others may write to it (mode {mode:04o})", path.display())]
    Writable { path: PathBuf, mode: RawMode },
    #[error("{}: has a second name", path.display())]
    Links { path: PathBuf },
}

/// Whose a file or directory has to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Owner {
    /// The effective user's, with nobody else able to write to it; what others may read is closed to them.
    This,
    /// Whoever's: a copy that is only read.
    Any,
}

/// An open directory.
#[derive(Debug)]
pub(crate) struct Folder {
    fd: OwnedFd,
    path: PathBuf,
    owner: Owner,
}

const BESIDE: OFlags = OFlags::CLOEXEC
    .union(OFlags::NOFOLLOW)
    .union(OFlags::NONBLOCK);

impl Folder {
    /// Opens the directory, making it (0700) and what lies above it where it is not there. Links above it and itself are
    /// followed: where it lies is the operator's choice.
    pub(crate) fn make(path: &Path) -> Result<Self, FolderError> {
        use std::os::unix::fs::DirBuilderExt as _;
        let failed = |source| FolderError::Io {
            path: path.to_owned(),
            source,
        };
        std::fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(path)
            .map_err(failed)?;
        let path = path.canonicalize().map_err(failed)?;
        Self::at(rustix::fs::CWD, path.as_os_str(), path.clone(), Owner::This)
    }

    /// Opens a directory that is there, whoever's it is.
    pub(crate) fn look(path: &Path) -> Result<Self, FolderError> {
        let path = path.canonicalize().map_err(|source| FolderError::Io {
            path: path.to_owned(),
            source,
        })?;
        Self::at(rustix::fs::CWD, path.as_os_str(), path.clone(), Owner::Any)
    }

    fn at(
        beside: BorrowedFd<'_>,
        name: &OsStr,
        path: PathBuf,
        owner: Owner,
    ) -> Result<Self, FolderError> {
        let flags = BESIDE | OFlags::DIRECTORY | OFlags::RDONLY;
        let fd = rustix::fs::openat(beside, name, flags, Mode::empty()).map_err(|error| {
            if matches!(error, rustix::io::Errno::NOTDIR | rustix::io::Errno::LOOP) {
                FolderError::Kind {
                    path: path.clone(),
                    wanted: "directory",
                }
            } else {
                FolderError::Io {
                    path: path.clone(),
                    source: error.into(),
                }
            }
        })?;
        let folder = Self { fd, path, owner };
        folder.checked(folder.fd.as_fd(), &folder.path, 0o700)?;
        Ok(folder)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether something in it can be made: neither its mode nor its file system forbids that.
    pub(crate) fn is_writable(&self) -> bool {
        rustix::fs::access(&self.path, rustix::fs::Access::WRITE_OK).is_ok()
    }

    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }

    /// A directory in this one; none if it is not there.
    pub(crate) fn child(&self, name: &str) -> Result<Option<Self>, FolderError> {
        let path = self.path.join(name);
        match Self::at(self.fd.as_fd(), OsStr::new(name), path, self.owner) {
            Err(FolderError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                Ok(None)
            }
            other => other.map(Some),
        }
    }

    /// A directory in this one, made where it is not there.
    pub(crate) fn make_child(&self, name: &str) -> Result<Self, FolderError> {
        match rustix::fs::mkdirat(&self.fd, name, Mode::RWXU) {
            Ok(()) | Err(rustix::io::Errno::EXIST) => {}
            Err(error) => return Err(self.failed(name, error.into())),
        }
        self.sync()?;
        Self::at(
            self.fd.as_fd(),
            OsStr::new(name),
            self.path.join(name),
            self.owner,
        )
    }

    /// A file that is there, with these flags; none if it is not.
    pub(crate) fn open(&self, name: &str, flags: OFlags) -> Result<Option<File>, FolderError> {
        let path = self.path.join(name);
        match rustix::fs::openat(&self.fd, name, BESIDE | flags, Mode::RUSR | Mode::WUSR) {
            Ok(fd) => {
                let stat = self.checked(fd.as_fd(), &path, 0o600)?;
                if self.owner == Owner::This && stat.st_nlink != 1 {
                    return Err(FolderError::Links { path });
                }
                Ok(Some(File::from(fd)))
            }
            Err(rustix::io::Errno::NOENT) => Ok(None),
            // A link; a pipe that nobody reads; a directory opened for writing.
            Err(
                rustix::io::Errno::LOOP
                | rustix::io::Errno::NXIO
                | rustix::io::Errno::ISDIR
                | rustix::io::Errno::NODEV,
            ) => Err(FolderError::Kind {
                path,
                wanted: "regular file",
            }),
            Err(error) => Err(self.failed(name, error.into())),
        }
    }

    /// A file that is made (0600) where it is not there.
    pub(crate) fn open_or_make(&self, name: &str, flags: OFlags) -> Result<File, FolderError> {
        self.open(name, flags | OFlags::CREATE)?
            .ok_or_else(|| self.failed(name, io::ErrorKind::NotFound.into()))
    }

    /// A new file (0600); one that is there is an error.
    pub(crate) fn create(&self, name: &str, flags: OFlags) -> Result<File, FolderError> {
        self.open_or_make(name, flags | OFlags::EXCL)
    }

    /// What a file has, if it is there and has at most this many bytes.
    pub(crate) fn read(&self, name: &str, limit: u64) -> Result<Option<Vec<u8>>, FolderError> {
        use std::io::Read as _;
        let Some(file) = self.open(name, OFlags::RDONLY)? else {
            return Ok(None);
        };
        let mut bytes = Vec::new();
        file.take(limit.saturating_add(1))
            .read_to_end(&mut bytes)
            .map_err(|source| self.failed(name, source))?;
        if u64::try_from(bytes.len()).is_ok_and(|length| length <= limit) {
            Ok(Some(bytes))
        } else {
            Err(self.failed(name, io::ErrorKind::FileTooLarge.into()))
        }
    }

    /// The names in it.
    pub(crate) fn names(&self) -> Result<Vec<String>, FolderError> {
        let failed = |error: rustix::io::Errno| FolderError::Io {
            path: self.path.clone(),
            source: error.into(),
        };
        let mut names = Vec::new();
        for entry in Dir::read_from(&self.fd).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            if let Ok(name) = entry.file_name().to_str() {
                names.push(name.to_owned());
            }
        }
        Ok(names)
    }

    /// Removes a file; one that is not there is no error.
    pub(crate) fn remove(&self, name: &str) -> Result<(), FolderError> {
        match rustix::fs::unlinkat(&self.fd, name, AtFlags::empty()) {
            Ok(()) | Err(rustix::io::Errno::NOENT) => Ok(()),
            Err(error) => Err(self.failed(name, error.into())),
        }
    }

    /// Its names are on disk.
    pub(crate) fn sync(&self) -> Result<(), FolderError> {
        rustix::fs::fsync(&self.fd).map_err(|error| FolderError::Io {
            path: self.path.clone(),
            source: error.into(),
        })
    }

    /// What stands under a name, links not followed; none if nothing does.
    pub(crate) fn stat(&self, name: &str) -> Result<Option<Stat>, FolderError> {
        match rustix::fs::statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(stat)),
            Err(rustix::io::Errno::NOENT) => Ok(None),
            Err(error) => Err(self.failed(name, error.into())),
        }
    }

    /// Whether a file is there, and is what it should be, without opening it: closing a file that the database has open
    /// would give up the database's locks.
    pub(crate) fn inspect(&self, name: &str) -> Result<bool, FolderError> {
        let Some(stat) = self.stat(name)? else {
            return Ok(false);
        };
        let path = self.path.join(name);
        if self.judged(&stat, &path, 0o600)? {
            rustix::fs::chmodat(&self.fd, name, Mode::from_raw_mode(0o600), AtFlags::empty())
                .map_err(|error| self.failed(name, error.into()))?;
        }
        if self.owner == Owner::This && stat.st_nlink != 1 {
            return Err(FolderError::Links { path });
        }
        Ok(true)
    }

    pub(crate) fn failed(&self, name: &str, source: io::Error) -> FolderError {
        FolderError::Io {
            path: self.path.join(name),
            source,
        }
    }

    /// `mode` is what it should have: 0700 says that it has to be a directory.
    fn checked(&self, fd: BorrowedFd<'_>, path: &Path, mode: RawMode) -> Result<Stat, FolderError> {
        let failed = |error: rustix::io::Errno| FolderError::Io {
            path: path.to_owned(),
            source: error.into(),
        };
        let stat = rustix::fs::fstat(fd).map_err(failed)?;
        if self.judged(&stat, path, mode)? {
            // 0600 and 0700.
            rustix::fs::fchmod(fd, Mode::from_raw_mode(mode)).map_err(failed)?;
        }
        Ok(stat)
    }

    /// Whether others can read what they should not.
    fn judged(&self, stat: &Stat, path: &Path, mode: RawMode) -> Result<bool, FolderError> {
        let (wanted, name) = if mode == 0o700 {
            (FileType::Directory, "directory")
        } else {
            (FileType::RegularFile, "regular file")
        };
        if FileType::from_raw_mode(stat.st_mode) != wanted {
            return Err(FolderError::Kind {
                path: path.to_owned(),
                wanted: name,
            });
        }
        if self.owner == Owner::Any {
            return Ok(false);
        }
        if stat.st_uid != rustix::process::geteuid().as_raw() {
            return Err(FolderError::Owner {
                path: path.to_owned(),
                found: stat.st_uid,
            });
        }
        let found = stat.st_mode & 0o777;
        if found & 0o022 != 0 {
            return Err(FolderError::Writable {
                path: path.to_owned(),
                mode: found,
            });
        }
        Ok(found & 0o077 != 0)
    }
}
