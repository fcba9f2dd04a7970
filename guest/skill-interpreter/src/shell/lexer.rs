//! Shell text to statements, in one pass: the only reader of shell text.
//!
//! It knows words, quotes, `$X`, `${X}`, `${X[@]}`, `${X:-d}`, `|`, the ends of statements, `< file`, here-documents and
//! redirections that throw output away. Anything else is no part of a plan, and what stands there is not looked at: the text, or
//! where its extent is certain the statement, is a script.

use std::collections::BTreeMap;

use super::computed;
use super::placeholder;
use super::source::Source;
use crate::draft::Quoting;
use crate::failure::{Code, Failure};

/// A piece of a word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Piece {
    /// Text without its quotes.
    Literal { text: String, quoting: Quoting },
    /// A variable.
    Variable {
        name: String,
        default: Option<String>,
        /// `${X[@]}`
        all: bool,
        quoting: Quoting,
    },
    /// `$(…)` within a word, or `$1`: a value that the author computes, reads or is given, by a name for it.
    Output { name: String },
}

/// A word as written, before constants are put in. A word of an empty literal is an empty argument.
pub(super) type Pieces = Vec<Piece>;

/// What a name is set to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Value {
    Word(Pieces),
    /// `NAME=(a b)`
    Array(Vec<Pieces>),
    /// `NAME=$(pipeline)`
    Output(Vec<Command>),
}

/// `NAME=value`
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Assignment {
    pub(super) name: String,
    pub(super) value: Value,
    pub(super) line: u32,
}

/// What a command reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Input {
    /// `< file`
    File(Pieces),
    /// `<<< word`
    Word(Pieces),
    /// `<< mark`, by its position among the here-documents of the text.
    Document(usize),
}

/// A simple command.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Command {
    /// Those of `export` too.
    pub(super) assignments: Vec<Assignment>,
    pub(super) words: Vec<Pieces>,
    pub(super) input: Option<Input>,
    pub(super) line: u32,
}

impl Command {
    /// The first word, if it is plain text.
    pub(super) fn name(&self) -> Option<&str> {
        self.words.first().and_then(bare)
    }
}

/// Simple commands joined by `|`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Statement {
    pub(super) commands: Vec<Command>,
    pub(super) line: u32,
    /// Where it stands in the text, in bytes.
    pub(super) start: usize,
    pub(super) end: usize,
    /// Whether a comment or an empty line stands before it.
    pub(super) is_apart: bool,
    /// What makes a script of it; its extent is known all the same.
    pub(super) constructs: Vec<String>,
    /// Literal targets of redirections.
    pub(super) written: Vec<String>,
}

/// A text that was read to its end.
#[derive(Debug, Default)]
pub(super) struct Program {
    pub(super) statements: Vec<Statement>,
    pub(super) documents: Vec<Pieces>,
    /// Comments that have a line to themselves, by line, without their mark.
    pub(super) comments: BTreeMap<u32, String>,
    /// Whether statements share a line (`;`, `&&`).
    pub(super) shares_lines: bool,
    /// Lines of addresses with `&` that are not quoted.
    pub(super) ampersands: Vec<u32>,
}

/// Why a text has no statements.
#[derive(Debug)]
pub(super) enum Stop {
    /// The text is no shell text.
    Syntax(Failure),
    /// What it meets is not read.
    Construct(String),
}

/// No shell text.
pub(super) fn syntax(line: u32, message: &str) -> Failure {
    Failure::new(Code::ShellSyntax, message).at_line(line)
}

fn construct<T>(name: impl Into<String>) -> Result<T, Stop> {
    Err(Stop::Construct(name.into()))
}

/// How long the name is that a text begins with; 0 for none.
pub(super) fn name_length(text: &str) -> usize {
    if text.starts_with(|c: char| c.is_ascii_digit()) {
        return 0;
    }
    text.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
        .unwrap_or(text.len())
}

/// The text of a word in which nothing is quoted and no variable stands.
pub(super) fn bare(word: &Pieces) -> Option<&str> {
    match word.as_slice() {
        [
            Piece::Literal {
                text,
                quoting: Quoting::Bare,
            },
        ] => Some(text),
        _ => None,
    }
}

/// What the reserved word is that begins something else than a simple command.
fn reserved(word: &str) -> Option<String> {
    Some(match word {
        "for" | "while" | "until" | "select" => format!("loop `{word}`"),
        "if" | "case" | "[[" => format!("conditional `{word}`"),
        "{" | "}" => "group".to_owned(),
        "function" => "function".to_owned(),
        "then" | "elif" | "else" | "fi" | "do" | "done" | "esac" | "in" | "]]" | "!" | "time"
        | "coproc" => format!("`{word}`"),
        _ => return None,
    })
}

