//! What becomes of each section: the edits of its file, or why it is rejected (TS-48 to TS-54).

use kit::SkillError;
use kit::host::fs_read::File;
use kit::path::Path;

use crate::diff::{Hunk, Kind, Mode, Section};
use crate::files::{Files, MAX_FILE_BYTES, State};
use crate::old_side;
use crate::place::{self, Edit, Misfit, Placer, Work};
use crate::response::{Action, Reason, Rejects};
use crate::target::Target;

/// Bytes that one call writes.
const MAX_WRITTEN_BYTES: usize = 67_108_864;

/// A section that applies.
#[derive(Debug)]
pub(crate) struct Outcome<'t> {
    pub(crate) target: &'t Target<'t>,
    pub(crate) action: Action,
    /// The file that the new content is made of, if it is made of one.
    pub(crate) old: Option<&'t File>,
    edits: Vec<Edit>,
    line_end: &'static str,
    /// Bytes of the new content.
    length: usize,
    pub(crate) executable: bool,
}

impl Outcome<'_> {
    /// Hunks that were applied.
    pub(crate) fn hunks(&self) -> usize {
        self.edits.len()
    }

    /// The new content (TS-56: every byte outside the edits is that of the old one).
    pub(crate) fn content(&self) -> Vec<u8> {
        let old = self.old.map_or(&[][..], |file| &file.bytes);
        let mut content = Vec::with_capacity(self.length);
        let mut copied = 0;
        for (hunk, edit) in self.target.section.hunks.iter().zip(&self.edits) {
            content.extend_from_slice(old.get(copied..edit.replaced.start).unwrap_or_default());
            old_side::write_new(&mut content, hunk, edit, self.line_end);
            copied = edit.replaced.end;
        }
        content.extend_from_slice(old.get(copied..).unwrap_or_default());
        content
    }
}

/// Why a section is rejected as a whole.
type WholeFile = (Reason, &'static str);

/// Applies a section to the old state in memory; none if it is rejected.
pub(crate) fn compute<'t>(
    target: &'t Target<'t>,
    files: &'t Files,
    fuzz: usize,
    rejects: &mut Rejects,
    work: &mut Work,
) -> Result<Option<Outcome<'t>>, SkillError> {
    let section = target.section;
    let (action, old) = match check(target, files) {
        Ok(checked) => checked,
        Err((reason, message)) => {
            rejects.add(&target.path, 0, reason, message);
            return Ok(None);
        }
    };
    let content = old.map_or(&[][..], |file| &file.bytes);
    let line_end = line_end(section, content);
    let mut placer = Placer::new(content, line_end, fuzz);
    let Some(edits) = place_all(&mut placer, section, &target.path, rejects, work)? else {
        return Ok(None);
    };
    let length = edits.iter().fold(content.len(), |length, edit| {
        length
            .saturating_sub(edit.replaced.len())
            .saturating_add(edit.inserted)
    });
    if action == Action::Deleted && length > 0 {
        let message = "the file is not empty after the hunks that delete it";
        rejects.add(&target.path, 0, Reason::NotEmpty, message);
        return Ok(None);
    }
    let executable = match section.mode {
        Some(mode) => mode == Mode::Executable,
        None => old.is_some_and(|file| file.executable),
    };
    Ok(Some(Outcome {
        target,
        action,
        old,
        edits,
        line_end,
        length,
        executable,
    }))
}

/// Places the hunks of a section; none if one does not fit.
fn place_all(
    placer: &mut Placer<'_>,
    section: &Section<'_>,
    path: &Path,
    rejects: &mut Rejects,
    work: &mut Work,
) -> Result<Option<Vec<Edit>>, SkillError> {
    let mut edits = Vec::with_capacity(section.hunks.len());
    for (hunk, number) in section.hunks.iter().zip(1..) {
        match placer.place(hunk, work)? {
            Ok(edit) => edits.push(edit),
            Err(misfit) => {
                let (reason, message) = explain(hunk, misfit);
                rejects.add(path, number, reason, &message);
                if rejects.truncated() {
                    break;
                }
            }
        }
    }
    Ok((edits.len() == section.hunks.len()).then_some(edits))
}

