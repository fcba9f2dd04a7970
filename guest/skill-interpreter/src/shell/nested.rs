//! Quotes and expansions within a word, which may hold each other. They are skipped with a stack of their own, so that text
//! nested as deep as it is long costs an error and no recursion.

use super::expansion::{dollar, name_length, note_variable};
use super::lexer::{Scan, syntax};
use super::placeholder;
use super::source::Source;
use crate::failure::Failure;
use crate::limits;

/// What `((` begins.
pub(super) enum Nested {
    /// An arithmetic command of so many characters.
    Closed(usize),
    /// A subshell within a subshell: its parentheses do not close together.
    Other,
    /// Nothing closes it.
    Open,
}

/// Looks at what begins with `((`.
pub(super) fn arithmetic_command(source: &Source<'_>) -> Nested {
    // What is longer is no arithmetic, and text full of `((` is not read again and again.
    const LONGEST: usize = 4096;
    let mut open = 0_usize;
    let mut characters = source.rest().chars().enumerate().peekable();
    while let Some((at, c)) = characters.next() {
        if at > LONGEST {
            return Nested::Other;
        }
        match c {
            '(' => open += 1,
            ')' => open = open.saturating_sub(1),
            _ => continue,
        }
        if open == 1 && at > 1 && c == ')' {
            return match characters.peek() {
                Some((_, ')')) => Nested::Closed(at + 2),
                _ => Nested::Other,
            };
        }
    }
    Nested::Open
}

/// What is being skipped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// `$( … )`, with open parentheses within it.
    Command(usize),
    /// `` `…` ``
    Backquote,
    /// `${…}`
    Braces,
    /// `$[…]`
    Brackets,
    /// `"…"`
    Double,
}

/// Takes one element of a word: a character, an escape, something quoted, an expansion.
pub(super) fn element(source: &mut Source<'_>, scan: &mut Scan) -> Result<(), Failure> {
    let line = source.line();
    match source.peek() {
        Some('\\') => escape(source, scan),
        Some('\'') => single(source, scan, false),
        Some('"') => {
            take(source, scan);
            Skipper::new(Mode::Double, line).run(source, scan)
        }
        Some('`') => {
            take(source, scan);
            scan.constructs.add("command substitution");
            Skipper::new(Mode::Backquote, line).run(source, scan)
        }
        Some('$') => match dollar(source, scan, false)? {
            Some(mode) => Skipper::new(mode, line).run(source, scan),
            None => Ok(()),
        },
        _ => {
            take(source, scan);
            Ok(())
        }
    }
}

/// Finds the expansions of a here-document's body; quotes mean nothing in it.
pub(super) fn here_body(body: &str, line: u32, scan: &mut Scan) -> Result<(), Failure> {
    let mut inner = Scan {
        constructs: std::mem::take(&mut scan.constructs),
        variables: std::mem::take(&mut scan.variables),
        ..Scan::default()
    };
    let mut source = Source::at_line(body, line);
    let mut result = Ok(());
    while let Some(c) = source.peek() {
        result = match c {
            '\\' => escape(&mut source, &mut inner),
            '$' | '`' if source.rest().starts_with("$'") || source.rest().starts_with("$\"") => {
                take(&mut source, &mut inner);
                Ok(())
            }
            '$' | '`' => element(&mut source, &mut inner),
            _ => {
                take(&mut source, &mut inner);
                Ok(())
            }
        };
        if result.is_err() {
            break;
        }
    }
    scan.constructs = inner.constructs;
    scan.variables = inner.variables;
    scan.assigned.append(&mut inner.assigned);
    result
}

pub(super) fn take(source: &mut Source<'_>, scan: &mut Scan) {
    if let Some(c) = source.next() {
        scan.text.push(c);
    }
}

fn escape(source: &mut Source<'_>, scan: &mut Scan) -> Result<(), Failure> {
    let line = source.line();
    take(source, scan);
    if source.peek().is_none() {
        return Err(syntax(line, "nothing follows a backslash"));
    }
    take(source, scan);
    Ok(())
}

/// `'…'`, or `$'…'` in which a backslash escapes.
pub(super) fn single(source: &mut Source<'_>, scan: &mut Scan, ansi: bool) -> Result<(), Failure> {
    let line = source.line();
    take(source, scan);
    while let Some(c) = source.peek() {
        take(source, scan);
        match c {
            '\'' => return Ok(()),
            '\\' if ansi => take(source, scan),
            _ => {}
        }
    }
    Err(syntax(line, "a single quote is not closed"))
}

/// Skips what is nested.
struct Skipper {
    stack: Vec<Mode>,
    began: u32,
    previous: char,
    /// Here-documents of commands within `$( … )`: mark, and whether tabs are taken away.
    pending: Vec<(String, bool)>,
}

impl Skipper {
    fn new(mode: Mode, began: u32) -> Self {
        Self {
            stack: vec![mode],
            began,
            previous: ' ',
            pending: Vec::new(),
        }
    }

