//! `WORKFLOWS.md`: which workflows the index names, in which order.

use super::workflow::{Problem, is_id, one_line};
use super::yaml::{self, Value};

/// What the index says.
#[derive(Debug, Default)]
pub(super) struct Index {
    /// Ids by first mention, each with its line.
    pub(super) ids: Vec<(String, usize)>,
    /// `index: closed`: only these are active.
    pub(super) closed: bool,
    pub(super) problems: Vec<Problem>,
}

/// Reads `WORKFLOWS.md`.
pub(super) fn read(text: &str) -> Index {
    let mut index = Index::default();
    let document = kit::front_matter::split(text);
    if let Some(front) = document.front_matter.and_then(|range| text.get(range)) {
        match yaml::parse(front) {
            Ok(entries) => {
                index.closed = entries.iter().any(|entry| {
                    entry.key == "index"
                        && matches!(&entry.value.value, Value::Scalar(text) if text == "closed")
                });
            }
            Err(refused) => index.problems.push(Problem {
                line: refused.line.saturating_add(1),
                code: "C01",
                message: refused.reason,
            }),
        }
    }
    let body = text.get(document.content..).unwrap_or_default();
    let before = text
        .get(..document.content)
        .unwrap_or_default()
        .matches('\n')
        .count();
    // Whether this line still belongs to a list item or table row of which no link was seen.
    let mut open = false;
    for (number, line) in (before.saturating_add(1)..).zip(body.lines()) {
        if line.trim().is_empty() || line.starts_with('#') {
            open = false;
        } else if begins_item(line.trim_start()) {
            open = true;
        } else if !line.starts_with([' ', '\t']) {
            open = false;
        }
        if open && let Some(id) = links(line).next() {
            open = false;
            if !index.ids.iter().any(|(known, _)| *known == id) {
                index.ids.push((id, number));
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

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(text: &str) -> Vec<String> {
        read(text).ids.into_iter().map(|(id, _)| id).collect()
    }

    #[test]
    fn q_94_list_items_and_rows_name_one_workflow_each_in_order() {
        let text = "# W\n\nSee [[prose]].\n\n- first [[b]], unlike [[a]]\n* on\n  the next line [[workflows/c.md]]\n\n| [[workflows/d]] | x |\n1. [[b]] again\n2. [[a|A]]\n- [[README.md]] [[../x]] [[Upper]]\n";
        assert_eq!(ids(text), ["b", "c", "d", "a"]);
        assert_eq!(read(text).ids[1], ("c".to_owned(), 7));
    }

    #[test]
    fn q_94_the_front_matter_may_close_the_index() {
        assert!(read("---\nindex: closed\n---\n- [[a]]\n").closed);
        assert!(!read("---\nindex: open\n---\n").closed);
        let broken = read("---\nindex: [\n---\n- [[a]]\n");
        assert_eq!(broken.problems[0].code, "C01");
        assert_eq!(broken.ids, [("a".to_owned(), 4)]);
    }
}
