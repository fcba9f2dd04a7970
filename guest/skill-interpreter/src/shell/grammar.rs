//! The shell's grammar: the only file that knows brush-parser, whose API is 0.x.
//!
//! It is shown what [`super::structure`] made safe, and answers with pipelines whose words are places in the text. Compound
//! commands are answered as that; what they hold is not looked at, because their text is a script.

use std::sync::Arc;

use brush_parser::ast::{
    self, AssignmentValue, Command as Node, CommandPrefixOrSuffixItem as Item, IoFileRedirectKind,
    IoFileRedirectTarget, IoRedirect, Pipeline as PipelineNode,
};
use brush_parser::{
    ParseError, ParserOptions, SourcePosition, SourceSpan, Token as BrushToken, TokenizerOptions,
};

use super::lexer::{Kind, Scan, syntax};
use super::structure::{Placed, Safe};
use crate::failure::Failure;

/// Where a word begins in the text.
pub(super) type Place = usize;

/// A redirection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Redirect {
    /// `[fd]op word`
    File {
        descriptor: Option<i32>,
        operator: &'static str,
        target: Place,
    },
    /// `<<mark`, `<<-mark`
    HereDocument { mark: Place },
    /// `<<<word`
    HereString { word: Place },
    /// With a descriptor, or of a kind that K-122 has not.
    Other,
}

/// A simple command.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Command {
    pub(super) assignments: Vec<Place>,
    pub(super) words: Vec<Place>,
    pub(super) redirects: Vec<Redirect>,
    /// An array among its arguments, or another thing that has no place in an argument vector.
    pub(super) unusual: bool,
}

/// A statement: what stands between line ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Statement {
    /// Simple commands joined by `|`.
    Pipeline(Vec<Command>),
    /// Anything else.
    Other,
}

/// Parses.
///
/// # Errors
///
/// `shell-syntax` with the line.
pub(super) fn parse(scan: &Scan, tokens: &[Placed]) -> Result<Vec<Statement>, Failure> {
    let mut given = Vec::with_capacity(tokens.len());
    let mut here = None;
    for token in tokens {
        match &token.safe {
            Safe::Word(word) => {
                given.push(BrushToken::Word(word.clone(), span(token)));
                // The grammar wants body and end where the mark is.
                if std::mem::take(&mut here).is_some() {
                    given.push(BrushToken::Word("w".to_owned(), span(token)));
                    given.push(BrushToken::Word("w".to_owned(), span(token)));
                }
            }
            Safe::Operator(operator) => {
                given.push(BrushToken::Operator((*operator).to_owned(), span(token)));
            }
            Safe::Here(operator) => {
                here = Some(());
                given.push(BrushToken::Operator((*operator).to_owned(), span(token)));
            }
        }
    }
    let program = brush_parser::parse_tokens(&given, &options()).map_err(|error| {
        let line = match &error {
            ParseError::ParsingNear(position) => line_at(scan, position.index),
            ParseError::ParsingAtEndOfInput | ParseError::Tokenizing { .. } => {
                scan.tokens.last().map_or(1, |token| token.line)
            }
        };
        syntax(line, "the shell's grammar does not know this")
    })?;
    Ok(program.complete_commands.iter().map(statement).collect())
}

/// Whether brush-parser's own tokenizer sees the same words and operators. To be asked only of text without constructs.
pub(super) fn second_opinion_agrees(scan: &Scan) -> bool {
    let options = TokenizerOptions {
        enable_extended_globbing: false,
        ..TokenizerOptions::default()
    };
    let Ok(theirs) = brush_parser::uncached_tokenize_str(&scan.text, &options) else {
        return false;
    };
    let mut theirs = theirs.iter();

    for token in &scan.tokens {
        let ours = scan.text_of(token);
        let agrees = match (token.kind, theirs.next()) {
            (Kind::Word, Some(BrushToken::Word(word, _))) => {
                // They take away a line's end after a backslash.
                *word == ours || *word == ours.replace("\\\n", "")
            }
            (Kind::Operator(operator), Some(BrushToken::Operator(theirs, _))) => operator == theirs,
            _ => false,
        };
        if !agrees {
            return false;
        }
        if scan.here_documents.contains_key(&token.start) && token.kind == Kind::Word {
            // Body and end follow the mark.
            let body = theirs.next();
            let same = match (body, scan.here_documents.get(&token.start)) {
                (Some(BrushToken::Word(word, _)), Some(ours)) => *word == ours.body,
                _ => false,
            };
            if !same || theirs.next().is_none() {
                return false;
            }
        }
    }
    theirs.next().is_none()
}

