//! A workspace in memory, and calls of the component on it.
#![allow(
    dead_code,
    unreachable_pub,
    missing_docs,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::as_conversions,
    clippy::expect_used,
    clippy::panic_in_result_fn,
    clippy::panic,
    reason = "shared by the test programs, each of which uses a part"
)]

use std::collections::{BTreeMap, BTreeSet};

use fs_write_patch::run;
use kit::SkillError;
use kit::host::fs_read::{File, FsError, Listing, Overflow, ReadRequest, Symlinks, TreeRequest};
use kit::host::fs_write::{Change, Expected, Failure};
use kit::host::{ReadFiles, WriteFiles};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// What stands at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry {
    File(Vec<u8>, bool),
    Special,
    Link,
}

#[derive(Debug, Clone, Default)]
pub struct Host {
    /// By path below `/workspace/`.
    pub entries: BTreeMap<String, Entry>,
    /// What happens between reading and writing.
    pub meanwhile: Option<(String, Entry)>,
    /// What the host answers to `apply`, for a path.
    pub refuses: Option<(String, FsError)>,
    pub reads: Vec<Vec<ReadRequest>>,
    pub applied: Vec<Vec<Change>>,
}

impl Host {
    pub fn new(files: &[(&str, &str)]) -> Self {
        let mut host = Self::default();
        for (path, text) in files {
            host.put(path, text);
        }
        host
    }

    pub fn put(&mut self, path: &str, text: impl AsRef<[u8]>) -> &mut Self {
        let entry = Entry::File(text.as_ref().to_vec(), false);
        self.entries.insert(path.to_owned(), entry);
        self
    }

    pub fn text(&self, path: &str) -> Option<&str> {
        match self.entries.get(path)? {
            Entry::File(bytes, _) => Some(std::str::from_utf8(bytes).unwrap()),
            _ => Some("?"),
        }
    }

    pub fn executable(&self, path: &str) -> bool {
        matches!(self.entries.get(path), Some(Entry::File(_, true)))
    }

    fn find(&self, path: &str) -> Result<&Entry, FsError> {
        let below = path.strip_prefix("/workspace").ok_or(FsError::Denied)?;
        let below = below.trim_start_matches('/');
        for (end, _) in below.match_indices('/') {
            match self.entries.get(&below[..end]) {
                Some(Entry::Link) => return Err(FsError::Symlink),
                Some(_) => return Err(FsError::NotDirectory),
                None => {}
            }
        }
        if let Some(entry) = self.entries.get(below) {
            return Ok(entry);
        }
        let inside = format!("{below}/");
        let is_directory =
            below.is_empty() || self.entries.keys().any(|key| key.starts_with(&inside));
        Err(if is_directory {
            FsError::IsDirectory
        } else {
            FsError::NotFound
        })
    }

    fn change(&mut self, change: &Change) -> Result<(), FsError> {
        if let Some((path, error)) = &self.refuses
            && change.path.ends_with(path.as_str())
        {
            return Err(*error);
        }
        let found = match self.find(&change.path) {
            Ok(Entry::File(bytes, _)) => Some(Sha256::digest(bytes).to_vec()),
            Ok(Entry::Link) => return Err(FsError::Symlink),
            Ok(Entry::Special) => return Err(FsError::Special),
            Err(FsError::NotFound) => None,
            Err(error) => return Err(error),
        };
        let as_expected = match &change.expected {
            Expected::Absent => found.is_none(),
            Expected::Sha256(digest) => found.as_ref() == Some(digest),
        };
        if !as_expected {
            return Err(FsError::Conflict);
        }
        let path = change.path.strip_prefix("/workspace/").unwrap().to_owned();
        match &change.content {
            Some(content) if content.bytes.len() > 16_777_216 => return Err(FsError::TooLarge),
            Some(content) => {
                let entry = Entry::File(content.bytes.clone(), content.executable);
                self.entries.insert(path, entry);
            }
            None => {
                self.entries.remove(&path);
            }
        }
        Ok(())
    }
}

impl ReadFiles for Host {
    fn read(&mut self, requests: &[ReadRequest]) -> Vec<Result<File, FsError>> {
        self.reads.push(requests.to_vec());
        let answer = |request: &ReadRequest| {
            assert_eq!(request.symlinks, Symlinks::Refuse);
            let (bytes, executable) = match self.find(&request.path)? {
                Entry::File(bytes, executable) => (bytes, *executable),
                Entry::Link => return Err(FsError::Symlink),
                Entry::Special => return Err(FsError::Special),
            };
            let most = request.max_bytes.min(16_777_216) as usize;
            let truncated = bytes.len() > most;
            if truncated && request.overflow == Overflow::Refuse {
                return Err(FsError::TooLarge);
            }
            Ok(File {
                bytes: bytes[..bytes.len().min(most)].to_vec(),
                truncated,
                executable,
            })
        };
        requests.iter().map(answer).collect()
    }

    fn tree(&mut self, _: &[TreeRequest]) -> Vec<Result<Listing, FsError>> {
        panic!("nothing is listed");
    }
}

