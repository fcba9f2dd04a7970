//! Hydration: of ever more dependencies, and by ever more callers at a time.

use std::hint::black_box;
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use hydrant::engine::EngineOptions;
use hydrant::{Host, HydrateRequest};

use crate::material::{AGENT, os_root};
use crate::series::{Growth, Series, Subject, cost, median};

/// An agent with so many local skills, in process.
pub(crate) fn dependencies(quick: bool) -> Subject {
    let mut hydrate = Series::new("hydrate", Growth::Linear);
    let sizes: &[usize] = if quick {
        &[1, 10, 100]
    } else {
        &[1, 3, 10, 30, 100, 300, 1_000]
    };
    for size in sizes {
        let os = os_root(*size);
        let host = Host::builder().os_root(os.path()).build().unwrap();
        let request = HydrateRequest::new(AGENT);
        let payload = String::from_utf8(host.hydrate(&request).unwrap()).unwrap();
        let last = format!("Skill {}", size - 1);
        assert!(payload.contains(&last) && !payload.contains("ERROR"));
        let once = || drop(black_box(host.hydrate(&request).unwrap()));
        hydrate.add(*size as u64, cost(once));
    }
    Subject {
        title: "Dependencies of an agent",
        items: "dependencies",
        series: vec![hydrate],
    }
}

/// So many threads that hydrate the same agent with ten skills, from the moment they all begin until the last one ends.
pub(crate) fn calls(quick: bool) -> Subject {
    let sizes: &[usize] = if quick {
        &[1, 10, 100]
    } else {
        &[1, 3, 10, 30, 100, 300, 1_000]
    };
    let os = os_root(10);
    let options = EngineOptions {
        slots: 1_000,
        ..EngineOptions::default()
    };
    let host = Host::builder()
        .os_root(os.path())
        .engine(options)
        .build()
        .unwrap();
    let mut all = Series::new("all of them", Growth::Linear);
    for size in sizes {
        let samples = (0..5).map(|_| together(&host, *size)).collect();
        all.add(*size as u64, median(samples));
    }
    Subject {
        title: "Calls at a time",
        items: "calls",
        series: vec![all],
    }
}

fn together(host: &Host, calls: usize) -> Duration {
    let request = HydrateRequest::new(AGENT);
    let begin = Barrier::new(calls);
    let times: Vec<(Instant, Instant)> = thread::scope(|scope| {
        let threads: Vec<_> = (0..calls)
            .map(|_| {
                scope.spawn(|| {
                    begin.wait();
                    let began = Instant::now();
                    drop(black_box(host.hydrate(&request).unwrap()));
                    (began, Instant::now())
                })
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    let first = times.iter().map(|(began, _)| *began).min().unwrap();
    let last = times.iter().map(|(_, ended)| *ended).max().unwrap();
    last - first
}
