//! Sections that begin with `diff --git`, and their extended header.

use kit::SkillError;

use super::lines::Lines;
use super::name::{self, Name};
use super::{Form, Kind, Mode, Section, hunk, malformed};

/// What the lines between `diff --git` and `---` say.
#[derive(Default)]
struct Header<'a> {
    new_mode: Option<Mode>,
    created: Option<Mode>,
    deleted: Option<Mode>,
    /// Any mode is that of a link or a submodule.
    other_mode: bool,
    renamed: Pair<'a>,
    copied: Pair<'a>,
    binary: bool,
}

/// Source and destination.
type Pair<'a> = (Option<Name<'a>>, Option<Name<'a>>);

/// Reads one section.
pub(super) fn section<'a>(lines: &mut Lines<'a>) -> Result<Section<'a>, SkillError> {
    let line = lines.number();
    let first = lines.next().unwrap_or_default();
    let mut header = Header::default();
    while let Some(text) = lines.peek() {
        if !header.read(text, lines.number())? {
            break;
        }
        lines.next();
    }
    let mut section = header.section(line)?;
    let names = name::pair(first.strip_prefix("diff --git ").unwrap_or_default(), line);
    if lines.at_names() {
        let sides = name::sides(lines)?;
        section.kind = kind(section.kind, (sides.0.is_some(), sides.1.is_some()), line)?;
        section.hunks = hunk::read_all(lines, section.kind == Kind::Create)?;
        // Of a file that one side does not have, the first line tells the prefixes of both.
        let same =
            |a: &Name<'_>, b: &Option<Name<'_>>| Some(&a.text) == b.as_ref().map(|b| &b.text);
        (section.old, section.new) = match (names, sides) {
            (Ok((old, new)), (None, side)) if same(&new, &side) => (Some(old), side),
            (Ok((old, new)), (side, None)) if same(&old, &side) => (side, Some(new)),
            (_, sides) => sides,
        };
    } else if lines.at("--- ") || lines.at("+++ ") {
        let what = "a --- line and a +++ line belong together";
        return Err(malformed(lines.number(), what));
    } else if section.moved.is_none() {
        if section.kind == Kind::Modify && section.mode.is_none() && !section.binary {
            return Err(malformed(line, "the section changes nothing"));
        }
        let (old, new) = names?;
        (section.old, section.new) = (Some(old), Some(new));
    }
    Ok(section)
}

/// What the section does, if the header says `kind` and these sides are not `/dev/null`.
fn kind(kind: Kind, sides: (bool, bool), line: usize) -> Result<Kind, SkillError> {
    match (kind, sides) {
        (_, (false, false)) => Err(malformed(line, "both sides are /dev/null")),
        (Kind::Modify | Kind::Create, (false, true)) => Ok(Kind::Create),
        (Kind::Modify | Kind::Delete, (true, false)) => Ok(Kind::Delete),
        (Kind::Modify | Kind::Rename | Kind::Copy, (true, true)) => Ok(kind),
        (Kind::Create, _) => Err(malformed(line, "a new file has /dev/null as old side")),
        (Kind::Delete, _) => Err(malformed(line, "a deleted file has /dev/null as new side")),
        (Kind::Rename | Kind::Copy, _) => {
            Err(malformed(line, "a renamed or copied file has two sides"))
        }
    }
}

impl<'a> Header<'a> {
    /// Takes one line; false if it is none of the header's.
    fn read(&mut self, text: &'a str, line: usize) -> Result<bool, SkillError> {
        let after = |start| text.strip_prefix(start);
        if let Some(rest) = after("old mode ") {
            self.mode(rest, line)?;
        } else if let Some(rest) = after("new mode ") {
            let mode = self.mode(rest, line)?;
            once(&mut self.new_mode, mode, line)?;
        } else if let Some(rest) = after("new file mode ") {
            let mode = self.mode(rest, line)?;
            once(&mut self.created, mode, line)?;
        } else if let Some(rest) = after("deleted file mode ") {
            let mode = self.mode(rest, line)?;
            once(&mut self.deleted, mode, line)?;
        } else if let Some(rest) = after("rename from ") {
            once(&mut self.renamed.0, name::whole(rest, line)?, line)?;
        } else if let Some(rest) = after("rename to ") {
            once(&mut self.renamed.1, name::whole(rest, line)?, line)?;
        } else if let Some(rest) = after("copy from ") {
            once(&mut self.copied.0, name::whole(rest, line)?, line)?;
        } else if let Some(rest) = after("copy to ") {
            once(&mut self.copied.1, name::whole(rest, line)?, line)?;
        } else if let Some(rest) = after("index ") {
            if let Some((_, rest)) = rest.split_once(' ') {
                self.mode(rest, line)?;
            }
        } else if text == "GIT binary patch" || name::binary(text).is_some() {
            self.binary = true;
        } else {
            let similarity = after("similarity index ").or_else(|| after("dissimilarity index "));
            return Ok(similarity.is_some());
        }
        Ok(true)
    }

    fn mode(&mut self, text: &str, line: usize) -> Result<Mode, SkillError> {
        match text.trim_ascii_end() {
            "100644" => Ok(Mode::Regular),
            "100755" => Ok(Mode::Executable),
            other if !other.is_empty() && other.bytes().all(|b| matches!(b, b'0'..=b'7')) => {
                self.other_mode = true;
                Ok(Mode::Other)
            }
            _ => Err(malformed(line, "not a file mode")),
        }
    }

    /// What the header says, without names and hunks.
    fn section(self, line: usize) -> Result<Section<'a>, SkillError> {
        let pair = |names: Pair<'a>| match names {
            (Some(from), Some(to)) => Ok(Some((from, to))),
            (None, None) => Ok(None),
            _ => Err(malformed(
                line,
                "a rename or copy has a source and a destination",
            )),
        };
        let (kind, mode, moved) = match (
            pair(self.renamed)?,
            pair(self.copied)?,
            self.created,
            self.deleted,
        ) {
            (None, None, None, None) => (Kind::Modify, self.new_mode, None),
            (None, None, Some(mode), None) => (Kind::Create, Some(mode), None),
            (None, None, None, Some(_)) => (Kind::Delete, None, None),
            (Some(names), None, None, None) => (Kind::Rename, self.new_mode, Some(names)),
            (None, Some(names), None, None) => (Kind::Copy, self.new_mode, Some(names)),
            _ => {
                let what = "a section is only one of new, deleted, renamed and copied";
                return Err(malformed(line, what));
            }
        };
        let mut section = Section::new(line, Form::Git, kind);
        (section.mode, section.moved) = (mode, moved);
        (section.other_mode, section.binary) = (self.other_mode, self.binary);
        Ok(section)
    }
}

fn once<T>(place: &mut Option<T>, value: T, line: usize) -> Result<(), SkillError> {
    match place.replace(value) {
        None => Ok(()),
        Some(_) => Err(malformed(line, "the section says this twice")),
    }
}
