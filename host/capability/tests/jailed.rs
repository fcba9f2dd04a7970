//! Programs and tools in the jail, as a guest meets them: what they see, how they end, and what of their output is kept.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command as HostCommand;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hydrant_capability::fetch::Fetcher;
use hydrant_capability::process::{
    Command, Ending, Exit, ProcessError, Program, Target, Tool, run,
};
use hydrant_capability::{
    Call, Cancellation, DescribeComponent, DescribeError, Journal, Meter, MeterBudgets,
};
use hydrant_jail::Launcher;
use hydrant_policy::{Grant, Limits, Policy};
use hydrant_trust::Capability;

/// There are no components here.
struct NoComponents;

impl DescribeComponent for NoComponents {
    fn describe(
        &self,
        _: &[u8],
        _: Duration,
        _: Duration,
        _: Option<&Launcher>,
    ) -> Result<String, DescribeError> {
        Err(DescribeError::NotDescribable)
    }
}

/// Directories behind `/os` and `/workspace`.
struct Site(tempfile::TempDir);

impl Site {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        for name in ["os", "work"] {
            fs::create_dir(root.path().join(name)).unwrap();
        }
        Self(root)
    }

    fn work(&self) -> PathBuf {
        self.0.path().join("work")
    }

    fn tool(&self, name: &str, text: &str, mode: u32) {
        let path = self.0.path().join("os").join(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    }

    /// A call that may run these scripts of `sh`, programs of the system, and all tools.
    fn call(&self, scripts: &[&str]) -> Call {
        let mut rules = String::new();
        for script in scripts {
            let script = serde_json::to_string(script).unwrap();
            rules += &format!(
                "  - {{program: sh, args: [[-c, {script}]], cwd: [/workspace], network: true}}\n"
            );
        }
        for program in ["git", "ls", "cat", "printenv", "sort", "seq", "sleep"] {
            rules += &format!("  - {{program: {program}, args: [[\"...\"]], cwd: [/workspace]}}\n");
        }
        let text = format!(
            "version: 1\ntrusted_signers: [a]\n\
             capability_ceiling: {{fs: {{read: [/os, /workspace]}}, net: [\"https://lib.example/\"], exec: true}}\n\
             host:\n  mounts:\n  - {{at: /os, dir: ./os, mode: ro}}\n  - {{at: /workspace, dir: ./work, mode: rw}}\n  \
             net: [{{url: \"https://lib.example/\", methods: [GET]}}]\n  \
             discovery: {{run: [/os], runners: {{.sh: [sh]}}}}\n  process:\n{rules}"
        );
        let file = self.0.path().join("policy.yaml");
        fs::write(&file, text).unwrap();
        let everything = ["fs.read", "net.http", "exec.safe"].map(|kind| Capability {
            kind: kind.to_owned(),
            value: if kind == "fs.read" { "/" } else { "*" }.to_owned(),
        });
        let policy = Policy::load(&file, &[]).unwrap();
        let budgets = MeterBudgets {
            hostcalls: 1000,
            read_bytes: 1 << 30,
            egress_bytes: 1 << 30,
            wall_clock: Duration::from_secs(60),
        };
        Call {
            grant: Grant::new(Arc::new(policy), &everything),
            limits: Limits::default(),
            meter: Meter::new(budgets, Instant::now()),
            journal: Journal::default(),
            fetcher: Arc::new(Fetcher::new(&[]).unwrap()),
            credential: None,
            components: Arc::new(NoComponents),
            journals: None,
            own: Arc::default(),
            jail: Some(Launcher::at(env!("CARGO_BIN_EXE_capability-launcher"))),
            descriptions: None,
        }
    }
}

fn command(target: Target, arguments: &[&str]) -> Command {
    Command {
        target,
        arguments: arguments.iter().map(|one| (*one).to_owned()).collect(),
        timeout_ms: 20_000,
        max_output_bytes: 65_536,
    }
}

fn program(name: &str, arguments: &[&str]) -> Command {
    let program = Program {
        name: name.to_owned(),
        directory: "/workspace".to_owned(),
    };
    command(Target::Program(program), arguments)
}

fn tool(path: &str) -> Command {
    let tool = Tool {
        path: path.to_owned(),
        declared_by: "os://a.md".to_owned(),
    };
    command(Target::Tool(tool), &["--description"])
}

