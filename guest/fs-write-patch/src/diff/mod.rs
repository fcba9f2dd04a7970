//! The unified diff, read completely before anything else happens.
//!
//! Three kinds of sections are known: those that begin with `diff --git`, bare `---` and `+++` lines with hunks, and
//! those of a `*** Begin Patch` text.
//! Text between them is ignored, but never something that looks like a change: a hunk outside a section, or a combined
//! diff, are errors, because whoever sent them meant them to be applied.

mod envelope;
mod git;
mod hunk;
mod lines;
mod name;

use kit::SkillError;
use serde::Serialize;
use serde_json::json;

pub(crate) use hunk::{Hunk, Line, LineKind};
pub(crate) use name::Name;

use lines::Lines;

/// Sections of a diff.
const MAX_SECTIONS: usize = 1_000;

/// What a section does with its files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(crate) enum Kind {
    /// Changes a file that exists.
    #[serde(rename = "modified")]
    Modify,
    #[serde(rename = "created")]
    Create,
    #[serde(rename = "deleted")]
    Delete,
    /// Makes a file of another one, which is deleted.
    #[serde(rename = "renamed")]
    Rename,
    /// Makes a file of another one, which stays.
    #[serde(rename = "copied")]
    Copy,
    /// Changes the mode of a file alone.
    #[serde(rename = "mode")]
    Mode,
}

impl Kind {
    /// Whether it makes a file where none may be.
    pub(crate) fn makes_file(self) -> bool {
        matches!(self, Self::Create | Self::Rename | Self::Copy)
    }
}

/// What a diff says about one file, or about two of which one becomes the other.
#[derive(Debug)]
pub(crate) struct Section<'a> {
    /// Where it begins: the line of the diff, from 1.
    pub(crate) line: usize,
    /// It begins with `diff --git`.
    pub(crate) git: bool,
    pub(crate) kind: Kind,
    /// The name of the old side; none if it is not known.
    pub(crate) old: Option<Name<'a>>,
    /// The name of the new side, likewise.
    pub(crate) new: Option<Name<'a>>,
    /// Source and destination of a rename or copy; these names carry no prefix.
    pub(crate) moved: Option<(Name<'a>, Name<'a>)>,
    /// Whether the file gets the mode 100755 or 100644, if the section says so.
    pub(crate) executable: Option<bool>,
    /// A mode of either side is not that of a file that can be patched.
    pub(crate) other_mode: bool,
    /// It says that a binary file changes, and not how, or in a form that is not read.
    pub(crate) binary: bool,
    /// It deletes the file whatever that holds.
    pub(crate) deletes_all: bool,
    pub(crate) hunks: Vec<Hunk<'a>>,
}

impl<'a> Section<'a> {
    /// A section that says nothing yet.
    fn new(line: usize, git: bool, kind: Kind) -> Self {
        Self {
            line,
            git,
            kind,
            old: None,
            new: None,
            moved: None,
            executable: None,
            other_mode: false,
            binary: false,
            deletes_all: false,
            hunks: Vec::new(),
        }
    }

    /// Whether a bare section whose file does not exist makes it: its only hunk adds lines to nothing.
    pub(crate) fn may_create(&self) -> bool {
        !self.git
            && self.kind == Kind::Modify
            && matches!(self.hunks.as_slice(), [hunk] if hunk.adds_to_nothing())
    }
}

/// Reads a diff.
///
/// # Errors
/// `malformed` with the line in its details; `too_large` for more than 1,000 sections; `unsupported` for a name that
/// is not UTF-8.
pub(crate) fn parse(text: &str) -> Result<Vec<Section<'_>>, SkillError> {
    let mut lines = Lines::new(text);
    let mut sections = Vec::new();
    while let Some(section) = next_section(&mut lines)? {
        if sections.len() == MAX_SECTIONS {
            let what = format!("the diff has more than {MAX_SECTIONS} sections");
            return Err(SkillError::new("too_large", &what));
        }
        sections.push(section);
    }
    if sections.is_empty() {
        return Err(malformed(1, "the text holds no section of a unified diff"));
    }
    Ok(sections)
}

/// `malformed` at a line of the diff.
pub(crate) fn malformed(line: usize, what: &str) -> SkillError {
    SkillError::new("malformed", &format!("line {line} of the diff: {what}"))
        .with_details(json!({ "line": line }).to_string())
}

fn next_section<'a>(lines: &mut Lines<'a>) -> Result<Option<Section<'a>>, SkillError> {
    while let Some(line) = lines.peek() {
        if line.starts_with("diff --git ") {
            return git::section(lines).map(Some);
        }
        if let Some(section) = envelope::section(lines)? {
            return Ok(Some(section));
        }
        if lines.at_names() {
            return plain(lines).map(Some);
        }
        if let Some((old, new)) = name::binary(line) {
            let number = lines.number();
            let mut section = sided(number, name::side(old, number)?, name::side(new, number)?)?;
            section.binary = true;
            lines.next();
            return Ok(Some(section));
        }
        if lines.at_order() {
            let what = "none of `*** Add File: `, `*** Update File: ` and `*** Delete File: `";
            return Err(malformed(lines.number(), what));
        }
        let refused = [
            (
                "diff --cc ",
                "a combined diff of several parents cannot be applied",
            ),
            (
                "diff --combined ",
                "a combined diff of several parents cannot be applied",
            ),
            ("@@", "a hunk without the --- and +++ lines of its file"),
        ];
        if let Some((_, what)) = refused.iter().find(|(start, _)| line.starts_with(start)) {
            return Err(malformed(lines.number(), what));
        }
        lines.next();
    }
    Ok(None)
}

/// A section of `---`, `+++` and hunks.
fn plain<'a>(lines: &mut Lines<'a>) -> Result<Section<'a>, SkillError> {
    let line = lines.number();
    let (old, new) = name::sides(lines)?;
    let mut section = sided(line, old, new)?;
    section.hunks = hunk::read_all(lines, section.kind == Kind::Create)?;
    Ok(section)
}

/// A bare section of these sides, of which one may be `/dev/null`.
fn sided<'a>(
    line: usize,
    old: Option<Name<'a>>,
    new: Option<Name<'a>>,
) -> Result<Section<'a>, SkillError> {
    let kind = match (&old, &new) {
        (Some(_), Some(_)) => Kind::Modify,
        (None, Some(_)) => Kind::Create,
        (Some(_), None) => Kind::Delete,
        (None, None) => return Err(malformed(line, "both sides are /dev/null")),
    };
    let mut section = Section::new(line, false, kind);
    (section.old, section.new) = (old, new);
    Ok(section)
}
