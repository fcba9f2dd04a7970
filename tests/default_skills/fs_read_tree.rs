//! `fs.read_tree`.

use std::fs;

use serde_json::{Value, json};

use crate::desk::Desk;

const ID: &str = "fs.read_tree";

/// The paths of a listing.
fn paths(response: &Value) -> Vec<&str> {
    let entries = response["entries"].as_array().unwrap();
    entries
        .iter()
        .map(|entry| entry["path"].as_str().unwrap())
        .collect()
}

/// Files whose order by whole strings is not the order by segments: `.` and `-` sort before `/`.
fn order() -> Desk {
    let desk = Desk::reading();
    for path in ["a/x", "a.b", "a-b/y", "a/b/c", "B", "é", "z"] {
        desk.write(path, path);
    }
    desk
}

const ORDERED: [&str; 10] = [
    "B", "a", "a/b", "a/b/c", "a/x", "a-b", "a-b/y", "a.b", "z", "é",
];

#[test]
fn paths_are_relative_to_the_root_that_is_not_listed() {
    let desk = order();
    for root in ["a", "./a/", "/workspace/a", "a/b/.."] {
        let response = desk.ok(ID, &json!({ "root": root }));
        assert_eq!(paths(&response), ["b", "b/c", "x"], "{root}");
    }
    fs::write(desk.folder().path("os/o"), "x").unwrap();
    let os = desk.ok(ID, &json!({"root": "/os"}));
    assert_eq!(paths(&os), ["o"]);
}

/// Siblings by the bytes of their names: `a`, `a-b`, `a.b`, and a directory before its contents.
#[test]
fn depth_first_and_by_the_bytes_of_names() {
    let desk = order();
    let whole = desk.ok(ID, &json!({}));
    assert_eq!(paths(&whole), ORDERED);
    assert_eq!(whole["truncated"], false);
    for count in 1..ORDERED.len() {
        let response = desk.ok(ID, &json!({ "max_entries": count }));
        assert_eq!(paths(&response), ORDERED[..count], "the first {count}");
        assert_eq!(response["truncated"], true, "{count}");
    }
    for skip in 0..=ORDERED.len() {
        let response = desk.ok(ID, &json!({ "max_entries": 3, "skip": skip }));
        let end = ORDERED.len().min(skip + 3);
        assert_eq!(paths(&response), ORDERED[skip..end], "after {skip}");
        let next = (end < ORDERED.len()).then(|| json!({ "skip": end }));
        assert_eq!(response.get("next"), next.as_ref(), "after {skip}");
    }
    let exact = desk.ok(ID, &json!({ "max_entries": ORDERED.len() }));
    assert_eq!(
        (paths(&exact).len(), &exact["truncated"]),
        (ORDERED.len(), &json!(false))
    );
}

#[test]
fn kinds_and_links_that_are_not_followed() {
    let desk = Desk::reading();
    desk.write("d/f", "123");
    desk.link("d", "to_d");
    desk.link("/etc/passwd", "out");
    desk.link("nowhere", "dangling");
    let mode = rustix::fs::Mode::from_raw_mode(0o644);
    rustix::fs::mkfifoat(rustix::fs::CWD, desk.path("pipe"), mode).unwrap();
    let expected = json!([
        {"path": "d", "kind": "dir"},
        {"path": "d/f", "kind": "file", "bytes": 3},
        {"path": "dangling", "kind": "symlink"},
        {"path": "out", "kind": "symlink"},
        {"path": "pipe", "kind": "other"},
        {"path": "to_d", "kind": "symlink"},
    ]);
    let response = desk.ok(ID, &json!({}));
    assert_eq!(response["entries"], expected);
    let through = desk.ok(ID, &json!({"root": "to_d"}));
    assert_eq!(
        through["entries"],
        json!([{"path": "f", "kind": "file", "bytes": 3}])
    );
    fs::create_dir(desk.path("sub")).unwrap();
    desk.link("../../os", "sub/leaves");
    for root in ["out", "sub/leaves"] {
        desk.error(ID, &json!({ "root": root }), "denied");
    }
}

