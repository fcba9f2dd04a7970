//! The unified diff, read completely before anything else happens (TS-44, TS-45).
//!
//! Two kinds of sections are known: those that begin with `diff --git`, and bare `---` and `+++` lines with hunks.
//! Text between them is ignored, but never something that looks like a change: a hunk outside a section, a combined
//! diff, a line too many after a hunk are errors, because whoever sent them meant them to be applied.

mod git;
mod hunk;
mod lines;
mod name;

use kit::SkillError;
use serde_json::json;

pub use hunk::{Hunk, Kind as LineKind, Line};
pub use name::Name;

use lines::Lines;

/// Sections of a diff.
const MAX_SECTIONS: usize = 1_000;

/// What a section does with its files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Changes a file that exists.
    Modify,
    /// Makes a file.
    Create,
    /// Deletes a file.
    Delete,
    /// Makes a file of another one, which is deleted.
    Rename,
    /// Makes a file of another one, which stays.
    Copy,
}

/// The mode a file gets (TS-53).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// `100644`
    Regular,
    /// `100755`
    Executable,
    /// A link, a submodule, or bits that no file gets here.
    Other,
}

/// How a section is written, which decides what its names may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// `diff --git`
    Git,
    /// Bare `---` and `+++` lines.
    Plain,
}

/// What a diff says about one file, or about two of which one becomes the other.
#[derive(Debug)]
pub struct Section<'a> {
    /// Where it begins: the line of the diff, from 1.
    pub line: usize,
    /// How it is written.
    pub form: Form,
    /// What it does.
    pub kind: Kind,
    /// The old side; none if that is `/dev/null` or not named.
    pub old: Option<Name<'a>>,
    /// The new side, likewise.
    pub new: Option<Name<'a>>,
    /// Source and destination of a rename or copy; these names carry no prefix (TS-46).
    pub moved: Option<(Name<'a>, Name<'a>)>,
    /// The mode that the file gets, if the section says so.
    pub mode: Option<Mode>,
    /// A mode of either side is not that of a file that can be patched.
    pub other_mode: bool,
    /// It says that a binary file changes, and not how, or in a form that is not read.
    pub binary: bool,
    /// In the order of the file, without overlaps.
    pub hunks: Vec<Hunk<'a>>,
}

impl Section<'_> {
    /// Whether a bare section whose file does not exist makes it: its only hunk adds lines to nothing.
    #[must_use]
    pub fn may_create(&self) -> bool {
        self.form == Form::Plain
            && self.kind == Kind::Modify
            && matches!(self.hunks.as_slice(), [hunk] if hunk.adds_to_nothing())
    }
}

/// Reads a diff.
///
/// # Errors
/// `malformed` with the line in its details; `too_large` for more than 1,000 sections; `unsupported` for a name that
/// is not UTF-8.
pub fn parse(text: &str) -> Result<Vec<Section<'_>>, SkillError> {
    let mut lines = Lines::new(text);
    let mut sections = Vec::new();
    while let Some(section) = next_section(&mut lines)? {
        if sections.len() == MAX_SECTIONS {
            return Err(SkillError::new(
                "too_large",
                &format!("the diff has more than {MAX_SECTIONS} sections"),
            ));
        }
        sections.push(section);
    }
    if sections.is_empty() {
        return Err(malformed(1, "the text holds no section of a unified diff"));
    }
    Ok(sections)
}

/// `malformed` at a line of the diff (TS-45).
#[must_use]
pub fn malformed(line: usize, what: &str) -> SkillError {
    SkillError::new("malformed", &format!("line {line} of the diff: {what}"))
        .with_details(json!({ "line": line }).to_string())
}

fn next_section<'a>(lines: &mut Lines<'a>) -> Result<Option<Section<'a>>, SkillError> {
    while let Some(line) = lines.peek() {
        if line.starts_with("diff --git ") {
            return git::section(lines).map(Some);
        }
        if lines.at_names() {
            return plain(lines).map(Some);
        }
        if let Some(names) = name::binary(line) {
            return binary(names, lines).map(Some);
        }
        if ["diff --cc ", "diff --combined ", "@@@ -"]
            .iter()
            .any(|start| line.starts_with(start))
        {
            return Err(malformed(
                lines.number(),
                "a combined diff of several parents cannot be applied",
            ));
        }
        if line.starts_with("@@ -") {
            return Err(malformed(
                lines.number(),
                "a hunk without the --- and +++ lines of its file",
            ));
        }
        lines.next();
    }
    Ok(None)
}

/// A section of `---`, `+++` and hunks.
fn plain<'a>(lines: &mut Lines<'a>) -> Result<Section<'a>, SkillError> {
    let line = lines.number();
    let (old, new) = name::sides(lines)?;
    let kind = match (&old, &new) {
        (Some(_), Some(_)) => Kind::Modify,
        (None, Some(_)) => Kind::Create,
        (Some(_), None) => Kind::Delete,
        (None, None) => return Err(malformed(line, "both sides are /dev/null")),
    };
    Ok(Section {
        line,
        form: Form::Plain,
        kind,
        old,
        new,
        moved: None,
        mode: None,
        other_mode: false,
        binary: false,
        hunks: hunk::read_all(lines)?,
    })
}

/// What `diff -r` says of two binary files.
fn binary<'a>(
    (old, new): (&'a str, &'a str),
    lines: &mut Lines<'a>,
) -> Result<Section<'a>, SkillError> {
    let line = lines.number();
    lines.next();
    let old = name::side(old, line)?;
    let new = name::side(new, line)?;
    if old.is_none() && new.is_none() {
        return Err(malformed(line, "both sides are /dev/null"));
    }
    Ok(Section {
        line,
        form: Form::Plain,
        kind: Kind::Modify,
        old,
        new,
        moved: None,
        mode: None,
        other_mode: false,
        binary: true,
        hunks: Vec::new(),
    })
}
