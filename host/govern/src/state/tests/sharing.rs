//! Two processes, many threads, and time.

use std::ops::ControlFlow;
use std::process::Stdio;
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, OFlags};

use super::{Home, child, entry, insert, rows};
use crate::chain::{Event, Place, Seen, Tail, segment};
use crate::failure::Code;
use crate::state::{Folder, State, database};
use crate::time::Time;

#[test]
fn many_threads_over_two_states_write_one_chain() {
    let home = Home::new();
    let states = [home.open(), home.open()];
    insert(&states[0], 0, &[]).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..8_i64 {
            let state = &states[usize::try_from(thread).unwrap() % 2];
            scope.spawn(move || {
                for number in 1..=5 {
                    let entries = [
                        entry(Event::SkillLoaded, "a"),
                        entry(Event::CapabilityRegistered, "a.b"),
                    ];
                    insert(state, thread * 100 + number, &entries).unwrap();
                    state
                        .append(vec![entry(Event::CapabilityDenied, "a.b")])
                        .unwrap();
                }
            });
        }
    });
    let verdict = home.verify();
    assert!(verdict.ok, "{verdict:?}");
    assert_eq!(verdict.records, 8 * 5 * 3);
    assert_eq!(rows(&states[1]).len(), 41);
    // What one change records stands together.
    let events = home.events();
    let loaded = events
        .iter()
        .position(|event| event.starts_with("skill-loaded"));
    assert!(events[loaded.unwrap() + 1].starts_with("capability-registered"));
}

#[test]
fn two_processes_write_one_chain() {
    let home = Home::new();
    let mut workers: Vec<_> = (0..2)
        .map(|_| {
            child("kill::worker")
                .env("WORK_IN", home.path())
                .env("ROUNDS", "20")
                .stdout(Stdio::null())
                .spawn()
                .unwrap()
        })
        .collect();
    for worker in &mut workers {
        assert!(worker.wait().unwrap().success());
    }
    let verdict = home.verify();
    assert!(verdict.ok, "{verdict:?}");
    assert!(verdict.records >= 2 * 20 * 5);
    let interrupted = home
        .records()
        .iter()
        .filter(|record| record["code"] == "interrupted")
        .count();
    assert_eq!(interrupted, 0, "a start of one ends no call of the other");
}

#[test]
fn whoever_waits_for_5_s_gives_up() {
    let home = Home::new();
    let state = home.open();
    let lock = std::fs::File::open(home.path().join("govern.lock")).unwrap();
    rustix::fs::flock(&lock, FlockOperation::LockExclusive).unwrap();
    let begun = Instant::now();
    let refused = state
        .append(vec![entry(Event::CapabilityDenied, "a.b")])
        .unwrap_err();
    assert_eq!(refused.code, Code::AuditUnavailable);
    assert!(begun.elapsed() >= Duration::from_secs(5));
    // Reading waits for nobody.
    let begun = Instant::now();
    state.read(|_| Ok(())).unwrap();
    assert!(begun.elapsed() < Duration::from_secs(1));
    drop(lock);
    state
        .append(vec![entry(Event::CapabilityDenied, "a.b")])
        .unwrap();
}

#[test]
fn a_lock_file_that_was_taken_away_is_not_two_locks() {
    let home = Home::new();
    let state = home.open();
    let lock = std::fs::File::open(home.path().join("govern.lock")).unwrap();
    rustix::fs::flock(&lock, FlockOperation::LockExclusive).unwrap();
    std::fs::remove_file(home.path().join("govern.lock")).unwrap();
    // Whoever holds the old file holds nothing any more; both that come now meet on the new one.
    state
        .append(vec![entry(Event::CapabilityDenied, "a.b")])
        .unwrap();
    assert!(home.verify().ok);
}

#[test]
fn a_clock_that_is_set_back_sets_nothing_back() {
    let home = Home::new();
    let state = home.open();
    state
        .append(vec![entry(Event::CapabilityDenied, "a.b")])
        .unwrap();
    let future = Time::now().after(Duration::from_secs(3600));
    state
        .with_writer(|writer| {
            // As if the last record had been written an hour later.
            writer.log().known.tail = Tail {
                ts: future,
                ..writer.log().known.tail.clone()
            };
            Ok(())
        })
        .unwrap();
    let seen = state
        .write(|change| {
            change.record(entry(Event::ApprovalExpired, "a.b"));
            Ok(change.now)
        })
        .unwrap();
    assert_eq!(seen, future);
    assert!(state.now() > future);
    // Another process knows it too, and the same one after a restart.
    let other = home.open();
    assert!(other.now() > future);
    state
        .append(vec![entry(Event::CapabilityDenied, "a.b")])
        .unwrap();
    let times: Vec<String> = home
        .records()
        .iter()
        .map(|record| record["ts"].as_str().unwrap().to_owned())
        .collect();
    assert!(times.is_sorted_by(|a, b| a < b), "{times:?}");
    assert!(home.verify().ok);
}

