//! The report as one JSON object.

use serde_json::{Value, json};

use super::super::finding::Finding;
use super::Report;
use hydrant_base::pretty_json;

pub(super) fn document(report: &Report) -> Vec<u8> {
    let findings = report.findings.found().iter();
    pretty_json(&json!({
        "schema_version": "1",
        "tool": {"name": "hydrant", "version": env!("CARGO_PKG_VERSION")},
        "command": report.command.name(),
        "lock_digest": report.lock_digest,
        "keys_digest": report.keys_digest,
        "entries": report.entries.len(),
        "exit_code": report.exit_code(),
        "findings": findings.map(finding).collect::<Vec<_>>(),
    }))
}

fn finding(finding: &Finding) -> Value {
    json!({
        "row": finding.row.id(),
        "class": finding.class().exit_code(),
        "skill": finding.skill,
        "path": finding.path,
        "message": finding.message,
        "expected": finding.expected,
        "actual": finding.actual,
    })
}
