//! The directories that a list of changes works in, opened beneath their mounts without following a link.
//!
//! A directory is looked up once and its handle held. Of many directories only the first handles are: one that is
//! opened again must be the very same directory, or the change is in conflict.

use std::collections::HashMap;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use rustix::fs::{AtFlags, Dev, Mode, OFlags};
use rustix::io::Errno;

use super::steps::Steps;
use super::{FsError, from_errno};
use crate::OwnFiles;
use crate::fs::{Symlinks, open, walk};
use crate::own_files::Opened;

/// Handles that are held, of the thousand that systems often grant a process.
const HELD: usize = 256;

/// How a directory is opened that names are made and synced in.
const WORK: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::CLOEXEC);

/// Permission bits of the directories that a new file needs, before the umask.
const NEW_DIRECTORY: Mode = Mode::from_raw_mode(0o755);

/// How files and names are put on the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Syncing {
    /// Each file and each directory by itself.
    Each,
    /// The file system of a mount as a whole, which takes less time where there are many.
    Whole,
}

impl Syncing {
    /// What suits this number of changes.
    pub(super) fn of(changes: usize) -> Syncing {
        if cfg!(target_os = "linux") && changes > FEW {
            Syncing::Whole
        } else {
            Syncing::Each
        }
    }
}

/// Changes whose files are put on the disk one by one.
const FEW: usize = 64;

/// Which of the [`Directories`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Index(usize);

/// See the module.
#[derive(Debug)]
pub(super) struct Directories {
    mounts: Vec<OwnedFd>,
    own: Arc<OwnFiles>,
    known: Vec<Directory>,
    by_path: HashMap<(usize, String), Index>,
}

#[derive(Debug)]
struct Directory {
    mount: usize,
    path: String,
    identity: Identity,
    handle: Option<OwnedFd>,
}

/// Device and inode.
type Identity = (Dev, u64);

/// The handle of a directory.
#[derive(Debug)]
pub(super) enum Handle<'directories> {
    Held(&'directories OwnedFd),
    Opened(OwnedFd),
}

impl AsFd for Handle<'_> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Handle::Held(handle) => handle.as_fd(),
            Handle::Opened(handle) => handle.as_fd(),
        }
    }
}

impl Directories {
    /// The directories beneath these mounts, none of which is known yet.
    pub(super) fn new(mounts: Vec<OwnedFd>, own: Arc<OwnFiles>) -> Directories {
        Directories {
            mounts,
            own,
            known: Vec::new(),
            by_path: HashMap::new(),
        }
    }

    /// The directory at `path` below a mount; `""` is the mount itself.
    ///
    /// # Errors
    /// [`FsError::NotFound`] also where something on the way is no directory; [`FsError::Symlink`];
    /// [`FsError::Denied`] for what is hydrant's own; what the system says.
    pub(super) fn find(&mut self, mount: usize, path: &str) -> Result<Index, FsError> {
        let key = (mount, path.to_owned());
        if let Some(index) = self.by_path.get(&key) {
            return Ok(*index);
        }
        let handle = open::resolve(self.mount(mount)?, path, WORK, Symlinks::Refuse)?;
        let identity = identity(&handle)?;
        self.own(mount)?.check(&handle)?;
        let index = Index(self.known.len());
        self.known.push(Directory {
            mount,
            path: path.to_owned(),
            identity,
            handle: (index.0 < HELD).then_some(handle),
        });
        self.by_path.insert(key, index);
        Ok(index)
    }

    /// The directories that have to be made so that there is one at `path`, the outermost first.
    ///
    /// # Errors
    /// [`FsError::NotDirectory`], [`FsError::Symlink`], [`FsError::Denied`] of what is hydrant's own, and what the system
    /// says.
    pub(super) fn missing(&self, mount: usize, path: &str) -> Result<Vec<String>, FsError> {
        let top = self.mount(mount)?;
        if path.is_empty() {
            return Err(FsError::NotFound);
        }
        let mut held: Option<OwnedFd> = None;
        let mut ends = path
            .match_indices('/')
            .map(|(end, _)| end)
            .chain([path.len()]);
        let mut begin = 0;
        while let Some(end) = ends.next() {
            let from = held.as_ref().map_or(top, AsFd::as_fd);
            let name = path.get(begin..end).unwrap_or_default();
            match walk::step(from, name, walk::PASS | OFlags::DIRECTORY | OFlags::CLOEXEC) {
                Ok(directory) => held = Some(directory),
                Err(FsError::NotFound) => {
                    let own = self.own(mount)?;
                    own.check(from)?;
                    own.check_name(from, name)?;
                    match rustix::fs::statat(from, name, AtFlags::SYMLINK_NOFOLLOW) {
                        Ok(_) => return Err(FsError::NotDirectory),
                        Err(Errno::NOENT) => {}
                        // No name can be this long.
                        Err(Errno::NAMETOOLONG) => return Err(FsError::InvalidPath),
                        Err(errno) => return Err(from_errno(errno)),
                    }
                    let prefix = |end| path.get(..end).unwrap_or_default().to_owned();
                    return Ok([end].into_iter().chain(ends).map(prefix).collect());
                }
                Err(error) => return Err(error),
            }
            begin = end.saturating_add(1);
        }
        Ok(Vec::new())
    }

