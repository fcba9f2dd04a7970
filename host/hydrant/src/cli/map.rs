//! `hydrant map`: what a command would do, and under which governance.

use clap::Args;
use serde_json::{Value, json};

use super::govern::Options;
use super::inside::Inside;
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

impl Arguments {
    fn input(&self) -> Value {
        match &self.command {
            Some(command) => json!({ "command": command }),
            None => json!({ "list": true }),
        }
    }
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    arguments
        .options
        .answer(|governor| match &arguments.command {
            Some(command) => governor.map(command),
            None => governor.mapping_table(),
        })
}

/// What a jailed agent gets, by way of its socket.
pub(super) fn inside(arguments: &Arguments, hydrant: &mut Inside) -> anyhow::Result<Exit> {
    let input = arguments.input();
    arguments
        .options
        .ask_outside(hydrant, "ccos.primitive.map", input)
}
