//! What a check found, as JSON or SARIF. The same findings give the same bytes.

use std::collections::BTreeSet;

use serde::Serialize;

use super::{Problem, reasons};
use crate::pins::report::sarif::{self, Finding};
use hydrant_base::pretty_json;

/// What came of checking documents.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// Documents that were hydrated.
    pub documents: usize,
    /// Tools that were not asked what they are for, because the policy or `--no-exec` says so.
    pub tools_not_asked: usize,
    /// Sorted by file and line.
    pub problems: Vec<Problem>,
}

/// The form of a report for programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReportFormat {
    /// One JSON object.
    Json,
    /// SARIF 2.1.0, for code scanning.
    Sarif,
}

#[derive(Serialize)]
struct Document<'r> {
    schema_version: &'static str,
    documents: usize,
    tools_not_asked: usize,
    problems: &'r [Problem],
}

impl Report {
    /// The report in this form, with a line end.
    #[must_use]
    pub fn document(&self, format: ReportFormat) -> Vec<u8> {
        let mut bytes = match format {
            ReportFormat::Json => pretty_json(&Document {
                schema_version: "1",
                documents: self.documents,
                tools_not_asked: self.tools_not_asked,
                problems: &self.problems,
            }),
            ReportFormat::Sarif => self.sarif(),
        };
        bytes.push(b'\n');
        bytes
    }

    fn sarif(&self) -> Vec<u8> {
        let found: BTreeSet<&str> = self.problems.iter().map(|one| one.code.as_str()).collect();
        let rules = reasons::CODES
            .into_iter()
            .filter(|(code, _)| found.contains(code));
        let results = self.problems.iter().map(|problem| {
            let about = problem.reference.as_deref();
            let reference = about.map_or(String::new(), |about| format!("{about}: "));
            sarif::result(&Finding {
                rule: &problem.code,
                message: &format!("{reference}{}; {}", problem.reason, problem.remedy),
                path: &problem.file,
                line: Some(problem.line),
                identity: &[&problem.code, &problem.file, about.unwrap_or_default()],
                properties: serde_json::json!({
                    "uri": problem.uri,
                    "reference": problem.reference,
                    "remedy": problem.remedy,
                }),
            })
        });
        sarif::log(rules, results)
    }
}
