//! A step that fails, and a host that is killed, at every step there is.

use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;

use super::*;
use crate::MeterBudgets;
use crate::testing::{AMPLE, meter, writer_at};
use steps::faults::Faults;

/// What [`child`] is told by its environment.
#[derive(Debug, Clone, Copy, Default)]
struct Orders {
    fail_at: usize,
    kill_at: usize,
    without_flags: bool,
    what: What,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum What {
    #[default]
    Apply,
    Recover,
    /// With a limit on the length of files.
    Limited,
    /// Where the mount cannot be written.
    ReadOnly,
}

fn scene() -> Site {
    let site = Site::new();
    write(&site, "a", "old a", 0o640);
    write(&site, "sub/b", "old b", 0o755);
    write(&site, "gone", "old gone", 0o600);
    write(&site, "run", "same", 0o644);
    site
}

fn changes() -> Vec<Change> {
    vec![
        modify("a", "old a", "new a"),
        create("d/e/f", "new f"),
        delete("gone", "old gone"),
        create("d/g", "new g"),
        change("run", sha256(b"same"), program("same")),
        change("sub/b", sha256(b"old b"), program("new b")),
    ]
}

/// The contents before and after [`changes`].
fn before_and_after() -> (Contents, Contents) {
    let site = scene();
    let before = contents(&site.work());
    assert_eq!(apply(&site.writer(""), changes()).unwrap(), Ok(()));
    (before, contents(&site.work()))
}

fn steps(orders: Orders) -> Steps {
    Steps {
        faults: Faults {
            fail_at: orders.fail_at,
            kill_at: orders.kill_at,
            without_flags: orders.without_flags,
            ..Faults::default()
        },
    }
}

/// The process that is killed: this test alone, started by the others.
#[test]
#[ignore = "started by other tests"]
fn child() {
    let text = |name: &str| std::env::var(name).unwrap();
    let root = PathBuf::from(text("TEST_ROOT"));
    let orders = Orders {
        fail_at: text("TEST_FAIL_AT").parse().unwrap(),
        kill_at: text("TEST_KILL_AT").parse().unwrap(),
        without_flags: text("TEST_WITHOUT_FLAGS") == "true",
        what: What::Apply,
    };
    let call = writer_at(&root, "");
    let steps = steps(orders);
    match text("TEST_WHAT").as_str() {
        "Apply" => {
            let answer = apply_by_steps(&call, changes(), &steps).unwrap();
            assert!(answer.is_ok() || orders.fail_at > 0, "{answer:?}");
        }
        "Recover" => {
            let locked = lock(call.journals.as_ref().unwrap(), &call).unwrap();
            recovery::recover(&call, &locked, &steps);
        }
        "Limited" => {
            use rustix::process::{Resource, Rlimit, setrlimit};
            let limit = Rlimit {
                current: Some(100_000),
                maximum: None,
            };
            setrlimit(Resource::Fsize, limit).unwrap();
            let large = Content {
                bytes: vec![b'x'; 100_001],
                executable: false,
            };
            let list = vec![create("x", "x"), change("y", Expected::Absent, Some(large))];
            assert_eq!(apply(&call, list).unwrap(), failure(1, FsError::Io));
        }
        "ReadOnly" => {
            fs::write(root.join("begun"), "").unwrap();
            let list = vec![modify("a", "old a", "new"), create("x", "x")];
            let answer = apply(&call, list).unwrap();
            assert_eq!(answer.unwrap_err().reason, FsError::ReadOnly);
        }
        other => panic!("{other}"),
    }
}

fn run(site: &Site, orders: Orders) -> ExitStatus {
    let mut command = Command::new("env");
    ordered(&mut command, site, orders).status().unwrap()
}

/// A command that ends in running [`child`].
fn ordered<'command>(
    command: &'command mut Command,
    site: &Site,
    orders: Orders,
) -> &'command mut Command {
    let (_, name) = concat!(module_path!(), "::child").split_once("::").unwrap();
    command
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", name, "--ignored", "--test-threads=1"])
        .env("TEST_ROOT", &site.root)
        .env("TEST_FAIL_AT", orders.fail_at.to_string())
        .env("TEST_KILL_AT", orders.kill_at.to_string())
        .env("TEST_WITHOUT_FLAGS", orders.without_flags.to_string())
        .env("TEST_WHAT", format!("{:?}", orders.what))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
}

/// Runs the orders in a process; whether it was killed.
fn is_killed(site: &Site, orders: Orders) -> bool {
    let status = run(site, orders);
    assert!(
        status.success() || status.signal() == Some(9),
        "{orders:?}: {status}"
    );
    !status.success()
}

