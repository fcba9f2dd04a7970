//! A state directory in which something else is than what should be.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::time::{Duration, Instant};

use super::{Home, entry, insert, rows};
use crate::chain::{Event, Reason, verify};
use crate::failure::Code;
use crate::state::State;

fn fifo(path: &Path) {
    let made = std::process::Command::new("mkfifo").arg(path).status();
    assert!(made.unwrap().success());
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

fn made() -> Home {
    let home = Home::new();
    let state = home.open();
    insert(&state, 1, &[entry(Event::ApprovalGranted, "a.b")]).unwrap();
    home
}

#[test]
fn everything_is_for_its_owner_alone() {
    let home = made();
    let state = home.open();
    insert(&state, 2, &[entry(Event::ApprovalGranted, "a.b")]).unwrap();
    for folder in ["", "chain", "running"] {
        assert_eq!(mode(&home.path().join(folder)), 0o700, "{folder}");
    }
    for file in [
        "govern.sqlite",
        "govern.sqlite-wal",
        "govern.sqlite-shm",
        "govern.lock",
        "audit.key",
        "audit.pub",
        "chain/000001.jsonl",
        "chain/HEAD",
    ] {
        assert_eq!(mode(&home.path().join(file)), 0o600, "{file}");
    }
}

#[test]
fn what_others_may_read_is_closed_and_what_they_may_write_is_refused() {
    let home = made();
    for (name, wanted) in [
        ("", 0o700),
        ("chain/000001.jsonl", 0o600),
        ("govern.sqlite", 0o600),
    ] {
        let path = home.path().join(name);
        fs::set_permissions(&path, fs::Permissions::from_mode(wanted | 0o044)).unwrap();
        drop(home.open());
        assert_eq!(mode(&path), wanted, "{name}");
    }
    for (name, wanted) in [("", 0o700), ("govern.sqlite", 0o600)] {
        let path = home.path().join(name);
        fs::set_permissions(&path, fs::Permissions::from_mode(wanted | 0o020)).unwrap();
        let refused = State::open(&home.path()).unwrap_err();
        assert_eq!(refused.code, Code::StoreUnavailable, "{name}");
        fs::set_permissions(&path, fs::Permissions::from_mode(wanted)).unwrap();
    }
    let path = home.path().join("chain/000001.jsonl");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o602)).unwrap();
    assert!(home.open().damage().is_some());
}

#[test]
fn a_link_for_the_chain_or_a_file_of_it_is_damage() {
    for name in ["chain", "chain/000001.jsonl", "chain/HEAD", "audit.key"] {
        let home = made();
        let path = home.path().join(name);
        let elsewhere = home.path().join("elsewhere");
        fs::rename(&path, &elsewhere).unwrap();
        symlink(&elsewhere, &path).unwrap();
        let state = home.open();
        let damage = state.damage().unwrap();
        assert_eq!(damage.code, Code::AuditUnavailable, "{name}");
        let refused = insert(&state, 2, &[]).unwrap_err();
        assert_eq!(refused.code, Code::AuditUnavailable);
        assert_eq!(rows(&state), [1]);
    }
}

#[test]
fn a_file_with_a_second_name_is_damage() {
    let home = made();
    let kept = home.path().join("kept");
    fs::hard_link(home.path().join("chain/000001.jsonl"), &kept).unwrap();
    assert!(home.open().damage().is_some());
}

#[test]
fn a_link_for_the_database_is_refused() {
    for name in ["govern.sqlite", "govern.sqlite-wal"] {
        let home = made();
        let path = home.path().join(name);
        let _ = fs::remove_file(&path);
        symlink(home.folder.path().join("nothing"), &path).unwrap();
        let refused = State::open(&home.path()).unwrap_err();
        assert_eq!(refused.code, Code::StoreUnavailable, "{name}");
        assert!(!home.folder.path().join("nothing").exists());
    }
}

#[test]
fn pipes_keep_nobody_waiting() {
    let begun = Instant::now();
    for name in [
        "govern.lock",
        "chain/HEAD",
        "chain/000001.jsonl",
        "audit.pub",
    ] {
        let home = made();
        let path = home.path().join(name);
        fs::remove_file(&path).unwrap();
        fifo(&path);
        match State::open(&home.path()) {
            Ok(state) => assert!(state.damage().is_some(), "{name}"),
            Err(failure) => assert_eq!(failure.code, Code::AuditUnavailable, "{name}"),
        }
        let verdict = verify(&home.path(), None, &|| false).unwrap();
        assert_eq!(verdict.ok, name == "govern.lock", "{name}");
        if name == "chain/000001.jsonl" {
            assert_eq!(verdict.reason, Some(Reason::Malformed));
        }
    }
    assert!(begun.elapsed() < Duration::from_secs(4));
}

#[test]
fn another_users_files_are_refused() {
    if rustix::process::geteuid().as_raw() != 0 {
        // Only root can give files away.
        return;
    }
    let home = made();
    std::os::unix::fs::chown(home.path().join("chain/HEAD"), Some(12345), None).unwrap();
    assert!(home.open().damage().is_some());
    std::os::unix::fs::chown(home.path().join("govern.sqlite"), Some(12345), None).unwrap();
    assert_eq!(
        State::open(&home.path()).unwrap_err().code,
        Code::StoreUnavailable
    );
    // A copy may be anybody's to verify.
    assert!(home.verify().ok);
}

#[test]
fn a_database_that_is_none_or_anothers_or_newer_stops_the_governor() {
    let home = made();
    let none = "not a database, although longer than its header would have to be: ".repeat(9);
    fs::write(home.path().join("govern.sqlite"), none).unwrap();
    let refused = State::open(&home.path()).unwrap_err();
    assert_eq!(refused.code, Code::StoreUnavailable);
    for change in ["PRAGMA user_version = 1000000", "PRAGMA application_id = 7"] {
        let home = made();
        let database = rusqlite::Connection::open(home.path().join("govern.sqlite")).unwrap();
        database.execute_batch(change).unwrap();
        drop(database);
        let refused = State::open(&home.path()).unwrap_err();
        assert_eq!(refused.code, Code::StoreUnavailable, "{change}");
    }
    let home = made();
    let path = home.path().join("govern.sqlite");
    let mut bytes = fs::read(&path).unwrap();
    let page = 4096;
    bytes[page..].fill(0x5a);
    fs::write(&path, bytes).unwrap();
    let refused = State::open(&home.path()).unwrap_err();
    assert_eq!(refused.code, Code::StoreUnavailable);
}

#[test]
fn a_database_that_was_taken_away_or_emptied_is_not_begun_anew_beside_its_chain() {
    for content in [None, Some(&b""[..]), Some(b"x")] {
        let home = made();
        let state = home.open();
        insert(&state, 2, &[entry(Event::ApprovalRevoked, "a.b")]).unwrap();
        drop(state);
        let path = home.path().join("govern.sqlite");
        fs::remove_file(&path).unwrap();
        if let Some(content) = content {
            fs::write(&path, content).unwrap();
        }
        assert!(home.open().damage().is_some());
        assert_eq!(home.records().len(), 2);
    }
}
