//! What the reader answers to a corpus of policy documents: its message where it refuses one, and where it takes one, the
//! hash, the limits and the line that decides each of some questions.
//!
//! Each row of `documents.jsonl` is a document and the answer. A document is a `file` of this repository; or a `text`,
//! `times` as often; or, with `from` and `to`, that part of [`BASE`] replaced. After a change that is meant, run with
//! `UPDATE_DOCUMENTS=1` and read the difference.

#![allow(
    clippy::unwrap_used,
    reason = "a failed expectation is a failed test, in a fixture as in the test itself"
)]

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use hydrant_policy::{CliMount, Grant, Layers, Method, Policy, Question, VirtualPath, explain};
use hydrant_trust::Capability;
use serde_json::{Value, json};

/// A valid document with every member.
const BASE: &str = include_str!("base.yaml");

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn document(row: &Value) -> Vec<u8> {
    let text = |name: &str| row[name].as_str();
    if let Some(file) = text("file") {
        return fs::read(root().join(file)).unwrap();
    }
    if let Some(hex) = text("hex") {
        let bytes = hex.split(' ');
        return bytes
            .map(|byte| u8::from_str_radix(byte, 16).unwrap())
            .collect();
    }
    if let (Some(from), Some(to)) = (text("from"), text("to")) {
        assert!(BASE.contains(from), "{from}");
        return BASE.replacen(from, to, 1).into_bytes();
    }
    let times = row["times"].as_u64().unwrap_or(1);
    text("text")
        .unwrap()
        .repeat(usize::try_from(times).unwrap())
        .into_bytes()
}

fn questions() -> Vec<Question> {
    let path = |text| VirtualPath::parse(text).unwrap();
    let url = |method, url: &str| Question::Url {
        method,
        url: url.parse().unwrap(),
    };
    let program = |argv: &[&str]| Question::Program {
        argv: argv.iter().map(|&text| text.to_owned()).collect(),
        directory: path("/workspace"),
    };
    vec![
        Question::Path(path("/workspace/a")),
        Question::Path(path("/os/a")),
        Question::Path(path("/os/lib/a")),
        Question::Write(path("/workspace/a")),
        Question::Write(path("/other/a")),
        Question::Tool(path("/os/tools/a.py")),
        url(Method::Get, "https://docs.example/guide/a"),
        url(Method::Post, "https://docs.example/guide/a"),
        url(Method::Get, "https://docs.example.org/guide/a"),
        program(&["git", "status", "-z"]),
        program(&["git", "push"]),
    ]
}

/// The answer, with the folder of the policy and the line breaks taken out.
fn answer(folder: &Path, bytes: &[u8], with_os: bool) -> String {
    let file = folder.join("policy.yaml");
    fs::write(&file, bytes).unwrap();
    let said = |text: String| text.replace(folder.to_str().unwrap(), "DIR");
    let mut named = vec![CliMount::offered(VirtualPath::workspace(), folder)];
    if with_os {
        named.push(CliMount::offered(VirtualPath::os(), &folder.join("os")));
    }
    let policy = match Policy::load(&file, &named) {
        Ok(policy) => policy,
        Err(error) => return said(error.to_string()),
    };
    let mut answer = policy.hash().to_string();
    let limits = policy.limits();
    let limits = [
        limits.wall_ms,
        limits.fuel,
        limits.process_pids,
        limits.hostcalls,
    ];
    let tools = policy.tools();
    let roots = policy.tls_roots();
    let signers = policy.trusted_signers();
    write!(answer, " {signers:?} {tools:?} {roots:?} {limits:?}").unwrap();
    let layers = Layers::from(policy);
    let kinds = ["fs.read:/", "fs.write:/", "net.http:*", "exec.safe:*"];
    let declared = kinds.map(|text| {
        let (kind, value) = text.split_once(':').unwrap();
        Capability {
            kind: kind.to_owned(),
            value: value.to_owned(),
        }
    });
    let grant = Grant::new(layers, &declared);
    for question in questions() {
        let answered = explain(&grant, &question);
        let sign = if answered.allowed { '+' } else { '-' };
        let line = answered.decided_by.line.unwrap_or(0);
        write!(answer, " {sign}{line}").unwrap();
    }
    said(answer)
}

#[test]
fn each_document_is_read_or_refused_as_its_row_says() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path().canonicalize().unwrap();
    fs::create_dir(folder.join("os")).unwrap();
    let rows = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/documents.jsonl");
    let update = std::env::var_os("UPDATE_DOCUMENTS").is_some();
    let mut wrong = Vec::new();
    let mut updated = String::new();
    for line in fs::read_to_string(&rows).unwrap().lines() {
        let mut row: Value = serde_json::from_str(line).unwrap();
        let found = answer(&folder, &document(&row), !row["file"].is_null());
        if row["says"] != found.as_str() {
            wrong.push(format!("{row}\n    says now: {found}"));
        }
        row["says"] = json!(found);
        updated.push_str(&format!("{row}\n"));
    }
    if update {
        fs::write(&rows, updated).unwrap();
    } else {
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}
