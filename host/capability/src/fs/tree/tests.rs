//! Listings against the rows of `fs.read_tree`.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use super::*;
use crate::fs::tree;
use crate::testing::Site;

fn listed(site: &Site, root: &str, most: u32, depth: u32, hidden: bool) -> Tree {
    let request = TreeRequest {
        root: root.to_owned(),
        max_entries: most,
        max_depth: depth,
        include_hidden: hidden,
    };
    tree(&site.call(), vec![request])
        .unwrap()
        .remove(0)
        .unwrap()
}

fn paths(tree: &Tree) -> Vec<&str> {
    tree.entries
        .iter()
        .map(|entry| entry.path.as_str())
        .collect()
}

fn site() -> Site {
    let site = Site::new();
    let os = site.os();
    for directory in ["a/deep/er", "a-b", ".git/objects", ".hidden"] {
        fs::create_dir_all(os.join(directory)).unwrap();
    }
    for file in [
        "a/deep/er/f",
        "a/z",
        "a-b/y",
        "b.md",
        ".git/HEAD",
        ".hidden/h",
    ] {
        fs::write(os.join(file), "12345").unwrap();
    }
    symlink("/", os.join("root")).unwrap();
    symlink("a", os.join("link")).unwrap();
    site
}

#[test]
fn depth_first_a_directory_before_its_contents_siblings_by_bytes() {
    let site = site();
    let tree = listed(&site, "/os", 100, 64, false);
    assert_eq!(
        paths(&tree),
        [
            "a",
            "a/deep",
            "a/deep/er",
            "a/deep/er/f",
            "a/z",
            "a-b",
            "a-b/y",
            "b.md",
            "link",
            "root"
        ]
    );
    assert!(!tree.truncated);
}

#[test]
fn links_are_listed_and_never_followed_and_only_files_have_a_length() {
    let site = site();
    let tree = listed(&site, "/os", 100, 64, false);
    for entry in &tree.entries {
        let (kind, bytes) = match entry.path.as_str() {
            "link" | "root" => (EntryKind::Symlink, None),
            path if fs::metadata(site.os().join(path)).unwrap().is_dir() => {
                (EntryKind::Directory, None)
            }
            _ => (EntryKind::File, Some(5)),
        };
        assert_eq!((entry.kind, entry.bytes, entry.error), (kind, bytes, None));
    }
    // Reading follows a root that is a link.
    assert_eq!(paths(&listed(&site, "/os/link", 1, 1, false)), ["deep"]);
}

#[test]
fn nothing_deeper_than_max_depth_is_listed_and_truncated_says_so() {
    let site = site();
    let tree = listed(&site, "/os", 100, 1, false);
    assert_eq!(paths(&tree), ["a", "a-b", "b.md", "link", "root"]);
    assert!(tree.truncated);
    let tree = listed(&site, "/os/a", 100, 3, false);
    assert_eq!(paths(&tree), ["deep", "deep/er", "deep/er/f", "z"]);
    assert!(!tree.truncated);
}

#[test]
fn the_first_entries_in_order_are_kept() {
    let site = site();
    let all = listed(&site, "/os", 100, 64, true);
    for most in 1..=u32::try_from(all.entries.len()).unwrap() {
        let tree = listed(&site, "/os", most, 64, true);
        let kept = usize::try_from(most).unwrap();
        assert_eq!(tree.entries, all.entries[..kept]);
        assert_eq!(tree.truncated, kept < all.entries.len(), "{most}");
    }
}

#[test]
fn hidden_names_are_skipped_unless_asked_for_and_git_is_never_entered() {
    let site = site();
    let tree = listed(&site, "/os", 100, 64, true);
    let hidden: Vec<_> = paths(&tree)
        .into_iter()
        .filter(|path| path.starts_with('.'))
        .collect();
    assert_eq!(hidden, [".git", ".hidden", ".hidden/h"]);
    assert!(!tree.truncated);
}

