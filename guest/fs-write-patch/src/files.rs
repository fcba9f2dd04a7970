//! The old state of every path that the diff names, read at once.

use std::collections::BTreeMap;

use kit::SkillError;
use kit::host::ReadFiles;
use kit::host::fs_read::{File, FsError, Overflow, ReadRequest, Symlinks};
use kit::path::{Path, denied, fs_error};

use crate::diff::Kind;
use crate::target::Target;

/// Bytes of one file (TS-53).
pub(crate) const MAX_FILE_BYTES: usize = 16_777_216;

/// Bytes of all files that are kept: with as much again for what becomes of them it fits in the memory of a call.
const MAX_BYTES: usize = 100_663_296;

/// What is asked of every file first: a thousand of them fit, and few are longer.
const FIRST_BYTES: u32 = 32_768;

/// Longer files asked for at once.
const LONG_FILES: usize = 4;

/// What stands at a path.
#[derive(Debug, Clone)]
pub(crate) enum State {
    Missing,
    /// A file stands where one of its directories would be.
    Blocked,
    /// A directory, or what is neither file nor directory.
    NotRegular,
    Regular(File),
}

/// The old state.
#[derive(Debug, Default)]
pub(crate) struct Files(BTreeMap<String, State>);

/// How much of a path has to be known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Need {
    /// Whether it exists.
    Existence,
    Content,
}

impl Files {
    /// Reads what all sections need.
    ///
    /// # Errors
    /// `denied` outside the grant and for a symbolic link in any component (TS-47), `too_large` for a file over
    /// 16,777,216 bytes or 100,663,296 bytes in all, and what else the host answers.
    pub(crate) fn read(
        host: &mut impl ReadFiles,
        targets: &[Target<'_>],
    ) -> Result<Self, SkillError> {
        let paths = needs(targets);
        let requests: Vec<_> = paths
            .values()
            .map(|(path, need)| match need {
                Need::Existence => request(path, 0, Overflow::Cut),
                Need::Content => request(path, FIRST_BYTES, Overflow::Refuse),
            })
            .collect();
        let mut files = Self::default();
        let mut long = Vec::new();
        let mut held = 0_usize;
        for ((path, _), answer) in paths.values().zip(host.read(&requests)) {
            if answer == Err(FsError::TooLarge) {
                long.push(*path);
            } else {
                files.keep(path, answer, &mut held)?;
            }
        }
        for paths in long.chunks(LONG_FILES) {
            let requests: Vec<_> = paths
                .iter()
                .map(|path| request(path, u32::MAX, Overflow::Refuse))
                .collect();
            for (path, answer) in paths.iter().zip(host.read(&requests)) {
                files.keep(path, answer, &mut held)?;
            }
        }
        Ok(files)
    }

    /// What stands at a path that was read.
    pub(crate) fn at(&self, path: &Path) -> &State {
        self.0.get(path.absolute()).unwrap_or(&State::Missing)
    }

    fn keep(
        &mut self,
        path: &Path,
        answer: Result<File, FsError>,
        held: &mut usize,
    ) -> Result<(), SkillError> {
        let state = match answer {
            Ok(file) => {
                *held = held.saturating_add(file.bytes.len());
                if *held > MAX_BYTES {
                    let what = format!("the files of the diff hold more than {MAX_BYTES} bytes");
                    return Err(SkillError::new("too_large", &what));
                }
                State::Regular(file)
            }
            Err(FsError::NotFound) => State::Missing,
            Err(FsError::NotDirectory) => State::Blocked,
            Err(FsError::IsDirectory | FsError::Special) => State::NotRegular,
            // Reading a link might be allowed; what is refused is to write through it.
            Err(FsError::Symlink | FsError::LeavesMount) => {
                return Err(denied("fs.write", path.absolute()));
            }
            Err(FsError::TooLarge) => {
                let what = format!("{}: larger than {MAX_FILE_BYTES} bytes", path.shown());
                return Err(SkillError::new("too_large", &what));
            }
            Err(error) => return Err(fs_error("fs.read", path, error)),
        };
        self.0.insert(path.absolute().to_owned(), state);
        Ok(())
    }
}

/// Each path once, with the most that any section needs of it.
fn needs<'t>(targets: &'t [Target<'_>]) -> BTreeMap<&'t str, (&'t Path, Need)> {
    let mut needs = BTreeMap::new();
    let mut add = |path: &'t Path, need: Need| {
        let known = needs.entry(path.absolute()).or_insert((path, need));
        known.1 = known.1.max(need);
    };
    for target in targets {
        match (target.section.kind, &target.source) {
            (Kind::Create, _) => add(&target.path, Need::Existence),
            (_, Some(source)) => {
                add(source, Need::Content);
                add(&target.path, Need::Existence);
            }
            (_, None) => add(&target.path, Need::Content),
        }
    }
    needs
}

fn request(path: &Path, max_bytes: u32, overflow: Overflow) -> ReadRequest {
    ReadRequest {
        path: path.absolute().to_owned(),
        max_bytes,
        overflow,
        symlinks: Symlinks::Refuse,
    }
}
