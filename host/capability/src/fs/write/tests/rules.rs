//! What is changed, and what is refused before anything is.

use std::os::unix::fs::{MetadataExt, symlink};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::*;
use crate::testing::{AMPLE, call as call_with, meter};
use crate::{Budget, MeterBudgets, OwnFiles};
use hydrant_policy::Grant;

fn refused(call: &Call, changes: Vec<Change>, number: u32, reason: FsError) {
    let asked = format!("{changes:?}");
    assert_eq!(
        apply(call, changes).unwrap(),
        failure(number, reason),
        "{asked}"
    );
}

#[test]
fn files_are_changed_made_and_deleted_in_one_go() {
    let site = Site::new();
    write(&site, "a", "old", 0o640);
    write(&site, "run", "#!", 0o755);
    write(&site, "gone", "x", 0o644);
    let call = site.writer("");
    let changes = vec![
        modify("a", "old", "new"),
        create("d/e/f", "made"),
        change("d/p", Expected::Absent, program("p")),
        delete("gone", "x"),
        modify("run", "#!", "#!"),
        change("nothing/there", Expected::Absent, None),
    ];
    assert_eq!(apply(&call, changes).unwrap(), Ok(()));
    let all = contents(&site.work());
    assert_eq!(names(&all), ["a", "d", "d/e", "d/e/f", "d/p", "run"]);
    let file = |mode: u32, bytes: &str| (0o100_000 | mode, Some(bytes.as_bytes().to_vec()));
    assert_eq!(all["a"], file(0o640, "new"));
    assert_eq!(all["d/e/f"], file(0o644, "made"));
    assert_eq!(all["d/p"], file(0o755, "p"));
    // The content is the same, and its owner may not execute it any more.
    assert_eq!(all["run"], file(0o644, "#!"));
    assert!(all["d"].0 & 0o022 == 0);
    assert_eq!(journals(&site), [""; 0]);
    assert_eq!(call.meter.used().hostcalls, 6);
    let entries = call.journal.take();
    assert!(entries.used.contains("fs.write") && entries.denied.is_empty());
}

#[test]
fn a_denied_path_anywhere_in_the_list_stops_it_before_any_file_is_touched() {
    let site = Site::new();
    write(&site, "a", "old", 0o644);
    fs::create_dir(site.work().join("ro")).unwrap();
    let call = site.writer(
        "  - {at: /data, dir: ./work/ro, mode: ro}\n  - {at: /os/web, url: \"https://x.example/\"}\n",
    );
    let before = contents(&site.work());
    for path in [
        "/os/x",
        "/etc/passwd",
        "/os/web/x",
        "/data/x",
        "/workspace/ro/x",
        "/workspace/ro",
        "/workspace/.git/config",
        "/workspace/sub/.GIT/hooks/x",
        "/workspace/.gIt",
    ] {
        let denied = Change {
            path: path.to_owned(),
            expected: Expected::Absent,
            content: text("x"),
        };
        refused(
            &call,
            vec![modify("a", "old", "new"), create("b", "b"), denied],
            2,
            FsError::Denied,
        );
        let denied = call.journal.take().denied;
        assert_eq!(denied, [format!("fs.write:{path}")]);
    }
    assert_eq!(contents(&site.work()), before);
    let nobody = Call {
        journals: call.journals,
        ..call_with(Grant::nothing())
    };
    refused(&nobody, vec![create("b", "b")], 0, FsError::Denied);
}

/// What says what is allowed, and how files are changed, is not changed by that.
#[test]
fn the_hosts_own_files_are_denied_whatever_mount_shows_them() {
    let site = Site::new();
    fs::create_dir(site.work().join("home")).unwrap();
    write(&site, "policy.yaml", "old", 0o644);
    let own = [site.work().join("home"), site.work().join("policy.yaml")];
    let call = Call {
        own: Arc::new(OwnFiles::new(own.iter().map(PathBuf::as_path))),
        ..site.writer("")
    };
    for change in [
        create("home/hydrant.toml", "x"),
        create("home/state/audit.jsonl", "x"),
        modify("policy.yaml", "old", "new"),
        delete("policy.yaml", "old"),
    ] {
        let asked = format!("fs.write:{}", change.path);
        refused(&call, vec![create("b", "b"), change], 1, FsError::Denied);
        assert_eq!(call.journal.take().denied, [asked]);
    }
    apply(&call, vec![create("home-made", "x")])
        .unwrap()
        .unwrap();
}

