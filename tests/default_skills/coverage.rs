//! Every row of section 16 that states behaviour has a test that cites it.

use std::collections::BTreeSet;
use std::fs;

use crate::desk::SKILLS;
use crate::program::repository;

/// The numbers of the rows that exist.
fn rows() -> BTreeSet<u32> {
    let ranges = [
        1..=12,
        21..=29,
        31..=38,
        41..=56,
        61..=68,
        71..=80,
        81..=86,
        91..=98,
        101..=106,
        111..=119,
        121..=128,
        131..=140,
    ];
    ranges.into_iter().flatten().collect()
}

fn sources() -> Vec<String> {
    let folder = repository().join("tests/default_skills");
    let entries = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    entries
        .map(|path| fs::read_to_string(path).unwrap())
        .collect()
}

/// The rows that names of tests cite: `fn ts_22_ts_09_…`.
fn cited() -> BTreeSet<u32> {
    let mut cited = BTreeSet::new();
    for source in sources() {
        let mut lines = source.lines().map(str::trim);
        while let Some(line) = lines.next() {
            if line != "#[test]" {
                continue;
            }
            let name = lines.find_map(|line| line.strip_prefix("fn ")).unwrap();
            let mut words = name.split('_');
            while let Some("ts") = words.next() {
                cited.insert(words.next().unwrap().parse::<u32>().unwrap());
            }
        }
    }
    cited
}

#[test]
fn every_row_has_a_test_that_cites_it() {
    let cited = cited();
    let rows = rows();
    let missing: Vec<&u32> = rows.difference(&cited).collect();
    assert!(missing.is_empty(), "no test cites {missing:?}");
}

/// A test expects each code, but for `internal`, which no default skill answers; the host's part of that
/// is in `bundles_and_trust`.
#[test]
fn every_code_of_ts_12_is_expected_somewhere() {
    let sources = sources();
    for code in [
        "invalid_request",
        "denied",
        "not_found",
        "wrong_type",
        "malformed",
        "unsupported",
        "too_large",
        "conflict",
        "timeout",
        "network",
        "process_failed",
        "io",
    ] {
        let count = sources
            .iter()
            .filter(|source| source.contains(&format!("\"{code}\"")))
            .count();
        // This file and the list in `desk` do not count.
        assert!(count > 2, "no test expects {code}");
    }
}

/// Every flag that says that something was left out is seen true and false; so is every skill at all.
#[test]
fn every_flag_and_every_skill_is_tested() {
    let sources = sources().concat();
    for flag in [
        "truncated",
        "rejects_truncated",
        "stdout_truncated",
        "stderr_truncated",
        "timed_out",
        "upstream_gone",
    ] {
        assert!(
            sources.contains(&format!("[\"{flag}\"]")),
            "no test looks at {flag}"
        );
    }
    for skill in SKILLS {
        assert!(
            sources.contains(&format!("const ID: &str = \"{skill}\";")),
            "no module for {skill}"
        );
    }
}
