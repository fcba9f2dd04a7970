//! `--format` and `--report`: shape, order, and the same bytes twice.

use serde_json::{Value, json};

use crate::canonical::{digest, hex, members};
use crate::program::Run;
use crate::root::{LOCK, RING, Root, echo};

/// Two entries with three findings: one of the lock, one each of the entries.
fn broken() -> Root {
    let root = Root::of(vec![echo("0.1.0"), echo("0.2.0")]);
    root.folder.write("skills/stray <&>", "");
    root.folder.write("skills/demo.echo/0.1.0/extra", "");
    root.folder
        .write("skills/demo.echo/0.2.0/public-keys.json", "{}");
    root
}

fn verify(root: &Root, format: &str) -> Run {
    root.run(&["verify", "--format", format])
}

#[test]
fn the_json_document() {
    let root = broken();
    let run = verify(&root, "json");
    assert_eq!(run.status, 3, "{run:?}");
    assert!(run.stdout.ends_with('\n'));
    let report = run.json();
    let names = [
        "schema_version",
        "tool",
        "command",
        "lock_digest",
        "keys_digest",
        "entries",
        "exit_code",
        "findings",
    ];
    assert_eq!(members(&report), names);
    assert_eq!(members(&report["tool"]), ["name", "version"]);
    assert_eq!(
        report["tool"],
        json!({"name": "hydrant", "version": env!("CARGO_PKG_VERSION")})
    );
    assert_eq!(
        (&report["schema_version"], &report["command"]),
        (&json!("1"), &json!("verify"))
    );
    assert_eq!(
        (&report["entries"], &report["exit_code"]),
        (&json!(2), &json!(3))
    );
    assert_eq!(report["lock_digest"], digest(root.folder.read(LOCK)));
    assert_eq!(report["keys_digest"], digest(root.folder.read(RING)));
    let findings = report["findings"].as_array().unwrap();
    let of = [
        "row", "class", "skill", "path", "message", "expected", "actual",
    ];
    let mut keys = Vec::new();
    for finding in findings {
        assert_eq!(members(finding), of);
        let text = |name: &str| finding[name].as_str().unwrap_or_default().to_owned();
        keys.push((text("skill"), text("row"), text("path")));
        for name in ["skill", "path", "expected", "actual"] {
            assert!(
                finding[name].is_null() || finding[name].is_string(),
                "{finding}"
            );
        }
    }
    let mut sorted = keys.clone();
    sorted.sort();
    assert_eq!(keys, sorted, "null first");
    let rows: Vec<&str> = keys.iter().map(|(_, row, _)| row.as_str()).collect();
    for row in ["TV-13", "TV-21", "TV-22"] {
        assert!(rows.contains(&row), "{rows:?}");
    }
}

/// Nothing is known of a root without a lock.
#[test]
fn unknown_digests_are_null() {
    let root = Root::new();
    std::fs::remove_file(root.folder.path(LOCK)).unwrap();
    let report = root.verify(&["--root", "."]).report;
    assert_eq!(
        (&report["lock_digest"], &report["entries"]),
        (&Value::Null, &json!(0))
    );
}

