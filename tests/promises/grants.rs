//! Grants that are used up or revoked stay so, and none holds for longer than was said.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::thread::sleep;
use std::time::Duration;

use serde_json::Value;

use crate::machine::Machine;

/// What a call ends with that may be made: nobody listens on the port that it goes to.
const ALLOWED: &str = "connect";

const DOCUMENT: &str =
    "---\nname: notes\n---\n# Notes\n\n```bash\ncurl https://127.0.0.1:9/search?q={{q}}\n```\n";

/// A clock that is as many seconds ahead as `AHEAD` says, for programs that it is loaded into.
const CLOCK: &str = r#"
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
int clock_gettime(clockid_t clock, struct timespec *time) {
    int failed = syscall(SYS_clock_gettime, clock, time);
    const char *ahead = getenv("AHEAD");
    if (clock == CLOCK_REALTIME && ahead) time->tv_sec += atol(ahead);
    return failed;
}
"#;

const TWO_DAYS: i64 = 2 * 24 * 60 * 60;

/// A home with a loaded skill, whose one operation needs an approval.
struct House {
    machine: Machine,
}

impl House {
    fn new() -> Self {
        let machine = Machine::new();
        let home = machine.home().join(".hydrant");
        fs::create_dir(&home).unwrap();
        private(&home);
        fs::write(
            home.join("hydrant.toml"),
            "[govern]\nallow_private = [\"127.0.0.1:9\"]\n",
        )
        .unwrap();
        fs::write(machine.work().join("skill.md"), DOCUMENT).unwrap();
        let house = Self { machine };
        house.done(&["skill", "load", "skill.md"]);
        house
    }

    fn state(&self) -> PathBuf {
        self.machine.home().join(".hydrant/state")
    }

