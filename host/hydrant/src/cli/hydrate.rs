//! `hydrant hydrate`: documents, hydrated to stdout or into files.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::builder::NonEmptyStringValueParser;
use clap::{Args, ValueEnum};
use hydrant::base::write_replacing;
use hydrant::check::{self, Checker, Problem};
use hydrant::engine::CallError;
use hydrant::{HostError, HydrateRequest};
use serde_json::Value;

use super::hydration::Hydration;
use super::inside::{Socket, Transport};
use super::layout::visible;
use super::output::{Exit, fail, print};
use super::prompt::usage_error;
use super::typed::Wanted;

/// Mode of a file that `--output` writes.
const OUTPUT_FILE: u32 = 0o644;

/// Turn an agent or skill into context: its content, and what each dependency is for
///
/// Reads a Markdown file with front matter, fetches the metadata of its skills, asks its tools for their
/// descriptions where the policy allows that, and prints the result. What cannot be read is shown as
/// `ERROR: <CODE>` in its place.
///
/// A path means a file or folder below os://, or one of this machine that lies there. Of a folder every .md file is
/// hydrated. Several documents are printed as one line of JSON each.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  hydrant hydrate os://agents/release-captain.md --root examples/os
  hydrant hydrate examples/os/agents/release-captain.md --root examples/os
  hydrant hydrate agents/release-captain.md --root examples/os --format link
  hydrant hydrate os://agents/release-captain.md --root examples/os --depth 3 --checksums
  hydrant hydrate examples/os/agents --root examples/os --output target/hydrated
  git diff --name-only -- 'os/*.md' | hydrant hydrate - --strict

Exit status: 0 hydrated, error markers included; 1 no result, or with --strict an error marker; 2 usage.")]
pub(super) struct Arguments {
    /// os://…, https://…, a file or folder; `-` reads a list of these from stdin, one a line
    #[arg(value_name = "URI", required = true, value_parser = NonEmptyStringValueParser::new())]
    uris: Vec<String>,

    /// Form of the result [default: text on a terminal, else json]
    #[arg(long, value_enum)]
    format: Option<Format>,

    /// Write to this file; of several documents, each to a file in this folder
    #[arg(long, value_name = "PATH")]
    output: Option<PathBuf>,

    /// Say on stderr what each error marker means, and exit with 1 if there is one
    #[arg(long)]
    strict: bool,

    #[command(flatten)]
    hydration: Hydration,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people
    Text,
    /// The payload of RFC 0020 v1.1.0, one line
    Json,
    /// The document, its lists replaced by hydrated objects
    Link,
    /// The document, its lists replaced by mappings keyed by URI
    V2,
}

impl From<Format> for hydrant::Format {
    fn from(format: Format) -> Self {
        match format {
            Format::Text | Format::Json => Self::Json,
            Format::Link => Self::Link,
            Format::V2 => Self::V2,
        }
    }
}

/// The bytes of a result, or why there is none for this document.
type Answer = Result<Vec<u8>, String>;

pub(super) fn run(arguments: Arguments, transport: &Transport) -> anyhow::Result<Exit> {
    let request = arguments.hydration.request(String::new());
    if let Some(socket) = transport.socket([arguments.hydration.given()])? {
        // The files that a jail sees are not those of the other end, so every path means one below `os://`.
        let wanted = Wanted::as_typed(&arguments.uris)?;
        let checker = || Ok(Checker::of_payloads(&request));
        return arguments.answer(&wanted, |request| hydrate_over(socket, request), checker);
    }
    let host = arguments.hydration.host()?;
    let wanted = Wanted::of(&host, &arguments.uris)?;
    let hydrate = |request: &HydrateRequest| -> anyhow::Result<Answer> {
        match host.hydrate(request) {
            Ok(result) => Ok(Ok(result)),
            // The skill's own message is `ERROR: <CODE>` and the URI.
            Err(HostError::Call(CallError::Skill { message, .. })) => Ok(Err(message)),
            Err(error) => Err(error.into()),
        }
    };
    let checker = || Ok(Checker::new(&host, &request)?);
    arguments.answer(&wanted, hydrate, checker)
}

