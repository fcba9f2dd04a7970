//! `hydrant setup`: hydrant in the configuration of a client.

use std::io::{self, BufRead, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use hydrant::Host;
use hydrant::hook::Planner;
use hydrant::setup::server::{self, Server};
use hydrant::setup::{Change, Client, Scope, SetupError, claude_folder, hook, subagent};

use super::output::{Exit, print, print_line};
use super::prompt::usage_error;

/// Register hydrant with a client, after showing what changes
///
/// The client's configuration gets an entry `hydrant`, which starts `hydrant mcp`; for Claude Code, its settings also get
/// the prompt hook. Everything else in the files stays as it is, letter for letter; a copy of what was there is kept beside
/// each. What is set up already stays so, and `--undo` takes out again what setup has put in.
#[derive(Args)]
#[command(after_long_help = "\
Files, and those of --project in the current directory:
  claude          ~/.claude.json, ~/.claude/settings.json      .mcp.json, .claude/settings.json
  claude-desktop  ~/.config/Claude/claude_desktop_config.json
  cursor          ~/.cursor/mcp.json                           .cursor/mcp.json
  vscode          ~/.config/Code/User/mcp.json                 .vscode/mcp.json
  codex           ~/.codex/config.toml                         .codex/config.toml
  gemini          ~/.gemini/settings.json                      .gemini/settings.json
On macOS, ~/Library/Application Support takes the place of ~/.config. CLAUDE_CONFIG_DIR, CODEX_HOME
and XDG_CONFIG_HOME are heeded, as the clients do.

Examples:
  hydrant setup claude                       the MCP server and the prompt hook, for all projects
  hydrant setup cursor --project             for this directory only
  hydrant setup vscode -- --root \"$HOME/os\"  what `hydrant mcp` serves
  hydrant setup claude-desktop -- --workspace \"$HOME/project\"
  hydrant setup codex --print                only show what would change
  hydrant setup codex --undo                 take it out again")]
pub(super) struct Arguments {
    /// The client
    #[arg(value_parser = client_parser())]
    client: Client,

    /// The configuration of the current directory, in place of your own
    #[arg(long)]
    project: bool,

    /// The configuration that names the client's MCP servers
    #[arg(long, value_name = "FILE", conflicts_with = "project")]
    file: Option<PathBuf>,

    /// With claude: the settings for the hook
    #[arg(long, value_name = "FILE", conflicts_with_all = ["project", "no_hook"])]
    settings: Option<PathBuf>,

    /// The program that the client starts [default: this one, with its whole path]
    #[arg(long, value_name = "PROGRAM")]
    command: Option<String>,

    /// With claude: the MCP server only
    #[arg(long)]
    no_hook: bool,

    /// With claude: let a subagent improve each plan, and install it
    #[arg(long, conflicts_with = "no_hook")]
    subagent: bool,

    /// Take out what setup has put in
    #[arg(long, conflicts_with_all = ["subagent", "arguments", "replace"])]
    undo: bool,

    /// Only show what would change
    #[arg(long, conflicts_with = "yes")]
    print: bool,

    /// Do not ask
    #[arg(long, short)]
    yes: bool,

    /// With --yes: also replace an entry or a subagent of the same name that setup has not made
    #[arg(long, requires = "yes")]
    replace: bool,

    /// Options of `hydrant mcp`; the client starts it in another directory, so paths are whole
    #[arg(last = true, value_name = "OPTION")]
    arguments: Vec<String>,
}

fn client_parser() -> impl TypedValueParser<Value = Client> {
    let values = Client::ALL.map(|client| PossibleValue::new(client.id()).help(client.name()));
    PossibleValuesParser::new(values).try_map(|id| {
        let mut clients = Client::ALL.into_iter();
        clients
            .find(|client| client.id() == id)
            .ok_or("there is no such client")
    })
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    let client = arguments.client;
    let has_hook = client == Client::Claude;
    if !has_hook && (arguments.no_hook || arguments.subagent || arguments.settings.is_some()) {
        return Err(usage_error(
            "--no-hook, --subagent and --settings are about the hook of claude",
        ));
    }
    let scope = if arguments.project {
        Scope::Project
    } else {
        Scope::User
    };
    let file = match &arguments.file {
        Some(file) => file.clone(),
        None => client
            .configuration(scope, &folder)
            .ok_or_else(|| no_configuration(client, scope))?,
    };
    let server = Server {
        program: match &arguments.command {
            Some(program) => program.clone(),
            None => own_program(client)?,
        },
        arguments: server_arguments(client, scope, &arguments.arguments)?,
    };
    let settings = match &arguments.settings {
        _ if !has_hook || arguments.no_hook => None,
        Some(settings) => Some(settings.clone()),
        None => Some(settings_file(scope)?),
    };
    let command = match &arguments.command {
        Some(program) => hook_command(program),
        None => own_command()?,
    };
    let consent = match (arguments.print, arguments.yes) {
        (true, _) => Consent::OnlyShow,
        (_, true) if arguments.replace => Consent::Replace,
        (_, true) => Consent::Given,
        _ => Consent::Ask,
    };
    let mut plan = Plan::default();
    if arguments.undo {
        plan.add(&file, server::uninstall(client, &file, &server)?);
        if let Some(settings) = &settings {
            plan.without_hook(settings, &command)?;
        }
        return plan.make(consent, &Wording::UNDO);
    }
    plan.add(&file, server::install(client, scope, &file, &server)?);
    if let Some(settings) = &settings {
        plan.with_hook(settings, &command, arguments.subagent)?;
    }
    let exit = plan.make(consent, &Wording::SETUP)?;
    if exit == Exit::Done && consent != Consent::OnlyShow && !plan.is_empty() {
        if settings.is_some() {
            prepare();
        }
        print_line(&format!("{} reads this when it starts", client.name()))?;
    }
    Ok(exit)
}

/// The options of `hydrant mcp`: those that were given, and what the client knows as the directory of the project.
fn server_arguments(client: Client, scope: Scope, given: &[String]) -> anyhow::Result<Vec<String>> {
    let names_one = |option: &String| {
        option.starts_with("--workspace")
            || option
                .trim_start_matches("--mount=")
                .starts_with("/workspace=")
    };
    let workspace = match given.iter().any(names_one) {
        true => None,
        false => client.workspace(scope, &std::env::current_dir()?),
    };
    let workspace = workspace.map(|directory| ["--workspace".to_owned(), directory]);
    Ok(workspace
        .into_iter()
        .flatten()
        .chain(given.iter().cloned())
        .collect())
}

/// Whether changes are made.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Consent {
    /// They are only shown.
    OnlyShow,
    /// If the user says so.
    Ask,
    /// Unless one replaces something that the user made.
    Given,
    /// All of them.
    Replace,
}

