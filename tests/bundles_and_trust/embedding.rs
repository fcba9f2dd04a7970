//! The example in `examples/embedding.rs`: one bundle from a directory, an archive and the store.
//!
//! The library is used there alone; here the example is run like a program. `cargo test` builds it; for
//! this file alone: `cargo build --example embedding` first.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::program::{Folder, Run, program};

#[test]
fn the_embedding_example_runs_a_bundle_from_three_places() {
    let example = Path::new(program()).with_file_name("examples/embedding");
    assert!(example.exists(), "cargo build --example embedding");
    let folder = Folder::new();
    let mut command = Command::new(example);
    command
        .env_clear()
        .env("HOME", folder.path("../home"))
        .env("TMPDIR", folder.path(""));
    let run = Run::of(&mut command);
    assert_eq!(run.status, 0, "{run:?}");
    let answered = |place: &str| {
        let start = format!("from the {place}: ");
        let mut lines = run.stdout.lines();
        let line = lines.find_map(|line| line.strip_prefix(&start));
        line.unwrap_or_else(|| panic!("{place}: {run:?}"))
    };
    let directory = answered("directory");
    assert!(directory.ends_with(" bytes of response"), "{directory}");
    assert_eq!(answered("archive"), directory);
    assert_eq!(answered("store"), directory);
    // Three receipts of successful runs, and one line for each in the record.
    let receipts = run.stdout.matches("\"status\": \"success\"").count();
    assert_eq!(receipts, 3, "{run:?}");
    let lines = run
        .stdout
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let recorded = lines.filter(|line| line["reason"] == "verified_execution_success");
    assert_eq!(recorded.count(), 3, "{run:?}");
}