/// A writable directory inside a read-only one is writable by its own mount only.
#[test]
fn of_nested_mounts_the_read_only_directory_wins() {
    let site = Site::new();
    fs::create_dir(site.os().join("rw")).unwrap();
    let call = site.writer("  - {at: /inner, dir: ./os/rw, mode: rw}\n");
    let inner = Change {
        path: "/inner/x".to_owned(),
        ..create("x", "x")
    };
    refused(&call, vec![inner], 0, FsError::Denied);
    assert_eq!(contents(&site.os()).len(), 1);
}

/// Somebody else may move it while a service runs.
#[test]
fn a_read_only_directory_is_known_wherever_it_was_moved() {
    let site = Site::new();
    fs::create_dir(site.work().join("ro")).unwrap();
    fs::create_dir(site.work().join("other")).unwrap();
    let call = site.writer("  - {at: /data, dir: ./work/ro, mode: ro}\n");
    fs::rename(site.work().join("ro"), site.work().join("moved")).unwrap();
    refused(&call, vec![create("moved/x", "x")], 0, FsError::Denied);
    assert_eq!(apply(&call, vec![create("other/x", "x")]).unwrap(), Ok(()));
}

#[test]
fn what_is_no_path_or_the_mount_itself_is_no_file_to_change() {
    let site = Site::new();
    let call = site.writer("");
    for path in ["../x", "a/../b", "a//b", "a\0b", "./a", ""] {
        refused(
            &call,
            vec![create("a", "a"), create(path, "x")],
            1,
            FsError::InvalidPath,
        );
    }
    let mount = Change {
        path: "/workspace".to_owned(),
        ..create("", "x")
    };
    refused(&call, vec![mount], 0, FsError::IsDirectory);
    refused(
        &call,
        vec![create(&"n".repeat(300), "x")],
        0,
        FsError::InvalidPath,
    );
    refused(
        &call,
        vec![create(&format!("{}/x", "n".repeat(300)), "x")],
        0,
        FsError::InvalidPath,
    );
    assert_eq!(contents(&site.work()).len(), 0);
}

#[test]
fn one_file_is_changed_once_by_whatever_mount() {
    let site = Site::new();
    let call = site.writer("  - {at: /again, dir: ./work, mode: rw}\n");
    refused(
        &call,
        vec![create("a", "1"), create("b", "2"), create("a", "3")],
        2,
        FsError::InvalidPath,
    );
    refused(
        &call,
        vec![create("a/b", "1"), create("a", "2")],
        1,
        FsError::InvalidPath,
    );
    let again = Change {
        path: "/again/a".to_owned(),
        ..create("a", "2")
    };
    refused(
        &call,
        vec![create("a", "1"), again.clone()],
        1,
        FsError::InvalidPath,
    );
    let other = Change {
        path: "/again/b".to_owned(),
        ..again
    };
    assert_eq!(apply(&call, vec![create("a", "1"), other]).unwrap(), Ok(()));
    assert_eq!(names(&contents(&site.work())), ["a", "b"]);
}

#[test]
fn a_list_is_bounded_in_changes_and_bytes() {
    let site = Site::new();
    let call = site.writer("");
    let many = |count: usize| {
        (0..count)
            .map(|number| create(&number.to_string(), ""))
            .collect()
    };
    refused(&call, many(MAX_CHANGES + 1), 2000, FsError::TooLarge);
    let sized = |path: &str, bytes: usize| {
        change(
            path,
            Expected::Absent,
            Some(Content {
                bytes: vec![0; bytes],
                executable: false,
            }),
        )
    };
    let most = 16 * 1024 * 1024;
    refused(&call, vec![sized("a", most + 1)], 0, FsError::TooLarge);
    let four: Vec<_> = ["a", "b", "c", "d"].map(|path| sized(path, most)).into();
    refused(
        &call,
        [four.clone(), vec![sized("e", 1)]].concat(),
        4,
        FsError::TooLarge,
    );
    assert_eq!(contents(&site.work()).len(), 0);
    assert_eq!(apply(&call, four).unwrap(), Ok(()));
    assert_eq!(contents(&site.work()).len(), 4);
}

