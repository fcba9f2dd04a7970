//! hydrant in a jail: where `HYDRANT_SOCKET` is set, agent commands go through that socket, and what is an
//! operator's answers `operator-only`. What this program does there is not a border: the socket is all that there is.

use std::ffi::OsString;
use std::io::{self, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};

use hydrant::serve::syscall::{Client, ClientError, Ended, Refusal};
use hydrant_canonical::Json;
use serde_json::{Value, json};

use super::output::{fail, tell_json};

/// Commands that go through the socket.
const AGENT: [&str; 8] = [
    "hydrate", "run", "skills", "describe", "skill", "map", "call", "syscall",
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

/// How a command reaches hydrant. It is chosen once, when the program begins.
pub(super) enum Transport {
    /// In this process.
    Process,
    /// From inside a jail, over its socket.
    Socket(Socket),
}

/// The socket of a jail.
pub(super) struct Socket(PathBuf);

/// It is not for agents.
#[derive(Debug, thiserror::Error)]
#[error("operator-only: {0} is not for jailed agents")]
pub(super) struct OperatorOnly(String);

impl Transport {
    /// Returns the transport of a command line.
    ///
    /// # Errors
    ///
    /// In a jail, a command that is not an agent's.
    pub(super) fn choose(arguments: &[OsString]) -> Result<Self, OperatorOnly> {
        let socket = std::env::var_os("HYDRANT_SOCKET").filter(|socket| !socket.is_empty());
        let Some(socket) = socket else {
            return Ok(Self::Process);
        };
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
            return Ok(Self::Process);
        }
        let bundle = texts
            .iter()
            .any(|text| text == "--bundle" || text.starts_with("--bundle="));
        if bundle {
            return Err(OperatorOnly("`--bundle`".to_owned()));
        }
        if !AGENT.contains(&command) {
            return Err(OperatorOnly(format!("`{command}`")));
        }
        Ok(Self::Socket(Socket(socket.into())))
    }

    /// Returns the socket of a command that goes through one.
    ///
    /// # Errors
    ///
    /// One of these options was given, which are the operator's alone.
    pub(super) fn socket<const N: usize>(
        &self,
        operators: [Option<&'static str>; N],
    ) -> anyhow::Result<Option<&Socket>> {
        match (self, operators.into_iter().flatten().next()) {
            (Self::Process, _) => Ok(None),
            (Self::Socket(_), Some(option)) => Err(operator_only(option)),
            (Self::Socket(socket), None) => Ok(Some(socket)),
        }
    }
}

/// The error of a jailed agent that uses something of the operator's.
pub(super) fn operator_only(what: &str) -> anyhow::Error {
    OperatorOnly(format!("`{what}`")).into()
}

impl OperatorOnly {
    /// Prints it as an error object, in text for people.
    pub(super) fn tell(&self) {
        let message = self.to_string();
        if io::stdout().is_terminal() {
            fail(&message);
        } else {
            tell_json(&json!({ "error": { "code": "operator-only", "message": message } }));
        }
    }
}

impl Socket {
    /// Calls a capability.
    pub(super) fn call(&self, capability: &str, input: impl Into<Json>) -> anyhow::Result<Value> {
        self.try_call(capability, input)?
            .map_err(|refusal| ClientError::Refused(refusal).into())
    }

    /// The same, with what the other end refuses apart from what goes wrong on the way.
    pub(super) fn try_call(
        &self,
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
        &self,
        input: impl Read + Send + 'static,
        output: impl Write,
    ) -> anyhow::Result<Ended> {
        Ok(self.connect()?.pass_on(input, output)?)
    }

    fn connect(&self) -> Result<Client, ClientError> {
        Client::connect(Path::new(&self.0))
    }
}
