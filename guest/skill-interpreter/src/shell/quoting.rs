//! Words: quotes, escapes, variables and placeholders.

use super::assignment::NESTING;
use super::computed;
use super::lexer::Lexer;
use super::placeholder;
use super::program::{Piece, Pieces, Stop, bare, construct, name_length, syntax};
use super::source::Source;
use crate::draft::Quoting;
use crate::identifier::upper_snake;

/// Signs of arithmetic, and what stands for them in the name of the value.
const OPERATORS: [(char, &str); 7] = [
    ('(', "_OF_"),
    (')', "_END_"),
    ('+', "_PLUS_"),
    ('-', "_MINUS_"),
    ('*', "_TIMES_"),
    ('/', "_BY_"),
    ('%', "_MODULO_"),
];
/// Characters of a name for what an arithmetic expression yields.
const MOST_OF_NAME: usize = 64;

impl Lexer<'_> {
    pub(super) fn word(&mut self) -> Result<Pieces, Stop> {
        let mut pieces = Pieces::new();
        while let Some(c) = self.source.peek() {
            match c {
                '&' if self.is_part_of_address(&pieces) => {
                    self.program.ampersands.push(self.source.line());
                    self.source.next();
                    push(&mut pieces, c, Quoting::Bare);
                }
                ' ' | '\t' | '\n' | '&' | '|' | ';' | '>' | '(' | ')' => break,
                '<' => match placeholder::name_at(self.source.rest()) {
                    // `2<file>` is a redirection.
                    Some(name) if !is_number(&pieces) => {
                        self.placeholder(&mut pieces, name, Quoting::Bare);
                    }
                    _ => break,
                },
                '`' => return construct("command substitution"),
                '\\' => {
                    self.source.next();
                    match self.source.next() {
                        Some('\n') => {}
                        Some(escaped) => push(&mut pieces, escaped, Quoting::Single),
                        None => return Err(self.syntax("nothing follows a backslash")),
                    }
                }
                '\'' => self.single(&mut pieces)?,
                '"' => {
                    self.source.next();
                    open(&mut pieces, Quoting::Double);
                    self.double(&mut pieces, Some('"'))?;
                }
                '$' if self.source.peek_second() == Some('\'') => self.ansi(&mut pieces)?,
                '$' if self.source.peek_second() == Some('"') => {
                    return construct("translated string");
                }
                '$' => self.dollar(&mut pieces, Quoting::Bare)?,
                _ => {
                    self.source.next();
                    push(&mut pieces, c, Quoting::Bare);
                }
            }
        }
        Ok(pieces)
    }

    /// `${X:+-H "A: $X"}`, which stands alone and is not quoted: X and the words, if they use it and are an
    /// option. They are nothing without it.
    pub(super) fn words_of_given(&mut self) -> Option<(String, Vec<Pieces>)> {
        let inner = self.source.rest().strip_prefix("${")?;
        let (given, after) = inner.split_at_checked(name_length(inner))?;
        let written = after.strip_prefix(":+").or(after.strip_prefix('+'))?;
        let (mut quote, mut depth) = (None, 0_u32);
        let end = written.find(|c: char| {
            match (quote, c) {
                (Some(open), _) if open == c => quote = None,
                (None, '"' | '\'') => quote = Some(c),
                (_, '{') => depth += 1,
                (_, '}') if depth > 0 => depth -= 1,
                (None, '}') => return true,
                _ => {}
            }
            false
        })?;
        let (written, behind) = written.split_at_checked(end)?;
        let behind = behind.strip_prefix('}')?;
        // A brace in quotes ends or nests otherwise for a shell.
        let has_other_brace = written.replace("${", "").contains('{');
        let is_plain = !written.contains(['`', '\\', '\n'])
            && !written.contains("$(")
            && !has_other_brace
            && written.trim_start().starts_with('-');
        if !is_plain || !(behind.is_empty() || behind.starts_with([' ', '\t', '\n'])) {
            return None;
        }
        let mut reader = Lexer::new(written);
        let mut words = Vec::new();
        loop {
            reader.blanks();
            if reader.source.peek().is_none() {
                break;
            }
            let word = reader.word().ok()?;
            if word.is_empty() {
                return None;
            }
            words.push(word);
        }
        let uses = |piece: &Piece| matches!(piece, Piece::Variable { name, .. } if name == given);
        // A header whose name is in the variable too is none that can be checked.
        let is_named = |word: &Pieces| {
            let first = word
                .iter()
                .find(|piece| !matches!(piece, Piece::Literal { text, .. } if text.is_empty()));
            matches!(first, Some(Piece::Literal { .. }))
        };
        if !words.iter().flatten().any(uses) || !words.iter().all(is_named) {
            return None;
        }
        let length = self.source.rest().len() - behind.len();
        self.source.skip(length);
        Some((given.to_owned(), words))
    }

    /// Whether `&` stands in an address that is not quoted.
    pub(super) fn is_part_of_address(&mut self, word: &Pieces) -> bool {
        if self.source.position() >= self.address_end {
            let Some(length) = rest_of_address(word, self.source.rest()) else {
                return false;
            };
            self.address_end = self.source.position() + length;
        }
        true
    }

    pub(super) fn placeholder(&mut self, pieces: &mut Pieces, name: &str, quoting: Quoting) {
        self.source.skip(name.len() + 2);
        for c in format!("{{{name}}}").chars() {
            push(pieces, c, quoting);
        }
    }

    pub(super) fn single(&mut self, pieces: &mut Pieces) -> Result<(), Stop> {
        let line = self.source.line();
        self.source.next();
        open(pieces, Quoting::Single);
        loop {
            match self.source.next() {
                Some('\'') => return Ok(()),
                Some(c) => push(pieces, c, Quoting::Single),
                None => return Err(Stop::Syntax(syntax(line, "a single quote is not closed"))),
            }
        }
    }

    /// What stands in double quotes, or in a here-document, where there is no end but the text's.
    pub(super) fn double(&mut self, pieces: &mut Pieces, end: Option<char>) -> Result<(), Stop> {
        let line = self.source.line();
        while let Some(c) = self.source.peek() {
            match c {
                '`' => return construct("command substitution"),
                '$' => self.dollar(pieces, Quoting::Double)?,
                '\\' => {
                    self.source.next();
                    match self.source.peek() {
                        Some('\n') => {
                            self.source.next();
                        }
                        Some(escaped) if "$`\\".contains(escaped) || Some(escaped) == end => {
                            self.source.next();
                            // `\$X` is literal, as within single quotes.
                            let quoting = match escaped {
                                '$' => Quoting::Single,
                                _ => Quoting::Double,
                            };
                            push(pieces, escaped, quoting);
                        }
                        _ => push(pieces, '\\', Quoting::Double),
                    }
                }
                '<' if end.is_some() => match placeholder::name_at(self.source.rest()) {
                    Some(name) => self.placeholder(pieces, name, Quoting::Double),
                    None => {
                        self.source.next();
                        push(pieces, c, Quoting::Double);
                    }
                },
                _ => {
                    self.source.next();
                    if Some(c) == end {
                        return Ok(());
                    }
                    push(pieces, c, Quoting::Double);
                }
            }
        }
        match end {
            Some(_) => Err(Stop::Syntax(syntax(line, "a double quote is not closed"))),
            None => Ok(()),
        }
    }

    pub(super) fn dollar(&mut self, pieces: &mut Pieces, quoting: Quoting) -> Result<(), Stop> {
        let rest = self.source.rest().get(1..).unwrap_or_default();
        // A shell joins the lines first: what follows may be any expansion.
        if rest.starts_with("\\\n") {
            return construct("expansion over the end of a line");
        }
        if rest.starts_with("((") {
            let start = self.source.clone();
            let name = self.arithmetic()?;
            let name = self.output_name(name, &start);
            pieces.push(Piece::Output { name });
            return Ok(());
        }
        if rest.starts_with('[') {
            return construct("arithmetic");
        }
        if rest.starts_with('(') {
            let start = self.source.clone();
            let name = self
                .nested_pipeline(2)
                .map(|commands| computed::name(&commands))?;
            let Some(name) = name else {
                return construct("command substitution");
            };
            let name = self.output_name(name, &start);
            pieces.push(Piece::Output { name });
            return Ok(());
        }
        let (name, default, length) = if let Some(inner) = rest.strip_prefix('{') {
            let Some(expansion) = braced(inner) else {
                return construct(unusual(inner));
            };
            expansion
        } else {
            match rest.chars().next() {
                Some(digit @ '1'..='9') => {
                    self.source.skip(2);
                    pieces.push(Piece::Output {
                        name: format!("ARG_{digit}"),
                    });
                    return Ok(());
                }
                Some(c) if "0@*#?-$!".contains(c) => return construct(format!("parameter `${c}`")),
                _ => {}
            }
            let length = name_length(rest);
            (rest.get(..length).unwrap_or_default(), None, length)
        };
        if name == "_" {
            return construct("parameter `$_`");
        }
        self.source.skip(1 + length);
        if name.is_empty() {
            // A lone `$` stands for itself; it is no variable's mark whatever follows.
            push(pieces, '$', Quoting::Single);
            return Ok(());
        }
        // A shell joins the lines first: the name may go on in the next one.
        if !rest.starts_with('{')
            && let Some(next) = self.source.rest().strip_prefix("\\\n")
            && next.starts_with(|c: char| c.is_alphanumeric() || "_\\[".contains(c))
        {
            return construct("expansion over the end of a line");
        }
        pieces.push(Piece::Variable {
            name: name.to_owned(),
            default: default.map(str::to_owned),
            quoting,
        });
        Ok(())
    }

    /// The name of a value whose text began at a place and ends here: a name of its own for each text.
    fn output_name(&mut self, name: String, start: &Source<'_>) -> String {
        let length = self.source.position() - start.position();
        let text = start.rest().get(..length).unwrap_or_default();
        let mut own = name.clone();
        let mut number = 1_u32;
        while self.outputs.get(&own).is_some_and(|known| known != text) {
            number += 1;
            own = format!("{name}_{number}");
        }
        self.outputs.insert(own.clone(), text.to_owned());
        own
    }

    /// `$((…))` of numbers, variables and values, which is read to its end: a name for what comes out. What assigns, or reads a
    /// member of an array, is not read.
    fn arithmetic(&mut self) -> Result<String, Stop> {
        self.depth += 1;
        if self.depth > NESTING {
            return construct("arithmetic");
        }
        self.source.skip(3);
        let mut name = String::new();
        let mut open = 0_u32;
        while let Some(c) = self.source.peek() {
            match c {
                ')' if open == 0 => {
                    self.source.next();
                    if self.source.next() != Some(')') {
                        break;
                    }
                    self.depth -= 1;
                    let name = upper_snake(&name);
                    return Ok(match name.starts_with(|c: char| c.is_ascii_alphabetic()) {
                        true => name,
                        false => format!("NUMBER_{name}"),
                    });
                }
                '$' => {
                    let mut pieces = Pieces::new();
                    self.dollar(&mut pieces, Quoting::Double)?;
                    for piece in pieces {
                        if let Piece::Variable { name: used, .. } | Piece::Output { name: used } =
                            piece
                        {
                            name.push_str(&used);
                        }
                    }
                    continue;
                }
                '(' => open += 1,
                ')' => open -= 1,
                '0'..='9' | 'a'..='z' | 'A'..='Z' | '_' | ' ' => {}
                _ if OPERATORS.iter().any(|(operator, _)| *operator == c) => {}
                _ => break,
            }
            // `++` and `--` assign.
            let is_twice = matches!(c, '+' | '-') && self.source.peek_second() == Some(c);
            if is_twice || name.len() > MOST_OF_NAME {
                break;
            }
            match OPERATORS.iter().find(|(operator, _)| *operator == c) {
                Some((_, word)) => name.push_str(word),
                None => name.push(c),
            }
            self.source.next();
        }
        construct("arithmetic")
    }

    /// `$'…'`
    pub(super) fn ansi(&mut self, pieces: &mut Pieces) -> Result<(), Stop> {
        let line = self.source.line();
        self.source.skip(2);
        open(pieces, Quoting::Single);
        loop {
            let c = match self.source.next() {
                Some('\'') => return Ok(()),
                Some('\\') => match self.source.next() {
                    Some('n') => '\n',
                    Some('t') => '\t',
                    Some('r') => '\r',
                    Some(escaped @ ('\\' | '\'' | '"' | '?')) => escaped,
                    Some(_) => return construct("escape in `$'…'`"),
                    None => '\\',
                },
                Some(c) => c,
                None => return Err(Stop::Syntax(syntax(line, "a single quote is not closed"))),
            };
            push(pieces, c, Quoting::Single);
        }
    }
}

