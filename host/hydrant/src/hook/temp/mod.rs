//! The folder of files for subagents, and the one file of a run.
//!
//! The folder lies where everybody may write, so its name proves nothing: it is opened without following a link, must be
//! this user's own, and from then on only the handle counts.

mod cleanup;

use std::fs::{DirBuilder, File};
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, fchmod, fstat, openat, statat, unlinkat};
use rustix::io::Errno;

pub use self::cleanup::CleanupLimits;

/// How many names are tried for a new file.
const TRIES: usize = 16;
/// Random characters of a name.
const RANDOM_LENGTH: usize = 8;

/// The folder, open.
#[derive(Debug)]
pub struct TempFolder {
    path: PathBuf,
    handle: OwnedFd,
}

/// Why there is no file.
#[derive(Debug, thiserror::Error)]
#[error("temp file write failed: {}: {reason}", path.display())]
pub struct TempError {
    path: PathBuf,
    reason: String,
}

/// What is suggested where the folder is somebody else's.
const WAY_OUT: &str = "set HYDRANT_TMPDIR to a directory of your own";

impl TempFolder {
    /// Opens the folder, made with mode 0700 if it is missing.
    ///
    /// # Errors
    /// [`TempError`]: it is a link, no directory, another user's, or the system refuses.
    pub fn make(path: &Path) -> Result<Self, TempError> {
        let path = plain(path)?;
        let made = DirBuilder::new().recursive(true).mode(0o700).create(&path);
        match made {
            // What is there instead is for opening to say.
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                match rustix::fs::lstat(&path) {
                    Ok(_) => {}
                    Err(_) => return Err(TempError::new(&path, error)),
                }
            }
            _ => {}
        }
        Self::open_plain(path)
    }

    /// Opens the folder if there is one.
    ///
    /// # Errors
    /// As [`make`](Self::make), and that it is missing.
    pub fn open(path: &Path) -> Result<Self, TempError> {
        Self::open_plain(plain(path)?)
    }

    fn open_plain(path: PathBuf) -> Result<Self, TempError> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let handle = openat(CWD, &path, flags, Mode::empty())
            .map_err(|errno| TempError::new(&path, unsuitable(&path, errno)))?;
        let metadata = fstat(&handle).map_err(|errno| TempError::new(&path, errno))?;
        if metadata.st_uid != rustix::process::geteuid().as_raw() {
            let reason = format!("it belongs to another user; {WAY_OUT}");
            return Err(TempError::new(&path, reason));
        }
        // Others could replace what is in it.
        if Mode::from_raw_mode(metadata.st_mode).intersects(Mode::WGRP | Mode::WOTH) {
            fchmod(&handle, Mode::RWXU).map_err(|errno| TempError::new(&path, errno))?;
        }
        Ok(Self { path, handle })
    }

    /// The path of a file in this folder.
    #[must_use]
    pub fn path_of(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// A random name that no file has yet.
    ///
    /// # Errors
    /// [`TempError`]: sixteen names were taken, or the system has no random numbers.
    pub fn free_name(&self) -> Result<String, TempError> {
        self.free_name_of(random_name)
    }

    fn free_name_of(
        &self,
        mut name: impl FnMut() -> Result<String, getrandom::Error>,
    ) -> Result<String, TempError> {
        for _ in 0..TRIES {
            let name = name().map_err(|error| TempError::new(&self.path, error))?;
            match statat(&self.handle, &name, AtFlags::SYMLINK_NOFOLLOW) {
                Err(Errno::NOENT) => return Ok(name),
                Err(errno) => return Err(TempError::new(&self.path_of(&name), errno)),
                Ok(_) => {}
            }
        }
        let reason = format!("{TRIES} names in a row were taken");
        Err(TempError::new(&self.path, reason))
    }

    /// Writes a new file completely, or leaves none. `Ok(false)`: the name is taken meanwhile.
    ///
    /// # Errors
    /// [`TempError`]: the system refuses.
    pub fn write(&self, name: &str, content: &[u8]) -> Result<bool, TempError> {
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = match openat(&self.handle, name, flags, Mode::RUSR | Mode::WUSR) {
            Ok(file) => File::from(file),
            Err(Errno::EXIST) => return Ok(false),
            Err(errno) => return Err(TempError::new(&self.path_of(name), errno)),
        };
        match fill(file, content) {
            Ok(()) => Ok(true),
            Err(error) => {
                let _ = unlinkat(&self.handle, name, AtFlags::empty());
                Err(TempError::new(&self.path_of(name), error))
            }
        }
    }

    /// Whether a regular file of this name is there.
    #[must_use]
    pub fn holds(&self, name: &str) -> bool {
        statat(&self.handle, name, AtFlags::SYMLINK_NOFOLLOW)
            .is_ok_and(|found| FileType::from_raw_mode(found.st_mode) == FileType::RegularFile)
    }
}