/// Changes that are shown and made together.
#[derive(Default)]
pub(super) struct Plan {
    changes: Vec<Change>,
    /// The files that are as they should be.
    unchanged: Vec<PathBuf>,
}

/// What is said of files.
pub(super) struct Wording {
    done: &'static str,
    unchanged: &'static str,
}

impl Wording {
    pub(super) const SETUP: Self = Self {
        done: "installed in",
        unchanged: "already installed in",
    };
    pub(super) const UNDO: Self = Self {
        done: "taken out of",
        unchanged: "not installed in",
    };
}

impl Plan {
    fn add(&mut self, file: &Path, change: Option<Change>) {
        match change {
            Some(change) => self.changes.push(change),
            None => self.unchanged.push(file.to_owned()),
        }
    }

    /// The hook in these settings, and the subagent beside them if one plans.
    pub(super) fn with_hook(
        &mut self,
        settings: &Path,
        command: &str,
        with_subagent: bool,
    ) -> Result<(), SetupError> {
        self.add(settings, hook::install(settings, command, with_subagent)?);
        if with_subagent {
            let file = subagent::beside(settings);
            self.add(&file, subagent::install(&file)?);
        }
        Ok(())
    }

    /// These settings without the hook, and no subagent beside them.
    pub(super) fn without_hook(
        &mut self,
        settings: &Path,
        command: &str,
    ) -> Result<(), SetupError> {
        self.add(settings, hook::uninstall(settings, command)?);
        self.changes
            .extend(subagent::uninstall(&subagent::beside(settings))?);
        Ok(())
    }

