//! Variables in text. `$X` forms depend on quoting, so a shell finds them in its words and [`document_text`] in text
//! that no shell reads; all other forms are found by [`scan`], in any quoting.

use std::collections::BTreeSet;

use crate::draft::{Literal, Origin, Part, Quoting, Spelling, Template, Variable};

/// Bytes of a name or a default at most: what is longer is text. Keeps the search for its end short.
const NAME_BYTES: usize = 128;

/// Where a text stands, which decides which forms are variables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// A URL as a whole: what is a variable only as a whole path segment is not looked for.
    Url,
    /// One whole segment of a URL's path: `:x` and ALL_CAPS too.
    Segment,
    /// The value of a header, a query pair, a form pair, a cookie; text.
    Value,
    /// Text of a JSON body: `{X}` only within a string, as [`Place::String`] has it.
    Json,
    /// What a string of JSON says, its escapes applied: `{X}` only where that is no code.
    String,
    /// An element of an argument vector.
    Argument,
}

/// Text of a document that no shell reads: `$X`, `${X}`, `${X:-d}` and `${X-d}` become variables.
#[must_use]
pub fn document_text(text: &str) -> Template {
    let mut template = Template::default();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('$') {
        template.push_literal(before, Quoting::Bare);
        if let Some((variable, behind)) = dollar(after) {
            template.push(Part::Variable(variable));
            rest = behind;
        } else {
            template.push_literal("$", Quoting::Bare);
            rest = after;
        }
    }
    template.push_literal(rest, Quoting::Bare);
    template
}

/// What stands after a `$`, if it is a variable, and what follows it. No other expansion is one.
fn dollar(after: &str) -> Option<(Variable, &str)> {
    let (name, default, rest) = if let Some(inner) = after.strip_prefix('{') {
        let name = leading_name(inner);
        let operator = inner.strip_prefix(name)?;
        let default = operator.strip_prefix(":-").or(operator.strip_prefix('-'));
        let (default, rest) = match default {
            Some(default) => {
                let (default, rest) = until(default, '}')?;
                (Some(default.to_owned()), rest)
            }
            None => (None, operator.strip_prefix('}')?),
        };
        (name, default, rest)
    } else {
        let name = leading_name(after);
        (name, None, after.strip_prefix(name)?)
    };
    (!name.is_empty()).then(|| {
        let variable = Variable {
            name: name.to_owned(),
            spelling: Spelling::Dollar,
            default,
        };
        (variable, rest)
    })
}

/// What stands before and after the first `end` of a text, if that comes within the bound.
fn until(text: &str, end: char) -> Option<(&str, &str)> {
    let position = text
        .bytes()
        .take(NAME_BYTES)
        .position(|byte| char::from(byte) == end)?;
    Some((
        text.get(..position)?,
        text.get(position..)?.strip_prefix(end)?,
    ))
}

/// The shell name that a text begins with; empty if it begins with none.
fn leading_name(text: &str) -> &str {
    let end = text
        .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
        .unwrap_or(text.len());
    let name = text.get(..end).unwrap_or_default();
    if name.starts_with(|c: char| c.is_ascii_digit()) {
        ""
    } else {
        name
    }
}

/// Finds the forms that are no shell's. Idempotent; what a constant says is not looked at.
#[must_use]
pub fn scan(template: &Template, place: Place) -> Template {
    let mut strings = Strings::new(place, BTreeSet::new());
    let scanned = scan_parts(template, place, &mut strings);
    if strings.left.is_empty() {
        return scanned;
    }
    scan_parts(template, place, &mut Strings::new(place, strings.left))
}

fn scan_parts(template: &Template, place: Place, strings: &mut Strings) -> Template {
    let mut scanned = Template::default();
    let alone = template.parts.len() == 1;
    for part in &template.parts {
        match part {
            Part::Literal(literal)
                if literal.origin == Origin::Written && literal.quoting != Quoting::Exact =>
            {
                if place == Place::Segment
                    && alone
                    && let Some(variable) = whole_segment(&literal.text)
                {
                    scanned.push(Part::Variable(variable));
                } else {
                    scan_literal(literal, strings, &mut scanned);
                }
            }
            other => scanned.push(other.clone()),
        }
    }
    scanned
}

/// Which string of JSON a position is in, and which strings are code.
///
/// Where braces are left that belong to no variable (GraphQL, templates), `{id}` is a part of it
/// and no input. What is quoted within it is text again (`{\"text\":\"{message}\"}`).
#[derive(Debug)]
struct Strings {
    place: Place,
    inside: bool,
    escaped: bool,
    /// Within quotes of the string's own text.
    quoted: bool,
    /// Strings before this one.
    number: usize,
    /// Strings that are known to be code.
    code: BTreeSet<usize>,
    /// Strings in which braces are left.
    left: BTreeSet<usize>,
}

impl Strings {
    fn new(place: Place, code: BTreeSet<usize>) -> Self {
        Self {
            place,
            inside: place == Place::String,
            escaped: false,
            quoted: false,
            number: 0,
            code,
            left: BTreeSet::new(),
        }
    }

    /// Whether `{X}` is a variable here.
    fn has_braces(&self) -> bool {
        match self.place {
            Place::Json | Place::String => {
                self.inside && (self.quoted || !self.code.contains(&self.number))
            }
            _ => true,
        }
    }

