//! Black-box tests of `hydrant graph`: temporary OS roots, the binary, and its answer in each form.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a failed expectation is a failed test, in a fixture as in the test itself"
)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    fn root(&self) -> PathBuf {
        self.folder.path().join("os")
    }

    fn with(self, path: &str, text: &str) -> Self {
        let file = self.root().join(path);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
        self
    }

    fn graph(&self, arguments: &[&str]) -> Output {
        self.run(&self.root(), arguments)
    }

    fn run(&self, root: &Path, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_hydrant"))
            .args(["graph", "--no-exec", "--root"])
            .arg(root)
            .args(arguments)
            .env_clear()
            .env("HYDRANT_HOME", self.folder.path().join("home"))
            .env("XDG_CACHE_HOME", cache())
            .current_dir(self.folder.path())
            .output()
            .unwrap()
    }

    fn json(&self, arguments: &[&str]) -> Value {
        let output = self.graph(&[arguments, &["--format", "json"]].concat());
        assert!(output.status.success(), "{output:?}");
        serde_json::from_slice(&output.stdout).unwrap()
    }
}

/// One for all tests of this build: compiling the component takes longer than all else.
fn cache() -> PathBuf {
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("graph-cache");
    std::fs::create_dir_all(&cache).unwrap();
    cache
}

fn ring() -> Place {
    Place::new()
        .with(
            "a.md",
            "---\nskills: [b.md, gone.md]\ntools: [tools/t.sh]\n---\nA",
        )
        .with(
            "b.md",
            "---\nname: B\ndescription: Second\nskills: [sub/c.md]\n---\n",
        )
        .with(
            "sub/c.md",
            "---\nname: C\ndescription: Third\nskills: [../a.md]\ntools: [/tools/t.sh]\n---\n",
        )
        .with("tools/t.sh", "#!/bin/sh\necho no\n")
}

fn uris(graph: &Value) -> Vec<&str> {
    let nodes = graph["nodes"].as_array().unwrap();
    nodes
        .iter()
        .map(|node| node["uri"].as_str().unwrap())
        .collect()
}

#[test]
fn references_lead_where_the_declaring_document_says() {
    let graph = ring().json(&["os://a.md"]);
    assert_eq!(
        uris(&graph),
        [
            "os://a.md",
            "os://b.md",
            "os://gone.md",
            "os://tools/t.sh",
            "os://sub/c.md"
        ]
    );
    let edges: Vec<String> = graph["edges"]
        .as_array()
        .unwrap()
        .iter()
        .map(|edge| {
            format!(
                "{}>{}",
                edge["from"].as_str().unwrap(),
                edge["to"].as_str().unwrap()
            )
        })
        .collect();
    assert_eq!(
        edges,
        ["n0>n1", "n0>n2", "n0>n3", "n1>n4", "n4>n0", "n4>n3"]
    );
    assert_eq!(graph["cycles"], serde_json::json!([["n0", "n1", "n4"]]));
    assert_eq!(
        graph["nodes"][2]["errors"],
        serde_json::json!(["FETCH_FAILED"])
    );
    assert_eq!(graph["nodes"][3]["kind"], "tool");
    assert_eq!(
        graph["nodes"][3]["errors"],
        serde_json::json!(["EXECUTION_SKIPPED"])
    );
    assert_eq!(graph["nodes"][4]["name"], "C");
}

#[test]
fn depth_says_how_far() {
    let graph = ring().json(&["a.md", "--depth", "1"]);
    assert_eq!(uris(&graph).len(), 4);
    assert_eq!(graph["cycles"], serde_json::json!([]));
    assert_eq!(graph["depth"], 1);
    let output = ring().graph(&["a.md", "--depth", "17"]);
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn what_cannot_be_read_is_a_node_with_its_error() {
    let graph = Place::new()
        .with("x", "")
        .json(&["os://nope.md", "--checksums"]);
    assert_eq!(uris(&graph), ["os://nope.md"]);
    assert_eq!(
        graph["nodes"][0]["errors"],
        serde_json::json!(["FETCH_FAILED"])
    );
}

#[test]
fn every_form_says_the_same_each_time() {
    let place = ring();
    for format in ["mermaid", "dot", "svg", "json"] {
        let once = place.graph(&["a.md", "--format", format]);
        assert!(once.status.success(), "{once:?}");
        assert_eq!(
            once.stdout,
            place.graph(&["a.md", "--format", format]).stdout
        );
        assert!(once.stdout.ends_with(b"\n"));
    }
    let mermaid = String::from_utf8(place.graph(&["a.md"]).stdout).unwrap();
    assert!(mermaid.starts_with("flowchart LR\n"), "{mermaid}");
    assert!(
        mermaid.contains("n1[\"B<br/>os://b.md\"]:::skill"),
        "{mermaid}"
    );
    assert!(mermaid.contains("ERROR: FETCH_FAILED"), "{mermaid}");
    assert!(
        mermaid.contains("n4 -.-> n0") && mermaid.contains("n4 --> n3"),
        "{mermaid}"
    );
}

#[test]
fn a_name_cannot_leave_its_place() {
    let place = Place::new()
        .with("a.md", "---\nskills: [b.md]\n---\n")
        .with("b.md", "---\nname: '\"] --> x; click x \"javascript:alert(1)\" %%{init:{}}%% <img src=x onerror=alert(1)>'\ndescription: '</title><script>alert(1)</script>'\n---\n");
    for format in ["mermaid", "dot", "svg"] {
        let output = place.graph(&["a.md", "--format", format]);
        let text = String::from_utf8(output.stdout).unwrap();
        for forbidden in ["<script", "<img", "\"] --> x"] {
            assert!(!text.contains(forbidden), "{forbidden} in {format}: {text}");
        }
    }
    let svg = String::from_utf8(place.graph(&["a.md", "--format", "svg"]).stdout).unwrap();
    assert!(
        svg.contains("<title id=\"hydrant-graph-title\">Dependencies of os://a.md</title>"),
        "{svg}"
    );
    assert!(
        svg.contains("<desc id=\"hydrant-graph-desc\">1 skill, 0 tools</desc>"),
        "{svg}"
    );
}
