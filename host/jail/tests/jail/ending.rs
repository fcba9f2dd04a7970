//! How a jail ends, and that everything in it does.

use std::fs;
use std::time::{Duration, Instant};

use hydrant_jail::{Access, How, Launcher, Mount, Streams};

use crate::support::{Ran, inside, run, script, source};

#[test]
fn a_timeout_ends_whatever_has_forked_away() {
    let directory = tempfile::tempdir().unwrap();
    let mut plan = script(
        "(setsid sh -c '(while :; do date +%N > /site/alive; sleep 0.05; done) &' &); sleep 60",
    );
    plan.mounts = vec![Mount {
        source: source(&directory),
        at: inside("/site"),
        access: Access::ReadWrite,
        executable: false,
    }];
    plan.limits.wall = Some(Duration::from_millis(500));
    let begin = Instant::now();
    assert_eq!(run(plan).how, How::TimedOut);
    assert!(
        begin.elapsed() < Duration::from_secs(2),
        "{:?}",
        begin.elapsed()
    );
    let last = fs::read(directory.path().join("alive")).unwrap();
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(fs::read(directory.path().join("alive")).unwrap(), last);
}

/// What a program does when it is told to end; the shell waits for its child in a way that a signal interrupts.
const TIDIES: &str = "trap 'echo tidied; exit 3' TERM; echo began; sleep 60 & wait";

fn timed(text: &str, grace: Option<Duration>) -> (Ran, Duration) {
    let mut plan = script(text);
    plan.limits.wall = Some(Duration::from_millis(500));
    plan.limits.grace = grace;
    let started = Instant::now();
    (run(plan), started.elapsed())
}

#[test]
fn a_program_whose_time_is_up_may_end_by_itself_where_it_is_given_time_to() {
    let grace = Some(Duration::from_secs(2));
    let (ran, took) = timed(TIDIES, grace);
    assert_eq!(
        (ran.how, ran.output.as_str()),
        (How::TimedOut, "began\ntidied\n")
    );
    assert!(took < Duration::from_secs(2), "{took:?}: all had ended");
    let (ran, took) = timed(TIDIES, None);
    assert_eq!((ran.how, ran.output.as_str()), (How::TimedOut, "began\n"));
    assert!(took < Duration::from_secs(2), "{took:?}");
}

#[test]
fn a_program_that_does_not_end_by_itself_is_killed_after_that_time() {
    let grace = Some(Duration::from_millis(700));
    let deaf = "trap '' TERM; (while :; do sleep 1; done) & while :; do sleep 1; done";
    let (ran, took) = timed(deaf, grace);
    assert_eq!(ran.how, How::TimedOut);
    assert!(took >= Duration::from_millis(1_200), "{took:?}");
    assert!(took < Duration::from_secs(3), "{took:?}");
}

#[test]
fn in_that_time_the_number_of_processes_is_limited_as_before() {
    let breeds = "trap 'for i in 1 2 3 4 5 6 7 8; do sleep 60 & done; wait' TERM; sleep 60 & wait";
    let mut plan = script(breeds);
    plan.limits.wall = Some(Duration::from_millis(300));
    plan.limits.grace = Some(Duration::from_secs(30));
    plan.limits.processes = Some(6);
    let started = Instant::now();
    assert_eq!(run(plan).how, How::Processes);
    assert!(started.elapsed() < Duration::from_secs(10));
}

#[test]
fn what_the_program_leaves_behind_ends_with_it_and_holds_nothing_open() {
    let begin = Instant::now();
    assert_eq!(
        run(script("sleep 60 & setsid sleep 60 & exit 4")).how,
        How::Exited(4)
    );
    assert!(
        begin.elapsed() < Duration::from_secs(2),
        "{:?}",
        begin.elapsed()
    );
}

#[test]
fn a_jail_that_is_dropped_is_gone() {
    let directory = tempfile::tempdir().unwrap();
    let mut plan = script("while :; do date +%N > /site/alive; sleep 0.02; done");
    plan.mounts = vec![Mount {
        source: source(&directory),
        at: inside("/site"),
        access: Access::ReadWrite,
        executable: false,
    }];
    let jailed = Launcher::at(env!("CARGO_BIN_EXE_jail-try"))
        .start(plan, Streams::default())
        .unwrap();
    std::thread::sleep(Duration::from_millis(200));
    drop(jailed);
    std::thread::sleep(Duration::from_millis(100));
    let last = fs::read(directory.path().join("alive")).unwrap();
    std::thread::sleep(Duration::from_millis(200));
    assert_eq!(fs::read(directory.path().join("alive")).unwrap(), last);
}
