//! Files and diffs made to take long: the answer comes in time that is linear in them.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, missing_docs)]

mod support;

use std::fmt::Write;

use serde_json::json;
use support::{Host, call, error, patch, rejects};

const HEAD: &str = "--- a/f\n+++ b/f\n";
/// A file of the greatest length with as many equal lines as fit.
const LINES: usize = 8_388_608;

fn equal_lines() -> Host {
    let mut host = Host::default();
    host.put("f", b"a\n".repeat(LINES));
    host
}

#[test]
fn a_hundred_thousand_hunks_that_stand_where_they_say_are_one_pass() {
    let mut diff = HEAD.to_owned();
    for n in 0..100_000 {
        let line = n * 80 + 1;
        writeln!(diff, "@@ -{line} +{line} @@\n-a\n+b").unwrap();
    }
    let answer = patch(&mut equal_lines(), &diff);
    assert_eq!(answer["hunks_applied"], 100_000);
}

#[test]
fn hunks_that_are_nowhere_end_with_the_list_of_reasons() {
    let mut host = Host::default();
    host.put("f", format!("{}\n", "a".repeat(63)).repeat(262_144));
    let mut diff = HEAD.to_owned();
    for n in 0..100_000 {
        let line = 150_000 + n;
        writeln!(diff, "@@ -{line} +{line} @@\n-c\n+b").unwrap();
    }
    let answer = patch(&mut host, &diff);
    assert_eq!(rejects(&answer).len(), 100);
    assert_eq!(answer["rejects_truncated"], true);
}

#[test]
fn old_sides_that_nearly_match_everywhere_are_looked_for_in_linear_time() {
    // Every line of the file begins what the hunk says, and none ends it.
    let count = 300_000;
    let mut diff = format!("{HEAD}@@ -1,{count} +1,{count} @@\n");
    diff += &" a\n".repeat(count - 1);
    diff += "-b\n+c\n";
    let answer = call(&mut equal_lines(), &diff, json!({"fuzz": 2})).unwrap();
    assert_eq!(rejects(&answer)[0].2, "context_mismatch");
    // What stands in the middle of every line and at the beginning of none.
    let mut host = Host::default();
    host.put("f", b"ba\n".repeat(5_000_000));
    let mut diff = format!("{HEAD}@@ -1,{count} +1,{count} @@\n a\n");
    diff += &" ba\n".repeat(count - 2);
    diff += "-ba\n+c\n";
    let answer = patch(&mut host, &diff);
    assert_eq!(rejects(&answer)[0].2, "context_mismatch");
}

#[test]
fn long_names_and_lines_are_read_in_linear_time() {
    let blanks = " ".repeat(2_000_000);
    for diff in [
        format!("diff --git {blanks}"),
        format!("--- {blanks}\n+++ {blanks}\n"),
        format!("Binary files {} differ", " and ".repeat(800_000)),
        "--- ".repeat(1_000_000),
        "@@ -".repeat(1_000_000),
        "\n".repeat(4_000_000),
        format!("--- \"{}\n+++ x\n", "\\\\".repeat(1_900_000)),
    ] {
        assert_eq!(error(&mut Host::default(), &diff, json!({})).0, "malformed");
    }
}
