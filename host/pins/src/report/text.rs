//! The lines for people: results for stdout, findings and failures for stderr.
//!
//! Whatever a finding quotes, a line stays one line of plain ASCII: no name of a file can move the cursor of a terminal
//! or forge a second line.

use super::super::finding::Finding;
use super::Report;
use hydrant_base::escaped;

/// Where a line goes when the form is text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// A result.
    Stdout,
    /// A message.
    Stderr,
}

/// One line, without its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// Where it goes.
    pub stream: Stream,
    /// Printable ASCII.
    pub text: String,
}

/// The line of an entry, with which the lines of a report begin.
#[must_use]
pub fn line_of_entry(entry: &str) -> Line {
    Line {
        stream: Stream::Stdout,
        text: escaped(&format!("verifying {entry}")),
    }
}

/// `verifying` for each entry, the notes, then the findings and `FAIL`, or the summary.
pub(super) fn lines(report: &Report) -> Vec<Line> {
    let line = |stream, text: &str| Line {
        stream,
        text: escaped(text),
    };
    let verifying = report.entries.iter().map(|entry| line_of_entry(entry));
    let notes = report.notes.iter().map(|note| line(Stream::Stdout, note));
    let mut lines: Vec<_> = verifying.chain(notes).collect();
    let findings = report.findings.found().iter();
    lines.extend(findings.map(|finding| line(Stream::Stderr, &error(finding))));
    if report.findings.is_empty() {
        let summary = report.summary.iter();
        lines.extend(summary.map(|text| line(Stream::Stdout, text)));
    } else {
        let failed = format!(
            "FAIL {} findings={} exit={}",
            report.command.label(),
            report.findings.found().len(),
            report.exit_code()
        );
        lines.push(line(Stream::Stderr, &failed));
    }
    lines
}

/// All lines as one document, for `--report`.
pub(super) fn document(report: &Report) -> Vec<u8> {
    let lines = lines(report).into_iter();
    lines
        .flat_map(|line| [line.text, "\n".to_owned()])
        .collect::<String>()
        .into_bytes()
}

/// `error: <id>@<version> <row> <message>`, and behind it what a reader needs to act: both values and the file.
fn error(finding: &Finding) -> String {
    let mut text = format!("error: {finding}");
    for (name, value) in [("expected", &finding.expected), ("actual", &finding.actual)] {
        if let Some(value) = value.as_deref().filter(|value| !tells(finding, value)) {
            text.push_str(&format!(" {name}={value}"));
        }
    }
    if let Some(path) = finding.path.as_deref().filter(|path| !tells(finding, path)) {
        text.push_str(&format!(" ({path})"));
    }
    text
}

/// Whether the message says so already.
fn tells(finding: &Finding, value: &str) -> bool {
    finding.message.contains(value)
}