#[test]
fn a_step_that_fails_leaves_everything_as_it_was() {
    for without_flags in [false, true] {
        let (before, after) = before_and_after();
        let site = scene();
        let call = site.writer("");
        for fail_at in 1.. {
            let steps = steps(Orders {
                fail_at,
                without_flags,
                ..Orders::default()
            });
            let answer = apply_by_steps(&call, changes(), &steps).unwrap();
            assert_eq!(journals(&site), [""; 0], "{fail_at}");
            if answer.is_ok() {
                assert!(fail_at > 20, "{fail_at}");
                break;
            }
            assert_eq!(answer.unwrap_err().reason, FsError::Io, "{fail_at}");
            assert_eq!(contents(&site.work()), before, "{fail_at}");
        }
        assert_eq!(contents(&site.work()), after);
    }
}

/// The next call finds all as it was, or all done.
#[test]
fn a_host_that_is_killed_leaves_what_the_next_one_finishes_or_undoes() {
    let (before, after) = before_and_after();
    for without_flags in [false, true] {
        let mut outcomes = [0, 0];
        for kill_at in 1.. {
            let site = scene();
            if !is_killed(
                &site,
                Orders {
                    kill_at,
                    without_flags,
                    ..Orders::default()
                },
            ) {
                break;
            }
            let call = site.writer("");
            recover(&call).unwrap();
            let now = contents(&site.work());
            assert!(
                now == before || now == after,
                "{kill_at}: {:?}",
                names(&now)
            );
            outcomes[usize::from(now == after)] += 1;
            assert_eq!(journals(&site), [""; 0], "{kill_at}");
        }
        assert!(outcomes[0] > 10 && outcomes[1] > 10, "{outcomes:?}");
    }
}

/// A host that is killed while it undoes is undone, and one that is killed while it recovers is recovered from.
#[test]
fn a_host_may_be_killed_again_and_again() {
    let (before, after) = before_and_after();
    for without_flags in [false, true] {
        let steps = steps(Orders {
            without_flags,
            ..Orders::default()
        });
        let site = scene();
        apply_by_steps(&site.writer(""), changes(), &steps)
            .unwrap()
            .unwrap();
        let all = steps.faults.taken.into_inner();
        for fail_at in (1..all).step_by(5) {
            for kill_at in (fail_at + 1..).step_by(7) {
                let site = scene();
                let orders = Orders {
                    fail_at,
                    kill_at,
                    without_flags,
                    what: What::Apply,
                };
                if !is_killed(&site, orders) {
                    break;
                }
                let mut again = Orders {
                    kill_at: 2,
                    fail_at: 0,
                    what: What::Recover,
                    ..orders
                };
                while is_killed(&site, again) {
                    again.kill_at += 5;
                }
                let now = contents(&site.work());
                assert!(
                    now == before || now == after,
                    "{orders:?}: {:?}",
                    names(&now)
                );
                assert_eq!(journals(&site), [""; 0], "{orders:?}");
            }
        }
    }
}

/// What somebody else wrote after the host was killed stays.
#[test]
fn recovering_never_takes_away_what_others_wrote_since() {
    let foreign = ["a", "gone", "run", "d/g"];
    let (before, after) = before_and_after();
    for kill_at in 1.. {
        let site = scene();
        if !is_killed(
            &site,
            Orders {
                kill_at,
                ..Orders::default()
            },
        ) {
            break;
        }
        for (number, name) in foreign.iter().enumerate() {
            write(&site, name, "foreign", 0o600);
            if number % 2 == 0 {
                // As editors do it.
                write(&site, "foreign", "foreign", 0o600);
                fs::rename(site.work().join("foreign"), site.work().join(name)).unwrap();
            }
        }
        recover(&site.writer("")).unwrap();
        let now = contents(&site.work());
        for name in foreign {
            assert_eq!(
                now[name].1.as_deref(),
                Some(b"foreign".as_slice()),
                "{kill_at} {name}"
            );
        }
        for name in now.keys().filter(|name| !foreign.contains(&name.as_str())) {
            let known = before.get(name) == now.get(name) || after.get(name) == now.get(name);
            assert!(known, "{kill_at} {name}");
        }
        assert_eq!(journals(&site), [""; 0], "{kill_at}");
    }
}

/// A file that somebody put back is theirs, though it has the content that was deleted.
#[test]
fn recovering_never_deletes_a_file_that_was_put_back() {
    for without_flags in [false, true] {
        for kill_at in 1.. {
            let site = scene();
            if !is_killed(
                &site,
                Orders {
                    kill_at,
                    without_flags,
                    ..Orders::default()
                },
            ) {
                break;
            }
            for _ in 0..2 {
                let _ = fs::remove_file(site.work().join("gone"));
                write(&site, "gone", "old gone", 0o600);
                recover(&site.writer("")).unwrap();
                assert_eq!(read(&site, "gone"), "old gone", "{kill_at}");
            }
            assert_eq!(journals(&site), [""; 0], "{kill_at}");
        }
    }
}

