//! What `verify` and `lock` share: where the root is, whom it is held against, and how the report leaves.

use std::cell::{Cell, RefCell};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::{Args, ValueEnum};
use hydrant::base::{Digest, write_replacing};
use hydrant::pins::report::{self, Report, Stream};
use hydrant::pins::{Anchor, ComponentProbe, MinSigners, PINS, Progress, Root, SKILLS};

use super::output::{Exit, Tone, print, print_line, visible_lines};
use super::status::StatusLine;

/// Mode of a report file.
const REPORT_FILE: u32 = 0o644;

/// What this binary brings: no file of a root may say any of it.
pub(super) struct BuiltIn<'a> {
    /// The digest of the ring that was compiled in.
    pub(super) keys_digest: Digest,
    /// The host world id.
    pub(super) world: String,
    /// Starts components; asked only by commands that need it.
    pub(super) probe: &'a dyn ComponentProbe,
}

/// Whom a root is held against, and where it is.
#[derive(Args)]
pub(super) struct RootOptions {
    /// Directory with `pins` and `skills` [default: the nearest one above with pins/skills.lock.json]
    #[arg(long, value_name = "DIR")]
    root: Option<PathBuf>,

    /// Digest of the key ring to trust [default: $HYDRANT_KEYS_DIGEST, else the ring of this binary]
    #[arg(long, value_name = "DIGEST")]
    keys_digest: Option<String>,

    /// Distinct keys that must have signed; 1 is for a root with one signer [default: 2, or $MIN_SIGNERS if that is more]
    #[arg(long, value_name = "N")]
    min_signers: Option<u32>,
}

/// Where the report goes, and as what.
#[derive(Args)]
pub(super) struct ReportOptions {
    /// Form of the report
    #[arg(long, value_enum, default_value_t = ReportFormat::Text)]
    format: ReportFormat,

    /// Write the report to this file, not to stdout
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
}

/// `--format` of `verify` and `lock`: text unless asked for, on a terminal or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum ReportFormat {
    /// For people
    Text,
    /// One JSON object
    Json,
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// JUnit XML, for continuous integration
    Junit,
}

impl From<ReportFormat> for report::Format {
    fn from(format: ReportFormat) -> Self {
        match format {
            ReportFormat::Text => Self::Text,
            ReportFormat::Json => Self::Json,
            ReportFormat::Sarif => Self::Sarif,
            ReportFormat::Junit => Self::Junit,
        }
    }
}

impl RootOptions {
    /// `--root`, else the nearest directory above with a lock.
    pub(super) fn directory(&self) -> anyhow::Result<PathBuf> {
        if let Some(root) = &self.root {
            return Ok(root.clone());
        }
        let here = current_directory()?;
        Root::find(&here).with_context(|| {
            let here = here.to_string_lossy().escape_default().to_string();
            format!("there is no pins/skills.lock.json in {here} or above; name a root with --root")
        })
    }

    /// `--root`, else the working directory: a first lock is not looked for above.
    pub(super) fn new_directory(&self) -> anyhow::Result<PathBuf> {
        self.root.clone().map_or_else(current_directory, Ok)
    }

    /// Returns what a root is verified against: the digest of the ring, by flag, variable or this program, the world, and how
    /// many signers are needed. Nothing that is read from the root is ever part of it.
    pub(super) fn anchor(&self, built_in: &BuiltIn<'_>) -> anyhow::Result<Anchor> {
        let environment = variable("HYDRANT_KEYS_DIGEST")?;
        Ok(Anchor {
            keys_digest: Anchor::keys_digest(
                self.keys_digest.as_deref(),
                environment.as_deref(),
                &built_in.keys_digest,
            )?,
            world: built_in.world.clone(),
            min_signers: MinSigners::from(self.min_signers, variable("MIN_SIGNERS")?.as_deref())?,
        })
    }

    /// Where the anchor comes from, for whoever reads the output.
    pub(super) fn anchor_source(&self) -> &'static str {
        if self.keys_digest.is_some() {
            "--keys-digest"
        } else if std::env::var_os("HYDRANT_KEYS_DIGEST").is_some() {
            "HYDRANT_KEYS_DIGEST"
        } else {
            "binary"
        }
    }
}

