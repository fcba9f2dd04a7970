//! The public JSON Schema Test Suite (`tests/fixtures/json-schema-test-suite.md`): every case through [`run`], as a
//! request and an answer. What deviates is listed here, one by one, with its reason.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test"
)]

use std::collections::BTreeMap;
use std::io::Read;

use json_validate::run;
use serde_json::{Value, json};

fn archive() -> BTreeMap<String, Value> {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../tests/fixtures/json-schema-test-suite.tar.gz"
    );
    let file = std::fs::File::open(path).unwrap();
    let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(file));
    let mut files = BTreeMap::new();
    for entry in archive.entries().unwrap() {
        let mut entry = entry.unwrap();
        let path = entry.path().unwrap().to_string_lossy().into_owned();
        let Some(name) = path
            .strip_prefix("tests/")
            .filter(|name| name.ends_with(".json"))
        else {
            continue;
        };
        let name = name.to_owned();
        let mut text = String::new();
        entry.read_to_string(&mut text).unwrap();
        files.insert(name, serde_json::from_str(&text).unwrap());
    }
    files
}

fn draft_uri(file: &str) -> &'static str {
    match file.split_once('/').unwrap().0 {
        "draft4" => "http://json-schema.org/draft-04/schema#",
        "draft6" => "http://json-schema.org/draft-06/schema#",
        "draft7" => "http://json-schema.org/draft-07/schema#",
        "draft2019-09" => "https://json-schema.org/draft/2019-09/schema",
        "draft2020-12" => "https://json-schema.org/draft/2020-12/schema",
        other => panic!("{other}"),
    }
}

/// Cases, and those that refer to the suite's own server.
const RAN: usize = 7247;
const REMOTE: usize = 144;

/// Cases that deviate, by reason.
const COUNTS: [(&str, usize); 3] = [
    ("a metaschema of its own is not known", 14),
    ("content is an annotation", 4),
    ("idn formats are not checked", 108),
];

/// Formats that are annotations even with `assert_formats`: checking them needs the tables of IDNA.
const ANNOTATED: [&str; 2] = ["idn-email.json", "idn-hostname.json"];

/// Why a case does not answer as the suite says, if that is known.
fn known_deviation(file: &str) -> Option<&'static str> {
    let (_, file) = file.split_once('/').unwrap();
    if ANNOTATED
        .iter()
        .any(|name| file == format!("optional/format/{name}"))
    {
        return Some("idn formats are not checked");
    }
    match file {
        "optional/content.json" => Some("content is an annotation"),
        "vocabulary.json" | "optional/format-assertion.json" => {
            Some("a metaschema of its own is not known")
        }
        _ => None,
    }
}

/// What a case may end with, other than what the suite says.
enum Found {
    AsExpected,
    Remote(String),
    Deviating(String),
}

fn ask(file: &str, schema: &Value, test: &Value) -> Found {
    let request = json!({
        "json": test["data"].to_string(),
        "schema": schema,
        "assert_formats": file.contains("/optional/format/"),
    });
    let error = match run(request.to_string().as_bytes()) {
        Ok(answer) => {
            let answer: Value = serde_json::from_slice(&answer).unwrap();
            assert_eq!(answer["valid"] == true, answer["errors"] == json!([]));
            return if answer["valid"] == test["valid"] {
                Found::AsExpected
            } else {
                Found::Deviating(format!("valid: {}", answer["valid"]))
            };
        }
        Err(error) => error,
    };
    let details: Value = serde_json::from_str(error.details().unwrap_or("null")).unwrap();
    match (error.code(), details["reason"].as_str()) {
        ("unsupported", Some("remote_ref")) => {
            Found::Remote(details["ref"].as_str().unwrap().to_owned())
        }
        _ => Found::Deviating(error.to_string()),
    }
}

#[test]
fn every_case_of_the_public_suite() {
    let (mut ran, mut remote) = (0, 0);
    let mut deviating = Vec::new();
    let mut known: BTreeMap<&str, usize> = BTreeMap::new();
    for (file, groups) in archive() {
        for group in groups.as_array().unwrap() {
            let mut schema = group["schema"].clone();
            if let Some(members) = schema.as_object_mut() {
                // The suite gives the draft by the folder.
                members.entry("$schema").or_insert(json!(draft_uri(&file)));
            }
            for test in group["tests"].as_array().unwrap() {
                ran += 1;
                let names = [&group["description"], &test["description"]]
                    .map(|name| name.as_str().unwrap());
                match ask(&file, &schema, test) {
                    Found::AsExpected => {}
                    Found::Remote(uri) => {
                        // The suite's own server: nothing within a schema is refused.
                        assert!(
                            uri.starts_with("http://localhost:1234/"),
                            "{file} {names:?} {uri}"
                        );
                        remote += 1;
                    }
                    Found::Deviating(found) => match known_deviation(&file) {
                        Some(reason) => *known.entry(reason).or_default() += 1,
                        None => deviating.push(format!("{file} | {names:?} | {found}")),
                    },
                }
            }
        }
    }
    assert_eq!(deviating, Vec::<String>::new());
    let counts: Vec<(&str, usize)> = known.into_iter().collect();
    assert_eq!(counts, COUNTS);
    assert_eq!((ran, remote), (RAN, REMOTE));
}
