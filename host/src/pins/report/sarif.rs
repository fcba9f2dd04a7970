//! The report as SARIF 2.1.0 (TX-06), the form that code scanning services read.

use std::collections::BTreeSet;
use std::fmt::Write;

use serde_json::{Value, json};

use super::super::finding::Finding;
use super::{Report, rows};
use crate::trust::{Digest, pretty_json};

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

/// Where a finding stands that belongs to no other file.
const LOCK: &str = "pins/skills.lock.json";

pub(super) fn document(report: &Report) -> Vec<u8> {
    let evaluated: BTreeSet<_> = report
        .findings
        .evaluated()
        .map(|(_, row)| row.id())
        .collect();
    let rules: Vec<_> = evaluated
        .into_iter()
        .map(|row| json!({"id": row, "shortDescription": {"text": rows::description(row)}}))
        .collect();
    pretty_json(&json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "hydrant",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            }},
            "results": report.findings.found().iter().map(result).collect::<Vec<_>>(),
        }],
    }))
}

fn result(finding: &Finding) -> Value {
    json!({
        "ruleId": finding.row.id(),
        "level": "error",
        "message": {"text": finding.message},
        "locations": [{"physicalLocation": {"artifactLocation": {
            "uri": uri(finding.path.as_deref().unwrap_or(LOCK)),
        }}}],
        "partialFingerprints": {"hydrant/v1": fingerprint(finding)},
        "properties": {
            "class": finding.class().exit_code(),
            "skill": finding.skill,
            "expected": finding.expected,
            "actual": finding.actual,
        },
    })
}

/// The same for the same finding in every run, whatever its message says.
fn fingerprint(finding: &Finding) -> String {
    let text = |part: &Option<String>| part.clone().unwrap_or_default();
    let preimage = format!(
        "{}\n{}\n{}",
        finding.row,
        text(&finding.skill),
        text(&finding.path)
    );
    Digest::of(preimage.as_bytes()).hex().to_owned()
}

/// A root-relative path as a URI reference: a stray file may have any name, a URI may not.
fn uri(path: &str) -> String {
    let mut uri = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                uri.push(char::from(byte));
            }
            // Writing to a String cannot fail.
            other => drop(write!(uri, "%{other:02X}")),
        }
    }
    uri
}
