//! The document with its declarations hydrated: the link form and v2.
//!
//! Only the ranges of the two values change; every other byte is the file's own.

use std::ops::Range;

use kit::{
    SkillError, front_matter,
    yaml::{self, Entry, Style},
};

use crate::{
    code::Code,
    hydration::{Failure, Hydration, USED_KEYS},
    object::{Layout, Object},
};

/// Bytes of the front matter, and what replaces them.
struct Edit {
    range: Range<usize>,
    text: String,
}

/// Writes the document.
pub(crate) fn write(
    answer: Result<Hydration, Failure>,
    layout: Layout,
) -> Result<Vec<u8>, SkillError> {
    let hydration = answer.map_err(|failure| no_document(failure.code, &failure.uri))?;
    let document = front_matter::split(&hydration.text);
    // A document without front matter declares nothing.
    let Some(range) = document.front_matter else {
        return Ok(hydration.text.into_bytes());
    };
    let front_matter = hydration.text.get(range.clone()).unwrap_or_default();
    let unlinkable = || no_document(Code::ParseError, hydration.uri.as_str());
    let yaml = yaml::read_front_matter(front_matter, &USED_KEYS).map_err(|_| unlinkable())?;
    let objects: [Vec<Object<'_>>; 2] = [
        hydration.skills.iter().map(Object::from).collect(),
        hydration.tools.iter().map(Object::from).collect(),
    ];
    let mut edits = Vec::new();
    for (key, objects) in USED_KEYS.iter().zip(&objects) {
        // Nothing is inserted.
        let (Some(style), Some(entry), false) = (yaml.style(), yaml.entry(key), objects.is_empty())
        else {
            continue;
        };
        edits.push(match style {
            Style::Flow => Edit {
                range: entry.value,
                text: layout.flow(objects),
            },
            Style::Block { column } => Edit {
                range: block_range(front_matter, &entry, column).ok_or_else(unlinkable)?,
                text: layout.block(
                    objects,
                    column_of(front_matter, entry.key.start),
                    document.line_break,
                ),
            },
        });
    }
    // An anchor that would be gone while its alias stays.
    let ranges: Vec<Range<usize>> = edits.iter().map(|edit| edit.range.clone()).collect();
    if yaml.is_referred_to(&ranges) {
        return Err(unlinkable());
    }
    edits.sort_by_key(|edit| edit.range.start);
    Ok(apply(&hydration.text, range.start, &edits))
}

/// A hard error, with the code and the URI whole in its details.
fn no_document(code: Code, uri: &str) -> SkillError {
    let (name, word) = match code {
        Code::FetchFailed => ("fetch_failed", "FETCH_FAILED"),
        Code::UnsupportedScheme => ("unsupported_scheme", "UNSUPPORTED_SCHEME"),
        _ => ("parse_error", "PARSE_ERROR"),
    };
    SkillError::new(name, &format!("ERROR: {word} {uri}"))
        .with_details(serde_json::json!({ "code": word, "uri": uri }).to_string())
}

/// The text with the edits, whose ranges count from `offset`.
fn apply(text: &str, offset: usize, edits: &[Edit]) -> Vec<u8> {
    let added: usize = edits.iter().map(|edit| edit.text.len()).sum();
    let mut out = Vec::with_capacity(text.len().saturating_add(added));
    let mut copied = 0;
    for edit in edits {
        let begin = offset.saturating_add(edit.range.start);
        let kept = text.get(copied..begin).unwrap_or_default();
        out.extend_from_slice(kept.as_bytes());
        out.extend_from_slice(edit.text.as_bytes());
        copied = offset.saturating_add(edit.range.end);
    }
    out.extend_from_slice(text.get(copied..).unwrap_or_default().as_bytes());
    out
}

/// From after the key's `:` to the end of the line of the value's last non-blank character.
fn block_range(front_matter: &str, entry: &Entry, column: usize) -> Option<Range<usize>> {
    // A key in the explicit form may be followed by comments and line breaks.
    let colon = skip_blank(front_matter, entry.key.end);
    let begin = colon.checked_add(1)?;
    let known_end = front_matter.get(..entry.value.end)?.trim_end().len();
    let end = last_indicator(front_matter, known_end.max(begin), column);
    let rest = front_matter.get(end..)?;
    let line = rest.find(['\n', '\r']).unwrap_or(rest.len());
    (front_matter.as_bytes().get(colon) == Some(&b':')).then_some(begin..end.checked_add(line)?)
}

/// Where a block value ends, given where its last token does.
///
/// What may follow are the indicators of empty nodes (`-`, `?`, `:`), which are no tokens of their own. A `?`
/// or `:` in the column of the root's keys begins the next entry.
fn last_indicator(front_matter: &str, last_token: usize, column: usize) -> usize {
    let mut end = last_token;
    loop {
        let next = skip_blank(front_matter, end);
        let mut rest = front_matter.get(next..).unwrap_or_default().chars();
        let indicator = rest.next();
        let stands_alone = rest.next().is_none_or(char::is_whitespace);
        let belongs = match indicator {
            Some('-') => stands_alone,
            Some('?' | ':') => stands_alone && column_of(front_matter, next) != column,
            _ => false,
        };
        if !belongs {
            return end;
        }
        end = next.saturating_add(1);
    }
}

/// The next position that is no white space and in no comment.
fn skip_blank(text: &str, from: usize) -> usize {
    let mut rest = text.get(from..).unwrap_or_default();
    loop {
        rest = rest.trim_start_matches([' ', '\t', '\n', '\r']);
        if !rest.starts_with('#') {
            return text.len().saturating_sub(rest.len());
        }
        rest = rest
            .find(['\n', '\r'])
            .and_then(|end| rest.get(end..))
            .unwrap_or_default();
    }
}

/// Characters between the beginning of the line and a position.
fn column_of(text: &str, position: usize) -> usize {
    let before = text.get(..position).unwrap_or_default();
    let line = before.rsplit(['\n', '\r']).next().unwrap_or_default();
    line.chars().count()
}
