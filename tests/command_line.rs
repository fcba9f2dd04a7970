//! Black-box tests of what the program offers to who sits before it: schemas for editors, help in groups, completion, and
//! colours.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a failed expectation is a failed test, in a fixture as in the test itself"
)]

#[path = "command_line/colour.rs"]
mod colour;
#[path = "command_line/completion.rs"]
mod completion;
#[path = "command_line/help.rs"]
mod help;
#[path = "command_line/schemas.rs"]
mod schemas;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

/// A home, and the program with nothing else in its environment.
struct Home(TempDir);

impl Home {
    fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hydrant"));
        command
            .args(arguments)
            .env_clear()
            .env("HYDRANT_HOME", self.path())
            .env("XDG_CACHE_HOME", cache())
            .current_dir(self.path());
        command
    }

    /// What a run that succeeds writes to stdout.
    fn text(&self, arguments: &[&str]) -> String {
        text(self.command(arguments).output().unwrap())
    }
}

fn text(output: Output) -> String {
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Compiled components of all these tests.
fn cache() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("command-line-cache")
}

/// A file of this repository.
fn here(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(path)
}
