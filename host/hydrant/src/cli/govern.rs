//! What the commands of governed execution share: how the governor is opened, and how its answers and errors are
//! printed.

use std::io::Read;
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use hydrant::base::read_bounded;
use hydrant::govern::client::{Client, Frontend};
use hydrant::govern::failure::{Code, Failure};
use hydrant::govern::governor::{Caller, Governor};
use hydrant::home;
use hydrant::serve::operations::{Call, Declaration, Request};
use hydrant::serve::service::{Identity, Problem};
use hydrant::serve::syscall::Refusal;
use hydrant::serve::tenants::Tenant;
use hydrant::trust::limits;
use hydrant_canonical::Json;
use serde_json::{Value, json};

use super::config::{self, AuditOptions, PinOptions, PolicyOptions};
use super::inside::{Socket, Transport, operator_only};
use super::layout::visible;
use super::output::{Exit, Format, fail, print_json, tell_json};

/// The options of every command of governed execution.
#[derive(Args)]
pub(super) struct Options {
    #[command(flatten)]
    pins: PinOptions,

    #[command(flatten)]
    policy: PolicyOptions,

    #[command(flatten)]
    audit: AuditOptions,

    /// [default: text on a terminal, else json]
    #[arg(long, value_enum, global = true)]
    format: Option<Format>,
}

impl Options {
    /// The user of this machine with the state of the home, and a host that runs the interpreter and nothing else.
    ///
    /// # Errors
    ///
    /// There is no home, or the configuration is refused.
    pub(super) fn tenant(&self) -> anyhow::Result<Tenant> {
        let builder = self
            .policy
            .apply(self.pins.apply(config::host())?)?
            .without_mounts();
        let host = self.audit.apply(&self.policy, builder)?.build()?;
        Ok(Tenant::of_host(
            Arc::new(host),
            &home_folder()?,
            self.policy.govern()?,
        ))
    }

    /// Asks for an operation of the table, and prints its answer.
    pub(super) fn ask<R: Request>(
        &self,
        transport: &Transport,
        session: Option<&str>,
        members: impl Into<Json>,
    ) -> anyhow::Result<Exit> {
        self.ask_with::<R>(transport, session, members, |_| {})
    }

    /// The same; `complete` adds to a request in this process what no other client can send.
    pub(super) fn ask_with<R: Request>(
        &self,
        transport: &Transport,
        session: Option<&str>,
        members: impl Into<Json>,
        complete: impl FnOnce(&mut R),
    ) -> anyhow::Result<Exit> {
        let operators = [
            session.map(|_| "--session"),
            self.pins.given(),
            self.policy.given(),
            self.audit.given(),
        ];
        if let Some(socket) = transport.socket(operators)? {
            return self.ask_over(socket, R::DECLARATION, members);
        }
        let mut request = match R::read(members.into().into()) {
            Ok(request) => request,
            Err(error) => {
                let message = format!("the input: {error}");
                return Ok(self.refuse(&Failure::new(Code::InvalidRequest, message)));
            }
        };
        complete(&mut request);
        let identity = Identity {
            session: session.map(str::to_owned),
            ..Identity::of_local_user(Arc::new(self.tenant()?), Frontend::Cli)
        };
        match Call::new(request).answer(&identity) {
            Ok(answer) => self.print(&answer.body),
            Err(problem) => Ok(self.refuse_problem(&problem)),
        }
    }

    fn ask_over(
        &self,
        socket: &Socket,
        declaration: &Declaration,
        members: impl Into<Json>,
    ) -> anyhow::Result<Exit> {
        let Some(capability) = declaration.capability else {
            return Err(operator_only(declaration.name));
        };
        match socket.try_call(capability, members)? {
            Ok(answer) => self.show(Ok(answer)),
            Err(refusal) => Ok(refuse_call(refusal, Format::or_default(self.format))),
        }
    }

    /// Opens the governor, asks it, prints the answer.
    pub(super) fn answer(
        &self,
        ask: impl FnOnce(&Governor) -> Result<Value, Failure>,
    ) -> anyhow::Result<Exit> {
        self.show(self.tenant()?.governor().and_then(ask))
    }

    /// Verifies the chain of the home, which needs neither a governor nor a key: a damaged one opens no governor.
    pub(super) fn verify(
        &self,
        anchor: Option<&str>,
        look: impl FnOnce(&Value),
    ) -> anyhow::Result<Exit> {
        let report = hydrant::govern::governor::verify(&home_folder()?.join("state"), anchor);
        if let Ok(report) = &report {
            look(report);
        }
        self.show(report)
    }

