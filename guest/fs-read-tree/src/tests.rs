//! A call against one listing in memory.

use kit::host::fs_read::{File, ReadRequest, TreeRequest};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

/// A listing, or why there is none; it keeps what was asked.
struct Disk {
    listing: Result<Listing, FsError>,
    asked: Vec<TreeRequest>,
}

impl ReadFiles for Disk {
    fn read(&mut self, _: &[ReadRequest]) -> Vec<Result<File, FsError>> {
        panic!("a tree is listed, no file is read")
    }

    fn tree(&mut self, requests: &[TreeRequest]) -> Vec<Result<Listing, FsError>> {
        self.asked.extend_from_slice(requests);
        vec![self.listing.clone()]
    }
}

fn disk(entries: Vec<Entry>) -> Disk {
    Disk {
        listing: Ok(Listing {
            entries,
            truncated: false,
        }),
        asked: Vec::new(),
    }
}

fn entry(path: &str, kind: EntryKind, bytes: Option<u64>, error: Option<FsError>) -> Entry {
    Entry {
        path: path.to_owned(),
        kind,
        bytes,
        error,
    }
}

fn listed(disk: &mut Disk, request: &str) -> String {
    String::from_utf8(run(disk, request.as_bytes()).unwrap()).unwrap()
}

#[test]
fn the_response_is_compact_and_in_order() {
    let mut disk = disk(vec![
        entry("a", EntryKind::Directory, None, None),
        entry("a/b.rs", EntryKind::File, Some(12), None),
        entry("a/\"c\u{FFFD}", EntryKind::Symlink, None, None),
        entry(
            "d",
            EntryKind::Directory,
            None,
            Some(FsError::NotAccessible),
        ),
        entry("e", EntryKind::Directory, None, Some(FsError::Io)),
        entry("f", EntryKind::Other, None, None),
    ]);
    let expected = concat!(
        r#"{"root":"src","entries":["#,
        r#"{"path":"a","kind":"dir"},"#,
        r#"{"path":"a/b.rs","kind":"file","bytes":12},"#,
        "{\"path\":\"a/\\\"c\u{FFFD}\",\"kind\":\"symlink\"},",
        r#"{"path":"d","kind":"dir","error":"denied"},"#,
        r#"{"path":"e","kind":"dir","error":"io"},"#,
        r#"{"path":"f","kind":"other"}"#,
        r#"],"truncated":false}"#
    );
    assert_eq!(listed(&mut disk, r#"{"root":"./src/"}"#), expected);
}

#[test]
fn the_root_is_shown_as_it_was_asked_for() {
    for (request, root, absolute) in [
        ("{}", ".", "/workspace"),
        (r#"{"root":"a/.."}"#, ".", "/workspace"),
        (r#"{"root":"/workspace/a"}"#, "/workspace/a", "/workspace/a"),
        (r#"{"root":"/os"}"#, "/os", "/os"),
    ] {
        let mut disk = disk(Vec::new());
        let expected = format!("{{\"root\":\"{root}\",\"entries\":[],\"truncated\":false}}");
        assert_eq!(listed(&mut disk, request), expected);
        assert_eq!(disk.asked[0].root, absolute);
    }
}

#[test]
fn the_host_gets_the_bounds_and_tells_what_it_left_out() {
    let mut some = disk(Vec::new());
    some.listing = Ok(Listing {
        entries: Vec::new(),
        truncated: true,
    });
    let request = r#"{"max_entries":10000,"max_depth":64,"include_hidden":true}"#;
    assert!(listed(&mut some, request).ends_with("\"truncated\":true}"));
    listed(&mut some, "{}");
    let asked = |max_entries, max_depth, include_hidden| TreeRequest {
        root: "/workspace".to_owned(),
        max_entries,
        max_depth,
        include_hidden,
    };
    assert_eq!(
        some.asked,
        [asked(10_000, 64, true), asked(2_000, 8, false)]
    );
}

#[test]
fn a_request_is_checked_before_anything_is_listed() {
    for (request, code) in [
        (r#"{"root":null}"#, "invalid_request"),
        (r#"{"root":"a\u0000"}"#, "invalid_request"),
        (r#"{"max_entries":0}"#, "invalid_request"),
        (r#"{"max_entries":10001}"#, "invalid_request"),
        (r#"{"max_bytes":1023}"#, "invalid_request"),
        (r#"{"skip":90001}"#, "invalid_request"),
        (r#"{"max_depth":0}"#, "invalid_request"),
        (r#"{"max_depth":65}"#, "invalid_request"),
        (r#"{"include_hidden":"yes"}"#, "invalid_request"),
        (r#"{"path":"."}"#, "invalid_request"),
        (r#"{"root":".."}"#, "denied"),
        (r#"{"root":"/.."}"#, "denied"),
    ] {
        let mut disk = disk(Vec::new());
        let error = run(&mut disk, request.as_bytes()).unwrap_err();
        assert_eq!(error.code(), code, "{request}");
        assert!(error.details().is_some(), "{request}");
        assert!(disk.asked.is_empty(), "{request}");
    }
}

#[test]
fn a_root_that_cannot_be_listed() {
    for (error, code) in [
        (FsError::NotFound, "not_found"),
        (FsError::NotDirectory, "wrong_type"),
        (FsError::Special, "wrong_type"),
        (FsError::Denied, "denied"),
        (FsError::LeavesMount, "denied"),
        (FsError::NotAccessible, "denied"),
        (FsError::Io, "io"),
    ] {
        let mut disk = disk(Vec::new());
        disk.listing = Err(error);
        assert_eq!(run(&mut disk, b"{}").unwrap_err().code(), code);
    }
}

#[test]
fn an_answer_fits_a_context_and_says_how_to_go_on() {
    let entries: Vec<_> = (0..1_200)
        .map(|at| {
            entry(
                &format!("some/directory/{at:04}.rs"),
                EntryKind::File,
                Some(1),
                None,
            )
        })
        .collect();
    let mut disk = disk(entries.clone());
    let mut request = json!({});
    let mut paths = Vec::new();
    loop {
        let answer = listed(&mut disk, &request.to_string());
        assert!(answer.len() <= 32 * 1024, "{}", answer.len());
        let answer: Value = serde_json::from_str(&answer).unwrap();
        for entry in answer["entries"].as_array().unwrap() {
            paths.push(entry["path"].as_str().unwrap().to_owned());
        }
        if answer["truncated"] == false {
            assert_eq!(answer.get("next"), None);
            break;
        }
        request["skip"] = answer["next"]["skip"].clone();
    }
    assert!(disk.asked.len() > 2 && disk.asked[1].max_entries > 2_000);
    let all: Vec<_> = entries.into_iter().map(|entry| entry.path).collect();
    assert_eq!(paths, all);
    let all: Value = serde_json::from_str(&listed(&mut disk, r#"{"max_bytes":1000000}"#)).unwrap();
    assert_eq!(all["truncated"], false);
}

#[test]
fn what_max_entries_leaves_out_can_be_asked_for_and_what_max_depth_does_cannot() {
    let mut some = disk(vec![entry("a", EntryKind::Directory, None, None)]);
    some.listing.as_mut().unwrap().truncated = true;
    for (request, end) in [
        (
            r#"{"max_entries":1}"#,
            "\"truncated\":true,\"next\":{\"skip\":1}}",
        ),
        (r#"{"max_entries":2}"#, "\"truncated\":true}"),
    ] {
        let answer = listed(&mut some, request);
        assert!(answer.ends_with(end), "{answer}");
    }
}

#[test]
fn a_name_of_any_length_is_answered() {
    let name = "\u{1}".repeat(4_000);
    let mut disk = disk(vec![entry(&name, EntryKind::File, Some(1), None); 1_000]);
    let count = |answer: &str| {
        let answer: Value = serde_json::from_str(answer).unwrap();
        assert_eq!(answer["truncated"], true);
        answer["entries"].as_array().unwrap().len()
    };
    assert_eq!(count(&listed(&mut disk, r#"{"max_bytes":1024}"#)), 1);
    let most = listed(&mut disk, r#"{"max_bytes":16711680}"#);
    assert!(most.len() <= 16_711_680 && count(&most) > 690);
}

#[test]
fn it_describes_itself() {
    let described: Value = serde_json::from_str(describe()).unwrap();
    assert_eq!(described["name"], "fs.read_tree");
    assert_eq!(described.to_string(), describe());
    assert!((1..=1024).contains(&described["description"].as_str().unwrap().chars().count()));
    let answer: Value = serde_json::from_str(&listed(&mut disk(Vec::new()), "{}")).unwrap();
    let members: Vec<_> = answer.as_object().unwrap().keys().cloned().collect();
    assert_eq!(json!(members), described["output_schema"]["required"]);
}

proptest! {
    #[test]
    fn any_name_is_valid_json(path: String, bytes: Option<u64>) {
        let mut disk = disk(vec![entry(&path, EntryKind::File, bytes, None)]);
        let answer: Value = serde_json::from_str(&listed(&mut disk, "{}")).unwrap();
        let entry = &answer["entries"][0];
        prop_assert_eq!(entry["path"].as_str(), Some(path.as_str()));
        prop_assert_eq!(entry["bytes"].as_u64(), bytes);
    }
}