#[test]
fn depth_counts_from_the_root() {
    let desk = Desk::reading();
    desk.write("1/2/3/4", "x");
    #[rustfmt::skip]
    let rows: [(&str, u32, &[&str], bool); 5] = [
        (".", 1, &["1"], true),
        (".", 3, &["1", "1/2", "1/2/3"], true),
        (".", 4, &["1", "1/2", "1/2/3", "1/2/3/4"], false),
        ("1/2", 1, &["3"], true),
        ("1/2/3", 1, &["4"], false),
    ];
    for (root, depth, expected, truncated) in rows {
        let response = desk.ok(ID, &json!({"root": root, "max_depth": depth}));
        assert_eq!(paths(&response), expected, "{root} {depth}");
        assert_eq!(response["truncated"], truncated, "{root} {depth}");
    }
    // The default is 8; an empty directory at the limit hides nothing.
    let eight = "a/b/c/d/e/f/g/h";
    fs::create_dir_all(desk.path(eight)).unwrap();
    fs::remove_dir_all(desk.path("1")).unwrap();
    assert_eq!(
        desk.ok(ID, &json!({}))["truncated"],
        false,
        "nothing was left out"
    );
    desk.write(&format!("{eight}/.hidden"), "");
    assert_eq!(
        desk.ok(ID, &json!({}))["truncated"],
        false,
        "what is hidden and left out does not count"
    );
    assert_eq!(
        desk.ok(ID, &json!({"include_hidden": true}))["truncated"],
        true
    );
    desk.write(&format!("{eight}/i"), "");
    assert_eq!(desk.ok(ID, &json!({}))["truncated"], true);
}

#[test]
fn hidden_names_and_the_git_directory() {
    let desk = Desk::reading();
    for path in [
        ".git/config",
        ".h/x",
        ".f",
        "d/.git/y",
        "d/.i/z",
        "d/v",
        ".gitignore",
    ] {
        desk.write(path, "");
    }
    desk.write(".gitignore", "v\n");
    let visible = desk.ok(ID, &json!({}));
    assert_eq!(paths(&visible), ["d", "d/v"], "no ignore file is read");
    assert_eq!(visible["truncated"], false);
    let all = desk.ok(ID, &json!({"include_hidden": true}));
    let expected = [
        ".f",
        ".git",
        ".gitignore",
        ".h",
        ".h/x",
        "d",
        "d/.git",
        "d/.i",
        "d/.i/z",
        "d/v",
    ];
    assert_eq!(paths(&all), expected);
    assert_eq!(all["truncated"], false);
    assert_eq!(all["entries"][1], json!({"path": ".git", "kind": "dir"}));
}

/// Under root, which no permission stops, the directory is simply read.
#[test]
fn a_directory_that_cannot_be_read_is_listed() {
    let desk = Desk::reading();
    desk.write("a/x", "").write("b/y", "");
    desk.mode("a", 0o000);
    let response = desk.ok(ID, &json!({}));
    desk.mode("a", 0o755);
    if rustix::process::geteuid().is_root() {
        assert_eq!(paths(&response), ["a", "a/x", "b", "b/y"]);
        return;
    }
    assert_eq!(paths(&response), ["a", "b", "b/y"]);
    assert_eq!(
        response["entries"][0],
        json!({"path": "a", "kind": "dir", "error": "denied"})
    );
}

/// Entries come and go while they are listed; the call succeeds all the same.
#[test]
fn what_vanishes_while_reading_is_skipped() {
    use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
    let desk = Desk::reading();
    desk.write("stays/f", "");
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(SeqCst) {
                for number in 0..20 {
                    desk.write(&format!("goes/{number}/f"), "");
                }
                fs::remove_dir_all(desk.path("goes")).unwrap();
            }
        });
        for _ in 0..15 {
            let answer = desk.ask(ID, &json!({}));
            if answer.is_err() {
                stop.store(true, SeqCst);
            }
            let answer = answer.unwrap();
            assert!(paths(&answer).contains(&"stays/f"));
        }
        stop.store(true, SeqCst);
    });
}

#[test]
fn roots_that_are_no_directory() {
    let desk = Desk::reading();
    desk.write("f", "");
    desk.error(ID, &json!({"root": "none"}), "not_found");
    desk.error(ID, &json!({"root": "f"}), "wrong_type");
    let empty = Desk::reading();
    assert_eq!(
        empty.ok(ID, &json!({})),
        json!({"root": ".", "entries": [], "truncated": false})
    );
}