fn hydrate_over(socket: &Socket, request: &HydrateRequest) -> anyhow::Result<Answer> {
    let mut input = serde_json::to_value(request)?;
    if let Some(members) = input.as_object_mut() {
        // The operator's alone. What was not asked for is as the operator said.
        members.remove("allow_http_loopback");
        members.retain(|_, value| *value != Value::Bool(false) && *value != 1);
    }
    Ok(match socket.try_call("content.hydrate", input)? {
        Ok(Value::String(document)) => Ok(document.into_bytes()),
        Ok(payload) => Ok(payload.to_string().into_bytes()),
        Err(refusal) => Err(refusal.message),
    })
}

impl Arguments {
    /// Hydrates each document, prints or writes the result, and says on stderr what could not be read.
    fn answer<'h>(
        &self,
        wanted: &Wanted,
        mut hydrate: impl FnMut(&HydrateRequest) -> anyhow::Result<Answer>,
        checker: impl Fn() -> anyhow::Result<Checker<'h>>,
    ) -> anyhow::Result<Exit> {
        let mut output = Output::of(self, wanted.are_several)?;
        let mut exit = Exit::Done;
        for uri in &wanted.uris {
            let request = HydrateRequest {
                format: output.format.into(),
                ..self.hydration.request(uri.clone())
            };
            let result = match hydrate(&request)? {
                Ok(result) => result,
                Err(message) => {
                    fail(&visible(&message));
                    exit = Exit::Error;
                    continue;
                }
            };
            let is_payload = request.format == hydrant::Format::Json;
            if self.strict && !is_payload {
                let request = HydrateRequest {
                    format: hydrant::Format::Json,
                    ..request
                };
                if let Ok(payload) = hydrate(&request)?
                    && self.tell(uri, &payload, &checker()?)
                {
                    exit = Exit::Error;
                }
            } else if is_payload && (self.strict || check::is_failure(&result)) {
                let has_markers = self.tell(uri, &result, &checker()?);
                if self.strict && has_markers {
                    exit = Exit::Error;
                }
            }
            output.write(uri, result)?;
        }
        Ok(exit)
    }

    /// Says what markers mean; of those of dependencies only if asked for. Whether there are any.
    fn tell(&self, uri: &str, payload: &[u8], checker: &Checker<'_>) -> bool {
        let problems = checker.markers(uri, payload);
        for problem in &problems {
            if self.strict || problem.reference.is_none() {
                fail(&line_of(problem));
            }
        }
        !problems.is_empty()
    }
}

/// A problem on one line: where, what, and what to do.
pub(super) fn line_of(problem: &Problem) -> String {
    let mut text = problem.file.clone();
    // What is no file of this machine has no lines.
    if problem.file != problem.uri {
        let _ = write!(text, ":{}", problem.line);
    }
    if let Some(reference) = &problem.reference {
        let _ = write!(text, ": {reference}");
    }
    let Problem {
        code,
        reason,
        remedy,
        ..
    } = problem;
    let _ = write!(text, ": {code}: {reason}; {remedy}");
    visible(&text)
}

/// Where results go, and in which form.
struct Output {
    format: Format,
    to: Destination,
}

enum Destination {
    Stdout {
        is_first: bool,
    },
    File(PathBuf),
    /// With the files that were written.
    Folder(PathBuf, BTreeSet<PathBuf>),
}

impl Output {
    fn of(arguments: &Arguments, are_several: bool) -> anyhow::Result<Self> {
        let to = match &arguments.output {
            Some(path) if are_several || path.is_dir() => {
                Destination::Folder(path.clone(), BTreeSet::new())
            }
            Some(path) => Destination::File(path.clone()),
            None => Destination::Stdout { is_first: true },
        };
        let is_terminal = matches!(to, Destination::Stdout { .. }) && io::stdout().is_terminal();
        let format = arguments.format.unwrap_or(if is_terminal {
            Format::Text
        } else {
            Format::Json
        });
        let runs_together = matches!(format, Format::Link | Format::V2) && are_several;
        if runs_together && arguments.output.is_none() {
            return Err(usage_error(
                "several documents in this form would run together; --output DIR writes each to a file",
            ));
        }
        Ok(Self { format, to })
    }

