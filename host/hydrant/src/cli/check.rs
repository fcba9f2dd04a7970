//! `hydrant check`: what is wrong with the agents and skills of a folder.

use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use clap::{Args, ValueEnum};
use hydrant::check::{self, Report, ReportFormat};

use super::hydrate::line_of;
use super::hydration::Source;
use super::layout::visible;
use super::output::{Exit, fail, in_one_line, print, print_line};
use super::typed::{documents_below, outside};

/// How long a check may take before a terminal is told how far it is.
const QUIET: Duration = Duration::from_millis(300);

/// Folders of a root by the kind of what they hold.
const PARTS: [&str; 3] = ["agents", "skills", "tools"];

/// Find what is wrong with agents and skills: each problem with its file, line, reason and remedy
///
/// Hydrates every .md file below the folders, one level deep: whether its front matter is valid, whether each skill and
/// tool that it declares is there and says what it is for, and whether each SKILL.md has a name and a description. A tool
/// that may not be started is no problem, but one that is not there is.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  hydrant check examples/os
  hydrant check examples/os/agents/release-captain.md --no-exec
  hydrant check os --format sarif > check.sarif

Exit status: 0 nothing is wrong, 1 there are problems, 2 usage, or it could not be checked.")]
pub(super) struct Arguments {
    /// Files and folders behind os://
    ///
    /// Without --root and a policy file, ./os is behind os:// if they lie there; else the folder that holds them all, or the
    /// one above a folder named agents, skills or tools.
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
    match find_problems(arguments) {
        Ok(exit) => Ok(exit),
        Err(error) if super::output::is_broken_pipe(&error) => Err(error),
        // 1 is for problems.
        Err(error) => {
            fail(&in_one_line(&error));
            Ok(Exit::Usage)
        }
    }
}

fn find_problems(mut arguments: Arguments) -> anyhow::Result<Exit> {
    let mut places = Vec::new();
    for path in &arguments.paths {
        let place = path.canonicalize();
        places.push(place.with_context(|| format!("{}", path.display()))?);
    }
    let root = root_of(&places);
    let is_plain = places.contains(&root) || usual_root().as_ref() == Some(&root);
    if arguments.source.default_root(&root)? && !is_plain {
        let root = visible(&root.display().to_string());
        fail(&format!(
            "os:// is {root} here; --root DIR names another directory"
        ));
    }
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
    let request = arguments.source.request(String::new());
    let progress = Progress::of(uris.len());
    let report = check::check(&host, &request, &uris, |done| progress.show(done))?;
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
/// folder that holds them all, or the one above where that is a folder of agents, skills or tools, or one in it.
fn root_of(places: &[PathBuf]) -> PathBuf {
    if let Some(usual) =
        usual_root().filter(|usual| places.iter().all(|place| place.starts_with(usual)))
    {
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
    let is_part = |folder: &&Path| {
        let name = folder.file_name().and_then(|name| name.to_str());
        name.is_some_and(|name| PARTS.contains(&name))
    };
    // No further up, and never the top: a tool that is asked in the jail sees all that is behind os://.
    let part = root.ancestors().take(2).find(is_part);
    let above = part
        .and_then(Path::parent)
        .filter(|above| above.parent().is_some());
    above.map_or_else(|| root.clone(), Path::to_owned)
}

/// `./os`, if there is one.
fn usual_root() -> Option<PathBuf> {
    Path::new("os").canonicalize().ok()
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