fn options() -> ParserOptions {
    ParserOptions {
        enable_extended_globbing: false,
        ..ParserOptions::default()
    }
}

fn span(token: &Placed) -> SourceSpan {
    let at = |index| {
        Arc::new(SourcePosition {
            index,
            line: 1,
            column: 1,
        })
    };
    SourceSpan {
        start: at(token.start),
        end: at(token.end),
    }
}

fn line_at(scan: &Scan, start: usize) -> u32 {
    scan.tokens
        .iter()
        .find(|token| token.start >= start)
        .or(scan.tokens.last())
        .map_or(1, |token| token.line)
}

fn statement(list: &ast::CompoundList) -> Statement {
    match list.0.as_slice() {
        [ast::CompoundListItem(and_or, ast::SeparatorOperator::Sequence)]
            if and_or.additional.is_empty() =>
        {
            pipeline(&and_or.first)
        }
        _ => Statement::Other,
    }
}

fn pipeline(pipeline: &PipelineNode) -> Statement {
    if pipeline.timed.is_some() || pipeline.bang {
        return Statement::Other;
    }
    let mut commands = Vec::with_capacity(pipeline.seq.len());
    for node in &pipeline.seq {
        let Node::Simple(simple) = node else {
            return Statement::Other;
        };
        commands.push(command(simple));
    }
    Statement::Pipeline(commands)
}

fn command(simple: &ast::SimpleCommand) -> Command {
    let mut command = Command::default();
    if let Some(prefix) = &simple.prefix {
        for item in &prefix.0 {
            match item {
                Item::AssignmentWord(_, word) => match place(word) {
                    Some(place) => command.assignments.push(place),
                    None => command.unusual = true,
                },
                Item::IoRedirect(redirection) => command.redirects.push(redirect(redirection)),
                Item::Word(_) | Item::ProcessSubstitution(..) => command.unusual = true,
            }
        }
    }
    let suffix = simple.suffix.iter().flat_map(|suffix| &suffix.0);
    match simple.word_or_name.as_ref().map(place) {
        Some(Some(place)) => command.words.push(place),
        Some(None) => command.unusual = true,
        None => {}
    }
    for item in suffix {
        match item {
            Item::Word(word) => match place(word) {
                Some(place) => command.words.push(place),
                None => command.unusual = true,
            },
            Item::AssignmentWord(assignment, word) => match (&assignment.value, place(word)) {
                (AssignmentValue::Scalar(_), Some(place)) => command.words.push(place),
                (AssignmentValue::Array(_), Some(place)) => {
                    command.words.push(place);
                    command.unusual = true;
                }
                _ => command.unusual = true,
            },
            Item::IoRedirect(redirection) => command.redirects.push(redirect(redirection)),
            Item::ProcessSubstitution(..) => command.unusual = true,
        }
    }
    command
}

fn place(word: &ast::Word) -> Option<Place> {
    word.loc.as_ref().map(|span| span.start.index)
}

fn redirect(redirection: &IoRedirect) -> Redirect {
    let file = |descriptor: Option<i32>, operator, word: &ast::Word| match place(word) {
        Some(target) => Redirect::File {
            descriptor,
            operator,
            target,
        },
        None => Redirect::Other,
    };
    match redirection {
        IoRedirect::File(descriptor, kind, target) => {
            let operator = match kind {
                IoFileRedirectKind::Read => "<",
                IoFileRedirectKind::Write => ">",
                IoFileRedirectKind::DuplicateOutput => ">&",
                _ => return Redirect::Other,
            };
            match target {
                IoFileRedirectTarget::Filename(word) | IoFileRedirectTarget::Duplicate(word) => {
                    file(*descriptor, operator, word)
                }
                _ => Redirect::Other,
            }
        }
        IoRedirect::OutputAndError(word, false) => file(None, "&>", word),
        IoRedirect::HereDocument(None, document) => match place(&document.here_end) {
            Some(mark) => Redirect::HereDocument { mark },
            None => Redirect::Other,
        },
        IoRedirect::HereString(None, word) => match place(word) {
            Some(word) => Redirect::HereString { word },
            None => Redirect::Other,
        },
        _ => Redirect::Other,
    }
}
