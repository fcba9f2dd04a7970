//! The catalogue of a request: embedded, by value, or read from its mount.

use kit::host::ReadFiles;
use kit::host::fs_read::{EntryKind, Overflow, ReadRequest, Symlinks, TreeRequest};

use super::Warning;
use crate::catalogue::{Catalogue, File, MAX_FILE_BYTES};
use crate::request::{CatalogMount, Tree};

const MOUNT: &str = "/catalog";

/// `packs/<pack>/workflows/<id>.md` is the deepest.
const DEPTH: u32 = 4;

/// Files of a catalogue directory that are looked at: 200 workflows with their examples, and those of packs.
const MAX_ENTRIES: u32 = 2_000;

/// Files that are read in one hostcall.
const READ_AT_ONCE: usize = 256;

/// Returns the catalogue, and a warning for each file that was passed over.
pub(super) fn load(
    host: &mut impl ReadFiles,
    tree: Option<&Tree<CatalogMount>>,
    packs: &[String],
) -> (Catalogue, Vec<Warning>) {
    let (catalogue, mut messages) = match tree {
        None => (Catalogue::embedded(packs), Vec::new()),
        Some(tree) => {
            let (files, unread) = files(host, tree);
            (Catalogue::load(&files, packs), unread)
        }
    };
    messages.extend(catalogue.warnings.iter().cloned());
    (catalogue, warnings(&messages))
}

pub(super) fn warnings(messages: &[String]) -> Vec<Warning> {
    let messages = messages.iter();
    messages
        .map(|message| Warning::new("catalog", message))
        .collect()
}

/// Returns all files of a catalogue by path, and a message for each that cannot be read.
pub(super) fn files(
    host: &mut impl ReadFiles,
    tree: &Tree<CatalogMount>,
) -> (Vec<File>, Vec<String>) {
    match tree {
        Tree::Inline(files) => {
            let mut files = files.clone();
            // In the order in which they come from a mount.
            files.sort_by(|one, other| one.path.cmp(&other.path));
            (files, Vec::new())
        }
        Tree::Mount(CatalogMount::Catalog) => read(host),
    }
}

fn read(host: &mut impl ReadFiles) -> (Vec<File>, Vec<String>) {
    let request = TreeRequest {
        root: MOUNT.to_owned(),
        max_entries: MAX_ENTRIES,
        max_depth: DEPTH,
        include_hidden: false,
    };
    let Some(Ok(listing)) = host.tree(&[request]).pop() else {
        // No workflow loads, which the catalogue says itself.
        return (Vec::new(), Vec::new());
    };
    let mut files = Vec::new();
    let mut unread = Vec::new();
    if listing.truncated {
        unread.push(format!("{MOUNT}: over {MAX_ENTRIES} files"));
    }
    let is_text = |path: &str| path.ends_with(".md") || path.ends_with(".txt");
    let mut paths: Vec<String> = listing
        .entries
        .into_iter()
        .filter(|entry| matches!(entry.kind, EntryKind::File | EntryKind::Symlink))
        .map(|entry| entry.path)
        .filter(|path| is_text(path))
        .collect();
    paths.sort_unstable();
    for paths in paths.chunks(READ_AT_ONCE) {
        let requests: Vec<ReadRequest> = paths
            .iter()
            .map(|path| ReadRequest {
                path: format!("{MOUNT}/{path}"),
                // One byte more than is used shows that a file is too long.
                max_bytes: MAX_FILE_BYTES.saturating_add(1),
                overflow: Overflow::Cut,
                // They do not leave the mount.
                symlinks: Symlinks::Follow,
            })
            .collect();
        for (path, answer) in paths.iter().zip(host.read(&requests)) {
            match answer.map(|file| String::from_utf8(file.bytes)) {
                Ok(Ok(text)) => files.push(File {
                    path: path.clone(),
                    text,
                }),
                Ok(Err(_)) => unread.push(format!("{path}: not UTF-8")),
                Err(_) => unread.push(format!("{path}: cannot be read")),
            }
        }
    }
    (files, unread)
}
