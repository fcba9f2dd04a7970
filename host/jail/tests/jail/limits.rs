//! Limits for memory, processes, files and scratch.

use std::time::{Duration, Instant};

use hydrant_jail::How;

use crate::support::{run, script};

#[test]
fn too_much_memory_ends_the_jail() {
    let mut plan = script(
        "perl -e '$x = \"a\" x (40 << 20); sleep 5' & perl -e '$x = \"a\" x (40 << 20); sleep 5' & wait",
    );
    plan.limits.memory_bytes = Some(96 << 20);
    let ran = run(plan);
    assert_eq!(ran.how, How::Memory, "{}", ran.output);
    assert!(ran.ended.usage.peak_memory_bytes > 96 << 20);
}

#[test]
fn one_process_has_no_more_data_than_the_limit() {
    let mut plan = script("perl -e '$x = \"a\" x (100 << 20); print \"got it\"'");
    plan.limits.memory_bytes = Some(64 << 20);
    assert!(!run(plan).output.contains("got it"));
}

#[test]
fn there_are_no_more_processes_than_the_limit() {
    let mut plan = script(
        "i=0; while [ $i -lt 40 ]; do sleep 3 & i=$((i+1)); done; sleep 0.5; echo all of them",
    );
    plan.limits.processes = Some(8);
    let begin = Instant::now();
    let ran = run(plan);
    // An ordinary user's fork fails; root, for whom the kernel has no limit, is ended by the sample.
    assert!(
        !ran.output.contains("all of them"),
        "{:?} {}",
        ran.how,
        ran.output
    );
    assert!(begin.elapsed() < Duration::from_secs(3));
}

#[test]
fn a_file_grows_to_the_limit() {
    let ran = run(script(
        "head -c 5000000 /dev/zero > /tmp/a; stat -c %s /tmp/a",
    ));
    assert!(ran.output.contains("4194304"), "{}", ran.output);
}

#[test]
fn a_scratch_directory_is_full_at_its_limit() {
    let ran = run(script(
        "for i in 1 2 3 4; do head -c 4000000 /dev/zero > /tmp/$i; done; du -sk /tmp",
    ));
    let kibibytes: u32 = ran
        .output
        .split_whitespace()
        .rev()
        .nth(1)
        .unwrap()
        .parse()
        .unwrap();
    assert!(kibibytes <= 8192, "{}", ran.output);
}
