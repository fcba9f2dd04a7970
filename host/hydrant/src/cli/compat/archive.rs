//! `archive`: a bundle as one file, the same bytes every time.

use std::path::PathBuf;

use clap::Args;
use hydrant::trust::archive::write_archive;

use super::line::Line;

/// Write a bundle as an archive
#[derive(Args)]
pub(in crate::cli) struct Arguments {
    /// Directory of the bundle
    #[arg(long, value_name = "DIR")]
    bundle: PathBuf,

    /// The archive
    #[arg(long, value_name = "FILE")]
    output: PathBuf,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    write_archive(&arguments.bundle, &arguments.output)?;
    Line::ok("archive")
        .given("bundle", &arguments.bundle)
        .given("output", &arguments.output)
        .print()
}
