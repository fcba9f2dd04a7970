//! `search.ripgrep`, seen from outside.

#![allow(
    missing_docs,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::as_conversions,
    clippy::string_slice,
    clippy::unreachable,
    unreachable_pub,
    reason = "tests"
)]

mod support;

use std::os::unix::fs::symlink;

use kit::host::fs_read::{Entry, EntryKind, File, FsError, Listing, ReadRequest, TreeRequest};
use serde_json::{Value, json};

use support::Disk;

fn search(disk: &mut Disk, request: Value) -> Value {
    disk.search(&request.to_string()).unwrap()
}

fn files(disk: &mut Disk, request: Value) -> Vec<String> {
    disk.files(&request.to_string())
}

fn code(disk: &mut Disk, request: Value) -> &'static str {
    disk.search(&request.to_string()).unwrap_err().code()
}

#[test]
fn one_entry_for_each_matching_line() {
    let mut disk = Disk::with(&[(
        "src/lib.rs",
        "one\r\ntwo\r\n  Todo todo\r\nfour\r\nfive\r\nsix todo",
    )]);
    let request = json!({"pattern": "TODO", "glob": ["*.rs"]}).to_string();
    let response = search_ripgrep::run(&mut disk, request.as_bytes()).unwrap();
    let expected = concat!(
        r#"{"matches":[{"file":"src/lib.rs","line":3,"column":3,"match":"Todo","#,
        r#""context_before":"one\ntwo","context_after":"four\nfive","text":"  Todo todo"},"#,
        r#"{"file":"src/lib.rs","line":6,"column":5,"match":"todo","#,
        r#""context_before":"four\nfive","context_after":"","text":"six todo"}],"#,
        r#""truncated":false,"files_searched":1,"files_skipped":{"binary":0,"too_large":0,"unreadable":0}}"#,
    );
    assert_eq!(String::from_utf8(response).unwrap(), expected);
    let response = search(
        &mut disk,
        json!({"pattern": "todo", "context_lines": 0, "case_sensitive": true}),
    );
    assert_eq!(response["matches"][0]["column"], 8);
    assert_eq!(response["matches"][0]["context_before"], "");
}

#[test]
fn lines_are_cut_between_characters() {
    let long = "é".repeat(1_000);
    let mut disk = Disk::with(&[("a", &format!("x{long}\n{long}y\nx{long}"))]);
    let response = search(&mut disk, json!({"pattern": "é+y"}));
    let found = &response["matches"][0];
    assert_eq!(
        (found["line"].as_u64(), found["column"].as_u64()),
        (Some(2), Some(1))
    );
    for (member, expected) in [
        ("match", "é".repeat(512)),
        ("text", "é".repeat(512)),
        ("context_before", format!("x{}", "é".repeat(511))),
        ("context_after", format!("x{}", "é".repeat(511))),
    ] {
        assert_eq!(found[member], expected, "{member}");
    }
}

#[test]
fn what_is_not_utf_8_is_matched_as_bytes() {
    let mut disk = Disk::new();
    disk.write("a", b"\xFF\xE9 x\n");
    let response = search(&mut disk, json!({"pattern": "x"}));
    assert_eq!(response["matches"][0]["column"], 4);
    assert_eq!(response["matches"][0]["text"], "\u{FFFD}\u{FFFD} x");
    let response = search(&mut disk, json!({"pattern": r"(?-u:\xE9) "}));
    assert_eq!(response["matches"][0]["column"], 2);
}