#[test]
fn the_sarif_document() {
    let root = broken();
    let sarif = verify(&root, "sarif").json();
    assert_eq!(sarif["version"], "2.1.0");
    let runs = sarif["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 1);
    let driver = &runs[0]["tool"]["driver"];
    assert_eq!(driver["name"], "hydrant");
    let rules: Vec<&str> = driver["rules"]
        .as_array()
        .unwrap()
        .iter()
        .map(|rule| rule["id"].as_str().unwrap())
        .collect();
    for row in ["TV-02", "TV-04", "TV-12", "TV-28"] {
        assert!(rules.contains(&row), "{rules:?}");
    }
    for row in ["TV-30", "TV-31", "TV-32", "TV-33", "TV-34"] {
        assert!(!rules.contains(&row), "{rules:?}");
    }
    let findings = verify(&root, "json").json()["findings"].clone();
    let results = runs[0]["results"].as_array().unwrap();
    assert_eq!(results.len(), findings.as_array().unwrap().len());
    for (result, finding) in results.iter().zip(findings.as_array().unwrap()) {
        assert_eq!(
            (&result["ruleId"], &result["level"]),
            (&finding["row"], &json!("error"))
        );
        assert_eq!(result["message"]["text"], finding["message"]);
        let location = &result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"];
        let path = finding["path"].as_str().unwrap_or(LOCK);
        let decoded = location
            .as_str()
            .unwrap()
            .replace("%20", " ")
            .replace("%3C", "<");
        let decoded = decoded.replace("%26", "&").replace("%3E", ">");
        assert_eq!(decoded, path);
        for name in ["class", "skill", "expected", "actual"] {
            assert_eq!(result["properties"][name], finding[name], "{name}");
        }
        let text = |name: &str| finding[name].as_str().unwrap_or_default();
        let print = format!("{}\n{}\n{}", text("row"), text("skill"), path);
        let null_path = format!("{}\n{}\n{}", text("row"), text("skill"), text("path"));
        let actual = result["partialFingerprints"]["hydrant/v1"]
            .as_str()
            .unwrap();
        assert!(
            [sha256(&print), sha256(&null_path)].contains(&actual.to_owned()),
            "{finding}"
        );
    }
}

fn sha256(text: &str) -> String {
    use sha2::{Digest, Sha256};
    hex(&Sha256::digest(text))
}

/// Elements of a well-formed document: name and attributes.
fn elements(xml: &str) -> Vec<(String, Vec<(String, String)>)> {
    use quick_xml::events::Event;
    let mut reader = quick_xml::Reader::from_str(xml);
    let mut elements = Vec::new();
    loop {
        match reader.read_event().expect("well-formed") {
            Event::Start(start) | Event::Empty(start) => {
                let name = start.name().as_ref().to_owned();
                let attributes = start.attributes().map(|attribute| {
                    let attribute = attribute.expect("well-formed attributes");
                    let key = attribute.key.as_ref().to_owned();
                    (key, attribute.value.into_owned())
                });
                elements.push((name, attributes.collect()));
            }
            Event::Eof => return elements,
            _ => {}
        }
    }
}

#[test]
fn the_junit_document() {
    let root = broken();
    // U+0001 is not allowed in XML 1.0.
    root.folder.write("skills/\u{1}", "");
    let run = verify(&root, "junit");
    assert!(!run.stdout.contains('\u{1}'), "{run:?}");
    let elements = elements(&run.stdout);
    assert_eq!(elements[0].0, "testsuites");
    let (name, attributes) = &elements[1];
    let value = |name: &str| {
        let found = attributes.iter().find(|(key, _)| key == name);
        found.map(|(_, value)| value.as_str()).unwrap_or_default()
    };
    assert_eq!(
        (name.as_str(), value("name")),
        ("testsuite", "hydrant verify")
    );
    assert_eq!((value("errors"), value("skipped")), ("0", "0"));
    let count = |name: &str| {
        elements
            .iter()
            .filter(|(element, _)| element == name)
            .count()
            .to_string()
    };
    assert_eq!(
        (value("tests"), value("failures")),
        (count("testcase").as_str(), count("failure").as_str())
    );
    let class = |wanted: &str| {
        let cases = elements.iter().filter(|(element, _)| element == "testcase");
        cases
            .flat_map(|(_, a)| a)
            .any(|(key, value)| key == "classname" && value == wanted)
    };
    assert!(class("lock") && class("demo.echo@0.1.0") && class("demo.echo@0.2.0"));
    let kinds: Vec<&str> = elements
        .iter()
        .filter(|(element, _)| element == "failure")
        .map(|(_, a)| a.iter().find(|(key, _)| key == "type").unwrap().1.as_str())
        .collect();
    assert!(
        kinds.contains(&"class-2") && kinds.contains(&"class-3"),
        "{kinds:?}"
    );
    assert!(run.stdout.contains("stray &lt;&amp;&gt;"), "{}", run.stdout);
}

/// One document and nothing else on stdout; the same tree gives the same bytes, also elsewhere.
#[test]
fn the_same_tree_gives_the_same_bytes() {
    let (root, twin) = (broken(), broken());
    for format in ["json", "sarif", "junit"] {
        let first = verify(&root, format);
        assert_eq!(verify(&root, format).stdout, first.stdout, "{format}");
        assert_eq!(
            verify(&twin, format).stdout,
            first.stdout,
            "{format}: another folder"
        );
        assert!(
            first.stderr.contains("verifying demo.echo@0.1.0"),
            "{first:?}"
        );
        assert!(
            first.stderr.contains("FAIL verify-pins findings="),
            "{first:?}"
        );
        assert!(
            !first
                .stdout
                .contains(root.folder.path("").to_str().unwrap())
        );
    }
    let good = verify(&Root::new(), "json");
    assert!(good.stderr.contains("OK verify-pins count=1"), "{good:?}");
    assert_eq!(good.json()["findings"], json!([]));
}

#[test]
fn a_report_file_takes_the_document() {
    let root = broken();
    let expected = verify(&root, "json").stdout;
    let run = root.run(&["verify", "--format", "json", "--report", "../report.json"]);
    assert_eq!(root.folder.text("../report.json"), expected);
    assert!(!run.stdout.contains("schema_version"), "{run:?}");
    assert_eq!(run.status, 3);
    assert_eq!(verify(&root, "xml").status, 1, "an unknown format");
}
