//! Where a repository lies.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::{Clock, Ended, Ending, Guarded, Place, ProcessError, late};

/// Bytes of an answer: four paths.
const MAX_BYTES: usize = 64 * 1024;

/// What the names of the parts of a split index begin with.
const SHARED_INDEX: &[u8] = b"sharedindex.";

/// One line each, the last one only where there is a work tree.
const WHERE: [&str; 7] = [
    "--no-pager",
    "rev-parse",
    "--path-format=absolute",
    "--absolute-git-dir",
    "--git-common-dir",
    "--show-prefix",
    "--show-toplevel",
];

/// What the guard found.
pub(super) enum Looked {
    /// A repository inside the mount.
    Repository(Repository),
    /// Git says that there is none, or nothing in time.
    Answer(Ended),
}

/// A repository that lies inside the mount.
#[derive(Debug)]
pub(super) struct Repository {
    /// Where `HEAD` and `index` are.
    pub(super) git_directory: PathBuf,
    /// Where `config` is.
    pub(super) common_directory: PathBuf,
    /// Directories from its top level down to the working directory.
    pub(super) depth: usize,
}

impl Repository {
    /// Whether a part of a split index is a link: git sets the times of what it points to whenever it reads it.
    pub(super) fn has_linked_index(&self) -> io::Result<bool> {
        for entry in self.git_directory.read_dir()? {
            let entry = entry?;
            let name = entry.file_name();
            let shared = name.as_encoded_bytes().starts_with(SHARED_INDEX);
            if shared && entry.file_type()?.is_symlink() {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl Guarded<'_> {
    /// Looks for the repository of the working directory.
    ///
    /// # Errors
    /// [`ProcessError::DirectoryDenied`] when a part of it lies outside of the mount, or where it lies is not said in
    /// one line each.
    pub(super) fn look(&self, clock: Clock) -> Result<Looked, ProcessError> {
        let Some(ended) = self.ask(&WHERE, clock, MAX_BYTES)? else {
            return Ok(Looked::Answer(late(clock)));
        };
        let lines = match ended.ending {
            Ending::Exited(0) => 4,
            // Bare, or inside the git directory; git stops at the last question.
            Ending::Exited(_) if !ended.stdout.is_empty() => 3,
            Ending::Exited(_) => return Ok(Looked::Answer(ended)),
            Ending::Signaled(_) | Ending::TimedOut => return Err(ProcessError::NotStartable),
        };
        let written = ended.stdout;
        let found = if written.truncated {
            None
        } else {
            found(&written.bytes, lines, self.place)
        };
        found
            .map(Looked::Repository)
            .ok_or(ProcessError::DirectoryDenied)
    }
}

/// Reads exactly so many `lines`; none if there are others, or a directory lies outside of `mount`.
///
/// A path with a line feed in it makes a line more, so that the number of lines tells it.
fn found(written: &[u8], lines: usize, mount: Place<'_>) -> Option<Repository> {
    let parts: Vec<&[u8]> = written
        .strip_suffix(b"\n")?
        .split(|byte| *byte == b'\n')
        .collect();
    let (git_directory, common, prefix, top) = match (lines, parts.as_slice()) {
        (4, [git_directory, common, prefix, top]) => (git_directory, common, prefix, Some(top)),
        (3, [git_directory, common, prefix]) => (git_directory, common, prefix, None),
        _ => return None,
    };
    let inside = |path: &[u8]| mount.real(Path::new(OsStr::from_bytes(path)));
    let common_directory = inside(common)?;
    if let Some(top) = top {
        inside(top)?;
    }
    let segments = prefix.split(|byte| *byte == b'/');
    Some(Repository {
        git_directory: inside(git_directory)?,
        common_directory,
        depth: segments.filter(|segment| !segment.is_empty()).count(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_directory_lies_inside_and_has_one_line() {
        let directory = tempfile::tempdir().unwrap();
        let mount = directory.path().canonicalize().unwrap();
        let inner = mount.join("a\nb");
        std::fs::create_dir(&inner).unwrap();
        let (at, inner) = (mount.display(), inner.display());
        let depth = |written: String, lines| {
            let place = Place {
                inside: &mount,
                real: &mount,
            };
            found(written.as_bytes(), lines, place).map(|repository| repository.depth)
        };
        assert_eq!(depth(format!("{at}\n{at}\n\n{at}\n"), 4), Some(0));
        assert_eq!(depth(format!("{at}\n{at}\nd/e/\n{at}\n"), 4), Some(2));
        assert_eq!(depth(format!("{at}\n{at}\n\n"), 3), Some(0));
        for (written, lines) in [
            (format!("{at}\n{at}\n\n/\n"), 4),
            (format!("/\n{at}\n\n{at}\n"), 4),
            (format!("{at}\n/\n\n{at}\n"), 4),
            (format!("{at}\n/\n\n"), 3),
            (format!("{at}/..\n{at}\n\n"), 3),
            (format!("{at}/none\n{at}\n\n"), 3),
            (format!("{inner}\n{at}\n\n{at}\n"), 4),
            (format!("{inner}\n{at}\n"), 3),
            (format!("{at}\n{at}\n\n{at}"), 4),
            (format!("{at}\n{at}\n"), 3),
            (String::new(), 3),
        ] {
            assert_eq!(depth(written.clone(), lines), None, "{written:?}");
        }
    }
}
