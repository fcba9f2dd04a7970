//! The command line: one file for each subcommand. Nothing is decided here; what a command means is in
//! the library.

mod approval_text;
mod approvals;
mod approve;
mod audit;
mod call;
mod catalog;
mod check;
mod compat;
mod config;
mod describe;
mod doctor;
mod generate;
mod govern;
mod graph;
mod help;
mod hook;
mod hydrate;
mod hydration;
mod inside;
mod install;
mod jail;
mod keys;
mod layout;
mod lazy;
mod lock;
mod map;
mod mcp;
mod output;
mod pins;
mod plan;
mod policy;
mod probe;
mod prompt;
mod route;
mod run;
mod secrets;
mod serve;
mod setup;
mod skill;
mod skills;
mod status;
mod syscall;
mod typed;
mod verify_pins;
mod world;

use std::ffi::OsString;
use std::io::{IsTerminal, Write};
use std::process::ExitCode;
use std::time::Instant;

use clap::error::ErrorKind;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use hydrant::engine::SLOW_COMPILATION;
use hydrant::home;

use self::inside::{OperatorOnly, Transport};
use self::lazy::Lazy;
use self::output::{Exit, fail};

/// Columns of help on a terminal that has more.
const MAX_WIDTH: usize = 100;

/// A host for agent skills: hydrate, run and verify them inside WebAssembly.
#[derive(Parser)]
#[command(
    name = "hydrant",
    version,
    propagate_version = true,
    max_term_width = MAX_WIDTH
)]
#[command(after_long_help = "\
Environment:
  HYDRANT_HOME          the home folder [default: $HOME/.hydrant]; its hydrant.toml may name a `policy` and an `audit` file
  HYDRANT_POLICY        the policy file, where no --policy is given
  HYDRANT_AUDIT         the audit record, where no --audit is given; `off` for none
  HYDRANT_KEYS_DIGEST   the digest of the key ring that is trusted, where no --keys-digest is given; `run`, `skills` and
                        `describe` ask for it with --root only
  HYDRANT_SOCKET        set in a jail: agent commands go through this socket, others answer `operator-only`
  HYDRANT_SIGNING_KEYS  the directory of <signer>.key files, for `sign` and `lock`
  HYDRANT_TMPDIR        where `hook` writes its files, where no --tmp-dir is given [default: /tmp/claude-hydrator-UID]
  HYDRANT_CATALOG       the catalogue of workflows, where no --catalog is given
  HYDRANT_LOG           turns the debug log on, to stderr: a level or filter such as `debug` or `hydrant=trace`
  MIN_SIGNERS           raises the number of signers that `verify` and `lock` ask for
  HYDRANT_PRECOMPILED   `off`: compile every component, in place of using the machine code in this program
  XDG_CACHE_HOME        where compiled components are kept (`hydrant/` in it; else in $HOME/.cache)

