//! What a diff says: its sections, names and options.

use serde_json::{Value, json};

use super::support::{Entry, Host, call, error, files, patch, rejects};
use super::{ABC, EDIT_F, reject};

#[test]
fn describe_is_compact_json_on_one_line() {
    let text = fs_write_patch::describe();
    let value: Value = serde_json::from_str(text).unwrap();
    assert_eq!(value["name"], "fs.write_patch");
    assert_eq!(value.to_string(), text);
    assert_eq!(value["input_schema"]["additionalProperties"], false);
}

#[test]
fn members_are_checked() {
    for (members, named) in [
        (json!({"fuzz": 3}), "fuzz"),
        (json!({"strip": 2}), "strip"),
        (json!({"strip": "1"}), "strip"),
        (json!({"strip": null}), "strip"),
        (json!({"partial": 1}), "partial"),
        (json!({"dry_run": null}), "dry_run"),
        (json!({"base": 1}), "base"),
        (json!({"unified_diff": ""}), "unified_diff"),
        (json!({"unified_diff": "a\u{0}"}), "unified_diff"),
        (json!({"diff": ""}), "diff"),
    ] {
        let found = error(&mut Host::default(), EDIT_F, members);
        assert_eq!(found, ("invalid_request".into(), json!({"member": named})));
    }
}

#[test]
fn members_stand_in_the_order_of_the_row() {
    let mut host = Host::new(&[("f", ABC)]);
    let request = json!({ "unified_diff": EDIT_F }).to_string();
    let answer = fs_write_patch::run(&mut host, request.as_bytes()).unwrap();
    assert_eq!(
        String::from_utf8(answer).unwrap(),
        "{\"applied\":true,\"files_changed\":1,\"hunks_applied\":1,\"rejects\":[],\
         \"files\":[{\"path\":\"f\",\"action\":\"modified\",\"hunks\":1}],\"rejects_truncated\":false}"
    );
    assert_eq!(host.text("f"), Some("a\nB\nc\n"));
}

#[test]
fn one_reject_changes_no_file_unless_partial() {
    let diff = format!(
        "{EDIT_F}{}{}",
        EDIT_F.replace("/f", "/g"),
        EDIT_F.replace("/f", "/h")
    );
    let state = [("f", ABC), ("g", "x\n"), ("h", ABC)];
    let mut host = Host::new(&state);
    let answer = patch(&mut host, &diff);
    assert_eq!(host.entries, Host::new(&state).entries);
    assert!(host.applied.is_empty());
    assert_eq!(answer["applied"], false);
    assert_eq!(
        (&answer["files_changed"], &answer["hunks_applied"]),
        (&json!(0), &json!(0))
    );
    assert_eq!(answer["files"], json!([]));
    assert_eq!(rejects(&answer), [reject("g", 1, "context_mismatch")]);

    let answer = call(&mut host, &diff, json!({"partial": true})).unwrap();
    assert_eq!(answer["applied"], true);
    assert_eq!(files(&answer), [("f", "modified", 1), ("h", "modified", 1)]);
    assert_eq!(rejects(&answer), [reject("g", 1, "context_mismatch")]);
    assert_eq!(host.text("g"), Some("x\n"));
    assert_eq!(host.text("h"), Some("a\nB\nc\n"));
}

#[test]
fn with_partial_each_file_is_all_or_nothing() {
    let diff = format!("{EDIT_F}@@ -9 +9 @@\n-nowhere\n+x\n");
    let mut host = Host::new(&[("f", ABC)]);
    let answer = call(&mut host, &diff, json!({"partial": true})).unwrap();
    assert_eq!(answer["applied"], false);
    assert_eq!(rejects(&answer), [reject("f", 2, "context_mismatch")]);
    assert_eq!(host.text("f"), Some(ABC));
    assert!(host.applied.is_empty());
}