    /// Whether there is nothing to do.
    pub(super) fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// Shows the changes, asks, and makes them.
    pub(super) fn make(&self, consent: Consent, wording: &Wording) -> anyhow::Result<Exit> {
        for change in &self.changes {
            print(format!("{}\n{}", change.file().display(), change.diff()).as_bytes())?;
        }
        let replaced: Vec<_> = self
            .changes
            .iter()
            .filter(|change| change.replaces())
            .map(|change| change.file().display())
            .collect();
        for file in &replaced {
            print_line(&format!(
                "{file}: this replaces something that setup has not made"
            ))?;
        }
        if !self.is_empty() && consent != Consent::OnlyShow {
            if let (Consent::Given, Some(file)) = (consent, replaced.first()) {
                anyhow::bail!(
                    "{file}: with --yes, what setup has not made is replaced only with --replace"
                );
            }
            if consent == Consent::Ask && !asked()? {
                print_line("nothing is changed")?;
                return Ok(Exit::Error);
            }
            for change in &self.changes {
                let copy = change.apply()?;
                print_line(&format!("{} {}", wording.done, change.file().display()))?;
                if let Some(copy) = copy {
                    print_line(&format!("what was there is kept in {}", copy.display()))?;
                }
            }
        }
        for file in &self.unchanged {
            print_line(&format!("{} {}", wording.unchanged, file.display()))?;
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

/// Compiles the planner now, so that the first prompt need not wait for it. Where that does not work, the hook will say so.
pub(super) fn prepare() {
    let host = Host::builder().without_mounts().build();
    if let Err(error) = host
        .map_err(anyhow::Error::new)
        .and_then(|host| Ok(Planner::new(Arc::new(host)).load()?))
    {
        tracing::warn!(%error, "the planner is not prepared");
    }
}

/// The settings file of Claude Code.
pub(super) fn settings_file(scope: Scope) -> anyhow::Result<PathBuf> {
    let folder = claude_folder(scope, &folder);
    folder
        .map(|folder| folder.join("settings.json"))
        .ok_or_else(|| usage_error("there is no $HOME; name the file with --settings"))
}

fn no_configuration(client: Client, scope: Scope) -> anyhow::Error {
    usage_error(match scope {
        Scope::Project => format!("{} has no configuration of a project", client.name()),
        Scope::User => "there is no $HOME; name the file with --file".to_owned(),
    })
}

/// The folder that a variable names.
fn folder(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable)
        .map(PathBuf::from)
        .filter(|path| path.is_absolute())
}

/// The command of the hook: `hydrant`, where that is this very program; else its path.
pub(super) fn own_command() -> anyhow::Result<String> {
    Ok(match program_on_path()? {
        Some(_) => hook_command("hydrant"),
        None => hook_command(&text(own_path()?)?),
    })
}

/// The command of the hook, for a shell.
fn hook_command(program: &str) -> String {
    let plain = program
        .chars()
        .all(|one| one.is_ascii_alphanumeric() || "/._-+".contains(one));
    let program = if plain {
        program.to_owned()
    } else {
        format!("'{}'", program.replace('\'', "'\\''"))
    };
    format!("{program} hook user-prompt-submit")
}

/// The whole path of this program. One of $PATH stays so, which an update of the program leaves as it is, even if it is a
/// link.
fn own_program(client: Client) -> anyhow::Result<String> {
    let program = match program_on_path()? {
        Some(program) => program,
        None => own_path()?,
    };
    let program = text(program)?;
    if program.contains('$') || program.contains(char::is_control) {
        return Err(usage_error(format!(
            "{} would not read the path of this program as it is: {program:?}; say --command",
            client.name()
        )));
    }
    Ok(program)
}

fn own_path() -> io::Result<PathBuf> {
    std::env::current_exe()?.canonicalize()
}

fn text(path: PathBuf) -> anyhow::Result<String> {
    let path = path.into_os_string().into_string();
    path.map_err(|_| usage_error("the path of this program is not UTF-8; say --command"))
}

/// The `hydrant` of $PATH, if that is this very program.
fn program_on_path() -> anyhow::Result<Option<PathBuf>> {
    let own = own_path()?;
    let Some(path) = std::env::var_os("PATH") else {
        return Ok(None);
    };
    // The agent may have another working directory: relative entries do not count.
    Ok(std::env::split_paths(&path)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join("hydrant"))
        .find(|program| program.is_file())
        .filter(|program| program.canonicalize().is_ok_and(|program| program == own)))
}
