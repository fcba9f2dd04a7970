//! `hydrant audit`: the causal chain of governed execution.

use clap::{Args, Subcommand};
use hydrant::govern::governor::Shown;
use serde_json::Value;

use super::govern::Options;
use super::output::Exit;

/// Verify and read the chain of what was loaded, approved and executed
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  hydrant audit verify
  hydrant audit verify --anchor 42:9f86d081…
  hydrant audit show --capability library.search

Exit status of verify: 0 whole, 1 damaged.")]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Recompute every link and signature from the files
    Verify {
        /// A record that was noted down elsewhere: a chain without it was rolled back
        #[arg(long, value_name = "SEQ:HASH")]
        anchor: Option<String>,

        #[command(flatten)]
        options: Options,
    },
    /// Print records, and the anchor to note down
    Show {
        /// Records after this one only
        #[arg(long, value_name = "SEQ")]
        since: Option<u64>,

        /// Records of this capability or skill, and of what led to them
        #[arg(long, value_name = "C")]
        capability: Option<String>,

        #[command(flatten)]
        options: Options,
    },
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    match &arguments.command {
        Command::Verify { anchor, options } => {
            let mut is_whole = false;
            let exit = options.verify(anchor.as_deref(), |report| {
                is_whole = report.get("ok").and_then(Value::as_bool) == Some(true);
            })?;
            Ok(if is_whole { exit } else { Exit::Error })
        }
        Command::Show {
            since,
            capability,
            options,
        } => options.answer(|governor| {
            let shown = Shown {
                since: *since,
                capability: capability.as_deref(),
                most: None,
            };
            governor.chain(&shown, &|| false)
        }),
    }
}