    /// Makes the directory at `path`, whose parent is there; whether this made it, or somebody else had.
    ///
    /// # Errors
    /// As [`Directories::find`].
    pub(super) fn make(
        &mut self,
        mount: usize,
        path: &str,
        steps: &Steps,
    ) -> Result<bool, FsError> {
        let (parent, name) = path.rsplit_once('/').unwrap_or(("", path));
        let parent = self.find(mount, parent)?;
        steps.pass()?;
        match rustix::fs::mkdirat(self.handle(parent)?, name, NEW_DIRECTORY) {
            Ok(()) => Ok(true),
            Err(Errno::EXIST) => Ok(false),
            Err(errno) => Err(from_errno(errno)),
        }
    }

    /// Removes the directory at `path` if it is empty. One that is gone, or in use by now, is left alone.
    pub(super) fn unmake(&mut self, mount: usize, path: &str, steps: &Steps) {
        let (parent, name) = path.rsplit_once('/').unwrap_or(("", path));
        let Ok(parent) = self.find(mount, parent) else {
            return;
        };
        steps.mark();
        if let Ok(handle) = self.handle(parent) {
            let _ = rustix::fs::unlinkat(handle, name, AtFlags::REMOVEDIR);
        }
    }

    /// A handle for work in a directory.
    ///
    /// # Errors
    /// [`FsError::Conflict`] if another directory has its path by now; what the system says.
    pub(super) fn handle(&self, index: Index) -> Result<Handle<'_>, FsError> {
        let directory = self.known.get(index.0).ok_or(FsError::Io)?;
        if let Some(handle) = &directory.handle {
            return Ok(Handle::Held(handle));
        }
        let mount = self.mount(directory.mount)?;
        let handle = open::resolve(mount, &directory.path, WORK, Symlinks::Refuse)?;
        if identity(&handle)? != directory.identity {
            return Err(FsError::Conflict);
        }
        Ok(Handle::Opened(handle))
    }

    /// Puts the names in all directories on the disk, with [`Syncing::Whole`] the files in them, too.
    ///
    /// # Errors
    /// What the system says. A directory that is gone or was replaced has nothing to sync.
    pub(super) fn sync(&self, how: Syncing) -> Result<(), FsError> {
        #[cfg(target_os = "linux")]
        if how == Syncing::Whole {
            return self.sync_devices();
        }
        #[cfg(not(target_os = "linux"))]
        let _ = how;
        for index in 0..self.known.len() {
            match self.handle(Index(index)) {
                Ok(handle) => match rustix::fs::fsync(handle) {
                    // Some file systems sync files only.
                    Ok(()) | Err(Errno::INVAL) => {}
                    Err(errno) => return Err(from_errno(errno)),
                },
                Err(FsError::Conflict | FsError::NotFound) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Other file systems may be mounted below a mount.
    #[cfg(target_os = "linux")]
    fn sync_devices(&self) -> Result<(), FsError> {
        let mut synced = std::collections::HashSet::new();
        for (index, directory) in self.known.iter().enumerate() {
            let (device, _) = directory.identity;
            if synced.contains(&device) {
                continue;
            }
            match self.handle(Index(index)) {
                Ok(handle) => rustix::fs::syncfs(handle).map_err(from_errno)?,
                Err(FsError::Conflict | FsError::NotFound) => continue,
                Err(error) => return Err(error),
            }
            synced.insert(device);
        }
        Ok(())
    }

    /// Refuses to change what has this name in a directory, if it is hydrant's own.
    ///
    /// # Errors
    /// [`FsError::Denied`], or what the system says.
    pub(super) fn check_name(&self, index: Index, name: &str) -> Result<(), FsError> {
        let directory = self.known.get(index.0).ok_or(FsError::Io)?;
        let own = self.own(directory.mount)?;
        own.check_name(self.handle(index)?, name)
    }

    fn own(&self, mount: usize) -> Result<Opened<'_>, FsError> {
        self.own.beneath(self.mount(mount)?)
    }

    fn mount(&self, mount: usize) -> Result<BorrowedFd<'_>, FsError> {
        self.mounts.get(mount).map(AsFd::as_fd).ok_or(FsError::Io)
    }
}

pub(super) fn identity(directory: impl AsFd) -> Result<Identity, FsError> {
    let stat = rustix::fs::fstat(directory).map_err(from_errno)?;
    Ok((stat.st_dev, stat.st_ino))
}
