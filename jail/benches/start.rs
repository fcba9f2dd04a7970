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
    InsidePath, Launcher, Limits, Network, Plan, Program, Scratch, Streams, enter_if_asked,
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

fn median(mut run: impl FnMut()) -> String {
    let mut times: Vec<Duration> = (0..60)
        .map(|_| {
            let start = Instant::now();
            run();
            start.elapsed()
        })
        .collect();
    times.sort();
    format!(
        "median {:?} min {:?} p90 {:?}",
        times[30], times[0], times[54]
    )
}

fn main() {
    enter_if_asked();
    // A large process, as hydrant is.
    let ballast = vec![1u8; 256 << 20];
    println!(
        "spawn {}",
        median(|| {
            Command::new("/usr/bin/true").status().unwrap();
        })
    );
    let launcher = Launcher::this_binary();
    println!(
        "jail  {}",
        median(|| {
            launcher
                .start(plan(), Streams::default())
                .unwrap()
                .wait()
                .unwrap();
        })
    );
    let mut started = Duration::ZERO;
    for _ in 0..60 {
        let start = Instant::now();
        let jailed = launcher.start(plan(), Streams::default()).unwrap();
        started += start.elapsed();
        jailed.wait().unwrap();
    }
    println!("of that until execve: mean {:?}", started / 60);
    std::hint::black_box(ballast);
}