Exit status: 0 done; 1 error; 2 usage. `run`, `skills`, `describe`, `verify`, `lock` and `policy`: 1 usage or other,
2 not the pinned bytes, 3 a signature, key or signer, 4 a capability, 5 the skill failed. `jail`: that of its command,
128 and the number of a signal that ended it; 125 no jail, 126 not executable, 127 not found. `hook`: 2 stops the prompt.
`catalog`: 1 findings. Commands of provenact
(inspect, pack, sign, archive, install, export, verify-…, experimental-…, and `run` and `verify` with --bundle): 0 or 1.")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Hydrate(Lazy<hydrate::Arguments>),
    Check(Lazy<check::Arguments>),
    Graph(Lazy<graph::Arguments>),
    Hook(Lazy<hook::Arguments>),
    Plan(Lazy<plan::Arguments>),
    Route(Lazy<route::Arguments>),
    Catalog(Lazy<catalog::Arguments>),
    Run(Lazy<run::Arguments>),
    Skills(Lazy<skills::Arguments>),
    Describe(Lazy<describe::Arguments>),
    Verify(Lazy<verify_pins::Arguments>),
    Lock(Lazy<lock::Arguments>),
    Policy(Lazy<policy::Arguments>),
    Config(Lazy<config::Arguments>),
    Skill(Lazy<skill::Arguments>),
    Map(Lazy<map::Arguments>),
    Call(Lazy<call::Arguments>),
    Approvals(Lazy<approvals::Arguments>),
    Approve(Lazy<approve::Arguments>),
    Secrets(Lazy<secrets::Arguments>),
    Audit(Lazy<audit::Arguments>),
    Syscall(Lazy<syscall::Arguments>),
    Serve(Lazy<serve::Arguments>),
    Setup(Lazy<setup::Arguments>),
    Mcp(Lazy<mcp::Arguments>),
    Jail(Lazy<jail::Arguments>),
    Keys(Lazy<keys::Arguments>),
    /// Print the id of the contract between this program and its skills
    World,
    Doctor(Lazy<doctor::Arguments>),
    Completions(Lazy<generate::CompletionArguments>),
    Man(Lazy<generate::ManArguments>),
    #[command(flatten)]
    Compatible(compat::Command),
}

/// Runs the program on these arguments, the first of which is its name.
pub(crate) fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let started = Instant::now();
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let command = arguments.get(1).and_then(|name| name.to_str());
    start_log(command);
    if command == Some("hook") {
        // What broke off is answered like any other failure.
        std::panic::set_hook(Box::new(
            |panic| tracing::debug!(%panic, "the hook broke off"),
        ));
    } else {
        quieten_tools();
    }
    if generate::complete(&arguments, Cli::command) {
        return Exit::Done.into();
    }
    let transport = match Transport::choose(&arguments) {
        Ok(transport) => transport,
        Err(refused) => return finish(Err(refused.into())),
    };
    if let Some(exit) = compat::run(&arguments) {
        return exit;
    }
    let command = help::grouped_if_asked(Cli::command(), &arguments);
    let parsed = command.try_get_matches_from(&arguments);
    let cli = match parsed.and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => cli,
        Err(error) => return usage(&error, arguments.get(1)),
    };
    if let Transport::Process = transport
        && !matches!(
            cli.command,
            Command::Doctor(_) | Command::Completions(_) | Command::Man(_) | Command::World
        )
        && let Some(home) = home::folder()
        && let Err(error) = home::check(&home)
    {
        return finish(Err(error.into()));
    }
    finish(match cli.command {
        Command::Hydrate(Lazy(arguments)) => hydrate::run(arguments, &transport),
        Command::Check(Lazy(arguments)) => check::run(arguments),
        Command::Graph(Lazy(arguments)) => graph::run(arguments),
        Command::Hook(Lazy(arguments)) => hook::run(arguments, started),
        Command::Plan(Lazy(arguments)) => plan::run(arguments, started),
        Command::Route(Lazy(arguments)) => route::run(&arguments),
        Command::Catalog(Lazy(arguments)) => catalog::run(&arguments),
        Command::Run(Lazy(arguments)) => run::run(&arguments, &transport),
        Command::Skills(Lazy(arguments)) => skills::run(&arguments, &transport),
        Command::Describe(Lazy(arguments)) => describe::run(&arguments, &transport),
        Command::Verify(Lazy(arguments)) => {
            probe::with_built_in(|built_in| verify_pins::run(&arguments, built_in))
        }
        Command::Lock(Lazy(arguments)) => {
            probe::with_built_in(|built_in| lock::run(&arguments, built_in))
        }
        Command::Policy(Lazy(arguments)) => policy::run(arguments),
        Command::Config(Lazy(arguments)) => config::run(&arguments),
        Command::Skill(Lazy(arguments)) => skill::run(&arguments, &transport),
        Command::Map(Lazy(arguments)) => map::run(&arguments, &transport),
        Command::Call(Lazy(arguments)) => call::run(&arguments, &transport),
        Command::Approvals(Lazy(arguments)) => approvals::run(&arguments),
        Command::Approve(Lazy(arguments)) => approve::run(&arguments),
        Command::Secrets(Lazy(arguments)) => secrets::run(&arguments),
        Command::Audit(Lazy(arguments)) => audit::run(&arguments),
        Command::Syscall(Lazy(arguments)) => syscall::run(&arguments, &transport),
        Command::Serve(Lazy(arguments)) => serve::run(&arguments),
        Command::Setup(Lazy(arguments)) => setup::run(&arguments),
        Command::Mcp(Lazy(arguments)) => mcp::run(arguments),
        Command::Jail(Lazy(arguments)) => jail::run(arguments),
        Command::Keys(Lazy(arguments)) => keys::run(&arguments),
        Command::World => world::run(),
        // Their command lines are taken before, by their own grammar.
        Command::Compatible(command) => compat::execute(command).map(|()| Exit::Done),
        Command::Doctor(Lazy(arguments)) => doctor::run(arguments),
        Command::Completions(Lazy(arguments)) => generate::completions(&arguments),
        Command::Man(Lazy(arguments)) => generate::man(&arguments, &Cli::command()),
    })
}

