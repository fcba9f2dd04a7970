//! Changing one place of a JSON text and leaving every other byte as it is.
//!
//! Comments and trailing commas, where a client reads them, are replaced by as many spaces before the text is parsed. What
//! is found in that copy therefore stands at the same place in the text itself, where the change is made.

use std::ops::Range;

use serde_json::Value;

use super::EditError;
use super::spans::{self, Member};
use hydrant_base::escaped;

/// What a client reads besides plain JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    /// Nothing.
    Json,
    /// Comments.
    Comments,
    /// Comments, and a comma after the last member or element.
    TrailingCommas,
}

/// A parsed JSON object and the text it stands in.
pub(super) struct Document<'a> {
    pub(super) text: &'a str,
    pub(super) value: Value,
    /// Where the object stands.
    pub(super) root: Range<usize>,
    /// The text with spaces in place of what `serde_json` does not read.
    plain: String,
    /// Where trailing commas stand.
    commas: Vec<usize>,
}

impl<'a> Document<'a> {
    /// # Errors
    /// [`EditError`]: it is no JSON of this dialect, or no object.
    pub(super) fn parse(text: &'a str, dialect: Dialect) -> Result<Self, EditError> {
        let (plain, commas) = plain(text, dialect);
        let value: Value = serde_json::from_str(&plain).map_err(|error| {
            let (line, column) = (error.line(), error.column());
            let reason = error.to_string();
            let place = format!(" at line {line} column {column}");
            EditError::Syntax {
                line,
                column,
                format: "JSON",
                reason: escaped(reason.strip_suffix(&place).unwrap_or(&reason)),
            }
        })?;
        if !value.is_object() {
            return Err(EditError::Form("it is not a JSON object"));
        }
        let root = spans::root(&plain).ok_or(EditError::InPlace)?;
        Ok(Self {
            text,
            value,
            root,
            plain,
            commas,
        })
    }

    /// The members of the object that stands at `object`.
    pub(super) fn members(&self, object: &Range<usize>) -> Option<Vec<Member>> {
        spans::members(&self.plain, object)
    }

    /// The elements of the list that stands at `list`.
    pub(super) fn elements(&self, list: &Range<usize>) -> Option<Vec<Range<usize>>> {
        spans::elements(&self.plain, list)
    }

    /// The value that stands at `range`.
    pub(super) fn value_at(&self, range: &Range<usize>) -> Option<Value> {
        serde_json::from_str(self.plain.get(range.clone())?).ok()
    }

    /// The text with an addition at the end of a container whose parts stand at this depth.
    pub(super) fn with(&self, container: &Range<usize>, depth: usize, addition: &str) -> String {
        let layout = self.layout();
        let inner = inside(container);
        let end_of = |text: &str| {
            let content = text.get(inner.clone()).unwrap_or_default();
            inner.start.saturating_add(content.trim_end().len())
        };
        // Comments may follow the last part.
        let (last, kept) = (end_of(&self.plain), end_of(self.text));
        let trailing = self.commas.iter().any(|comma| (last..kept).contains(comma));
        let is_first = last == inner.start;
        let line = |depth: usize| match layout.indent.as_str() {
            "" => String::new(),
            indent => format!("{}{}", layout.newline, indent.repeat(depth)),
        };
        format!(
            "{}{}{}{}{addition}{}{}{}",
            self.text.get(..last).unwrap_or_default(),
            if is_first || trailing { "" } else { "," },
            self.text.get(last..kept).unwrap_or_default(),
            line(depth),
            if trailing { "," } else { "" },
            line(depth.saturating_sub(1)),
            self.text.get(inner.end..).unwrap_or_default(),
        )
    }

    /// The text with this value, which begins at this depth, in place of what stands at `range`.
    pub(super) fn with_value(&self, range: &Range<usize>, value: &Value, depth: usize) -> String {
        let mut text = self.text.to_owned();
        text.replace_range(range.clone(), &self.layout().value(value, depth));
        text
    }