    /// Goes past a character that is of no variable.
    fn step(&mut self, c: char) {
        if self.inside && matches!(c, '{' | '}') {
            self.left.insert(self.number);
        }
        if self.place == Place::String {
            self.quoted ^= c == '"';
        } else if self.place == Place::Json {
            if self.escaped {
                self.escaped = false;
                self.quoted ^= c == '"';
            } else if c == '\\' {
                self.escaped = self.inside;
            } else if c == '"' {
                self.number = self.number.saturating_add(usize::from(self.inside));
                self.inside = !self.inside;
                self.quoted = false;
            }
        }
    }
}

fn scan_literal(literal: &Literal, strings: &mut Strings, out: &mut Template) {
    let text = literal.text.as_str();
    let mut plain = 0;
    let mut position = 0;
    let closed: BTreeSet<&str> = text
        .split("</")
        .skip(1)
        .filter_map(|closing| until(closing, '>'))
        .map(|(name, _)| name)
        .collect();
    // `YOUR_…` is a word: it does not begin within one.
    let mut previous = None;
    while let Some(c) = text.get(position..).and_then(|rest| rest.chars().next()) {
        let rest = text.get(position..).unwrap_or_default();
        let found = match c {
            '{' => braced(rest, strings.has_braces()),
            '<' => angled(rest, &closed),
            '[' if strings.place == Place::Url && matches!(previous, Some('=' | '/')) => {
                bracketed(rest)
            }
            'Y' | 'y' if !previous.is_some_and(is_word_character) => your_word(rest),
            _ => None,
        };
        if let Some((variable, length)) = found {
            push_text(literal, text.get(plain..position), out);
            out.push(Part::Variable(variable));
            position = position.saturating_add(length);
            plain = position;
            previous = None;
        } else {
            strings.step(c);
            previous = Some(c);
            position = position.saturating_add(c.len_utf8());
        }
    }
    push_text(literal, text.get(plain..), out);
}

fn push_text(literal: &Literal, text: Option<&str>, out: &mut Template) {
    out.push(Part::Literal(
        literal.with_text(text.unwrap_or_default().to_owned()),
    ));
}

/// `{{X}}`, or `{X}` where that is one.
fn braced(rest: &str, single: bool) -> Option<(Variable, usize)> {
    if let Some(inner) = rest.strip_prefix("{{") {
        let (inner, _) = until(inner, '}')?;
        let length = inner.len().checked_add(4)?;
        let name = inner.trim();
        return (is_enclosed_name(name) && rest.get(..length)?.ends_with("}}"))
            .then(|| (variable(name, Spelling::DoubleBrace), length));
    }
    let (name, _) = until(rest.strip_prefix('{')?, '}')?;
    (single && is_enclosed_name(name)).then(|| {
        (
            variable(name, Spelling::Brace),
            name.len().saturating_add(2),
        )
    })
}

/// `<X>`, unless it is an element of HTML or XML: `</X>` stands in the text.
fn angled(rest: &str, closed: &BTreeSet<&str>) -> Option<(Variable, usize)> {
    let (name, _) = until(rest.strip_prefix('<')?, '>')?;
    if !name.starts_with(char::is_alphabetic) || !is_enclosed_name(name) || closed.contains(name) {
        return None;
    }
    Some((
        variable(name, Spelling::Angle),
        name.len().saturating_add(2),
    ))
}

/// `[X]` as the value of a query pair or a segment of a path. To curl it is a range that it cannot read, so that nothing else
/// was ever sent.
fn bracketed(rest: &str) -> Option<(Variable, usize)> {
    let (name, _) = until(rest.strip_prefix('[')?, ']')?;
    let is_word = is_enclosed_name(name) && !name.contains('-');
    is_word.then(|| {
        (
            variable(name, Spelling::Angle),
            name.len().saturating_add(2),
        )
    })
}

/// `YOUR_…`, `your-…-here`.
fn your_word(rest: &str) -> Option<(Variable, usize)> {
    let end = rest
        .find(|c: char| !is_word_character(c))
        .unwrap_or(rest.len());
    let word = rest.get(..end)?;
    let upper = word.strip_prefix("YOUR_").is_some_and(|name| {
        !name.is_empty()
            && name
                .chars()
                .all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
    });
    let lower = ["your-", "your_"].iter().any(|start| {
        word.strip_prefix(start).is_some_and(|name| {
            ["-here", "_here"]
                .iter()
                .any(|tail| name.strip_suffix(tail).is_some_and(|name| !name.is_empty()))
        })
    });
    (upper || lower).then(|| (variable(word, Spelling::Word), end))
}

/// `:x`, or an ALL_CAPS segment of 4 or more characters that contains `_` or ends `ID`.
fn whole_segment(text: &str) -> Option<Variable> {
    if let Some(name) = text.strip_prefix(':') {
        return (is_name(name) && !name.contains('.')).then(|| variable(name, Spelling::Colon));
    }
    let capitals = text.len() >= 4
        && text.starts_with(|c: char| c.is_ascii_uppercase())
        && text
            .chars()
            .all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
        && (text.contains('_') || text.ends_with("ID"));
    capitals.then(|| variable(text, Spelling::Word))
}

fn variable(name: &str, spelling: Spelling) -> Variable {
    Variable {
        name: name.to_owned(),
        spelling,
        default: None,
    }
}

/// Letters, digits, `_`, `.` and `-` behind a letter or `_`.
fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-'))
}

/// A name between marks, which may be in any language: `{stadt}`, `{城市}`.
fn is_enclosed_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && name
            .chars()
            .all(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | '-'))
}

fn is_word_character(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-')
}