/// Substitutions within substitutions that are read.
const NESTING: usize = 4;

/// A here-document whose body comes after this line.
struct Pending {
    index: usize,
    mark: String,
    expands: bool,
    tabs: bool,
}

struct Lexer<'a> {
    source: Source<'a>,
    program: Program,
    pending: Vec<Pending>,
    /// Whether a comment or an empty line was seen since the last statement.
    is_apart: bool,
    constructs: Vec<String>,
    written: Vec<String>,
    /// Of substitutions.
    depth: usize,
}

/// Reads text.
pub(super) fn read(text: &str) -> Result<Program, Stop> {
    let mut lexer = Lexer::new(text);
    lexer.statements()?;
    Ok(lexer.program)
}

impl<'a> Lexer<'a> {
    fn new(text: &'a str) -> Self {
        Self {
            source: Source::new(text),
            program: Program::default(),
            pending: Vec::new(),
            is_apart: false,
            constructs: Vec::new(),
            written: Vec::new(),
            depth: 0,
        }
    }

    fn statements(&mut self) -> Result<(), Stop> {
        loop {
            self.lines()?;
            if self.source.peek().is_none() {
                return match self.pending.first() {
                    Some(_) => Err(self.syntax("a here-document is not closed")),
                    None => Ok(()),
                };
            }
            let (line, start) = (self.source.line(), self.source.position());
            let commands = self.pipeline(false)?;
            self.program.statements.push(Statement {
                commands,
                line,
                start,
                end: self.source.position(),
                is_apart: std::mem::take(&mut self.is_apart),
                constructs: std::mem::take(&mut self.constructs),
                written: std::mem::take(&mut self.written),
            });
            self.end_of_statement()?;
        }
    }

    fn end_of_statement(&mut self) -> Result<(), Stop> {
        match self.source.peek() {
            None | Some('\n') => {}
            Some(';') if !self.source.rest().starts_with(";;") => {
                self.source.next();
                self.blanks();
                if !matches!(self.source.peek(), None | Some('\n' | '#')) {
                    self.program.shares_lines = true;
                }
            }
            Some('&') if self.source.rest().starts_with("&&") => {
                self.source.next();
                self.source.next();
                self.program.shares_lines = true;
                self.lines()?;
                if self.source.peek().is_none() {
                    return construct("`&&`");
                }
                self.is_apart = false;
            }
            Some(c) => return construct(self.operator(c)),
        }
        Ok(())
    }

    /// The name of what stands here and is not read.
    fn operator(&self, c: char) -> String {
        let rest = self.source.rest();
        match c {
            '(' | ')' => "subshell".to_owned(),
            _ if rest.starts_with("||") => "`||`".to_owned(),
            _ if rest.starts_with("|&") => "`|&`".to_owned(),
            _ => format!("`{c}`"),
        }
    }

    fn syntax(&self, message: &str) -> Stop {
        Stop::Syntax(syntax(self.source.line(), message))
    }

    fn blanks(&mut self) {
        loop {
            match self.source.peek() {
                Some(' ' | '\t') => {
                    self.source.next();
                }
                Some('\\') if self.source.peek_second() == Some('\n') => {
                    self.source.next();
                    self.source.next();
                }
                _ => return,
            }
        }
    }

    /// Blanks, comments, ends of lines, and the here-documents that lines asked for.
    fn lines(&mut self) -> Result<(), Stop> {
        // A line's end before anything else ends the line before.
        let mut is_line_begun = true;
        loop {
            self.blanks();
            match self.source.peek() {
                Some('\n') => {
                    self.source.next();
                    self.is_apart |= !is_line_begun;
                    is_line_begun = false;
                    self.documents()?;
                }
                Some('#') => {
                    let line = self.source.line();
                    let text = self.source.take_line();
                    if !is_line_begun || self.program.statements.is_empty() {
                        self.is_apart = true;
                        let text = text.trim_start_matches('#').trim().to_owned();
                        self.program.comments.insert(line, text);
                    }
                    is_line_begun = true;
                }
                _ => return Ok(()),
            }
        }
    }

