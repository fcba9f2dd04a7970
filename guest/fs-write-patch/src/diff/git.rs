//! Sections that begin with `diff --git`, and their extended header.

use kit::SkillError;

use super::lines::Lines;
use super::name::{self, Name};
use super::{Kind, Section, hunk, malformed};

/// What the lines of an extended header begin with.
const KEYS: [&str; 11] = [
    "old mode ",
    "new mode ",
    "new file mode ",
    "deleted file mode ",
    "rename from ",
    "rename to ",
    "copy from ",
    "copy to ",
    "index ",
    "similarity index ",
    "dissimilarity index ",
];

/// A section whose header is being read.
struct Header<'a> {
    section: Section<'a>,
    /// Source and destination of a rename or copy.
    from: Option<Name<'a>>,
    to: Option<Name<'a>>,
}

/// Reads one section.
pub(super) fn section<'a>(lines: &mut Lines<'a>) -> Result<Section<'a>, SkillError> {
    let line = lines.number();
    let first = lines.next().unwrap_or_default();
    let mut header = Header {
        section: Section::new(line, true, Kind::Modify),
        from: None,
        to: None,
    };
    while let Some(text) = lines.peek() {
        if !header.read(text, lines.number())? {
            break;
        }
        lines.next();
    }
    let Header {
        mut section,
        from,
        to,
    } = header;
    section.moved = from.zip(to);
    if section.moved.is_none() && matches!(section.kind, Kind::Rename | Kind::Copy) {
        let what = "a rename or copy has a source and a destination";
        return Err(malformed(line, what));
    }
    let names = name::pair(first.strip_prefix("diff --git ").unwrap_or_default(), line);
    if lines.at_names() {
        let sides = name::sides(lines)?;
        section.kind = kind(section.kind, (sides.0.is_some(), sides.1.is_some()), line)?;
        section.hunks = hunk::read_all(lines, section.kind == Kind::Create)?;
        // Of a file that one side does not have, the first line tells the prefixes of both.
        let same =
            |a: &Name<'_>, b: &Option<Name<'_>>| b.as_ref().is_some_and(|b| a.text == b.text);
        (section.old, section.new) = match (names, sides) {
            (Ok((old, new)), (None, side)) if same(&new, &side) => (Some(old), side),
            (Ok((old, new)), (side, None)) if same(&old, &side) => (side, Some(new)),
            (_, sides) => sides,
        };
    } else if lines.at("--- ") || lines.at("+++ ") {
        let what = "a --- line and a +++ line belong together";
        return Err(malformed(lines.number(), what));
    } else if section.moved.is_none() {
        let is_empty = section.executable.is_none() && !section.binary;
        if lines.at("@@") {
            section.hunks = hunk::read_all(lines, section.kind == Kind::Create)?;
        } else if section.kind == Kind::Modify && is_empty {
            return Err(malformed(line, "the section changes nothing"));
        }
        let (old, new) = names?;
        (section.old, section.new) = (Some(old), Some(new));
    }
    Ok(section)
}

/// What a section does whose header says `kind` and which has these sides.
fn kind(kind: Kind, sides: (bool, bool), line: usize) -> Result<Kind, SkillError> {
    match (kind, sides) {
        (Kind::Modify | Kind::Create, (false, true)) => Ok(Kind::Create),
        (Kind::Modify | Kind::Delete, (true, false)) => Ok(Kind::Delete),
        (Kind::Modify | Kind::Rename | Kind::Copy, (true, true)) => Ok(kind),
        _ => {
            let what =
                "only a new file has /dev/null as old side, and only a deleted one as new side";
            Err(malformed(line, what))
        }
    }
}

impl<'a> Header<'a> {
    /// Takes one line; false if it is none of the header's.
    fn read(&mut self, text: &'a str, line: usize) -> Result<bool, SkillError> {
        let after = |key: &&'static str| Some((*key, text.strip_prefix(key)?));
        let Some((key, rest)) = KEYS.iter().find_map(after) else {
            let binary = text == "GIT binary patch" || name::binary(text).is_some();
            self.section.binary |= binary;
            return Ok(binary);
        };
        let kind = match key.split(' ').next() {
            Some("rename") => Kind::Rename,
            Some("copy") => Kind::Copy,
            Some("deleted") => Kind::Delete,
            _ if key == "new file mode " => Kind::Create,
            _ => self.section.kind,
        };
        if self.section.kind != Kind::Modify && self.section.kind != kind {
            let what = "a section is only one of new, deleted, renamed and copied";
            return Err(malformed(line, what));
        }
        self.section.kind = kind;
        match key {
            "rename from " | "copy from " => once(&mut self.from, name::whole(rest, line)?, line)?,
            "rename to " | "copy to " => once(&mut self.to, name::whole(rest, line)?, line)?,
            "new mode " | "new file mode " => {
                let mode = self.mode(rest, line)?;
                once(&mut self.section.executable, mode, line)?;
            }
            "old mode " | "deleted file mode " => {
                self.mode(rest, line)?;
            }
            "index " => {
                if let Some((_, mode)) = rest.split_once(' ') {
                    self.mode(mode, line)?;
                }
            }
            _ => {}
        }
        Ok(true)
    }

    /// Whether a mode is that of an executable file.
    fn mode(&mut self, text: &str, line: usize) -> Result<bool, SkillError> {
        let text = text.trim_ascii_end();
        if text.is_empty() || !text.bytes().all(|byte| matches!(byte, b'0'..=b'7')) {
            return Err(malformed(line, "not a file mode"));
        }
        self.section.other_mode |= !["100644", "100755"].contains(&text);
        Ok(text == "100755")
    }
}

fn once<T>(place: &mut Option<T>, value: T, line: usize) -> Result<(), SkillError> {
    match place.replace(value) {
        None => Ok(()),
        Some(_) => Err(malformed(line, "the section says this twice")),
    }
}
