//! The report as JUnit XML, the form that continuous integration shows as a table of tests.
//!
//! A test case is one row evaluated for one entry, or for the lock.

use std::borrow::Cow;

use quick_xml::escape::escape;

use super::super::finding::{Finding, Row};
use super::Report;

pub(super) fn document(report: &Report) -> Vec<u8> {
    let found = report.findings.found();
    let (mut cases, mut tests, mut failures) = (String::new(), 0_usize, 0_usize);
    for (skill, row) in report.findings.evaluated() {
        let of_case = |finding: &&Finding| finding.skill.as_deref() == skill && finding.row == row;
        let findings: Vec<_> = found.iter().filter(of_case).collect();
        tests = tests.saturating_add(1);
        failures = failures.saturating_add(usize::from(!findings.is_empty()));
        cases.push_str(&case(skill, row, &findings));
    }
    let suite = format!("hydrant {}", report.command.name());
    format!(
        r#"<?xml version="1.0" encoding="UTF-8"?>
<testsuites>
  <testsuite name="{}" tests="{tests}" failures="{failures}" errors="0" skipped="0">{cases}
  </testsuite>
</testsuites>"#,
        escape(suite)
    )
    .into_bytes()
}

/// Several findings of one test case stand in one `failure`: not every reader takes more than one.
fn case(skill: Option<&str>, row: Row, findings: &[&Finding]) -> String {
    let case = format!(
        r#"
    <testcase classname="{}" name="{row}""#,
        xml(skill.unwrap_or("lock"))
    );
    if findings.is_empty() {
        return case + "/>";
    }
    let messages: Vec<_> = findings
        .iter()
        .map(|found| found.message.as_str())
        .collect();
    let details: Vec<_> = findings.iter().map(|found| details(found)).collect();
    format!(
        r#"{case}>
      <failure message="{}" type="class-{}">{}</failure>
    </testcase>"#,
        xml(&messages.join("; ")),
        row.class().exit_code(),
        xml(&details.join("\n"))
    )
}

fn details(finding: &Finding) -> String {
    let parts = [
        ("path", &finding.path),
        ("expected", &finding.expected),
        ("actual", &finding.actual),
    ];
    parts
        .into_iter()
        .filter_map(|(name, value)| Some(format!("\n{name}: {}", value.as_deref()?)))
        .fold(finding.message.clone(), |text, part| text + &part)
}

/// Text as XML; what XML 1.0 cannot hold in any form becomes U+FFFD.
fn xml(text: &str) -> Cow<'static, str> {
    let forbidden = |character: char| !matches!(character, '\t' | '\n' | '\r' | '\u{20}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..);
    escape(text.replace(forbidden, "\u{fffd}"))
}