    fn pipeline(&mut self, is_nested: bool) -> Result<Vec<Command>, Stop> {
        let mut commands = Vec::new();
        loop {
            let command = self.command()?;
            if command.words.is_empty() && command.assignments.is_empty() {
                let c = self.source.peek().unwrap_or('|');
                return construct(self.operator(c));
            }
            commands.push(command);
            let rest = self.source.rest();
            match self.source.peek() {
                Some('|') if !rest.starts_with("||") && !rest.starts_with("|&") => {
                    self.source.next();
                    let is_apart = self.is_apart;
                    self.lines()?;
                    self.is_apart = is_apart;
                }
                Some(')') if is_nested => return Ok(commands),
                None | Some('\n' | ';') if !is_nested => return Ok(commands),
                Some('&') if rest.starts_with("&&") && !is_nested => return Ok(commands),
                Some(c) => return construct(self.operator(c)),
                None => return Err(self.syntax("an expansion is not closed")),
            }
        }
    }

    fn command(&mut self) -> Result<Command, Stop> {
        let mut command = Command {
            line: self.source.line(),
            ..Command::default()
        };
        loop {
            self.blanks();
            match self.source.peek() {
                Some('#') => {
                    self.source.take_line();
                    self.is_apart = true;
                    return Ok(command);
                }
                Some('<') if placeholder::name_at(self.source.rest()).is_none() => {
                    self.input(&mut command)?;
                }
                Some('>') => self.output("")?,
                Some('&') if self.source.rest().starts_with("&>") => self.output("&")?,
                None | Some('\n' | '|' | ';' | '&' | '(' | ')') => return Ok(command),
                Some(_) => self.word_of(&mut command)?,
            }
        }
    }

    fn word_of(&mut self, command: &mut Command) -> Result<(), Stop> {
        let may_assign = command.words.is_empty()
            || command.words.len() == 1 && command.name() == Some("export");
        if may_assign && let Some(assignment) = self.assignment()? {
            command.assignments.push(assignment);
            return Ok(());
        }
        let line = self.source.line();
        let word = self.word()?;
        let text = bare(&word);
        if command.words.is_empty() {
            // After an assignment no word is reserved, and none of them names a command either.
            if let Some(name) = text.and_then(reserved) {
                return construct(name);
            }
            if command.assignments.is_empty() {
                command.line = line;
            }
        }
        let rest = self.source.rest();
        if rest.starts_with(['<', '>'])
            && let Some(text) = text
        {
            if text.bytes().all(|b| b.is_ascii_digit()) {
                return match (text, rest.starts_with('>')) {
                    (_, true) => self.output(text),
                    ("0", false) => self.input(command),
                    _ => construct("redirection of a descriptor"),
                };
            }
            if text.ends_with('}') && text.starts_with('{') {
                return construct("redirection of a descriptor");
            }
        }
        self.blanks();
        if command.words.is_empty() && self.source.peek() == Some('(') {
            return construct("function");
        }
        command.words.push(word);
        Ok(())
    }

    fn assignment(&mut self) -> Result<Option<Assignment>, Stop> {
        let (line, rest) = (self.source.line(), self.source.rest());
        let Some((name, after)) = rest.split_at_checked(name_length(rest)) else {
            return Ok(None);
        };
        if name.is_empty() || !after.starts_with('=') {
            let is_other = after.starts_with("+=") || after.starts_with('[');
            return if is_other && !name.is_empty() {
                construct("assignment")
            } else {
                Ok(None)
            };
        }
        self.source.skip(name.len() + 1);
        let value = match after.get(1..).unwrap_or_default() {
            array if array.starts_with('(') => self.array()?,
            output if is_output(output.strip_prefix('"').unwrap_or(output)) => {
                self.output_of_pipeline(output.starts_with('"'))?
            }
            _ => Value::Word(self.word()?),
        };
        Ok(Some(Assignment {
            name: name.to_owned(),
            value,
            line,
        }))
    }

    fn array(&mut self) -> Result<Value, Stop> {
        self.source.next();
        let mut words = Vec::new();
        loop {
            self.blanks();
            match self.source.peek() {
                Some(')') => {
                    self.source.next();
                    return Ok(Value::Array(words));
                }
                Some('\n') => {
                    self.source.next();
                }
                Some('#' | '<' | '>' | '&' | '|' | ';' | '(') | None => return construct("array"),
                Some(_) => words.push(self.word()?),
            }
        }
    }

    /// `$(pipeline)` or `"$(pipeline)"`, which is all of a value.
    fn output_of_pipeline(&mut self, is_quoted: bool) -> Result<Value, Stop> {
        let commands = self.nested_pipeline(if is_quoted { 3 } else { 2 })?;
        if is_quoted && self.source.next() != Some('"') {
            return construct("command substitution");
        }
        match self.source.peek() {
            None | Some(' ' | '\t' | '\n' | ';' | '&' | '|' | ')') => Ok(Value::Output(commands)),
            _ => construct("command substitution"),
        }
    }

