//! Whether a pipeline is a plan, and which.

use super::construct::Constructs;
use super::globs;
use super::program::{Command, Input, Piece, Pieces, bare};
use super::word::Reader;
use crate::context::Context;
use crate::diagnostic::Diagnostics;
use crate::draft::{
    BodyDraft, DraftStage, HttpDraft, PartContent, Piece as BodyPiece, Program, Quoting, Template,
    Word,
};
use crate::failure::Failure;
use crate::http_command::{self, Invocation, Stdin};
use crate::limits;
use crate::tools::{self, Tool};

/// What a pipeline is.
#[derive(Debug)]
pub(super) enum Outcome {
    /// One plan, or one for each URL of its first stage.
    Plans(Vec<Vec<DraftStage>>),
    /// It is a command that cannot be used.
    Unusable(Failure),
    /// It is no plan.
    Script,
}

/// A command with its words read.
#[derive(Debug)]
pub(super) struct Read {
    pub(super) argv: Vec<Word>,
    pub(super) line: u32,
    /// `NAME=v` in front of it.
    assigned: bool,
    /// `< file`
    from_file: Option<Word>,
    /// `<<`, `<<<`
    text: Option<Template>,
}

/// Options whose value is a credential as a whole.
const CREDENTIALS: [&str; 5] = [
    "-u",
    "--user",
    "--oauth2-bearer",
    "--password",
    "--http-password",
];

/// Options whose value may be computed as a whole.
const VALUED: [&str; 13] = [
    "-d",
    "--data",
    "--data-raw",
    "--data-binary",
    "--data-urlencode",
    "--json",
    "-F",
    "--form",
    "-b",
    "--cookie",
    "-u",
    "--user",
    "--oauth2-bearer",
];

/// An empty literal, which quotes leave.
fn is_nothing(piece: &Piece) -> bool {
    matches!(piece, Piece::Literal { text, .. } if text.is_empty())
}

/// Whether the command is one of HTTP, by its name.
pub(super) fn is_http(command: &Command) -> bool {
    command.name().is_some_and(http_command::is_http)
}

/// Reads the words and the input of a command; what cannot be part of a plan is noted.
pub(super) fn read(
    command: &Command,
    documents: &[Pieces],
    start_line: u32,
    reader: &mut Reader<'_>,
    found: &mut Constructs,
) -> Read {
    let mut read = Read {
        argv: Vec::with_capacity(command.words.len()),
        line: document_line(start_line, command.line),
        assigned: !command.assignments.is_empty() && !command.words.is_empty(),
        from_file: None,
        text: None,
    };
    for word in &command.words {
        reader.credential = read
            .argv
            .last()
            .and_then(Template::as_literal)
            .is_some_and(|option| CREDENTIALS.contains(&option.as_str()));
        read.argv.extend(reader.words(word));
    }
    reader.credential = false;
    let mut outputs: Vec<&Pieces> = command.words.iter().collect();
    match &command.input {
        None => {}
        Some(Input::File(word)) => {
            outputs.push(word);
            match reader.words(word).as_slice() {
                [path] if globs::in_operand(path).is_none() => read.from_file = Some(path.clone()),
                _ => found.add("redirection from a file"),
            }
        }
        Some(Input::Word(word)) => {
            outputs.push(word);
            let mut text = reader.value(word);
            text.push_literal("\n", Quoting::Single);
            read.text = Some(text);
        }
        Some(Input::Document(index)) => match documents.get(*index) {
            Some(body) => {
                outputs.push(body);
                read.text = Some(reader.text(body));
            }
            None => found.add("here-document"),
        },
    }
    // A caller gives a value of a request, and not where it goes; whatever else is run gets what the author computes.
    let is_output = |piece: &Piece| matches!(piece, Piece::Output { .. });
    let is_refused = if is_http(command) {
        (1..)
            .zip(command.words.iter().skip(1))
            .any(|(index, word)| {
                let before = command.words.get(index - 1).and_then(bare);
                let is_value = before.is_some_and(|option| VALUED.contains(&option));
                let first = word.iter().find(|piece| !is_nothing(piece));
                !is_value && first.is_some_and(is_output)
            })
    } else {
        outputs.iter().any(|word| word.iter().any(is_output))
    };
    if is_refused {
        found.add("command substitution or parameter");
    }
    read
}

/// The stages of a pipeline of read commands.
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
                // Globs are literal here. What a shell would certainly make another word of is not.
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
            match tools::stages(&invocation) {
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
                Failure::exceeded("operations of a fence", limits::FENCE_OPERATIONS)
                    .at_line(command.line),
            );
        }
        plans = combine(plans, &front, alternatives);
    }
    Outcome::Plans(plans)
}

/// Each alternative after each plan. Only the first stage has several.
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
        // curl, when it sends what the stage before puts out.
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
            .any(|piece| matches!(piece, BodyPiece::Previous(_))),
        Some(BodyDraft::Multipart(parts)) => parts
            .iter()
            .any(|part| part.content == PartContent::Previous),
        _ => false,
    }
}

/// Whether a stage may stand there.
fn fits(stage: &DraftStage, first: bool, alone: bool) -> bool {
    match stage {
        DraftStage::Http(_) | DraftStage::JsonFilter(_) | DraftStage::TextTransform { .. } => true,
        DraftStage::Println { .. } | DraftStage::ReadFile { .. } => first,
        DraftStage::Sandbox(sandbox) => alone || sandbox.stage.is_runtime_alone(),
    }
}

/// Whether the plan is a request, with what reads its answer.
pub(super) fn is_http_pipeline(plan: &[DraftStage]) -> bool {
    let mut stages = plan.iter();
    matches!(stages.next(), Some(DraftStage::Http(_)))
        && stages.all(|stage| match stage {
            DraftStage::JsonFilter(_) | DraftStage::TextTransform { .. } => true,
            DraftStage::Sandbox(sandbox) => sandbox.stage.is_runtime_alone(),
            _ => false,
        })
}

/// Whether the plan is a call of a file of code, for a runtime that is known.
pub(super) fn is_code_file(plan: &[DraftStage]) -> bool {
    matches!(plan, [DraftStage::Sandbox(sandbox)]
        if sandbox.stage.is_runtime_alone() && matches!(sandbox.stage.program, Program::File { .. }))
}

/// A line of the text, in the document.
pub(super) fn document_line(start_line: u32, line: u32) -> u32 {
    start_line.saturating_add(line.saturating_sub(1))
}

fn short(name: &str) -> String {
    name.chars().take(32).collect()
}
