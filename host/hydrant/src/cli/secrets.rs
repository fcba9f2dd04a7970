//! `hydrant secrets`: values that operations use and nobody sees.

use std::io::{self, IsTerminal, Read, Write};

use anyhow::{Context, bail};
use clap::{Args, Subcommand};
use hydrant::govern::governor::Bind;
use hydrant::govern::secrets::SecretString;

use super::govern::Options;
use super::output::Exit;

/// Bytes of one value.
const MAX_VALUE: u64 = 64 * 1024;

/// Store secrets, and say which skill may send them where; values are never printed
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  printf %s \"$TOKEN\" | hydrant secrets set LIBRARY_TOKEN --skill library
  hydrant secrets bind COMPANY_TOKEN --skill library --host api.example.com --as LIBRARY_TOKEN
  hydrant secrets list")]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Store a value, read from stdin or, at a terminal, asked for without showing it
    Set {
        /// Its name, such as LIBRARY_TOKEN
        name: String,

        /// For this skill alone; an approval of its operations then lets them use it
        #[arg(long, value_name = "ID")]
        skill: Option<String>,

        #[command(flatten)]
        options: Options,
    },
    /// List names, scopes and bindings
    List {
        #[command(flatten)]
        options: Options,
    },
    /// Let a skill send a secret to a host
    Bind {
        /// Its stored name
        name: String,

        /// The skill that may use it
        #[arg(long, value_name = "ID")]
        skill: String,

        /// The host it may be sent to [default port: 443]
        #[arg(long, value_name = "H[:P]")]
        host: String,

        /// The name that the skill calls it by [default: the same]
        #[arg(long = "as", value_name = "EXPECTED")]
        expected: Option<String>,

        #[command(flatten)]
        options: Options,
    },
    /// Erase a value and its bindings
    Remove {
        /// Its name
        name: String,

        /// Of this skill; else the global one
        #[arg(long, value_name = "ID")]
        skill: Option<String>,

        #[command(flatten)]
        options: Options,
    },
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    match &arguments.command {
        Command::Set {
            name,
            skill,
            options,
        } => {
            let value = value(name)?;
            options.answer(|governor| governor.set_secret(name, skill.as_deref(), value))
        }
        Command::List { options } => options.answer(|governor| governor.list_secrets()),
        Command::Bind {
            name,
            skill,
            host,
            expected,
            options,
        } => options.answer(|governor| {
            let bind = Bind {
                name,
                skill,
                host,
                expected: expected.as_deref(),
            };
            governor.bind_secret(&bind)
        }),
        Command::Remove {
            name,
            skill,
            options,
        } => options.answer(|governor| governor.remove_secret(name, skill.as_deref())),
    }
}

/// From stdin or a prompt, never from the command line. One line end is not part of it.
fn value(name: &str) -> anyhow::Result<SecretString> {
    let stdin = io::stdin();
    let mut text = zeroize::Zeroizing::new(String::new());
    let read = if stdin.is_terminal() {
        write!(io::stderr(), "{name}: ")?;
        let hidden = Hidden::start()?;
        let read = stdin.read_line(&mut text);
        drop(hidden);
        writeln!(io::stderr())?;
        read
    } else {
        stdin
            .lock()
            .take(MAX_VALUE.saturating_add(2))
            .read_to_string(&mut text)
    };
    read.context("the value is no text")?;
    let value = text.strip_suffix('\n').unwrap_or(&text);
    let value = value.strip_suffix('\r').unwrap_or(value);
    if value.is_empty() {
        bail!("the value is empty");
    }
    if u64::try_from(value.len()).unwrap_or(u64::MAX) > MAX_VALUE {
        bail!("the value has more than {MAX_VALUE} bytes");
    }
    Ok(SecretString::from(value.to_owned()))
}

/// A terminal that does not show what is typed; as before when this ends.
struct Hidden(rustix::termios::Termios);

impl Hidden {
    fn start() -> io::Result<Self> {
        use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};
        let before = tcgetattr(io::stdin())?;
        let mut hidden = before.clone();
        hidden.local_modes.remove(LocalModes::ECHO);
        tcsetattr(io::stdin(), OptionalActions::Flush, &hidden)?;
        Ok(Self(before))
    }
}

impl Drop for Hidden {
    fn drop(&mut self) {
        // A terminal that went away has no echo either.
        let _ = rustix::termios::tcsetattr(
            io::stdin(),
            rustix::termios::OptionalActions::Flush,
            &self.0,
        );
    }
}