    fn write(&mut self, uri: &str, result: Vec<u8>) -> anyhow::Result<()> {
        let mut bytes = match self.format {
            Format::Text => readable(uri, &result)?.into_bytes(),
            _ => result,
        };
        if self.format == Format::Json {
            bytes.push(b'\n');
        }
        match &mut self.to {
            Destination::Stdout { is_first } => {
                if self.format == Format::Text && !*is_first {
                    print(b"\n")?;
                }
                *is_first = false;
                print(&bytes)
            }
            Destination::File(file) => Ok(write_replacing(file, &bytes, OUTPUT_FILE)?),
            Destination::Folder(folder, written) => {
                let file = folder.join(file_name(uri, self.format));
                if !written.insert(file.clone()) {
                    bail!("two documents would be written to {}", file.display());
                }
                let parent = file.parent().unwrap_or(Path::new(""));
                std::fs::create_dir_all(parent).with_context(|| format!("{}", parent.display()))?;
                Ok(write_replacing(&file, &bytes, OUTPUT_FILE)?)
            }
        }
    }
}

/// The path of a URI as one below a folder, with the ending of the form. No segment of it leads anywhere else.
fn file_name(uri: &str, format: Format) -> PathBuf {
    let path = ["os://", "https://", "http://"]
        .iter()
        .find_map(|scheme| uri.strip_prefix(scheme))
        .unwrap_or(uri);
    let segments = path
        .split(['/', '\\', '\0'])
        .filter(|segment| !segment.is_empty());
    let segments: Vec<&str> = segments
        .map(|segment| match segment {
            "." => "%2E",
            ".." => "%2E%2E",
            segment => segment,
        })
        .collect();
    let mut path = segments.join("/");
    if path.is_empty() {
        path.push_str("document");
    }
    path.push_str(match format {
        Format::Text => ".txt",
        Format::Json => ".json",
        Format::Link | Format::V2 => "",
    });
    path.into()
}

/// A payload for people. What a terminal would obey is escaped.
fn readable(uri: &str, payload: &[u8]) -> anyhow::Result<String> {
    let payload: Value = serde_json::from_slice(payload)?;
    let metadata = payload.get("metadata").unwrap_or(&Value::Null);
    let mut text = String::new();
    let shown = member(metadata, "uri");
    if shown.starts_with("ERROR: ") {
        let _ = writeln!(text, "{}  {}", visible(uri), visible(shown));
    } else {
        let _ = writeln!(text, "{}", visible(shown));
    }
    if let Some(checksum) = metadata.get("checksum").and_then(Value::as_str) {
        let _ = writeln!(text, "{}", visible(checksum));
    }
    let dependencies = metadata.get("dependencies").unwrap_or(&Value::Null);
    for (title, key) in [("Skills", "skills"), ("Tools", "tools")] {
        let entries = items(dependencies, key);
        if !entries.is_empty() {
            let _ = writeln!(text, "\n{title}");
        }
        for entry in entries {
            write_entry(&mut text, entry);
        }
    }
    let cycles = items(metadata, "cycles");
    if !cycles.is_empty() {
        text.push_str("\nCycles\n");
    }
    for cycle in cycles {
        let uris = cycle.as_array().map(Vec::as_slice).unwrap_or_default();
        let _ = writeln!(text, "  {}", listed(uris));
    }
    let content = member(&payload, "content");
    if !content.is_empty() {
        text.push('\n');
    }
    for line in content.lines() {
        let _ = writeln!(text, "{}", visible(line));
    }
    Ok(text)
}

/// An entry of a list: its name and URI, below it what it is for and what it declares itself.
fn write_entry(text: &mut String, entry: &Value) {
    let uri = visible(member(entry, "uri"));
    match entry.get("name").and_then(Value::as_str) {
        Some(name) => {
            let _ = writeln!(text, "  {}  {uri}", visible(&name.replace('\n', " ")));
        }
        None => {
            let _ = writeln!(text, "  {uri}");
        }
    }
    for line in member(entry, "description").lines() {
        let _ = writeln!(text, "    {}", visible(line));
    }
    for key in ["skills", "tools"] {
        let declared = items(entry, key);
        if !declared.is_empty() {
            let _ = writeln!(text, "    {key}: {}", listed(declared));
        }
    }
    if let Some(checksum) = entry.get("checksum").and_then(Value::as_str) {
        let _ = writeln!(text, "    {}", visible(checksum));
    }
}

fn listed(texts: &[Value]) -> String {
    let texts: Vec<String> = texts
        .iter()
        .filter_map(Value::as_str)
        .map(visible)
        .collect();
    texts.join(", ")
}

fn member<'v>(value: &'v Value, name: &str) -> &'v str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn items<'v>(value: &'v Value, name: &str) -> &'v [Value] {
    let items = value.get(name).and_then(Value::as_array);
    items.map(Vec::as_slice).unwrap_or_default()
}
