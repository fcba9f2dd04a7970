//! `hydrant hook install` and `uninstall`: what `hydrant setup claude` does with the hook, and nothing else of it.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use hydrant::setup::{Scope, hook};

use super::output::{Exit, print_line};
use super::setup::{Consent, Plan, Wording, own_command, prepare, settings_file};

/// Put the hook into the settings of Claude Code, after showing what changes
///
/// Everything else in the file stays as it is, letter for letter; a copy of what was there is kept beside it. Where the
/// hook is installed already, nothing happens. `hydrant hook uninstall` takes it out again. `hydrant setup claude` also
/// registers the MCP server.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  hydrant hook install                       ~/.claude/settings.json
  hydrant hook install --subagent            and ~/.claude/agents/prompt-hydrator.md, which improves each plan
  hydrant hook install --scope project       .claude/settings.json of this directory
  hydrant hook install --settings FILE       of another agent with settings of the same form
  hydrant hook install --print               only print what to add, for agents with settings of another form")]
pub(super) struct InstallArguments {
    #[command(flatten)]
    place: Place,

    /// Only print the settings to add
    #[arg(long, conflicts_with_all = ["yes", "scope", "settings"])]
    print: bool,

    /// With --print: the agent's name of the event
    #[arg(
        long,
        value_name = "NAME",
        default_value = "UserPromptSubmit",
        requires = "print"
    )]
    event: String,

    /// The command to install [default: `hydrant hook user-prompt-submit`, with the path of this program unless it is the
    /// `hydrant` of $PATH]
    #[arg(long, value_name = "COMMAND")]
    command: Option<String>,

    /// Let a subagent improve each plan, and install it
    #[arg(long)]
    subagent: bool,

    /// With --yes: also replace a subagent of the same name that was not made by this
    #[arg(long, requires = "yes")]
    replace: bool,
}

/// Take the hook out of the settings of Claude Code, and the subagent if there is one, after showing what changes
#[derive(Args)]
pub(super) struct UninstallArguments {
    #[command(flatten)]
    place: Place,
}

#[derive(Args)]
struct Place {
    /// Whose settings
    #[arg(long, value_enum, default_value_t = ScopeArgument::User)]
    scope: ScopeArgument,

    /// The settings file itself
    #[arg(long, value_name = "FILE", conflicts_with = "scope")]
    settings: Option<PathBuf>,

    /// Do not ask
    #[arg(long, short)]
    yes: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ScopeArgument {
    /// settings.json in $CLAUDE_CONFIG_DIR, else in ~/.claude
    User,
    /// .claude/settings.json of the current directory
    Project,
}

pub(super) fn install(arguments: &InstallArguments) -> anyhow::Result<Exit> {
    let command = arguments.command.clone().map_or_else(own_command, Ok)?;
    if arguments.print {
        let command = if arguments.subagent {
            hook::of_subagent(&command)
        } else {
            command
        };
        let shown = serde_json::to_string_pretty(&hook::settings(&command, &arguments.event))?;
        print_line(&shown)?;
        return Ok(Exit::Done);
    }
    let mut plan = Plan::default();
    plan.with_hook(&arguments.place.file()?, &command, arguments.subagent)?;
    let exit = plan.make(arguments.place.consent(arguments.replace), &Wording::SETUP)?;
    if exit == Exit::Done && !plan.is_empty() {
        prepare();
    }
    Ok(exit)
}

pub(super) fn uninstall(arguments: &UninstallArguments) -> anyhow::Result<Exit> {
    let mut plan = Plan::default();
    plan.without_hook(&arguments.place.file()?, &own_command()?)?;
    plan.make(arguments.place.consent(false), &Wording::UNDO)
}

impl Place {
    fn consent(&self, replace: bool) -> Consent {
        match (self.yes, replace) {
            (true, true) => Consent::Replace,
            (true, false) => Consent::Given,
            (false, _) => Consent::Ask,
        }
    }

    fn file(&self) -> anyhow::Result<PathBuf> {
        match &self.settings {
            Some(file) => Ok(file.clone()),
            None => settings_file(match self.scope {
                ScopeArgument::User => Scope::User,
                ScopeArgument::Project => Scope::Project,
            }),
        }
    }
}