    fn run(&mut self, source: &mut Source<'_>, scan: &mut Scan) -> Result<(), Failure> {
        while let Some(mode) = self.stack.last().copied() {
            if self.stack.len() > limits::SHELL_NESTING {
                return Err(
                    limits::exceeded("shell nesting", limits::SHELL_NESTING).at_line(source.line())
                );
            }
            let Some(c) = source.peek() else {
                return Err(syntax(
                    self.began,
                    match mode {
                        Mode::Double => "a double quote is not closed",
                        Mode::Backquote => "a backquote is not closed",
                        Mode::Command(_) | Mode::Braces | Mode::Brackets => {
                            "an expansion is not closed"
                        }
                    },
                ));
            };
            self.one(mode, c, source, scan)?;
            self.previous = c;
        }
        Ok(())
    }

    fn one(
        &mut self,
        mode: Mode,
        c: char,
        source: &mut Source<'_>,
        scan: &mut Scan,
    ) -> Result<(), Failure> {
        let in_double = self.stack.contains(&Mode::Double);
        match (mode, c) {
            (_, '\\') => return escape(source, scan),
            (Mode::Backquote, '`')
            | (Mode::Double, '"')
            | (Mode::Braces, '}')
            | (Mode::Brackets, ']')
            | (Mode::Command(0), ')') => {
                take(source, scan);
                self.stack.pop();
            }
            (Mode::Backquote, _) => {
                if c == '$' {
                    note_variable(&mut scan.variables, source.rest());
                }
                take(source, scan);
            }
            (_, '`') => {
                take(source, scan);
                scan.constructs.add("command substitution");
                self.stack.push(Mode::Backquote);
            }
            (_, '$') => {
                // Within `$( … )` quotes begin afresh.
                let quoted = !matches!(mode, Mode::Command(_)) && in_double;
                if let Some(inner) = dollar(source, scan, quoted)? {
                    self.stack.push(inner);
                }
            }
            (Mode::Command(_) | Mode::Braces, '"') => {
                take(source, scan);
                self.stack.push(Mode::Double);
            }
            (Mode::Command(_), '\'') => return single(source, scan, false),
            (Mode::Braces, '\'') if !in_double => return single(source, scan, false),
            (Mode::Command(open), '(') => {
                take(source, scan);
                self.set_open(open.saturating_add(1));
            }
            (Mode::Command(open), ')') => {
                take(source, scan);
                self.set_open(open.saturating_sub(1));
            }
            (Mode::Command(_), '#') if begins_word(self.previous) => {
                while source.peek().is_some_and(|c| c != '\n') {
                    take(source, scan);
                }
            }
            (Mode::Command(_), '<') => self.less(source, scan),
            (Mode::Command(_), '\n') => return self.line_end(source, scan),
            (Mode::Command(_), _) => {
                if begins_word(self.previous) {
                    note_assignment(&mut scan.assigned, source.rest());
                }
                take(source, scan);
            }
            (Mode::Double, '<') if self.stack.len() == 1 => match placeholder::name_at(source) {
                Some(name) => {
                    scan.rewritten = true;
                    scan.text.push('{');
                    scan.text.push_str(name);
                    scan.text.push('}');
                    for _ in 0..name.chars().count() + 2 {
                        source.next();
                    }
                }
                None => take(source, scan),
            },
            (Mode::Double | Mode::Braces | Mode::Brackets, _) => take(source, scan),
        }
        Ok(())
    }

    fn set_open(&mut self, open: usize) {
        if let Some(last) = self.stack.last_mut() {
            *last = Mode::Command(open);
        }
    }

    /// `<`, and the mark of a here-document.
    fn less(&mut self, source: &mut Source<'_>, scan: &mut Scan) {
        let rest = source.rest();
        if rest.starts_with("<<<") {
            (0..3).for_each(|_| take(source, scan));
        } else if let Some(after) = rest.strip_prefix("<<") {
            let tabs = after.starts_with('-');
            let after = after.strip_prefix('-').unwrap_or(after);
            let written = after.trim_start_matches([' ', '\t']);
            let end = written
                .find(|c: char| c.is_whitespace() || ";&|<>()".contains(c))
                .unwrap_or(written.len());
            let mark = written.get(..end).unwrap_or_default();
            self.pending
                .push((mark.replace(['\'', '"', '\\'], ""), tabs));
            let taken = rest.len() - written.len() + mark.len();
            let characters = rest.get(..taken).map_or(0, |taken| taken.chars().count());
            (0..characters).for_each(|_| take(source, scan));
        } else {
            take(source, scan);
        }
    }

    fn line_end(&mut self, source: &mut Source<'_>, scan: &mut Scan) -> Result<(), Failure> {
        take(source, scan);
        for (mark, tabs) in std::mem::take(&mut self.pending) {
            loop {
                let Some(line) = source.next_line() else {
                    return Err(syntax(self.began, "a here-document is not closed"));
                };
                scan.text.push_str(line);
                scan.text.push('\n');
                let content = if tabs {
                    line.trim_start_matches('\t')
                } else {
                    line
                };
                if content == mark {
                    break;
                }
            }
        }
        Ok(())
    }
}

fn begins_word(previous: char) -> bool {
    previous.is_ascii_whitespace() || matches!(previous, ';' | '&' | '|' | '(')
}

fn note_assignment(assigned: &mut Vec<String>, text: &str) {
    if let Some((name, after)) = text.split_at_checked(name_length(text))
        && !name.is_empty()
        && (after.starts_with('=') || after.starts_with("+="))
    {
        assigned.push(name.to_owned());
    }
}
