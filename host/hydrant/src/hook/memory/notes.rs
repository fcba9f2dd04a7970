//! The notes of a directory.
//!
//! No link is followed anywhere below it, and nothing but regular files is opened.

use std::ffi::CString;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::Instant;

use rustix::fs::{CWD, Dir, FileType, Mode, OFlags, openat};
use rustix::io::Errno;

use super::passages::passages;
use super::{MemoryError, MemorySource, Passage, bm25};

/// Files, bytes of one, bytes of all.
const MAX_FILES: usize = 2000;
const MAX_FILE_BYTES: u64 = 256 * 1024;
const MAX_BYTES: usize = 16 * 1024 * 1024;
/// Directories below directories.
const MAX_DEPTH: usize = 16;
/// Entries of all directories, whatever they are.
const MAX_ENTRIES: usize = 50_000;

/// `.md` and `.txt` files of a directory, which need not be there.
#[derive(Debug)]
pub struct Notes {
    directory: PathBuf,
}

impl Notes {
    /// The notes of `directory`.
    #[must_use]
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        Self {
            directory: directory.into(),
        }
    }
}

impl MemorySource for Notes {
    fn search(
        &self,
        query: &str,
        limit: usize,
        deadline: Instant,
    ) -> Result<Vec<Passage>, MemoryError> {
        let root = match open(CWD, &self.directory, OFlags::DIRECTORY) {
            Ok(root) => root,
            // Missing is not an error.
            Err(Errno::NOENT) => return Ok(Vec::new()),
            Err(errno) => {
                let directory = self.directory.display();
                return Err(MemoryError::Unreadable(format!("{directory}: {errno}")));
            }
        };
        let mut reading = Reading {
            deadline,
            files: 0,
            bytes: 0,
            entries: 0,
            passages: Vec::new(),
        };
        reading.directory(&root, Path::new(""), 0)?;
        Ok(bm25::best(reading.passages, query, limit))
    }
}

struct Reading {
    deadline: Instant,
    files: usize,
    bytes: usize,
    entries: usize,
    /// Source and text.
    passages: Vec<(String, String)>,
}

impl Reading {
    /// Files before directories, both in the order of their names. What cannot be read is passed over.
    fn directory(
        &mut self,
        directory: &OwnedFd,
        name: &Path,
        depth: usize,
    ) -> Result<(), MemoryError> {
        let Ok(entries) = Dir::read_from(directory) else {
            return Ok(());
        };
        let (mut files, mut directories) = (Vec::new(), Vec::new());
        for entry in entries.flatten() {
            self.entries = self.entries.saturating_add(1);
            if self.entries > MAX_ENTRIES {
                break;
            }
            let entry_name = entry.file_name();
            let bytes = entry_name.to_bytes();
            match entry.file_type() {
                FileType::RegularFile | FileType::Unknown if is_note(bytes) => {
                    files.push(entry_name.to_owned());
                }
                FileType::Directory | FileType::Unknown if !bytes.starts_with(b".") => {
                    directories.push(entry_name.to_owned());
                }
                _ => {}
            }
        }
        files.sort();
        directories.sort();
        for file in files {
            if Instant::now() >= self.deadline {
                return Err(MemoryError::TooSlow);
            }
            if self.files >= MAX_FILES || self.bytes >= MAX_BYTES {
                return Ok(());
            }
            if let Ok(text) = read(directory, &file) {
                self.files = self.files.saturating_add(1);
                self.bytes = self.bytes.saturating_add(text.len());
                let source = name.join(path_of(&file)).to_string_lossy().into_owned();
                let passages = passages(&text).into_iter();
                self.passages
                    .extend(passages.map(|passage| (source.clone(), passage)));
            }
        }
        if depth < MAX_DEPTH {
            for child in directories {
                let path = path_of(&child);
                if let Ok(opened) = open(directory, &path, OFlags::DIRECTORY) {
                    self.directory(&opened, &name.join(path), depth.saturating_add(1))?;
                }
            }
        }
        Ok(())
    }
}

fn is_note(name: &[u8]) -> bool {
    name.ends_with(b".md") || name.ends_with(b".txt")
}

fn path_of(name: &CString) -> PathBuf {
    use std::os::unix::ffi::OsStrExt;
    PathBuf::from(std::ffi::OsStr::from_bytes(name.to_bytes()))
}

fn open(parent: impl rustix::fd::AsFd, path: &Path, kind: OFlags) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC | kind;
    openat(parent, path, flags, Mode::empty())
}

/// Of a longer file the beginning.
fn read(directory: &OwnedFd, name: &CString) -> io::Result<String> {
    let file = File::from(open(directory, &path_of(name), OFlags::empty())?);
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("not a regular file"));
    }
    let mut bytes = Vec::new();
    file.take(MAX_FILE_BYTES).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::time::Duration;

    const QUERY: &str = "memory server";
    const NOTE: &str = "The memory server has a watchdog.";

    fn search(directory: &Path) -> Result<Vec<Passage>, MemoryError> {
        let deadline = Instant::now() + Duration::from_secs(60);
        Notes::new(directory).search(QUERY, 10, deadline)
    }

    #[test]
    fn notes_are_found_in_folders_of_folders() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("a/b")).unwrap();
        fs::write(folder.path().join("a/b/ops.md"), NOTE).unwrap();
        fs::write(folder.path().join("ops.txt"), NOTE).unwrap();
        fs::write(folder.path().join("ops.rs"), NOTE).unwrap();
        let sources: Vec<_> = search(folder.path())
            .unwrap()
            .into_iter()
            .map(|passage| passage.source)
            .collect();
        assert_eq!(sources, ["ops.txt", "a/b/ops.md"]);
    }

    #[test]
    fn links_and_pipes_are_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("secret.md"), NOTE).unwrap();
        symlink(outside.path().join("secret.md"), folder.path().join("a.md")).unwrap();
        symlink(outside.path(), folder.path().join("b")).unwrap();
        let fifo = folder.path().join("c.md");
        rustix::fs::mknodat(CWD, &fifo, FileType::Fifo, Mode::RWXU, 0).unwrap();
        assert_eq!(search(folder.path()).unwrap(), []);
    }

    #[test]
    fn a_missing_directory_is_no_failure_and_a_file_in_its_place_is() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(search(&folder.path().join("none")).unwrap(), []);
        let file = folder.path().join("file");
        fs::write(&file, NOTE).unwrap();
        assert!(matches!(search(&file), Err(MemoryError::Unreadable(_))));
    }

    #[test]
    fn of_a_long_file_the_first_256_kib_count() {
        let folder = tempfile::tempdir().unwrap();
        let long = format!("{}\n\n{NOTE}", "x ".repeat(128 * 1024));
        fs::write(folder.path().join("long.md"), long).unwrap();
        assert_eq!(search(folder.path()).unwrap(), []);
    }

    #[test]
    fn a_search_that_is_out_of_time_says_so() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a.md"), NOTE).unwrap();
        let result = Notes::new(folder.path()).search(QUERY, 10, Instant::now());
        assert!(matches!(result, Err(MemoryError::TooSlow)));
    }
}
