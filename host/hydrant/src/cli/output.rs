//! How commands print and exit: results on stdout, messages on stderr, one table of exit statuses.

use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use anstream::stream::RawStream;
use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};
use clap::ValueEnum;
use hydrant::HostError;
use hydrant::engine::CallError;
use hydrant::pins::Class;
use hydrant::policy::PolicyError;

use super::layout::{laid_out, visible, visible_json};
use super::prompt::UsageError;

/// The exit statuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Exit {
    Done,
    Error,
    Usage,
    Drift,
    Trust,
    Denied,
    SkillFailed,
    /// Of another program, which `jail` passes on.
    Status(u8),
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Done => 0,
            Exit::Error => 1,
            Exit::Usage | Exit::Drift => 2,
            Exit::Trust => 3,
            Exit::Denied => 4,
            Exit::SkillFailed => 5,
            Exit::Status(status) => status,
        })
    }
}

/// An error whose exit status is not 1.
#[derive(Debug)]
pub(super) struct WithExit(pub(super) Exit);

impl std::fmt::Display for WithExit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self.0 {
            Exit::Usage => "usage",
            Exit::Drift => "not what was pinned",
            Exit::Trust => "not trusted",
            Exit::Denied => "denied",
            Exit::SkillFailed => "the skill failed",
            Exit::Done | Exit::Error | Exit::Status(_) => "error",
        })
    }
}

/// The exit status that an error ends with.
pub(super) fn exit_of(error: &anyhow::Error) -> Exit {
    if let Some(WithExit(exit)) = error.downcast_ref::<WithExit>() {
        return *exit;
    }
    if error.is::<UsageError>() {
        return Exit::Usage;
    }
    match error.downcast_ref::<HostError>() {
        Some(HostError::Policy(policy)) if policy.is_usage() => Exit::Usage,
        _ => match error.downcast_ref::<PolicyError>() {
            Some(policy) if policy.is_usage() => Exit::Usage,
            _ => Exit::Error,
        },
    }
}

/// An error of the commands about pinned skills, with its exit status.
pub(super) fn skill_error(error: HostError) -> anyhow::Error {
    let exit = match &error {
        HostError::Pin(error) => match error.class() {
            Some(Class::Drift) => Exit::Drift,
            Some(Class::Trust) => Exit::Trust,
            Some(Class::Policy) => Exit::Denied,
            None => Exit::Error,
        },
        HostError::Untrusted(_) => Exit::Trust,
        HostError::CapabilityDenied(_) => Exit::Denied,
        HostError::Call(CallError::Skill { .. } | CallError::Budget(_) | CallError::Trap(_)) => {
            Exit::SkillFailed
        }
        _ => Exit::Error,
    };
    match exit {
        Exit::Error => error.into(),
        exit => anyhow::Error::new(error).context(WithExit(exit)),
    }
}

/// `--format` of commands whose answer a person or a program may read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// For people
    Text,
    /// For programs
    Json,
}

impl Format {
    /// Text on a terminal, JSON otherwise.
    pub(super) fn or_default(format: Option<Self>) -> Self {
        format.unwrap_or(if io::stdout().is_terminal() {
            Self::Text
        } else {
            Self::Json
        })
    }
}

/// How something went, in a text for people. The word says so itself; a terminal also shows it in a colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tone {
    Good,
    Doubtful,
    Bad,
}

impl Tone {
    /// The word, coloured if `stream` is a terminal that has colours. `NO_COLOR` turns them off, `CLICOLOR_FORCE` on.
    pub(super) fn paint(self, word: &str, stream: &impl RawStream) -> String {
        if AutoStream::choice(stream) == ColorChoice::Never {
            return word.to_owned();
        }
        let colour = match self {
            Self::Good => AnsiColor::Green,
            Self::Doubtful => AnsiColor::Yellow,
            Self::Bad => AnsiColor::Red,
        };
        let style = Style::new().bold().fg_color(Some(colour.into()));
        format!("{style}{word}{style:#}")
    }

    /// A line of `verify` and `lock`, which may begin with the word that says how it went.
    pub(super) fn paint_line(line: &str, stream: &impl RawStream) -> String {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let tone = match word {
            "OK" => Self::Good,
            "FAIL" | "error:" => Self::Bad,
            _ => return line.to_owned(),
        };
        format!("{} {rest}", tone.paint(word, stream))
    }
}

/// Writes a result to stdout.
pub(super) fn print(bytes: &[u8]) -> anyhow::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(bytes)?;
    stdout.flush()?;
    Ok(())
}

/// Writes a result and a line end to stdout.
pub(super) fn print_line(line: &str) -> anyhow::Result<()> {
    print(format!("{line}\n").as_bytes())
}

/// Writes JSON to stdout as it is, with a line end; as text it is laid out for reading.
pub(super) fn print_json(json: &[u8], format: Format) -> anyhow::Result<()> {
    match (format, serde_json::from_slice(json)) {
        (Format::Text, Ok(value)) => print(laid_out(&value).as_bytes()),
        _ => print(&[json, b"\n"].concat()),
    }
}

/// An error and its causes on one line; a cause that the text before it already tells is left out.
pub(super) fn in_one_line(error: &anyhow::Error) -> String {
    let mut line = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if line.is_empty() {
            line = cause;
        } else if !line.contains(&cause) {
            line = format!("{line}: {cause}");
        }
    }
    line
}

/// Writes why something failed to stderr.
pub(super) fn fail(message: &str) {
    let mut stderr = io::stderr();
    let prefix = Tone::Bad.paint("hydrant:", &stderr);
    let _ = writeln!(stderr, "{prefix} {}", visible_lines(message));
}

/// Writes a message to stderr, without what a terminal would obey. Where even that fails there is nobody to tell.
pub(super) fn tell(message: &str) {
    let _ = writeln!(io::stderr(), "{}", visible_lines(message));
}

/// The same of an error as JSON, for programs.
pub(super) fn tell_json(error: &serde_json::Value) {
    let _ = writeln!(io::stderr(), "{}", visible_json(&error.to_string()));
}

/// What is printed of a text of several lines.
pub(super) fn visible_lines(text: &str) -> String {
    let lines: Vec<String> = text.split('\n').map(visible).collect();
    lines.join("\n")
}

/// Standard error for the log, whose lines name what strangers wrote.
pub(super) struct Log;

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(bytes);
        io::stderr().write_all(visible_lines(&text).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}

/// The reader of our output went away, as `head` does: no error of ours.
pub(super) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .downcast_ref::<io::Error>()
        .is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}
