//! `fs.read_tree` against a walk of `std::fs`.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::desk::Desk;
use crate::seeded::Seeded;

/// Depth first, siblings by bytes: path, kind, length; with the depth of each.
fn walk(
    directory: &Path,
    prefix: &str,
    depth: usize,
    hidden: bool,
    entries: &mut Vec<(usize, Value)>,
) {
    let mut names: Vec<String> = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| hidden || !name.starts_with('.'))
        .collect();
    names.sort();
    for name in names {
        let path = directory.join(&name);
        let shown = format!("{prefix}{name}");
        let metadata = path.symlink_metadata().unwrap();
        let entry = if metadata.is_file() {
            json!({"path": shown, "kind": "file", "bytes": metadata.len()})
        } else if metadata.is_dir() {
            json!({"path": shown, "kind": "dir"})
        } else {
            json!({"path": shown, "kind": "symlink"})
        };
        entries.push((depth, entry));
        if metadata.is_dir() && name != ".git" {
            walk(&path, &format!("{shown}/"), depth + 1, hidden, entries);
        }
    }
}

fn grow(desk: &Desk, seeded: &mut Seeded) {
    let names = [
        "a", "b", "ab", "a.b", "a-b", "B", ".h", ".git", "é", " x", "~", "10", "2",
    ];
    for _ in 0..25 {
        let depth = 1 + seeded.below(4);
        let segments: Vec<&str> = (0..depth).map(|_| *seeded.pick(&names)).collect();
        let path = desk.path(&segments.join("/"));
        // A name may be a file already; then nothing is below it.
        match seeded.below(5) {
            0 => drop(fs::create_dir_all(path)),
            1 => drop(std::os::unix::fs::symlink("a", path)),
            size => {
                drop(fs::create_dir_all(path.parent().unwrap()));
                drop(fs::write(path, "x".repeat(size)));
            }
        }
    }
}

#[test]
fn it_lists_what_a_walk_lists() {
    let mut seeded = Seeded::new(31);
    for number in 0..60 {
        let desk = Desk::reading();
        grow(&desk, &mut seeded);
        for _ in 0..2 {
            let hidden = seeded.one_in(2);
            let (most, depth) = (1 + seeded.below(30), 1 + seeded.below(5));
            let mut all = Vec::new();
            walk(&desk.path(""), "", 1, hidden, &mut all);
            let mut kept: Vec<Value> = all
                .iter()
                .filter(|entry| entry.0 <= depth)
                .map(|entry| entry.1.clone())
                .collect();
            kept.truncate(most);
            let request =
                json!({"max_entries": most, "max_depth": depth, "include_hidden": hidden});
            let expected =
                json!({"root": ".", "entries": kept, "truncated": kept.len() < all.len()});
            let mut answer = desk.ok("fs.read_tree", &request);
            if let Some(next) = answer.as_object_mut().unwrap().shift_remove("next") {
                assert_eq!(next, json!({ "skip": most }), "case {number} {request}");
            }
            assert_eq!(answer, expected, "case {number} {request}");
        }
    }
}