#[test]
fn a_list_makes_no_more_directories_than_that() {
    let site = Site::new();
    let call = site.writer("");
    let deep = |name: &str, levels: usize| create(&format!("{name}/{}f", "d/".repeat(levels)), "x");
    let started = Instant::now();
    let changes = vec![deep("a", 999), deep("a", 10), deep("b", 999), deep("c", 0)];
    refused(&call, changes, 3, FsError::TooLarge);
    let all: Vec<_> = (0..2000)
        .map(|number| deep(&number.to_string(), 2000))
        .collect();
    refused(&call, all, 0, FsError::TooLarge);
    assert_eq!(contents(&site.work()).len(), 0);
    assert!(started.elapsed() < Duration::from_secs(10));
    let changes = vec![deep("a", 500), deep("b", 400)];
    assert_eq!(apply(&call, changes).unwrap(), Ok(()));
}

/// Whoever could write a journal could have any file of this user changed.
#[test]
fn the_journals_are_not_written_by_way_of_a_mount() {
    let site = Site::new();
    let call = site.writer("  - {at: /home, dir: ., mode: rw}\n");
    for name in ["forged.json", "lock", "new/forged.json"] {
        let forged = Change {
            path: format!("/home/state/changes/{name}"),
            ..create("", "{}")
        };
        refused(&call, vec![forged.clone()], 0, FsError::Denied);
        let denied = format!("fs.write:{}", forged.path);
        assert_eq!(call.journal.take().denied, [denied]);
    }
    assert_eq!(journals(&site), [""; 0]);
}

#[test]
fn what_a_path_holds_instead_is_told_and_nothing_is_changed() {
    let site = Site::new();
    let work = site.work();
    write(&site, "a", "old", 0o644);
    write(&site, "d/f", "f", 0o644);
    let sparse = fs::File::create(work.join("large")).unwrap();
    sparse.set_len(1 << 40).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, work.join("fifo"), rustix::fs::Mode::RWXU).unwrap();
    symlink("a", work.join("link")).unwrap();
    symlink("d", work.join("dlink")).unwrap();
    symlink("nowhere", work.join("dangling")).unwrap();
    let call = site.writer("");
    let before = contents(&work).len();
    let started = Instant::now();
    for (wrong, reason) in [
        (modify("a", "other", "new"), FsError::Conflict),
        (delete("a", "other"), FsError::Conflict),
        (modify("none", "x", "new"), FsError::NotFound),
        (modify("none/none", "x", "new"), FsError::NotFound),
        (modify("d", "x", "new"), FsError::IsDirectory),
        (delete("d", "x"), FsError::IsDirectory),
        (modify("fifo", "x", "new"), FsError::Special),
        (modify("large", "x", "new"), FsError::TooLarge),
        (modify("link", "old", "new"), FsError::Symlink),
        (modify("dlink/f", "f", "new"), FsError::Symlink),
        (modify("dangling", "x", "new"), FsError::Symlink),
        (create("a", "new"), FsError::Conflict),
        (create("d", "new"), FsError::Conflict),
        (create("fifo", "new"), FsError::Conflict),
        (create("link", "new"), FsError::Symlink),
        (create("dangling", "new"), FsError::Symlink),
        (create("dlink/new", "new"), FsError::Symlink),
        (create("dlink/new/new", "new"), FsError::Symlink),
        (create("dangling/new", "new"), FsError::Symlink),
        (create("a/new", "new"), FsError::NotDirectory),
        (create("a/new/new", "new"), FsError::NotDirectory),
        (change("a", Expected::Absent, None), FsError::Conflict),
        (change("link", Expected::Absent, None), FsError::Symlink),
    ] {
        let changes = vec![create("new/er", "1"), create("e", "2"), wrong];
        refused(&call, changes, 2, reason);
        assert_eq!((contents(&work).len(), journals(&site).len()), (before, 0));
    }
    assert_eq!(read(&site, "a"), "old");
    assert!(started.elapsed() < Duration::from_secs(10));
}

