use quick_xml::events::Event;
use serde_json::{Value, json};

use super::{Command, Format, Line, Report, Stream};
use crate::finding::{Finding, Findings, Row};
use hydrant_base::Digest;

const SKILL: &str = "a.skill@0.1.0";

fn artifact_mismatch() -> Finding {
    Finding::new(Row::TV_14, "artifact mismatch")
        .of(Some(SKILL))
        .at("skills/a.skill/0.1.0/manifest.json")
        .because("sha256:aa", "sha256:bb")
}

fn findings(found: &[Finding]) -> Findings {
    let mut findings = Findings::default();
    findings.evaluate(Row::TV_02, None);
    findings.evaluate(Row::TV_14, Some(SKILL));
    findings.evaluate(Row::TV_15, Some(SKILL));
    for finding in found {
        findings.report(finding.clone());
    }
    findings
}

fn report(found: &[Finding]) -> Report {
    let mut report = Report::new(Command::Verify, findings(found));
    report.entries.push(SKILL.to_owned());
    report.summary.push("OK verify-pins count=1".to_owned());
    report
}

fn text(report: &Report, format: Format) -> String {
    String::from_utf8(report.document(format)).unwrap()
}

fn value(report: &Report, format: Format) -> Value {
    serde_json::from_str(&text(report, format)).unwrap()
}

fn line(stream: Stream, text: &str) -> Line {
    Line {
        stream,
        text: text.to_owned(),
    }
}

#[test]
fn a_good_root_ends_with_ok_on_stdout() {
    let expected = [
        line(Stream::Stdout, "verifying a.skill@0.1.0"),
        line(Stream::Stdout, "OK verify-pins count=1"),
    ];
    assert_eq!(report(&[]).lines(), expected);
}

#[test]
fn each_finding_is_a_line_on_stderr_and_fail_is_the_last() {
    let unsigned = Finding::new(Row::TV_04, "pins/skills.lock.json.sig does not exist")
        .at("pins/skills.lock.json.sig");
    let expected = [
        line(Stream::Stdout, "verifying a.skill@0.1.0"),
        line(
            Stream::Stderr,
            "error: lock TV-04 pins/skills.lock.json.sig does not exist",
        ),
        line(
            Stream::Stderr,
            "error: a.skill@0.1.0 TV-14 artifact mismatch expected=sha256:aa actual=sha256:bb \
             (skills/a.skill/0.1.0/manifest.json)",
        ),
        line(Stream::Stderr, "FAIL verify-pins findings=2 exit=3"),
    ];
    assert_eq!(report(&[artifact_mismatch(), unsigned]).lines(), expected);
}

#[test]
fn what_the_message_says_is_not_said_twice() {
    let told = Finding::new(
        Row::TV_20,
        "bundle-meta.json: expected sha256:aa, got sha256:bb",
    )
    .of(Some(SKILL))
    .at("bundle-meta.json")
    .because("sha256:aa", "sha256:bb");
    let expected = format!("error: {told}");
    assert_eq!(report(&[told]).lines()[1].text, expected);
}

#[test]
fn no_entry_and_no_note_can_forge_a_line() {
    let mut report = report(&[]);
    report.entries[0].push_str("\nOK");
    report.notes.push("x\r\u{1b}[2K".to_owned());
    for line in report.lines() {
        let printable = line.text.bytes().all(|byte| matches!(byte, b' '..=b'~'));
        assert!(printable, "{line:?}");
    }
}

#[test]
fn the_json_document_is_exactly_this() {
    let mut report = report(&[artifact_mismatch()]);
    report.lock_digest = Some(Digest::of(b"lock"));
    let expected = json!({
        "schema_version": "1",
        "tool": {"name": "hydrant", "version": env!("CARGO_PKG_VERSION")},
        "command": "verify",
        "lock_digest": Digest::of(b"lock"),
        "keys_digest": null,
        "entries": 1,
        "exit_code": 2,
        "findings": [{
            "row": "TV-14", "class": 2, "skill": SKILL, "path": "skills/a.skill/0.1.0/manifest.json",
            "message": "artifact mismatch", "expected": "sha256:aa", "actual": "sha256:bb",
        }],
    });
    let expected = serde_json::to_string_pretty(&expected).unwrap() + "\n";
    assert_eq!(text(&report, Format::Json), expected);
}

#[test]
fn a_finding_without_skill_path_and_values_has_nulls() {
    let document = value(&report(&[Finding::new(Row::TV_02, "gone")]), Format::Json);
    let finding = json!({
        "row": "TV-02", "class": 3, "skill": null, "path": null, "message": "gone", "expected": null, "actual": null,
    });
    assert_eq!(document["findings"], json!([finding]));
    assert_eq!(document["exit_code"], 3);
}

/// Also the order in which the checks ran does not show.
#[test]
fn the_same_findings_give_the_same_bytes_with_one_line_end() {
    let other = Finding::new(Row::TV_21, "extra file").of(Some(SKILL));
    let (one, two) = (
        report(&[artifact_mismatch(), other.clone()]),
        report(&[other, artifact_mismatch()]),
    );
    for format in [Format::Text, Format::Json, Format::Sarif, Format::Junit] {
        let bytes = one.document(format);
        assert_eq!(bytes, two.document(format), "{format:?}");
        assert!(bytes.ends_with(b"\n") && !bytes.ends_with(b"\n\n"));
    }
}