/// TS-52, TS-53: what the section does with the files as they are.
fn check<'t>(
    target: &Target<'_>,
    files: &'t Files,
) -> Result<(Action, Option<&'t File>), WholeFile> {
    let section = target.section;
    if section.other_mode {
        return Err((
            Reason::Mode,
            "only the modes 100644 and 100755 can be applied",
        ));
    }
    if section.binary {
        return Err((Reason::BinaryPatch, "a binary patch cannot be applied"));
    }
    let absent = || match files.at(&target.path) {
        State::Missing => Ok(()),
        State::Regular(_) | State::NotRegular => {
            Err((Reason::TargetExists, "the file to be made exists already"))
        }
        State::Blocked => {
            let what = "a file stands where a directory of the file to be made would be";
            Err((Reason::TargetExists, what))
        }
    };
    let present = || match files.at(target.content_path()) {
        State::Regular(file) => Ok(Some(file)),
        State::NotRegular => Err((Reason::NotRegular, "not a regular file")),
        State::Missing | State::Blocked => Err((
            Reason::TargetMissing,
            "the file that the section changes does not exist",
        )),
    };
    match section.kind {
        Kind::Modify if section.may_create() && absent().is_ok() => Ok((Action::Created, None)),
        Kind::Modify if section.hunks.is_empty() => Ok((Action::Mode, present()?)),
        Kind::Modify => Ok((Action::Modified, present()?)),
        Kind::Delete => Ok((Action::Deleted, present()?)),
        Kind::Create => absent().map(|()| (Action::Created, None)),
        Kind::Rename => Ok((Action::Renamed, present()?)).and_then(|both| absent().map(|()| both)),
        Kind::Copy => Ok((Action::Copied, present()?)).and_then(|both| absent().map(|()| both)),
    }
}

/// TS-49: what ends the lines of the hunks.
fn line_end(section: &Section<'_>, content: &[u8]) -> &'static str {
    let crlf = place::ends_in_crlf(content)
        && !section
            .hunks
            .iter()
            .flat_map(Hunk::lines)
            .any(|line| line.text.ends_with('\r'));
    if crlf { "\r\n" } else { "\n" }
}

fn explain(hunk: &Hunk<'_>, misfit: Misfit) -> (Reason, String) {
    let stated = u64::from(hunk.position).saturating_add(1);
    match misfit {
        Misfit::Nowhere { line } if hunk.old_lines == 0 => (
            Reason::ContextMismatch,
            format!("no lines can be added at line {line} of the file"),
        ),
        Misfit::Nowhere { line } => (
            Reason::ContextMismatch,
            format!(
                "the old lines do not match at line {stated}, where line {line} is the first that differs, and nowhere below"
            ),
        ),
        Misfit::Ambiguous => (
            Reason::Ambiguous,
            format!(
                "the old lines do not match at line {stated} and match in several other places"
            ),
        ),
    }
}

/// Refuses what would be more than the host takes.
pub(crate) fn check_sizes(outcomes: &[Outcome<'_>]) -> Result<(), SkillError> {
    let mut all = 0_usize;
    for outcome in outcomes {
        if outcome.length > MAX_FILE_BYTES {
            let path = outcome.target.path.shown();
            let what = format!("{path}: would be larger than {MAX_FILE_BYTES} bytes");
            return Err(SkillError::new("too_large", &what));
        }
        all = all.saturating_add(outcome.length);
    }
    if all > MAX_WRITTEN_BYTES {
        let what = format!("the new files would hold more than {MAX_WRITTEN_BYTES} bytes");
        return Err(SkillError::new("too_large", &what));
    }
    Ok(())
}
