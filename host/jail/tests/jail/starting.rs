//! What is started, with which environment and streams, and what is a refusal.

use std::fs;
use std::time::Duration;

use hydrant_jail::{How, Launcher, Program, StartError, Step, Streams};

use crate::support::{inside, run, script, source, start, try_each};

#[test]
fn a_program_runs_and_its_exit_status_comes_back() {
    assert_eq!(run(script("exit 0")).how, How::Exited(0));
    assert_eq!(run(script("exit 77")).how, How::Exited(77));
    assert_eq!(run(script("kill -TERM $$")).how, How::Signaled(15));
}

#[test]
fn usage_is_reported() {
    let ran = run(script("i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done"));
    assert!(
        ran.ended.usage.cpu > Duration::from_millis(20),
        "{:?}",
        ran.ended
    );
    assert!(
        ran.ended.usage.peak_memory_bytes > 500_000,
        "{:?}",
        ran.ended
    );
}

#[test]
fn standard_input_and_output_are_the_callers() {
    let ran = start(script("cat; echo done >&2"), "hello\n").unwrap();
    assert_eq!(ran.output, "hello\ndone\n");
}

#[test]
fn streams_that_nobody_gives_are_the_jails_own_null_device() {
    let plan = script("read line; readlink /proc/self/fd/1; echo x >&1 && chmod 600 /dev/null");
    let ended = Launcher::at(env!("CARGO_BIN_EXE_jail-try"))
        .start(plan, Streams::default())
        .unwrap()
        .wait()
        .unwrap();
    assert_eq!(ended.how, How::Exited(1), "chmod of the null device");
}

#[test]
fn the_environment_is_exactly_what_the_plan_says() {
    let mut plan = script("");
    plan.program = Program::Path(inside("/usr/bin/env"));
    plan.arguments = vec!["env".into()];
    plan.environment = vec![("A".into(), "1".into()), ("B".into(), "two words".into())];
    assert_eq!(run(plan).output, "A=1\nB=two words\n");
}

#[test]
fn the_file_that_was_opened_is_executed() {
    let directory = tempfile::tempdir().unwrap();
    let tool = directory.path().join("tool");
    fs::write(&tool, "#!/bin/sh\necho \"$0\" \"$1\"\n").unwrap();
    fs::set_permissions(&tool, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let mut plan = script("");
    plan.program = Program::Descriptor {
        file: source(&tool),
        at: inside("/os/bin/tool"),
    };
    plan.arguments = vec!["/os/bin/tool".into(), "--description".into()];
    assert_eq!(run(plan).output, "/os/bin/tool --description\n");
}

#[test]
fn only_what_is_listed_can_be_executed() {
    let plan = |text: &str| {
        let mut plan = script(text);
        plan.execute = [
            "/usr/bin/cat",
            "/lib64/ld-linux-x86-64.so.2",
            "/lib/ld-linux-aarch64.so.1",
        ]
        .map(inside)
        .into();
        plan
    };
    assert_eq!(
        try_each(
            plan,
            &[
                "cat /etc/hosts",
                "ls /",
                "/usr/bin/env",
                "cp /usr/bin/cat /tmp/x && /tmp/x"
            ]
        ),
        ["yes", "no", "no", "no"]
    );
}

#[test]
fn a_program_that_cannot_be_executed_is_not_a_refusal() {
    let mut plan = script("");
    plan.program = Program::Path(inside("/nothing"));
    assert!(matches!(
        start(plan, ""),
        Err(StartError::NotExecutable {
            errno: libc::ENOENT
        })
    ));
    let mut plan = script("");
    plan.program = Program::Path(inside("/etc/passwd"));
    assert!(matches!(
        start(plan, ""),
        Err(StartError::NotExecutable {
            errno: libc::EACCES
        })
    ));
}

/// It ends before the program runs, and the step is named. An ABI that is too old is such a step.
#[test]
fn a_step_that_fails_is_a_refusal() {
    let mut plan = script("exit 0");
    plan.landlock_min_abi = 200;
    let Err(StartError::Refused(refused)) = start(plan, "") else {
        panic!("not refused")
    };
    assert_eq!(refused.step, Step::Landlock);
    let mut plan = script("exit 0");
    plan.directory = inside("/usr/nothing");
    assert!(
        matches!(start(plan, ""), Err(StartError::Refused(refused)) if refused.step == Step::Plan)
    );
}
