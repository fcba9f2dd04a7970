//! Sections that begin with `diff --git`, and their extended header (TS-44, TS-53).

use kit::SkillError;

use super::lines::Lines;
use super::name::{self, Name};
use super::{Form, Kind, Mode, Section, hunk, malformed};

/// What the lines between `diff --git` and `---` say.
#[derive(Default)]
struct Header<'a> {
    new_mode: Option<Mode>,
    old_mode: Option<Mode>,
    index_mode: Option<Mode>,
    created: Option<Mode>,
    deleted: Option<Mode>,
    rename_from: Option<Name<'a>>,
    rename_to: Option<Name<'a>>,
    copy_from: Option<Name<'a>>,
    copy_to: Option<Name<'a>>,
    binary: bool,
}

/// One section.
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
    let other_mode = header.other_mode();
    let (kind, mode, moved) = header.kind(line)?;
    let mut section = Section {
        line,
        form: Form::Git,
        kind,
        old: None,
        new: None,
        moved,
        mode,
        other_mode,
        binary: header.binary,
        hunks: Vec::new(),
    };
    if lines.at_names() {
        (section.old, section.new) = name::sides(lines)?;
        section.hunks = hunk::read_all(lines)?;
        settle(&mut section)?;
    } else if lines.at("--- ") || lines.at("+++ ") {
        return Err(malformed(
            lines.number(),
            "a --- line and a +++ line belong together",
        ));
    } else if section.moved.is_none() {
        if kind == Kind::Modify && mode.is_none() && !section.binary {
            return Err(malformed(line, "the section changes nothing"));
        }
        let names = first.strip_prefix("diff --git ").unwrap_or_default();
        let (old, new) = name::pair(names, line)?;
        (section.old, section.new) = (Some(old), Some(new));
    }
    Ok(section)
}

/// Makes what the header says and what the `---` and `+++` lines say agree.
fn settle(section: &mut Section<'_>) -> Result<(), SkillError> {
    let line = section.line;
    let sides = (section.old.is_some(), section.new.is_some());
    section.kind = match (section.kind, sides) {
        (_, (false, false)) => return Err(malformed(line, "both sides are /dev/null")),
        (Kind::Modify | Kind::Create, (false, true)) => Kind::Create,
        (Kind::Modify | Kind::Delete, (true, false)) => Kind::Delete,
        (Kind::Modify | Kind::Rename | Kind::Copy, (true, true)) => section.kind,
        (Kind::Create, _) => return Err(malformed(line, "a new file has /dev/null as old side")),
        (Kind::Delete, _) => {
            return Err(malformed(line, "a deleted file has /dev/null as new side"));
        }
        (Kind::Rename | Kind::Copy, _) => {
            return Err(malformed(line, "a renamed or copied file has two sides"));
        }
    };
    Ok(())
}

impl<'a> Header<'a> {
    /// Takes one line; false if it is none of the header's.
    fn read(&mut self, text: &'a str, line: usize) -> Result<bool, SkillError> {
        let after = |start| text.strip_prefix(start);
        if let Some(rest) = after("old mode ") {
            once(&mut self.old_mode, mode(rest, line)?, line)?;
        } else if let Some(rest) = after("new mode ") {
            once(&mut self.new_mode, mode(rest, line)?, line)?;
        } else if let Some(rest) = after("new file mode ") {
            once(&mut self.created, mode(rest, line)?, line)?;
        } else if let Some(rest) = after("deleted file mode ") {
            once(&mut self.deleted, mode(rest, line)?, line)?;
        } else if let Some(rest) = after("rename from ") {
            once(&mut self.rename_from, name::whole(rest, line)?, line)?;
        } else if let Some(rest) = after("rename to ") {
            once(&mut self.rename_to, name::whole(rest, line)?, line)?;
        } else if let Some(rest) = after("copy from ") {
            once(&mut self.copy_from, name::whole(rest, line)?, line)?;
        } else if let Some(rest) = after("copy to ") {
            once(&mut self.copy_to, name::whole(rest, line)?, line)?;
        } else if let Some(rest) = after("index ") {
            if let Some((_, rest)) = rest.split_once(' ') {
                once(&mut self.index_mode, mode(rest, line)?, line)?;
            }
        } else if text == "GIT binary patch" || name::binary(text).is_some() {
            self.binary = true;
        } else {
            let similarity = after("similarity index ").or_else(|| after("dissimilarity index "));
            return Ok(similarity.is_some());
        }
        Ok(true)
    }

    /// TS-53: whether a mode is that of a link or a submodule.
    fn other_mode(&self) -> bool {
        let modes = [
            self.old_mode,
            self.new_mode,
            self.index_mode,
            self.created,
            self.deleted,
        ];
        modes.contains(&Some(Mode::Other))
    }

    /// What the section does, the mode it gives, and the names of a rename or copy.
    #[allow(clippy::type_complexity, reason = "taken apart where it is called")]
    fn kind(
        &mut self,
        line: usize,
    ) -> Result<(Kind, Option<Mode>, Option<(Name<'a>, Name<'a>)>), SkillError> {
        let pair = |from: &mut Option<_>, to: &mut Option<_>| match (from.take(), to.take()) {
            (Some(from), Some(to)) => Ok(Some((from, to))),
            (None, None) => Ok(None),
            _ => Err(malformed(
                line,
                "a rename or copy has a source and a destination",
            )),
        };
        let renamed = pair(&mut self.rename_from, &mut self.rename_to)?;
        let copied = pair(&mut self.copy_from, &mut self.copy_to)?;
        match (renamed, copied, self.created, self.deleted) {
            (None, None, None, None) => Ok((Kind::Modify, self.new_mode, None)),
            (None, None, Some(mode), None) => Ok((Kind::Create, Some(mode), None)),
            (None, None, None, Some(_)) => Ok((Kind::Delete, None, None)),
            (Some(names), None, None, None) => Ok((Kind::Rename, self.new_mode, Some(names))),
            (None, Some(names), None, None) => Ok((Kind::Copy, self.new_mode, Some(names))),
            _ => Err(malformed(
                line,
                "a section is only one of new, deleted, renamed and copied",
            )),
        }
    }
}

fn once<T>(place: &mut Option<T>, value: T, line: usize) -> Result<(), SkillError> {
    match place.replace(value) {
        None => Ok(()),
        Some(_) => Err(malformed(line, "the section says this twice")),
    }
}

fn mode(text: &str, line: usize) -> Result<Mode, SkillError> {
    match text.trim_ascii_end() {
        "100644" => Ok(Mode::Regular),
        "100755" => Ok(Mode::Executable),
        other if !other.is_empty() && other.bytes().all(|b| matches!(b, b'0'..=b'7')) => {
            Ok(Mode::Other)
        }
        _ => Err(malformed(line, "not a file mode")),
    }
}
