//! Templates (section 6): scanned once, from left to right; what is inserted is not scanned.

use crate::respond::Failure;

///
const MAX_BYTES: usize = 64 * 1024;

/// A piece of a template.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Piece<'a> {
    Text(&'a str),
    /// A placeholder, by its place in the names.
    Value(usize),
}

/// A template whose placeholders are all known.
#[derive(Debug, Clone)]
pub(super) struct Template<'a> {
    pieces: Vec<Piece<'a>>,
    names: &'static [&'static str],
}

impl<'a> Template<'a> {
    /// Reads a template that takes these names and needs one of them.
    ///
    /// # Errors
    /// `template`
    pub(super) fn parse(
        text: &'a str,
        names: &'static [&'static str],
        needed: &str,
    ) -> Result<Self, Failure> {
        if text.len() > MAX_BYTES {
            return Err(failure("over 64 KiB"));
        }
        let body = body(text);
        let mut pieces = Vec::new();
        // Where the text before the next placeholder begins, and from where one is looked for.
        let (mut begin, mut from) = (0_usize, 0_usize);
        while let Some(open) = body.get(from..).and_then(|rest| rest.find("{{")) {
            let open = from.saturating_add(open);
            let Some(name) = name_at(body, open) else {
                // One brace on, for `{{{name}}}`.
                from = open.saturating_add(1);
                continue;
            };
            let Some(value) = names.iter().position(|known| *known == name) else {
                return Err(failure(&format!("unknown placeholder {{{{{name}}}}}")));
            };
            pieces.push(Piece::Text(body.get(begin..open).unwrap_or_default()));
            pieces.push(Piece::Value(value));
            begin = open.saturating_add(name.len()).saturating_add(4);
            from = begin;
        }
        pieces.push(Piece::Text(body.get(begin..).unwrap_or_default()));
        let template = Self { pieces, names };
        if !template.holds(needed) {
            return Err(failure(&format!("no {{{{{needed}}}}}")));
        }
        Ok(template)
    }

    fn holds(&self, name: &str) -> bool {
        let holds = |piece: &Piece<'_>| match piece {
            Piece::Value(value) => self.names.get(*value) == Some(&name),
            Piece::Text(_) => false,
        };
        self.pieces.iter().any(holds)
    }

    /// The text, with a value for each name.
    pub(super) fn fill<'v>(&self, value: impl Fn(&str) -> &'v str) -> String {
        let mut text = String::new();
        for piece in &self.pieces {
            text.push_str(match piece {
                Piece::Text(text) => text,
                Piece::Value(at) => self.names.get(*at).map_or("", |name| value(name)),
            });
        }
        text
    }
}

/// `template`, which ends the run.
pub(super) fn failure(detail: &str) -> Failure {
    Failure::new("template", detail)
}

/// The name of the placeholder that begins here.
fn name_at(body: &str, open: usize) -> Option<&str> {
    let (name, _) = body.get(open.saturating_add(2)..)?.split_once("}}")?;
    let is_name = |byte: u8| byte.is_ascii_lowercase() || byte == b'_';
    (!name.is_empty() && name.bytes().all(is_name)).then_some(name)
}

/// Without front matter and byte order mark.
fn body(text: &str) -> &str {
    let text = text.strip_prefix('\u{FEFF}').unwrap_or(text);
    let mut read = 0_usize;
    for (number, line) in text.split_inclusive('\n').enumerate() {
        let is_rule = line.trim_end_matches(['\n', '\r']) == "---";
        read = read.saturating_add(line.len());
        match (number, is_rule) {
            (0, false) => return text,
            (0, true) | (_, false) => {}
            (_, true) => return text.get(read..).unwrap_or_default(),
        }
    }
    text
}
