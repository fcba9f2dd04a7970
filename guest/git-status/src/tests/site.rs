//! A repository on which the installed git runs, as both git skills are tested on it.

use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;

use kit::host::RunCommands;
use kit::host::process::{Command, Ending, Exit, ProcessError, Target};
use serde_json::Value;

/// A directory as `/workspace`, on which git really runs.
pub(super) struct Site {
    directory: tempfile::TempDir,
}

impl RunCommands for Site {
    fn run(&mut self, commands: &[Command]) -> Vec<Result<Exit, ProcessError>> {
        let start = |command: &Command| {
            let Target::Program(program) = &command.target else {
                return Err(ProcessError::Denied);
            };
            let below = program.directory.strip_prefix("/workspace").unwrap();
            let mut git = self.command(below.trim_start_matches('/'));
            let output = git.args(&command.arguments).output().unwrap();
            let most = usize::try_from(command.max_output_bytes).unwrap();
            Ok(Exit {
                ending: Ending::Exited(u8::try_from(output.status.into_raw() >> 8).unwrap()),
                stdout_truncated: output.stdout.len() > most,
                stdout: output.stdout.into_iter().take(most).collect(),
                stderr: output.stderr,
                stderr_truncated: false,
                duration_ms: 1,
            })
        };
        commands.iter().map(start).collect()
    }
}

impl Site {
    /// A repository on the branch `main`, without a commit.
    pub(super) fn new() -> Self {
        let site = Self::empty();
        site.git(&["init", "-q", "-b", "main"]);
        site
    }

    pub(super) fn empty() -> Self {
        Self {
            directory: tempfile::tempdir().unwrap(),
        }
    }

    pub(super) fn path(&self, below: &str) -> PathBuf {
        self.directory.path().join(below)
    }

    pub(super) fn write(&self, below: &str, text: &str) {
        let path = self.path(below);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// git below the site, with nothing of this machine's configuration.
    pub(super) fn command(&self, below: &str) -> std::process::Command {
        let mut git = std::process::Command::new("git");
        git.current_dir(self.path(below))
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("LANG", "C.UTF-8")
            .env("HOME", "/nonexistent")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env(
                "GIT_CEILING_DIRECTORIES",
                self.directory.path().parent().unwrap(),
            );
        for who in ["AUTHOR", "COMMITTER"] {
            git.env(format!("GIT_{who}_NAME"), "A")
                .env(format!("GIT_{who}_EMAIL"), "a@example.org");
        }
        git
    }

    /// What git prints, which may fail.
    pub(super) fn try_git(&self, arguments: &[&str]) -> String {
        let output = self.command("").args(arguments).output().unwrap();
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    pub(super) fn git(&self, arguments: &[&str]) -> String {
        let output = self.command("").args(arguments).output().unwrap();
        assert!(output.status.success(), "{arguments:?} {output:?}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    pub(super) fn commit(&self) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", "x"]);
    }

    pub(super) fn answer(&mut self, request: &str) -> Value {
        serde_json::from_slice(&crate::run(self, request.as_bytes()).unwrap()).unwrap()
    }
}