fn one(call: &Call, command: Command) -> Result<Exit, ProcessError> {
    run(call, vec![command]).unwrap().remove(0)
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

#[test]
fn a_program_sees_virtual_paths_a_fixed_environment_and_the_proxy_of_its_hosts() {
    let script = "pwd; printenv | sort; cat; echo err >&2; exit 3";
    let site = Site::new();
    let exit = one(&site.call(&[script]), program("sh", &["-c", script])).unwrap();
    assert_eq!(exit.ending, Ending::Exited(3));
    let proxy = "http://127.0.0.1:3128";
    let mut expected = vec![
        "HOME=/tmp".to_owned(),
        "LANG=C.UTF-8".to_owned(),
        "PATH=/usr/local/bin:/usr/bin:/bin".to_owned(),
        "PWD=/workspace".to_owned(),
        "TMPDIR=/tmp".to_owned(),
        "TZ=UTC".to_owned(),
    ];
    expected.extend(
        ["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"]
            .map(|name| format!("{name}={proxy}")),
    );
    let mut lines: Vec<_> = text(&exit.stdout).lines().map(str::to_owned).collect();
    assert_eq!(lines.remove(0), "/workspace");
    lines.sort();
    expected.sort();
    assert_eq!(lines, expected);
    assert_eq!(text(&exit.stderr), "err\n");
}

#[test]
fn both_streams_are_read_to_their_end_and_their_first_bytes_kept() {
    let script = "seq 1 300000 >&2; seq 1 300000";
    let site = Site::new();
    let asked = Command {
        max_output_bytes: 4,
        ..program("sh", &["-c", script])
    };
    let exit = one(&site.call(&[script]), asked).unwrap();
    assert_eq!(exit.ending, Ending::Exited(0));
    assert_eq!(
        (text(&exit.stdout), exit.stdout_truncated),
        ("1\n2\n", true)
    );
    assert_eq!(
        (text(&exit.stderr), exit.stderr_truncated),
        ("1\n2\n", true)
    );
}

#[test]
fn a_program_is_told_that_its_time_is_up_and_a_signal_is_answered() {
    let told = "trap 'echo told; exit 0' TERM; sleep 20 & wait";
    let killed = "kill -9 $$";
    let left = "(sleep 30 &); echo done";
    let site = Site::new();
    let call = site.call(&[told, killed, left]);
    let asked = Command {
        timeout_ms: 500,
        ..program("sh", &["-c", told])
    };
    let exit = one(&call, asked).unwrap();
    assert_eq!(
        (exit.ending, text(&exit.stdout)),
        (Ending::TimedOut, "told\n")
    );
    let exit = one(&call, program("sh", &["-c", killed])).unwrap();
    assert_eq!(exit.ending, Ending::Signaled(9));
    // What it leaves behind delays nothing.
    let exit = one(&call, program("sh", &["-c", left])).unwrap();
    assert_eq!(
        (exit.ending, text(&exit.stdout)),
        (Ending::Exited(0), "done\n")
    );
    assert!(exit.duration_ms < 10_000, "{}", exit.duration_ms);
}

#[test]
fn a_cancelled_call_ends_its_programs() {
    let site = Site::new();
    let call = site.call(&[]);
    let cancellation = Cancellation::new();
    let begun = Instant::now();
    let answer = std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(300));
            cancellation.cancel();
        });
        cancellation.during(|| one(&call, program("sleep", &["20"])))
    });
    assert_eq!(answer.unwrap().ending, Ending::TimedOut);
    assert!(begun.elapsed() < Duration::from_secs(10));
}

#[test]
fn tools_of_one_list_share_jails_and_find_nothing_of_each_other() {
    let site = Site::new();
    site.tool(
        "a",
        "#!/bin/sh\necho \"$0 $1\"; ls -A /scratch; echo x >/scratch/x\n",
        0o755,
    );
    site.tool(
        "b.sh",
        "echo runner $0; ls -A /scratch; echo x >/scratch/x",
        0o644,
    );
    let call = site.call(&[]);
    let asked: Vec<_> = ["/os/a", "/os/b.sh"]
        .repeat(6)
        .into_iter()
        .map(tool)
        .collect();
    for pair in run(&call, asked).unwrap().chunks(2) {
        for (answer, shown) in pair
            .iter()
            .zip(["/os/a --description\n", "runner /os/b.sh\n"])
        {
            let exit = answer.as_ref().unwrap();
            assert_eq!(
                (exit.ending, text(&exit.stdout)),
                (Ending::Exited(0), shown)
            );
        }
    }
}

#[test]
fn git_and_the_questions_of_its_guard_answer_in_one_jail() {
    let site = Site::new();
    let made = HostCommand::new("git")
        .args(["init", "-q", "-b", "main", "."])
        .current_dir(site.work())
        .status();
    assert!(made.unwrap().success());
    let call = site.call(&[]);
    let exit = one(&call, program("git", &["status", "--short", "--branch"])).unwrap();
    assert_eq!(exit.ending, Ending::Exited(0), "{}", text(&exit.stderr));
    assert_eq!(text(&exit.stdout), "## No commits yet on main\n");
}