#[test]
fn a_hundred_rejects_are_listed() {
    let section = |n: usize| EDIT_F.replace("/f", &format!("/{n}"));
    for (sections, listed, truncated) in [(100, 100, false), (101, 100, true), (300, 100, true)] {
        let diff: String = (0..sections).map(section).collect();
        for partial in [false, true] {
            let answer = call(&mut Host::default(), &diff, json!({ "partial": partial })).unwrap();
            assert_eq!(rejects(&answer).len(), listed);
            assert_eq!(answer["rejects_truncated"], truncated);
        }
    }
    // What applies behind them is still written with `partial`.
    let mut diff: String = (0..150).map(section).collect();
    diff += EDIT_F;
    let mut host = Host::new(&[("f", ABC)]);
    let answer = call(&mut host, &diff, json!({"partial": true})).unwrap();
    assert_eq!(files(&answer), [("f", "modified", 1)]);
}

#[test]
fn a_dry_run_answers_the_same_and_writes_nothing() {
    let mut host = Host::new(&[("f", ABC)]);
    let mut dry = call(&mut host, EDIT_F, json!({"dry_run": true})).unwrap();
    assert_eq!(dry["applied"], false);
    assert_eq!(host.text("f"), Some(ABC));
    assert!(host.applied.is_empty());
    dry["applied"] = json!(true);
    assert_eq!(dry, patch(&mut host, EDIT_F));
}

#[test]
fn text_around_sections_is_ignored() {
    let diff = format!(
        "From 0123 Mon Sep 17 00:00:00 2001\nSubject: [PATCH] x\n\n--\nbody\n---\n f | 2 +-\n 1 file changed\n\n\
         diff --git a/f b/f\nindex 1234567..89abcde 100644\n{EDIT_F}-- \n2.39.0\n\nFrom 4567\n---\n g | 2 +-\n\n{}-- \n2.39.0\n",
        EDIT_F.replace("/f", "/g")
    );
    let mut host = Host::new(&[("f", ABC), ("g", ABC)]);
    assert_eq!(files(&patch(&mut host, &diff)).len(), 2);
    assert_eq!(host.text("f"), Some("a\nB\nc\n"));
    // The signature after a hunk that ends with removed lines.
    let diff = "--- a/f\n+++ b/f\n@@ -2,2 +2 @@\n B\n-c\n-- \n2.39.0\n";
    patch(&mut host, diff);
    assert_eq!(host.text("f"), Some("a\nB\n"));
}

#[test]
fn names_quoted_with_blanks_and_with_time_stamps() {
    for (written, path) in [
        ("a/f\t2020-01-01 00:00:00.000000000 +0000", "f"),
        ("a/with blank\t", "with blank"),
        ("a/with blank", "with blank"),
        ("\"a/\\303\\244\\\"\\\\.txt\"", "ä\"\\.txt"),
        ("\"a/q\"\tx", "q"),
        ("a/./d//f", "d/f"),
    ] {
        let diff = EDIT_F.replace("a/f", written);
        let diff = diff.replace("b/f", &written.replacen("a/", "b/", 1));
        let mut host = Host::new(&[(path, ABC)]);
        assert_eq!(
            files(&patch(&mut host, &diff)),
            [(path, "modified", 1)],
            "{written}"
        );
    }
    for wrong in [
        "\"a/f",
        "\"a/\\400\"",
        "\"a/\\8\"",
        "\"a/\\1",
        "\"a/\\x41\"",
        "",
        "\t",
    ] {
        let found = error(
            &mut Host::default(),
            &EDIT_F.replace("a/f", wrong),
            json!({}),
        );
        assert_eq!(found, ("malformed".into(), json!({"line": 1})), "{wrong}");
    }
    let found = error(
        &mut Host::default(),
        &EDIT_F.replace("a/f", "\"a/\\377\""),
        json!({}),
    );
    assert_eq!(found, ("unsupported".into(), json!({"line": 1})));
}

