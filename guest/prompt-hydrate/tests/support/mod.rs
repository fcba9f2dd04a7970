//! A host whose mounts are files in memory, and what tests ask of the component.

#![allow(dead_code, reason = "each test file uses some of it")]

use std::collections::{BTreeMap, BTreeSet};

use kit::host::ReadFiles;
use kit::host::fs_read::{
    Entry, EntryKind, File, FsError, Listing, Overflow, ReadRequest, Symlinks, TreeRequest,
};
use serde_json::{Value, json};

/// What stands at a virtual path.
#[derive(Debug, Clone)]
pub enum Node {
    File(Vec<u8>),
    Symlink,
    Fifo,
}

/// Mounts in memory. Directories are those of the paths.
#[derive(Debug, Default)]
pub struct Memory {
    nodes: BTreeMap<String, Node>,
    directories: BTreeSet<String>,
    /// Paths of all reads and listings, and how many hostcalls there were.
    pub read: Vec<String>,
    pub listed: Vec<String>,
    pub hostcalls: usize,
}

impl Memory {
    /// Files by virtual path.
    pub fn with<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let mut memory = Self::default();
        for (path, text) in files {
            memory.put(path, Node::File(text.as_bytes().to_vec()));
        }
        memory
    }

    pub fn put(&mut self, path: &str, node: Node) {
        self.nodes.insert(path.to_owned(), node);
        for (at, _) in path.match_indices('/').skip(1) {
            self.directories.insert(path[..at].to_owned());
        }
    }

    fn get(&self, request: &ReadRequest) -> Result<File, FsError> {
        if self.directories.contains(&request.path) {
            return Err(FsError::IsDirectory);
        }
        match self.nodes.get(&request.path) {
            None => Err(FsError::NotFound),
            Some(Node::Fifo) => Err(FsError::Special),
            Some(Node::Symlink) if request.symlinks == Symlinks::Refuse => Err(FsError::Symlink),
            Some(Node::Symlink) => Err(FsError::LeavesMount),
            Some(Node::File(bytes)) => {
                let most = usize::try_from(request.max_bytes).unwrap();
                if bytes.len() > most && request.overflow == Overflow::Refuse {
                    return Err(FsError::TooLarge);
                }
                Ok(File {
                    bytes: bytes[..most.min(bytes.len())].to_vec(),
                    truncated: bytes.len() > most,
                    executable: false,
                })
            }
        }
    }

    fn list(&self, request: &TreeRequest) -> Result<Listing, FsError> {
        if !self.directories.contains(&request.root) {
            return Err(FsError::NotFound);
        }
        let prefix = format!("{}/", request.root);
        let nodes = self.nodes.iter().map(|(path, node)| {
            let bytes = match node {
                Node::File(bytes) => Some(bytes.len() as u64),
                _ => None,
            };
            let kind = match node {
                Node::File(_) => EntryKind::File,
                Node::Symlink => EntryKind::Symlink,
                Node::Fifo => EntryKind::Other,
            };
            (path, kind, bytes)
        });
        let directories = self
            .directories
            .iter()
            .map(|path| (path, EntryKind::Directory, None));
        let mut entries: Vec<Entry> = nodes
            .chain(directories)
            .filter_map(|(path, kind, bytes)| {
                let below = path.strip_prefix(&prefix)?;
                let hidden = below.split('/').any(|name| name.starts_with('.'));
                let depth = below.matches('/').count() + 1;
                (depth <= request.max_depth as usize && (request.include_hidden || !hidden)).then(
                    || Entry {
                        path: below.to_owned(),
                        kind,
                        bytes,
                        error: None,
                    },
                )
            })
            .collect();
        entries.sort_by(|one, other| one.path.cmp(&other.path));
        let truncated = entries.len() > request.max_entries as usize;
        entries.truncate(request.max_entries as usize);
        Ok(Listing { entries, truncated })
    }
}

impl ReadFiles for Memory {
    fn read(&mut self, requests: &[ReadRequest]) -> Vec<Result<File, FsError>> {
        self.hostcalls += 1;
        self.read
            .extend(requests.iter().map(|request| request.path.clone()));
        requests.iter().map(|request| self.get(request)).collect()
    }

    fn tree(&mut self, requests: &[TreeRequest]) -> Vec<Result<Listing, FsError>> {
        self.hostcalls += 1;
        self.listed
            .extend(requests.iter().map(|request| request.root.clone()));
        requests.iter().map(|request| self.list(request)).collect()
    }
}

/// The response to an `op` and its members.
pub fn ask(host: &mut Memory, op: &str, mut members: Value) -> Value {
    members["schema"] = json!("hydrant.hydrate.request/1");
    members["op"] = json!(op);
    ask_text(host, &members.to_string())
}

/// The response to a request as it stands.
pub fn ask_text(host: &mut Memory, request: &str) -> Value {
    let response = prompt_hydrate::run(host, request.as_bytes()).unwrap();
    let response: Value = serde_json::from_slice(&response).unwrap();
    assert_eq!(response["schema"], "hydrant.hydrate.response/1");
    assert_eq!(
        response["ok"] == true,
        response["error"].is_null(),
        "{response}"
    );
    response
}

/// The same without files.
pub fn answer(op: &str, members: Value) -> Value {
    ask(&mut Memory::default(), op, members)
}

/// A response that is no failure.
pub fn good(op: &str, members: Value) -> Value {
    let response = answer(op, members);
    assert_eq!(response["ok"], true, "{response}");
    response
}

/// The code of a failure.
pub fn code(op: &str, members: Value) -> String {
    let response = answer(op, members);
    assert_eq!(response["ok"], false, "{response}");
    response["error"]["code"].as_str().unwrap().to_owned()
}

pub const PATH: &str = "/tmp/claude-hydrator/hydrate_ab12cd34.md";

/// `hook` with nothing gathered.
pub fn hook(prompt: &str) -> Value {
    good("hook", json!({ "prompt": prompt, "file_path": PATH }))
}

pub fn text<'a>(response: &'a Value, member: &str) -> &'a str {
    response[member].as_str().unwrap()
}

/// `ceil(chars / 4)`
pub fn tokens(text: &str) -> usize {
    text.chars().count().div_ceil(4)
}
