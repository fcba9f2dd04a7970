//! `hydrant hook`: the `UserPromptSubmit` hook of agents, and putting it into their settings.

use std::path::PathBuf;
use std::time::Instant;

use clap::{Args, Subcommand, value_parser};
use hydrant::hook::{self, Reply, Source, Warning};

use super::output::{Exit, print_line, tell};
use super::prompt::{ModeArgument, PlannerOptions, named_path};
use super::{install, output};

/// Turn each prompt into a plan before the agent reads it
#[derive(Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    UserPromptSubmit(PromptArguments),
    Install(install::InstallArguments),
    Uninstall(install::UninstallArguments),
}

/// Read the hook's JSON on stdin, write the plan to a file of its own, and print what the agent is told
///
/// Exit status 0: answered, with valid JSON on stdout. 2: the prompt is stopped, because stdin, the file, a template or a
/// signature cannot be used; stderr says which. Everything else that goes wrong is a warning on stderr.
#[derive(Args)]
#[command(after_long_help = "\
Settings of the agent (the timeout is in seconds); `hydrant hook install` writes them:
  {\"hooks\":{\"UserPromptSubmit\":[{\"hooks\":[{\"type\":\"command\",\"command\":\"hydrant hook user-prompt-submit\",\"timeout\":20}]}]}}

A prompt that begins with `/` or `.` passes as it is.")]
struct PromptArguments {
    /// Who plans [default: `mode` of [hydrate], else inline]
    #[arg(long, value_enum)]
    mode: Option<ModeArgument>,

    /// Directory of the files [default: $HYDRANT_TMPDIR, else `tmp_dir` of [hydrate], else /tmp/claude-hydrator-UID]
    #[arg(long, value_name = "DIR")]
    tmp_dir: Option<PathBuf>,

    /// Ask the language model of [hydrate.llm], whether or not it is enabled there
    #[arg(long)]
    llm: bool,

    /// Exit status where the prompt is stopped: 2, or 1 for agents that know another
    #[arg(long, value_name = "STATUS", default_value_t = 2, value_parser = value_parser!(u8).range(1..=2))]
    io_error_exit: u8,

    #[command(flatten)]
    options: PlannerOptions,
}

pub(super) fn run(arguments: Arguments, started: Instant) -> anyhow::Result<Exit> {
    match arguments.command {
        Command::UserPromptSubmit(arguments) => prompt(&arguments, started),
        Command::Install(arguments) => install::install(&arguments),
        Command::Uninstall(arguments) => install::uninstall(&arguments),
    }
}

fn prompt(arguments: &PromptArguments, started: Instant) -> anyhow::Result<Exit> {
    let reply = if cfg!(any(target_os = "linux", target_os = "macos")) {
        answer(arguments, started)
    } else {
        Reply::halted("platform", "only Linux and macOS are supported", &[])
    };
    for line in &reply.stderr {
        tell(line);
    }
    match reply.stdout {
        Some(line) => print_line(&line).map(|()| Exit::Done),
        None => Ok(Exit::Status(arguments.io_error_exit)),
    }
}

fn answer(arguments: &PromptArguments, started: Instant) -> Reply {
    let mut warnings = Vec::new();
    let mut settings = match arguments.options.hook_settings(&mut warnings) {
        Ok(Ok(settings)) => settings,
        Ok(Err((code, message))) => return Reply::halted(code, &message, &warnings),
        // The file may name a policy: without it nothing is run.
        Err(error) => return without_host(&error, warnings),
    };
    if let Some(mode) = arguments.mode {
        settings.mode = mode.into();
    }
    if let Some(directory) = named_path(arguments.tmp_dir.as_deref(), "HYDRANT_TMPDIR") {
        settings.tmp_dir = directory;
    }
    if arguments.llm {
        match &mut settings.llm {
            Some(llm) => llm.enabled = true,
            None => warnings.push(Warning::new(
                Source::Llm,
                "--llm needs dialect, base_url and model in [hydrate.llm]",
            )),
        }
    }
    match arguments
        .options
        .surroundings(settings, warnings.clone(), started)
    {
        Ok(surroundings) => hook::answer(surroundings, std::io::stdin()),
        Err(error) => without_host(&error, warnings),
    }
}

fn without_host(error: &anyhow::Error, mut warnings: Vec<Warning>) -> Reply {
    warnings.push(Warning::new(Source::Planner, output::in_one_line(error)));
    Reply::empty(&warnings)
}