impl TempError {
    fn new(path: &Path, reason: impl ToString) -> Self {
        Self {
            path: path.to_owned(),
            reason: reason.to_string(),
        }
    }
}

/// Without a slash or a dot at the end, which would make the system follow a link in the last place.
fn plain(path: &Path) -> Result<PathBuf, TempError> {
    let plain: PathBuf = path.components().collect();
    let ends_with_name = matches!(plain.components().next_back(), Some(Component::Normal(_)));
    if plain.is_absolute() && ends_with_name {
        Ok(plain)
    } else {
        Err(TempError::new(path, "it must be an absolute path"))
    }
}

/// Why `path` cannot be opened as a folder, in words.
fn unsuitable(path: &Path, errno: Errno) -> String {
    match rustix::fs::lstat(path).map(|found| FileType::from_raw_mode(found.st_mode)) {
        Ok(FileType::Symlink) => format!("it is a symbolic link; {WAY_OUT}"),
        Ok(kind) if kind != FileType::Directory => format!("it is not a directory; {WAY_OUT}"),
        _ => errno.to_string(),
    }
}

/// Writes everything and makes sure that closing cannot lose it.
fn fill(mut file: File, content: &[u8]) -> io::Result<()> {
    file.write_all(content)?;
    // A file system of another machine tells at close that it has no room, where nobody can listen; this asks
    // first. On a local disk closing cannot fail, and asking would cost a write to the disk.
    if is_remote(&file)? {
        file.sync_data()?;
    }
    Ok(())
}

#[cfg(target_os = "linux")]
fn is_remote(file: &impl AsFd) -> io::Result<bool> {
    /// NFS, SMB, CIFS, SMB2, FUSE, AFS, Ceph, 9P.
    const REMOTE: [u64; 8] = [
        0x6969,
        0x517b,
        0xff53_4d42,
        0xfe53_4d42,
        0x6573_5546,
        0x5346_414f,
        0x00c3_6400,
        0x0102_1997,
    ];
    let kind = rustix::fs::fstatfs(file)?.f_type;
    // Some of these numbers are negative where the type is narrow.
    Ok(REMOTE
        .iter()
        .any(|remote| u64::try_from(kind).is_ok_and(|kind| kind & 0xffff_ffff == *remote)))
}

#[cfg(not(target_os = "linux"))]
fn is_remote(_: &impl AsFd) -> io::Result<bool> {
    Ok(true)
}

/// `hydrate_` and eight random characters of `[a-z0-9]`.
fn random_name() -> Result<String, getrandom::Error> {
    const ALPHABET: &[u8; 36] = b"abcdefghijklmnopqrstuvwxyz0123456789";
    let mut name = String::from("hydrate_");
    let mut left = RANDOM_LENGTH;
    while left > 0 {
        let mut bytes = [0; 2 * RANDOM_LENGTH];
        getrandom::fill(&mut bytes)?;
        // 252 is seven times the alphabet: what is above would make some characters likelier.
        for byte in bytes.into_iter().filter(|byte| *byte < 252).take(left) {
            if let Some(character) = ALPHABET.get(usize::from(byte % 36)) {
                name.push(char::from(*character));
                left = left.saturating_sub(1);
            }
        }
    }
    name.push_str(".md");
    Ok(name)
}

#[cfg(test)]
mod tests;
