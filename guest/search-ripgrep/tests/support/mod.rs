//! A host whose mounts are directories of this machine, and what tests ask of it.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use kit::SkillError;
use kit::host::ReadFiles;
use kit::host::fs_read::{
    Entry, EntryKind, File, FsError, Listing, Overflow, ReadRequest, Symlinks, TreeRequest,
};
use serde_json::Value;
use tempfile::TempDir;

/// A directory of this machine as `/workspace`.
#[derive(Debug)]
pub struct Disk {
    workspace: TempDir,
    /// Paths that answer something else.
    pub failing: BTreeMap<String, FsError>,
    /// Paths of all requests, in their order.
    pub read: Vec<String>,
    pub listed: Vec<String>,
    pub hostcalls: usize,
}

impl Disk {
    pub fn new() -> Self {
        Self {
            workspace: tempfile::tempdir().unwrap(),
            failing: BTreeMap::new(),
            read: Vec::new(),
            listed: Vec::new(),
            hostcalls: 0,
        }
    }

    /// A workspace with these files.
    pub fn with(files: &[(&str, &str)]) -> Self {
        let disk = Self::new();
        for (path, contents) in files {
            disk.write(path, contents.as_bytes());
        }
        disk
    }

    pub fn root(&self) -> &Path {
        self.workspace.path()
    }

    pub fn write(&self, path: &str, contents: &[u8]) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, contents).unwrap();
    }

    /// The response to a request in JSON.
    pub fn search(&mut self, request: &str) -> Result<Value, SkillError> {
        let response = search_ripgrep::run(self, request.as_bytes())?;
        Ok(serde_json::from_slice(&response).unwrap())
    }

    /// The files in which something matches, in order, each once.
    pub fn files(&mut self, request: &str) -> Vec<String> {
        let response = self.search(request).unwrap();
        let mut files: Vec<_> = response["matches"]
            .as_array()
            .unwrap()
            .iter()
            .map(|entry| entry["file"].as_str().unwrap().to_owned())
            .collect();
        files.dedup();
        files
    }

    fn locate(&self, path: &str) -> Result<PathBuf, FsError> {
        if let Some(error) = self.failing.get(path) {
            return Err(*error);
        }
        match path.strip_prefix("/workspace") {
            Some("") => Ok(self.root().to_owned()),
            Some(below) if below.starts_with('/') => Ok(self.root().join(&below[1..])),
            _ => Err(FsError::Denied),
        }
    }

    /// Whether a link is on the way to `path`, or at its end.
    fn is_linked(&self, path: &Path) -> bool {
        path.ancestors()
            .take_while(|path| *path != self.root())
            .any(Path::is_symlink)
    }

    fn read_one(&self, request: &ReadRequest) -> Result<File, FsError> {
        let path = self.locate(&request.path)?;
        if request.symlinks == Symlinks::Refuse && self.is_linked(&path) {
            return Err(FsError::Symlink);
        }
        let metadata = fs::metadata(&path).map_err(|error| from_io(&error))?;
        if metadata.is_dir() {
            return Err(FsError::IsDirectory);
        }
        if !metadata.is_file() {
            return Err(FsError::Special);
        }
        let most = usize::try_from(request.max_bytes).unwrap();
        let mut bytes = fs::read(&path).map_err(|error| from_io(&error))?;
        let truncated = bytes.len() > most;
        if truncated && request.overflow == Overflow::Refuse {
            return Err(FsError::TooLarge);
        }
        bytes.truncate(most);
        Ok(File {
            bytes,
            truncated,
            executable: metadata.permissions().mode() & 0o100 != 0,
        })
    }

    fn list_one(&self, request: &TreeRequest) -> Result<Listing, FsError> {
        let directory = self.locate(&request.root)?;
        let mut names: Vec<_> = fs::read_dir(&directory)
            .map_err(|error| from_io(&error))?
            .map(|entry| entry.unwrap().file_name())
            .filter(|name| request.include_hidden || !name.as_bytes().starts_with(b"."))
            .collect();
        names.sort_by(|one, other| one.as_bytes().cmp(other.as_bytes()));
        let mut truncated = names.len() > usize::try_from(request.max_entries).unwrap();
        names.truncate(usize::try_from(request.max_entries).unwrap());
        let mut entries = Vec::new();
        for name in names {
            let path = directory.join(&name);
            let metadata = fs::symlink_metadata(&path).unwrap();
            let kind = metadata.file_type();
            let below = kind.is_dir().then(|| fs::read_dir(&path));
            truncated |= matches!(&below, Some(Ok(below)) if below.size_hint().1 != Some(0));
            entries.push(Entry {
                path: name.to_string_lossy().into_owned(),
                kind: if kind.is_dir() {
                    EntryKind::Directory
                } else if kind.is_file() {
                    EntryKind::File
                } else if kind.is_symlink() {
                    EntryKind::Symlink
                } else {
                    EntryKind::Other
                },
                bytes: kind.is_file().then_some(metadata.len()),
                error: match below {
                    Some(Err(error)) => Some(from_io(&error)),
                    _ => None,
                },
            });
        }
        Ok(Listing { entries, truncated })
    }
}

fn from_io(error: &std::io::Error) -> FsError {
    match error.kind() {
        ErrorKind::NotFound => FsError::NotFound,
        ErrorKind::PermissionDenied => FsError::NotAccessible,
        ErrorKind::NotADirectory => FsError::NotDirectory,
        _ => FsError::Io,
    }
}

impl ReadFiles for Disk {
    fn read(&mut self, requests: &[ReadRequest]) -> Vec<Result<File, FsError>> {
        self.hostcalls += 1;
        self.read
            .extend(requests.iter().map(|request| request.path.clone()));
        let answers: Vec<_> = requests
            .iter()
            .map(|request| self.read_one(request))
            .collect();
        let bytes: usize = answers.iter().flatten().map(|file| file.bytes.len()).sum();
        assert!(bytes <= 16 << 20, "{bytes} bytes in one hostcall");
        answers
    }

    fn tree(&mut self, requests: &[TreeRequest]) -> Vec<Result<Listing, FsError>> {
        self.hostcalls += 1;
        self.listed
            .extend(requests.iter().map(|request| request.root.clone()));
        let names: u32 = requests.iter().map(|request| request.max_entries).sum();
        assert!(requests.iter().all(|request| request.max_depth == 1));
        assert!(names <= 100_000, "{names} names in one hostcall");
        requests
            .iter()
            .map(|request| self.list_one(request))
            .collect()
    }
}
