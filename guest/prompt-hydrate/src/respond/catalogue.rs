//! The catalogue of a request: embedded, by value, or read from its mount.

use kit::host::ReadFiles;
use kit::host::fs_read::{EntryKind, Overflow, ReadRequest, Symlinks, TreeRequest};

use super::{Failure, Warning, check_mount};
use crate::catalogue::{Catalogue, File};
use crate::request::{Mount, Tree};

/// `packs/<pack>/workflows/<id>.md` is the deepest.
const DEPTH: u32 = 4;

/// Files of a catalogue directory that are looked at: 200 workflows with their examples, and those of packs.
const MAX_ENTRIES: u32 = 2_000;

/// Q-98, and one byte that shows that there are more.
const MAX_FILE_BYTES: u32 = 64 * 1024 + 1;

/// Files that are read in one hostcall.
const READ_AT_ONCE: usize = 256;

/// The files of a catalogue, and those that could not be read.
pub(super) struct Files {
    pub(super) files: Vec<File>,
    pub(super) warnings: Vec<String>,
}

/// The catalogue, and a warning for each file that was passed over.
pub(super) fn load(
    host: &mut impl ReadFiles,
    tree: Option<&Tree>,
    packs: &[String],
) -> Result<(Catalogue, Vec<Warning>), Failure> {
    let Some(tree) = tree else {
        let catalogue = Catalogue::embedded(packs);
        let warnings = warnings(&catalogue.warnings);
        return Ok((catalogue, warnings));
    };
    let files = files(host, tree)?;
    let catalogue = Catalogue::load(&files.files, packs);
    let mut all = warnings(&files.warnings);
    all.extend(warnings(&catalogue.warnings));
    Ok((catalogue, all))
}

fn warnings(messages: &[String]) -> Vec<Warning> {
    let messages = messages.iter();
    messages
        .map(|message| Warning::new("catalog", message))
        .collect()
}

/// All files of a catalogue, by path.
pub(super) fn files(host: &mut impl ReadFiles, tree: &Tree) -> Result<Files, Failure> {
    check_mount("catalog", tree, Mount::Catalog)?;
    Ok(match tree {
        Tree::Inline(files) => {
            let mut files: Vec<File> = files
                .iter()
                .map(|file| File {
                    path: file.path.clone(),
                    text: file.text.clone(),
                })
                .collect();
            // by mount they come in this order.
            files.sort_by(|one, other| one.path.cmp(&other.path));
            Files {
                files,
                warnings: Vec::new(),
            }
        }
        Tree::Mount(mount) => read(host, *mount),
    })
}

fn read(host: &mut impl ReadFiles, mount: Mount) -> Files {
    let request = TreeRequest {
        root: mount.path().to_owned(),
        max_entries: MAX_ENTRIES,
        max_depth: DEPTH,
        include_hidden: false,
    };
    let mut found = Files {
        files: Vec::new(),
        warnings: Vec::new(),
    };
    let listing = match host.tree(&[request]).pop() {
        Some(Ok(listing)) => listing,
        // Nothing loads, which the catalogue says itself.
        Some(Err(_)) | None => return found,
    };
    if listing.entries.len() >= usize::try_from(MAX_ENTRIES).unwrap_or(usize::MAX) {
        found
            .warnings
            .push(format!("{}: over {MAX_ENTRIES} files", mount.path()));
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
                path: format!("{}/{path}", mount.path()),
                max_bytes: MAX_FILE_BYTES,
                overflow: Overflow::Cut,
                // They do not leave the mount.
                symlinks: Symlinks::Follow,
            })
            .collect();
        for (path, answer) in paths.iter().zip(host.read(&requests)) {
            match answer.map(|file| String::from_utf8(file.bytes)) {
                Ok(Ok(text)) => found.files.push(File {
                    path: path.clone(),
                    text,
                }),
                Ok(Err(_)) => found.warnings.push(format!("{path}: not UTF-8")),
                Err(_) => found.warnings.push(format!("{path}: cannot be read")),
            }
        }
    }
    found
}