    /// A pipeline in `$( … )`, whose mark has so many bytes.
    fn nested_pipeline(&mut self, mark: usize) -> Result<Vec<Command>, Stop> {
        self.depth += 1;
        if self.depth > NESTING {
            return construct("command substitution");
        }
        self.source.skip(mark);
        let noted = std::mem::take(&mut self.constructs);
        let commands = self.pipeline(true)?;
        self.source.next();
        self.depth -= 1;
        if !std::mem::replace(&mut self.constructs, noted).is_empty() {
            return construct("command substitution");
        }
        Ok(commands)
    }

    /// `>`, `>&`, `&>` and their kin: what throws output away, and what is noted.
    fn output(&mut self, before: &str) -> Result<(), Stop> {
        if before == "&" {
            self.source.next();
        }
        self.source.next();
        let rest = self.source.rest();
        if rest.starts_with('(') {
            return construct("process substitution");
        }
        if before == "2" && rest.starts_with("&1") {
            self.source.skip(2);
            return match self.source.peek() {
                None | Some(' ' | '\t' | '\n' | '|' | ';' | ')' | '&' | '<' | '>') => Ok(()),
                _ => construct("redirection of a descriptor"),
            };
        }
        let appends = rest.starts_with(['>', '|', '&']);
        let is_descriptor = rest.starts_with('&');
        if appends {
            self.source.next();
        }
        self.blanks();
        match self.source.peek() {
            None | Some('\n' | '|' | ';' | '&' | '(' | ')' | '<' | '>' | '#') => {
                return construct("redirection");
            }
            Some(_) => {}
        }
        let target = self.word()?;
        let text = bare(&target);
        let is_thrown_away =
            !appends && matches!(before, "" | "1" | "2" | "&") && text == Some("/dev/null");
        if is_descriptor {
            self.note("redirection of a descriptor");
        } else if !is_thrown_away {
            self.note("redirection to a file");
            self.written.extend(text.map(str::to_owned));
            if text.is_none() {
                return construct("redirection to a file");
            }
        }
        Ok(())
    }

    fn note(&mut self, construct: &str) {
        if !self.constructs.iter().any(|known| known == construct) {
            self.constructs.push(construct.to_owned());
        }
    }

    fn input(&mut self, command: &mut Command) -> Result<(), Stop> {
        let rest = self.source.rest();
        if command.input.is_some() || rest.starts_with("<&") || rest.starts_with("<>") {
            return construct("redirection");
        }
        if rest.starts_with("<(") {
            return construct("process substitution");
        }
        let (kind, length) = if rest.starts_with("<<<") {
            ("<<<", 3)
        } else if rest.starts_with("<<-") {
            ("<<-", 3)
        } else if rest.starts_with("<<") {
            ("<<", 2)
        } else {
            ("<", 1)
        };
        self.source.skip(length);
        self.blanks();
        if kind.starts_with("<<") && kind != "<<<" {
            command.input = Some(self.mark(kind == "<<-")?);
            return Ok(());
        }
        let is_placeholder = placeholder::name_at(self.source.rest()).is_some();
        match self.source.peek() {
            Some('<') if is_placeholder => {}
            None | Some('\n' | '|' | ';' | '&' | '(' | ')' | '<' | '>' | '#') => {
                return construct("redirection");
            }
            Some(_) => {}
        }
        let word = self.word()?;
        command.input = Some(if kind == "<" {
            Input::File(word)
        } else {
            Input::Word(word)
        });
        Ok(())
    }

