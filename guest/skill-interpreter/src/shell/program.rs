//! Shell text that was read: statements, commands, words before constants are put in.

use std::collections::BTreeMap;

use super::guard::Guard;
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
    /// `NAME=$(pipeline)`, or `NAME=$((…))`, which runs no command.
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
    /// The file of `> FILE`, where its output goes and nothing else.
    pub(super) output: Option<Pieces>,
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
    /// Lines on which something begins that is no command.
    pub(super) left_out: Vec<u32>,
    /// Checks that only print, stop or install, which were left out.
    pub(super) guards: Vec<Guard>,
    /// Lines of words that are there only if a variable is, and the variable.
    pub(super) given: Vec<(u32, String)>,
    /// Lines that begin with an option of the command above.
    pub(super) joined: Vec<u32>,
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

pub(super) fn construct<T>(name: impl Into<String>) -> Result<T, Stop> {
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
