//! Sections of the form that some models write between `*** Begin Patch` and `*** End Patch`.
//!
//! Its hunks have no line numbers. What stands behind `@@` is a line somewhere above the hunk. It does not tell which of
//! several places is meant, but a place above it is none.

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
            let mut anchors = Vec::new();
            while let Some(header) = lines.peek().filter(|line| line.starts_with("@@")) {
                anchors.extend(hunk::anchor(header));
                lines.next();
            }
            let mut hunk = hunk::without_header(lines, begin, kind == Kind::Create)?;
            hunk.anchors = anchors;
            section.hunks.push(hunk);
            if lines.at("*** End of File") {
                lines.next();
            }
        }
        refuse_end(lines)?;
    }
    if kind == Kind::Modify && section.hunks.is_empty() && section.moved.is_none() {
        return Err(malformed(line, "the section changes nothing"));
    }
    Ok(Some(section))
}

/// Refuses an end that is none: a line without a mark, such as a fence of Markdown, and more of the same text behind it.
fn refuse_end(lines: &Lines<'_>) -> Result<(), SkillError> {
    let mut rest = lines.clone();
    while rest.peek().is_some() && !rest.at_mark() {
        rest.next();
    }
    if rest.peek().is_some() && rest.number() > lines.number() {
        let what = "a line without a blank, `+` or `-` before it, and more of the patch behind it";
        return Err(malformed(lines.number(), what));
    }
    Ok(())
}
