//! A private folder of the cache, and the files in it.
//!
//! The folder is opened once and checked on that handle; every file is opened, written and renamed relative
//! to it. So what was checked is what is used, whatever the paths name by then. Links are never followed.
//! Folder and files must belong to the user who runs hydrant and be writable by nobody else, and a file must
//! have no second name: anything else is refused and said.

use std::fs::{self, File, Metadata};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{AtFlags, CWD, Dir, Mode, OFlags, openat, renameat, statat, unlinkat};
use rustix::io::{Errno, retry_on_intr};

/// Compiled code of one component, at most; more is not from us.
const MAX_BYTES: u64 = 512 * 1024 * 1024;
/// Group and others may not write.
const WRITABLE_BY_OTHERS: u32 = 0o022;
/// Names tried for one unfinished file. Crashed processes with our number may have left some of them behind.
const MAX_ATTEMPTS: usize = 128;

/// Tells apart the unfinished files of all threads of this process.
static UNFINISHED: AtomicU64 = AtomicU64::new(0);

/// Why the cache is not used; never an error for the caller, who can always compile.
#[derive(Debug, thiserror::Error)]
pub enum CacheError {
    /// The folder or file belongs to somebody else.
    #[error("{path} belongs to user {owner}, not to user {user}")]
    ForeignOwner {
        /// The folder or file.
        path: PathBuf,
        /// Who owns it.
        owner: u32,
        /// Who runs hydrant.
        user: u32,
    },
    /// The folder or file can be changed by others.
    #[error("{path} has mode {mode:03o}: group and others must not be able to write")]
    Writable {
        /// The folder or file.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// The file has other names: it may be the code of another component.
    #[error("{path} has {links} names: compiled code must have one")]
    Linked {
        /// The file.
        path: PathBuf,
        /// How many hard links it has.
        links: u64,
    },
    /// Not a folder, or not a regular file.
    #[error("{path} is not what it should be")]
    WrongType {
        /// The folder or file.
        path: PathBuf,
    },
    /// The file system says no.
    #[error("{path}: {source}")]
    Io {
        /// The folder or file.
        path: PathBuf,
        /// What it says.
        source: io::Error,
    },
}

/// An open folder that was found to be private.
pub(super) struct Folder {
    path: PathBuf,
    handle: File,
}

impl Folder {
    /// Opens the folder; none if there is none.
    pub(super) fn open(path: &Path) -> Result<Option<Self>, CacheError> {
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = retry_on_intr(|| openat(CWD, path, flags, Mode::empty()));
        let Some(handle) = found(path, opened.map(File::from))? else {
            return Ok(None);
        };
        let metadata = handle.metadata().map_err(|error| failed(path, error))?;
        if !metadata.is_dir() {
            return Err(wrong_type(path));
        }
        check_private(path, &metadata)?;
        Ok(Some(Self {
            path: path.to_owned(),
            handle,
        }))
    }

    /// Opens the folder, and makes it first if there is none.
    pub(super) fn create(path: &Path) -> Result<Self, CacheError> {
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(path)
            .map_err(|error| failed(path, error))?;
        Self::open(path)?.ok_or_else(|| failed(path, io::ErrorKind::NotFound))
    }

    /// Opens the file `name` for reading; none if there is none.
    pub(super) fn read(&self, name: &str) -> Result<Option<File>, CacheError> {
        let path = self.path.join(name);
        // Without NONBLOCK, opening a FIFO would wait for somebody to write to it.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let opened = retry_on_intr(|| openat(&self.handle, name, flags, Mode::empty()));
        let Some(file) = found(&path, opened.map(File::from))? else {
            return Ok(None);
        };
        let metadata = file.metadata().map_err(|error| failed(&path, error))?;
        if !metadata.is_file() || metadata.len() > MAX_BYTES {
            return Err(wrong_type(&path));
        }
        check_private(&path, &metadata)?;
        match metadata.nlink() {
            1 => Ok(Some(file)),
            // Replaced or removed since it was opened.
            0 => Ok(None),
            links => Err(CacheError::Linked { path, links }),
        }
    }

    /// Writes the file `name`, whole or not at all; one that exists is replaced.
    pub(super) fn write(&self, name: &str, bytes: &[u8]) -> Result<(), CacheError> {
        // Else a crash of the machine could leave the name with nothing, or half of it, behind it.
        self.replace(name, bytes, File::sync_all)
    }

    /// As [`write`](Self::write), but for what costs less to make again than to bring to the disk: after a crash of the
    /// machine it may be there in part, which its seal shows.
    pub(super) fn write_unsynced(&self, name: &str, bytes: &[u8]) -> Result<(), CacheError> {
        self.replace(name, bytes, |_| Ok(()))
    }

    fn replace(
        &self,
        name: &str,
        bytes: &[u8],
        sync: impl FnOnce(&File) -> io::Result<()>,
    ) -> Result<(), CacheError> {
        let (unfinished, mut file) = self
            .create_unfinished(name)
            .map_err(|error| failed(&self.path, error))?;
        let written = file
            .write_all(bytes)
            .and_then(|()| sync(&file))
            .and_then(|()| Ok(renameat(&self.handle, &unfinished, &self.handle, name)?));
        written.map_err(|error| {
            let _ = unlinkat(&self.handle, &unfinished, AtFlags::empty());
            failed(&self.path.join(name), error)
        })
    }

