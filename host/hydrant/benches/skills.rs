//! The default skills against their floors, side by side in one run: the program or the system call that does the
//! same work without a sandbox.
//!
//! `cargo bench --bench skills` prints one table; the arguments are explained in `harness`. It needs `rg` and `git`.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::indexing_slicing,
    reason = "a benchmark that cannot run has nothing to tell"
)]

#[path = "harness/mod.rs"]
mod harness;
#[path = "skills/material.rs"]
mod material;

use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::process::{Command, ExitCode, Output, Stdio};
use std::time::Duration;

use harness::{Measured, Target, alternate};
use hydrant::policy::CliMount;
use hydrant::{Host, SkillCall};
use serde_json::{Value, json};

/// A skill that does little against a process that does nothing.
const SMALL: Target = Target::Ratio(5.0);
/// A large component, or one that starts programs, against the same.
const LARGE: Target = Target::Ratio(8.0);

fn main() -> ExitCode {
    harness::run(&[
        ("search.ripgrep: a rare word, 100 MiB", |samples| {
            search("needle_in_the_haystack", true, samples)
        }),
        ("search.ripgrep: any case, 100 MiB", |samples| {
            search("Needle_In_[a-z]+_Haystack", false, samples)
        }),
        ("fs.read_text: 64 KiB, in process", read_text),
        ("fs.read_text, whole process", |samples| {
            alone("fs.read_text", &json!({"path": "text.txt"}), samples, SMALL)
        }),
        ("fs.read_tree, whole process", |samples| {
            alone("fs.read_tree", &json!({}), samples, SMALL)
        }),
        ("fs.write_patch, whole process", |samples| {
            let patch = "--- a/text.txt\n+++ b/text.txt\n@@ -1 +1 @@\n-no such line\n+a line\n";
            alone(
                "fs.write_patch",
                &json!({"unified_diff": patch}),
                samples,
                SMALL,
            )
        }),
        ("shell.exec_safe, whole process", |samples| {
            alone(
                "shell.exec_safe",
                &json!({"argv": ["true"]}),
                samples,
                SMALL,
            )
        }),
        ("search.ripgrep, whole process", |samples| {
            alone(
                "search.ripgrep",
                &json!({"pattern": "word"}),
                samples,
                LARGE,
            )
        }),
        ("git.status, whole process", |samples| {
            alone("git.status", &json!({}), samples, LARGE)
        }),
        ("git.diff, whole process", |samples| {
            alone("git.diff", &json!({}), samples, LARGE)
        }),
        ("http.fetch_text, whole process", |samples| {
            let server = material::Server::start();
            let request = json!({"url": server.url()});
            alone("http.fetch_text", &request, samples, SMALL)
        }),
        ("json.validate, whole process", |samples| {
            let request = json!({"json": "[1,2,3]", "schema": {"items": {"type": "integer"}}});
            alone("json.validate", &request, samples, LARGE)
        }),
        ("extract.text, whole process", |samples| {
            let request = json!({"content_type": "text/html", "bytes_b64": "PGgxPkhpPC9oMT4="});
            alone("extract.text", &request, samples, SMALL)
        }),
    ])
}

fn search(pattern: &str, case_sensitive: bool, samples: usize) -> Measured {
    let tree = material::source_tree();
    let host = Host::builder()
        .mount(CliMount::of_policy(&format!("/workspace={}", tree.path().display())).unwrap())
        .build()
        .unwrap();
    let request = json!({"pattern": pattern, "case_sensitive": case_sensitive}).to_string();
    let found = || -> Value {
        let run = host
            .call(SkillCall::new("search.ripgrep", request.as_bytes()))
            .unwrap();
        serde_json::from_slice(&run.result.unwrap()).unwrap()
    };
    let case = if case_sensitive { "-s" } else { "-i" };
    let rg = || {
        let arguments = [
            "-j1",
            "--no-config",
            "--line-number",
            "--column",
            case,
            pattern,
        ];
        command("rg", &arguments, tree.path())
    };
    let lines = rg().stdout.iter().filter(|byte| **byte == b'\n').count();
    let matches = found()["matches"].as_array().unwrap().len();
    assert!(lines > 0 && lines == matches, "both sides do the same work");
    let (hydrant, floor) = alternate((samples / 25).max(5), || drop(found()), || drop(rg()));
    Measured::new(hydrant, floor, Target::Ratio(3.0))
}

fn read_text(samples: usize) -> Measured {
    let workspace = material::workspace();
    let file = workspace.path().join("text.txt");
    let host = Host::builder()
        .mount(CliMount::of_policy(&format!("/workspace={}", workspace.path().display())).unwrap())
        .build()
        .unwrap();
    let request = json!({"path": "text.txt"}).to_string();
    let read = || {
        host.answer(SkillCall::new("fs.read_text", request.as_bytes()))
            .unwrap()
    };
    let answer: Value = serde_json::from_slice(&read().unwrap()).unwrap();
    assert_eq!(
        answer["text"].as_str().unwrap().as_bytes(),
        fs::read(&file).unwrap()
    );
    let (hydrant, floor) = alternate(
        samples * 4,
        || drop(black_box(read())),
        || drop(black_box(fs::read(&file).unwrap())),
    );
    Measured::new(hydrant, floor, Target::Beyond(Duration::from_micros(60)))
}

/// A skill whose work is next to nothing, beside a process that does nothing. The first run is not counted.
fn alone(skill: &str, request: &Value, samples: usize, target: Target) -> Measured {
    let workspace = material::workspace();
    let workspace = workspace.path();
    let home = tempfile::tempdir().unwrap();
    let policy = home.path().join("policy.yaml");
    let url = request["url"].as_str().unwrap_or("http://127.0.0.1/");
    fs::write(&policy, material::policy(url)).unwrap();
    let mount = format!("/workspace={}", workspace.display());
    let run = || {
        let output = Command::new(env!("CARGO_BIN_EXE_hydrant"))
            .args([
                "run",
                skill,
                &request.to_string(),
                "--mount",
                &mount,
                "--policy",
            ])
            .arg(&policy)
            .env("XDG_CACHE_HOME", home.path())
            .env("HYDRANT_HOME", home.path().join("home"))
            .stdin(Stdio::null())
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
    };
    let nothing = || drop(command("true", &[], Path::new("/")));
    let (hydrant, floor) = alternate(samples.min(100), run, nothing);
    Measured::new(hydrant, floor, target)
}

fn command(program: &str, arguments: &[&str], directory: &Path) -> Output {
    let output = Command::new(program)
        .args(arguments)
        .current_dir(directory)
        .stdin(Stdio::null())
        .output()
        .unwrap_or_else(|error| panic!("{program}: {error}"));
    assert!(output.status.success(), "{output:?}");
    output
}
