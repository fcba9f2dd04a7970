//! `fs.write_patch`: where a hunk goes, where no patch goes, and the commit.

use std::collections::BTreeSet;
use std::fs;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

use serde_json::{Value, json};

use crate::desk::Desk;
use crate::fs_write_patch::{ID, applied, rejected, request, section};
use crate::program;

/// A desk with this file `f`.
fn with(content: &str) -> Desk {
    let desk = Desk::writing();
    desk.write("f", content);
    desk
}

fn diff(hunks: &str) -> String {
    format!("--- a/f\n+++ b/f\n{hunks}")
}

fn lines(numbers: impl IntoIterator<Item = u32>) -> String {
    numbers
        .into_iter()
        .map(|number| format!("{number}\n"))
        .collect()
}

/// What becomes of this content: the new one, or the hunk and reason of the first reject.
fn outcome(content: &str, hunks: &str, more: &Value) -> Result<String, (u64, String)> {
    let desk = with(content);
    let response = desk.ok(ID, &request(&diff(hunks), more));
    if response["applied"] == true {
        return Ok(String::from_utf8(desk.read("f")).unwrap());
    }
    assert_eq!(desk.read("f"), content.as_bytes());
    let (_, hunk, reason) = crate::fs_write_patch::rejects(&response).remove(0);
    Err((hunk, reason))
}

fn reject(hunk: u64, reason: &str) -> Result<String, (u64, String)> {
    Err((hunk, reason.to_owned()))
}

#[test]
fn names_that_leave_are_denied_for_the_whole_call() {
    let new = |name: &str| format!("--- /dev/null\n+++ {name}\n@@ -0,0 +1 @@\n+x\n");
    #[rustfmt::skip]
    let rows = [
        new("b/../out"), new("b/../../os/out"), new("b/d/../../out"), new("../out"), new("/tmp/hydrant-out"),
        new("b//tmp/hydrant-out/.."), new("b/.git/hooks/post-checkout"), new("b/d/.GIT/config"), new("b/.gIt"),
        new("\"b/a\\nb\""), new("\"b/a\\001\""), new("\"b/\\177\""), new("\"b/a\\000\""), new("\"b/\\056\\056/out\""),
        "diff --git a/d/x b/out\nsimilarity index 100%\nrename from ../os/o\nrename to in\n".to_owned(),
        "diff --git a/d/x b/out\nsimilarity index 100%\nrename from d/x\nrename to ../os/out\n".to_owned(),
        "diff --git a/d/x b/out\nsimilarity index 100%\ncopy from d/x\ncopy to .git/x\n".to_owned(),
        "diff --git a/d/x b/d/x\nsimilarity index 100%\nrename from /etc/passwd\nrename to x\n".to_owned(),
        "--- a/.git/config\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n".to_owned(),
        "diff --git a/.git/config b/.git/config\nold mode 100644\nnew mode 100755\n".to_owned(),
    ];
    for bad in rows {
        let desk = with("1\n");
        desk.write("d/x", "x\n").write(".git/config", "x\n");
        fs::write(desk.beside("os/o"), "o").unwrap();
        let before = (program::listing(&desk.beside("")), desk.read(".git/config"));
        let strip = json!(u8::from(
            bad.contains(" b/") || bad.contains("\"b/") || bad.contains(" a/")
        ));
        for diff in [bad.clone(), format!("{}{bad}", section("f", "1", "2"))] {
            for partial in [false, true] {
                let request = request(&diff, &json!({"partial": partial, "strip": strip}));
                desk.error(ID, &request, "denied");
                assert_eq!(desk.read("f"), b"1\n", "{diff}");
                let after = (program::listing(&desk.beside("")), desk.read(".git/config"));
                assert_eq!(after, before, "{diff}");
            }
        }
        assert!(!std::path::Path::new("/tmp/hydrant-out").exists());
    }
}

