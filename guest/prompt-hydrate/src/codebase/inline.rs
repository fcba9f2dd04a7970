//! A tree by value: files that answer hostcalls, so that one walk serves both forms.

use std::collections::BTreeMap;

use kit::host::ReadFiles;
use kit::host::fs_read::{Entry, EntryKind, File, FsError, Listing, ReadRequest, TreeRequest};

use super::MOUNT;
use crate::catalogue;

/// Files by virtual path.
#[derive(Debug)]
pub(super) struct Files<'a>(BTreeMap<String, &'a str>);

impl<'a> Files<'a> {
    /// Paths that are no relative paths are left out; of equal ones the last counts.
    pub(super) fn new(files: &'a [catalogue::File]) -> Self {
        let is_segment = |segment: &str| !["", ".", ".."].contains(&segment);
        let relative = files
            .iter()
            .filter(|file| file.path.split('/').all(is_segment));
        let files = relative.map(|file| (format!("{MOUNT}/{}", file.path), file.text.as_str()));
        Self(files.collect())
    }

    /// The paths below a directory, from there, in order.
    fn below(&self, directory: &str) -> impl Iterator<Item = &str> {
        let prefix = format!("{directory}/");
        let files = self.0.range(prefix.clone()..);
        files.map_while(move |(path, _)| path.strip_prefix(&prefix))
    }

    fn list(&self, request: &TreeRequest) -> Result<Listing, FsError> {
        let mut names = BTreeMap::new();
        for path in self.below(&request.root) {
            match path.split_once('/') {
                Some((directory, _)) => names.insert(directory, EntryKind::Directory),
                None => names.insert(path, EntryKind::File),
            };
        }
        if names.is_empty() && request.root != MOUNT {
            return Err(FsError::NotFound);
        }
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
        if self.below(&request.path).next().is_some() {
            return Err(FsError::IsDirectory);
        }
        let text = self.0.get(&request.path).ok_or(FsError::NotFound)?;
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
