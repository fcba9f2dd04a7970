//! `hydrant syscall`: requests on stdin, answers on stdout.

use std::io;
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context;
use clap::Args;
use hydrant::govern::{Lazy, Ports};
use hydrant::home;
use hydrant::serve::syscall::{Ended, SyscallServer, until_hang_up};

use super::config;
use super::hydration::Hydration;
use super::inside::Inside;
use super::output::Exit;

/// Answer requests of agents, one JSON object a line, from stdin to stdout
///
/// Serves `Content.Hydrate`, `Content.Ingest` and `pwosIngest` for the link form, and `Capability.Call` for pinned and
/// loaded skills, as OsEvent (`type`, `name`, `payload`) or OsMessage (`kind`, `type`, `data`). Exits with 1 if any
/// answer was an error.
#[derive(Args)]
#[command(after_long_help = "\
Example:
  echo '{\"type\":\"query\",\"name\":\"Content.Hydrate\",\"payload\":{\"uri\":\"os://agents/release-captain.md\"}}' |
    hydrant syscall --root examples/os")]
pub(super) struct Arguments {
    /// Put contents too long for an OsMessage line (16,384 bytes) into files in this directory
    #[arg(long, value_name = "DIR")]
    blob_dir: Option<PathBuf>,

    #[command(flatten)]
    hydration: Hydration,
}

pub(super) fn run(arguments: Arguments) -> anyhow::Result<Exit> {
    arguments.hydration.warn_of_empty_root()?;
    let mut builder = arguments.hydration.builder(config::lasting_host())?;
    if let Some(home) = home::folder() {
        builder = builder.home(home);
    }
    let host = Arc::new(builder.build()?);
    let governor = arguments.hydration.governed()?;
    let governor =
        governor.map(|(state, config)| Lazy::new(Ports::new(Arc::clone(&host)), state, config));
    let mut server = SyscallServer::new(&host, arguments.hydration.request(String::new()));
    if let Some(governor) = &governor {
        server = server.governed(governor);
    }
    if let Some(folder) = &arguments.blob_dir {
        server = server
            .with_blobs(folder)
            .with_context(|| format!("--blob-dir {} cannot be used", folder.display()))?;
    }
    let output = io::stdout();
    let served = until_hang_up(output.as_fd(), || {
        server.serve(io::stdin().lock(), io::stdout().lock())
    });
    Ok(match served?? {
        Ended::Clean => Exit::Done,
        Ended::WithErrors => Exit::Error,
    })
}

/// What a jailed agent gets, by way of its socket.
pub(super) fn inside(arguments: &Arguments, hydrant: Inside) -> anyhow::Result<Exit> {
    hydrant.refuse(arguments.hydration.given())?;
    hydrant.refuse(arguments.blob_dir.is_some().then_some("--blob-dir"))?;
    hydrant.refuse(arguments.hydration.changes_requests())?;
    Ok(match hydrant.pass_on(io::stdin(), io::stdout().lock())? {
        Ended::Clean => Exit::Done,
        Ended::WithErrors => Exit::Error,
    })
}
