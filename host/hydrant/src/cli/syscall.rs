//! `hydrant syscall`: requests on stdin, answers on stdout.

use std::io;
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context;
use clap::Args;
use hydrant::home;
use hydrant::serve::syscall::{Ended, SyscallServer, until_hang_up};
use hydrant::serve::tenants::Tenant;

use super::config;
use super::hydration::Hydration;
use super::inside::Transport;
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

pub(super) fn run(arguments: &Arguments, transport: &Transport) -> anyhow::Result<Exit> {
    let hydration = &arguments.hydration;
    let operators = [
        hydration.given(),
        arguments.blob_dir.as_ref().map(|_| "--blob-dir"),
        hydration.changes_requests(),
    ];
    let ended = match transport.socket(operators)? {
        Some(socket) => socket.pass_on(io::stdin(), io::stdout().lock())?,
        None => serve(arguments)?,
    };
    Ok(match ended {
        Ended::Clean => Exit::Done,
        Ended::WithErrors => Exit::Error,
    })
}

fn serve(arguments: &Arguments) -> anyhow::Result<Ended> {
    arguments.hydration.warn_of_empty_root()?;
    let mut builder = arguments.hydration.builder(config::lasting_host())?;
    if let Some(home) = home::folder() {
        builder = builder.home(home);
    }
    let host = Arc::new(builder.build()?);
    let mut server = SyscallServer::new(&host, arguments.hydration.request(String::new()));
    if let Some((home, config)) = arguments.hydration.governed()? {
        let tenant = Tenant::of_host(Arc::clone(&host), &home, config);
        server = server.governed(Arc::new(tenant));
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
    Ok(served??)
}