    /// The mark of a here-document: a plain word, or one in quotes.
    fn mark(&mut self, tabs: bool) -> Result<Input, Stop> {
        let rest = self.source.rest();
        let is_end = |c: char| c.is_ascii_whitespace() || ";&|<>()".contains(c);
        let written = rest.split(is_end).next().unwrap_or_default();
        let mark = ['\'', '"']
            .iter()
            .find_map(|quote| written.strip_prefix(*quote)?.strip_suffix(*quote))
            .unwrap_or(written);
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '!');
        if mark.is_empty() || !mark.chars().all(is_plain) {
            return construct("here-document");
        }
        let index = self.program.documents.len();
        self.program.documents.push(Pieces::new());
        self.pending.push(Pending {
            index,
            mark: mark.to_owned(),
            expands: mark == written,
            tabs,
        });
        self.source.skip(written.len());
        Ok(Input::Document(index))
    }

    /// The bodies of the here-documents of the line that has just ended.
    fn documents(&mut self) -> Result<(), Stop> {
        for pending in std::mem::take(&mut self.pending) {
            let mut body = String::new();
            loop {
                let Some(written) = self.source.next_line() else {
                    return Err(self.syntax("a here-document is not closed"));
                };
                let content = if pending.tabs {
                    written.trim_start_matches('\t')
                } else {
                    written
                };
                if content == pending.mark {
                    break;
                }
                body.push_str(content);
                body.push('\n');
            }
            let pieces = if pending.expands {
                // A shell joins lines before it looks for the mark.
                if body.contains("\\\n") {
                    return construct("here-document");
                }
                let mut pieces = Pieces::new();
                Lexer::new(&body).double(&mut pieces, None)?;
                pieces
            } else {
                vec![Piece::Literal {
                    text: body,
                    quoting: Quoting::Single,
                }]
            };
            if let Some(document) = self.program.documents.get_mut(pending.index) {
                *document = pieces;
            }
        }
        Ok(())
    }

    fn word(&mut self) -> Result<Pieces, Stop> {
        let mut pieces = Pieces::new();
        while let Some(c) = self.source.peek() {
            match c {
                '&' if goes_on_as_address(&pieces, self.source.rest()) => {
                    self.program.ampersands.push(self.source.line());
                    self.source.next();
                    push(&mut pieces, c, Quoting::Bare);
                }
                ' ' | '\t' | '\n' | '&' | '|' | ';' | '>' | '(' | ')' => break,
                '<' => match placeholder::name_at(self.source.rest()) {
                    // `2<file>` is a redirection.
                    Some(name) if !is_number(&pieces) => {
                        self.placeholder(&mut pieces, name, Quoting::Bare)
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

    fn placeholder(&mut self, pieces: &mut Pieces, name: &str, quoting: Quoting) {
        self.source.skip(name.len() + 2);
        for c in format!("{{{name}}}").chars() {
            push(pieces, c, quoting);
        }
    }

    fn single(&mut self, pieces: &mut Pieces) -> Result<(), Stop> {
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
    fn double(&mut self, pieces: &mut Pieces, end: Option<char>) -> Result<(), Stop> {
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

    fn dollar(&mut self, pieces: &mut Pieces, quoting: Quoting) -> Result<(), Stop> {
        let rest = self.source.rest().get(1..).unwrap_or_default();
        // A shell joins the lines first: what follows may be any expansion.
        if rest.starts_with("\\\n") {
            return construct("expansion over the end of a line");
        }
        if rest.starts_with("((") || rest.starts_with('[') {
            return construct("arithmetic");
        }
        if rest.starts_with('(') {
            let name = self
                .nested_pipeline(2)
                .map(|commands| computed::name(&commands))?;
            let Some(name) = name else {
                return construct("command substitution");
            };
            pieces.push(Piece::Output { name });
            return Ok(());
        }
        let (name, default, all, length) = if let Some(inner) = rest.strip_prefix('{') {
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
            (rest.get(..length).unwrap_or_default(), None, false, length)
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
        if self.source.rest().starts_with("\\\n") && !rest.starts_with('{') {
            return construct("expansion over the end of a line");
        }
        pieces.push(Piece::Variable {
            name: name.to_owned(),
            default: default.map(str::to_owned),
            all,
            quoting,
        });
        Ok(())
    }

    /// `$'…'`
    fn ansi(&mut self, pieces: &mut Pieces) -> Result<(), Stop> {
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

/// `X}`, `X[@]}`, `X:-d}` and `X-d}` with a plain default: name, default, whether all is meant, and the length with `{`.
fn braced(inner: &str) -> Option<(&str, Option<&str>, bool, usize)> {
    let (name, after) = inner.split_at_checked(name_length(inner))?;
    let (within, _) = after.split_once('}')?;
    if name.is_empty() {
        return None;
    }
    let length = name.len() + within.len() + 2;
    match within {
        "" => Some((name, None, false, length)),
        "[@]" => Some((name, None, true, length)),
        _ => {
            let default = within.strip_prefix(":-").or(within.strip_prefix('-'))?;
            (!default.contains(['$', '`', '\\', '"', '\'', '{', '\n'])).then_some((
                name,
                Some(default),
                false,
                length,
            ))
        }
    }
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

fn is_output(text: &str) -> bool {
    text.starts_with("$(") && !text.starts_with("$((")
}

/// Whether `&name=value` goes on with an address that is not quoted. To a shell it would be an assignment, and where nothing
/// but an option, a pipe or the line's end follows, one without a command.
fn goes_on_as_address(word: &Pieces, rest: &str) -> bool {
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
    begins
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
            })
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
