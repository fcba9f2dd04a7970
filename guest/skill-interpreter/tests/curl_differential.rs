//! What the interpreter makes of a curl command is what the real curl sends.
//!
//! The `curl` of the `PATH` is what the tests of this project need besides a compiler. It runs through `sh`, in a private
//! folder, with no environment but the variables of the command, and with `-q`, so that no configuration is read. A
//! loopback server keeps what it was sent.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a failed expectation is a failed test, in a fixture as in the test itself"
)]

#[path = "curl_differential/command.rs"]
mod command;
#[path = "curl_differential/compare.rs"]
mod compare;
#[path = "curl_differential/draft.rs"]
mod draft;
#[path = "curl_differential/generate.rs"]
mod generate;
#[path = "curl_differential/line.rs"]
mod line;
#[path = "curl_differential/operation.rs"]
mod operation;
#[path = "curl_differential/payload.rs"]
mod payload;
#[path = "curl_differential/random.rs"]
mod random;
#[path = "curl_differential/recorder.rs"]
mod recorder;
#[path = "curl_differential/wget.rs"]
mod wget;

use skill_interpreter::assemble;
use skill_interpreter::context::Context;
use skill_interpreter::diagnostic::Diagnostics;
use skill_interpreter::draft::{
    Declaration, Draft, DraftStage, HttpDraft, Identity, Quoting, Spelling, Template,
};
use skill_interpreter::failure::Failure;
use skill_interpreter::http_command::{Invocation, Stdin, parse};
use skill_interpreter::shell::{self, Constants, Statements};

use command::{Command, Piece, Word};
use compare::{Request, differences};
use generate::{FILES, For, Generator};
use recorder::Recorder;

/// How many generated commands are compared.
const COMMANDS: usize = 600;
const SEED: u64 = 0x5EED_0155;

fn template(word: &Word) -> Template {
    let mut template = Template::default();
    for piece in &word.0 {
        match piece {
            Piece::Text(text) => template.push_literal(text.clone(), Quoting::Single),
            Piece::Variable(name) => {
                template.append(Template::variable(name.clone(), Spelling::Dollar));
            }
        }
    }
    template
}

fn read(program: &str, first: &[&str], command: &Command) -> Result<Vec<HttpDraft>, Failure> {
    let mut argv = vec![Template::literal(program)];
    argv.extend(first.iter().map(|word| Template::literal(*word)));
    argv.extend(command.words.iter().map(template));
    parse(
        &Invocation {
            argv: &argv,
            stdin: Stdin::Previous,
            line: 1,
        },
        &Context::default(),
        &mut Diagnostics::default(),
    )
}

fn drafts(command: &Command) -> Result<Vec<HttpDraft>, Failure> {
    read("curl", &["-q"], command)
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in FILES {
        std::fs::write(folder.path().join(name), bytes).unwrap();
    }
    std::fs::create_dir(folder.path().join("out")).unwrap();
    folder
}

/// One of the ways to a request: what a command is to the reader, or to all of the interpreter.
type Mapping = fn(&Command) -> Result<Vec<Request>, String>;

/// As the reader of curl has it. Bodies are compared byte by byte.
fn by_draft(command: &Command) -> Result<Vec<Request>, String> {
    let values = draft::Values {
        variables: &command.values,
        stdin: command.stdin.as_deref().unwrap_or_default(),
    };
    let drafts = drafts(command).map_err(|failure| failure.to_string())?;
    Ok(drafts.iter().map(|draft| values.request(draft)).collect())
}

/// As an assembled operation has it, whose inputs and secrets are filled in.
fn by_operation(command: &Command) -> Result<Vec<Request>, String> {
    lowered(command)?
        .iter()
        .map(|draft| {
            let operation = assemble::operation(
                draft,
                &Declaration::new(Identity::Nameless),
                &Context::default(),
                &mut Diagnostics::default(),
            );
            operation::Call {
                operation: &operation,
                value: operation::value_of(&command.values),
                stdin: command.stdin.as_deref().unwrap_or_default(),
            }
            .request()
        })
        .collect()
}

/// The command's text, with all its quotes, as the shell grammar has it; one that reads what a stage before would put out
/// is read word by word, as there is no such stage.
fn lowered(command: &Command) -> Result<Vec<Draft>, String> {
    if command.stdin.is_none() {
        return Ok(shell::lower(
            &command.text,
            1,
            Statements::Fence,
            &mut Constants::default(),
            &Context::default(),
            &mut Diagnostics::default(),
        ));
    }
    let drafts = drafts(command).map_err(|failure| failure.to_string())?;
    Ok(drafts
        .into_iter()
        .map(|draft| Draft {
            line: 1,
            comment: None,
            text: command.text.clone(),
            plan: Ok(vec![DraftStage::Http(Box::new(draft))]),
        })
        .collect())
}

/// Runs generated commands, and says what differs.
fn differential(what: For, seed: u64, mapping: Mapping) {
    let recorder = Recorder::start();
    let folder = folder();
    let mut generator = Generator::new(what, seed, recorder.port);
    let mut failures = Vec::new();
    for index in 0..COMMANDS {
        let command = generator.next();
        let (status, message) = command.run(folder.path());
        let mut real = recorder.drain(command.requests);
        let mut ours = match mapping(&command) {
            Ok(requests) => requests,
            Err(failure) => {
                failures.push(format!("{index}: {}\n  refused: {failure}", command.text));
                continue;
            }
        };
        if real.len() != command.requests || ours.len() != real.len() {
            failures.push(format!(
                "{index}: {}\n  mapped to {} requests, curl sent {}, exit status {status}: {message}",
                command.real,
                ours.len(),
                real.len()
            ));
            continue;
        }
        // With `-Z` they may arrive in any order.
        real.sort_by(|a, b| a.target.cmp(&b.target));
        ours.sort_by(|a, b| a.path.cmp(&b.path));
        for (ours, real) in ours.iter().zip(&real) {
            let found = differences(ours, real);
            if !found.is_empty() {
                failures.push(format!(
                    "{index}: {}\n  {}",
                    command.text,
                    found.join("\n  ")
                ));
            }
        }
    }
    assert!(
        failures.is_empty(),
        "{} of {COMMANDS} differ:\n{}",
        failures.len(),
        failures
            .iter()
            .take(15)
            .cloned()
            .collect::<Vec<_>>()
            .join("\n")
    );
}

#[test]
fn generated_commands_are_read_as_curl_reads_them() {
    differential(For::Drafts, SEED, by_draft);
}

#[test]
fn generated_commands_are_sent_as_curl_sends_them() {
    differential(For::Operations, SEED + 1, by_operation);
}
