//! What the text of a document says of its skill: who it is (K-94), which secrets it asks for (K-102), where its API is
//! (K-103).

use url::Url;

use super::lines::Lines;
use super::outline::{Block, Kind, Outline, Span, plain};
use super::wording::{addresses, after_base_label, is_constant_name};
use crate::assemble::secrets::looks_secret;
use crate::document::SkillDeclaration;
use crate::identifier::slug;

/// K-102: sections whose code spans name secrets.
const SECRET_SECTIONS: [&str; 5] = [
    "authentication",
    "authorization",
    "secrets",
    "setup",
    "requirements",
];

/// Lines of a labelled fence that are looked at for a base URL.
const LABELLED_LINES: u32 = 20;

/// K-94: what front matter does not say.
pub(crate) fn identify(skill: &mut SkillDeclaration, outline: &Outline) {
    let Some(first) = outline
        .sections
        .iter()
        .position(|section| section.level == 1)
    else {
        return;
    };
    if skill.name.is_empty()
        && let Some(section) = outline.sections.get(first)
    {
        section.title.clone_into(&mut skill.name);
    }
    if skill.description.is_empty() {
        let after = outline
            .blocks
            .iter()
            .skip_while(|block| !(block.section == first && matches!(block.kind, Kind::Heading(_))))
            .skip(1);
        let paragraph = after
            .take_while(|block| !matches!(block.kind, Kind::Heading(_) | Kind::Fence(_)))
            .find_map(|block| match &block.kind {
                Kind::Text(spans) if block.item.is_none() => Some(plain(spans)),
                _ => None,
            });
        skill.description = paragraph.unwrap_or_default();
    }
}

/// K-102: names in code spans of the sections that are about credentials, in order.
pub(crate) fn secrets(outline: &Outline) -> Vec<String> {
    // A section's parent comes before it, so that one pass tells for all.
    let mut about: Vec<bool> = Vec::with_capacity(outline.sections.len());
    for section in &outline.sections {
        let inherited = section.parent.and_then(|parent| about.get(parent).copied());
        let named =
            slug(&section.title).is_some_and(|slug| SECRET_SECTIONS.contains(&slug.as_str()));
        about.push(named || inherited.unwrap_or_default());
    }
    let inside = |block: &&Block| about.get(block.section).copied().unwrap_or_default();
    outline
        .blocks
        .iter()
        .filter(inside)
        .flat_map(|block| match &block.kind {
            Kind::Heading(spans) | Kind::Text(spans) => vec![spans],
            Kind::Row(cells) => cells.iter().collect(),
            _ => Vec::new(),
        })
        .flatten()
        .filter_map(|span| match span {
            Span::Code(text) if is_constant_name(text) && looks_secret(text) => Some(text.clone()),
            _ => None,
        })
        .collect()
}

/// Returns the address that the document calls its base: the first one behind such a label, on its line or in the lines of
/// a fence or the line that follows.
pub(crate) fn base_url(lines: &Lines<'_>) -> Option<String> {
    let mut number = 1;
    // A label within a sentence may tell of anything: it counts where no line begins with one.
    let mut within = None;
    while let Some(line) = lines.get(number) {
        number = number.saturating_add(1);
        let Some((rest, begins_line)) = after_base_label(line) else {
            continue;
        };
        match base_in(rest) {
            Some(found) if begins_line => return Some(found),
            found => within = within.or(found),
        }
        if !begins_line {
            continue;
        }
        let next = (number..=lines.count()).find(|number| {
            lines
                .get(*number)
                .is_some_and(|line| !line.trim().is_empty())
        });
        let Some((next, line)) = next.and_then(|next| Some((next, lines.get(next)?))) else {
            break;
        };
        let found = match fence_mark(line) {
            None => base_in(line),
            Some(mark) => (next.saturating_add(1)..next.saturating_add(LABELLED_LINES))
                .map_while(|number| lines.get(number))
                .take_while(|line| fence_mark(line) != Some(mark))
                .find_map(base_in),
        };
        if found.is_some() {
            return found;
        }
        // Blank lines are not walked over again.
        number = next.max(number);
    }
    within
}

/// The first address of a text that a request can be sent to, without user information; of one whose path goes on with a
/// variable, what stands before it.
fn base_in(text: &str) -> Option<String> {
    addresses(text).find_map(|address| {
        let end = ["{", "$", "<", "...", "…"]
            .iter()
            .filter_map(|mark| address.find(mark))
            .min();
        let literal = match end {
            Some(end) => address.get(..end)?.rsplit_once('/')?.0,
            None => address,
        };
        let url = Url::parse(literal).ok()?;
        let is_plain = url.has_host() && url.username().is_empty() && url.password().is_none();
        is_plain.then(|| literal.to_owned())
    })
}

/// The character that a fence is made of, if a line begins or ends one.
fn fence_mark(line: &str) -> Option<char> {
    let line =
        line.trim_start_matches(|character: char| character.is_whitespace() || character == '>');
    ['`', '~'].into_iter().find(|mark| {
        let marks = line.chars().take_while(|character| character == mark);
        marks.count() >= 3
    })
}
