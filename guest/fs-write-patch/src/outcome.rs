//! What becomes of each target: the new content of its file, or why it is rejected.

use kit::host::fs_read::File;

use crate::diff::Kind;
use crate::files::{Files, State};
use crate::place;
use crate::response::{Reason, Rejects};
use crate::target::Target;

/// A target whose sections apply.
#[derive(Debug)]
pub(crate) struct Outcome<'t> {
    pub(crate) target: &'t Target<'t>,
    /// What is done; of a section that may create its file and does, `Create`.
    pub(crate) action: Kind,
    /// The file that the new content is made of, if it is made of one.
    pub(crate) old: Option<&'t File>,
    pub(crate) content: Vec<u8>,
    pub(crate) executable: bool,
    /// Hunks that were applied.
    pub(crate) hunks: usize,
    /// What was read otherwise than it is written.
    pub(crate) notes: Vec<String>,
}

/// Why a target is rejected as a whole.
type WholeFile = (Reason, &'static str);

/// Applies the sections of a target to the old state in memory; none if it is rejected.
pub(crate) fn compute<'t>(
    target: &'t Target<'t>,
    files: &'t Files,
    fuzz: usize,
    rejects: &mut Rejects,
) -> Option<Outcome<'t>> {
    let (action, old) = match check(target, files) {
        Ok(checked) => checked,
        Err((reason, message)) => {
            rejects.add(&target.path, 0, reason, message);
            return None;
        }
    };
    let mut notes = target.notes.clone();
    let mut content = old.map(|file| file.bytes.clone()).unwrap_or_default();
    let mut hunks = 0_usize;
    for section in &target.sections {
        notes.extend(section.hunks.iter().filter_map(|hunk| hunk.note.clone()));
        if !section.hunks.is_empty() {
            match place::apply(&content, &section.hunks, fuzz, &mut notes) {
                Ok(new) => content = new,
                Err(misfits) => {
                    for (index, reason, message) in misfits {
                        let number = hunks.saturating_add(index).saturating_add(1);
                        rejects.add(&target.path, number, reason, &message);
                    }
                    return None;
                }
            }
        }
        hunks = hunks.saturating_add(section.hunks.len());
    }
    let all = target.sections.iter().any(|section| section.deletes_all);
    if action == Kind::Delete && !content.is_empty() && !all {
        let message = "the file is not empty after the hunks that delete it";
        rejects.add(&target.path, 0, Reason::NotEmpty, message);
        return None;
    }
    let stated = target.sections.iter().rev();
    let stated = stated.filter_map(|section| section.executable).next();
    let executable = stated.unwrap_or_else(|| old.is_some_and(|file| file.executable));
    Some(Outcome {
        target,
        action,
        old,
        content,
        executable,
        hunks,
        notes,
    })
}

/// What a target does with the files as they are.
fn check<'t>(target: &Target<'_>, files: &'t Files) -> Result<(Kind, Option<&'t File>), WholeFile> {
    if target.sections.iter().any(|section| section.other_mode) {
        let what = "only the modes 100644 and 100755 can be applied";
        return Err((Reason::Mode, what));
    }
    if target.sections.iter().any(|section| section.binary) {
        return Err((Reason::BinaryPatch, "a binary patch cannot be applied"));
    }
    let there = files.at(&target.path);
    let no_hunks = target
        .sections
        .iter()
        .all(|section| section.hunks.is_empty());
    let action = match target.kind {
        Kind::Modify if target.may_create() && matches!(there, State::Missing) => {
            return Ok((Kind::Create, None));
        }
        Kind::Modify if no_hunks => Kind::Mode,
        kind => kind,
    };
    let old = match files.at(target.content_path()) {
        _ if target.kind == Kind::Create => None,
        State::Regular(file) => Some(file),
        State::NotRegular => return Err((Reason::NotRegular, "not a regular file")),
        State::Missing | State::Blocked => {
            let what = "the file that the section changes does not exist";
            return Err((Reason::TargetMissing, what));
        }
    };
    match there {
        State::Regular(_) | State::NotRegular if action.makes_file() => {
            Err((Reason::TargetExists, "the file to be made exists already"))
        }
        State::Blocked if action.makes_file() => {
            let what = "a file stands where a directory of the file to be made would be";
            Err((Reason::TargetExists, what))
        }
        _ => Ok((action, old)),
    }
}
