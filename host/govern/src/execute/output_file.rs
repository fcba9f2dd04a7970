//! Files of a run.

use std::path::{Component, Path, PathBuf};

use serde_json::{Value, json};

use super::plan::{Run, filled};
use super::result::goes_to_file;
use crate::config::Config;
use crate::failure::{Code, Failure};
use crate::request::{CallFiles, Inputs, beneath};
use hydrant_plan::{Operation, Segment, Segments, Stage};

impl Run<'_> {
    /// Writes a file under the run's output directory, or, where a document's absolute path lies inside fs_write, there;
    /// answers its entry of `files`.
    pub(super) fn write_output(
        &mut self,
        path: &str,
        whose: Whose,
        bytes: &[u8],
    ) -> Result<Value, Failure> {
        let (directory, below) = place(path, whose, self.call.output, self.call.config)?;
        let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        if self
            .caps_left()
            .storage_bytes
            .is_some_and(|left| length > left)
        {
            return Err(self.exhausted("storage-bytes"));
        }
        let failed = |error: std::io::Error| {
            Failure::new(
                Code::StoreUnavailable,
                format!("the output file cannot be written: {}", error.kind()),
            )
        };
        if directory == self.call.output {
            make_private(&directory).map_err(failed)?;
        }
        beneath::write_file(&directory, &below, bytes).map_err(failed)?;
        self.used.storage_bytes = self.used.storage_bytes.saturating_add(length);
        let mut file = json!({
            "name": below.to_string_lossy(),
            "bytes": length,
            "digest": crate::digest::of_bytes(bytes),
            "path": directory.join(&below).to_string_lossy(),
        });
        // What is large and no text is not searched again for values that were sent.
        if !self.echo.is_empty()
            && goes_to_file(bytes)
            && let Some(file) = file.as_object_mut()
        {
            file.insert("unscanned".to_owned(), true.into());
        }
        Ok(file)
    }
}

/// Whether every file that the requests of an operation write may be written: what a call would be refused for is known before
/// anything is sent.
///
/// # Errors
///
/// `path-not-allowed`; those of an input that a path needs.
pub(crate) fn check(
    operation: &Operation,
    inputs: &Inputs,
    files: &CallFiles,
    config: &Config,
) -> Result<(), Failure> {
    for stage in &operation.stages {
        let Stage::Http(stage) = stage else {
            continue;
        };
        let Some(file) = &stage.output_file else {
            continue;
        };
        let path = filled(&file.path, inputs, files, &[])?;
        // A folder: the file is named as the request's path ends.
        if !path.trim_end_matches('/').is_empty() {
            place(&path, Whose::of(&file.path), Path::new("."), config)?;
        }
    }
    Ok(())
}

/// Who says where an output file lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Whose {
    /// The document, with an absolute path.
    Document,
    /// The caller, or nobody: the file lies below the output directory.
    Caller,
}

impl Whose {
    /// Whose a path with these segments is.
    pub(super) fn of(path: &Segments) -> Self {
        match path.0.first() {
            Some(Segment::Literal { lit }) if lit.starts_with('/') => Self::Document,
            _ => Self::Caller,
        }
    }
}

/// The directory, and the path below it.
fn place(
    path: &str,
    whose: Whose,
    output: &Path,
    config: &Config,
) -> Result<(PathBuf, PathBuf), Failure> {
    let denied = || {
        let shown: String = path.chars().take(200).collect();
        Failure::new(
            Code::PathNotAllowed,
            format!(
                "the output file {shown:?} lies neither below the run's output directory nor in a directory of fs_write"
            ),
        )
        .with_hint("fs_write = [\"<directory>\"] in the table [govern] of hydrant.toml")
    };
    if path.chars().any(char::is_control) {
        return Err(denied());
    }
    let path = Path::new(path);
    if path.is_absolute() && whose == Whose::Caller {
        return Err(denied());
    }
    if path.is_absolute() {
        return config
            .fs_write
            .iter()
            .filter_map(|directory| {
                let canonical = directory.canonicalize().ok()?;
                let below = path
                    .strip_prefix(directory)
                    .or_else(|_| path.strip_prefix(&canonical))
                    .ok()?;
                Some((canonical, normal(below)?))
            })
            .next()
            .ok_or_else(denied);
    }
    let below = normal(path).ok_or_else(denied)?;
    Ok((output.to_owned(), below))
}

/// Without `.`; none with `..`, or if nothing is left.
fn normal(path: &Path) -> Option<PathBuf> {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::Normal(part) => normal.push(part),
            Component::CurDir => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    (normal.file_name().is_some()).then_some(normal)
}

fn make_private(directory: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(directory)
}
