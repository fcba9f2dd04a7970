//! A machine with one user: an empty home, and a workspace with one file.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The folders of a user, removed at the end of the test.
pub(crate) struct Machine {
    folder: tempfile::TempDir,
}

impl Machine {
    pub(crate) fn new() -> Self {
        let machine = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        fs::create_dir(machine.work()).unwrap();
        fs::write(machine.work().join("note.txt"), "hello\n").unwrap();
        machine
    }

    /// The user's `$HOME`, which is also the parent of the workspace.
    pub(crate) fn home(&self) -> &Path {
        self.folder.path()
    }

    /// The workspace, and the working directory of commands.
    pub(crate) fn work(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    /// `hydrant` with these arguments, in the workspace, with no other environment than the user's.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hydrant"));
        command
            .args(arguments)
            .current_dir(self.work())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("HOME", self.home());
        command
    }

    /// Runs `hydrant` with these arguments to its end.
    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }
}
