//! The report as one JSON object.

use serde::Serialize;

use super::super::finding::Finding;
use super::Report;
use hydrant_base::{Digest, pretty_json};

#[derive(Serialize)]
struct Document<'a> {
    schema_version: &'static str,
    tool: Tool,
    command: &'static str,
    lock_digest: Option<&'a Digest>,
    keys_digest: Option<&'a Digest>,
    entries: usize,
    exit_code: u8,
    findings: Vec<Row<'a>>,
}

#[derive(Serialize)]
struct Tool {
    name: &'static str,
    version: &'static str,
}

#[derive(Serialize)]
struct Row<'a> {
    row: &'static str,
    class: u8,
    skill: Option<&'a str>,
    path: Option<&'a str>,
    message: &'a str,
    expected: Option<&'a str>,
    actual: Option<&'a str>,
}

impl<'a> From<&'a Finding> for Row<'a> {
    fn from(finding: &'a Finding) -> Self {
        Self {
            row: finding.row.id(),
            class: finding.class().exit_code(),
            skill: finding.skill.as_deref(),
            path: finding.path.as_deref(),
            message: &finding.message,
            expected: finding.expected.as_deref(),
            actual: finding.actual.as_deref(),
        }
    }
}

pub(super) fn document(report: &Report) -> Vec<u8> {
    pretty_json(&Document {
        schema_version: "1",
        tool: Tool {
            name: "hydrant",
            version: env!("CARGO_PKG_VERSION"),
        },
        command: report.command.name(),
        lock_digest: report.lock_digest.as_ref(),
        keys_digest: report.keys_digest.as_ref(),
        entries: report.entries.len(),
        exit_code: report.exit_code(),
        findings: report.findings.found().iter().map(Row::from).collect(),
    })
}
