//! `hydrant jail`: a program in a jail whose only way out is hydrant.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

use super::config::LayerOptions;
use super::hydration::Hydration;
use super::output::Exit;

/// Exit status where no jail could be made.
const NO_JAIL: u8 = 125;

/// Run a program in a jail, with hydrant as its only way out
///
/// The program sees the system directories, the directories that are named here, and a socket of hydrant,
/// /run/hydrant.sock (HYDRANT_SOCKET). What it may do by way of that socket says the policy, and every call is recorded;
/// the `hydrant` command in the jail uses it. There is no network but what --egress opens.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  hydrant jail --workspace . -- bash
  hydrant jail --policy policy.yaml --workspace project -- python3 agent.py
  hydrant jail --workspace . --egress api.example.net:443 -- ./agent

Exit status: that of COMMAND, 128 and the number of a signal that ended it or hydrant; 125 there is no jail, 126 COMMAND
cannot be executed, 127 it is not there; 2 usage.")]
pub(super) struct Arguments {
    /// Directory to work in: /workspace in the jail, for reading, writing and executing
    #[arg(long, value_name = "DIR")]
    workspace: Option<PathBuf>,

    /// Let it connect to HOST:PORT, by a proxy (HTTP_PROXY, HTTPS_PROXY); may be given more than once
    #[arg(long, value_name = "HOST:PORT")]
    egress: Vec<String>,

    #[command(flatten)]
    hydration: Hydration,

    #[command(flatten)]
    layers: LayerOptions,

    /// The program, as the jail sees it, and its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

pub(super) fn run(arguments: Arguments) -> anyhow::Result<Exit> {
    let status = start(arguments).unwrap_or_else(|error| {
        super::output::fail(&super::output::in_one_line(&error));
        match super::output::exit_of(&error) {
            Exit::Usage => 2,
            _ => NO_JAIL,
        }
    });
    Ok(Exit::Status(status))
}

#[cfg(target_os = "linux")]
fn start(arguments: Arguments) -> anyhow::Result<u8> {
    use hydrant::home;
    use hydrant::jail::Signals;
    use hydrant::serve::jail::{Agent, AgentError, Directories};

    // Before any thread is started, so that they come to nobody else.
    let signals = Signals::block()?;
    let mut builder = arguments
        .layers
        .apply(arguments.hydration.builder(super::config::lasting_host())?);
    if let Some(home) = home::folder() {
        builder = builder.home(home);
    }
    let agent = Agent {
        command: arguments.command,
        workspace: arguments.workspace,
        directories: if arguments.hydration.names_policy() {
            Directories::OfPolicy
        } else {
            Directories::None
        },
        egress: arguments.egress,
        terminal: std::env::var_os("TERM"),
        governed: arguments.hydration.governed()?,
    };
    let options = arguments.hydration.request(String::new());
    match agent.run(builder, options, &signals) {
        Ok(ended) => {
            if let Some(reason) = &ended.reason {
                super::output::fail(reason);
            }
            Ok(ended.status)
        }
        Err(AgentError::NotStarted { status, message }) => {
            super::output::fail(&message);
            Ok(status)
        }
        Err(error) => Err(error.into()),
    }
}

#[cfg(not(target_os = "linux"))]
fn start(_: Arguments) -> anyhow::Result<u8> {
    anyhow::bail!("programs are jailed on Linux only")
}
