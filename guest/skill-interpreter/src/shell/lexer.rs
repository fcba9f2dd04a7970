//! Shell text to statements, in one pass: the only reader of shell text.
//!
//! It knows words, quotes, `$X`, `${X}`, `${X:-d}`, `|`, the ends of statements, `< file`, here-documents and
//! redirections that throw output away. Anything else is no part of a plan, and what stands there is not looked at: the text, or
//! where its extent is certain the statement, is a script. Words are read in `quoting`, redirections in `redirect`.

use std::collections::BTreeMap;

use super::computed;
use super::placeholder;
use super::program::{Command, Piece, Pieces, Program, Statement, Stop, bare, construct, syntax};
use super::prose;
use super::source::Source;
use crate::draft::{Quoting, Spelling, Template};
use crate::http_command;

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

/// A here-document whose body comes after this line.
pub(super) struct Pending {
    pub(super) index: usize,
    pub(super) mark: String,
    pub(super) expands: bool,
    pub(super) tabs: bool,
}

/// A place in a text, and what was read before it.
pub(super) struct Lexer<'a> {
    pub(super) source: Source<'a>,
    pub(super) program: Program,
    pub(super) pending: Vec<Pending>,
    /// Whether a comment or an empty line was seen since the last statement.
    pub(super) is_apart: bool,
    pub(super) constructs: Vec<String>,
    pub(super) written: Vec<String>,
    pub(super) output_file: Option<Pieces>,
    /// Where the last text ends that was no check: none begins before it.
    pub(super) no_guard_before: usize,
    /// What was written for each value that is computed, by the name of the value.
    pub(super) outputs: BTreeMap<String, String>,
    /// Whether `&&` joins what comes now to what stands before.
    is_joined: bool,
    /// Of substitutions.
    pub(super) depth: usize,
    /// Up to where `&` was found to be part of an address.
    pub(super) address_end: usize,
    /// Where the here-documents end that were read last.
    pub(super) documents_end: usize,
    /// Whether lines that are no commands are left out.
    pub(super) is_fence: bool,
}

/// Reads text; of a fence, the lines that are commands.
pub(super) fn read(text: &str, is_fence: bool) -> Result<Program, Stop> {
    let mut lexer = Lexer::new(text);
    lexer.is_fence = is_fence;
    lexer.statements()?;
    if is_fence && let [only] = lexer.program.statements.as_mut_slice() {
        write_answer(only);
    }
    Ok(lexer.program)
}

/// Reads `curl … > FILE` of one address, which is all that a fence does, as `curl … -o FILE`.
fn write_answer(statement: &mut Statement) {
    let output = statement.output.take();
    // What says otherwise where the answer goes, or puts more than the answer out.
    let is_diverted = |word: &Pieces| {
        let text = bare(word).unwrap_or_default();
        match text.strip_prefix("--") {
            Some(long) => [
                "output",
                "write-out",
                "remote",
                "next",
                "verbose",
                "include",
                "dump",
                "trace",
            ]
            .iter()
            .any(|start| long.starts_with(start)),
            None => text
                .strip_prefix('-')
                .is_some_and(|letters| letters.contains(['o', 'O', 'w', 'v', 'i', 'D', 'J', ':'])),
        }
    };
    let is_alone =
        matches!(statement.constructs.as_slice(), [one] if one == "redirection to a file");
    if let ([request], Some(file)) = (statement.commands.as_mut_slice(), output)
        && request.name() == Some("curl")
        && is_alone
        && bare(&file) != Some("-")
        && !request.words.iter().any(is_diverted)
        && request.words.iter().filter(|word| is_address(word)).count() == 1
    {
        request.words.push(vec![Piece::Literal {
            text: "-o".to_owned(),
            quoting: Quoting::Bare,
        }]);
        request.words.push(file);
        statement.constructs.clear();
    }
}