    /// Writes the file `name` unless there is one, whole or not at all.
    pub(super) fn write_new(&self, name: &str, bytes: &[u8]) -> Result<(), CacheError> {
        let (unfinished, mut file) = self
            .create_unfinished(name)
            .map_err(|error| self.failed(name, error))?;
        let written = file
            .write_all(bytes)
            .and_then(|()| file.sync_all())
            .and_then(|()| Ok(rename_new(&self.handle, &unfinished, name)?));
        let _ = unlinkat(&self.handle, &unfinished, AtFlags::empty());
        match written {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            written => written.map_err(|error| self.failed(name, error)),
        }
    }

    /// Removes the oldest files when there are more than `most`, so that `left` stay. Names of unfinished files count
    /// like others: those of processes that have crashed go with the time.
    pub(super) fn trim(&self, most: usize, left: usize) -> Result<(), CacheError> {
        let failed = |error: Errno| failed(&self.path, error);
        let mut names = Vec::new();
        for entry in Dir::read_from(&self.handle).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            if ![&b"."[..], b".."].contains(&entry.file_name().to_bytes()) {
                names.push(entry.file_name().to_owned());
            }
        }
        if names.len() <= most {
            return Ok(());
        }
        let age = |name: std::ffi::CString| {
            let stat = statat(&self.handle, &name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
            Some((stat.st_mtime, stat.st_mtime_nsec, name))
        };
        // One that is gone by now was removed by another process.
        let mut files: Vec<_> = names.into_iter().filter_map(age).collect();
        files.sort();
        let surplus = files.len().saturating_sub(left);
        for (.., name) in files.into_iter().take(surplus) {
            let _ = unlinkat(&self.handle, &name, AtFlags::empty());
        }
        Ok(())
    }

    /// The error of the file `name`.
    pub(super) fn failed(&self, name: &str, source: impl Into<io::Error>) -> CacheError {
        failed(&self.path.join(name), source)
    }

