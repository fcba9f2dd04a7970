//! SARIF 2.1.0, the form that code scanning services read: reports about pins, and what other commands find in files.

use std::collections::BTreeSet;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};

use super::super::finding;
use super::super::root::LOCK;
use super::Report;
use hydrant_base::{Digest, pretty_json};

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

/// One result of a log.
pub struct Finding<'f> {
    /// The rule that is not kept.
    pub rule: &'f str,
    /// What is wrong.
    pub message: &'f str,
    /// The file that it is in.
    pub path: &'f str,
    /// The line, counted from 1, if it is known.
    pub line: Option<usize>,
    /// What makes it the same finding in another run, whatever its message says.
    pub identity: &'f [&'f str],
    /// Further members of the result.
    pub properties: Value,
}

pub(super) fn document(report: &Report) -> Vec<u8> {
    let evaluated = report.findings.evaluated();
    let rules: BTreeSet<_> = evaluated.map(|(_, row)| (row.id(), row.about())).collect();
    log(
        rules.into_iter(),
        report.findings.found().iter().map(of_pins),
    )
}

/// A log with these rules, each with what it demands, and these results.
pub fn log<'r>(
    rules: impl Iterator<Item = (&'r str, &'r str)>,
    results: impl Iterator<Item = Value>,
) -> Vec<u8> {
    let rules = rules.map(|(id, text)| json!({"id": id, "shortDescription": {"text": text}}));
    pretty_json(&json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "hydrant",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules.collect::<Vec<_>>(),
            }},
            "results": results.collect::<Vec<_>>(),
        }],
    }))
}

/// The result of one finding.
#[must_use]
pub fn result(finding: &Finding<'_>) -> Value {
    let mut location = json!({"artifactLocation": {"uri": uri(finding.path)}});
    if let (Some(line), Some(members)) = (finding.line, location.as_object_mut()) {
        members.insert("region".to_owned(), json!({"startLine": line}));
    }
    let fingerprint = Digest::of(finding.identity.join("\n").as_bytes());
    json!({
        "ruleId": finding.rule,
        "level": "error",
        "message": {"text": finding.message},
        "locations": [{"physicalLocation": location}],
        "partialFingerprints": {"hydrant/v1": fingerprint.hex()},
        "properties": finding.properties,
    })
}

fn of_pins(found: &finding::Finding) -> Value {
    let text = |part: &'_ Option<String>| part.clone().unwrap_or_default();
    result(&Finding {
        rule: found.row.id(),
        message: &found.message,
        // What belongs to no other file stands at the lock.
        path: found.path.as_deref().unwrap_or(LOCK),
        line: None,
        identity: &[found.row.id(), &text(&found.skill), &text(&found.path)],
        properties: json!({
            "class": found.class().exit_code(),
            "skill": found.skill,
            "expected": found.expected,
            "actual": found.actual,
        }),
    })
}

/// What stands in a URI as it is: letters, digits, and these.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~')
    .remove(b'/');

/// A path as a URI reference: a file may have any name, a URI may not.
fn uri(path: &str) -> String {
    utf8_percent_encode(path, PLAIN).to_string()
}
