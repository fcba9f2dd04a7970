//! A word, read: quotes are taken away, variables and constants put in (K-120, K-189).
//!
//! Only words of texts without constructs come here, so there is no substitution and no unusual expansion in them.

use std::cell::Cell;

use super::Constants;
use super::expansion::name_length;
use super::source::Source;
use crate::assemble::secrets;
use crate::context::Context;
use crate::draft::{Literal, Origin, Part, Quoting, Spelling, Template, Variable, Word};
use crate::limits;

/// How much constants may still add to a text. Each may stand for others, so that little text could become very much.
#[derive(Debug)]
pub(super) struct Budget(Cell<Option<usize>>);

impl Budget {
    pub(super) fn new() -> Self {
        Self(Cell::new(Some(limits::COMMAND_BYTES)))
    }

    fn spend(&self, bytes: usize) -> bool {
        let left = self.0.get().and_then(|left| left.checked_sub(bytes));
        self.0.set(left);
        left.is_some()
    }

    pub(super) fn is_exceeded(&self) -> bool {
        self.0.get().is_none()
    }
}

/// What words are read with.
pub(super) struct Reader<'a> {
    pub(super) constants: &'a Constants,
    pub(super) context: &'a Context,
    pub(super) budget: &'a Budget,
    /// Names of constants that were put in.
    pub(super) used: Vec<String>,
    /// K-120: names of constants that stand where credentials do, and so were not put in.
    pub(super) positions: Vec<String>,
    /// Whether the word being read is a credential as a whole (`-u …`).
    pub(super) credential: bool,
}

/// What a word becomes while it is read.
#[derive(Default)]
struct Fields {
    done: Vec<Template>,
    current: Template,
    /// Whether the current one exists though it may be empty: something quoted, or a character.
    started: bool,
}

impl Fields {
    fn literal(&mut self, c: char, quoting: Quoting) {
        self.started = true;
        self.current.push_character(c, quoting);
    }

    fn part(&mut self, part: Part) {
        self.started = true;
        self.current.push(part);
    }

    /// Ends a field, as a blank does in an expansion that is not quoted.
    fn split(&mut self) {
        if std::mem::take(&mut self.started) {
            self.done.push(std::mem::take(&mut self.current));
        }
    }
}

impl<'a> Reader<'a> {
    pub(super) fn new(constants: &'a Constants, context: &'a Context, budget: &'a Budget) -> Self {
        Self {
            constants,
            context,
            budget,
            used: Vec::new(),
            positions: Vec::new(),
            credential: false,
        }
    }

    /// The value of an assignment, which is one word whatever it holds.
    pub(super) fn value(&mut self, written: &str) -> Template {
        let mut whole = Template::default();
        for (index, word) in self.words(written).into_iter().enumerate() {
            if index > 0 {
                whole.push_literal(" ", Quoting::Single);
            }
            whole.append(word);
        }
        whole
    }

    /// The arguments that a word becomes: one, unless it holds an array or a constant with blanks that is not quoted.
    pub(super) fn words(&mut self, written: &str) -> Vec<Word> {
        let mut fields = Fields::default();
        let mut source = Source::new(written);
        while let Some(c) = source.next() {
            match c {
                '\\' => match source.next() {
                    Some('\n') | None => {}
                    Some(escaped) => fields.literal(escaped, Quoting::Single),
                },
                '\'' => {
                    fields.started = true;
                    while let Some(quoted) = source.next() {
                        if quoted == '\'' {
                            break;
                        }
                        fields.literal(quoted, Quoting::Single);
                    }
                }
                '"' => {
                    fields.started = true;
                    self.double(&mut source, &mut fields, Some('"'));
                }
                '$' if source.peek() == Some('\'') => {
                    fields.started = true;
                    ansi(&mut source, &mut fields);
                }
                '$' => self.dollar(&mut source, &mut fields, Quoting::Bare),
                _ => fields.literal(c, Quoting::Bare),
            }
        }
        fields.split();
        fields.done
    }

    /// K-122: the body of a here-document whose mark is not quoted.
    pub(super) fn here_body(&mut self, body: &str) -> Template {
        let mut fields = Fields::default();
        self.double(&mut Source::new(body), &mut fields, None);
        fields.current
    }

    fn double(&mut self, source: &mut Source<'_>, fields: &mut Fields, end: Option<char>) {
        while let Some(c) = source.next() {
            match c {
                '\\' => match source.peek() {
                    Some('\n') => {
                        source.next();
                    }
                    Some(escaped) if "$`\\".contains(escaped) || Some(escaped) == end => {
                        source.next();
                        // `\$X` is literal, as within single quotes.
                        let quoting = if escaped == '$' {
                            Quoting::Single
                        } else {
                            Quoting::Double
                        };
                        fields.literal(escaped, quoting);
                    }
                    _ => fields.literal('\\', Quoting::Double),
                },
                '$' => self.dollar(source, fields, Quoting::Double),
                _ if Some(c) == end => return,
                _ => fields.literal(c, Quoting::Double),
            }
        }
    }

