//! Words and operators of shell text, in one pass, without recursion.
//!
//! It does what the grammar needs done before it: placeholders become words (K-119), here-documents find their bodies, and
//! everything that K-124 names and that is seen in characters (substitutions, operators, expansions) is noted. What is within
//! a substitution is only skipped, because a text that has one is a script as a whole.
//!
//! Bash is the measure: `tests/bash.rs` compares words with the real one where it is installed.

use std::collections::BTreeMap;

use super::construct::Constructs;
use super::nested::{self, Nested};
use super::placeholder;
use super::source::Source;
use crate::failure::{Code, Failure};
use crate::limits;

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A word, with its quotes.
    Word,
    /// `((…))`: an arithmetic command.
    Arithmetic,
    /// An operator; a line's end is `"\n"`.
    Operator(&'static str),
}

/// A token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Token {
    /// What it is.
    pub(super) kind: Kind,
    /// Where it begins in [`Scan::text`], in bytes.
    pub(super) start: usize,
    /// Where it ends.
    pub(super) end: usize,
    /// Its line, counted from 1 in the text.
    pub(super) line: u32,
}

/// A here-document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct HereDocument {
    /// Its lines, without the one that ends it; tabs of `<<-` are taken away.
    pub(super) body: String,
    /// Whether `$X` in it is a variable: its mark has no quotes.
    pub(super) expands: bool,
    /// The line on which its body begins.
    pub(super) line: u32,
}

/// What was found.
#[derive(Debug, Default)]
pub(super) struct Scan {
    /// The text, with placeholders as `{name}` (K-119).
    pub(super) text: String,
    /// In order.
    pub(super) tokens: Vec<Token>,
    /// By the start of the word that is its mark.
    pub(super) here_documents: BTreeMap<usize, HereDocument>,
    /// Comments that have a line to themselves, by line, without their mark.
    pub(super) comments: BTreeMap<u32, String>,
    /// K-124: what makes the text a script.
    pub(super) constructs: Constructs,
    /// K-131: names after `$`, in the order of their first use; nested text included.
    pub(super) variables: Vec<String>,
    /// K-131: names that nested text assigns.
    pub(super) assigned: Vec<String>,
    /// Whether K-119 changed anything.
    pub(super) rewritten: bool,
}

impl Scan {
    /// The text of a token.
    pub(super) fn text_of(&self, token: &Token) -> &str {
        self.text.get(token.start..token.end).unwrap_or_default()
    }
}

/// Longest first.
const OPERATORS: [&str; 22] = [
    "&>>", ";;&", "<<<", "<<-", "&&", "||", ";;", ";&", "|&", "&>", "<<", "<&", "<>", ">>", ">&",
    ">|", "&", "|", ";", "<", ">", "(",
];

/// A here-document whose body comes after this line.
struct Pending {
    mark: usize,
    end: String,
    expands: bool,
    tabs: bool,
}

struct Lexer<'a> {
    source: Source<'a>,
    scan: Scan,
    pending: Vec<Pending>,
    /// `<<` or `<<-`: the next word is its mark.
    awaits_mark: Option<bool>,
    parentheses: usize,
    /// No `((` from here on is closed, so it need not be looked for again.
    no_arithmetic: bool,
}

/// Reads text.
///
/// # Errors
///
/// `shell-syntax` with the line for what is not closed, `limit` for what is nested too deeply.
pub(super) fn scan(text: &str) -> Result<Scan, Failure> {
    let mut lexer = Lexer {
        source: Source::new(text),
        scan: Scan::default(),
        pending: Vec::new(),
        awaits_mark: None,
        parentheses: 0,
        no_arithmetic: false,
    };
    while lexer.step()? {}
    match lexer.pending.first() {
        Some(_) => Err(syntax(lexer.source.line(), "a here-document is not closed")),
        None => Ok(lexer.scan),
    }
}

/// K-118: the text is no shell text.
pub(super) fn syntax(line: u32, message: &str) -> Failure {
    Failure::new(Code::ShellSyntax, message).at_line(line)
}