    /// The text without part `index`, and without the comma that parts it from its neighbour. Comments stay.
    pub(super) fn without(&self, parts: &[Range<usize>], index: usize) -> String {
        let part = parts.get(index).cloned().unwrap_or_default();
        let before = index.checked_sub(1).and_then(|index| parts.get(index));
        let gap = |from: usize, to: usize| (self.text.get(from..to), self.plain.get(from..to));
        let comma = |from: usize| self.plain.get(from..)?.find(',')?.checked_add(from);
        let one = |at: usize| at..at.saturating_add(1);
        // Of the last part: the comma after it.
        let trailing = self.commas.iter().copied().find(|comma| {
            let between = self.plain.get(part.end..*comma);
            between.is_some_and(|between| between.trim().is_empty())
        });
        let cuts = match (before, parts.get(index.saturating_add(1))) {
            (Some(before), _) => {
                let (text, plain) = gap(before.end, part.start);
                let comma = comma(before.end).unwrap_or(before.end);
                let between = self.text.get(comma..part.start).unwrap_or_default();
                let start = comma.saturating_add(between.trim_end().len());
                match trailing {
                    Some(trailing) => vec![start..part.end, one(trailing)],
                    None if text != plain => vec![one(comma), start..part.end],
                    None => std::iter::once(before.end..part.end).collect(),
                }
            }
            (None, Some(next)) => {
                let (text, plain) = gap(part.end, next.start);
                match comma(part.end) {
                    Some(comma) if text != plain => vec![part, one(comma)],
                    _ => std::iter::once(part.start..next.start).collect(),
                }
            }
            (None, None) => std::iter::once(part).chain(trailing.map(one)).collect(),
        };
        let mut text = self.text.to_owned();
        for cut in cuts.into_iter().rev() {
            text.replace_range(cut, "");
        }
        text
    }

    /// The text without a member of the root; without the last one, nor its space.
    pub(super) fn without_top(&self, top: &[Member], index: usize) -> String {
        let parts = wholes(top);
        let inner = inside(&self.root);
        match parts.as_slice() {
            [only] if self.is_plain_but(&self.root, only) => {
                let mut text = self.text.to_owned();
                text.replace_range(inner, "");
                text
            }
            _ => self.without(&parts, index),
        }
    }

    /// Whether a container holds this part and no comment.
    pub(super) fn is_plain_but(&self, container: &Range<usize>, part: &Range<usize>) -> bool {
        let inner = inside(container);
        [inner.start..part.start, part.end..inner.end]
            .into_iter()
            .all(|space| {
                let text = self.text.get(space).unwrap_or_default();
                text.trim_matches([' ', '\t', '\r', '\n', ',']).is_empty()
            })
    }

    pub(super) fn layout(&self) -> Layout {
        Layout::of(&self.plain)
    }
}

/// The last member of a name counts, as for whoever reads the file.
pub(super) fn named<'a>(members: &'a [Member], name: &str) -> Option<(usize, &'a Member)> {
    let mut all = members.iter().enumerate();
    all.rfind(|(_, member)| member.name == name)
}

/// Where members stand.
pub(super) fn wholes(members: &[Member]) -> Vec<Range<usize>> {
    members.iter().map(|member| member.whole.clone()).collect()
}

pub(super) fn inside(container: &Range<usize>) -> Range<usize> {
    container.start.saturating_add(1)..container.end.saturating_sub(1)
}