#[test]
fn the_base_must_be_inside_the_grant() {
    let desk = with("1\n");
    for base in [
        "/os",
        "/etc",
        "..",
        "/workspace/..",
        ".git",
        "/workspace/.git/hooks",
    ] {
        let request = request(&section("f", "1", "2"), &json!({ "base": base }));
        let code = desk.ask(ID, &request).unwrap_err()["code"].clone();
        assert_eq!(code, "denied", "{base}");
    }
}

#[test]
fn no_link_is_followed() {
    let desk = with("1\n");
    desk.write("d/f", "1\n");
    fs::write(desk.beside("os/f"), "1\n").unwrap();
    desk.link("d/f", "inside");
    desk.link("d", "dir");
    desk.link("../os", "out");
    desk.link("../os/f", "file");
    desk.link("../os/new", "dangling");
    for path in ["inside", "dir/f", "out/f", "file", "dangling"] {
        for diff in [
            section(path, "1", "2"),
            format!("--- a/{path}\n+++ /dev/null\n@@ -1 +0,0 @@\n-1\n"),
            format!(
                "diff --git a/f b/{path}\nsimilarity index 100%\nrename from f\nrename to {path}\n"
            ),
            format!(
                "diff --git a/{path} b/g\nsimilarity index 100%\ncopy from {path}\ncopy to g\n"
            ),
        ] {
            desk.error(ID, &request(&diff, &json!({"partial": true})), "denied");
        }
    }
    for new in ["dir/new", "out/new", "dangling", "out/deep/new"] {
        let diff = format!("--- /dev/null\n+++ b/{new}\n@@ -0,0 +1 @@\n+x\n");
        desk.error(ID, &request(&diff, &json!({})), "denied");
    }
    let base = request(&section("f", "1", "2"), &json!({"base": "dir"}));
    desk.error(ID, &base, "denied");
    assert_eq!(
        (desk.read("f"), desk.read("d/f")),
        (b"1\n".into(), b"1\n".into())
    );
    assert_eq!(program::listing(&desk.beside("os")), ["f"]);
    assert_eq!(fs::read(desk.beside("os/f")).unwrap(), b"1\n");
}

#[test]
fn at_the_stated_position_or_the_only_other() {
    let none = json!({});
    let hunk = "@@ -5,3 +5,3 @@\n a\n-b\n+x\n c\n";
    // At its place, although there is another.
    let twice = format!("a\nb\nc\n4\n{}", "a\nb\nc\n");
    assert_eq!(
        outcome(&twice, hunk, &none),
        Ok("a\nb\nc\n4\na\nx\nc\n".into())
    );
    // Elsewhere, before and behind.
    assert_eq!(
        outcome("a\nb\nc\n4\n5\n6\n7\n8\n", hunk, &none),
        Ok("a\nx\nc\n4\n5\n6\n7\n8\n".into())
    );
    let far = format!("{}a\nb\nc\n", lines(1..=200));
    assert_eq!(
        outcome(&far, hunk, &none),
        Ok(format!("{}a\nx\nc\n", lines(1..=200)))
    );
    // Two places elsewhere.
    let shifted = format!("0\n{twice}");
    assert_eq!(outcome(&shifted, hunk, &none), reject(1, "ambiguous"));
    assert_eq!(
        outcome("1\n2\n3\n", hunk, &none),
        reject(1, "context_mismatch")
    );
    assert_eq!(outcome("", hunk, &none), reject(1, "context_mismatch"));
}

/// A header says where the hunk would be if the earlier ones had not changed the length; and it never goes before them.
#[test]
fn earlier_hunks_shift_later_ones() {
    let none = json!({});
    let content = lines(1..=30);
    let two = "@@ -3 +3,3 @@\n-3\n+x\n+y\n+z\n@@ -20 +22 @@\n-20\n+t\n";
    let expected = content
        .replace("\n3\n", "\nx\ny\nz\n")
        .replace("\n20\n", "\nt\n");
    assert_eq!(outcome(&content, two, &none), Ok(expected.clone()));
    let shifted = format!("new\nnew\n{content}");
    assert_eq!(
        outcome(&shifted, two, &none),
        Ok(format!("new\nnew\n{expected}"))
    );
    // The first hunk was found two lines further down; so is the second, of which there are two.
    let twin = format!("new\nnew\n{}20\n", content);
    let result = format!("new\nnew\n{}20\n", expected);
    assert_eq!(outcome(&twin, two, &none), Ok(result));
    // The only place of the second hunk lies before the first.
    let before = "@@ -3 +3 @@\n-3\n+x\n@@ -20 +20 @@\n-1\n+t\n";
    assert_eq!(
        outcome(&content, before, &none),
        reject(2, "context_mismatch")
    );
}