#[test]
fn sarif_lists_all_evaluated_rows_and_one_result_for_each_finding() {
    let document = value(&report(&[artifact_mismatch()]), Format::Sarif);
    assert_eq!(document["version"], "2.1.0");
    assert!(
        document["$schema"]
            .as_str()
            .unwrap()
            .contains("sarif-2.1.0")
    );
    let run = &document["runs"][0];
    assert_eq!(document["runs"].as_array().unwrap().len(), 1);
    assert_eq!(run["tool"]["driver"]["name"], "hydrant");
    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    let ids: Vec<_> = rules.iter().map(|rule| &rule["id"]).collect();
    assert_eq!(ids, ["TV-02", "TV-14", "TV-15"]);
    for rule in rules {
        assert!(
            !rule["shortDescription"]["text"]
                .as_str()
                .unwrap()
                .is_empty()
        );
    }
    // printf 'TV-14\na.skill@0.1.0\nskills/a.skill/0.1.0/manifest.json' | sha256sum
    let fingerprint = "2798c20f9fd336576efc36dc30c8fdc3372c253defe789c477ae6496c84e64cf";
    let expected = json!([{
        "ruleId": "TV-14",
        "level": "error",
        "message": {"text": "artifact mismatch"},
        "locations": [{"physicalLocation": {"artifactLocation": {"uri": "skills/a.skill/0.1.0/manifest.json"}}}],
        "partialFingerprints": {"hydrant/v1": fingerprint},
        "properties": {"class": 2, "skill": SKILL, "expected": "sha256:aa", "actual": "sha256:bb"},
    }]);
    assert_eq!(run["results"], expected);
}

#[test]
fn a_good_root_has_rules_and_no_results() {
    let document = value(&report(&[]), Format::Sarif);
    assert_eq!(document["runs"][0]["results"], json!([]));
}

#[test]
fn a_finding_without_path_stands_at_the_lock_and_any_name_becomes_a_uri() {
    let uri = |finding: Finding| {
        let document = value(&report(&[finding]), Format::Sarif);
        let location = &document["runs"][0]["results"][0]["locations"][0];
        location["physicalLocation"]["artifactLocation"]["uri"].clone()
    };
    assert_eq!(uri(Finding::new(Row::TV_06, "x")), "pins/skills.lock.json");
    let mut stray = Finding::new(Row::TV_22, "stray entry");
    stray.path = Some("skills/a b%#?\u{e9}:".to_owned());
    assert_eq!(uri(stray), "skills/a%20b%25%23%3F%C3%A9%3A");
}

#[test]
fn one_test_case_for_each_evaluated_row_and_a_failure_inside_those_that_failed() {
    let again = Finding::new(Row::TV_14, "again <&\"'>").of(Some(SKILL));
    let document = text(&report(&[artifact_mismatch(), again]), Format::Junit);
    let expected = r#"<?xml version="1.0" encoding="UTF-8"?>
<testsuites>
  <testsuite name="hydrant verify" tests="3" failures="1" errors="0" skipped="0">
    <testcase classname="lock" name="TV-02"/>
    <testcase classname="a.skill@0.1.0" name="TV-14">
      <failure message="again &lt;&amp;&quot;&apos;&gt;; artifact mismatch" type="class-2">again &lt;&amp;&quot;&apos;&gt;
artifact mismatch
path: skills/a.skill/0.1.0/manifest.json
expected: sha256:aa
actual: sha256:bb</failure>
    </testcase>
    <testcase classname="a.skill@0.1.0" name="TV-15"/>
  </testsuite>
</testsuites>
"#;
    assert_eq!(document, expected);
}

#[test]
fn characters_that_xml_cannot_hold_are_replaced() {
    let mut finding = Finding::new(Row::TV_14, "");
    finding.skill = Some("a\u{1}@1".to_owned());
    finding.message = "\u{0}\u{b}\u{1f}\u{fffe}\u{ffff} \t\u{85}\u{1f600}]]>".to_owned();
    let document = text(&report(&[finding]), Format::Junit);
    let replaced = "\u{fffd}\u{fffd}\u{fffd}\u{fffd}\u{fffd} \t\u{85}\u{1f600}]]&gt;";
    assert!(document.contains(replaced), "{document}");
    assert!(document.contains("classname=\"a\u{fffd}@1\""), "{document}");
    let mut reader = quick_xml::Reader::from_str(&document);
    let mut failures = 0;
    loop {
        match reader.read_event().unwrap() {
            Event::Start(element) if element.name().as_ref() == "failure" => failures += 1,
            Event::Eof => break,
            _ => {}
        }
    }
    assert_eq!(failures, 1);
}

#[test]
fn the_suite_of_another_command_has_its_name() {
    let report = Report::new(Command::LockCheck, findings(&[]));
    let document = text(&report, Format::Junit);
    assert!(
        document.contains("name=\"hydrant lock --check\""),
        "{document}"
    );
}

/// The class decides, not the order.
#[test]
fn the_exit_code_of_a_report_is_that_of_its_findings() {
    let widening = Finding::new(Row::TW_02, "wider");
    assert_eq!(report(&[]).exit_code(), 0);
    assert_eq!(report(&[artifact_mismatch()]).exit_code(), 2);
    assert_eq!(report(&[artifact_mismatch(), widening]).exit_code(), 4);
}
