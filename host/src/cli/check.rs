//! `hydrant check`: what is wrong with the agents and skills of a folder.

use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use clap::{Args, ValueEnum};
use hydrant::check::{Checker, Report, ReportFormat};

use super::hydrate::line_of;
use super::hydration::Source;
use super::output::{Exit, fail, in_one_line, print, print_line};
use super::typed::{documents_below, outside};

/// How long a check may take before a terminal is told how far it is.
const QUIET: Duration = Duration::from_millis(300);

/// Find what is wrong with agents and skills: each problem with its file, line, reason and remedy
///
/// Hydrates every .md file below the folders, one level deep: whether its front matter is valid, whether each skill and
/// tool that it declares is there and says what it is for, and whether each SKILL.md has a name and a description. A tool
/// that may not be started is no problem, but one that is not there is.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  hydrant check examples/os
  hydrant check os/agents/release-captain.md os/skills --no-exec
  hydrant check os --format sarif > check.sarif

Exit status: 0 nothing is wrong, 1 there are problems, 2 usage, or it could not be checked.")]
pub(super) struct Arguments {
    /// Files and folders behind os://; without --root and a policy file, ./os or the one folder that holds them all is
    #[arg(value_name = "PATH", required = true)]
    paths: Vec<PathBuf>,

    /// Form of the result
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,

    #[command(flatten)]
    source: Source,
}

#[derive(Clone, Copy, ValueEnum)]
enum Format {
    /// For people: one line for each problem
    Text,
    /// One object
    Json,
    /// SARIF 2.1.0, for code scanning
    Sarif,
}

pub(super) fn run(arguments: Arguments) -> anyhow::Result<Exit> {
    match check(arguments) {
        Ok(exit) => Ok(exit),
        Err(error) if super::output::is_broken_pipe(&error) => Err(error),
        // 1 is for problems.
        Err(error) => {
            fail(&in_one_line(&error));
            Ok(Exit::Usage)
        }
    }
}

fn check(mut arguments: Arguments) -> anyhow::Result<Exit> {
    let mut places = Vec::new();
    for path in &arguments.paths {
        let place = path.canonicalize();
        places.push(place.with_context(|| format!("{}", path.display()))?);
    }
    arguments.source.root_or(|| root_of(&places))?;
    let host = arguments.source.host()?;
    let documents = host.documents()?;
    let mut uris = Vec::new();
    for path in &arguments.paths {
        let Some(uri) = documents.uri_of(path) else {
            bail!("{}", outside(&documents, path));
        };
        if path.is_dir() {
            uris.extend(documents_below(&documents, &path.to_string_lossy(), &uri)?);
        } else {
            uris.push(uri);
        }
    }
    uris.sort();
    uris.dedup();
    let checker = Checker::new(&host, &arguments.source.request(String::new()))?;
    let progress = Progress::of(uris.len());
    let report = checker.check(&uris, |done| progress.show(done))?;
    progress.end();
    match arguments.format {
        Format::Text => print_line(&text(&report))?,
        Format::Json => print(&report.document(ReportFormat::Json))?,
        Format::Sarif => print(&report.document(ReportFormat::Sarif))?,
    }
    Ok(if report.problems.is_empty() {
        Exit::Done
    } else {
        Exit::Error
    })
}

/// What is behind os:// for these files and folders where nobody says: `./os` if they all lie there, else the innermost
/// folder that holds them all.
fn root_of(places: &[PathBuf]) -> PathBuf {
    let usual = Path::new("os").canonicalize().ok();
    if let Some(usual) = usual.filter(|usual| places.iter().all(|place| place.starts_with(usual))) {
        return usual;
    }
    let folder = |place: &PathBuf| match place.parent() {
        Some(parent) if !place.is_dir() => parent.to_owned(),
        _ => place.clone(),
    };
    let mut folders = places.iter().map(folder);
    let mut root = folders.next().unwrap_or_default();
    for folder in folders {
        while !folder.starts_with(&root) && root.pop() {}
    }
    root
}

/// The problems and a last line that sums up.
fn text(report: &Report) -> String {
    let mut text = String::new();
    for problem in &report.problems {
        text.push_str(&line_of(problem));
        text.push('\n');
    }
    let counted = |count: usize, one: &str| match count {
        1 => format!("1 {one}"),
        count => format!("{count} {one}s"),
    };
    let documents = counted(report.documents, "document");
    match report.problems.len() {
        0 => {
            let _ = write!(text, "no problem in {documents}");
        }
        count => {
            let _ = write!(text, "{} in {documents}", counted(count, "problem"));
        }
    }
    if report.tools_not_asked > 0 {
        let tools = counted(report.tools_not_asked, "tool");
        let _ = write!(text, "; {tools} not asked what they are for");
    }
    text
}

/// How far a check is, on a terminal.
struct Progress {
    total: usize,
    started: Instant,
    is_shown: bool,
}

impl Progress {
    fn of(total: usize) -> Self {
        Self {
            total,
            started: Instant::now(),
            is_shown: io::stderr().is_terminal(),
        }
    }

    fn show(&self, done: usize) {
        if self.is_shown && self.started.elapsed() > QUIET {
            let _ = write!(io::stderr(), "\rchecked {done} of {}", self.total);
        }
    }

    /// Removes the line.
    fn end(&self) {
        if self.is_shown && self.started.elapsed() > QUIET {
            let _ = write!(io::stderr(), "\r\u{1b}[K");
        }
    }
}
