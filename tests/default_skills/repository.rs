//! Repositories made with git itself, without any configuration but their own.

use std::fs::{self, File};
use std::process::{Command, Output};
use std::time::{Duration, SystemTime};

use crate::desk::Desk;

/// A desk on whose policy `git` may run, with a repository in its workspace.
pub(crate) struct Repository {
    pub(crate) desk: Desk,
}

impl Repository {
    /// An empty one on the branch `main`.
    pub(crate) fn new() -> Self {
        Self::on(Desk::git())
    }

    fn on(desk: Desk) -> Self {
        let repository = Self { desk };
        repository.git(&["init", "-q", "-b", "main"]);
        repository
    }

    /// With these files in its first commit.
    pub(crate) fn with(files: &[(&str, &str)]) -> Self {
        Self::new().and(files)
    }

    /// The same on a desk where git runs without a jail, so that what it starts would be seen.
    pub(crate) fn unjailed(files: &[(&str, &str)]) -> Self {
        Self::on(Desk::unjailed_git()).and(files)
    }

    fn and(self, files: &[(&str, &str)]) -> Self {
        let repository = self;
        for (path, content) in files {
            repository.desk.write(path, content);
        }
        repository.commit("first");
        repository
    }

    /// git in the workspace; it must succeed.
    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        self.git_in(".", arguments)
    }

    /// git in a directory of the workspace; it must succeed.
    pub(crate) fn git_in(&self, directory: &str, arguments: &[&str]) -> String {
        let output = self.try_git(directory, arguments);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "git {arguments:?}: {stderr}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    pub(crate) fn try_git(&self, directory: &str, arguments: &[&str]) -> Output {
        self.command(directory, arguments).output().unwrap()
    }

    fn command(&self, directory: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new("git");
        command
            .args(arguments)
            .current_dir(self.desk.path(directory))
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("HOME", self.desk.beside("."))
            .env("LANG", "C.UTF-8")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CEILING_DIRECTORIES", self.desk.beside("."));
        for who in ["AUTHOR", "COMMITTER"] {
            command
                .env(format!("GIT_{who}_NAME"), "A U Thor")
                .env(format!("GIT_{who}_EMAIL"), "author@example.org")
                .env(format!("GIT_{who}_DATE"), "1700000000 +0000");
        }
        command
    }

    /// Everything in the workspace, committed: the id.
    pub(crate) fn commit(&self, message: &str) -> String {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", message]);
        self.head()
    }

    pub(crate) fn head(&self) -> String {
        self.git(&["rev-parse", "HEAD"]).trim().to_owned()
    }

    pub(crate) fn config(&self, key: &str, value: &str) {
        self.git(&["config", key, value]);
    }

    /// Makes what the index remembers of a file's times wrong, so that git reads the file again.
    pub(crate) fn age(&self, path: &str) {
        let file = File::options()
            .write(true)
            .open(self.desk.path(path))
            .unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(86_400))
            .unwrap();
    }

    /// Every file below `.git` with its bytes.
    pub(crate) fn state(&self) -> Vec<(String, Vec<u8>)> {
        let root = self.desk.path(".git");
        let names = crate::program::listing(&root).into_iter();
        names
            .filter(|name| root.join(name).is_file())
            .map(|name| (name.clone(), fs::read(root.join(name)).unwrap()))
            .collect()
    }
}
