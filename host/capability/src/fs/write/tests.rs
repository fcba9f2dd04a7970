//! Changing files as a guest asks for it, as an attacker disturbs it, and as a killed host leaves it.

mod attacks;
mod faults;
mod model;
mod rules;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use sha2::{Digest as _, Sha256};

use super::*;
use crate::testing::Site;

/// What lies below a directory: of files mode and content, of directories their mode, of the rest a word.
type Contents = BTreeMap<String, (u32, Option<Vec<u8>>)>;

fn contents(directory: &Path) -> Contents {
    let mut contents = Contents::new();
    let mut open = vec![directory.to_owned()];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            let metadata = fs::symlink_metadata(&path).unwrap();
            let bytes = metadata
                .is_file()
                .then(|| fs::read(&path).unwrap_or_default());
            if metadata.is_dir() {
                open.push(path.clone());
            }
            let name = path
                .strip_prefix(directory)
                .unwrap()
                .to_str()
                .unwrap()
                .to_owned();
            contents.insert(name, (metadata.permissions().mode(), bytes));
        }
    }
    contents
}

fn names(contents: &Contents) -> Vec<&str> {
    contents.keys().map(String::as_str).collect()
}

/// The names of journals; the lock is no journal.
fn journals(site: &Site) -> Vec<String> {
    let Ok(entries) = fs::read_dir(site.root.join("state/changes")) else {
        return Vec::new();
    };
    entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name != "lock")
        .collect()
}

fn sha256(bytes: &[u8]) -> Expected {
    Expected::Sha256(Sha256::digest(bytes).into())
}

fn text(bytes: &str) -> Option<Content> {
    Some(Content {
        bytes: bytes.as_bytes().to_vec(),
        executable: false,
    })
}

fn program(bytes: &str) -> Option<Content> {
    Some(Content {
        bytes: bytes.as_bytes().to_vec(),
        executable: true,
    })
}

/// A change of `/workspace/<path>`.
fn change(path: &str, expected: Expected, content: Option<Content>) -> Change {
    Change {
        path: format!("/workspace/{path}"),
        expected,
        content,
    }
}

fn create(path: &str, bytes: &str) -> Change {
    change(path, Expected::Absent, text(bytes))
}

fn modify(path: &str, from: &str, to: &str) -> Change {
    change(path, sha256(from.as_bytes()), text(to))
}

fn delete(path: &str, from: &str) -> Change {
    change(path, sha256(from.as_bytes()), None)
}

fn failure(change: u32, reason: FsError) -> Result<(), Failure> {
    Err(Failure { change, reason })
}

fn write(site: &Site, path: &str, bytes: &str, mode: u32) {
    let path = site.work().join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, bytes).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
}

fn read(site: &Site, path: &str) -> String {
    fs::read_to_string(site.work().join(path)).unwrap()
}