impl Lexer<'_> {
    /// One token, blank or comment. Whether there may be more.
    fn step(&mut self) -> Result<bool, Failure> {
        let line = self.source.line();
        let start = self.scan.text.len();
        let Some(next) = self.source.peek() else {
            return Ok(false);
        };
        match next {
            '\n' => {
                self.take();
                self.push(Kind::Operator("\n"), start, line);
                self.bodies()?;
            }
            ' ' | '\t' => self.take(),
            '\\' if self.source.peek_second() == Some('\n') => {
                self.take();
                self.take();
            }
            '#' => self.comment(),
            '<' if placeholder::name_at(&self.source).is_some() => self.word()?,
            '&' | '|' | ';' | '<' | '>' | '(' | ')' => self.operator(start, line)?,
            _ => self.word()?,
        }
        Ok(true)
    }

    fn take(&mut self) {
        if let Some(c) = self.source.next() {
            self.scan.text.push(c);
        }
    }

    fn push(&mut self, kind: Kind, start: usize, line: u32) {
        self.scan.tokens.push(Token {
            kind,
            start,
            end: self.scan.text.len(),
            line,
        });
    }

    fn comment(&mut self) {
        let line = self.source.line();
        let alone = self
            .scan
            .tokens
            .last()
            .is_none_or(|token| token.kind == Kind::Operator("\n"));
        let start = self.scan.text.len();
        while self.source.peek().is_some_and(|c| c != '\n') {
            self.take();
        }
        if alone && let Some(text) = self.scan.text.get(start..) {
            let text = text.trim_start_matches('#').trim().to_owned();
            self.scan.comments.insert(line, text);
        }
    }

    fn operator(&mut self, start: usize, line: u32) -> Result<(), Failure> {
        let rest = self.source.rest();
        if rest.starts_with("((") && !self.no_arithmetic {
            match nested::arithmetic_command(&self.source) {
                Nested::Closed(length) => {
                    for _ in 0..length {
                        self.take();
                    }
                    self.scan.constructs.add("arithmetic");
                    self.push(Kind::Arithmetic, start, line);
                    return Ok(());
                }
                Nested::Other => {}
                Nested::Open => self.no_arithmetic = true,
            }
        }
        let operator = OPERATORS
            .into_iter()
            .find(|operator| rest.starts_with(operator))
            .unwrap_or(")");
        for _ in operator.chars() {
            self.take();
        }
        match operator {
            "(" => self.parentheses += 1,
            ")" => self.parentheses = self.parentheses.saturating_sub(1),
            "<<" | "<<-" if self.awaits_mark.is_none() => {
                self.awaits_mark = Some(operator == "<<-");
            }
            _ => {}
        }
        if matches!(operator, "<" | ">") && self.source.peek() == Some('(') {
            self.scan.constructs.add("process substitution");
        }
        if self.parentheses > limits::SHELL_NESTING {
            return Err(limits::exceeded("shell nesting", limits::SHELL_NESTING).at_line(line));
        }
        self.push(Kind::Operator(operator), start, line);
        Ok(())
    }

    fn word(&mut self) -> Result<(), Failure> {
        let line = self.source.line();
        let start = self.scan.text.len();
        while let Some(next) = self.source.peek() {
            match next {
                '<' => {
                    let digits = self
                        .scan
                        .text
                        .get(start..)
                        .is_some_and(|word| word.bytes().all(|b| b.is_ascii_digit()));
                    match placeholder::name_at(&self.source) {
                        // `2<file>` is a redirection.
                        Some(name) if self.scan.text.len() == start || !digits => {
                            self.placeholder(name);
                        }
                        _ => break,
                    }
                }
                ' ' | '\t' | '\n' | '&' | '|' | ';' | '>' | '(' | ')' => break,
                _ => nested::element(&mut self.source, &mut self.scan)?,
            }
        }
        self.push(Kind::Word, start, line);
        if let Some(tabs) = self.awaits_mark.take() {
            self.mark(start, tabs);
        }
        Ok(())
    }

    fn placeholder(&mut self, name: &str) {
        self.scan.rewritten = true;
        self.scan.text.push('{');
        self.scan.text.push_str(name);
        self.scan.text.push('}');
        for _ in 0..name.chars().count() + 2 {
            self.source.next();
        }
    }

    fn mark(&mut self, start: usize, tabs: bool) {
        let written = self.scan.text.get(start..).unwrap_or_default();
        let expands = !written.contains(['\'', '"', '\\']);
        let mut end = String::with_capacity(written.len());
        let mut escaped = false;
        for c in written.chars() {
            match c {
                '\\' if !escaped => escaped = true,
                '\'' | '"' if !escaped => {}
                _ => {
                    escaped = false;
                    end.push(c);
                }
            }
        }
        self.pending.push(Pending {
            mark: start,
            end,
            expands,
            tabs,
        });
    }

    /// The bodies of the here-documents of the line that has just ended.
    fn bodies(&mut self) -> Result<(), Failure> {
        for pending in std::mem::take(&mut self.pending) {
            let line = self.source.line();
            let mut body = String::new();
            loop {
                let Some(written) = self.source.next_line() else {
                    return Err(syntax(line, "a here-document is not closed"));
                };
                self.scan.text.push_str(written);
                self.scan.text.push('\n');
                let content = if pending.tabs {
                    written.trim_start_matches('\t')
                } else {
                    written
                };
                if content == pending.end {
                    break;
                }
                body.push_str(content);
                body.push('\n');
            }
            if pending.expands {
                nested::here_body(&body, line, &mut self.scan)?;
            }
            self.scan.here_documents.insert(
                pending.mark,
                HereDocument {
                    body,
                    expands: pending.expands,
                    line,
                },
            );
        }
        Ok(())
    }
}
