//! Scale: how the cost of an operation grows with what there is of it, from one to a thousand, ten thousand or a million.
//!
//! `cargo bench --bench scale` prints a table for each subject: sizes, costs, the cost of one, and the exponent with which
//! the cost grows over the last factor of ten, which is 1 where twice as much takes twice as long, and 0 where it takes no
//! longer. `-- --check` exits with 1 where something grows faster than it should, `-- --quick` leaves the largest sizes out,
//! `-- --plot FOLDER` draws each subject as an SVG there, and every other word chooses the subjects that hold it.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::indexing_slicing,
    clippy::as_conversions,
    reason = "a benchmark that cannot run has nothing to tell, and its figures are far below 2^53"
)]

#[path = "scale/chain.rs"]
mod chain;
#[path = "govern/document.rs"]
mod document;
#[path = "scale/hydration.rs"]
mod hydration;
#[path = "hydrate/material.rs"]
mod material;
#[path = "scale/plot.rs"]
mod plot;
#[path = "scale/registry.rs"]
mod registry;
#[path = "scale/series.rs"]
mod series;
#[path = "govern/server.rs"]
#[allow(dead_code, reason = "what it was asked is of no interest here")]
mod server;

use std::path::PathBuf;
use std::process::ExitCode;

use series::Subject;

/// How a subject is measured, up to a size or to a tenth of it or less.
type Measure = fn(quick: bool) -> Subject;

const SUBJECTS: [(&str, Measure); 4] = [
    ("dependencies", hydration::dependencies),
    ("calls", hydration::calls),
    ("capabilities", registry::capabilities),
    ("records", chain::records),
];

fn main() -> ExitCode {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let folder = arguments
        .iter()
        .position(|argument| argument == "--plot")
        .map(|at| {
            arguments.remove(at);
            PathBuf::from(arguments.remove(at))
        });
    let flag = |name: &str| arguments.iter().any(|argument| argument == name);
    let wanted = |subject: &str| {
        let mut words = arguments
            .iter()
            .filter(|argument| !argument.starts_with('-'))
            .peekable();
        words.peek().is_none() || words.any(|word| subject.contains(word.as_str()))
    };
    let mut all_met = true;
    for (name, measure) in SUBJECTS {
        if !wanted(name) {
            continue;
        }
        let subject = measure(flag("--quick"));
        subject.print();
        all_met &= subject.series.iter().all(series::Series::met);
        if let Some(folder) = &folder {
            plot::draw(&subject, &folder.join(format!("{name}.svg"))).unwrap();
        }
    }
    if flag("--check") && !all_met {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    }
}
