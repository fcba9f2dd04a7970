//! Each layer is there for something: without it an attempt succeeds that fails with it.

use std::fmt::Write;

use hydrant_jail::Removed;

use crate::escape::Escape;
use crate::host::Host;
use crate::inside::{Ended, Shape};
use crate::{
    executing, exhausting, inheriting, kernel, mounting, namespaces, network, outliving,
    privileges, processes, reading, sockets, succeeding, writing,
};

/// Those that end at once.
const QUICK: &[&[Escape]] = &[
    executing::ALL,
    inheriting::ALL,
    kernel::ALL,
    mounting::ALL,
    namespaces::ALL,
    network::ALL,
    privileges::ALL,
    processes::ALL,
    reading::ALL,
    sockets::ALL,
    writing::ALL,
];

/// Every layer that can be taken away, and whether what it bounds takes time to use up.
const LAYERS: &[(Removed, &[&[Escape]])] = &[
    (Removed::Mount, QUICK),
    (
        Removed::Pid,
        &[processes::ALL, reading::ALL, outliving::ALL],
    ),
    (Removed::Net, QUICK),
    (Removed::Ipc, QUICK),
    (Removed::Privileges, QUICK),
    (Removed::Landlock, QUICK),
    (Removed::Rlimits, &[exhausting::ALL]),
    (Removed::Seccomp, QUICK),
    (Removed::Sampling, &[exhausting::ALL]),
    (Removed::Descriptors, &[inheriting::ALL]),
];

#[test]
fn taking_away_any_one_layer_lets_something_through() {
    let mut table = String::new();
    let mut useless = Vec::new();
    for (layer, tables) in LAYERS {
        let through: Vec<&str> = tables
            .iter()
            .copied()
            .flatten()
            // Without the pid namespace a relay has nothing to end with.
            .filter(|escape| *layer != Removed::Pid || escape.shape != Shape::Relay)
            .filter(|escape| escapes(escape, &[*layer]) && !escapes(escape, &[]))
            .map(|escape| escape.test)
            .collect();
        writeln!(
            table,
            "without {layer:?}: {}\n    {}",
            through.len(),
            through.join("\n    ")
        )
        .unwrap();
        if through.is_empty() {
            useless.push(*layer);
        }
    }
    println!("{table}");
    assert!(
        useless.is_empty(),
        "nothing gets through without {useless:?}\n{table}"
    );
}

fn escapes(escape: &Escape, without: &[Removed]) -> bool {
    matches!(
        escape.try_in(&Host::new(), escape.shape, without),
        Ended::Escaped(_)
    )
}

/// A row that never runs is no test; an attempt without a row is none either.
#[test]
fn every_attempt_of_the_program_has_a_row() {
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_attempt"))
        .arg("--list")
        .output()
        .unwrap();
    let list = String::from_utf8(output.stdout).unwrap();
    let rows: Vec<&Escape> = QUICK
        .iter()
        .copied()
        .flatten()
        .chain(exhausting::ALL)
        .chain(outliving::ALL)
        .collect();
    for attempt in list.lines().filter_map(|line| line.split('\t').nth(1)) {
        // Not an escape itself: what a setuid copy of the program is asked.
        let in_turn = |pair: &succeeding::Pair| {
            attempt.strip_prefix("leave_") == Some(pair.name)
                || attempt.strip_prefix("meet_") == Some(pair.name)
        };
        let used = attempt == "print_ids"
            || succeeding::ALL.iter().any(in_turn)
            || rows
                .iter()
                .any(|row| row.attempt.split(' ').next() == Some(attempt));
        assert!(used, "{attempt} is never tried");
    }
}