    /// A new file that nobody else writes to, and its name.
    fn create_unfinished(&self, name: &str) -> io::Result<(String, File)> {
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        for _ in 0..MAX_ATTEMPTS {
            let number = UNFINISHED.fetch_add(1, Ordering::Relaxed);
            let unfinished = format!("{name}.{}-{number}.tmp", std::process::id());
            let mode = Mode::RUSR | Mode::WUSR;
            match retry_on_intr(|| openat(&self.handle, &unfinished, flags, mode)) {
                Ok(file) => return Ok((unfinished, File::from(file))),
                Err(Errno::EXIST) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }
}

/// Renames within a folder, onto a name that must be free.
#[cfg(any(target_os = "linux", target_vendor = "apple"))]
fn rename_new(folder: &File, from: &str, to: &str) -> rustix::io::Result<()> {
    use rustix::fs::{RenameFlags, renameat_with};
    renameat_with(folder, from, folder, to, RenameFlags::NOREPLACE)
}

#[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
fn rename_new(folder: &File, from: &str, to: &str) -> rustix::io::Result<()> {
    rustix::fs::linkat(folder, from, folder, to, AtFlags::empty())
}

/// Sorts what opening said: a link, or a file in place of a folder, is of the wrong type.
fn found(path: &Path, opened: rustix::io::Result<File>) -> Result<Option<File>, CacheError> {
    match opened {
        Ok(file) => Ok(Some(file)),
        Err(Errno::NOENT) => Ok(None),
        Err(Errno::LOOP | Errno::NOTDIR) => Err(wrong_type(path)),
        Err(error) => Err(failed(path, error)),
    }
}

fn check_private(path: &Path, metadata: &Metadata) -> Result<(), CacheError> {
    let user = rustix::process::geteuid().as_raw();
    if metadata.uid() != user {
        return Err(CacheError::ForeignOwner {
            path: path.to_owned(),
            owner: metadata.uid(),
            user,
        });
    }
    let mode = metadata.permissions().mode() & 0o777;
    if mode & WRITABLE_BY_OTHERS != 0 {
        return Err(CacheError::Writable {
            path: path.to_owned(),
            mode,
        });
    }
    Ok(())
}

fn wrong_type(path: &Path) -> CacheError {
    CacheError::WrongType {
        path: path.to_owned(),
    }
}

fn failed(path: &Path, source: impl Into<io::Error>) -> CacheError {
    CacheError::Io {
        path: path.to_owned(),
        source: source.into(),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::os::unix::fs::symlink;

    use super::*;

    const NAME: &str = "code.cwasm";

    fn filled(parent: &Path) -> Folder {
        let folder = Folder::create(&parent.join("hydrant")).unwrap();
        folder.write(NAME, b"code").unwrap();
        folder
    }

    fn content(folder: &Folder, name: &str) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut file = folder.read(name).unwrap().unwrap();
        file.read_to_end(&mut bytes).unwrap();
        bytes
    }

    fn names(folder: &Folder) -> Vec<String> {
        let entries = fs::read_dir(&folder.path).unwrap();
        let mut names: Vec<_> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    /// Makes the next names for unfinished files taken, as a crashed process with our number would have.
    fn leave_behind(folder: &Folder, name: &str) -> Vec<String> {
        let next = UNFINISHED.load(Ordering::Relaxed);
        let pid = std::process::id();
        let left: Vec<_> = (next..next + 50)
            .map(|number| format!("{name}.{pid}-{number}.tmp"))
            .collect();
        for name in &left {
            fs::write(folder.path.join(name), "half").unwrap();
        }
        left
    }

    #[test]
    fn threads_that_write_the_same_name_at_once_all_succeed() {
        let parent = tempfile::tempdir().unwrap();
        let folder = filled(parent.path());
        let code = vec![7; 1 << 20];
        let barrier = std::sync::Barrier::new(8);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    barrier.wait();
                    folder.write(NAME, &code).unwrap();
                });
            }
        });
        assert_eq!(content(&folder, NAME), code);
        assert_eq!(names(&folder), [NAME]);
    }

    #[test]
    fn what_a_crashed_process_left_behind_is_neither_in_the_way_nor_touched() {
        let parent = tempfile::tempdir().unwrap();
        let folder = filled(parent.path());
        let left = leave_behind(&folder, NAME);
        folder.write(NAME, b"new").unwrap();
        assert_eq!(content(&folder, NAME), b"new");
        for name in left {
            assert_eq!(content(&folder, &name), b"half");
        }
    }

    #[test]
    fn a_write_that_fails_removes_what_it_made_and_nothing_else() {
        let parent = tempfile::tempdir().unwrap();
        let folder = filled(parent.path());
        fs::create_dir(folder.path.join("taken")).unwrap();
        leave_behind(&folder, "taken");
        let before = names(&folder);
        folder.write("taken", b"new").unwrap_err();
        assert_eq!(names(&folder), before);
    }

    #[test]
    fn of_too_many_files_the_oldest_go() {
        let parent = tempfile::tempdir().unwrap();
        let folder = filled(parent.path());
        for number in 0..9_u32 {
            let name = format!("{number}");
            folder.write_unsynced(&name, b"new").unwrap();
            let file = File::open(folder.path.join(&name)).unwrap();
            let age = std::time::Duration::from_secs(60 * u64::from(number + 1));
            file.set_modified(std::time::SystemTime::now() - age)
                .unwrap();
        }
        folder.trim(10, 3).unwrap();
        assert_eq!(names(&folder).len(), 10);
        folder.trim(9, 3).unwrap();
        assert_eq!(names(&folder), ["0", "1", NAME]);
    }

    #[test]
    fn a_folder_that_is_swapped_after_the_check_is_not_used() {
        let parent = tempfile::tempdir().unwrap();
        let folder = filled(parent.path());
        let moved = parent.path().join("moved");
        fs::rename(&folder.path, &moved).unwrap();
        fs::create_dir(&folder.path).unwrap();
        fs::write(folder.path.join(NAME), "planted").unwrap();
        assert_eq!(content(&folder, NAME), b"code");
        folder.write(NAME, b"new").unwrap();
        assert_eq!(fs::read(moved.join(NAME)).unwrap(), b"new");
        assert_eq!(fs::read(folder.path.join(NAME)).unwrap(), b"planted");
    }

    #[test]
    fn a_folder_that_is_a_link_or_a_file_is_refused() {
        let parent = tempfile::tempdir().unwrap();
        let folder = filled(parent.path());
        let link = parent.path().join("link");
        symlink(&folder.path, &link).unwrap();
        for path in [link, folder.path.join(NAME)] {
            let refused = Folder::open(&path);
            assert!(
                matches!(refused, Err(CacheError::WrongType { .. })),
                "{path:?}"
            );
        }
    }

    #[test]
    fn a_file_with_a_second_name_is_refused() {
        let parent = tempfile::tempdir().unwrap();
        let folder = filled(parent.path());
        fs::hard_link(folder.path.join(NAME), folder.path.join("other.cwasm")).unwrap();
        for name in [NAME, "other.cwasm"] {
            let refused = folder.read(name);
            assert!(matches!(refused, Err(CacheError::Linked { links: 2, .. })));
        }
    }

    #[test]
    fn links_folders_and_fifos_are_no_files_and_nothing_waits_for_them() {
        let parent = tempfile::tempdir().unwrap();
        let folder = filled(parent.path());
        symlink(NAME, folder.path.join("link")).unwrap();
        fs::create_dir(folder.path.join("folder")).unwrap();
        let fifo = rustix::fs::FileType::Fifo;
        rustix::fs::mknodat(&folder.handle, "fifo", fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        for name in ["link", "folder", "fifo"] {
            let refused = folder.read(name);
            assert!(
                matches!(refused, Err(CacheError::WrongType { .. })),
                "{name}"
            );
        }
        assert!(folder.read("absent").unwrap().is_none());
    }
}
