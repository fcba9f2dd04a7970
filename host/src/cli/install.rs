//! `hydrant hook install` and `uninstall`: the hook in the settings of an agent.

use std::io::{self, BufRead, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, ValueEnum};
use hydrant::Host;
use hydrant::hook::Planner;
use hydrant::hook::install::{Change, install as planned, settings, uninstall as taken_out};

use super::output::{Exit, print, print_line};
use super::prompt::usage_error;

/// Put the hook into the settings of Claude Code, after showing what changes
///
/// Everything else in the file stays as it is, letter for letter; a copy of what was there is kept beside it. Where the
/// hook is installed already, nothing happens. `hydrant hook uninstall` takes it out again.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  hydrant hook install                       ~/.claude/settings.json
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
}

/// Take the hook out of the settings of Claude Code, after showing what changes
#[derive(Args)]
pub(super) struct UninstallArguments {
    #[command(flatten)]
    place: Place,
}

#[derive(Args)]
struct Place {
    /// Whose settings
    #[arg(long, value_enum, default_value_t = Scope::User)]
    scope: Scope,

    /// The settings file itself
    #[arg(long, value_name = "FILE", conflicts_with = "scope")]
    settings: Option<PathBuf>,

    /// Do not ask
    #[arg(long, short)]
    yes: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Scope {
    /// settings.json in $CLAUDE_CONFIG_DIR, else in ~/.claude
    User,
    /// .claude/settings.json of the current directory
    Project,
}

pub(super) fn install(arguments: &InstallArguments) -> anyhow::Result<Exit> {
    let command = arguments.command.clone().map_or_else(own_command, Ok)?;
    if arguments.print {
        let shown = serde_json::to_string_pretty(&settings(&command, &arguments.event))?;
        print_line(&shown)?;
        return Ok(Exit::Done);
    }
    let file = arguments.place.file()?;
    match planned(&file, &command)? {
        Some(change) => {
            let exit = arguments.place.make(&change, "installed in")?;
            if exit == Exit::Done {
                prepare();
            }
            Ok(exit)
        }
        None => {
            print_line(&format!("already installed in {}", file.display()))?;
            Ok(Exit::Done)
        }
    }
}

/// Compiles the planner now, so that the first prompt need not wait for it. Where that does not work, the hook will say so.
fn prepare() {
    let host = Host::builder().without_mounts().build();
    if let Err(error) = host
        .map_err(anyhow::Error::new)
        .and_then(|host| Ok(Planner::new(Arc::new(host)).load()?))
    {
        tracing::warn!(%error, "the planner is not prepared");
    }
}

pub(super) fn uninstall(arguments: &UninstallArguments) -> anyhow::Result<Exit> {
    let file = arguments.place.file()?;
    match taken_out(&file)? {
        Some(change) => arguments.place.make(&change, "taken out of"),
        None => {
            print_line(&format!("not installed in {}", file.display()))?;
            Ok(Exit::Done)
        }
    }
}

impl Place {
    fn file(&self) -> anyhow::Result<PathBuf> {
        if let Some(file) = &self.settings {
            return Ok(file.clone());
        }
        let folder = |name: &str| {
            std::env::var_os(name)
                .map(PathBuf::from)
                .filter(|path| path.is_absolute())
        };
        match self.scope {
            Scope::Project => Ok(Path::new(".claude").join("settings.json")),
            Scope::User => folder("CLAUDE_CONFIG_DIR")
                .or_else(|| folder("HOME").map(|home| home.join(".claude")))
                .map(|folder| folder.join("settings.json"))
                .ok_or_else(|| usage_error("there is no $HOME; name the file with --settings")),
        }
    }

    /// Shows the change, asks, and makes it.
    fn make(&self, change: &Change, done: &str) -> anyhow::Result<Exit> {
        let file = change.file().display();
        print(format!("{file}\n{}", change.diff()).as_bytes())?;
        if !self.yes && !asked()? {
            print_line("nothing is changed")?;
            return Ok(Exit::Error);
        }
        let kept = change.apply()?;
        print_line(&format!("{done} {file}"))?;
        if let Some(kept) = kept {
            print_line(&format!("what was there is kept in {}", kept.display()))?;
        }
        Ok(Exit::Done)
    }
}

fn asked() -> anyhow::Result<bool> {
    let stdin = io::stdin();
    if !stdin.is_terminal() {
        return Err(usage_error("there is nobody to ask; say --yes"));
    }
    write!(io::stderr(), "Write this? [y/N] ")?;
    let mut answer = String::new();
    stdin.lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

/// `hydrant`, where that is this very program; else its path, quoted for a shell.
fn own_command() -> anyhow::Result<String> {
    let own = std::env::current_exe()?.canonicalize()?;
    let is_own = |folder: PathBuf| {
        folder
            .join("hydrant")
            .canonicalize()
            .is_ok_and(|one| one == own)
    };
    // The agent may have another working directory: relative entries do not count.
    let on_path = std::env::var_os("PATH").is_some_and(|path| {
        std::env::split_paths(&path)
            .filter(|folder| folder.is_absolute())
            .find(|folder| folder.join("hydrant").is_file())
            .is_some_and(is_own)
    });
    let program = if on_path {
        "hydrant".to_owned()
    } else {
        let path = own
            .to_str()
            .ok_or_else(|| usage_error("the path of this program is not UTF-8"))?;
        let plain = path
            .chars()
            .all(|one| one.is_ascii_alphanumeric() || "/._-+".contains(one));
        if plain {
            path.to_owned()
        } else {
            format!("'{}'", path.replace('\'', "'\\''"))
        }
    };
    Ok(format!("{program} hook user-prompt-submit"))
}