/// `X}`, `X:-d}` and `X-d}` with a plain default: name, default, and the length with `{`.
fn braced(inner: &str) -> Option<(&str, Option<&str>, usize)> {
    let (name, after) = inner.split_at_checked(name_length(inner))?;
    let (within, _) = after.split_once('}')?;
    if name.is_empty() {
        return None;
    }
    let length = name.len() + within.len() + 2;
    if within.is_empty() {
        return Some((name, None, length));
    }
    let default = within.strip_prefix(":-").or(within.strip_prefix('-'))?;
    (!default.contains(['$', '`', '\\', '"', '\'', '{', '\n'])).then_some((
        name,
        Some(default),
        length,
    ))
}

/// An expansion that is not read, by its name and operator: what follows may be a credential.
fn unusual(inner: &str) -> String {
    let shown: String = inner
        .chars()
        .take(32)
        .take_while(|c| c.is_ascii_alphanumeric() || "_#!:%/^,=+?".contains(*c))
        .collect();
    let name = shown.trim_start_matches(['#', '!']);
    let end = shown.len() - name.len() + (name_length(name) + 1).min(name.len());
    format!("expansion `${{{}…}}`", shown.get(..end).unwrap_or_default())
}

/// How long the rest is of an address that is not quoted and goes on with `&name=value`. To a shell it would be an assignment, and where nothing
/// but an option, a pipe or the line's end follows, one without a command.
fn rest_of_address(word: &Pieces, rest: &str) -> Option<usize> {
    let begins = match word.first() {
        Some(Piece::Literal { text, .. }) => {
            text.starts_with("http://") || text.starts_with("https://")
        }
        _ => false,
    };
    let has_query = word
        .iter()
        .any(|piece| matches!(piece, Piece::Literal { text, .. } if text.contains('?')));
    let pair = rest.strip_prefix('&').unwrap_or_default();
    let end = pair.find([' ', '\t', '\n']).unwrap_or(pair.len());
    let (pairs, after) = pair.split_at_checked(end).unwrap_or((pair, ""));
    let after = after.trim_start_matches([' ', '\t']);
    let is_plain = |c: char| c.is_alphanumeric() || "_.-~%+,:/=&${}<>@".contains(c);
    let goes_on = begins
        && has_query
        && name_length(pairs) > 0
        && pairs
            .get(name_length(pairs)..)
            .is_some_and(|value| value.starts_with('='))
        && pairs.chars().all(is_plain)
        && !pairs.contains("&&")
        && ["", "\n", "|", "-", "\\\n", "#"]
            .iter()
            .any(|next| match *next {
                "" => after.is_empty(),
                next => after.starts_with(next),
            });
    goes_on.then_some(pairs.len() + 1)
}

fn is_number(word: &Pieces) -> bool {
    bare(word).is_some_and(|text| text.bytes().all(|b| b.is_ascii_digit()))
}

/// Says that there is something, if only an empty text.
fn open(pieces: &mut Pieces, quoting: Quoting) {
    match pieces.last() {
        Some(Piece::Literal { quoting: last, .. }) if *last == quoting => {}
        _ => pieces.push(Piece::Literal {
            text: String::new(),
            quoting,
        }),
    }
}

fn push(pieces: &mut Pieces, c: char, quoting: Quoting) {
    open(pieces, quoting);
    if let Some(Piece::Literal { text, .. }) = pieces.last_mut() {
        text.push(c);
    }
}
