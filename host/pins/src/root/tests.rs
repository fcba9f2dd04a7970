//! What a root opens, and what it refuses.

use std::fs;
use std::os::unix::fs::symlink;

use super::*;
use crate::folder::{Member, MemberKind};

const FILES: EmbeddedFiles = &[
    ("pins/public-keys.json", b"{}"),
    ("skills/a/0.1.0/skill.wasm", b"wasm"),
    ("skills/a/SKILL.md", b"# A\n"),
];

/// The same tree on disk and embedded.
fn both() -> (tempfile::TempDir, [Root; 2]) {
    let directory = tempfile::tempdir().unwrap();
    for (path, bytes) in FILES {
        let path = directory.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    let on_disk = Root::open(directory.path()).unwrap();
    (directory, [on_disk, Root::embedded(FILES)])
}

fn reason<T: std::fmt::Debug>(result: Result<T, FileFault>) -> Reason {
    result.unwrap_err().reason
}

#[test]
fn a_directory_and_an_embedded_tree_answer_alike() {
    let (_directory, roots) = both();
    for root in roots {
        assert_eq!(
            *root.read("skills/a/0.1.0/skill.wasm", 4).unwrap(),
            *b"wasm"
        );
        let folder = root.folder("skills/a").unwrap();
        assert_eq!(folder.path(), "skills/a");
        let member = |name: &str, kind| Member {
            name: name.to_owned(),
            kind,
        };
        let expected = [
            member("0.1.0", MemberKind::Directory),
            member("SKILL.md", MemberKind::File),
        ];
        assert_eq!(folder.members().unwrap(), expected);
        assert_eq!(root.top().members().unwrap().len(), 2);
        assert_eq!(reason(root.read("skills/a/none", 4)), Reason::Missing);
        assert_eq!(reason(root.folder("skill")), Reason::Missing);
        let too_large = Reason::TooLarge {
            bytes: 4,
            maximum: 3,
        };
        assert_eq!(reason(root.read("skills/a/SKILL.md", 3)), too_large);
        assert_eq!(reason(folder.check("SKILL.md", 3)), too_large);
    }
}

#[test]
fn no_path_leads_out_of_the_root() {
    let (_directory, roots) = both();
    for root in roots {
        for bad in [
            "",
            "/",
            "..",
            "skills/..",
            "skills/./a",
            "/etc",
            "skills//a",
            "skills/a/",
        ] {
            assert_eq!(reason(root.folder(bad)), Reason::NotPlain, "{bad}");
        }
        for bad in [
            "",
            "SKILL.md",
            "pins/",
            "pins/../pins/public-keys.json",
            "pins/a\0",
        ] {
            assert_eq!(reason(root.read(bad, 9)), Reason::NotPlain, "{bad}");
        }
    }
}

#[test]
fn no_component_of_a_path_is_followed_through_a_link() {
    let (directory, [root, _]) = both();
    let at = |path: &str| directory.path().join(path);
    symlink("a", at("skills/link")).unwrap();
    symlink("SKILL.md", at("skills/a/link")).unwrap();
    assert_eq!(reason(root.folder("skills/link")), Reason::Link);
    assert_eq!(reason(root.read("skills/link/SKILL.md", 9)), Reason::Link);
    assert_eq!(reason(root.read("skills/a/link", 9)), Reason::Link);
    assert_eq!(reason(root.read("skills/a", 9)), Reason::NotRegular);
    assert_eq!(
        reason(root.folder("skills/a/SKILL.md")),
        Reason::NotDirectory
    );
    let folder = root.folder("skills/a").unwrap();
    let link = folder
        .members()
        .unwrap()
        .into_iter()
        .find(|member| member.name == "link");
    assert_eq!(link.unwrap().kind, MemberKind::Other);
}

/// A directory that was opened stays the one that was opened.
#[test]
fn a_root_that_is_swapped_for_another_is_not_read() {
    let (directory, [root, _]) = both();
    let folder = root.folder("skills/a").unwrap();
    fs::rename(
        directory.path().join("skills"),
        directory.path().join("away"),
    )
    .unwrap();
    symlink("/", directory.path().join("skills")).unwrap();
    assert_eq!(*folder.read("SKILL.md", 9).unwrap(), *b"# A\n");
    assert_eq!(reason(root.folder("skills")), Reason::Link);
}

#[test]
fn the_nearest_directory_with_a_lock_is_the_root() {
    let (directory, _) = both();
    let below = directory.path().join("skills/a");
    assert_eq!(Root::find(&below), None);
    fs::write(directory.path().join(LOCK), b"").unwrap();
    assert_eq!(Root::find(&below).as_deref(), Some(directory.path()));
    assert_eq!(
        Root::find(directory.path()).as_deref(),
        Some(directory.path())
    );
    fs::create_dir_all(below.join("pins")).unwrap();
    fs::write(below.join(LOCK), b"").unwrap();
    assert_eq!(Root::find(&below), Some(below));
}

#[test]
fn a_root_that_is_no_directory_is_an_error_that_names_it() {
    let error = Root::open(Path::new("/nonexistent/\u{1b}"))
        .unwrap_err()
        .to_string();
    let expected = "cannot open the directory /nonexistent/\\u{1b}: ";
    assert!(error.starts_with(expected), "{error}");
}