#[test]
fn which_ignore_file_decides() {
    let mut disk = Disk::with(&[
        (".gitignore", "*.log\n/only-here\nbuild/\n"),
        (".ignore", "!b.log\n"),
        (".rgignore", "a.log\n"),
        (".git/info/exclude", "excluded\n!never.log\n"),
        ("a.log", "x"),
        ("b.log", "x"),
        ("c.log", "x"),
        ("never.log", "x"),
        ("excluded", "x"),
        ("only-here", "x"),
        ("s/.gitignore", "!c.log\n!a.log\n!excluded\n"),
        ("s/a.log", "x"),
        ("s/c.log", "x"),
        ("s/only-here", "x"),
        ("s/excluded", "x"),
        ("s/build/f", "x"),
        ("build/.gitignore", "!*"),
        ("build/f", "x"),
        ("vendor/.git/info/exclude", "f\n"),
        ("vendor/f", "x"),
        ("vendor/d.log", "x"),
    ]);
    let expected = ["b.log", "s/c.log", "s/excluded", "s/only-here"];
    assert_eq!(files(&mut disk, json!({"pattern": "x"})), expected);
    let below = json!({"pattern": "x", "paths": ["s"]});
    assert_eq!(files(&mut disk, below), expected[1..]);
    assert!(
        !disk
            .listed
            .iter()
            .any(|path| path.contains("build") || path.contains("/.git"))
    );
    let all = json!({"pattern": "x", "use_ignore": false});
    assert_eq!(files(&mut disk, all).len(), 14);
}

#[test]
fn hidden_names_and_git() {
    let mut disk = Disk::with(&[
        (".env", "x"),
        (".github/w", "x"),
        (".git/config", "x"),
        ("sub/.git", "x"),
        ("sub/a", "x"),
    ]);
    assert_eq!(files(&mut disk, json!({"pattern": "x"})), ["sub/a"]);
    let hidden = json!({"pattern": "x", "include_hidden": true});
    assert_eq!(files(&mut disk, hidden), [".env", ".github/w", "sub/a"]);
    for (path, found) in [
        (".github", vec![".github/w"]),
        (".git", vec![]),
        (".git/config", vec![".git/config"]),
        (".env", vec![".env"]),
    ] {
        assert_eq!(
            files(&mut disk, json!({"pattern": "x", "paths": [path]})),
            found
        );
    }
}

#[test]
fn a_file_named_in_paths_is_always_searched() {
    let mut disk = Disk::with(&[
        (".gitignore", "a\nd/\n"),
        ("a", "x"),
        ("d/b", "x"),
        ("c", "x"),
    ]);
    let request = json!({"pattern": "x", "paths": ["."], "glob": ["c"]});
    assert_eq!(files(&mut disk, request), ["c"]);
    let request = json!({"pattern": "x", "paths": ["d/b", ".", "a"], "glob": ["c"]});
    assert_eq!(files(&mut disk, request), ["a", "c", "d/b"]);
}

#[test]
fn what_cannot_be_searched_is_counted() {
    let mut disk = Disk::with(&[("a", "x"), ("locked", "x"), ("dir/f", "x"), ("empty", "")]);
    disk.write("binary", b"x\n\0");
    disk.write("utf-16", b"\xFF\xFEx\0");
    disk.write("large", &vec![b'x'; (16 << 20) + 1]);
    disk.write("largest", &vec![b'\n'; 16 << 20]);
    disk.failing
        .insert("/workspace/locked".into(), FsError::NotAccessible);
    disk.failing
        .insert("/workspace/dir".into(), FsError::NotAccessible);
    symlink("a", disk.root().join("link")).unwrap();
    let expected = json!({"binary": 2, "too_large": 1, "unreadable": 2});
    let response = search(&mut disk, json!({"pattern": "x"}));
    assert_eq!(response["files_skipped"], expected);
    assert_eq!(response["files_searched"], 3);
    assert_eq!(response["matches"].as_array().unwrap().len(), 1);
    let named = json!({"pattern": "x", "paths": ["large", "locked", "binary", "a"]});
    let expected = json!({"binary": 1, "too_large": 1, "unreadable": 1});
    let response = search(&mut disk, named);
    assert_eq!(response["files_skipped"], expected);
    assert_eq!(response["files_searched"], 1);
}

#[test]
fn links_are_followed_only_when_they_are_named() {
    let mut disk = Disk::with(&[("d/a", "x"), ("d/e/b", "x"), (".gitignore", "b\n")]);
    symlink("d", disk.root().join("link")).unwrap();
    symlink("d/a", disk.root().join("file-link")).unwrap();
    assert_eq!(files(&mut disk, json!({"pattern": "x"})), ["d/a"]);
    let named = json!({"pattern": "x", "paths": ["link", "file-link"]});
    assert_eq!(files(&mut disk, named), ["file-link", "link/a"]);
}

