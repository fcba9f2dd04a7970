//! `hydrant syscall`: requests on stdin, answers on stdout.

use std::io;
use std::path::PathBuf;

use anyhow::Context;
use clap::Args;
use hydrant::serve::syscall::{Ended, SyscallServer};

use super::config;
use super::hydration::Hydration;
use super::output::Exit;

/// Answer hydration requests, one JSON object a line, from stdin to stdout
///
/// Serves `Content.Hydrate`, and `Content.Ingest` and `pwosIngest` for the link form, as OsEvent
/// (`type`, `name`, `payload`) or OsMessage (`kind`, `type`, `data`). Exits with 1 if any answer was an error.
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
    let host = arguments.hydration.host_of(config::lasting_host())?;
    let mut server = SyscallServer::new(&host, arguments.hydration.request(String::new()));
    if let Some(folder) = &arguments.blob_dir {
        server = server
            .with_blobs(folder)
            .with_context(|| format!("--blob-dir {} cannot be used", folder.display()))?;
    }
    Ok(
        match server.serve(io::stdin().lock(), io::stdout().lock())? {
            Ended::Clean => Exit::Done,
            Ended::WithErrors => Exit::Error,
        },
    )
}
