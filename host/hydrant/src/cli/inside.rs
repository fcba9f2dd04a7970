//! hydrant in a jail: where `HYDRANT_SOCKET` is set, agent commands go through that socket, and what is an
//! operator's answers `operator-only`. What this program does there is not a border: the socket is all that there is.

use std::ffi::OsString;
use std::io::{self, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;
use hydrant::serve::syscall::{Client, ClientError, Ended, Refusal};
use hydrant_canonical::Json;
use serde_json::{Value, json};

use super::lazy::Lazy;
use super::output::{Exit, fail, tell_json};
use super::{
    Cli, Command, describe, finish, hydrate, map, run as run_command, skill, skills, syscall, usage,
};

/// Commands that go through the socket.
const AGENT: [&str; 7] = [
    "hydrate", "run", "skills", "describe", "skill", "map", "syscall",
];

/// Commands that need nobody.
const LOCAL: [&str; 9] = [
    "completions",
    "man",
    "help",
    "world",
    "--help",
    "-h",
    "--version",
    "-V",
    "",
];

/// The way out of the jail.
pub(super) struct Inside {
    socket: PathBuf,
}

/// It is not for agents.
#[derive(Debug, thiserror::Error)]
#[error("operator-only: {0} is not for jailed agents")]
struct OperatorOnly(String);

/// Runs a command by way of the socket; none where there is none, or the command does not need one.
pub(super) fn run(arguments: &[OsString]) -> Option<ExitCode> {
    let socket = std::env::var_os("HYDRANT_SOCKET").filter(|socket| !socket.is_empty())?;
    let texts: Vec<_> = arguments
        .iter()
        .skip(1)
        .map(|argument| argument.to_string_lossy())
        .collect();
    let command = texts.first().map_or("", |command| command.as_ref());
    let asks_for_help = texts
        .iter()
        .take_while(|text| *text != "--")
        .any(|text| matches!(text.as_ref(), "--help" | "-h"));
    if LOCAL.contains(&command) || asks_for_help {
        return None;
    }
    let bundle = texts
        .iter()
        .any(|text| text == "--bundle" || text.starts_with("--bundle="));
    if !AGENT.contains(&command) || bundle {
        let what = if bundle { "--bundle" } else { command };
        return Some(answer(Err(OperatorOnly(format!("`{what}`")).into())));
    }
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => return Some(usage(&error, arguments.get(1))),
    };
    let mut inside = Inside {
        socket: socket.into(),
    };
    let result = match cli.command {
        Command::Hydrate(Lazy(arguments)) => hydrate::inside(arguments, &mut inside),
        Command::Run(Lazy(arguments)) => run_command::inside(&arguments, &mut inside),
        Command::Skills(Lazy(arguments)) => skills::inside(&arguments, &mut inside),
        Command::Describe(Lazy(arguments)) => describe::inside(&arguments, &mut inside),
        Command::Skill(Lazy(arguments)) => skill::inside(&arguments, &mut inside),
        Command::Map(Lazy(arguments)) => map::inside(&arguments, &mut inside),
        Command::Syscall(Lazy(arguments)) => syscall::inside(&arguments, inside),
        _ => Err(OperatorOnly(format!("`{command}`")).into()),
    };
    Some(answer(result))
}

/// As outside; what is an operator's as an error object, in text for people.
fn answer(result: anyhow::Result<Exit>) -> ExitCode {
    match result {
        Err(error) if error.is::<OperatorOnly>() => {
            if io::stdout().is_terminal() {
                fail(&error.to_string());
            } else {
                let message = error.to_string();
                let error = json!({ "error": { "code": "operator-only", "message": message } });
                tell_json(&error);
            }
            Exit::Error.into()
        }
        result => finish(result),
    }
}

impl Inside {
    /// Refuses an option that was given and is the operator's.
    pub(super) fn refuse(&self, option: Option<&'static str>) -> anyhow::Result<()> {
        match option {
            None => Ok(()),
            Some(option) => Err(OperatorOnly(format!("`{option}`")).into()),
        }
    }

    /// Calls a capability.
    pub(super) fn call(
        &mut self,
        capability: &str,
        input: impl Into<Json>,
    ) -> anyhow::Result<Value> {
        self.try_call(capability, input)?
            .map_err(|refusal| ClientError::Refused(refusal).into())
    }

    /// The same, with what the other end refuses apart from what goes wrong on the way.
    pub(super) fn try_call(
        &mut self,
        capability: &str,
        input: impl Into<Json>,
    ) -> anyhow::Result<Result<Value, Refusal>> {
        match self.connect()?.call(capability, &input.into()) {
            Ok(output) => Ok(Ok(output)),
            Err(ClientError::Refused(refusal)) => Ok(Err(refusal)),
            Err(error) => Err(error.into()),
        }
    }

    /// Passes a stream of requests on.
    pub(super) fn pass_on(
        self,
        input: impl Read + Send + 'static,
        output: impl Write,
    ) -> anyhow::Result<Ended> {
        Ok(self.connect()?.pass_on(input, output)?)
    }

    fn connect(&self) -> Result<Client, ClientError> {
        Client::connect(Path::new(&self.socket))
    }
}