/// The exit status of a command, with its error on stderr.
fn finish(result: anyhow::Result<Exit>) -> ExitCode {
    match result {
        Ok(exit) => exit.into(),
        Err(error) if output::is_broken_pipe(&error) => Exit::Done.into(),
        Err(error) => {
            match error.downcast_ref::<OperatorOnly>() {
                Some(refused) => refused.tell(),
                None => fail(&output::in_one_line(&error)),
            }
            output::exit_of(&error).into()
        }
    }
}

/// A wrong command line is exit status 2, but 1 for the commands whose 2 means drift. Help and version are no errors.
fn usage(error: &clap::Error, command: Option<&OsString>) -> ExitCode {
    let text = error.render().to_string();
    let shown = output::visible_lines(&text);
    // What was typed is quoted, and may come from a document.
    let _ = if shown == text {
        error.print()
    } else {
        write!(std::io::stderr(), "{shown}")
    };
    if matches!(
        error.kind(),
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion
    ) {
        return Exit::Done.into();
    }
    match command.and_then(|name| name.to_str()) {
        Some("run" | "skills" | "describe" | "verify" | "lock" | "policy") => Exit::Error.into(),
        _ => Exit::Usage.into(),
    }
}

/// A tool that makes its validator fail is answered like any other bad tool, and is no news for stderr.
fn quieten_tools() {
    let report = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if std::thread::current().name() == Some(hydrant::engine::DESCRIBE_THREAD) {
            tracing::debug!(%panic, "a component tool could not be validated");
        } else {
            report(panic);
        }
    }));
}

/// Warnings always go to stderr, but those of a hook, whose lines have a form of their own; `HYDRANT_LOG` turns on more.
/// Somebody at a terminal, and the log of a service, is told what a call waits for.
fn start_log(command: Option<&str>) {
    use tracing_subscriber::EnvFilter;
    let log = tracing_subscriber::fmt()
        .with_writer(|| output::Log)
        .with_ansi(false);
    match std::env::var("HYDRANT_LOG") {
        Ok(filter) => log.with_env_filter(EnvFilter::new(filter)).init(),
        Err(_) if command == Some("hook") => {}
        // Of the protocol's library each error that a client is answered would be one.
        Err(_) => {
            let mut filter = "warn,rmcp=error".to_owned();
            // These two have a line of their own for it.
            let shows_itself = matches!(command, Some("verify" | "lock"));
            let is_terminal = std::io::stderr().is_terminal();
            if command == Some("serve") || (is_terminal && !shows_itself) {
                filter = format!("{filter},{SLOW_COMPILATION}=info");
            }
            log.without_time()
                .with_target(false)
                .with_env_filter(EnvFilter::new(filter))
                .init();
        }
    }
}
