//! `hydrant completions` and `hydrant man`: made from the command line's own definition.
//!
//! A completion script asks this program at each press of TAB, so that it knows the commands of the version that is
//! installed, and ids besides: of pinned skills, and of the approvals in the user's state. What cannot be read completes
//! nothing.

use std::ffi::{OsStr, OsString};

use std::fs;
use std::path::PathBuf;

use anyhow::Context;
use clap::{Args, Command, ValueEnum};
use clap_complete::CompleteEnv;
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate};
use clap_complete::env::{Bash, Elvish, EnvCompleter, Fish, Powershell, Zsh};
use hydrant::govern::governor::glance_at_approvals;
use hydrant::{home, pins};

use super::output::{Exit, print};

/// Set by a completion script: the shell whose word is completed.
const VARIABLE: &str = "_HYDRANT_COMPLETE";

/// What may be written for a value that begins like this.
type Candidates = fn(&OsStr) -> Vec<CompletionCandidate>;

/// What completes a value, by command and argument.
const COMPLETED: [(&[&str], &str, Candidates); 7] = [
    (&["run"], "skill", pinned_skills),
    (&["describe"], "id", pinned_skills),
    (&["policy", "explain"], "skill", pinned_skills),
    (&["approvals", "show"], "id", approvals),
    (&["approvals", "approve"], "id", approvals),
    (&["approvals", "deny"], "id", approvals),
    (&["approvals", "revoke"], "id", approvals),
];

/// Print a completion script for a shell
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  hydrant completions bash > ~/.local/share/bash-completion/completions/hydrant
  hydrant completions zsh > ~/.zfunc/_hydrant
  hydrant completions fish > ~/.config/fish/completions/hydrant.fish

The script asks `hydrant`, found in PATH, what may follow: commands, options, ids of skills and of approvals.")]
pub(super) struct CompletionArguments {
    #[arg(value_enum)]
    shell: Shell,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Shell {
    Bash,
    Elvish,
    Fish,
    Powershell,
    Zsh,
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

pub(super) fn completions(arguments: &CompletionArguments) -> anyhow::Result<Exit> {
    let shell: &dyn EnvCompleter = match arguments.shell {
        Shell::Bash => &Bash,
        Shell::Elvish => &Elvish,
        Shell::Fish => &Fish,
        Shell::Powershell => &Powershell,
        Shell::Zsh => &Zsh,
    };
    let mut script = Vec::new();
    shell.write_registration(VARIABLE, "hydrant", "hydrant", "hydrant", &mut script)?;
    print(&script)?;
    Ok(Exit::Done)
}

/// Answers a completion script, if one asks; whether it did.
pub(super) fn complete(arguments: &[OsString], command: fn() -> Command) -> bool {
    std::env::var_os(VARIABLE).is_some()
        && CompleteEnv::with_factory(|| with_ids(command()))
            .var(VARIABLE)
            .try_complete(arguments, std::env::current_dir().ok().as_deref())
            // There is nobody to tell: the shell shows what it gets as words.
            .unwrap_or(true)
}

/// The command, with what completes the ids in it.
fn with_ids(mut command: Command) -> Command {
    command.build();
    for (path, argument, ids) in COMPLETED {
        command = completed_by(command, path, argument, ids);
    }
    command
}

fn completed_by(
    command: Command,
    path: &[&str],
    argument: &str,
    ids: fn(&OsStr) -> Vec<CompletionCandidate>,
) -> Command {
    match path.split_first() {
        Some((first, rest)) if command.find_subcommand(first).is_some() => {
            command.mut_subcommand(first, |command| completed_by(command, rest, argument, ids))
        }
        Some(_) => command,
        None => command.mut_args(|each| {
            if each.get_id() == argument {
                each.add(ArgValueCompleter::new(ids))
            } else {
                each
            }
        }),
    }
}

/// The skills in this program.
fn pinned_skills(begun: &OsStr) -> Vec<CompletionCandidate> {
    let (root, anchor) = hydrant::embedded_pins();
    let Ok(lock) = pins::open_lock(&root, &anchor) else {
        return Vec::new();
    };
    let ids = lock.lock().skills.iter().map(|entry| entry.id.to_string());
    ids.filter(|id| begins(id, begun))
        .map(CompletionCandidate::new)
        .collect()
}

/// The requests and grants of the user, each with what became of it and what it is for.
fn approvals(begun: &OsStr) -> Vec<CompletionCandidate> {
    let found = home::folder().and_then(|home| glance_at_approvals(&home.join("state")).ok());
    let found = found.unwrap_or_default().into_iter();
    found
        .filter(|approval| begins(&approval.id, begun))
        .map(|approval| {
            let of = approval.subject.capability.unwrap_or_default();
            // Names of foreign skills are text of strangers, and this goes to a terminal.
            let help: String = format!("{} {of}", approval.status.as_str())
                .chars()
                .filter(|character| matches!(character, ' '..='~'))
                .collect();
            CompletionCandidate::new(approval.id).help(Some(help.into()))
        })
        .collect()
}

fn begins(id: &str, begun: &OsStr) -> bool {
    begun.to_str().is_some_and(|begun| id.starts_with(begun))
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