#[test]
fn a_head_that_cannot_be_read_sets_no_clock_back() {
    let home = Home::new();
    let state = home.open();
    state
        .append(vec![entry(Event::CapabilityDenied, "a.b")])
        .unwrap();
    let future = Time::now().after(Duration::from_secs(3600));
    state
        .with_writer(|writer| {
            // As if the last record had been written an hour later.
            writer.log().known.tail = Tail {
                ts: future,
                ..writer.log().known.tail.clone()
            };
            Ok(())
        })
        .unwrap();
    state
        .write(|change| {
            change.record(entry(Event::ApprovalExpired, "a.b"));
            Ok(())
        })
        .unwrap();
    let reader = home.open();
    state
        .append(vec![entry(Event::CapabilityDenied, "a.b")])
        .unwrap();
    let seen = reader.now();
    assert!(seen > future);
    std::fs::write(home.path().join("chain/HEAD"), "{").unwrap();
    // What the database witnesses counts, whatever this process knows.
    *reader.known.lock().unwrap() = super::super::Known::default();
    assert!(reader.now() >= seen);
}

#[test]
fn a_head_that_was_wrong_for_a_moment_leaves_no_time_behind() {
    let home = Home::new();
    let state = home.open();
    state
        .append(vec![entry(Event::CapabilityDenied, "a.b")])
        .unwrap();
    let head = home.path().join("chain/HEAD");
    let right = std::fs::read_to_string(&head).unwrap();
    let future = Time::now().after(Duration::from_secs(3600));
    let ts = serde_json::from_str::<serde_json::Value>(&right).unwrap()["ts"].clone();
    let wrong = right.replace(ts.as_str().unwrap(), &future.to_string());
    assert_ne!(wrong, right);
    std::fs::write(&head, wrong).unwrap();
    assert!(state.now() >= future);
    std::fs::write(&head, right).unwrap();
    assert!(state.now() < future);
}

/// A state whose chain begins a new segment after 4 KiB.
fn in_small_segments(home: &Home) -> State {
    let state = home.open();
    let small = state.with_writer(|writer| {
        writer.log().largest = 4096;
        Ok(())
    });
    small.unwrap();
    state
}

/// Where the chain would be read from at the next start, and the number of the last record that is not read again.
fn known(home: &Home) -> (Place, u64) {
    let folder = Folder::look(&home.path()).unwrap();
    let database = database::reader(&folder).unwrap();
    let chain = folder.child("chain").unwrap().unwrap();
    let scan = database::Known::read(&database).unwrap().start(|number| {
        let file = chain.open(&segment::name(number), OFlags::RDONLY);
        Seen::of(&file.unwrap()?).ok()
    });
    (scan.at, scan.tail.seq)
}

#[test]
fn what_nobody_has_touched_is_not_read_again_wherever_segments_end() {
    let home = Home::new();
    let state = in_small_segments(&home);
    // Three at a time: most segments end between records of one append.
    for number in 0..20 {
        let denied = entry(Event::CapabilityDenied, &format!("a.b{number}"));
        let all = vec![denied.clone(), denied.clone(), denied];
        state.append(all).unwrap();
    }
    insert(&state, 1, &vec![entry(Event::ApprovalGranted, "a.b"); 20]).unwrap();
    drop(state);
    let folder = Folder::look(&home.path()).unwrap();
    let end = segment::end(&folder.child("chain").unwrap().unwrap()).unwrap();
    assert!(end.segment > 5);
    assert_eq!(known(&home), (end, 80));
    // After one was touched, it and those behind it are read again, once.
    let third = home.path().join("chain/000003.jsonl");
    let mode = std::fs::metadata(&third).unwrap().permissions();
    std::fs::set_permissions(&third, mode).unwrap();
    assert_eq!(known(&home).0.segment, 3);
    drop(home.open());
    assert_eq!(known(&home), (end, 80));
}

#[test]
fn the_chain_goes_on_over_segments() {
    let home = Home::new();
    let state = in_small_segments(&home);
    for number in 0..20 {
        let denied = entry(Event::CapabilityDenied, &format!("a.b{number}"));
        state.append(vec![denied.clone(), denied]).unwrap();
    }
    assert!(home.path().join("chain/000005.jsonl").exists());
    let verdict = home.verify();
    assert!(verdict.ok && verdict.records == 40, "{verdict:?}");
    let other = home.open();
    other
        .append(vec![entry(Event::CapabilityDenied, "a.b")])
        .unwrap();
    state
        .append(vec![entry(Event::CapabilityDenied, "a.b")])
        .unwrap();
    drop((state, other));
    assert_eq!(home.open().head().unwrap().seq, 42);
    assert!(home.verify().ok);
    // One that is missing in between is seen, and so is one that was emptied.
    let kept = std::fs::read(home.path().join("chain/000002.jsonl")).unwrap();
    std::fs::write(home.path().join("chain/000002.jsonl"), "").unwrap();
    assert!(!home.verify().ok);
    assert!(home.open().damage().is_some());
    std::fs::remove_file(home.path().join("chain/000002.jsonl")).unwrap();
    assert!(!home.verify().ok);
    assert!(home.open().damage().is_some());
    std::fs::write(home.path().join("chain/000002.jsonl"), kept).unwrap();
    assert!(home.verify().ok);
}