fn is_address(word: &Pieces) -> bool {
    word.iter()
        .any(|piece| matches!(piece, Piece::Literal { text, .. } if text.contains("://")))
}

impl<'a> Lexer<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self {
            source: Source::new(text),
            program: Program::default(),
            pending: Vec::new(),
            is_apart: false,
            constructs: Vec::new(),
            written: Vec::new(),
            output_file: None,
            no_guard_before: 0,
            outputs: BTreeMap::new(),
            is_joined: false,
            depth: 0,
            address_end: 0,
            documents_end: 0,
            is_fence: false,
        }
    }

    pub(super) fn statements(&mut self) -> Result<(), Stop> {
        loop {
            let has_documents = !self.pending.is_empty();
            self.lines()?;
            // The text of a statement holds its here-documents.
            if has_documents && let Some(last) = self.program.statements.last_mut() {
                last.end = self.documents_end;
            }
            if self.source.peek().is_none() {
                return match self.pending.first() {
                    Some(_) => Err(self.syntax("a here-document is not closed")),
                    None => Ok(()),
                };
            }
            if self.is_fence && self.pending.is_empty() && self.skip_prose() {
                continue;
            }
            if self.is_fence
                && self.pending.is_empty()
                && self.source.begins_line()
                && !self.is_joined
                && let Some(guard) = self.guard()
            {
                self.program.guards.push(guard);
                self.is_apart = true;
                self.end_of_statement()?;
                continue;
            }
            let (line, start) = (self.source.line(), self.source.position());
            let commands = self.pipeline(false)?;
            let statement = Statement {
                commands,
                line,
                start,
                end: self.source.position(),
                is_apart: std::mem::take(&mut self.is_apart),
                constructs: std::mem::take(&mut self.constructs),
                written: std::mem::take(&mut self.written),
                output: self.output_file.take(),
            };
            if is_request(&statement.commands) {
                while let Some(length) = self.remark_length() {
                    self.source.go_to(self.source.position() + length);
                }
            }
            self.add(statement);
            self.end_of_statement()?;
        }
    }

    /// Adds a statement; in a fence, one that begins with an option to the request above it.
    fn add(&mut self, mut statement: Statement) {
        let begins_with_option = statement
            .commands
            .first()
            .and_then(Command::name)
            .is_some_and(|name| name.starts_with('-'));
        if self.is_fence
            && begins_with_option
            && !statement.is_apart
            && let Some(above) = self.program.statements.last_mut()
            && let [request] = above.commands.as_mut_slice()
            && request.name() == Some("curl")
            && request.input.is_none()
            && let [options, ..] = statement.commands.as_slice()
            && http_command::are_curl_options(&options.words.iter().map(shape).collect::<Vec<_>>())
        {
            self.program.joined.push(statement.line);
            let mut options = statement.commands.remove(0);
            request.words.append(&mut options.words);
            request.input = options.input;
            above.commands.append(&mut statement.commands);
            above.constructs.append(&mut statement.constructs);
            above.written.append(&mut statement.written);
            above.end = statement.end;
        } else {
            self.program.statements.push(statement);
        }
    }

    /// Leaves out the lines that begin here and are no commands. Says whether there are any.
    fn skip_prose(&mut self) -> bool {
        if !self.source.begins_line() {
            return false;
        }
        let lines = prose::lines(self.source.rest());
        if lines > 0 {
            self.is_apart = true;
        }
        for _ in 0..lines {
            self.program.left_out.push(self.source.line());
            self.source.next_line();
        }
        lines > 0
    }

    pub(super) fn end_of_statement(&mut self) -> Result<(), Stop> {
        self.is_joined = false;
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
                self.is_joined = true;
            }
            Some(c) => return construct(self.operator(c)),
        }
        Ok(())
    }

    /// The name of what stands here and is not read.
    pub(super) fn operator(&self, c: char) -> String {
        let rest = self.source.rest();
        match c {
            '(' | ')' => "subshell".to_owned(),
            _ if rest.starts_with("||") => "`||`".to_owned(),
            _ if rest.starts_with("|&") => "`|&`".to_owned(),
            _ => format!("`{c}`"),
        }
    }

    pub(super) fn syntax(&self, message: &str) -> Stop {
        Stop::Syntax(syntax(self.source.line(), message))
    }

    pub(super) fn blanks(&mut self) {
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
    pub(super) fn lines(&mut self) -> Result<(), Stop> {
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

    pub(super) fn pipeline(&mut self, is_nested: bool) -> Result<Vec<Command>, Stop> {
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
                Some('|')
                    if !is_nested && is_request(&commands) && self.remark_length().is_some() =>
                {
                    return Ok(commands);
                }
                Some('|') if is_nested && rest.starts_with("||") => {
                    self.source.skip(2);
                    let otherwise = self.pipeline(true)?;
                    return match computed::is_value(&commands) && computed::is_value(&otherwise) {
                        true => Ok(commands),
                        false => construct("`||`"),
                    };
                }
                Some(')') if is_nested => return Ok(commands),
                None | Some('\n' | ';') if !is_nested => return Ok(commands),
                Some('&') if rest.starts_with("&&") && !is_nested => return Ok(commands),
                Some('&') if !is_nested && self.is_in_background(&commands) => {
                    self.source.next();
                    self.blanks();
                    if self.source.peek() == Some('#') {
                        self.source.take_line();
                    }
                    return Ok(commands);
                }
                Some(c) => return construct(self.operator(c)),
                None => return Err(self.syntax("an expansion is not closed")),
            }
        }
    }

    /// Whether `&` ends the line of a request in a fence: nothing is run beside it that was not run anyway.
    fn is_in_background(&self, commands: &[Command]) -> bool {
        let behind = self.source.rest().get(1..).unwrap_or_default();
        let ends = behind.trim_start_matches([' ', '\t']);
        let is_apart = self
            .source
            .before()
            .is_some_and(|c| matches!(c, ' ' | '\t'));
        self.is_fence
            && is_apart
            && (ends.is_empty() || ends.starts_with(['\n', '#']))
            && is_request(commands)
    }

    pub(super) fn command(&mut self) -> Result<Command, Stop> {
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
                Some('<') if self.source.rest().starts_with("<(") && sources(&command) => {
                    let commands = self.nested_pipeline(2)?;
                    if !computed::is_value(&commands) {
                        return construct("process substitution");
                    }
                    let name = "SETTINGS".to_owned();
                    command.words.push(vec![Piece::Output { name }]);
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

    pub(super) fn word_of(&mut self, command: &mut Command) -> Result<(), Stop> {
        let may_assign = command.words.is_empty()
            || command.words.len() == 1 && command.name() == Some("export");
        if may_assign && let Some(assignment) = self.assignment()? {
            command.assignments.push(assignment);
            return Ok(());
        }
        let line = self.source.line();
        if command.name().is_some_and(http_command::is_http)
            && let Some((given, mut words)) = self.words_of_given()
        {
            self.program.given.push((line, given));
            command.words.append(&mut words);
            return Ok(());
        }
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
}

/// Whether a pipeline begins with a request.
fn is_request(commands: &[Command]) -> bool {
    let name = commands.first().and_then(Command::name);
    name.is_some_and(http_command::is_http)
}

/// `source` before its file.
fn sources(command: &Command) -> bool {
    command.words.len() == 1 && matches!(command.name(), Some("source" | "."))
}

/// A word as a table of options sees it: its text, or a variable where it is not all literal.
fn shape(word: &Pieces) -> Template {
    let text = word.iter().map(|piece| match piece {
        Piece::Literal { text, .. } => Some(text.as_str()),
        _ => None,
    });
    match text.collect::<Option<String>>() {
        Some(text) => Template::literal(text),
        None => Template::variable("value", Spelling::Brace),
    }
}
