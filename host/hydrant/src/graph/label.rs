//! The text of a node in pictures.

use super::{Kind, Node};

/// Columns of one line of a label; the rest is an ellipsis.
const LINE: usize = 40;

/// The lines of a node's label, made safe to show: what it is called, where it is, its errors.
pub(super) fn lines(node: &Node) -> Vec<String> {
    let mut lines = Vec::with_capacity(3);
    if let Some(name) = &node.name {
        lines.push(start_of(&shown(name)));
    }
    lines.push(end_of(&shown(&node.uri)));
    lines.extend(node.errors.iter().map(|code| format!("ERROR: {code}")));
    lines
}

/// What is said of a node where there is room: for a tooltip, or a screen reader.
pub(super) fn title(node: &Node) -> String {
    let mut title = format!("{} {}", kind(node.kind), shown(&node.uri));
    for text in [&node.name, &node.description].into_iter().flatten() {
        title.push_str(" - ");
        title.push_str(&shown(text));
    }
    for code in &node.errors {
        title.push_str(" - ERROR: ");
        title.push_str(code);
    }
    title
}

pub(super) fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Agent => "agent",
        Kind::Skill => "skill",
        Kind::Tool => "tool",
    }
}

/// One line without what is invisible, turns the direction of text around it, or is no text.
pub(super) fn shown(text: &str) -> String {
    text.chars()
        .map(|character| match character {
            '\t' | '\n' | '\r' | '\u{2028}' | '\u{2029}' => ' ',
            hidden if is_hidden(hidden) => char::REPLACEMENT_CHARACTER,
            character => character,
        })
        .collect()
}

fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(u32::from(character),
            0x00AD | 0x061C | 0x180E | 0xFEFF
            | 0x200B..=0x200F | 0x202A..=0x202E | 0x2060..=0x206F
            | 0xFDD0..=0xFDEF | 0xFFF9..=0xFFFB | 0xE0000..=0xE0FFF)
        || u32::from(character) & 0xFFFE == 0xFFFE
}

/// Of a name the beginning says most.
fn start_of(text: &str) -> String {
    let kept = fitting(text.chars());
    if kept == text.chars().count() {
        return text.to_owned();
    }
    text.chars().take(kept).chain(['…']).collect()
}

/// Of a URI the end says most.
fn end_of(uri: &str) -> String {
    let length = uri.chars().count();
    let kept = fitting(uri.chars().rev());
    if kept == length {
        return uri.to_owned();
    }
    let end = uri.chars().skip(length - kept);
    ['…'].into_iter().chain(end).collect()
}

/// How many characters fit on a line, beside the ellipsis if not all do.
fn fitting(characters: impl Iterator<Item = char>) -> usize {
    let (mut columns, mut fitting) = (0, 0);
    for (index, character) in characters.enumerate() {
        // Most of what comes after the alphabets is as wide as it is high.
        columns += if u32::from(character) < 0x1100 { 1 } else { 2 };
        if columns < LINE {
            fitting = index + 1;
        } else if columns > LINE {
            return fitting;
        }
    }
    fitting + usize::from(columns == LINE)
}