#[test]
fn a_change_inside_a_change_is_refused_not_waited_for_forever() {
    let home = Home::new();
    let state = home.open();
    let inner = state.write(|_| {
        Ok(state
            .append(vec![entry(Event::CapabilityDenied, "a.b")])
            .map_err(|failure| failure.code))
    });
    assert_eq!(inner.unwrap().unwrap_err(), Code::AuditUnavailable);
}

/// A call's two appends; printed for whoever looks, bounded for a machine that is busy.
#[test]
fn a_calls_two_appends_take_little() {
    let home = Home::new();
    let state = home.open();
    let mut times: Vec<Duration> = (0..50)
        .map(|_| {
            let begun = Instant::now();
            let call = state
                .append(vec![entry(Event::CapabilityCall, "a.b")])
                .unwrap();
            let end = crate::chain::Entry {
                call_seq: Some(call.seq),
                ..entry(Event::CapabilityExecuted, "a.b")
            };
            state.append(vec![end]).unwrap();
            begun.elapsed()
        })
        .collect();
    times.sort();
    println!(
        "a call's two appends: median {:?}, 9 in 10 within {:?}",
        times[25], times[45]
    );
    assert!(times[25] < Duration::from_millis(100));
}

#[test]
fn verification_and_showing_keep_nobody_from_writing() {
    let home = Home::new();
    let state = home.open();
    let denied = || vec![entry(Event::CapabilityDenied, "a.b")];
    state.append(denied()).unwrap();
    let mut shown = 0;
    let all = crate::chain::Filter::default();
    crate::chain::show(&home.path(), &all, &|| false, &mut |_| {
        // What is written meanwhile is not shown, or this would have no end.
        state.append(denied()).unwrap();
        shown += 1;
        ControlFlow::Continue(())
    })
    .unwrap();
    assert_eq!(shown, 1);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..40 {
                state.append(denied()).unwrap();
            }
        });
        for _ in 0..20 {
            let verdict = home.verify();
            assert!(verdict.ok, "{verdict:?}");
        }
    });
}

#[test]
fn showing_and_verifying_end_at_the_record_after_nobody_waits() {
    let home = Home::new();
    let state = home.open();
    for _ in 0..10 {
        let denied = vec![entry(Event::CapabilityDenied, "a.b")];
        state.append(denied).unwrap();
    }
    let asked = std::cell::Cell::new(0);
    let third = || {
        asked.set(asked.get() + 1);
        asked.get() > 3
    };
    let (mut shown, all) = (0, crate::chain::Filter::default());
    let mut count = |_: &_| {
        shown += 1;
        ControlFlow::Continue(())
    };
    let failure = crate::chain::show(&home.path(), &all, &third, &mut count).unwrap_err();
    assert_eq!((shown, failure.code), (3, Code::Timeout));
    asked.set(0);
    let failure = crate::chain::verify(&home.path(), None, &third).unwrap_err();
    assert_eq!((asked.get(), failure.code), (4, Code::Timeout));
}

#[test]
fn what_is_shown_of_a_capability_includes_the_loads_of_its_skill() {
    let home = Home::new();
    let state = home.open();
    let entries = vec![
        entry(Event::SkillLoaded, "moltbook"),
        entry(Event::SkillLoaded, "molt"),
        entry(Event::CapabilityCall, "moltbook.create_notebook"),
        entry(Event::CapabilityCall, "moltbook.search"),
        entry(Event::SkillReloaded, "moltbook"),
    ];
    let head = state.append(entries).unwrap();
    let shown = |since, capability: &str| {
        let mut seqs = Vec::new();
        let filter = crate::chain::Filter {
            since,
            capability: Some(capability.to_owned()),
        };
        let anchor = crate::chain::show(&home.path(), &filter, &|| false, &mut |record| {
            seqs.push(record["seq"].as_u64().unwrap());
            ControlFlow::Continue(())
        });
        assert_eq!(
            anchor.unwrap().unwrap().to_string(),
            format!("5:{}", head.hash)
        );
        seqs
    };
    assert_eq!(shown(0, "Moltbook.create-notebook"), [1, 3, 5]);
    assert_eq!(shown(1, "moltbook.search"), [4, 5]);
    assert_eq!(shown(0, "moltbook"), [1, 5]);
}