#[test]
fn an_empty_list_is_done() {
    let site = Site::new();
    assert_eq!(apply(&site.writer(""), Vec::new()).unwrap(), Ok(()));
    assert!(!site.root.join("state").exists());
}

#[test]
fn without_a_home_one_file_at_a_time_is_changed() {
    let site = Site::new();
    let call = Call {
        journals: None,
        ..site.writer("")
    };
    refused(
        &call,
        vec![create("a", "1"), create("b", "1")],
        1,
        FsError::NotAccessible,
    );
    assert_eq!(apply(&call, vec![create("d/a", "1")]).unwrap(), Ok(()));
    assert_eq!(apply(&call, vec![modify("d/a", "1", "2")]).unwrap(), Ok(()));
    assert_eq!(names(&contents(&site.work())), ["d", "d/a"]);
    refused(&call, vec![modify("d/a", "1", "3")], 0, FsError::Conflict);
    assert_eq!(apply(&call, vec![delete("d/a", "2")]).unwrap(), Ok(()));
    assert_eq!(names(&contents(&site.work())), ["d"]);
    let unusable = Call {
        journals: Some(Journals::new("/proc/self/none".into())),
        ..site.writer("")
    };
    refused(&unusable, vec![create("b", "1")], 0, FsError::NotAccessible);
}

#[test]
fn the_journals_are_for_their_owner_alone() {
    let site = Site::new();
    assert_eq!(
        apply(&site.writer(""), vec![create("a", "1")]).unwrap(),
        Ok(())
    );
    let folder = site.root.join("state/changes");
    assert_eq!(folder.metadata().unwrap().mode() & 0o777, 0o700);
    assert_eq!(
        folder.join("lock").metadata().unwrap().mode() & 0o777,
        0o600
    );
}

#[test]
fn the_lock_of_another_host_is_waited_for_until_the_deadline() {
    let site = Site::new();
    let mut call = site.writer("");
    let held = lock(call.journals.as_ref().unwrap(), &call).unwrap();
    call.meter = meter(MeterBudgets {
        wall_clock: Duration::from_millis(50),
        ..AMPLE
    });
    let exceeded = apply(&call, vec![create("a", "1")]).unwrap_err();
    assert_eq!(exceeded.budget, Budget::WallClock);
    assert_eq!(contents(&site.work()).len(), 0);
    let patient = site.writer("");
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| apply(&patient, vec![create("a", "1")]).unwrap());
        std::thread::sleep(Duration::from_millis(50));
        drop(held);
        assert_eq!(waiting.join().unwrap(), Ok(()));
    });
    call.meter = meter(MeterBudgets {
        hostcalls: 1,
        ..AMPLE
    });
    let exceeded = apply(&call, vec![create("b", "1"), create("c", "1")]).unwrap_err();
    assert_eq!(exceeded.budget, Budget::Hostcalls);
    assert_eq!(names(&contents(&site.work())), ["a"]);
}

#[test]
fn many_directories_need_no_more_handles_than_a_process_has() {
    let site = Site::new();
    let call = site.writer("");
    let count = 600;
    let made: Vec<_> = (0..count)
        .map(|number| create(&format!("{number}/f"), "1"))
        .collect();
    assert_eq!(apply(&call, made).unwrap(), Ok(()));
    let changed: Vec<_> = (0..count)
        .map(|number| modify(&format!("{number}/f"), "1", "2"))
        .collect();
    assert_eq!(apply(&call, changed).unwrap(), Ok(()));
    let all = contents(&site.work());
    assert_eq!(all.len(), 2 * count);
    assert!(
        all.values()
            .flat_map(|(_, bytes)| bytes)
            .all(|bytes| bytes == b"2")
    );
}

/// Another name of the same file keeps what it had.
#[test]
fn a_hard_link_to_a_file_outside_is_never_written_through() {
    let site = Site::new();
    let outside = site.root.join("outside");
    fs::write(&outside, "precious").unwrap();
    fs::hard_link(&outside, site.work().join("a")).unwrap();
    let call = site.writer("");
    assert_eq!(
        apply(&call, vec![modify("a", "precious", "new")]).unwrap(),
        Ok(())
    );
    assert_eq!(
        (
            read(&site, "a").as_str(),
            fs::read_to_string(&outside).unwrap().as_str()
        ),
        ("new", "precious")
    );
}
