//! `fs.write_patch` is killed at any time; the next call makes every file old or every file new.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::desk::Desk;
use crate::fs_write_patch::{ID, patch, request, section};
use crate::program::listing;
use crate::seeded::Seeded;

/// Every file of the workspace and its content.
type State = BTreeMap<String, String>;

fn state(desk: &Desk) -> State {
    let root = desk.path("");
    let files = listing(&root)
        .into_iter()
        .filter(|name| root.join(name).is_file());
    files
        .map(|name| (name.clone(), fs::read_to_string(root.join(name)).unwrap()))
        .collect()
}

fn created(path: &str) -> String {
    format!("--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+here\n")
}

fn deleted(path: &str) -> String {
    format!("--- a/{path}\n+++ /dev/null\n@@ -1 +0,0 @@\n-here\n")
}

/// 40 files that are changed and 20 that come and go, in several directories; the patch there, and the patch back.
fn patches(desk: &Desk) -> (String, String) {
    let (mut there, mut back) = (String::new(), String::new());
    for number in 0..40 {
        let path = format!("d{}/f{number:02}", number % 4);
        desk.write(&path, "old\n");
        there.push_str(&section(&path, "old", "new"));
        back.push_str(&section(&path, "new", "old"));
    }
    for number in 0..10 {
        let (coming, going) = (format!("n/c{number}"), format!("d{}/g{number}", number % 4));
        desk.write(&going, "here\n");
        there.push_str(&(created(&coming) + &deleted(&going)));
        back.push_str(&(deleted(&coming) + &created(&going)));
    }
    (there, back)
}

#[test]
fn a_killed_call_leaves_all_files_old_or_all_new() {
    let desk = Desk::writing();
    let (there, back) = patches(&desk);
    let old = state(&desk);
    let started = Instant::now();
    assert_eq!(patch(&desk, &there, &json!({}))["files_changed"], 60);
    let new = state(&desk);
    assert_eq!(patch(&desk, &back, &json!({}))["applied"], true);
    assert_eq!(state(&desk), old);
    let duration = started.elapsed() / 2;

    let mut seeded = Seeded::new(55);
    let (mut kept, mut changed, mut interrupted) = (0, 0, 0);
    let mut is_new = false;
    for round in 0..110 {
        let (before, after) = if is_new { (&new, &old) } else { (&old, &new) };
        let diff = if is_new { &back } else { &there };
        let mut child = desk.command(ID).spawn().unwrap();
        let request = request(diff, &json!({})).to_string();
        drop(child.stdin.take().unwrap().write_all(request.as_bytes()));
        if round % 2 == 0 {
            // At any time from its start to past its end.
            let most = usize::try_from(duration.as_micros()).unwrap() * 5 / 4;
            std::thread::sleep(Duration::from_micros(seeded.below(most) as u64));
        } else {
            // Shortly after the first change in the workspace.
            let names = listing(&desk.path(""));
            let begun = Instant::now();
            while listing(&desk.path("")) == names && begun.elapsed() < duration {
                std::hint::spin_loop();
            }
            std::thread::sleep(Duration::from_micros(seeded.below(20_000) as u64));
        }
        // SIGKILL; where the process has ended by itself there is nothing to kill.
        drop(child.kill());
        child.wait().unwrap();
        let found = state(&desk);
        if found != *before && found != *after {
            interrupted += 1;
        }

        // A call that changes nothing finishes what was begun.
        let nothing = created("never");
        patch(&desk, &nothing, &json!({"dry_run": true}));
        let left = state(&desk);
        assert!(
            !left.keys().any(|name| name.contains(".hydrant-")),
            "round {round}: {left:?}"
        );
        if left == *after {
            changed += 1;
            is_new = !is_new;
        } else {
            assert_eq!(left, *before, "round {round}: neither old nor new");
            kept += 1;
        }
    }
    assert!(
        kept > 0 && changed > 0,
        "the kills had one outcome only: {kept} old, {changed} new"
    );
    assert!(interrupted > 0, "no kill came while files were written");
}
