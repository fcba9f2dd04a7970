//! `inspect`: what a bundle says of itself, nothing of it verified.

use std::path::PathBuf;

use clap::Args;
use hydrant::trust;

use super::super::output::print_line;
use super::experimental;

/// Show what a bundle says of itself, without verifying any of it
#[derive(Args)]
pub(in crate::cli) struct Arguments {
    /// Directory of the bundle
    #[arg(long, value_name = "DIR")]
    bundle: PathBuf,

    /// Accept the draft of the next manifest
    #[arg(long)]
    allow_experimental: bool,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let lines = trust::inspect(
        &arguments.bundle,
        experimental(arguments.allow_experimental),
    )?;
    print_line(&lines.join("\n"))
}
