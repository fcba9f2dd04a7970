//! `hydrant map`: what a command would do, and under which governance.

use clap::Args;
use hydrant::serve::operations::{Map, MappingTable};
use serde_json::json;

use super::govern::Options;
use super::inside::Transport;
use super::output::Exit;

/// Say which governed capability a command maps to; nothing is run
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  hydrant map 'curl -X POST https://api.example.com'
  hydrant map 'curl -s https://books.example.org/v2/items | jq -r \".[] | .title\"'
  hydrant map --list

Exit status: 0 mapped, 1 refused, 2 usage.")]
pub(super) struct Arguments {
    /// The command, as one argument
    #[arg(required_unless_present = "list", conflicts_with = "list")]
    command: Option<String>,

    /// Print the table of what is known, and how often each unknown tool was met
    #[arg(long)]
    list: bool,

    #[command(flatten)]
    options: Options,
}

pub(super) fn run(arguments: &Arguments, transport: &Transport) -> anyhow::Result<Exit> {
    let options = &arguments.options;
    match &arguments.command {
        Some(command) => options.ask::<Map>(transport, None, json!({ "command": command })),
        None => options.ask::<MappingTable>(transport, None, json!({})),
    }
}
