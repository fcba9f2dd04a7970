//! `hydrant plan`: the plan of the hook, printed.

use std::path::PathBuf;
use std::time::Instant;

use clap::{Args, ValueEnum};
use hydrant::hook;

use super::output::{Exit, print};
use super::prompt::{PlannerOptions, prompt, usage, usage_error, warn};

/// Print the plan for a prompt
///
/// It is the plan that the hook writes for the same prompt, session, working tree and notes. No file is written.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  hydrant plan \"the type error in parser.py breaks the build\"
  hydrant plan --format json --cwd ../service - < prompt.txt")]
pub(super) struct Arguments {
    /// The prompt; `-` reads it from stdin
    prompt: String,

    /// Form of the plan
    #[arg(long, value_enum, default_value_t = Format::Markdown)]
    format: Format,

    /// Directory of the code [default: the current directory]
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,

    /// Transcript of the session, JSON Lines
    #[arg(long, value_name = "FILE")]
    transcript: Option<PathBuf>,

    /// Take this workflow, whatever the prompt says
    #[arg(long, value_name = "ID")]
    workflow: Option<String>,

    /// Ask the language model of [hydrate.llm], whether or not it is enabled there
    #[arg(long)]
    llm: bool,

    /// Look at neither code, notes nor session
    #[arg(long)]
    no_context: bool,

    #[command(flatten)]
    options: PlannerOptions,
}

#[derive(Clone, Copy, ValueEnum)]
enum Format {
    /// For people and agents
    Markdown,
    /// For programs
    Json,
}

pub(super) fn run(arguments: Arguments, started: Instant) -> anyhow::Result<Exit> {
    let mut warnings = Vec::new();
    let mut settings = arguments.options.settings(&mut warnings)?;
    if arguments.llm {
        match &mut settings.llm {
            Some(llm) => llm.enabled = true,
            None => {
                return Err(usage_error(
                    "--llm needs dialect, base_url and model in [hydrate.llm]",
                ));
            }
        }
    }
    let cwd = match arguments.cwd {
        _ if arguments.no_context => None,
        Some(cwd) => Some(cwd),
        None => std::env::current_dir().ok(),
    };
    let request = hook::PlanRequest {
        prompt: prompt(&arguments.prompt)?,
        working_tree: cwd,
        transcript: arguments.transcript.filter(|_| !arguments.no_context),
        turns: Vec::new(),
        workflow: arguments.workflow,
        without_context: arguments.no_context,
    };
    let surroundings = arguments
        .options
        .surroundings(settings, warnings, started)?;
    let (result, warnings) = hook::plan(surroundings, request);
    warn(&warnings);
    let planned = result.map_err(usage)?;
    match arguments.format {
        Format::Markdown => print(planned.markdown.as_bytes())?,
        Format::Json => print(format!("{}\n", planned.plan).as_bytes())?,
    }
    Ok(Exit::Done)
}
