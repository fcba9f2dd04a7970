//! Real repositories, as a hostile author makes them, asked through the hostcall with the git that is installed.

mod canaries;
mod places;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use crate::Call;
use crate::process::{Command, Ending, Exit, ProcessError, Program, Target, run};
use crate::testing::{Site, call};

/// A policy that allows every argument, and tries to set git's variables.
const ANYTHING: &str = "  jail: {process: unjailed}\n  process:\n  \
    - {program: git, args: [[\"...\"]], cwd: [/workspace], \
       env: {GIT_DIR: /nonexistent, GIT_CONFIG_COUNT: \"0\", GIT_PAGER: evil}}\n";

/// What a component may ask for in one repository.
const COMMANDS: [&str; 21] = [
    "--no-pager status --porcelain=v2 --branch -z --untracked-files=all --ignore-submodules=dirty",
    "status",
    "status -v -v",
    "--no-pager diff --no-ext-diff --no-textconv --submodule=short --",
    "diff",
    "diff --cached",
    "diff HEAD --stat",
    "diff-files -p",
    "diff-index -p HEAD",
    "diff-tree -p -r --root HEAD",
    "log -p --format=%H%G?",
    "log -p -m --all",
    "log --show-signature -Gx",
    "show HEAD",
    "show HEAD:file",
    "cat-file --filters HEAD:file",
    "blame file",
    "grep -n x",
    "rev-list --objects --all --not --alternate-refs",
    "ls-files -m -o --eol",
    "shortlog HEAD",
];

/// A work tree below a site, which git really uses.
struct Work {
    site: Site,
    call: Call,
}

impl Work {
    /// A repository with a commit of `file`.
    fn new() -> Work {
        let work = Work::empty();
        work.git(&["init", "-q", "-b", "main", "."]);
        work.write("file", "x\n");
        work.commit("first");
        work
    }

    fn empty() -> Work {
        let site = Site::new();
        let call = call(site.grant(&[], ANYTHING));
        Work { site, call }
    }

    fn path(&self, below: &str) -> PathBuf {
        self.site.work().join(below)
    }

    fn write(&self, below: &str, text: &str) {
        let path = self.path(below);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn commit(&self, message: &str) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", message]);
    }

    fn config(&self, name: &str, value: &str) {
        self.git(&["config", name, value]);
    }

    /// git without the guard, with nothing of this machine's configuration.
    fn unguarded(&self, arguments: &[&str]) -> Output {
        let mut git = std::process::Command::new(installed());
        git.args(arguments)
            .current_dir(self.site.work())
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("LANG", "C.UTF-8")
            .env("HOME", "/nonexistent")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .stdin(Stdio::null());
        for who in ["AUTHOR", "COMMITTER"] {
            git.env(format!("GIT_{who}_NAME"), "A")
                .env(format!("GIT_{who}_EMAIL"), "a@example.org");
        }
        git.output().unwrap()
    }

    /// As [`Self::unguarded`]; it has to succeed.
    fn git(&self, arguments: &[&str]) -> String {
        let output = self.unguarded(arguments);
        assert!(output.status.success(), "{arguments:?} {output:?}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    /// What the hostcall answers in `/workspace`.
    fn ask(&self, arguments: &str) -> Result<Exit, ProcessError> {
        self.ask_in("/workspace", &words(arguments))
    }

    fn ask_in(&self, directory: &str, arguments: &[&str]) -> Result<Exit, ProcessError> {
        let command = Command {
            target: Target::Program(Program {
                name: "git".to_owned(),
                directory: directory.to_owned(),
            }),
            arguments: arguments.iter().map(|word| (*word).to_owned()).collect(),
            timeout_ms: 20_000,
            max_output_bytes: 65_536,
        };
        run(&self.call, vec![command]).unwrap().remove(0)
    }

    /// A program that says by a file that it ran. Without arguments it is a filter, and passes its input on.
    fn canary(&self) -> String {
        let path = self.site.root.join("canary");
        let script = format!(
            "#!/bin/sh\necho \"$0 $*\" >> '{}'\n[ $# -gt 0 ] || exec cat\n",
            self.fired().display()
        );
        fs::write(&path, script).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path.to_str().unwrap().to_owned()
    }

    fn fired(&self) -> PathBuf {
        self.site.root.join("fired")
    }

    /// Whether the canary ran since this was last asked.
    fn take_fired(&self) -> bool {
        fs::remove_file(self.fired()).is_ok()
    }
}

fn words(line: &str) -> Vec<&str> {
    line.split(' ').collect()
}

/// Where a policy finds git.
fn installed() -> &'static Path {
    ["/usr/local/bin/git", "/usr/bin/git", "/bin/git"]
        .map(Path::new)
        .into_iter()
        .find(|path| path.exists())
        .expect("git is installed")
}

fn text(exit: &Exit) -> &str {
    std::str::from_utf8(&exit.stdout).unwrap()
}
