//! How runs end, and what they may use.

use std::time::{Duration, Instant};

use hydrant_govern::budget::Dimension;
use hydrant_govern::failure::Code;
use hydrant_govern::sandbox::{Caps, End};
use serde_json::json;

use crate::support::{Case, python, script, text};

#[test]
fn a_status_that_is_not_zero_is_a_result() {
    let case = Case::of(script("echo out; echo err >&2; exit 7"));
    let end = case.run().unwrap();
    assert_eq!(
        (end.end, end.exit_code, end.signal),
        (End::Exit, Some(7), None)
    );
    assert_eq!(
        (text(&end.stdout), text(&end.stderr)),
        ("out\n".into(), "err\n".into())
    );
    assert!(end.peak_memory_bytes > 0);
}

#[test]
fn a_signal_is_named() {
    let end = Case::of(script("kill -SEGV $$")).run().unwrap();
    assert_eq!(
        (end.end, end.exit_code, end.signal),
        (End::Signal, None, Some(11))
    );
}

#[test]
fn the_time_is_over_for_everything_in_the_jail() {
    let started = Instant::now();
    let case = Case::of(script("echo before; setsid sleep 50 & sleep 50"))
        .limited(json!({"wall-clock-ms": 1000}));
    let end = case.run().unwrap();
    assert_eq!(
        (end.end, end.exit_code, end.signal),
        (End::Timeout, None, None)
    );
    assert_eq!(text(&end.stdout), "before\n");
    assert_eq!(end.exhausted, None);
    assert!(started.elapsed() < Duration::from_secs(10));
}

#[test]
fn the_budget_ends_what_the_policy_would_allow() {
    let mut case = Case::of(script("sleep 50"));
    case.caps = Caps {
        wall_clock: Some(Duration::from_millis(300)),
        ..Caps::default()
    };
    let end = case.run().unwrap();
    assert_eq!(
        (end.end, end.exhausted),
        (End::Timeout, Some(Dimension::WallClockMs))
    );
    assert!(end.used.wall_clock_ms >= 300, "{:?}", end.used);

    case.caps.wall_clock = Some(Duration::ZERO);
    assert_eq!(case.refused().code, Code::BudgetExhausted);
}

#[test]
fn processor_time_is_limited() {
    let case = Case::of(python("while True: pass")).limited(json!({"cpu-seconds": 1}));
    let end = case.run().unwrap();
    assert_eq!(end.end, End::Timeout);
    assert!(end.used.cpu_ms >= 500, "{:?}", end.used);
}

#[test]
fn memory_is_limited_for_all_processes_together() {
    let code = "import os, time\n\
        for _ in range(4):\n\
        \x20   if os.fork() == 0:\n\
        \x20       x = bytearray(b'x') * (40 << 20); time.sleep(20); os._exit(0)\n\
        time.sleep(20)\n";
    let case = Case::of(python(code)).limited(json!({"memory-mb": 100}));
    let end = case.run().unwrap();
    assert_eq!(end.end, End::Memory);
    assert_eq!(end.warnings, ["ended: more than 100 MB of memory"]);
}

#[test]
fn more_processes_than_allowed_are_not_there() {
    let code = "import os, time\n\
        made = 0\n\
        for _ in range(60):\n\
        \x20   try: pid = os.fork()\n\
        \x20   except OSError: break\n\
        \x20   if pid == 0: time.sleep(20); os._exit(0)\n\
        \x20   made += 1\n\
        print(made, flush=True)\n\
        time.sleep(20)\n";
    let case = Case::of(python(code)).limited(json!({"pids": 8, "wall-clock-ms": 3000}));
    let end = case.run().unwrap();
    // For an ordinary user the kernel refuses them; for root they are counted, and all are ended.
    let made: u32 = text(&end.stdout).trim().parse().unwrap_or(60);
    if made > 12 {
        assert_eq!((end.end, end.signal), (End::Signal, Some(9)));
        assert_eq!(end.warnings, ["ended: more than 8 processes and threads"]);
    }
}

#[test]
fn a_file_above_the_limit_ends_the_program() {
    let case = Case::of(script(
        "dd if=/dev/zero of=big bs=1000 count=200 2>/dev/null",
    ))
    .limited(json!({"output-bytes": 100_000}));
    let end = case.run().unwrap();
    // The shell says of a command that a signal ended it: 128 and the signal.
    assert_eq!(end.exit_code, Some(128 + 25));
    let case = Case::of(crate::support::tool(&[
        "dd",
        "if=/dev/zero",
        "of=big",
        "bs=1000",
        "count=200",
    ]))
    .limited(json!({"output-bytes": 100_000}));
    let end = case.run().unwrap();
    assert_eq!((end.end, end.signal), (End::OutputLimit, None));
    assert_eq!(end.files[0].bytes, 100_000);
}

#[test]
fn output_and_tmp_have_a_size() {
    let code = "def fill(path):\n\
        \x20   done = 0\n\
        \x20   try:\n\
        \x20       for n in range(2000):\n\
        \x20           open(f'{path}/{n}', 'wb').write(b'x' * 65536); done += 65536\n\
        \x20   except OSError as e: print(path, done, e.errno)\n\
        fill('/output'); fill('/tmp')\n";
    let case = Case::of(python(code)).limited(json!({"output-bytes": 1 << 20, "memory-mb": 64}));
    assert_eq!(
        case.stdout(),
        format!("/output {} 28\n/tmp {} 28\n", 1 << 20, 64 << 20)
    );
}

#[test]
fn a_flood_is_cut_and_ended() {
    let started = Instant::now();
    let case = Case::of(script("exec yes")).limited(json!({"output-bytes": 1000}));
    let end = case.run().unwrap();
    assert_eq!((end.end, end.signal), (End::OutputLimit, None));
    assert!(end.stdout_cut && !end.stderr_cut);
    assert_eq!(end.stdout.len(), 10 * 1024 * 1024);
    assert!(started.elapsed() < Duration::from_secs(15));
}

#[test]
fn what_is_kept_of_a_stream_is_its_beginning() {
    let case = Case::of(python(
        "import sys\nsys.stderr.write('a' * 10485760 + 'b' * 100)",
    ));
    let end = case.run().unwrap();
    assert_eq!(
        (end.end, end.stderr_cut, end.stdout_cut),
        (End::Exit, true, false)
    );
    assert!(end.stderr.iter().all(|byte| *byte == b'a'));
}

#[test]
fn nothing_runs_with_nothing() {
    for key in ["cpu-seconds", "memory-mb", "wall-clock-ms", "pids"] {
        let case = Case::of(script("echo ran")).limited(json!({key: 0}));
        let refused = case.refused();
        assert_eq!(refused.code, Code::Limit);
        assert!(refused.message.contains(key), "{refused}");
    }
    // Without output there is still what it prints.
    let case = Case::of(script("echo ran; echo x 2>/dev/null >f && echo written"))
        .limited(json!({"output-bytes": 0}));
    let end = case.run().unwrap();
    assert!(text(&end.stdout).starts_with("ran\n"));
    assert!(!text(&end.stdout).contains("written"));
    assert!(end.files.iter().all(|file| file.bytes == 0));
}

#[test]
fn a_policy_that_is_none_is_refused() {
    for wrong in [json!("60"), json!(-1), json!(1.5), json!(null)] {
        let case = Case::of(script("echo ran")).limited(json!({"cpu-seconds": wrong}));
        assert_eq!(case.refused().code, Code::InvalidPlan);
    }
}
