//! The causal chain, with ever more records in it.

use std::fs;
use std::hint::black_box;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Duration;

use hydrant::govern::chain::{self, Entry, Event, Filter};
use hydrant::govern::state::State;

use crate::series::{Growth, Series, Subject, cost, cost_after};

/// Records that are written at once where nothing is measured.
const AT_ONCE: u64 = 5_000;
/// Records of a page.
const PAGE: usize = 100;

/// A denied egress of a call, as a governor writes it.
fn entry() -> Entry {
    Entry {
        session: Some("s-0123456789abcdef".to_owned()),
        run: Some("r-0123456789abcdef".to_owned()),
        capability: Some("library.search-shelf".to_owned()),
        operation: Some("search-shelf".to_owned()),
        derived_from: Some("https://api.example.org/skill.md".to_owned()),
        line: Some(120),
        subject: Some("api.example.org:443".to_owned()),
        ..Entry::new(Event::EgressDenied)
    }
}

pub(crate) fn records(quick: bool) -> Subject {
    let sizes: &[u64] = if quick {
        &[100, 1_000, 10_000]
    } else {
        &[1, 10, 100, 1_000, 10_000, 100_000, 1_000_000]
    };
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let names = [
        ("append a record", Growth::Not),
        ("open it", Growth::Not),
        ("read a page in its middle", Growth::Not),
        ("read its last page", Growth::Not),
        ("open it after it was touched", Growth::Linear),
        ("verify it", Growth::Linear),
    ];
    let mut series = names.map(|(name, grows)| Series::new(name, grows));
    for size in sizes {
        let state = State::open(folder).unwrap();
        while let left @ 1.. = size.saturating_sub(state.head().unwrap().seq) {
            let entries = (0..left.min(AT_ONCE)).map(|_| entry()).collect();
            state.append(entries).unwrap();
        }
        drop(state);
        for (series, cost) in series.iter_mut().zip(costs(folder, *size)) {
            series.add(*size, cost);
        }
    }
    Subject {
        title: "Records of the causal chain",
        items: "records",
        series: series.into(),
    }
}

/// In the order of the names. What is appended for that is little beside what there is, but for the smallest sizes.
fn costs(folder: &Path, size: u64) -> [Duration; 6] {
    let open = cost(|| drop(black_box(State::open(folder).unwrap())));
    let middle = cost(|| page(folder, size / 2));
    let last = cost(|| page(folder, size.saturating_sub(PAGE as u64)));
    let touched = cost_after(
        || touch(folder),
        |()| drop(black_box(State::open(folder).unwrap())),
    );
    let verify = cost(|| assert!(chain::verify(folder, None, &|| false).unwrap().ok));
    let state = State::open(folder).unwrap();
    let append = cost(|| drop(state.append(vec![entry()]).unwrap()));
    [append, open, middle, last, touched, verify]
}

fn page(folder: &Path, since: u64) {
    let filter = Filter {
        since,
        ..Filter::default()
    };
    let mut records = Vec::new();
    let anchor = chain::show(folder, &filter, &|| false, &mut |record| {
        records.push(record.clone());
        if records.len() < PAGE {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    });
    assert!(anchor.unwrap().is_some() && !records.is_empty());
}

/// As a backup that was put back: none of its files is as the database knew it.
fn touch(folder: &Path) {
    for segment in fs::read_dir(folder.join("chain")).unwrap() {
        let segment = segment.unwrap().path();
        let mode = fs::metadata(&segment).unwrap().permissions();
        fs::set_permissions(&segment, mode).unwrap();
    }
}
