//! A tree by value: files that answer hostcalls, so that one walk serves both forms.

use std::collections::BTreeMap;

use kit::host::ReadFiles;
use kit::host::fs_read::{Entry, EntryKind, File, FsError, Listing, ReadRequest, TreeRequest};

use crate::request::{InlineFile, Mount};

/// The files by virtual path, and the names in each directory.
#[derive(Debug)]
pub(super) struct Files<'a> {
    files: BTreeMap<String, &'a str>,
    directories: BTreeMap<String, BTreeMap<&'a str, EntryKind>>,
}

impl<'a> Files<'a> {
    /// Paths that are no relative paths are left out; of equal ones the last counts.
    pub(super) fn new(files: &'a [InlineFile]) -> Self {
        let root = Mount::Workspace.path();
        let mut all = Self {
            files: BTreeMap::new(),
            directories: BTreeMap::from([(root.to_owned(), BTreeMap::new())]),
        };
        for file in files {
            let is_segment = |segment: &str| !["", ".", ".."].contains(&segment);
            if file.path.len() > 4_096 || !file.path.split('/').all(is_segment) {
                continue;
            }
            let mut directory = root.to_owned();
            let mut segments = file.path.split('/').peekable();
            while let Some(segment) = segments.next() {
                let kind = match segments.peek() {
                    Some(_) => EntryKind::Directory,
                    None => EntryKind::File,
                };
                let names = all.directories.entry(directory.clone()).or_default();
                names.insert(segment, kind);
                directory.push('/');
                directory.push_str(segment);
            }
            all.files.insert(directory, &file.text);
        }
        all
    }

    fn list(&self, request: &TreeRequest) -> Result<Listing, FsError> {
        let names = self
            .directories
            .get(&request.root)
            .ok_or(FsError::NotFound)?;
        let most = usize::try_from(request.max_entries).unwrap_or(usize::MAX);
        let entries = names.iter().take(most).map(|(name, kind)| Entry {
            path: (*name).to_owned(),
            kind: *kind,
            bytes: None,
            error: None,
        });
        Ok(Listing {
            entries: entries.collect(),
            truncated: names.len() > most,
        })
    }

    fn get(&self, request: &ReadRequest) -> Result<File, FsError> {
        if self.directories.contains_key(&request.path) {
            return Err(FsError::IsDirectory);
        }
        let text = self.files.get(&request.path).ok_or(FsError::NotFound)?;
        let most = usize::try_from(request.max_bytes).unwrap_or(usize::MAX);
        let bytes = text.as_bytes();
        Ok(File {
            bytes: bytes.get(..most).unwrap_or(bytes).to_vec(),
            truncated: bytes.len() > most,
            executable: false,
        })
    }
}

impl ReadFiles for Files<'_> {
    fn read(&mut self, requests: &[ReadRequest]) -> Vec<Result<File, FsError>> {
        requests.iter().map(|request| self.get(request)).collect()
    }

    fn tree(&mut self, requests: &[TreeRequest]) -> Vec<Result<Listing, FsError>> {
        requests.iter().map(|request| self.list(request)).collect()
    }
}
