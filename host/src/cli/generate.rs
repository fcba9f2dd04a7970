//! `hydrant completions` and `hydrant man`: made from the command line's own definition.

use std::fs;
use std::path::PathBuf;

use anyhow::Context;
use clap::{Args, Command};
use clap_complete::Shell;

use super::output::{Exit, print};

/// Print a completion script for a shell
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  hydrant completions bash > ~/.local/share/bash-completion/completions/hydrant
  hydrant completions zsh > ~/.zfunc/_hydrant")]
pub(super) struct CompletionArguments {
    #[arg(value_enum)]
    shell: Shell,
}

/// Print the manual page, or write one for each command
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  hydrant man | man -l -
  hydrant man --dir ~/.local/share/man/man1")]
pub(super) struct ManArguments {
    /// Write hydrant.1, hydrant-hydrate.1 … into this directory
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

pub(super) fn completions(
    arguments: &CompletionArguments,
    command: &mut Command,
) -> anyhow::Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, command, "hydrant", &mut script);
    print(&script)?;
    Ok(Exit::Done)
}

pub(super) fn man(arguments: &ManArguments, command: &Command) -> anyhow::Result<Exit> {
    match &arguments.dir {
        None => {
            let mut page = Vec::new();
            clap_mangen::Man::new(command.clone()).render(&mut page)?;
            print(&page)?;
        }
        Some(folder) => {
            fs::create_dir_all(folder).with_context(|| format!("--dir {}", folder.display()))?;
            clap_mangen::generate_to(command.clone(), folder)
                .with_context(|| format!("--dir {}", folder.display()))?;
        }
    }
    Ok(Exit::Done)
}
