//! Tokens, made safe for the grammar.
//!
//! The grammar of brush-parser backtracks: nested `case` without `;;`, subshells that might be arithmetic, indices within
//! indices and `((((` cost it exponential time, a file descriptor of ten digits makes it panic, and it recurses as deep as its
//! input. So it is never shown what a stranger wrote: words are shown as one letter, reserved words only where they are
//! reserved, every bracket has been matched, nothing is nested deeper than K-05 says, and what it would try twice is written
//! so that the first try succeeds. What remains for it is what it is for: whether the text is a program, and of what shape.

mod words;

use super::construct::Constructs;
use super::lexer::{Kind, Scan, Token, syntax};
use crate::failure::Failure;
use crate::limits;

/// A token for the grammar.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Safe {
    /// A word: a letter, an assignment of one, a reserved word where it is one, or a file descriptor.
    Word(String),
    /// An operator.
    Operator(&'static str),
    /// `<<` or `<<-` with the mark, which the grammar wants with body and end.
    Here(&'static str),
}

/// A safe token and where it comes from, which is how words are found again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Placed {
    pub(super) safe: Safe,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// The grammar recurses as deep as commands are nested, some kilobytes of stack a level. What is deeper than that is shown as
/// one word: it is matched here, and is part of a script anyway.
const VISIBLE: usize = 12;

/// What must be closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Open {
    If,
    Loop,
    Case,
    Brace,
    Parenthesis,
    Array,
    Test,
}

/// What the next word is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    /// The first word of a command, or a reserved word.
    Command,
    /// A word after that.
    Argument,
    /// The name after `for`, `case`, `function`, `coproc`.
    Name(Named),
    /// `in` or, for loops, `do`.
    In(Named),
    /// A pattern of `case`, or `esac`.
    Pattern,
    /// More of a pattern.
    MorePattern,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Named {
    Loop,
    Case,
    Function,
}

struct Walker<'a> {
    scan: &'a Scan,
    out: Vec<Placed>,
    open: Vec<(Open, Next)>,
    next: Next,
    redirects: bool,
    constructs: Constructs,
    /// Names that the text assigns.
    assigned: Vec<String>,
    /// The command word in whose arguments we are, if it takes names to assign.
    assigns_arguments: bool,
    negations: usize,
    /// An assignment stands where a command may still follow.
    awaits_command: bool,
    after_pipe: bool,
    commands: Vec<CommandWord>,
}

/// The first word of a simple command, wherever it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CommandWord {
    /// Where it begins in the text.
    pub(super) start: usize,
    /// Whether it stands after `|`.
    pub(super) after_pipe: bool,
}

/// What the walk found.
pub(super) struct Structure {
    pub(super) tokens: Vec<Placed>,
    /// Loops, functions, groups …; without what the lexer found.
    pub(super) constructs: Constructs,
    /// K-131: names that the text assigns, outside of what is nested in words.
    pub(super) assigned: Vec<String>,
    /// In order.
    pub(super) commands: Vec<CommandWord>,
}

/// Walks over the tokens.
///
/// # Errors
///
/// `shell-syntax` for what is not closed or closed by something else, `limit` for nesting.
pub(super) fn walk(scan: &Scan) -> Result<Structure, Failure> {
    let mut walker = Walker {
        scan,
        out: Vec::with_capacity(scan.tokens.len()),
        open: Vec::new(),
        next: Next::Command,
        redirects: false,
        constructs: Constructs::default(),
        assigned: Vec::new(),
        assigns_arguments: false,
        negations: 0,
        awaits_command: false,
        after_pipe: false,
        commands: Vec::new(),
    };
    let mut previous: Option<Token> = None;
    for (index, token) in scan.tokens.iter().enumerate() {
        match token.kind {
            Kind::Word => walker.word(token, scan.tokens.get(index + 1))?,
            Kind::Arithmetic => walker.arithmetic(token),
            Kind::Operator(operator) => {
                walker.operator(token, operator, previous, scan.tokens.get(index + 1))?;
            }
        }
        previous = Some(*token);
    }
    let last_line = scan.tokens.last().map_or(1, |token| token.line);
    if let Some((open, _)) = walker.open.last() {
        return Err(syntax(
            last_line,
            &format!("{} is not closed", open.written()),
        ));
    }
    Ok(Structure {
        tokens: walker.out,
        constructs: walker.constructs,
        assigned: walker.assigned,
        commands: walker.commands,
    })
}

impl Open {
    const fn written(self) -> &'static str {
        match self {
            Self::If => "`if`",
            Self::Loop => "a loop",
            Self::Case => "`case`",
            Self::Brace => "`{`",
            Self::Parenthesis | Self::Array => "`(`",
            Self::Test => "`[[`",
        }
    }
}