/// The text with spaces in place of a byte order mark, comments and trailing commas, and where those commas stand.
fn plain(text: &str, dialect: Dialect) -> (String, Vec<usize>) {
    let mut bytes = text.as_bytes().to_vec();
    let mut commas = Vec::new();
    let mut blank = |range: Range<usize>| {
        for byte in bytes.get_mut(range).unwrap_or_default() {
            if !matches!(byte, b'\n' | b'\r') {
                *byte = b' ';
            }
        }
    };
    let start = if text.starts_with('\u{feff}') { 3 } else { 0 };
    blank(0..start);
    let (mut at, mut in_string) = (start, false);
    // The last two bytes that are neither space nor comment, and where the last one stands.
    let (mut last, mut last_but_one, mut last_at) = (b'{', b'{', 0);
    while let Some(rest) = text.as_bytes().get(at..).filter(|rest| !rest.is_empty()) {
        if dialect != Dialect::Json
            && !in_string
            && let Some(length) = comment(rest)
        {
            let end = at.saturating_add(length);
            blank(at..end);
            at = end;
            continue;
        }
        let step = match rest {
            [b'\\', _, ..] if in_string => 2,
            [b'"', ..] => {
                in_string = !in_string;
                1
            }
            _ if in_string => 1,
            [b' ' | b'\t' | b'\r' | b'\n', ..] => {
                at = at.saturating_add(1);
                continue;
            }
            [b'}' | b']', ..]
                if dialect == Dialect::TrailingCommas
                    && last == b','
                    && !matches!(last_but_one, b'{' | b'[' | b',' | b':') =>
            {
                blank(last_at..last_at.saturating_add(1));
                commas.push(last_at);
                1
            }
            _ => 1,
        };
        (last_but_one, last, last_at) = (last, rest.first().copied().unwrap_or_default(), at);
        at = at.saturating_add(step);
    }
    // Only whole characters were replaced, each byte by a space.
    (String::from_utf8(bytes).unwrap_or_default(), commas)
}

/// The length of the comment that `rest` begins with; none if there is none, or if it never ends.
fn comment(rest: &[u8]) -> Option<usize> {
    match rest {
        [b'/', b'/', ..] => {
            let end = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            Some(end.unwrap_or(rest.len()))
        }
        [b'/', b'*', body @ ..] => {
            let end = body.windows(2).position(|two| two == b"*/")?;
            end.checked_add(4)
        }
        _ => None,
    }
}

/// How a text is laid out.
pub(super) struct Layout {
    /// One level; empty: all on one line.
    indent: String,
    newline: &'static str,
}

impl Layout {
    fn of(text: &str) -> Self {
        let trimmed = text.trim();
        // Of an empty object nothing is known: as most have it.
        let is_empty = trimmed.trim_matches(['{', '}']).trim().is_empty();
        let indent = text.lines().skip(1).find_map(|line| {
            let content = line.trim_start();
            let space = line.len().saturating_sub(content.len());
            line.get(..space)
                .filter(|indent| !indent.is_empty() && !content.is_empty())
        });
        Self {
            indent: match indent {
                Some(indent) => indent.to_owned(),
                None if is_empty || trimmed.contains('\n') => "  ".to_owned(),
                None => String::new(),
            },
            newline: newline(text),
        }
    }

    pub(super) fn member(&self, name: &str, value: &Value, depth: usize) -> String {
        let space = if self.indent.is_empty() { "" } else { " " };
        format!("\"{name}\":{space}{}", self.value(value, depth))
    }

    /// A value that begins at this depth.
    pub(super) fn value(&self, value: &Value, depth: usize) -> String {
        if self.indent.is_empty() {
            return value.to_string();
        }
        let mut pretty = Vec::new();
        let formatter = serde_json::ser::PrettyFormatter::with_indent(self.indent.as_bytes());
        let mut serializer = serde_json::Serializer::with_formatter(&mut pretty, formatter);
        let written = serde::Serialize::serialize(value, &mut serializer);
        match (written, String::from_utf8(pretty)) {
            (Ok(()), Ok(text)) => {
                let line_end = format!("{}{}", self.newline, self.indent.repeat(depth));
                text.replace('\n', &line_end)
            }
            _ => value.to_string(),
        }
    }
}

/// How lines of a text end.
pub(super) fn newline(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}
