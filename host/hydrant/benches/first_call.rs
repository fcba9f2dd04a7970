//! What a new user waits for: the first call of each pinned skill, with an empty home and an empty cache, beside its second
//! call; and whole processes beside one that does nothing.
//!
//! `cargo bench --bench first_call` prints one table; the arguments are explained in `harness`.

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

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

use harness::{Measured, Target, alternate};
use hydrant::Host;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
const OS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/os");

/// The first call of a skill against its second.
const FIRST: Target = Target::Ratio(3.0);
/// A command that does little against a process that does nothing.
const SMALL: Target = Target::Ratio(5.0);
/// All pins against a process that does nothing.
const VERIFY: Target = Target::Ratio(20.0);
/// From the start of `hydrant mcp` to its list of tools.
const TOOLS: Target = Target::Time(Duration::from_millis(500));

fn main() -> ExitCode {
    let pinned = Host::builder().build().unwrap().pinned_entries().unwrap();
    let mut rows: Vec<(String, harness::RowMeasure)> = Vec::new();
    for (id, _) in pinned {
        let name = format!("{id}: first call, second call");
        rows.push((name, Box::new(move |samples| first_call(&id, samples))));
    }
    let mut whole = |name: &str, arguments: &'static [&'static str], target: Target| {
        let measure = move |samples| process(arguments, samples, target);
        rows.push((format!("{name}, whole process"), Box::new(measure)));
    };
    whole(
        "hydrate a local skill",
        &["hydrate", "os://skills/plain-prose.md", "--root", OS],
        SMALL,
    );
    whole(
        "run fs.read_text",
        &["run", "fs.read_text", r#"{"path":"LICENSE-MIT"}"#],
        SMALL,
    );
    whole("verify all pins", &["verify", "--root", ROOT], VERIFY);
    rows.push((
        "tools/list over MCP, from the start".into(),
        Box::new(tools),
    ));
    harness::run_rows(rows)
}

/// A command of a user with this home, whose cache is in it.
fn command(home: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hydrant"));
    command
        .args(arguments)
        .current_dir(ROOT)
        .env("XDG_CACHE_HOME", home.join("cache"))
        .env("HYDRANT_HOME", home.join("home"))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
}

/// An empty request: what a skill answers to it costs next to nothing, and takes a component that runs.
fn first_call(id: &str, samples: usize) -> Measured {
    let call = |home: &Path| {
        let status = command(home, &["run", id, "{}"]).status().unwrap();
        assert!(matches!(status.code(), Some(0 | 5)), "{id}: {status}");
    };
    let used = tempfile::tempdir().unwrap();
    call(used.path());
    let (first, second) = alternate(
        samples.min(30),
        || {
            let new = tempfile::tempdir().unwrap();
            call(new.path());
        },
        || call(used.path()),
    );
    Measured::new(first, second, FIRST)
}

fn process(arguments: &[&str], samples: usize, target: Target) -> Measured {
    let home = tempfile::tempdir().unwrap();
    let (hydrant, nothing) = alternate(
        samples.min(100),
        || assert!(command(home.path(), arguments).status().unwrap().success()),
        || assert!(Command::new("/bin/true").status().unwrap().success()),
    );
    Measured::new(hydrant, nothing, target)
}

fn tools(samples: usize) -> Measured {
    let list = || {
        let home = tempfile::tempdir().unwrap();
        let mut server = command(home.path(), &["mcp"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = server.stdin.take().unwrap();
        for line in [
            r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#,
        ] {
            writeln!(input, "{line}").unwrap();
        }
        let output = BufReader::new(server.stdout.take().unwrap());
        let answer = output
            .lines()
            .map(Result::unwrap)
            .find(|line| line.contains(r#""id":2"#));
        assert!(answer.unwrap().contains("fs_read_text"));
        server.kill().unwrap();
        server.wait().unwrap();
    };
    let (listed, nothing) = alternate(samples.min(30), list, || {
        assert!(Command::new("/bin/true").status().unwrap().success());
    });
    Measured::new(listed, nothing, TOOLS)
}
