//! The files of a call.
//!
//! A caller names them; the bytes come with the call, or from a path below a directory that the operator permits. Links
//! are resolved first and not followed afterwards, so that a path cannot be turned elsewhere after it was checked.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hydrant_canonical::Json;

use super::{Inputs, beneath};
use crate::failure::{Code, Failure};
use hydrant_plan::Operation;

/// All files of a call together, in bytes.
pub(crate) const FILES_BYTES: u64 = 50 << 20;

/// The files of a call, by the names that the operation uses.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct CallFiles(BTreeMap<String, Vec<u8>>);

impl CallFiles {
    /// Reads the files that a call names.
    ///
    /// # Errors
    ///
    /// `path-not-allowed` where a path lies outside every directory of `fs_read`, or is not a regular file there (which of
    /// both it is, is not told); `invalid-input` for base64 that is none; `limit` over 50 MiB together.
    pub fn open(
        operation: &Operation,
        inputs: &Inputs,
        fs_read: &[PathBuf],
    ) -> Result<Self, Failure> {
        let mut files = BTreeMap::new();
        let mut left = FILES_BYTES;
        for name in &operation.files.read {
            let Some(given) = inputs.present("files").and_then(|files| files.get(name)) else {
                continue;
            };
            let at = format!("files.{name}");
            let text = |key: &str| given.get(key).and_then(Json::as_str);
            let bytes = match (text("path"), text("content-b64")) {
                (Some(path), None) => {
                    read(Path::new(path), fs_read, left).map_err(|failure| failure.at_path(at))?
                }
                (None, Some(content)) => STANDARD.decode(content).map_err(|_| {
                    Failure::new(Code::InvalidInput, "content-b64 is not base64").at_path(at)
                })?,
                _ => {
                    return Err(Failure::new(
                        Code::InvalidInput,
                        "a file has either path or content-b64",
                    )
                    .at_path(at));
                }
            };
            left = left
                .checked_sub(u64::try_from(bytes.len()).unwrap_or(u64::MAX))
                .ok_or_else(too_many)?;
            files.insert(name.clone(), bytes);
        }
        Ok(Self(files))
    }

    /// The bytes of the file of that name.
    ///
    /// # Errors
    ///
    /// `missing-input`.
    pub fn get(&self, name: &str) -> Result<&[u8], Failure> {
        self.0.get(name).map(Vec::as_slice).ok_or_else(|| {
            let missing = format!("files.{name}");
            let message = format!("PROMPT_MISSING_INPUT: {missing}");
            Failure::new(Code::MissingInput, message).with_missing(vec![missing])
        })
    }

    /// All of them, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&String, &Vec<u8>)> {
        self.0.iter()
    }

    /// Files that are one character, valid as JSON and as text.
    pub(super) fn stand_ins(names: &[String]) -> Self {
        let file = |name: &String| (name.clone(), b"0".to_vec());
        Self(names.iter().map(file).collect())
    }

    #[cfg(test)]
    pub(crate) fn of(files: &[(&str, &[u8])]) -> Self {
        let file = |(name, bytes): &(&str, &[u8])| ((*name).to_owned(), bytes.to_vec());
        Self(files.iter().map(file).collect())
    }
}

/// The bytes of a regular file below one of the directories.
fn read(path: &Path, directories: &[PathBuf], left: u64) -> Result<Vec<u8>, Failure> {
    let denied = || {
        Failure::new(
            Code::PathNotAllowed,
            "no regular file below a directory of fs_read",
        )
        .with_hint("fs_read = [\"<directory>\"] in the table [govern] of hydrant.toml")
    };
    // A relative path would mean something else for each frontend.
    if !path.is_absolute() {
        return Err(denied());
    }
    let canonical = path.canonicalize().map_err(|_| denied())?;
    let (directory, below) = directories
        .iter()
        .filter_map(|directory| directory.canonicalize().ok())
        .find_map(|directory| {
            let below = canonical.strip_prefix(&directory).ok()?.to_owned();
            Some((directory, below))
        })
        .ok_or_else(denied)?;
    let file = beneath::open_file(&directory, &below).map_err(|_| denied())?;
    hydrant_base::read_at_most(file, 0, left)
        .map_err(|_| denied())?
        .ok_or_else(too_many)
}

fn too_many() -> Failure {
    Failure::new(Code::Limit, "the files of a call hold at most 50 MiB")
}
