//! K-121 to K-123: whether a pipeline is a plan, and which.

use super::construct::Constructs;
use super::globs;
use super::grammar::{Command, Place, Redirect};
use super::lexer::{Scan, Token};
use super::word::Reader;
use crate::context::Context;
use crate::diagnostic::Diagnostics;
use crate::draft::{
    BodyDraft, DraftStage, HttpDraft, PartContent, Piece, SandboxDraft, Template, Word,
};
use crate::failure::Failure;
use crate::http_command::{self, Invocation, Stdin};
use crate::limits;
use crate::tools::{self, Tool};

/// What a pipeline is.
#[derive(Debug)]
pub(super) enum Outcome {
    /// One plan, or one for each URL of its first stage (K-147).
    Plans(Vec<Vec<DraftStage>>),
    /// It is a command that cannot be used.
    Unusable(Failure),
    /// K-124
    Script,
}

/// A command with its words read.
#[derive(Debug)]
pub(super) struct Read {
    pub(super) argv: Vec<Word>,
    pub(super) line: u32,
    /// K-129: `NAME=v` in front of it, when `argv` is not empty.
    pub(super) assigned: bool,
    /// `< file`
    pub(super) from_file: Option<Word>,
    /// `<<`, `<<<`
    pub(super) text: Option<Template>,
}

/// Reads the words and redirections of a command; what cannot be part of a plan is noted.
pub(super) fn read(
    command: &Command,
    scan: &Scan,
    start_line: u32,
    reader: &mut Reader<'_>,
    found: &mut Constructs,
) -> Read {
    if command.unusual {
        found.add("array");
    }
    let line = first_place(command)
        .and_then(|place| token_at(scan, place))
        .map_or(start_line, |token| document_line(start_line, token.line));
    let mut read = Read {
        argv: Vec::with_capacity(command.words.len()),
        line,
        assigned: !command.assignments.is_empty() && !command.words.is_empty(),
        from_file: None,
        text: None,
    };
    for place in &command.words {
        let written = text_at(scan, *place);
        reader.credential = read
            .argv
            .last()
            .and_then(Template::as_literal)
            .is_some_and(|option| {
                matches!(
                    option.as_str(),
                    "-u" | "--user"
                        | "--oauth2-bearer"
                        | "-a"
                        | "--auth"
                        | "--password"
                        | "--http-password"
                )
            });
        read.argv.extend(reader.words(written));
    }
    reader.credential = false;
    for redirect in &command.redirects {
        redirection(redirect, scan, reader, found, &mut read);
    }
    read
}

fn redirection(
    redirect: &Redirect,
    scan: &Scan,
    reader: &mut Reader<'_>,
    found: &mut Constructs,
    read: &mut Read,
) {
    match redirect {
        Redirect::File {
            descriptor,
            operator,
            target,
        } => {
            let target = reader.words(text_at(scan, *target));
            let literal = match target.as_slice() {
                [word] => word.as_literal().unwrap_or_default(),
                _ => String::new(),
            };
            match (descriptor, *operator, literal.as_str()) {
                (Some(2), ">&", "1")
                | (None | Some(1 | 2), ">", "/dev/null")
                | (None, "&>", "/dev/null") => {}
                (None | Some(0), "<", _) if read.from_file.is_none() && read.text.is_none() => {
                    match target.as_slice() {
                        [word] if globs::in_operand(word).is_none() => {
                            read.from_file = Some(word.clone());
                        }
                        _ => found.add("redirection from a file"),
                    }
                }
                (_, "<", _) => found.add("redirection from a file"),
                (_, ">&", _) => found.add("redirection of a descriptor"),
                _ => found.add("redirection to a file"),
            }
        }
        Redirect::HereDocument { mark } if read.from_file.is_none() && read.text.is_none() => {
            match scan.here_documents.get(mark) {
                Some(document) if document.expands => {
                    read.text = Some(reader.here_body(&document.body));
                }
                Some(document) => {
                    let mut text = Template::default();
                    text.push_literal(document.body.clone(), crate::draft::Quoting::Single);
                    read.text = Some(text);
                }
                None => found.add("here-document"),
            }
        }
        Redirect::HereString { word } if read.from_file.is_none() && read.text.is_none() => {
            let mut text = Template::default();
            for (index, word) in reader.words(text_at(scan, *word)).into_iter().enumerate() {
                if index > 0 {
                    text.push_literal(" ", crate::draft::Quoting::Single);
                }
                text.append(word);
            }
            text.push_literal("\n", crate::draft::Quoting::Single);
            read.text = Some(text);
        }
        Redirect::HereDocument { .. } | Redirect::HereString { .. } => found.add("here-document"),
        Redirect::Other => found.add("redirection"),
    }
}

