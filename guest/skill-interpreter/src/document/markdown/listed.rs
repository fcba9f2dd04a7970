//! Inline operations: list items and table cells that name a request (K-97).

use super::info::is_target;
use super::outline::Span;
use crate::http_command::verb::VERBS;

/// A request that a list item or a table cell names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Listed {
    /// `VERB target`, as written.
    pub(crate) request: String,
    /// The text that follows.
    pub(crate) description: String,
}

/// The request of an item by the spans of its text: the first code span, if it is one.
pub(crate) fn of_item(spans: &[Span]) -> Option<Listed> {
    let (code, after) = first_code(spans)?;
    Some(Listed {
        request: request(code)?,
        description: description(after.iter()),
    })
}

/// The requests of a row. What follows a cell's request, up to the next cell with one, describes it.
pub(crate) fn of_row(cells: &[Vec<Span>]) -> Vec<Listed> {
    let mut listed: Vec<Listed> = Vec::new();
    for cell in cells {
        let found = first_code(cell).and_then(|(code, after)| Some((request(code)?, after)));
        match (found, listed.last_mut()) {
            (Some((request, after)), _) => listed.push(Listed {
                request,
                description: description(after.iter()),
            }),
            (None, Some(last)) => {
                let more = description(cell.iter());
                if !last.description.is_empty() && !more.is_empty() {
                    last.description.push(' ');
                }
                last.description.push_str(&more);
            }
            (None, None) => {}
        }
    }
    listed
}

/// The first code span, and what follows it.
pub(crate) fn first_code(spans: &[Span]) -> Option<(&str, &[Span])> {
    let at = spans
        .iter()
        .position(|span| matches!(span, Span::Code(_)))?;
    match spans.split_at_checked(at)?.1 {
        [Span::Code(code), after @ ..] => Some((code, after)),
        _ => None,
    }
}

/// Exactly `VERB target`.
fn request(code: &str) -> Option<String> {
    let code = code.trim();
    let (verb, target) = code.split_once(char::is_whitespace)?;
    let target = target.trim_start();
    let exact = VERBS.contains(&verb) && is_target(target) && !target.contains(char::is_whitespace);
    exact.then(|| format!("{verb} {target}"))
}

/// The text of spans without what separates it from what stands before.
fn description<'s>(spans: impl Iterator<Item = &'s Span>) -> String {
    let text: String = spans.map(Span::text).collect();
    let separators = [':', '-', '–', '—', '|', '=', '>', '→', ' ', ',', '.'];
    text.trim().trim_start_matches(separators).trim().to_owned()
}