    fn dollar(&mut self, source: &mut Source<'_>, fields: &mut Fields, quoting: Quoting) {
        let rest = source.rest();
        let braced = rest.starts_with('{');
        let from_name = rest.strip_prefix('{').unwrap_or(rest);
        let length = name_length(from_name);
        let Some(name) = from_name.get(..length).filter(|name| !name.is_empty()) else {
            // A lone `$` stands for itself; it is no variable's mark whatever follows.
            fields.literal('$', Quoting::Single);
            return;
        };
        let mut default = None;
        let mut all = false;
        if braced {
            let after = from_name.get(length..).unwrap_or_default();
            let inner = after.split('}').next().unwrap_or_default();
            all = inner == "[@]";
            default = inner
                .strip_prefix(":-")
                .or_else(|| inner.strip_prefix('-'))
                .map(str::to_owned);
            let taken = name.chars().count() + inner.chars().count() + 2;
            (0..taken).for_each(|_| {
                source.next();
            });
        } else {
            (0..name.chars().count()).for_each(|_| {
                source.next();
            });
        }
        match self.constant(name) {
            Some(_) if self.credential || in_credential_position(&fields.current) => {
                self.positions.push(name.to_owned());
                fields.part(Part::Variable(Variable {
                    name: name.to_owned(),
                    spelling: Spelling::Dollar,
                    default: None,
                }));
            }
            Some(values) => {
                self.used.push(name.to_owned());
                put_in(fields, &values, all, quoting);
            }
            None => fields.part(Part::Variable(Variable {
                name: name.to_owned(),
                spelling: Spelling::Dollar,
                default,
            })),
        }
    }

    /// K-120: what a name stands for. A secret's name never stands for anything.
    fn constant(&self, name: &str) -> Option<Vec<String>> {
        if self.constants.secrets.contains(name) || secrets::is_secret_name(name, self.context) {
            return None;
        }
        let values = match self.constants.values.get(name) {
            Some(values) => values.iter().map(Template::as_literal).collect(),
            None => Some(vec![self.context.constants.get(name)?.clone()]),
        };
        // Whoever reads with an exceeded budget throws away what was read.
        let bytes = values.iter().flatten().map(|value| value.len() + 1).sum();
        values.filter(|_| self.budget.spend(bytes))
    }
}

/// K-120, K-190 (2) and (4): whether what comes next in a word is the value of a header or field for credentials.
fn in_credential_position(word: &Template) -> bool {
    let Some(text) = word.as_literal() else {
        return false;
    };
    let header = text.split_once(':').map(|(name, _)| name.trim());
    let field = text
        .rsplit(['?', '&'])
        .next()
        .and_then(|pair| pair.strip_suffix('='));
    header.is_some_and(secrets::is_secret_header) || field.is_some_and(secrets::is_secret_field)
}

/// Puts a constant in, as a shell expands it: the first word of an array unless all are asked for, and split at blanks unless
/// it is quoted.
fn put_in(fields: &mut Fields, values: &[String], all: bool, quoting: Quoting) {
    let count = if all { values.len() } else { 1 };
    for (index, value) in values.iter().take(count).enumerate() {
        if index > 0 {
            fields.split();
        }
        if quoting == Quoting::Double {
            fields.started = true;
            fields.part(constant(value, quoting));
            continue;
        }
        for (number, piece) in value.split([' ', '\t', '\n']).enumerate() {
            if number > 0 {
                fields.split();
            }
            if !piece.is_empty() {
                fields.part(constant(piece, quoting));
            }
        }
    }
}

fn constant(text: &str, quoting: Quoting) -> Part {
    Part::Literal(Literal {
        text: text.to_owned(),
        quoting,
        origin: Origin::Constant,
    })
}

/// `$'…'`, from its quote on.
fn ansi(source: &mut Source<'_>, fields: &mut Fields) {
    source.next();
    while let Some(c) = source.next() {
        match c {
            '\'' => return,
            '\\' => {
                let Some(escaped) = source.next() else {
                    return;
                };
                let plain = match escaped {
                    'n' => '\n',
                    't' => '\t',
                    'r' => '\r',
                    'a' => '\u{7}',
                    'b' => '\u{8}',
                    'e' | 'E' => '\u{1b}',
                    'f' => '\u{c}',
                    'v' => '\u{b}',
                    '\\' | '\'' | '"' | '?' => escaped,
                    'x' => byte(number(source, "", 16, 2)),
                    'u' => number(source, "", 16, 4),
                    'U' => number(source, "", 16, 8),
                    '0'..='7' => byte(number(source, escaped.encode_utf8(&mut [0; 4]), 8, 2)),
                    _ => {
                        fields.literal('\\', Quoting::Single);
                        escaped
                    }
                };
                fields.literal(plain, Quoting::Single);
            }
            _ => fields.literal(c, Quoting::Single),
        }
    }
}

/// The character of a number of at most so many more digits; U+FFFD for what is none.
fn number(source: &mut Source<'_>, first: &str, radix: u32, digits: usize) -> char {
    let mut written = first.to_owned();
    for _ in 0..digits {
        match source.peek() {
            Some(c) if c.is_digit(radix) => {
                source.next();
                written.push(c);
            }
            _ => break,
        }
    }
    u32::from_str_radix(&written, radix)
        .ok()
        .and_then(char::from_u32)
        .filter(|c| *c != '\0')
        .unwrap_or('\u{FFFD}')
}

/// What stands for one byte is a character only in ASCII.
fn byte(c: char) -> char {
    if c.is_ascii() { c } else { '\u{FFFD}' }
}