#[test]
fn git_sections_without_hunks() {
    let mut host = Host::new(&[("from", ABC), ("run me", ABC), ("empty", ""), ("x", ABC)]);
    let answer = patch(
        &mut host,
        "diff --git a/from b/to\nsimilarity index 100%\nrename from from\nrename to to\n\
         diff --git a/run me b/run me\nold mode 100644\nnew mode 100755\n\
         diff --git a/empty b/empty\ndeleted file mode 100644\nindex e69de29..0000000\n\
         diff --git \"a/n\\303\\244\" \"b/n\\303\\244\"\nnew file mode 100755\nindex 0000000..e69de29\n\
         diff --git a/x b/d/y\nsimilarity index 100%\ncopy from x\ncopy to d/y\n",
    );
    assert_eq!(
        files(&answer),
        [
            ("to", "renamed", 0),
            ("run me", "mode", 0),
            ("empty", "deleted", 0),
            ("nä", "created", 0),
            ("d/y", "copied", 0),
        ]
    );
    assert_eq!(host.text("from"), None);
    assert_eq!(host.text("empty"), None);
    assert_eq!(
        (host.text("to"), host.text("d/y"), host.text("x")),
        (Some(ABC), Some(ABC), Some(ABC))
    );
    assert_eq!((host.text("nä"), host.executable("nä")), (Some(""), true));
    assert!(host.executable("run me"));
}

#[test]
fn what_is_malformed_names_its_line_and_changes_nothing() {
    let head = "--- a/f\n+++ b/f\n";
    let git = "diff --git a/f b/f\n";
    let cases: &[(&str, usize)] = &[
        ("text only\n", 1),
        ("--- a/f\n+++ b/f\n", 3),
        ("--- a/f\n+++ b/f\ntext\n", 3),
        ("--- a/f\n+++ b/f\n@@ what\n", 3),
        ("--- a/f\n+++ b/f\n@@ -1,3 +1,3\n a\n", 3),
        ("--- a/f\n+++ b/f\n@@ -1,99999999999 +1 @@\n-a\n+b\n", 6),
        (
            "--- a/f\n+++ b/f\n@@ -4294967295,4294967295 +1 @@\n-a\n+b\n",
            6,
        ),
        ("--- a/f\n+++ b/f\n@@@ -1 -1 +1 @@@\n- a\n+ b\n", 3),
        ("diff --cc f\nindex 1,2..3\n", 1),
        ("text\n@@ -1 +1 @@\n-a\n+b\n", 2),
        // Lines that are none of a hunk, where the counts do not say that it has ended.
        ("--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n-a\n+b\ntext\n", 6),
        ("--- a/f\n+++ b/f\n@@ -1 +1 @@\n a\n", 3),
        ("--- a/f\n+++ b/f\n@@ -1 +1 @@\n\\ No newline\n-a\n+b\n", 4),
        ("--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n\\ No\n\\ No\n", 7),
        // A line behind the end of the file.
        ("--- a/f\n+++ b/f\n@@ -1,2 +1 @@\n-a\n\\ No\n-b\n+b\n", 6),
        ("--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n-a\n+a\n\\ No\n b\n", 7),
        // Sections that contradict themselves or each other.
        (&format!("{git}index 1..2 100644\n"), 1),
        (&format!("{git}new mode 100644\nnew mode 100644\n"), 3),
        (&format!("{git}new mode rwx\n"), 2),
        (&format!("{git}rename from a\n"), 1),
        (
            &format!("{git}new file mode 100644\ndeleted file mode 100644\n"),
            3,
        ),
        (&format!("{git}new file mode 100644\n{EDIT_F}"), 1),
        (&format!("{git}--- a/f\n@@ -1 +1 @@\n-a\n+b\n"), 2),
        ("diff --git a/f b/gg\nnew mode 100755\n", 1),
        ("diff --git a/f b/g\nnew mode 100755\n", 1),
        (
            "diff --git a/f b/g\n--- a/f\n+++ b/g\n@@ -1 +1 @@\n-a\n+b\n",
            1,
        ),
        (
            "diff --git a/f b/g\nrename from f\nrename to g\n--- a/x\n+++ b/g\n@@ -1 +1 @@\n-a\n+b\n",
            1,
        ),
        ("--- /dev/null\n+++ /dev/null\n@@ -1 +1 @@\n-a\n+b\n", 1),
        (
            "diff --git a/f b/f\n--- /dev/null\n+++ /dev/null\n@@ -1 +1 @@\n-a\n+b\n",
            1,
        ),
        ("--- a/.\n+++ b/.\n@@ -1 +1 @@\n-a\n+b\n", 1),
        ("diff --git a/f b/f\nrename from f\nrename to f\n", 1),
    ];
    for (diff, line) in cases {
        for members in [json!({}), json!({"partial": true})] {
            let mut host = Host::new(&[("f", ABC)]);
            let found = error(&mut host, diff, members);
            assert_eq!(found, ("malformed".into(), json!({"line": line})), "{diff}");
            assert!(host.applied.is_empty(), "{diff}");
        }
    }
    assert_eq!(
        error(
            &mut Host::default(),
            &format!("{head}@@ -1 +1 @@\n"),
            json!({})
        )
        .0,
        "malformed"
    );
}