#[test]
fn a_directory_that_cannot_be_read_is_listed_with_an_error() {
    if rustix::process::geteuid().is_root() {
        return;
    }
    let site = site();
    let locked = site.os().join("a/deep");
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o0)).unwrap();
    let tree = listed(&site, "/os/a", 100, 64, false);
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(paths(&tree), ["deep", "z"]);
    assert_eq!(tree.entries[0].error, Some(FsError::NotAccessible));
}

#[test]
fn a_directory_at_the_lowest_level_that_cannot_be_read_is_listed_with_an_error() {
    if rustix::process::geteuid().is_root() {
        return;
    }
    let site = site();
    let locked = site.os().join("a-b");
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o0)).unwrap();
    // Before it, one tells that something is left out; then none is opened any more.
    let tree = listed(&site, "/os", 100, 1, false);
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(paths(&tree), ["a", "a-b", "b.md", "link", "root"]);
    assert!(tree.truncated);
    let errors: Vec<_> = tree.entries.iter().map(|entry| entry.error).collect();
    assert_eq!(
        errors,
        [None, Some(FsError::NotAccessible), None, None, None]
    );
}

#[test]
fn lists_are_answered_in_the_order_asked_and_each_answer_stands_alone() {
    let site = Site::new();
    let requests: Vec<_> = (0..300)
        .map(|number| {
            if number % 7 != 0 {
                fs::create_dir_all(site.os().join(format!("{number}/d{number}"))).unwrap();
            }
            TreeRequest {
                root: format!("/os/{number}"),
                max_entries: 10,
                max_depth: 1,
                include_hidden: false,
            }
        })
        .collect();
    let call = site.call();
    for (number, answer) in tree(&call, requests).unwrap().into_iter().enumerate() {
        match number % 7 {
            0 => assert_eq!(answer, Err(FsError::NotFound)),
            _ => assert_eq!(paths(&answer.unwrap()), [format!("d{number}")]),
        }
    }
    assert_eq!(call.meter.used().hostcalls, 300);
}

#[test]
fn a_name_that_is_not_utf_8_is_shown_as_such() {
    use std::os::unix::ffi::OsStrExt;
    let site = Site::new();
    let name = OsStr::from_bytes(b"a\xff");
    fs::create_dir_all(site.os().join(name).join(name)).unwrap();
    let tree = listed(&site, "/os", 10, 2, false);
    assert_eq!(paths(&tree), ["a\u{fffd}", "a\u{fffd}/a\u{fffd}"]);
}

#[test]
fn a_root_that_is_missing_or_no_directory_is_an_error() {
    let site = site();
    for (root, error) in [
        ("/os/none", FsError::NotFound),
        ("/os/b.md", FsError::NotDirectory),
        ("/os/root", FsError::LeavesMount),
        ("/etc", FsError::Denied),
    ] {
        let request = TreeRequest {
            root: root.to_owned(),
            max_entries: 1,
            max_depth: 1,
            include_hidden: false,
        };
        let answer = tree(&site.call(), vec![request]).unwrap();
        assert_eq!(answer, [Err(error)], "{root}");
    }
}

#[test]
fn a_tree_that_is_deeper_than_64_levels_is_cut() {
    let site = Site::new();
    let mut deep = site.os();
    for _ in 0..100 {
        deep.push("d");
    }
    fs::create_dir_all(&deep).unwrap();
    let tree = listed(&site, "/os", u32::MAX, u32::MAX, false);
    assert_eq!((tree.entries.len(), tree.truncated), (64, true));
}

#[test]
fn a_directory_with_many_names_holds_no_more_of_them_than_asked_for() {
    let site = Site::new();
    for name in 0..3000 {
        fs::write(site.os().join(format!("{name:04}")), "").unwrap();
    }
    let tree = listed(&site, "/os", 3, 1, false);
    assert_eq!(paths(&tree), ["0000", "0001", "0002"]);
    assert!(tree.truncated);
}
