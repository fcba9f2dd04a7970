//! The old state of the paths that the diff names.

use std::collections::BTreeMap;

use kit::SkillError;
use kit::host::ReadFiles;
use kit::host::fs_read::{File, FsError, Overflow, ReadRequest, Symlinks};
use kit::path::{Path, denied, fs_error};

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
pub(crate) struct Files {
    states: BTreeMap<String, State>,
}

/// How much of a path has to be known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Need {
    /// Whether it exists.
    Existence,
    Content,
}

impl Files {
    /// Reads these paths, each with the most that is needed of it. One that `may_fail` and does counts as missing.
    ///
    /// # Errors
    /// `denied` outside the grant and for a symbolic link in any component, and what else
    /// the host answers.
    pub(crate) fn read<'p>(
        &mut self,
        host: &mut impl ReadFiles,
        needs: impl Iterator<Item = (&'p Path, Need)>,
        may_fail: bool,
    ) -> Result<(), SkillError> {
        let mut paths = BTreeMap::new();
        for (path, need) in needs {
            if self.states.contains_key(path.absolute()) {
                continue;
            }
            let known = paths.entry(path.absolute()).or_insert((path, need));
            known.1 = known.1.max(need);
        }
        if paths.is_empty() {
            return Ok(());
        }
        let forgive = |error| if may_fail { Ok(()) } else { Err(error) };
        let requests: Vec<_> = paths
            .values()
            .map(|(path, need)| match need {
                Need::Existence => request(path, 0, Overflow::Cut),
                Need::Content => request(path, FIRST_BYTES, Overflow::Refuse),
            })
            .collect();
        let mut long = Vec::new();
        for ((path, _), answer) in paths.values().zip(host.read(&requests)) {
            if answer == Err(FsError::TooLarge) {
                long.push(*path);
            } else {
                self.keep(path, answer).or_else(forgive)?;
            }
        }
        for paths in long.chunks(LONG_FILES) {
            let requests: Vec<_> = paths
                .iter()
                .map(|path| request(path, u32::MAX, Overflow::Refuse))
                .collect();
            for (path, answer) in paths.iter().zip(host.read(&requests)) {
                self.keep(path, answer).or_else(forgive)?;
            }
        }
        Ok(())
    }

    /// What stands at a path that was read.
    pub(crate) fn at(&self, path: &Path) -> &State {
        self.states.get(path.absolute()).unwrap_or(&State::Missing)
    }

    /// Whether nothing stands there.
    pub(crate) fn is_missing(&self, path: &Path) -> bool {
        matches!(self.at(path), State::Missing | State::Blocked)
    }

    fn keep(&mut self, path: &Path, answer: Result<File, FsError>) -> Result<(), SkillError> {
        let state = match answer {
            Ok(file) => State::Regular(file),
            Err(FsError::NotFound) => State::Missing,
            Err(FsError::NotDirectory) => State::Blocked,
            Err(FsError::IsDirectory | FsError::Special) => State::NotRegular,
            // Reading a link might be allowed; what is refused is to write through it.
            Err(FsError::Symlink | FsError::LeavesMount) => {
                return Err(denied("fs.write", path.absolute()));
            }
            Err(error) => return Err(fs_error("fs.read", path, error)),
        };
        self.states.insert(path.absolute().to_owned(), state);
        Ok(())
    }
}

fn request(path: &Path, max_bytes: u32, overflow: Overflow) -> ReadRequest {
    ReadRequest {
        path: path.absolute().to_owned(),
        max_bytes,
        overflow,
        symlinks: Symlinks::Refuse,
    }
}
