//! Handing the new contents to the host, all at once.

use kit::SkillError;
use kit::host::WriteFiles;
use kit::host::fs_read::{File, FsError};
use kit::host::fs_write::{Change, Content, Expected, Failure};
use kit::path::{Path, fs_error};
use sha2::{Digest, Sha256};

use crate::diff::Kind;
use crate::outcome::Outcome;

/// Writes what the outcomes say, in their order.
///
/// # Errors
/// Nothing was changed: `conflict` when a path no longer is what it was when it was read, `denied` when it may not
/// be written, and what else the host answers.
pub(crate) fn apply(
    host: &mut impl WriteFiles,
    outcomes: &mut [Outcome<'_>],
) -> Result<(), SkillError> {
    let mut changes = Vec::with_capacity(outcomes.len());
    let mut paths = Vec::with_capacity(outcomes.len());
    for outcome in outcomes {
        let target = outcome.target;
        changes.push(change(outcome));
        paths.push(&target.path);
        // The destination first: whatever happens in between, the content is somewhere.
        if let (Kind::Rename, Some(source)) = (outcome.action, &target.source) {
            changes.push(deletion(source, outcome.old));
            paths.push(source);
        }
    }
    host.apply(&changes)
        .map_err(|failure| explain(failure, &paths))
}

fn change(outcome: &mut Outcome<'_>) -> Change {
    let path = &outcome.target.path;
    let expected = match outcome.action {
        Kind::Delete => return deletion(path, outcome.old),
        Kind::Create | Kind::Rename | Kind::Copy => Expected::Absent,
        Kind::Modify | Kind::Mode => digest(outcome.old),
    };
    Change {
        path: path.absolute().to_owned(),
        expected,
        content: Some(Content {
            bytes: std::mem::take(&mut outcome.content),
            executable: outcome.executable,
        }),
    }
}

fn deletion(path: &Path, old: Option<&File>) -> Change {
    Change {
        path: path.absolute().to_owned(),
        expected: digest(old),
        content: None,
    }
}

/// What a file held when it was read.
fn digest(old: Option<&File>) -> Expected {
    old.map_or(Expected::Absent, |file| {
        Expected::Sha256(Sha256::digest(&file.bytes).to_vec())
    })
}

fn explain(failure: Failure, paths: &[&Path]) -> SkillError {
    let path = usize::try_from(failure.change)
        .ok()
        .and_then(|change| paths.get(change));
    let Some(path) = path else {
        return SkillError::new(
            "internal",
            "the host failed at a change it was not asked for",
        );
    };
    match failure.reason {
        // It was there and regular, or not there, when it was read.
        FsError::NotFound | FsError::IsDirectory | FsError::NotDirectory | FsError::Special => {
            fs_error("fs.write", path, FsError::Conflict)
        }
        FsError::NotAccessible if paths.len() > 1 => fs_error("fs.write", path, FsError::NotAccessible)
            .because("not accessible to the host, or the host has no home folder for the journal of several changes"),
        reason => fs_error("fs.write", path, reason),
    }
}