impl ReportOptions {
    /// The report that is about to be made, whose lines for the skills come as soon as each is done.
    ///
    /// # Errors
    /// The report would be written into what is verified.
    pub(super) fn begin(&self) -> anyhow::Result<ReportUnderWay<'_>> {
        if let Some(file) = &self.report {
            let place = std::path::absolute(file).context("--report")?;
            if let Some(root) = Root::find(&place) {
                refuse_in_root(file, &root)?;
            }
        }
        let status = StatusLine::new();
        status.begin("checking the files of the bundles");
        Ok(ReportUnderWay {
            options: self,
            status,
            written: Cell::new(0),
            failure: RefCell::new(None),
        })
    }

    /// Whether stdout, or the file, gets a document: then every line goes to stderr.
    fn is_document(&self) -> bool {
        self.format != ReportFormat::Text || self.report.is_some()
    }

    fn write_line(&self, text: &str, stream: Stream) -> anyhow::Result<()> {
        if self.is_document() || stream == Stream::Stderr {
            message(&Tone::paint_line(&visible_lines(text), &io::stderr()));
            Ok(())
        } else {
            print_line(&Tone::paint_line(text, &io::stdout()))
        }
    }
}

/// A report while it is made: shows each skill as it is done, and on a terminal what takes a while.
pub(super) struct ReportUnderWay<'a> {
    options: &'a ReportOptions,
    status: StatusLine,
    /// How many of the report's lines are written: it begins with those of the skills.
    written: Cell<usize>,
    /// Why a line could not be written.
    failure: RefCell<Option<anyhow::Error>>,
}

impl Progress for ReportUnderWay<'_> {
    fn starts(&self, skill: &str) {
        self.status
            .begin(&format!("starting {}", hydrant::base::escaped(skill)));
    }

    fn done(&self, skill: &str) {
        self.status.end();
        let line = report::line_of_entry(skill);
        let mut failure = self.failure.borrow_mut();
        if failure.is_none() {
            *failure = self.options.write_line(&line.text, line.stream).err();
            self.written.set(self.written.get().saturating_add(1));
        }
    }
}

impl ReportUnderWay<'_> {
    /// Writes the rest of the report.
    pub(super) fn finish(self, report: &Report) -> anyhow::Result<Exit> {
        self.status.end();
        if let Some(failure) = self.failure.into_inner() {
            return Err(failure);
        }
        for line in report.lines().iter().skip(self.written.get()) {
            self.options.write_line(&line.text, line.stream)?;
        }
        let bytes = report.document(self.options.format.into());
        match &self.options.report {
            Some(file) => write_replacing(file, &bytes, REPORT_FILE)?,
            None if self.options.is_document() => print(&bytes)?,
            None => {}
        }
        Ok(exit(report))
    }
}

/// Returns the exit status that a report asks for.
pub(super) fn exit(report: &Report) -> Exit {
    match report.exit_code() {
        0 => Exit::Done,
        2 => Exit::Drift,
        3 => Exit::Trust,
        4 => Exit::Denied,
        _ => Exit::Error,
    }
}

/// A variable of the environment; one that is no text is an error, never passed over.
pub(super) fn variable(name: &str) -> anyhow::Result<Option<String>> {
    match std::env::var(name) {
        Ok(value) => Ok(Some(value)),
        Err(std::env::VarError::NotPresent) => Ok(None),
        Err(std::env::VarError::NotUnicode(_)) => bail!("{name} is not UTF-8"),
    }
}

/// `HYDRANT_SIGNING_KEYS`; empty counts as none.
pub(super) fn signing_keys() -> Option<PathBuf> {
    std::env::var_os("HYDRANT_SIGNING_KEYS")
        .filter(|value| !value.is_empty())
        .map(|value| Path::new(&value).to_owned())
}

/// Refuses to write where what is verified lies: nothing there may change but by `lock`, `pack` and `sign`.
pub(super) fn refuse_in_root(path: &Path, root: &Path) -> anyhow::Result<()> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    // A folder that is not there yet is made later; it can be resolved as far as it is there.
    let Some(folder) = folder
        .ancestors()
        .find_map(|folder| folder.canonicalize().ok())
    else {
        return Ok(());
    };
    for below in [PINS, SKILLS] {
        let kept = root.join(below).canonicalize();
        if kept.is_ok_and(|kept| folder.starts_with(kept)) {
            bail!(
                "refusing to write {}: it lies in the pinned root",
                path.display()
            );
        }
    }
    Ok(())
}

fn current_directory() -> anyhow::Result<PathBuf> {
    std::env::current_dir().context("the working directory cannot be read")
}

/// Prints a line of a report on stderr. Where even that fails there is nobody to tell.
fn message(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
}