#[test]
fn no_path_is_changed_by_two_sections() {
    let moved = |from: &str, to: &str, kind: &str| {
        format!("diff --git a/{from} b/{to}\n{kind} from {from}\n{kind} to {to}\n")
    };
    let delete = "diff --git a/b b/b\ndeleted file mode 100644\n";
    let create = "diff --git a/b b/b\nnew file mode 120000\n";
    let mut host = Host::new(&[("a", ABC), ("b", ""), ("f", ABC)]);
    for diff in [
        moved("a", "b", "rename") + &moved("b", "c", "rename"),
        moved("a", "b", "rename") + &moved("b", "a", "rename"),
        moved("a", "x", "rename") + &moved("a", "y", "rename"),
        moved("f", "x", "copy") + &moved("a", "x", "rename"),
        moved("f", "x", "rename") + EDIT_F,
        delete.to_owned() + create,
        delete.to_owned() + &moved("a", "./b", "copy"),
    ] {
        assert_eq!(error(&mut host, &diff, json!({})).0, "malformed", "{diff}");
    }
    // One as a file, the other as a directory; `x-y` sorts between them by bytes.
    let new = |path: &str| format!("diff --git a/{path} b/{path}\nnew file mode 100644\n");
    let diff = new("x/y") + &new("x-y") + &new("x");
    assert_eq!(error(&mut host, &diff, json!({})).0, "malformed");
    assert_eq!(
        files(&patch(&mut host, &(new("x/y") + &new("x-y") + &new("xx")))).len(),
        3
    );
}

#[test]
fn a_copy_takes_the_old_state_of_its_source() {
    let copy = "diff --git a/f b/g\ncopy from f\ncopy to g\n";
    let mut host = Host::new(&[("f", ABC)]);
    let answer = patch(&mut host, &format!("diff --git a/f b/f\n{EDIT_F}{copy}"));
    assert_eq!(files(&answer), [("f", "modified", 1), ("g", "copied", 0)]);
    assert_eq!(
        (host.text("f"), host.text("g")),
        (Some("a\nB\nc\n"), Some(ABC))
    );
    // A copy, then a rename of the same file, as git writes them.
    let mut host = Host::new(&[("f", ABC)]);
    let diff = format!("{copy}diff --git a/f b/h\nrename from f\nrename to h\n");
    assert_eq!(
        files(&patch(&mut host, &diff)),
        [("g", "copied", 0), ("h", "renamed", 0)]
    );
    assert_eq!(
        (host.text("f"), host.text("g"), host.text("h")),
        (None, Some(ABC), Some(ABC))
    );
}