#[test]
fn a_hunk_without_old_lines_keeps_its_position() {
    let none = json!({});
    assert_eq!(
        outcome("1\n2\n3\n", "@@ -2,0 +3 @@\n+x\n", &none),
        Ok("1\n2\nx\n3\n".into())
    );
    assert_eq!(
        outcome("1\n2\n", "@@ -0,0 +1 @@\n+x\n", &none),
        Ok("x\n1\n2\n".into())
    );
    assert_eq!(
        outcome("1\n2\n", "@@ -2,0 +3 @@\n+x\n", &none),
        Ok("1\n2\nx\n".into())
    );
    let behind = outcome("1\n2\n", "@@ -9,0 +10 @@\n+x\n", &none);
    assert_eq!(behind, reject(1, "context_mismatch"), "there is no line 9");
}

#[test]
fn fuzz_drops_context_at_both_ends() {
    let hunk = "@@ -1,6 +1,6 @@\n a\n b\n-c\n+C\n d\n e\n f\n";
    // Which of the context lines differ, and the least fuzz that helps.
    #[rustfmt::skip]
    let rows = [
        ("a\nb\nc\nd\ne\nf\n", Some(0)),
        ("X\nb\nc\nd\ne\nf\n", Some(1)),
        ("a\nb\nc\nd\ne\nX\n", Some(1)),
        ("X\nb\nc\nd\ne\nX\n", Some(1)),
        ("X\nX\nc\nd\ne\nf\n", Some(2)),
        ("a\nb\nc\nd\nX\nf\n", Some(2)),
        ("X\nX\nc\nd\nX\nX\n", Some(2)),
        ("a\nb\nc\nX\ne\nf\n", None),
        ("a\nb\nX\nd\ne\nf\n", None),
    ];
    for (content, least) in rows {
        for fuzz in 0..=2 {
            let actual = outcome(content, hunk, &json!({ "fuzz": fuzz }));
            let expected = match least {
                Some(least) if fuzz >= least => Ok(content.replace("c\n", "C\n")),
                _ => reject(1, "context_mismatch"),
            };
            assert_eq!(actual, expected, "{content:?} {fuzz}");
        }
    }
}

/// Without context from level 1 on, there are two places: the attempt ends there, at whatever level comes next.
#[test]
fn an_ambiguous_level_ends_the_attempt() {
    let hunk = "@@ -1,5 +1,5 @@\n a\n b\n-c\n+C\n d\n e\n";
    let content = "0\nX\nb\nc\nd\nX\n7\nX\nb\nc\nd\nX\n";
    assert_eq!(
        outcome(content, hunk, &json!({"fuzz": 0})),
        reject(1, "context_mismatch")
    );
    for fuzz in [1, 2] {
        assert_eq!(
            outcome(content, hunk, &json!({ "fuzz": fuzz })),
            reject(1, "ambiguous")
        );
    }
    // A level that fits once goes before one that would fit twice.
    let once = "0\nX\nb\nc\nd\nX\n7\nX\nX\nc\nX\nX\n";
    let expected = Ok(once.replacen("c\n", "C\n", 1));
    assert_eq!(outcome(once, hunk, &json!({"fuzz": 2})), expected);
}

/// Each reason is one of these, and each was seen in these modules.
#[test]
fn the_reasons_are_a_closed_list() {
    let sources = [
        include_str!("fs_write_patch.rs"),
        include_str!("fs_write_patch_places.rs"),
    ];
    for reason in [
        "context_mismatch",
        "ambiguous",
        "target_missing",
        "target_exists",
        "not_regular",
        "not_empty",
        "binary_patch",
        "mode",
    ] {
        let cited = sources
            .iter()
            .any(|source| source.contains(&format!("\"{reason}\")")));
        assert!(cited, "no test expects {reason}");
    }
}

