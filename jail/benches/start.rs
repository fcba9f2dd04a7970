//! Time of `/usr/bin/true`, spawned and jailed, in this process.
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::as_conversions
)]
use std::process::Command;
use std::time::{Duration, Instant};

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

/// As many programs in one jail as `git.status` starts.
const PROGRAMS: usize = 3;

/// Medians, in milliseconds, of what is run by turns, so that whatever else the machine does hits all alike.
fn compare(runs: &mut [(&str, &mut dyn FnMut())]) {
    let mut times = vec![Vec::new(); runs.len()];
    for _ in 0..60 {
        for ((_, run), times) in runs.iter_mut().zip(&mut times) {
            let start = Instant::now();
            run();
            times.push(start.elapsed());
        }
    }
    for ((name, _), times) in runs.iter().zip(&mut times) {
        times.sort();
        let [min, median, p90] = [0, 30, 54].map(|index| times[index].as_secs_f64() * 1000.0);
        println!("{name:44} median {median:6.2}  min {min:6.2}  p90 {p90:6.2}");
    }
}

fn main() {
    enter_if_asked();
    // A large process, as hydrant is.
    let ballast = vec![1u8; 256 << 20];
    let launcher = Launcher::this_binary();
    let run = |plan: Plan| {
        let jailed = launcher.start(plan, Streams::default()).unwrap();
        jailed.wait().unwrap();
    };
    let unwritable = || Plan {
        scratch: vec![],
        directory: InsidePath::new("/").unwrap(),
        ..plan()
    };
    compare(&mut [
        ("spawned", &mut || {
            Command::new("/usr/bin/true").status().unwrap();
        }),
        ("jailed", &mut || run(plan())),
        ("jailed, prepared 5 ms before", &mut || {
            launcher.prepare();
            std::thread::sleep(Duration::from_millis(5));
            run(plan());
        }),
        ("three spawned", &mut || {
            for _ in 0..PROGRAMS {
                Command::new("/usr/bin/true").status().unwrap();
            }
        }),
        ("three in a jail each", &mut || {
            for _ in 0..PROGRAMS {
                run(plan());
            }
        }),
        ("three in one jail", &mut || {
            let mut jailed = launcher
                .start_several(unwritable(), Streams::default())
                .unwrap();
            for _ in 1..PROGRAMS {
                let (_, idle) = jailed.finish().unwrap();
                let turn = Turn {
                    arguments: plan().arguments,
                    environment: vec![],
                    wall: plan().limits.wall,
                };
                jailed = idle.unwrap().start(&turn, Streams::default()).unwrap();
            }
            jailed.wait().unwrap();
        }),
    ]);
    std::hint::black_box(ballast);
}