/// K-123: the stages of a pipeline of read commands.
pub(super) fn plan(
    commands: Vec<Read>,
    context: &Context,
    diagnostics: &mut Diagnostics,
    found: &mut Constructs,
) -> Outcome {
    let alone = commands.len() == 1;
    if commands.len() > limits::SHELL_NESTING {
        found.add("very long pipeline");
        return Outcome::Script;
    }
    let mut plans: Vec<Vec<DraftStage>> = vec![Vec::new()];
    for (index, command) in commands.into_iter().enumerate() {
        let first = index == 0;
        if !first && (command.from_file.is_some() || command.text.is_some()) {
            found.add("redirection after a pipe");
            return Outcome::Script;
        }
        let name = command.argv.first().and_then(Template::as_literal);
        let Some(name) = name else {
            found.add("variable as a command");
            return Outcome::Script;
        };
        let is_http = http_command::is_http(&name);
        if command.assigned && !is_http {
            found.add("assignment before a command");
            return Outcome::Script;
        }
        if is_http {
            for word in command.argv.iter().skip(1) {
                // K-126: globs are literal here. What a shell would certainly make another word of is not.
                let is_url = word.display().contains("://");
                if !is_url && (globs::has_tilde(word) || globs::has_brace_list(word)) {
                    found.add("brace list or `~` in an argument");
                    return Outcome::Script;
                }
            }
        }
        // A file in front is a stage of its own, and so is text for a pure stage.
        let mut front = Vec::new();
        if let Some(path) = command.from_file {
            front.push(DraftStage::ReadFile {
                paths: vec![path],
                excerpt: None,
            });
        }
        let stdin = match (&command.text, first && front.is_empty()) {
            (Some(text), _) => Stdin::Text(text),
            (None, true) => Stdin::Nothing,
            (None, false) => Stdin::Previous,
        };
        let invocation = Invocation {
            argv: &command.argv,
            stdin,
            line: command.line,
        };
        let alternatives = if is_http {
            match http(&name, &invocation, context, diagnostics) {
                Ok(Some(stages)) => stages,
                Ok(None) => {
                    found.add(format!("`{name}` after a pipe"));
                    return Outcome::Script;
                }
                Err(failure) => return Outcome::Unusable(failure.at_line(command.line)),
            }
        } else {
            match tools::stages(&invocation, context, diagnostics) {
                Ok(Tool::Stages(stages)) => vec![stages],
                Ok(Tool::Script(construct)) => {
                    found.add(construct);
                    return Outcome::Script;
                }
                Err(failure) => return Outcome::Unusable(failure.at_line(command.line)),
            }
        };
        if !alternatives
            .iter()
            .flatten()
            .all(|stage| fits(stage, first, alone))
        {
            found.add(format!(
                "{} `{}`",
                if first { "pipe from" } else { "pipe into" },
                short(&name)
            ));
            return Outcome::Script;
        }
        if alternatives.len() > limits::FENCE_OPERATIONS {
            return Outcome::Unusable(
                limits::exceeded("operations of a fence", limits::FENCE_OPERATIONS)
                    .at_line(command.line),
            );
        }
        plans = combine(plans, &front, alternatives);
    }
    Outcome::Plans(plans)
}

/// Each alternative after each plan. Only the first stage has several (K-147).
fn combine(
    plans: Vec<Vec<DraftStage>>,
    front: &[DraftStage],
    alternatives: Vec<Vec<DraftStage>>,
) -> Vec<Vec<DraftStage>> {
    let mut combined = Vec::with_capacity(plans.len() * alternatives.len());
    for plan in plans {
        for stages in &alternatives {
            let mut whole = plan.clone();
            whole.extend_from_slice(front);
            whole.extend_from_slice(stages);
            combined.push(whole);
        }
    }
    combined
}

fn http(
    name: &str,
    invocation: &Invocation<'_>,
    context: &Context,
    diagnostics: &mut Diagnostics,
) -> Result<Option<Vec<Vec<DraftStage>>>, Failure> {
    let requests = http_command::parse(invocation, context, diagnostics)?;
    if invocation.stdin == Stdin::Previous {
        // K-123: curl and httpie, when they send what the stage before puts out.
        let one = matches!(requests.as_slice(), [request] if sends_previous(request));
        if !one || name == "wget" {
            return Ok(None);
        }
    }
    Ok(Some(
        requests
            .into_iter()
            .map(|request| vec![DraftStage::Http(Box::new(request))])
            .collect(),
    ))
}

fn sends_previous(request: &HttpDraft) -> bool {
    match &request.body {
        Some(BodyDraft::Pieces(pieces)) => pieces
            .iter()
            .any(|piece| matches!(piece, Piece::Previous(_))),
        Some(BodyDraft::Multipart(parts)) => parts
            .iter()
            .any(|part| part.content == PartContent::Previous),
        _ => false,
    }
}

/// K-123: whether a stage may stand there.
fn fits(stage: &DraftStage, first: bool, alone: bool) -> bool {
    match stage {
        DraftStage::Http(_) | DraftStage::JsonFilter(_) | DraftStage::TextTransform { .. } => true,
        DraftStage::Println { .. } | DraftStage::ReadFile { .. } => first,
        DraftStage::Sandbox(sandbox) => alone || first && is_runtime(sandbox),
    }
}

fn is_runtime(sandbox: &SandboxDraft) -> bool {
    sandbox.trust == crate::draft::Trust::KnownRuntime
}

/// Whether the plan is an HTTP pipeline (K-115).
pub(super) fn is_http_pipeline(plan: &[DraftStage]) -> bool {
    let mut stages = plan.iter();
    matches!(stages.next(), Some(DraftStage::Http(_)))
        && stages.all(|stage| {
            matches!(
                stage,
                DraftStage::JsonFilter(_) | DraftStage::TextTransform { .. }
            )
        })
}

fn first_place(command: &Command) -> Option<Place> {
    command
        .assignments
        .first()
        .into_iter()
        .chain(command.words.first())
        .min()
        .copied()
}

/// The token that begins there.
pub(super) fn token_at(scan: &Scan, place: Place) -> Option<&Token> {
    scan.tokens
        .binary_search_by_key(&place, |token| token.start)
        .ok()
        .and_then(|index| scan.tokens.get(index))
}

/// The text of the token that begins there.
pub(super) fn text_at(scan: &Scan, place: Place) -> &str {
    token_at(scan, place).map_or("", |token| scan.text_of(token))
}

/// A line of the text, in the document.
pub(super) fn document_line(start_line: u32, line: u32) -> u32 {
    start_line.saturating_add(line.saturating_sub(1))
}

fn short(name: &str) -> String {
    name.chars().take(32).collect()
}
