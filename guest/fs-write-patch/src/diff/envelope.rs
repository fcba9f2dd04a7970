//! Sections of the form that some models write between `*** Begin Patch` and `*** End Patch`.
//!
//! Its hunks have no line numbers. What stands behind `@@` is a line somewhere above the hunk; it is not needed, as a hunk
//! without numbers must have one place only.

use kit::SkillError;

use super::lines::Lines;
use super::{Kind, Section, hunk, malformed, name};

/// What begins a section, and what it does.
const BEGINNINGS: [(&str, Kind); 3] = [
    ("*** Add File: ", Kind::Create),
    ("*** Update File: ", Kind::Modify),
    ("*** Delete File: ", Kind::Delete),
];

/// Reads a section if the next line begins one.
pub(super) fn section<'a>(lines: &mut Lines<'a>) -> Result<Option<Section<'a>>, SkillError> {
    let line = lines.number();
    let first = lines.peek().unwrap_or_default();
    let named = |(start, kind): &(&str, Kind)| Some((first.strip_prefix(start)?, *kind));
    let Some((text, kind)) = BEGINNINGS.iter().find_map(named) else {
        return Ok(None);
    };
    lines.next();
    let name = name::whole(text.trim(), line)?;
    let mut section = Section::new(line, false, kind);
    (section.old, section.new) = (Some(name.clone()), Some(name.clone()));
    section.deletes_all = kind == Kind::Delete;
    if let Some(text) = lines
        .peek()
        .and_then(|line| line.strip_prefix("*** Move to: "))
    {
        section.kind = Kind::Rename;
        section.moved = Some((name, name::whole(text.trim(), lines.number())?));
        (section.old, section.new) = (None, None);
        lines.next();
    }
    if kind != Kind::Delete {
        while !lines.at_boundary() || lines.at("@@") {
            let begin = lines.number();
            // The last `@@` of several is that of the hunk.
            while lines.at("@@") {
                lines.next();
            }
            section
                .hunks
                .push(hunk::without_header(lines, begin, kind == Kind::Create)?);
            if lines.at("*** End of File") {
                lines.next();
            }
        }
    }
    if kind == Kind::Modify && section.hunks.is_empty() && section.moved.is_none() {
        return Err(malformed(line, "the section changes nothing"));
    }
    Ok(Some(section))
}