    /// The answer of a command that has one.
    fn done(&self, arguments: &[&str]) -> Value {
        let output = self.machine.run(arguments);
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// What a call of the operation ends with.
    fn call(&self) -> String {
        code(
            &self
                .machine
                .run(&["skill", "execute", "notes", "search", r#"{"q":"x"}"#]),
        )
    }

    fn verify(&self) -> Value {
        let output = self.machine.run(&["audit", "verify"]);
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// Grants what waits; answers its id.
    fn grant(&self, options: &[&str]) -> String {
        let pending = self.done(&["approvals", "list", "--status", "pending"]);
        let id = pending[0]["id"].as_str().unwrap().to_owned();
        let mut arguments = vec!["approvals", "approve", &id];
        arguments.extend(options);
        self.done(&arguments);
        id
    }

    fn status(&self, id: &str) -> String {
        let shown = self.done(&["approvals", "show", id]);
        shown["status"].as_str().unwrap().to_owned()
    }

    /// The database as it is now.
    fn database(&self) -> Vec<(PathBuf, Vec<u8>)> {
        databases(&self.state())
            .into_iter()
            .map(|path| (path.clone(), fs::read(path).unwrap()))
            .collect()
    }

    /// Puts an earlier database in the place of the present one.
    fn put_back(&self, database: &[(PathBuf, Vec<u8>)]) {
        for path in databases(&self.state()) {
            fs::remove_file(path).unwrap();
        }
        for (path, bytes) in database {
            fs::write(path, bytes).unwrap();
            fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
        }
    }

    /// A command with a clock that is this many seconds ahead.
    fn with_clock(&self, ahead: i64, arguments: &[&str]) -> Output {
        let library = self.machine.home().join("clock.so");
        if !library.exists() {
            let source = self.machine.home().join("clock.c");
            fs::write(&source, CLOCK).unwrap();
            let compiled = Command::new("cc")
                .args(["-shared", "-fPIC", "-o"])
                .args([&library, &source])
                .status();
            assert!(compiled.unwrap().success());
        }
        let mut command = self.machine.command(arguments);
        command
            .env("LD_PRELOAD", library)
            .env("AHEAD", ahead.to_string())
            .output()
            .unwrap()
    }
}

fn private(path: &Path) {
    fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
}

fn databases(state: &Path) -> Vec<PathBuf> {
    fs::read_dir(state)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.to_string_lossy().contains("govern.sqlite"))
        .collect()
}

/// The code of the error that a command ends with; warnings may stand before it.
fn code(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    let error = text.lines().find(|line| line.starts_with('{'));
    let error: Value = serde_json::from_str(error.unwrap_or_else(|| panic!("{output:?}"))).unwrap();
    error["error"]["code"].as_str().unwrap().to_owned()
}

#[test]
fn an_older_database_brings_no_used_grant_back() {
    let house = House::new();
    let id = house.grant(&["--scope", "once"]);
    let older = house.database();
    assert_eq!(house.call(), ALLOWED);
    house.put_back(&older);
    let said = house.verify();
    assert_eq!(said["database-lacks"], 1, "{said}");
    assert_eq!(house.call(), "approval-required");
    assert_eq!(house.status(&id), "consumed");
}

#[test]
fn an_older_database_brings_no_revoked_grant_back() {
    let house = House::new();
    let id = house.grant(&[]);
    assert_eq!(house.call(), ALLOWED);
    let older = house.database();
    house.done(&["approvals", "revoke", &id]);
    // As if the change were the last one, which a crash may have kept from the database: it is made up for.
    house.put_back(&older);
    let said = house.verify();
    assert_eq!(said["database-lacks"], 1, "{said}");
    assert_eq!(house.call(), "approval-revoked");
    assert_eq!(house.status(&id), "revoked");
    // With what no crash explains it is refused.
    house.put_back(&older);
    let said = house.verify();
    assert_eq!(said["ok"], false, "{said}");
    assert_eq!(said["reason"], "older-database", "{said}");
    assert_eq!(house.call(), "audit-unavailable");
}

#[test]
fn a_grant_for_a_session_is_no_other_sessions_under_an_older_database() {
    let house = House::new();
    house.grant(&["--scope", "session"]);
    let older = house.database();
    let call = |session| {
        let call = [
            "skill",
            "execute",
            "notes",
            "search",
            r#"{"q":"x"}"#,
            "--session",
            session,
        ];
        code(&house.machine.run(&call))
    };
    assert_eq!(call("one"), ALLOWED);
    house.put_back(&older);
    assert_eq!(call("two"), "approval-required");
    assert_eq!(call("one"), ALLOWED);
}

#[test]
fn with_a_chain_that_is_begun_anew_every_grant_ends_and_verification_says_so() {
    let house = House::new();
    let id = house.grant(&[]);
    let older = house.database();
    house.done(&["approvals", "revoke", &id]);
    assert_eq!(house.call(), "approval-revoked");
    house.put_back(&older);
    let chain = house.state().join("chain");
    fs::rename(&chain, house.state().join("chain.old")).unwrap();
    let output = house
        .machine
        .run(&["skill", "execute", "notes", "search", r#"{"q":"x"}"#]);
    assert_eq!(code(&output), "approval-revoked");
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(told.contains("begun anew"), "{told}");
    for _ in 0..2 {
        let said = house.verify();
        assert_eq!(said["ok"], true, "{said}");
        let before = said["begun-anew"].as_str().unwrap();
        assert!(before.contains("ended at 4:"), "{said}");
        assert_eq!(house.call(), "approval-revoked");
    }
    // Who decides anew is heard.
    house.done(&["approvals", "request", "notes.search"]);
    house.grant(&[]);
    assert_eq!(house.call(), ALLOWED);
}

/// The control: where the chain goes back together with the database, only an anchor that was noted down tells.
#[test]
fn a_state_that_is_put_back_as_a_whole_is_told_by_an_anchor() {
    let house = House::new();
    let id = house.grant(&[]);
    let copy = house.machine.home().join("copy");
    copied(&house.state(), &copy);
    house.done(&["approvals", "revoke", &id]);
    assert_eq!(house.call(), "approval-revoked");
    let anchor = house.done(&["audit", "show"])["anchor"]
        .as_str()
        .unwrap()
        .to_owned();
    fs::remove_dir_all(house.state()).unwrap();
    copied(&copy, &house.state());
    assert_eq!(house.call(), ALLOWED);
    assert_eq!(house.verify()["ok"], true);
    let output = house.machine.run(&["audit", "verify", "--anchor", &anchor]);
    assert!(!output.status.success());
}

fn copied(from: &Path, to: &Path) {
    let status = Command::new("cp").arg("-a").args([from, to]).status();
    assert!(status.unwrap().success());
}

#[test]
fn a_clock_that_was_ahead_lengthens_no_grant() {
    let house = House::new();
    house.with_clock(TWO_DAYS, &["skill", "execute", "notes", "search", "{}"]);
    house.done(&["approvals", "request", "notes.search"]);
    house.grant(&["--ttl", "3s"]);
    assert_eq!(house.call(), ALLOWED);
    sleep(Duration::from_secs(3));
    assert_eq!(house.call(), "approval-expired");
}

#[test]
fn a_grant_that_was_given_while_the_clock_was_ahead_does_not_last() {
    let house = House::new();
    let pending = house.done(&["approvals", "list"]);
    let id = pending[0]["id"].as_str().unwrap();
    let granted = house.with_clock(60 * 60, &["approvals", "approve", id, "--ttl", "1s"]);
    assert!(granted.status.success(), "{granted:?}");
    sleep(Duration::from_secs(1));
    assert_eq!(house.call(), "approval-expired");
}

#[test]
fn a_clock_that_is_set_back_ends_a_grant_with_a_time_limit_and_says_so() {
    let house = House::new();
    house.grant(&["--ttl", "1h"]);
    assert_eq!(house.call(), ALLOWED);
    let call = ["skill", "execute", "notes", "search", r#"{"q":"x"}"#];
    let output = house.with_clock(-TWO_DAYS, &call);
    assert_eq!(code(&output), "approval-expired");
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(told.contains("behind the newest record"), "{told}");
}

#[test]
fn a_decision_says_who_made_it() {
    let house = House::new();
    let id = house.grant(&[]);
    let uid = fs::metadata(house.machine.work()).unwrap();
    let uid = std::os::unix::fs::MetadataExt::uid(&uid).to_string();
    let users = fs::read_to_string("/etc/passwd").unwrap_or_default();
    let name = users
        .lines()
        .find(|line| line.split(':').nth(2) == Some(&uid));
    let name = name.map_or(format!("uid {uid}"), |line| {
        line.split(':').next().unwrap().to_owned()
    });
    let shown = house.done(&["approvals", "show", &id]);
    assert_eq!(shown["by"], name.as_str());
}

#[test]
fn what_can_only_be_read_is_listed_and_shown_and_nothing_runs() {
    let house = House::new();
    let id = house.grant(&[]);
    let read_only = |arguments: &str| read_only(&house.machine, arguments);
    for arguments in [
        "skill list",
        "skill show notes",
        "approvals list",
        &format!("approvals show {id}"),
        "secrets list",
        "audit show",
        "audit verify",
    ] {
        let output = read_only(arguments);
        assert!(output.status.success(), "{arguments}: {output:?}");
    }
    for arguments in [
        &format!("approvals revoke {id}"),
        "skill execute notes search '{\"q\":\"x\"}'",
    ] {
        let refused = read_only(arguments);
        let told = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(told.contains("can only be read"), "{arguments}: {told}");
    }
    assert_eq!(house.call(), ALLOWED);
}

#[test]
fn where_nothing_was_ever_loaded_and_nothing_can_be_written_the_lists_are_empty() {
    let machine = Machine::new();
    let run = machine.run(&["run", "fs.read_text", r#"{"path":"note.txt"}"#]);
    assert!(run.status.success(), "{run:?}");
    let listed = read_only(&machine, "skill list");
    assert!(listed.status.success(), "{listed:?}");
    let listed: Value = serde_json::from_slice(&listed.stdout).unwrap();
    assert_eq!(listed["skills"], serde_json::json!([]));
}

/// A command in a mount namespace of its own, where hydrant's home is read-only.
fn read_only(machine: &Machine, arguments: &str) -> Output {
    let program = env!("CARGO_BIN_EXE_hydrant");
    let home = machine.home().join(".hydrant");
    let home = home.display();
    let script = format!("mount --bind -o ro {home} {home} && {program} {arguments}");
    let mut unshare = Command::new("unshare");
    unshare
        .args(["--user", "--map-root-user", "--mount", "sh", "-c", &script])
        .current_dir(machine.work())
        .env("HOME", machine.home())
        .env_remove("HYDRANT_HOME");
    unshare.output().unwrap()
}
