//! Requests that stand in headings, list items and rows of tables.

use super::outline::{Span, plain};
use crate::http_command::verb::{VERBS, is_target};

/// A request that a heading, an item or a row names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Listed {
    /// `VERB target`, as written.
    pub(crate) request: String,
    /// The text that follows.
    pub(crate) description: String,
}

/// The request of a heading or an item by the spans of its text: the first code span, if it is one; else the text itself,
/// where it begins with a method (in bold or not) and a path.
pub(crate) fn of_text(spans: &[Span]) -> Option<Listed> {
    if let Some((code, after)) = first_code(spans)
        && let Some(request) = request(code)
    {
        return Some(Listed {
            request,
            description: description(after.iter()),
        });
    }
    let text = plain(first_line(spans));
    // `### 3. GET /x`
    let text =
        text.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | ')' | ' '));
    let (method, rest) = text.split_once(char::is_whitespace)?;
    let rest = rest.trim_start();
    let (target, after) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let target = target.trim_end_matches([':', '：', ',', ';']);
    // `GET / POST` names no path.
    let is_path = !matches!(target, "/" | "$" | "{" | "<") || after.is_empty();
    Some(Listed {
        request: request(&format!("{} {target}", method.trim_matches(is_mark)))
            .filter(|_| is_path)?,
        description: without_separators(after),
    })
}

/// The request of a paragraph that is nothing but one, or a label and one: `**Endpoint:** \`GET /x\``, `**GET** /x`.
pub(crate) fn of_paragraph(spans: &[Span]) -> Option<Listed> {
    let line = first_line(spans);
    let before = line
        .iter()
        .take_while(|span| !matches!(span, Span::Code(_)));
    let label: String = before.map(Span::text).collect();
    let label = label.trim_end();
    let is_label = label.is_empty() || label.len() < 40 && label.ends_with(':');
    let is_marked = matches!(line.first(), Some(Span::Bold(_)));
    (is_label || is_marked).then(|| of_text(line)).flatten()
}

fn first_line(spans: &[Span]) -> &[Span] {
    spans
        .split(|span| *span == Span::Break)
        .next()
        .unwrap_or_default()
}

/// The requests of a row: cells that are one, or a cell that is a method (or several) and another that is a path. What
/// follows describes it.
pub(crate) fn of_row(cells: &[Vec<Span>]) -> Vec<Listed> {
    let mut listed: Vec<Listed> = Vec::new();
    for cell in cells {
        match (of_text(cell), listed.last_mut()) {
            (Some(found), _) => listed.push(found),
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
    if listed.is_empty() {
        return of_columns(cells);
    }
    listed
}

/// `| GET | /items | all of them |`, the columns in any order.
fn of_columns(cells: &[Vec<Span>]) -> Vec<Listed> {
    let texts: Vec<String> = cells.iter().map(|cell| plain(cell)).collect();
    let methods = |text: &String| -> Option<Vec<&'static str>> {
        let words = text
            .split([' ', '/', ',', '|'])
            .filter(|word| !word.is_empty());
        let known = words.map(|word| VERBS.into_iter().find(|verb| *verb == word));
        known
            .collect::<Option<Vec<_>>>()
            .filter(|known| !known.is_empty())
    };
    let is_path =
        |text: &String| is_target(text) && text.len() > 1 && !text.contains(char::is_whitespace);
    let Some((method_at, methods)) = texts
        .iter()
        .enumerate()
        .find_map(|(at, text)| Some((at, methods(text)?)))
    else {
        return Vec::new();
    };
    let Some(path_at) = texts.iter().position(is_path) else {
        return Vec::new();
    };
    let others = texts
        .iter()
        .enumerate()
        .filter(|(at, text)| *at != method_at && *at != path_at && !text.is_empty());
    let description: Vec<&str> = others.map(|(_, text)| text.as_str()).collect();
    let path = texts.get(path_at).map(String::as_str).unwrap_or_default();
    methods
        .into_iter()
        .map(|method| Listed {
            request: format!("{method} {path}"),
            description: description.join(" "),
        })
        .collect()
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
    let (target, rest) = target
        .split_once(char::is_whitespace)
        .unwrap_or((target, ""));
    let exact = VERBS.contains(&verb)
        && is_target(target)
        && (rest.is_empty() || rest.trim_start().starts_with("HTTP/"));
    exact.then(|| format!("{verb} {target}"))
}

/// The text of spans without what separates it from what stands before.
fn description<'s>(spans: impl Iterator<Item = &'s Span>) -> String {
    let text: String = spans.map(Span::text).collect();
    without_separators(&text)
}

fn without_separators(text: &str) -> String {
    let separators = [':', '-', '–', '—', '|', '=', '>', '→', ' ', ',', '.'];
    text.trim().trim_start_matches(separators).trim().to_owned()
}

/// Marks around a method: `[GET]`, `GET:`, `**GET**` as plain text.
fn is_mark(c: char) -> bool {
    matches!(c, '[' | ']' | ':' | '*' | '`' | '(' | ')')
}