    pub(super) fn is_text(&self) -> bool {
        Format::or_default(self.format) == Format::Text
    }

    /// Prints an answer, or the error.
    pub(super) fn show(&self, answer: Result<Value, Failure>) -> anyhow::Result<Exit> {
        match answer {
            Ok(answer) => self.print(answer.to_string().as_bytes()),
            Err(failure) => Ok(self.refuse(&failure)),
        }
    }

    fn print(&self, answer: &[u8]) -> anyhow::Result<Exit> {
        print_json(answer, Format::or_default(self.format))?;
        Ok(Exit::Done)
    }

    /// What was read of the command line and the files that it names, or how the command ends: an error of it is printed as
    /// every other is.
    pub(super) fn read<T>(&self, read: anyhow::Result<T>) -> Result<T, Exit> {
        read.map_err(|error| self.refuse(&Failure::new(Code::InvalidRequest, format!("{error:#}"))))
    }

    fn refuse_problem(&self, problem: &Problem) -> Exit {
        refuse_problem(problem, Format::or_default(self.format))
    }

    /// An error goes to stderr, in JSON as `{"error":{…}}`.
    pub(super) fn refuse(&self, failure: &Failure) -> Exit {
        refuse(failure, Format::or_default(self.format))
    }
}

/// Prints what the governor refuses.
pub(super) fn refuse(failure: &Failure, format: Format) -> Exit {
    match format {
        Format::Json => tell_json(&json!({ "error": failure })),
        Format::Text => {
            let place = match (&failure.path, failure.line) {
                (Some(path), Some(line)) => format!(" (at {path}, line {line})"),
                (Some(path), None) => format!(" (at {path})"),
                (None, Some(line)) => format!(" (line {line})"),
                (None, None) => String::new(),
            };
            fail(&in_one_line(&format!("{failure}{place}")));
            if let Some(approval) = &failure.approval_id {
                fail(&in_one_line(&format!(
                    "see `hydrant approvals show {approval}`"
                )));
            }
            if let Some(hint) = &failure.hint {
                fail(&in_one_line(hint));
            }
        }
    }
    Exit::Error
}

/// Prints what an operation of the table refuses.
pub(super) fn refuse_problem(problem: &Problem, format: Format) -> Exit {
    refuse_object(&problem.detail, problem.error_object(), format)
}

/// Prints what was refused over the socket of a jail.
pub(super) fn refuse_call(refusal: Refusal, format: Format) -> Exit {
    let error = json!({ "code": refusal.code, "message": refusal.message });
    refuse_object(&refusal.message, refusal.details.unwrap_or(error), format)
}

/// Prints an error object as it is, or as text with the hints of the governor where it is one of the governor's.
fn refuse_object(message: &str, error: Value, format: Format) -> Exit {
    if format == Format::Json {
        tell_json(&json!({ "error": error }));
        return Exit::Error;
    }
    match serde_json::from_value::<Failure>(error) {
        Ok(failure) => refuse(&failure, format),
        Err(_) => {
            fail(&visible(message));
            Exit::Error
        }
    }
}

fn home_folder() -> anyhow::Result<PathBuf> {
    home::folder().ok_or_else(|| {
        anyhow::anyhow!(
            "there is no home folder: neither HYDRANT_HOME nor HOME is an absolute path"
        )
    })
}

/// The local command line; not jailed, for a jailed one comes by way of the socket.
pub(super) fn caller(session: Option<&str>) -> Result<Caller, Failure> {
    let client = Client {
        frontend: Frontend::Cli,
        jailed: false,
    };
    let caller = match session {
        Some(session) => Caller::joining(client, session),
        None => Caller::new(client),
    };
    Ok(caller?.named(hydrant::govern::user_name()))
}

/// A document must not add a line to a message.
fn in_one_line(text: &str) -> String {
    text.replace('\n', " ")
}

/// The text itself, of @FILE, or of standard input for `-`.
pub(super) fn given(text: &str) -> anyhow::Result<Vec<u8>> {
    if let Some(file) = text.strip_prefix('@') {
        return Ok(read_bounded(file.as_ref(), limits::MAX_JSON_BYTES)?);
    }
    if text != "-" {
        return Ok(text.as_bytes().to_vec());
    }
    let mut bytes = Vec::new();
    let most = limits::MAX_JSON_BYTES;
    let stdin = std::io::stdin().lock();
    stdin.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if u64::try_from(bytes.len()).is_ok_and(|length| length > most) {
        anyhow::bail!("standard input has more than {most} bytes");
    }
    Ok(bytes)
}
