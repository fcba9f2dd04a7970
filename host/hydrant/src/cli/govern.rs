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
use hydrant::govern::{Ports, config::Config};
use hydrant::home;
use hydrant::trust::limits;
use hydrant_canonical::Json;
use serde_json::{Value, json};

use super::config::{self, AuditOptions, PinOptions, PolicyOptions};
use super::inside::Inside;
use super::layout::laid_out;
use super::output::{Exit, Format, fail, print, print_line, tell_json};

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
    /// The ports of a host that runs the interpreter and nothing else.
    fn ports(&self) -> anyhow::Result<Ports> {
        let builder = self
            .policy
            .apply(self.pins.apply(config::host())?)?
            .without_mounts();
        let host = self.audit.apply(&self.policy, builder)?.build()?;
        Ok(Ports::new(Arc::new(host)))
    }

    /// What `[govern]` of the configuration says.
    fn configuration(&self) -> anyhow::Result<Config> {
        self.policy.govern()
    }

    /// Opens the state of the home.
    ///
    /// # Errors
    ///
    /// Outside: there is no home, or the configuration is refused. Inside: what the governor refuses.
    pub(super) fn governor(&self) -> anyhow::Result<Result<Governor, Failure>> {
        Ok(self
            .ports()?
            .governor(&state_folder()?, self.configuration()?))
    }

    /// Opens the governor, asks it, prints the answer.
    pub(super) fn answer(
        &self,
        ask: impl FnOnce(&Governor) -> Result<Value, Failure>,
    ) -> anyhow::Result<Exit> {
        let answer = self.governor()?.and_then(|governor| ask(&governor));
        self.show(answer)
    }

    /// Verifies the chain of the home, which needs neither a governor nor a key: a damaged one opens no governor.
    pub(super) fn verify(
        &self,
        anchor: Option<&str>,
        look: impl FnOnce(&Value),
    ) -> anyhow::Result<Exit> {
        let report = hydrant::govern::governor::verify(&state_folder()?, anchor);
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
            Ok(answer) if self.is_text() => {
                print(laid_out(&answer).as_bytes())?;
                Ok(Exit::Done)
            }
            Ok(answer) => {
                print_line(&answer.to_string())?;
                Ok(Exit::Done)
            }
            Err(failure) => Ok(self.refuse(&failure)),
        }
    }

    /// What was read of the command line and the files that it names, or how the command ends: an error of it is printed as
    /// every other is.
    pub(super) fn read<T>(&self, read: anyhow::Result<T>) -> Result<T, Exit> {
        read.map_err(|error| self.refuse(&Failure::new(Code::InvalidRequest, format!("{error:#}"))))
    }

    /// 2.2: an error goes to stderr, in JSON as `{"error":{…}}`.
    pub(super) fn refuse(&self, failure: &Failure) -> Exit {
        if self.is_text() {
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
        } else {
            tell_json(&json!({ "error": failure }));
        }
        Exit::Error
    }

    /// What a jailed agent may not say.
    pub(super) fn refuse_inside(&self, hydrant: &Inside) -> anyhow::Result<()> {
        for given in [self.pins.given(), self.policy.given(), self.audit.given()] {
            hydrant.refuse(given)?;
        }
        Ok(())
    }

    /// Asks by way of the socket of a jail.
    pub(super) fn ask_outside(
        &self,
        hydrant: &mut Inside,
        capability: &str,
        input: impl Into<Json>,
    ) -> anyhow::Result<Exit> {
        self.refuse_inside(hydrant)?;
        match hydrant.try_call(capability, input)? {
            Ok(answer) => self.show(Ok(answer)),
            Err(refusal) => {
                let failure = refusal
                    .details
                    .and_then(|details| serde_json::from_value::<Failure>(details).ok());
                match failure {
                    Some(failure) => Ok(self.refuse(&failure)),
                    None => anyhow::bail!("{}", refusal.message),
                }
            }
        }
    }
}

fn state_folder() -> anyhow::Result<PathBuf> {
    let home = home::folder().ok_or_else(|| {
        anyhow::anyhow!(
            "there is no home folder: neither HYDRANT_HOME nor HOME is an absolute path"
        )
    })?;
    Ok(home.join("state"))
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
