//! `hydrant catalog check`: what is wrong with a catalogue of workflows.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use hydrant::hook::Finding;
use serde_json::json;

use super::output::{Exit, Format, print_line};
use super::prompt::{CALL, PlannerOptions, answered, warn};

/// Check catalogues of workflows
#[derive(Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Check(CheckArguments),
}

/// Report what is wrong with a catalogue: `level file:line code message`
///
/// Exit status 1 if there is an error; warnings alone are 0.
#[derive(Args)]
struct CheckArguments {
    /// Directory of the catalogue [default: the one that is in use]
    directory: Option<PathBuf>,

    /// Form of the report [default: text on a terminal, json otherwise]
    #[arg(long, value_enum)]
    format: Option<Format>,

    #[command(flatten)]
    options: PlannerOptions,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    let Command::Check(arguments) = &arguments.command;
    let mut warnings = Vec::new();
    let mut settings = arguments.options.settings(&mut warnings)?;
    warn(&warnings);
    if let Some(directory) = &arguments.directory {
        settings.catalog = Some(directory.clone());
    }
    let planner = arguments.options.planner(&settings)?;
    let findings = answered(planner.check_catalog(&settings, CALL))?;
    match Format::or_default(arguments.format) {
        Format::Json => print_line(&json!({ "findings": findings }).to_string())?,
        Format::Text => {
            for Finding {
                level,
                file,
                line,
                code,
                message,
            } in &findings
            {
                print_line(&format!("{level} {file}:{line} {code} {message}"))?;
            }
        }
    }
    let wrong = findings.iter().any(|finding| finding.level == "error");
    Ok(if wrong { Exit::Error } else { Exit::Done })
}
