//! `WORKFLOWS.md`: which workflows the index names, in which order.

use super::workflow::{Problem, front_matter, is_id, one_line};

/// What the index says.
#[derive(Debug, Default)]
pub(super) struct Index {
    /// Ids by first mention.
    pub(super) ids: Vec<String>,
    /// `index: closed`: only these are active.
    pub(super) closed: bool,
    pub(super) text: String,
    /// Its front matter does not load.
    pub(super) problem: Option<Problem>,
}

/// Reads `WORKFLOWS.md`.
pub(super) fn read(text: &str) -> Index {
    let mut index = Index {
        text: text.to_owned(),
        ..Index::default()
    };
    let document = kit::front_matter::split(text);
    if let Some(front) = document.front_matter.and_then(|range| text.get(range)) {
        match front_matter(front) {
            Ok(members) => index.closed = members.get("index") == Some(&"closed".into()),
            Err(problem) => index.problem = Some(problem),
        }
    }
    let body = text.get(document.content..).unwrap_or_default();
    // Whether this line still belongs to a list item or table row of which no link was seen.
    let mut open = false;
    for line in body.lines() {
        if line.trim().is_empty() || line.starts_with('#') {
            open = false;
        } else if begins_item(line.trim_start()) {
            open = true;
        } else if !line.starts_with([' ', '\t']) {
            open = false;
        }
        if open && let Some(id) = links(line).next() {
            open = false;
            if !index.ids.contains(&id) {
                index.ids.push(id);
            }
        }
    }
    index
}

/// Whether a list item or a table row begins here.
fn begins_item(line: &str) -> bool {
    if line.starts_with("- ") || line.starts_with("* ") || line.starts_with("+ ") {
        return true;
    }
    if line.starts_with('|') {
        return true;
    }
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let after = line.get(digits..).unwrap_or_default();
    digits > 0 && (after.starts_with(". ") || after.starts_with(") "))
}

/// Ids of `[[workflows/<id>]]`, `[[workflows/<id>.md]]` and `[[<id>]]`, in order.
fn links(line: &str) -> impl Iterator<Item = String> {
    line.split("[[")
        .skip(1)
        .filter_map(|rest| rest.split_once("]]"))
        .map(|(inside, _)| inside)
        .filter(|inside| inside.starts_with("workflows/") || !inside.contains('.'))
        .map(target)
        .filter(|id| is_id(id))
}

/// What a reference names: the id in `[[…]]`, with or without folder, ending and label.
pub(super) fn target(text: &str) -> String {
    let text = text.trim();
    let inside = text
        .strip_prefix("[[")
        .and_then(|rest| rest.strip_suffix("]]"))
        .unwrap_or(text);
    let inside = inside.split(['|', '#']).next().unwrap_or_default().trim();
    let inside = inside.strip_prefix("workflows/").unwrap_or(inside);
    one_line(inside.strip_suffix(".md").unwrap_or(inside))
}