/// A file changes between reading and committing: `conflict`, and then none of the others was changed.
#[test]
fn a_file_that_changes_meanwhile_is_a_conflict() {
    let desk = Desk::writing();
    let names: Vec<String> = (0..40).map(|number| format!("f{number:02}")).collect();
    for name in &names {
        desk.write(name, "0\n");
    }
    desk.write("moving", "x\n0\n");
    // Both contents of `moving` take this hunk.
    let moving = "--- a/moving\n+++ b/moving\n@@ -1 +1,2 @@\n x\n+y\n";
    let (stop, mut conflicts) = (AtomicBool::new(false), 0);
    let mut value = 0;
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut number = 0_u32;
            while !stop.load(SeqCst) {
                number += 1;
                fs::write(desk.beside("moving"), format!("x\n{number}\n")).unwrap();
                fs::rename(desk.beside("moving"), desk.path("moving")).unwrap();
            }
        });
        // Whatever fails, the thread must end.
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            for _ in 0..100 {
                let (old, new) = (value.to_string(), (value + 1).to_string());
                let mut diff: String = names.iter().map(|name| section(name, &old, &new)).collect();
                diff.push_str(moving);
                match desk.ask(ID, &request(&diff, &json!({}))) {
                    Ok(answer) => {
                        assert_eq!(answer["applied"], true, "{answer}");
                        value += 1;
                    }
                    Err(error) => {
                        assert_eq!(error["code"], "conflict", "{error}");
                        conflicts += 1;
                    }
                }
                let contents: BTreeSet<Vec<u8>> =
                    names.iter().map(|name| desk.read(name)).collect();
                assert_eq!(
                    contents,
                    BTreeSet::from([format!("{value}\n").into_bytes()])
                );
                if conflicts >= 3 {
                    break;
                }
            }
        }));
        stop.store(true, SeqCst);
        if let Err(panic) = result {
            std::panic::resume_unwind(panic);
        }
    });
    assert!(
        conflicts > 0,
        "in 100 calls no file changed at the right moment"
    );
    let left = program::listing(&desk.path(""));
    assert_eq!(left.len(), 41, "no temporary file is left: {left:?}");
}

/// A target cannot be replaced: what was written before it is undone.
#[test]
fn a_commit_that_fails_is_undone() {
    let desk = Desk::writing();
    desk.write("a", "1\n").write("closed/b", "1\n");
    desk.mode("closed", 0o555);
    let diff = [section("a", "1", "2"), section("closed/b", "1", "2")].concat();
    let answer = desk.ask(ID, &request(&diff, &json!({})));
    desk.mode("closed", 0o755);
    if rustix::process::geteuid().is_root() {
        // No permission stops root.
        assert_eq!(answer.unwrap()["applied"], true);
        return;
    }
    let code = answer.unwrap_err()["code"].clone();
    assert!(code == "denied" || code == "io", "{code}");
    assert_eq!(
        (desk.read("a"), desk.read("closed/b")),
        (b"1\n".into(), b"1\n".into())
    );
    assert_eq!(
        program::listing(&desk.path("")),
        ["a", "closed", "closed/b"]
    );
}

#[test]
fn a_name_cannot_be_file_and_directory() {
    let desk = with("1\n");
    let new = |path: &str| format!("--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+x\n");
    for diff in [
        [new("n"), new("n/m")].concat(),
        [new("n/m"), new("n")].concat(),
        new("f/m"),
    ] {
        let answer = desk.ask(ID, &request(&diff, &json!({})));
        let applied = answer.is_ok_and(|answer| answer["applied"] == true);
        assert!(!applied, "{diff}");
        assert_eq!(program::listing(&desk.path("")), ["f"], "{diff}");
    }
    assert!(rejected(&desk, &section("g", "1", "2"), &json!({}))[0].2 == "target_missing");
    applied(&desk, &section("f", "1", "2"), &json!({}));
}
