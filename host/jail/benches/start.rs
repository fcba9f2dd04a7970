//! Time of `/usr/bin/true`, spawned and jailed, from the order to start it to the knowledge of how it ended.
//!
//! A host that runs on keeps a jail prepared (`Launcher::ready`): "ready" is what a program costs there when the last one
//! was started some time ago, "ready, at once" when it follows the one before at once, so that the next jail is being
//! prepared while a program runs. "first of a process" is the first jail of a host, with nothing prepared.
//!
//! "spawned" inherits the environment, as `cargo bench` made it; "spawned, nothing inherited" has none, as what is jailed.
//!
//! `--check`: fails if a ready jail takes more than three times as long as a spawned program, or more than 8 ms.
//! `--no-header`: prints the two rows of the table of `scripts/bench.sh` alone.
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::as_conversions
)]
#[path = "../../hydrant/benches/harness/mod.rs"]
mod harness;

use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use harness::{Measured, Target};
use hydrant_jail::{
    InsidePath, Launcher, Limits, Network, Plan, Program, Scratch, Streams, Turn, enter_if_asked,
};

fn plan() -> Plan {
    let inside = |path: &str| InsidePath::new(path).unwrap();
    Plan {
        program: Program::Path(inside("/usr/bin/true")),
        arguments: vec!["true".into()],
        environment: vec![],
        directory: inside("/tmp"),
        mounts: vec![],
        system: true,
        scratch: vec![Scratch {
            at: inside("/tmp"),
            bytes: 1 << 20,
            inodes: 100,
            executable: false,
        }],
        files: vec![],
        links: vec![],
        execute: vec![],
        network: Network::None,
        sockets: vec![],
        limits: Limits {
            wall: Some(Duration::from_secs(5)),
            grace: None,
            cpu_seconds: Some(5),
            memory_bytes: Some(1 << 29),
            processes: Some(64),
            file_bytes: Some(1 << 20),
            open_files: Some(256),
        },
        landlock_min_abi: 1,
        #[cfg(feature = "jail-weakening")]
        without: vec![],
    }
}

/// Samples of each.
const ROUNDS: usize = 60;

/// The target of a program in a jail that is ready, beside the program spawned.
const READY: Target = Target::Ratio(2.5);

/// As many programs in one jail as `git.status` starts.
const PROGRAMS: usize = 3;

/// Time in which the next jail can be prepared, before each run that is not to be "at once".
const PAUSE: Duration = Duration::from_millis(15);

/// What is measured: its name, the time before that does not count, and what does.
type Run<'r> = (&'r str, Duration, &'r mut dyn FnMut());

/// Medians of what is run by turns, so that whatever else the machine does hits all alike.
fn compare(runs: &mut [Run<'_>], quiet: bool) -> Vec<Duration> {
    let mut times = vec![Vec::new(); runs.len()];
    for _ in 0..ROUNDS {
        for ((_, pause, run), times) in runs.iter_mut().zip(&mut times) {
            std::thread::sleep(*pause);
            let start = Instant::now();
            run();
            times.push(start.elapsed());
        }
    }
    let mut medians = Vec::new();
    for ((name, _, _), times) in runs.iter().zip(&mut times) {
        times.sort();
        let [min, median, p90] = [0, ROUNDS / 2, ROUNDS * 9 / 10].map(|index| times[index]);
        if !quiet {
            println!("{name:44} median {median:9.2?}  min {min:9.2?}  p90 {p90:9.2?}");
        }
        medians.push(median);
    }
    medians
}

fn main() -> ExitCode {
    enter_if_asked();
    // A large process, as hydrant is.
    let ballast = vec![1u8; 256 << 20];
    let launcher = Launcher::this_binary();
    let ready = Launcher::this_binary().ready();
    let run_in = |launcher: &Launcher, plan: Plan| {
        let jailed = launcher.start(plan, Streams::default()).unwrap();
        jailed.wait().unwrap();
    };
    let run = |plan: Plan| run_in(&launcher, plan);
    let unwritable = || Plan {
        scratch: vec![],
        directory: InsidePath::new("/").unwrap(),
        ..plan()
    };
    let flag = |name: &str| std::env::args().any(|argument| argument == name);
    let mut runs: [Run<'_>; _] = [
        ("spawned", PAUSE, &mut || {
            Command::new("/usr/bin/true").status().unwrap();
        }),
        ("spawned, nothing inherited", PAUSE, &mut || {
            Command::new("/usr/bin/true").env_clear().status().unwrap();
        }),
        ("jailed, ready", PAUSE, &mut || {
            run_in(&ready, plan());
        }),
        ("jailed, ready, at once", Duration::ZERO, &mut || {
            run_in(&ready, plan());
        }),
        ("jailed, not prepared", PAUSE, &mut || run(plan())),
        ("jailed, first of a process", PAUSE, &mut || {
            run_in(&Launcher::this_binary(), plan());
        }),
        ("three spawned", Duration::ZERO, &mut || {
            for _ in 0..PROGRAMS {
                Command::new("/usr/bin/true").status().unwrap();
            }
        }),
        ("three in a jail each", Duration::ZERO, &mut || {
            for _ in 0..PROGRAMS {
                run(plan());
            }
        }),
        ("three in one jail", Duration::ZERO, &mut || {
            let mut jailed = launcher
                .start_several(unwritable(), vec![], Streams::default())
                .unwrap();
            for _ in 1..PROGRAMS {
                let idle = jailed.finish().unwrap().idle;
                let turn = Turn {
                    program: None,
                    pins: vec![],
                    arguments: plan().arguments,
                    environment: vec![],
                    wall: plan().limits.wall,
                };
                jailed = idle.unwrap().start(turn, Streams::default()).unwrap();
            }
            jailed.wait().unwrap();
        }),
    ];
    let medians = compare(&mut runs, flag("--no-header"));
    std::hint::black_box(ballast);
    let (spawned, ready) = (medians[0], medians[2]);
    let measured = Measured::new(ready, spawned, READY);
    measured.print("a program in a ready jail; spawned");
    if flag("--check") && !measured.met() {
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}