#[test]
fn prefixes_are_stripped_if_all_names_have_them() {
    let plain = EDIT_F.replace("a/f", "f").replace("b/f", "f");
    let mut host = Host::new(&[("f", ABC), ("a/f", ABC), ("d/f", ABC), ("d/a/f", ABC)]);
    assert_eq!(files(&patch(&mut host, EDIT_F))[0].0, "f");
    // Both begin with a/: that is a directory.
    let same = EDIT_F.replace("b/f", "a/f");
    assert_eq!(files(&patch(&mut host, &same))[0].0, "a/f");
    let in_d = call(&mut host, &plain, json!({"base": "d"})).unwrap();
    assert_eq!(files(&in_d)[0].0, "d/f");
    let in_d = call(
        &mut host,
        &same,
        json!({"base": "/workspace/d", "strip": 0}),
    )
    .unwrap();
    assert_eq!(files(&in_d)[0].0, "/workspace/d/a/f");
    host.put("f", ABC);
    let other = EDIT_F.replace("a/f", "old/f").replace("b/f", "new/f");
    assert_eq!(
        files(&call(&mut host, &other, json!({"strip": 1})).unwrap())[0].0,
        "f"
    );
    // Each section has its own.
    host.put("f", ABC).put("g", ABC);
    let mixed = format!("{EDIT_F}{}", plain.replace("f\n", "g\n"));
    assert_eq!(
        files(&patch(&mut host, &mixed)),
        [("f", "modified", 1), ("g", "modified", 1)]
    );
    // /dev/null and the names of renames do not count.
    let diff = "diff --git a/f b/r\nrename from f\nrename to r\n--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+x\n";
    let diff = diff.replace("rename to r\n", "rename to r\ntext\n");
    assert_eq!(
        files(&patch(&mut host, &diff)),
        [("r", "renamed", 0), ("n", "created", 1)]
    );
}

#[test]
fn bare_sections_name_a_file_and_a_copy_of_it() {
    for (old, new, meant) in [
        ("f.orig", "f", "f"),
        ("f", "f.new", "f"),
        ("x/f", "y/f", "y/f"),
    ] {
        let diff = EDIT_F.replace("a/f", old).replace("b/f", new);
        let mut host = Host::new(&[(meant, ABC)]);
        assert_eq!(files(&patch(&mut host, &diff))[0].0, meant, "{old} {new}");
    }
}

#[test]
fn names_that_may_not_be_written_end_the_call() {
    let mut host = Host::new(&[("f", ABC), ("d/x", "")]);
    host.entries.insert("link".into(), Entry::Link);
    for name in [
        "/etc/passwd",
        "a/../../x",
        "a/d/../f",
        "a/.git/config",
        "a/d/.GIT/x",
        "a/.git",
        "a/link",
        "a/link/below",
        "\"a/\\001\"",
        "\"a/x\\ny\"",
        "\"a/\\302\\205\"",
        "a/x\r",
    ] {
        let new = name.replacen("a/", "b/", 1);
        let section = EDIT_F.replace("a/f", name).replace("b/f", &new);
        let create = format!("--- /dev/null\n+++ {new}\n@@ -0,0 +1 @@\n+x\n");
        let rename = format!(
            "diff --git a/f b/g\nrename from f\nrename to {}\n",
            name.replacen("a/", "", 1)
        );
        for diff in [section, create, rename] {
            let diff = EDIT_F.replace("/f", "/d/y") + &diff;
            for partial in [false, true] {
                let (code, details) = error(&mut host, &diff, json!({ "partial": partial }));
                assert_eq!(code, "denied", "{diff}");
                let capability = details["capability"].as_str().unwrap();
                assert!(capability.starts_with("fs.write:"), "{capability}");
            }
        }
    }
    for base in ["/os", "..", ".git/x", "link"] {
        assert_eq!(
            error(&mut host, EDIT_F, json!({ "base": base })).0,
            "denied",
            "{base}"
        );
    }
}
