//! The report as JUnit XML, the form that continuous integration shows as a table of tests.
//!
//! A test case is one row evaluated for one entry, or for the lock.

use std::io;

use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesText, Event};

use super::super::finding::{Finding, Row};
use super::Report;

/// Several findings of one test case stand in one `failure`: not every reader takes more than one.
struct Case<'a> {
    skill: Option<&'a str>,
    row: Row,
    findings: Vec<&'a Finding>,
}

pub(super) fn document(report: &Report) -> Vec<u8> {
    let found = report.findings.found();
    let cases: Vec<_> = report
        .findings
        .evaluated()
        .map(|(skill, row)| Case {
            skill,
            row,
            findings: found
                .iter()
                .filter(|finding| finding.skill.as_deref() == skill && finding.row == row)
                .collect(),
        })
        .collect();
    let mut writer = Writer::new_with_indent(Vec::new(), b' ', 2);
    // Writing to memory cannot fail.
    let _ = write(&mut writer, report, &cases);
    writer.into_inner()
}

fn write(writer: &mut Writer<Vec<u8>>, report: &Report, cases: &[Case<'_>]) -> io::Result<()> {
    let failures = cases.iter().filter(|case| !case.findings.is_empty());
    let suite = format!("hydrant {}", report.command.name());
    let tests = cases.len().to_string();
    let failures = failures.count().to_string();
    writer.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    writer
        .create_element("testsuites")
        .write_inner_content(|writer| {
            writer
                .create_element("testsuite")
                .with_attributes([
                    ("name", suite.as_str()),
                    ("tests", &tests),
                    ("failures", &failures),
                    ("errors", "0"),
                    ("skipped", "0"),
                ])
                .write_inner_content(|writer| {
                    cases.iter().try_for_each(|case| write_case(writer, case))
                })?;
            Ok(())
        })?;
    Ok(())
}

fn write_case(writer: &mut Writer<Vec<u8>>, case: &Case<'_>) -> io::Result<()> {
    let class_name = xml_text(case.skill.unwrap_or("lock"));
    let element = writer
        .create_element("testcase")
        .with_attributes([("classname", class_name.as_str()), ("name", case.row.id())]);
    if case.findings.is_empty() {
        element.write_empty()?;
        return Ok(());
    }
    let messages: Vec<_> = case
        .findings
        .iter()
        .map(|finding| finding.message.as_str())
        .collect();
    let message = xml_text(&messages.join("; "));
    let kind = format!("class-{}", case.row.class().exit_code());
    let details: Vec<_> = case
        .findings
        .iter()
        .map(|finding| details(finding))
        .collect();
    element.write_inner_content(|writer| {
        writer
            .create_element("failure")
            .with_attributes([("message", message.as_str()), ("type", &kind)])
            .write_text_content(BytesText::new(&xml_text(&details.join("\n"))))?;
        Ok(())
    })?;
    Ok(())
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

/// What XML 1.0 cannot hold in any form becomes U+FFFD. (Escaping is the writer's work.)
fn xml_text(text: &str) -> String {
    let allowed = |character: char| matches!(character, '\t' | '\n' | '\r' | '\u{20}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..);
    text.chars()
        .map(|character| {
            if allowed(character) {
                character
            } else {
                '\u{fffd}'
            }
        })
        .collect()
}