/// Whoever is told that the time is over finds all as it was.
#[test]
fn a_deadline_that_passes_leaves_everything_as_it_was() {
    let (before, after) = before_and_after();
    let (mut over, mut done) = (0, 0);
    for round in 1..2_000 {
        let site = scene();
        let mut call = site.writer("");
        call.meter = meter(MeterBudgets {
            wall_clock: Duration::from_micros(100 * round),
            ..AMPLE
        });
        match apply(&call, changes()) {
            Ok(answer) => {
                assert_eq!(answer, Ok(()));
                assert_eq!(contents(&site.work()), after);
                done += 1;
            }
            Err(_) => {
                assert_eq!(contents(&site.work()), before);
                over += 1;
            }
        }
        assert_eq!(journals(&site), [""; 0]);
        if done > 20 {
            break;
        }
    }
    assert!(over > 0 && done > 0, "{over} {done}");
}

/// Where nothing can be staged nothing is left to do.
#[test]
fn a_list_for_a_read_only_file_system_leaves_no_journal() {
    let site = scene();
    let script = "mount --bind \"$0\" \"$0\" && mount -o remount,bind,ro \"$0\" && exec \"$@\"";
    let mut command = Command::new("unshare");
    command
        .args(["--user", "--map-root-user", "--mount", "sh", "-c", script])
        .arg(site.work());
    let orders = Orders {
        what: What::ReadOnly,
        ..Orders::default()
    };
    let Ok(status) = ordered(&mut command, &site, orders).status() else {
        return;
    };
    // Not every system lets a test mount something.
    if site.root.join("begun").exists() {
        assert!(status.success(), "{status}");
        assert_eq!(journals(&site), [""; 0]);
    }
}

/// A write beyond the limit would end the process by SIGXFSZ.
#[test]
fn a_limit_on_the_length_of_files_is_an_answer_and_no_signal() {
    let site = scene();
    let before = contents(&site.work());
    let status = run(
        &site,
        Orders {
            what: What::Limited,
            ..Orders::default()
        },
    );
    assert!(status.success(), "{status}");
    assert_eq!(contents(&site.work()), before);
    assert_eq!(journals(&site), [""; 0]);
}

/// The step after which a killed host has a journal with all staged, and no target touched.
fn interrupted(kill_at: usize) -> Site {
    let site = scene();
    assert!(is_killed(
        &site,
        Orders {
            kill_at,
            ..Orders::default()
        }
    ));
    assert_eq!(journals(&site).len(), 1);
    site
}

#[test]
fn a_journal_of_another_version_or_directory_is_put_aside_and_nothing_is_done() {
    let damage: [fn(&Path, &Site); 4] = [
        // Another volume at the same path: its root has the same inode.
        |journal, _| {
            let text = fs::read_to_string(journal).unwrap();
            let other = text
                .replace("\"born\":[", "\"born\":[9")
                .replace("\"born\":null", "\"born\":[9,9]");
            assert_ne!(text, other);
            fs::write(journal, other).unwrap();
        },
        |journal, _| {
            let text = fs::read_to_string(journal).unwrap();
            fs::write(journal, text.replace("\"version\":1", "\"version\":9")).unwrap();
        },
        |journal, _| fs::write(journal, "{").unwrap(),
        |_, site| {
            fs::rename(site.work(), site.root.join("moved")).unwrap();
            fs::create_dir(site.work()).unwrap();
        },
    ];
    for damage in damage {
        let site = interrupted(20);
        let journal = site.root.join("state/changes").join(&journals(&site)[0]);
        damage(&journal, &site);
        let before = contents(&site.root.join("work"));
        let call = site.writer("");
        recover(&call).unwrap();
        let left = journals(&site);
        assert!(
            left.len() == 1 && left[0].ends_with(".json.damaged"),
            "{left:?}"
        );
        assert_eq!(contents(&site.work()), before);
        // It stands in nobody's way.
        assert_eq!(apply(&call, vec![create("free", "x")]).unwrap(), Ok(()));
    }
}

#[test]
fn a_mount_that_is_not_there_is_waited_for() {
    let (before, after) = before_and_after();
    let site = interrupted(20);
    let call = site.writer("");
    fs::rename(site.work(), site.root.join("away")).unwrap();
    recover(&call).unwrap();
    assert_eq!(journals(&site).len(), 1);
    fs::rename(site.root.join("away"), site.work()).unwrap();
    recover(&call).unwrap();
    let now = contents(&site.work());
    assert!(now == before || now == after);
    assert_eq!(journals(&site).len(), 0);
}