#[test]
fn a_file_that_grew_since_it_was_listed_is_read_whole() {
    struct Growing(Disk);
    impl kit::host::ReadFiles for Growing {
        fn read(&mut self, requests: &[ReadRequest]) -> Vec<Result<File, FsError>> {
            self.0.read(requests)
        }
        fn tree(&mut self, requests: &[TreeRequest]) -> Vec<Result<Listing, FsError>> {
            let answers = self.0.tree(requests);
            self.0.write("a", b"now longer x");
            answers
        }
    }
    let mut host = Growing(Disk::with(&[("a", "x")]));
    let response = search_ripgrep::run(&mut host, br#"{"pattern":"longer x"}"#).unwrap();
    let response: Value = serde_json::from_slice(&response).unwrap();
    assert_eq!(response["matches"].as_array().unwrap().len(), 1);
}

/// `/workspace` with 130,000 directories of one `.gitignore` and one file each, below a root with nothing else.
struct ManyDirectories {
    lookups: usize,
}

impl kit::host::ReadFiles for ManyDirectories {
    fn read(&mut self, requests: &[ReadRequest]) -> Vec<Result<File, FsError>> {
        let file = |bytes: &[u8]| File {
            bytes: bytes.to_vec(),
            truncated: false,
            executable: false,
        };
        let answers = requests.iter().map(|request| {
            if request.path.ends_with("/.gitignore") {
                self.lookups += 1;
                return Ok(file(b"y"));
            }
            match request.path.split('/').count() {
                // `/`, `/workspace` and the directories below it.
                2..=4 => Err(FsError::IsDirectory),
                _ => Ok(file(if request.path.ends_with("/000/000/f") {
                    b"x"
                } else {
                    b"y"
                })),
            }
        });
        answers.collect()
    }

    fn tree(&mut self, requests: &[TreeRequest]) -> Vec<Result<Listing, FsError>> {
        self.lookups += requests.len();
        let entry = |path: String, kind, bytes| Entry {
            path,
            kind,
            bytes,
            error: None,
        };
        let directory = |path| entry(path, EntryKind::Directory, None);
        let file = |path: &str| entry(path.to_owned(), EntryKind::File, Some(1));
        let answers = requests.iter().map(|request| {
            let entries = match request.root.matches('/').count() {
                1 if request.root == "/" => vec![directory("workspace".to_owned())],
                1 => (0..130)
                    .map(|name| directory(format!("{name:03}")))
                    .collect(),
                2 => (0..1_000)
                    .map(|name| directory(format!("{name:03}")))
                    .collect(),
                _ => vec![file(".gitignore"), file("f")],
            };
            Ok(Listing {
                entries,
                truncated: false,
            })
        });
        answers.collect()
    }
}

#[test]
fn many_directories_with_ignore_files_truncate_the_answer() {
    let mut host = ManyDirectories { lookups: 0 };
    let response = search_ripgrep::run(&mut host, br#"{"pattern":"x"}"#).unwrap();
    let response: Value = serde_json::from_slice(&response).unwrap();
    assert_eq!(response["truncated"], true);
    assert_eq!(response["matches"][0]["file"], "000/000/f");
    // The last directories that are listed together may read theirs.
    let lookups = 249_000..251_000;
    assert!(lookups.contains(&host.lookups), "{}", host.lookups);
}

#[test]
fn the_root_is_searched_as_a_path_is() {
    let mut host = ManyDirectories { lookups: 0 };
    let request = br#"{"pattern":"x","paths":["/","/workspace/000"],"glob":["/workspace/000/**","f"],"max_matches":1}"#;
    let response = search_ripgrep::run(&mut host, request).unwrap();
    let response: Value = serde_json::from_slice(&response).unwrap();
    let matches = response["matches"].as_array().unwrap();
    assert_eq!(matches.len(), 1);
    assert_eq!(matches[0]["file"], "/workspace/000/000/f");
}

#[test]
fn segment_by_segment_and_each_file_once() {
    let names = [
        "B", "a/z", "a/b/c", "a/b-/c", "a-b", "a.c", "c/d/e/f", "c/d/g",
    ];
    let mut disk = Disk::new();
    for name in names {
        disk.write(name, b"x\nx\n");
    }
    let order = [
        "B", "a/b/c", "a/b-/c", "a/z", "a-b", "a.c", "c/d/e/f", "c/d/g",
    ];
    for paths in [
        json!(["."]),
        json!(["a", ".", "a", "./a/../a"]),
        json!(["c/d/e/f", "c", ".", "a/b/c", "c/d/e"]),
        json!(["c/d/g", "c", "a", "B", "a.c", "a-b", "a/b"]),
    ] {
        let response = search(&mut disk, json!({"pattern": "x", "paths": paths}));
        let found: Vec<_> = response["matches"]
            .as_array()
            .unwrap()
            .iter()
            .map(|entry| {
                (
                    entry["file"].as_str().unwrap(),
                    entry["line"].as_u64().unwrap(),
                )
            })
            .collect();
        let expected: Vec<_> = order
            .iter()
            .flat_map(|file| [(*file, 1), (*file, 2)])
            .collect();
        assert_eq!(found, expected, "{paths}");
        assert_eq!(response["files_searched"], 8);
    }
}

#[test]
fn a_named_directory_below_one_that_is_skipped_keeps_its_place() {
    let mut disk = Disk::with(&[
        (".gitignore", "/b/\n"),
        ("a", "x"),
        ("b/c/d", "x"),
        ("b/e", "x"),
        ("c", "x"),
    ]);
    let request = json!({"pattern": "x", "paths": [".", "b/c"]});
    assert_eq!(files(&mut disk, request), ["a", "b/c/d", "c"]);
}

#[test]
fn paths_keep_the_form_of_the_request() {
    let mut disk = Disk::with(&[("a/b", "x"), ("c", "x")]);
    let request = json!({"pattern": "x", "paths": ["/workspace/a", "c"]});
    assert_eq!(files(&mut disk, request), ["/workspace/a/b", "c"]);
}

#[test]
fn one_more_match_decides_whether_the_answer_is_truncated() {
    let mut disk = Disk::new();
    for file in 0..500 {
        disk.write(&format!("{:02}/{file:03}", file / 10), b"x\ny\n");
    }
    for (most, truncated) in [(1, true), (499, true), (500, false), (501, false)] {
        disk.hostcalls = 0;
        disk.read.clear();
        disk.listed.clear();
        let response = search(
            &mut disk,
            json!({"pattern": "x", "max_matches": most, "max_bytes": 1_000_000}),
        );
        assert_eq!(response["truncated"], truncated, "{most}");
        assert_eq!(response["matches"].as_array().unwrap().len(), most.min(500));
        // What was looked at, whatever else was read.
        assert_eq!(response["files_searched"], (most + 1).min(500));
        if most == 1 {
            assert!(
                disk.read.len() < 50 && disk.listed.len() < 40 && disk.hostcalls < 8,
                "{disk:?}"
            );
        }
    }
}

#[test]
fn paths_that_cannot_be_searched_end_the_call() {
    let mut disk = Disk::with(&[("a", "x")]);
    disk.failing
        .insert("/workspace/remote".into(), FsError::FetchFailed);
    disk.failing
        .insert("/workspace/out".into(), FsError::LeavesMount);
    for (path, expected) in [
        ("none", "not_found"),
        ("a/b", "not_found"),
        ("/etc/passwd", "denied"),
        ("../x", "denied"),
        ("out", "denied"),
        ("remote", "network"),
    ] {
        assert_eq!(
            code(&mut disk, json!({"pattern": "x", "paths": ["a", path]})),
            expected,
            "{path}"
        );
    }
    let error = disk
        .search(r#"{"pattern":"x","paths":["/etc"]}"#)
        .unwrap_err();
    assert_eq!(error.details(), Some(r#"{"capability":"fs.read:/etc"}"#));
}

#[test]
fn the_answer_is_bounded_in_bytes() {
    let mut disk = Disk::new();
    // Each byte takes six in JSON.
    disk.write("a", &[vec![1; 1_023], vec![b'\n']].concat().repeat(10_000));
    for (most, bytes) in [
        (None, 32 << 10),
        (Some(1_024), 150_000),
        (Some(8 << 20), 8 << 20),
    ] {
        let mut request = json!({"pattern": ".", "max_matches": 10_000, "context_lines": 10});
        if let Some(most) = most {
            request["max_bytes"] = json!(most);
        }
        let response = search_ripgrep::run(&mut disk, request.to_string().as_bytes()).unwrap();
        // One entry is in every answer, even if it alone is larger.
        let bytes = std::cmp::max(bytes, 150_000);
        assert!(response.len() <= bytes, "{}", response.len());
        assert!(most != Some(8 << 20) || response.len() > 7 << 20);
        let response: Value = serde_json::from_slice(&response).unwrap();
        assert_eq!(response["truncated"], true);
    }
}

#[test]
fn an_answer_fits_a_context_and_says_how_to_go_on() {
    let mut disk = Disk::new();
    for file in 0..20 {
        let text: String = (0..20)
            .map(|line| format!("x {line} {}\n", "y".repeat(80)))
            .collect();
        disk.write(&format!("{file:02}"), text.as_bytes());
    }
    let mut request = json!({"pattern": "x"});
    let mut lines = Vec::new();
    let mut answers = 0;
    loop {
        let bytes = search_ripgrep::run(&mut disk, request.to_string().as_bytes()).unwrap();
        assert!(bytes.len() <= 32 << 10, "{}", bytes.len());
        let response: Value = serde_json::from_slice(&bytes).unwrap();
        for entry in response["matches"].as_array().unwrap() {
            lines.push(format!(
                "{}:{}",
                entry["file"].as_str().unwrap(),
                entry["line"]
            ));
        }
        answers += 1;
        if response["truncated"] == false {
            assert_eq!(response.get("next"), None);
            break;
        }
        request["skip"] = response["next"]["skip"].clone();
    }
    assert!(answers > 3);
    let all: Vec<_> = (0..20)
        .flat_map(|file| (1..=20).map(move |line| format!("{file:02}:{line}")))
        .collect();
    assert_eq!(lines, all);
    request["skip"] = json!(400);
    assert_eq!(search(&mut disk, request)["matches"], json!([]));
    let more = search(&mut disk, json!({"pattern": "x", "max_bytes": 1_000_000}));
    assert_eq!(more["truncated"], false);
}

#[test]
fn the_last_glob_that_matches_decides() {
    let mut disk = Disk::with(&[
        ("a.rs", "x"),
        ("s/a.rs", "x"),
        ("s/t/b.rs", "x"),
        ("s/c.md", "x"),
    ]);
    for (globs, expected) in [
        (json!([]), vec!["a.rs", "s/a.rs", "s/c.md", "s/t/b.rs"]),
        (json!(["*.rs"]), vec!["a.rs", "s/a.rs", "s/t/b.rs"]),
        (json!(["!*.rs"]), vec!["s/c.md"]),
        (json!(["/*.rs"]), vec!["a.rs"]),
        (json!(["s/*.rs"]), vec!["s/a.rs"]),
        (json!(["*.rs", "!a.*"]), vec!["s/t/b.rs"]),
        (json!(["!a.*", "*.rs"]), vec!["a.rs", "s/a.rs", "s/t/b.rs"]),
        (json!(["**/t/**"]), vec!["s/t/b.rs"]),
        (json!(["*.{md,txt}"]), vec!["s/c.md"]),
        (json!(["!s/"]), vec!["a.rs"]),
    ] {
        let request = json!({"pattern": "x", "glob": globs});
        assert_eq!(files(&mut disk, request), expected, "{globs}");
    }
}

#[test]
fn globs_are_relative_to_the_path_that_leads_to_a_file() {
    let mut disk = Disk::with(&[
        ("a.rs", "x"),
        ("s/a.rs", "x"),
        ("s/t/b.rs", "x"),
        ("s/t/c.md", "x"),
    ]);
    for (paths, globs, expected) in [
        (json!(["s"]), json!(["/*.rs"]), vec!["s/a.rs"]),
        (json!(["s"]), json!(["t/*.rs"]), vec!["s/t/b.rs"]),
        (json!(["./s/"]), json!(["t/**", "!*.rs"]), vec!["s/t/c.md"]),
        (json!(["s"]), json!(["!/t"]), vec!["s/a.rs"]),
        (
            json!(["."]),
            json!(["./s/t/**", "!./s/t/*.md"]),
            vec!["s/t/b.rs"],
        ),
        (
            json!([".", "s/t"]),
            json!(["/*.rs"]),
            vec!["a.rs", "s/t/b.rs"],
        ),
        (
            json!(["/workspace/s/t"]),
            json!(["/b.rs"]),
            vec!["/workspace/s/t/b.rs"],
        ),
    ] {
        let request = json!({"pattern": "x", "paths": paths, "glob": globs});
        assert_eq!(files(&mut disk, request), expected, "{paths} {globs}");
    }
}

#[test]
fn a_glob_with_a_mistake_is_refused() {
    let mut disk = Disk::with(&[("a", "x")]);
    let deep = format!("{}a{}", "{".repeat(2_000), "}".repeat(2_000));
    for glob in ["[a", "{a", "a\\", "[b-a]", deep.as_str()] {
        let request = json!({"pattern": "x", "glob": [glob]}).to_string();
        let error = disk.search(&request).unwrap_err();
        assert_eq!(error.code(), "invalid_request", "{glob}");
        assert_eq!(error.details(), Some(r#"{"member":"glob"}"#), "{glob}");
    }
}

#[test]
fn line_ends_are_no_part_of_a_line() {
    for (text, pattern, expected) in [
        ("a\r\nb\r\n", "a$", &[(1, "a")][..]),
        ("a\r\nb", "$", &[(1, "a"), (2, "b")]),
        ("a\rb\n", "^b", &[]),
        ("a\r", "a$", &[]),
        ("a\r", r"a\r", &[(1, "a\r")]),
        ("a\r\r\n", r"a\r$", &[(1, "a\r")]),
        ("\n\n\n", "^$", &[(1, ""), (2, ""), (3, "")]),
        ("\n\n", "x*", &[(1, ""), (2, "")]),
        ("a\n", "$", &[(1, "a")]),
        ("", "$", &[]),
        ("a b\nb a\n", r"\Ab", &[(2, "b a")]),
        ("a b\nb a\n", r"b\z", &[(1, "a b")]),
        ("a b\nb a\n", r"(?-m)^b", &[(2, "b a")]),
        ("a\nb\n", r"a\s*b", &[]),
        ("a\nb\n", r"[^x][^x]", &[]),
        ("\u{feff}ab", "^a", &[(1, "ab")]),
        ("\u{feff}", "x*", &[]),
    ] {
        let mut disk = Disk::with(&[("f", text)]);
        let response = search(&mut disk, json!({"pattern": pattern}));
        let found: Vec<_> = response["matches"]
            .as_array()
            .unwrap()
            .iter()
            .map(|entry| {
                (
                    entry["line"].as_u64().unwrap(),
                    entry["text"].as_str().unwrap(),
                )
            })
            .collect();
        assert_eq!(found, expected, "{text:?} {pattern}");
    }
}

#[test]
fn the_lines_around_a_match_are_there_whether_they_match_or_not() {
    let mut disk = Disk::with(&[("f", "1\n2\n\n4x\n5x\n")]);
    let response = search(&mut disk, json!({"pattern": "x", "context_lines": 9}));
    let around = |at: usize| {
        let entry = &response["matches"][at];
        [&entry["context_before"], &entry["context_after"]].map(|text| text.as_str().unwrap())
    };
    assert_eq!(around(0), ["1\n2\n", "5x"]);
    assert_eq!(around(1), ["1\n2\n\n4x", ""]);
}

#[test]
fn a_line_of_16_mib_and_a_text_of_line_feeds_alone() {
    let mut disk = Disk::new();
    disk.write("line", &vec![b'a'; 16 << 20]);
    disk.write("feeds", &vec![b'\n'; 2 << 20]);
    for pattern in ["(a*)*b", r"x|\Ay"] {
        assert_eq!(files(&mut disk, json!({"pattern": pattern})).len(), 0);
    }
}

#[test]
fn hostile_ignore_files_are_bounded() {
    let mut disk = Disk::with(&[("a", "x"), ("b", "x")]);
    let nested = format!(
        "b\n{}a{}\n[\n\\\n{}\n",
        "{".repeat(100_000),
        "}".repeat(100_000),
        "{a,".repeat(20)
    );
    disk.write(".gitignore", nested.as_bytes());
    assert_eq!(files(&mut disk, json!({"pattern": "x"})), ["a"]);
    disk.write(".gitignore", b"a\n\xFF\nb\r\n");
    assert!(files(&mut disk, json!({"pattern": "x"})).is_empty());
    disk.write(".gitignore", "\u{feff}b".as_bytes());
    assert_eq!(files(&mut disk, json!({"pattern": "x"})), ["a"]);
    disk.write(".gitignore", &vec![b'\n'; (256 << 10) + 1]);
    let error = disk.search(r#"{"pattern":"x"}"#).unwrap_err();
    assert_eq!(
        (error.code(), error.details()),
        ("too_large", Some(r#"{"path":".gitignore"}"#))
    );
    assert_eq!(
        files(&mut disk, json!({"pattern": "x", "use_ignore": false})),
        ["a", "b"]
    );
}

#[test]
fn thousands_of_globs_are_obeyed() {
    let mut disk = Disk::with(&[("a", "x"), ("b", "x"), ("c.log999", "x"), ("saab7b", "x")]);
    let plain = (0..4_000).map(|at| format!("name{at}/\n/dist{at}\n*.log{at}\n**/z{at}\n# *a*\n"));
    disk.write(".gitignore", plain.collect::<String>().as_bytes());
    let slow = (0..4_000).map(|at| format!("*a*{at}*b\n"));
    disk.write(".ignore", slow.collect::<String>().as_bytes());
    assert_eq!(files(&mut disk, json!({"pattern": "x"})), ["a", "b"]);
    let all = json!({"pattern": "x", "use_ignore": false});
    assert_eq!(files(&mut disk, all).len(), 4);
}

#[test]
fn the_last_of_many_globs_decides() {
    let fill: String = (0..100).map(|at| format!("?{at}?\n")).collect();
    let mut disk = Disk::with(&[("a.x", "x"), ("b.x", "x"), ("c.x", "x"), ("d", "x")]);
    let ignore = format!("a.?\n!b*x\n{fill}*.x\n!a.x\n{fill}![ab].x\na.?/\n{fill}b.?\n");
    disk.write(".gitignore", ignore.as_bytes());
    assert_eq!(files(&mut disk, json!({"pattern": "x"})), ["a.x", "d"]);
}

#[test]
fn a_directory_of_many_names_is_listed_alone() {
    let mut disk = Disk::new();
    for file in 0..3_000 {
        disk.write(&format!("s/big/{file:04}"), b"");
    }
    for directory in 0..100 {
        disk.write(&format!("s/{directory:03}/f"), b"x");
    }
    disk.write("s/z", b"x");
    let response = search(&mut disk, json!({"pattern": "x"}));
    assert_eq!(response["files_searched"], 3_101);
    assert_eq!(response["matches"].as_array().unwrap().len(), 101);
    assert_eq!(response["truncated"], false);
}

#[test]
fn the_description_is_one_line_of_json() {
    let description: Value = serde_json::from_str(search_ripgrep::describe()).unwrap();
    assert_eq!(description["name"], "search.ripgrep");
    assert_eq!(description["input_schema"]["additionalProperties"], false);
    assert!(!search_ripgrep::describe().contains('\n'));
}