impl WriteFiles for Host {
    fn apply(&mut self, changes: &[Change]) -> Result<(), Failure> {
        if let Some((path, entry)) = self.meanwhile.take() {
            self.entries.insert(path, entry);
        }
        let paths: BTreeSet<_> = changes.iter().map(|change| &change.path).collect();
        assert_eq!(paths.len(), changes.len(), "a path twice");
        assert!(changes.len() <= 2_000 && !changes.is_empty());
        let mut copy = self.clone();
        for (change, number) in changes.iter().zip(0..) {
            copy.change(change).map_err(|reason| Failure {
                change: number,
                reason,
            })?;
        }
        copy.applied.push(changes.to_vec());
        *self = copy;
        Ok(())
    }
}

/// A call with further members.
pub fn call(host: &mut Host, diff: &str, members: Value) -> Result<Value, SkillError> {
    let mut request = json!({ "unified_diff": diff });
    for (name, value) in members.as_object().unwrap() {
        request[name] = value.clone();
    }
    let answer = run(host, request.to_string().as_bytes())?;
    Ok(serde_json::from_slice(&answer).unwrap())
}

/// A call that changes files.
pub fn patch(host: &mut Host, diff: &str) -> Value {
    call(host, diff, json!({})).unwrap_or_else(|error| panic!("{error}\n{diff}"))
}

/// A call that ends in an error, which changes nothing: its code and details.
pub fn error(host: &mut Host, diff: &str, members: Value) -> (String, Value) {
    let before = host.entries.clone();
    let error = call(host, diff, members).expect_err(diff);
    assert_eq!(host.entries, before, "{diff}");
    let details = error.details().unwrap_or("null");
    (
        error.code().to_owned(),
        serde_json::from_str(details).unwrap(),
    )
}

/// File, hunk and reason of each reject.
pub fn rejects(answer: &Value) -> Vec<(String, u64, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let rejects = answer["rejects"].as_array().unwrap().iter();
    rejects
        .map(|reject| {
            assert!(!text(&reject["message"]).is_empty());
            (
                text(&reject["file"]),
                reject["hunk"].as_u64().unwrap(),
                text(&reject["reason"]),
            )
        })
        .collect()
}

/// Path, action and hunks of each file.
pub fn files(answer: &Value) -> Vec<(&str, &str, u64)> {
    let files = answer["files"].as_array().unwrap().iter();
    files
        .map(|file| {
            let text = |name: &str| file[name].as_str().unwrap();
            (
                text("path"),
                text("action"),
                file["hunks"].as_u64().unwrap(),
            )
        })
        .collect()
}

/// A repeatable source of choices (SplitMix64).
pub struct Choices(pub u64);

impl Choices {
    pub fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) % limit as u64) as usize
    }
}

/// A unified diff of two texts with so many lines of context, hunks only; the longest common subsequence of lines.
pub fn hunks(old: &str, new: &str, context: usize) -> String {
    let (a, b): (Vec<_>, Vec<_>) = (
        old.split_inclusive('\n').collect(),
        new.split_inclusive('\n').collect(),
    );
    let mut common = vec![vec![0_u32; b.len() + 1]; a.len() + 1];
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            common[i][j] = if a[i] == b[j] {
                common[i + 1][j + 1] + 1
            } else {
                common[i + 1][j].max(common[i][j + 1])
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    // Mark, line, lines of the old and new text before it.
    let mut script = Vec::new();
    while i < a.len() || j < b.len() {
        if i < a.len() && j < b.len() && a[i] == b[j] {
            script.push((' ', a[i], i, j));
            (i, j) = (i + 1, j + 1);
        } else if i < a.len() && (j == b.len() || common[i + 1][j] >= common[i][j + 1]) {
            script.push(('-', a[i], i, j));
            i += 1;
        } else {
            script.push(('+', b[j], i, j));
            j += 1;
        }
    }
    let mut out = String::new();
    let mut at = 0;
    while let Some(first) = (at..script.len()).find(|at| script[*at].0 != ' ') {
        let begin = first.saturating_sub(context).max(at);
        let mut end = first + 1;
        while let Some(more) =
            (end..script.len().min(end + 2 * context + 1)).find(|at| script[*at].0 != ' ')
        {
            end = more + 1;
        }
        let end = script.len().min(end + context);
        let lines = &script[begin..end];
        let count = |mark| lines.iter().filter(|line| line.0 != mark).count();
        let (olds, news) = (count('+'), count('-'));
        let (i, j) = (lines[0].2, lines[0].3);
        let start = |at: usize, count: usize| if count == 0 { at } else { at + 1 };
        out += &format!(
            "@@ -{},{olds} +{},{news} @@\n",
            start(i, olds),
            start(j, news)
        );
        for (mark, line, _, _) in lines {
            out.push(*mark);
            out += line;
            if !line.ends_with('\n') {
                out += "\n\\ No newline at end of file\n";
            }
        }
        at = end;
    }
    out
}