impl Walker<'_> {
    fn emit(&mut self, safe: Safe, token: &Token) {
        if self.open.len() > VISIBLE {
            return;
        }
        self.out.push(Placed {
            safe,
            start: token.start,
            end: token.end,
        });
    }

    /// What closes, after it was popped: shown if what it closes was, and else, once, a word in the place of all of it.
    fn emit_closer(&mut self, safe: Safe, token: &Token) {
        if self.open.len() < VISIBLE {
            self.emit(safe, token);
        } else {
            self.emit(Safe::Word("w".to_owned()), token);
        }
    }

    fn push(&mut self, open: Open, after: Next, token: &Token) -> Result<(), Failure> {
        self.open.push((open, after));
        if self.open.len() > limits::SHELL_NESTING {
            return Err(
                limits::exceeded("shell nesting", limits::SHELL_NESTING).at_line(token.line)
            );
        }
        Ok(())
    }

    fn pop(&mut self, open: Open, token: &Token) -> Result<Next, Failure> {
        match self.open.pop() {
            Some((last, after)) if last == open => Ok(after),
            _ => Err(self.unexpected(token)),
        }
    }

    fn unexpected(&self, token: &Token) -> Failure {
        let shown: String = self.scan.text_of(token).chars().take(16).collect();
        syntax(
            token.line,
            &format!("unexpected `{}`", shown.escape_debug()),
        )
    }

    fn top(&self) -> Option<Open> {
        self.open.last().map(|(open, _)| *open)
    }

    fn arithmetic(&mut self, token: &Token) {
        let part = Safe::Word("w".to_owned());
        let is_loop = self.next == Next::Name(Named::Loop);
        self.emit(Safe::Operator("("), token);
        self.emit(Safe::Operator("("), token);
        if is_loop {
            for _ in 0..2 {
                self.emit(part.clone(), token);
                self.emit(Safe::Operator(";"), token);
            }
        }
        self.emit(part, token);
        self.emit(Safe::Operator(")"), token);
        self.emit(Safe::Operator(")"), token);
        self.next = if is_loop {
            Next::In(Named::Loop)
        } else {
            Next::Command
        };
    }

    fn operator(
        &mut self,
        token: &Token,
        operator: &'static str,
        previous: Option<Token>,
        after: Option<&Token>,
    ) -> Result<(), Failure> {
        match operator {
            "<" | ">" | ">>" | "<&" | ">&" | "<>" | ">|" | "&>" | "&>>" | "<<<" => {
                // In `[[ ]]` they compare.
                self.redirects = self.top() != Some(Open::Test);
                self.emit(Safe::Operator(operator), token);
            }
            "<<" | "<<-" => {
                self.redirects = true;
                self.emit(Safe::Here(operator), token);
            }
            "(" => self.parenthesis(token, previous)?,
            ")" => self.close_parenthesis(token)?,
            "\n" => {
                self.emit(Safe::Operator("\n"), token);
                self.redirects = false;
                if matches!(self.next, Next::Argument | Next::Command)
                    && !matches!(self.top(), Some(Open::Array | Open::Test))
                {
                    self.begin_command();
                }
            }
            ";;" | ";&" | ";;&" => {
                if self.top() != Some(Open::Case) {
                    return Err(self.unexpected(token));
                }
                self.emit(Safe::Operator(operator), token);
                self.next = Next::Pattern;
            }
            "|" if self.next == Next::MorePattern => {
                self.emit(Safe::Operator("|"), token);
            }
            _ => {
                self.emit(Safe::Operator(operator), token);
                self.redirects = false;
                self.negations = 0;
                if self.top() == Some(Open::Test) {
                    return Ok(());
                }
                match operator {
                    "&&" | "||" | "&" | "|&" => {
                        self.constructs.add(format!("`{operator}`"));
                    }
                    // At the end of a line it is between no commands.
                    ";" if after.is_some_and(|after| after.kind != Kind::Operator("\n")) => {
                        self.constructs.add("`;`");
                    }
                    _ => {}
                }
                // `for x; do`
                if !matches!(self.next, Next::In(Named::Loop)) {
                    self.begin_command();
                    self.after_pipe = matches!(operator, "|" | "|&");
                }
            }
        }
        Ok(())
    }

    fn begin_command(&mut self) {
        self.next = Next::Command;
        self.assigns_arguments = false;
        self.awaits_command = false;
        self.after_pipe = false;
    }

    fn parenthesis(&mut self, token: &Token, previous: Option<Token>) -> Result<(), Failure> {
        if self.next == Next::Pattern {
            self.emit(Safe::Operator("("), token);
            return Ok(());
        }
        let is_array = previous.is_some_and(|before| {
            before.kind == Kind::Word
                && before.end == token.start
                && self.scan.text_of(&before).ends_with('=')
                && self.top() != Some(Open::Test)
        });
        if is_array {
            self.push(Open::Array, self.next, token)?;
            self.emit(Safe::Operator("("), token);
            self.next = Next::Argument;
            return Ok(());
        }
        let in_test = self.top() == Some(Open::Test)
            || self
                .open
                .iter()
                .rev()
                .take_while(|(open, _)| *open != Open::Brace)
                .any(|(open, _)| *open == Open::Test);
        // Two that stand together are tried as arithmetic first, and a line's end keeps them apart.
        if !in_test
            && matches!(
                self.out.last(),
                Some(Placed {
                    safe: Safe::Operator("("),
                    ..
                })
            )
        {
            self.emit(Safe::Operator("\n"), token);
        }
        // `<(b)`, which the lexer has named.
        let is_substitution = previous.is_some_and(|before| {
            matches!(before.kind, Kind::Operator("<" | ">")) && before.end == token.start
        });
        if !in_test && !is_substitution {
            self.constructs.add(if self.next == Next::Argument {
                "function"
            } else {
                "subshell"
            });
        }
        self.push(Open::Parenthesis, self.next, token)?;
        self.emit(Safe::Operator("("), token);
        self.redirects = false;
        if !in_test {
            self.begin_command();
        }
        Ok(())
    }

    fn close_parenthesis(&mut self, token: &Token) -> Result<(), Failure> {
        match self.top() {
            Some(Open::Case) if self.next == Next::MorePattern => {
                self.emit(Safe::Operator(")"), token);
                self.begin_command();
                return Ok(());
            }
            Some(Open::Array) => {
                self.next = self.pop(Open::Array, token)?;
            }
            _ => {
                let before = self.pop(Open::Parenthesis, token)?;
                if before == Next::Argument && self.top() == Some(Open::Test) {
                    self.next = before;
                } else {
                    self.begin_command();
                }
            }
        }
        self.emit_closer(Safe::Operator(")"), token);
        Ok(())
    }
}
