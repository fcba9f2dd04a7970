//! `fs.write_patch`: what becomes of a patch.

use serde_json::{Value, json};

use crate::desk::Desk;
use crate::program;

pub(crate) const ID: &str = "fs.write_patch";

/// A section that changes the only line of a file.
pub(crate) fn section(path: &str, old: &str, new: &str) -> String {
    format!("--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-{old}\n+{new}\n")
}

pub(crate) fn request(diff: &str, more: &Value) -> Value {
    let mut request = json!({ "unified_diff": diff });
    for (name, value) in more.as_object().unwrap() {
        request[name] = value.clone();
    }
    request
}

/// The response to this patch, with further members of the request.
pub(crate) fn patch(desk: &Desk, diff: &str, more: &Value) -> Value {
    desk.ok(ID, &request(diff, more))
}

/// A patch that is applied as a whole; the members `path`, `action`, `hunks` of what it wrote.
pub(crate) fn applied(desk: &Desk, diff: &str, more: &Value) -> Value {
    let response = patch(desk, diff, more);
    assert_eq!(response["applied"], true, "{response}\n{diff}");
    assert_eq!(response["rejects"], json!([]), "{response}\n{diff}");
    response["files"].clone()
}

/// A patch that is rejected, and changes nothing; file, hunk and reason of each reject.
pub(crate) fn rejected(desk: &Desk, diff: &str, more: &Value) -> Vec<(String, u64, String)> {
    let response = patch(desk, diff, more);
    let expected = json!([false, 0, 0, []]);
    let actual = json!([
        response["applied"],
        response["files_changed"],
        response["hunks_applied"],
        response["files"],
    ]);
    assert_eq!(actual, expected, "{response}\n{diff}");
    rejects(&response)
}

pub(crate) fn rejects(response: &Value) -> Vec<(String, u64, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let rejects = response["rejects"].as_array().unwrap().iter();
    let one = rejects.map(|reject| {
        let names: Vec<&String> = reject.as_object().unwrap().keys().collect();
        assert_eq!(names, ["file", "hunk", "reason", "message"], "{reject}");
        assert!(!text(&reject["message"]).is_empty(), "{reject}");
        (
            text(&reject["file"]),
            reject["hunk"].as_u64().unwrap(),
            text(&reject["reason"]),
        )
    });
    one.collect()
}

fn reject(file: &str, hunk: u64, reason: &str) -> Vec<(String, u64, String)> {
    vec![(file.to_owned(), hunk, reason.to_owned())]
}

#[test]
fn one_reject_means_no_change() {
    let desk = Desk::writing();
    desk.write("a", "1\n").write("b", "1\n").write("c", "1\n");
    let diff = [
        section("a", "1", "2"),
        section("b", "9", "2"),
        section("c", "1", "2"),
    ]
    .concat();
    assert_eq!(
        rejected(&desk, &diff, &json!({})),
        reject("b", 1, "context_mismatch")
    );
    assert_eq!(desk.read("a"), b"1\n");
    let partial = patch(&desk, &diff, &json!({"partial": true}));
    assert_eq!(rejects(&partial), reject("b", 1, "context_mismatch"));
    let expected = json!([true, 2, 2, [
        {"path": "a", "action": "modified", "hunks": 1}, {"path": "c", "action": "modified", "hunks": 1},
    ]]);
    let actual = json!([
        partial["applied"],
        partial["files_changed"],
        partial["hunks_applied"],
        partial["files"]
    ]);
    assert_eq!(actual, expected);
    let contents = ["a", "b", "c"].map(|name| desk.read(name));
    assert_eq!(contents, [b"2\n", b"1\n", b"2\n"]);
}

/// A file of which one hunk fails is left alone, also with `partial`; nothing written is not applied.
#[test]
fn with_partial_each_file_is_all_or_nothing() {
    let desk = Desk::writing();
    let text: String = (1..=20).map(|number| format!("{number}\n")).collect();
    desk.write("f", &text);
    let diff = "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n-1\n+one\n 2\n@@ -19,2 +19,2 @@\n 19\n-21\n+x\n";
    let partial = patch(&desk, diff, &json!({"partial": true}));
    assert_eq!(rejects(&partial), reject("f", 2, "context_mismatch"));
    assert_eq!(
        (&partial["applied"], &partial["files"]),
        (&json!(false), &json!([]))
    );
    assert_eq!(desk.read("f"), text.as_bytes());
}

#[test]
fn at_most_100_rejects_are_listed() {
    let desk = Desk::writing();
    let of = |count: u32| -> String {
        (0..count)
            .map(|n| section(&format!("f{n}"), "a", "b"))
            .collect()
    };
    for (count, cut) in [(100, false), (101, true)] {
        let response = patch(&desk, &of(count), &json!({}));
        let listed = rejects(&response);
        assert_eq!(listed.len(), 100);
        assert_eq!(
            listed[99],
            ("f99".into(), 0, "target_missing".into()),
            "in the order of the diff"
        );
        assert_eq!(response["rejects_truncated"], cut, "{count}");
    }
}

#[test]
fn every_action_has_a_name() {
    let desk = Desk::writing();
    desk.write("m", "1\n")
        .write("d", "1\n")
        .write("r", "1\n2\n")
        .write("c", "1\n")
        .write("x", "1\n");
    let diff = "\
diff --git a/m b/m\nindex 1..2 100644\n--- a/m\n+++ b/m\n@@ -1 +1 @@\n-1\n+2\n\
diff --git a/n b/n\nnew file mode 100644\nindex 0..1\n--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+new\n\
diff --git a/d b/d\ndeleted file mode 100644\nindex 1..0\n--- a/d\n+++ /dev/null\n@@ -1 +0,0 @@\n-1\n\
diff --git a/r b/s\nsimilarity index 50%\nrename from r\nrename to s\nindex 1..2 100644\n--- a/r\n+++ b/s\n@@ -1,2 +1,2 @@\n 1\n-2\n+3\n\
diff --git a/c b/k/c\nsimilarity index 100%\ncopy from c\ncopy to k/c\n\
diff --git a/x b/x\nold mode 100644\nnew mode 100755\n";
    let response = patch(&desk, diff, &json!({}));
    let files = json!([
        {"path": "m", "action": "modified", "hunks": 1},
        {"path": "n", "action": "created", "hunks": 1},
        {"path": "d", "action": "deleted", "hunks": 1},
        {"path": "s", "action": "renamed", "hunks": 1},
        {"path": "k/c", "action": "copied", "hunks": 0},
        {"path": "x", "action": "mode", "hunks": 0},
    ]);
    assert_eq!(response["files"], files, "{response}");
    assert_eq!(
        (&response["files_changed"], &response["hunks_applied"]),
        (&json!(6), &json!(4))
    );
    assert_eq!(
        (desk.read("m"), desk.read("n"), desk.read("s")),
        (b"2\n".into(), b"new\n".into(), b"1\n3\n".into())
    );
    assert!(!desk.exists("d") && !desk.exists("r"));
    assert_eq!(
        (desk.read("c"), desk.read("k/c")),
        (b"1\n".into(), b"1\n".into())
    );
    assert_eq!(program::mode(&desk.path("x")), 0o755);
    assert_eq!(program::mode(&desk.path("n")), 0o644);
}

#[test]
fn a_dry_run_tells_and_writes_nothing() {
    let desk = Desk::writing();
    desk.write("a", "1\n");
    let diff = [
        section("a", "1", "2"),
        "--- /dev/null\n+++ b/new/n\n@@ -0,0 +1 @@\n+x\n".into(),
    ]
    .concat();
    let dry = patch(&desk, &diff, &json!({"dry_run": true}));
    assert_eq!(dry["applied"], false);
    assert_eq!(
        (&dry["files_changed"], &dry["hunks_applied"]),
        (&json!(2), &json!(2))
    );
    assert_eq!(program::listing(&desk.path("")), ["a"]);
    assert_eq!(desk.read("a"), b"1\n");
    let mut real = patch(&desk, &diff, &json!({}));
    real["applied"] = json!(false);
    assert_eq!(real, dry, "as it is then");
    let rejected = patch(&desk, &section("a", "1", "2"), &json!({"dry_run": true}));
    assert_eq!(rejects(&rejected), reject("a", 1, "context_mismatch"));
}

#[test]
fn forms_of_sections_and_names() {
    // The file, and a diff that turns its line `1` into `2`.
    #[rustfmt::skip]
    let rows = [
        ("plain", "f", section("f", "1", "2")),
        ("times behind a TAB", "f", "--- f\t2020-01-01 00:00:00.0 +0000\n+++ f\t2020-01-02\n@@ -1 +1 @@\n-1\n+2\n".into()),
        ("text around", "f", format!("From: me\nSubject: [PATCH] x\n\n---\n f | 2 +-\n\n{}-- \n2.39\n\n", section("f", "1", "2"))),
        ("text between", "f", format!("diff -u a/f b/f\nOnly in b: g\n{}", section("f", "1", "2"))),
        ("section heading", "f", "--- a/f\n+++ b/f\n@@ -1 +1 @@ fn main() {\n-1\n+2\n".into()),
        ("counts of one", "f", "--- a/f\n+++ b/f\n@@ -1,1 +1,1 @@\n-1\n+2\n".into()),
        ("quoted", "a \"q\" \\é", "--- \"a/a \\\"q\\\" \\\\\\303\\251\"\n+++ \"b/a \\\"q\\\" \\\\\\303\\251\"\n@@ -1 +1 @@\n-1\n+2\n".into()),
        ("spaces", "a b", "diff --git a/a b b/a b\nindex 1..2 100644\n--- a/a b\t\n+++ b/a b\t\n@@ -1 +1 @@\n-1\n+2\n".into()),
        ("svn", "f", "Index: f\n===================================================================\n--- f\n+++ f\n@@ -1 +1 @@\n-1\n+2\n".into()),
    ];
    for (case, path, diff) in rows {
        let desk = Desk::writing();
        desk.write(path, "1\n");
        let files = applied(&desk, &diff, &json!({}));
        assert_eq!(
            files,
            json!([{"path": path, "action": "modified", "hunks": 1}]),
            "{case}"
        );
        assert_eq!(desk.read(path), b"2\n", "{case}");
    }
}

/// What looks like a header is a line of a hunk as long as the counts say so.
#[test]
fn lines_of_hunks_are_not_headers() {
    let desk = Desk::writing();
    desk.write("f", "-- a/f\n++ b/f\nend\n");
    let diff = "--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n--- a/f\n+++ b/g\n ++ b/f\n end\n";
    applied(&desk, diff, &json!({}));
    assert_eq!(desk.read("f"), b"++ b/g\n++ b/f\nend\n");
}

#[test]
fn a_malformed_diff_changes_nothing() {
    let good = section("g", "1", "2");
    let head = "--- a/f\n+++ b/f\n";
    #[rustfmt::skip]
    let rows = [
        ("no section", "just text\n".to_owned()),
        ("no section", "\n".to_owned()),
        ("cut off", format!("{head}@@ -1,9 +1,9 @@\n-1\n+2\n")),
        ("no marker", format!("{head}@@ -1,2 +1,2 @@\n-1\n+2\n3\n")),
        ("lines left out", format!("{head}@@ -1 +1 @@\n-1\n+2\n\n+3\n")),
        ("word diff", format!("{head}@@ -1 +1 @@\n [-1-]{{+2+}}\n")),
        ("twice", [section("f", "1", "2"), "--- a/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-2\n".into()].concat()),
        ("no new name", "--- a/f\n@@ -1 +1 @@\n-1\n+2\n".to_owned()),
    ];
    for (case, bad) in rows {
        let desk = Desk::writing();
        desk.write("f", "1\n2\n3\n4\n5\n").write("g", "1\n");
        for diff in [bad.clone(), format!("{good}{bad}")] {
            // With a section before it, text and a name without its other half are text between sections.
            if diff.len() > bad.len() && case.starts_with("no ") {
                continue;
            }
            for partial in [false, true] {
                let details = desk.error(
                    ID,
                    &request(&diff, &json!({"partial": partial})),
                    "malformed",
                );
                assert!(details["line"].is_u64(), "{case}: {details}");
                assert_eq!(desk.read("g"), b"1\n", "{case}");
                assert_eq!(desk.read("f"), b"1\n2\n3\n4\n5\n", "{case}");
            }
        }
    }
    let desk = Desk::writing();
    let third = request(&format!("{head}@@ -1 +1 @@\n 1\n"), &json!({}));
    desk.refused(ID, &third, "malformed", &json!({"line": 3}));
}

/// What a careful person would apply is applied, and the answer says how it was read.
#[test]
fn what_is_read_otherwise_than_it_is_written_is_noted() {
    // A diff that turns the line `1` of `f` into `2`, and what its note says.
    #[rustfmt::skip]
    let rows = [
        ("--- a/f\n+++ b/f\n@@ -1,7 +1,2 @@\n-1\n+2\n```\n", "has 1 and 1"),
        ("--- a/f\n+++ b/f\n@@ ... @@\n-1\n+2\n", "no line numbers"),
        ("--- i/f\n+++ w/f\n@@ -1 +1 @@\n-1\n+2\n", "i/ and w/"),
        ("--- old/f\n+++ new/f\n@@ -1 +1 @@\n-1\n+2\n", "old/ and new/"),
        ("--- b\\f\n+++ a\\f\n@@ -1 +1 @@\n-1\n+2\n", "backslashes"),
    ];
    for (diff, noted) in rows {
        let desk = Desk::writing();
        desk.write("f", "1\n");
        let response = patch(&desk, diff, &json!({}));
        assert_eq!(response["applied"], true, "{response}");
        assert!(response["notes"].to_string().contains(noted), "{response}");
        assert_eq!(desk.read("f"), b"2\n", "{diff}");
    }
    let desk = Desk::writing();
    desk.write("f", "1\n2\n");
    let twice = [
        section("f", "1", "3"),
        "--- a/f\n+++ b/f\n@@ -2 +2 @@\n-2\n+4\n".into(),
    ]
    .concat();
    let files = applied(&desk, &twice, &json!({}));
    assert_eq!(
        files,
        json!([{"path": "f", "action": "modified", "hunks": 2}])
    );
    assert_eq!(desk.read("f"), b"3\n4\n");
}

#[test]
fn prefixes_are_stripped_where_all_names_have_them() {
    let plain = "--- x/f\n+++ x/f\n@@ -1 +1 @@\n-1\n+2\n".to_owned();
    // Diff, strip, base, the file that is changed.
    #[rustfmt::skip]
    let rows = [
        (section("f", "1", "2"), json!("auto"), ".", "f"),
        (section("f", "1", "2"), json!(1), ".", "f"),
        (section("f", "1", "2"), json!("auto"), "sub/dir", "sub/dir/f"),
        (section("f", "1", "2"), json!("auto"), "/workspace/sub", "sub/f"),
        (plain.clone(), json!("auto"), ".", "x/f"),
        (plain.clone(), json!(0), ".", "x/f"),
        (plain, json!(1), ".", "f"),
        ("--- a/f\n+++ a/f\n@@ -1 +1 @@\n-1\n+2\n".into(), json!("auto"), ".", "a/f"),
        ("--- a/f\n+++ a/f\n@@ -1 +1 @@\n-1\n+2\n".into(), json!(0), ".", "a/f"),
    ];
    for (diff, strip, base, path) in rows {
        let desk = Desk::writing();
        for other in ["f", "a/f", "b/f", "x/f", "sub/f", "sub/dir/f"] {
            desk.write(other, "1\n");
        }
        applied(&desk, &diff, &json!({"strip": strip, "base": base}));
        let changed: Vec<&str> = ["f", "a/f", "b/f", "x/f", "sub/f", "sub/dir/f"]
            .into_iter()
            .filter(|other| desk.read(other) == b"2\n")
            .collect();
        assert_eq!(changed, [path], "{strip} {base} {diff}");
    }
    // Each section has its own.
    let desk = Desk::writing();
    desk.write("a/f", "1\n").write("g", "1\n");
    let mixed = [
        "--- a/f\n+++ a/f\n@@ -1 +1 @@\n-1\n+2\n",
        "--- g\n+++ g\n@@ -1 +1 @@\n-1\n+2\n",
    ];
    applied(&desk, &mixed.concat(), &json!({}));
}

/// A side that is absent counts for nothing; names of renames carry no prefix.
#[test]
fn renames_and_absent_sides() {
    let desk = Desk::writing();
    desk.write("sub/a/old", "1\n");
    let diff = "--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+x\n\
                diff --git a/a/old b/b/new\nsimilarity index 100%\nrename from a/old\nrename to b/new\n";
    let files = applied(&desk, diff, &json!({"base": "sub"}));
    let expected = json!([
        {"path": "sub/n", "action": "created", "hunks": 1}, {"path": "sub/b/new", "action": "renamed", "hunks": 0},
    ]);
    assert_eq!(files, expected, "relative to /workspace");
    assert_eq!(
        program::listing(&desk.path("sub")),
        ["a", "b", "b/new", "n"],
        "the directory stays"
    );
}

#[test]
fn lines_match_with_their_line_ends() {
    let eof = "\\ No newline at end of file\n";
    // Content, diff body, result.
    #[rustfmt::skip]
    let rows: [(&str, &str, Option<&str>); 11] = [
        ("1\n", "@@ -1 +1 @@\n-1\n+2\n", Some("2\n")),
        ("1", "@@ -1 +1 @@\n-1\n+2\n", Some("2")),
        ("1\n", "@@ -1 +1 @@\n-1\nEOF+2\n", None),
        ("1", "@@ -1 +1 @@\n-1\nEOF+2\n", Some("2\n")),
        ("1\n", "@@ -1 +1 @@\n-1\n+2\nEOF", Some("2")),
        ("1", "@@ -1 +1 @@\n-1\nEOF+2\nEOF", Some("2")),
        ("a\n1", "@@ -1,2 +1,2 @@\n-a\n+b\n 1\nEOF", Some("b\n1")),
        ("a\n1\n", "@@ -1,2 +1,2 @@\n-a\n+b\n 1\nEOF", None),
        ("a\r\n1\n", "@@ -1,2 +1,2 @@\n a\n-1\n+2\n", None),
        ("a\r\n1\n", "@@ -1,2 +1,2 @@\n a\r\n-1\n+2\n", Some("a\r\n2\n")),
        ("1 \n", "@@ -1 +1 @@\n-1\n+2\n", Some("2\n")),
    ];
    for (content, body, result) in rows {
        let desk = Desk::writing();
        desk.write("f", content);
        let diff = format!("--- a/f\n+++ b/f\n{}", body.replace("EOF", eof));
        match result {
            Some(result) => {
                applied(&desk, &diff, &json!({}));
                assert_eq!(
                    String::from_utf8(desk.read("f")).unwrap(),
                    result,
                    "{diff:?}"
                );
            }
            None => {
                assert_eq!(
                    rejected(&desk, &diff, &json!({})),
                    reject("f", 1, "context_mismatch"),
                    "{content:?}"
                );
                assert_eq!(desk.read("f"), content.as_bytes());
            }
        }
    }
}

#[test]
fn a_diff_in_crlf_and_files_in_crlf() {
    let lf = "--- a/f\n+++ b/f\n@@ -1,2 +1,3 @@\n a\n-1\n+2\n+3\n".to_owned();
    let crlf = lf.replace('\n', "\r\n");
    let kept = "--- a/f\n+++ b/f\n@@ -1,2 +1,3 @@\n a\r\n-1\r\n+2\r\n+3\r\n".to_owned();
    // Content, diff, result.
    #[rustfmt::skip]
    let rows = [
        ("LF, LF", "a\n1\n", &lf, Some("a\n2\n3\n")),
        ("a CRLF diff on LF", "a\n1\n", &crlf, Some("a\n2\n3\n")),
        ("a CRLF diff on CRLF", "a\r\n1\r\n", &crlf, Some("a\r\n2\r\n3\r\n")),
        ("an LF diff on CRLF", "a\r\n1\r\n", &lf, Some("a\r\n2\r\n3\r\n")),
        ("CR in the hunk", "a\r\n1\r\n", &kept, Some("a\r\n2\r\n3\r\n")),
        ("CR in the hunk", "a\n1\n", &kept, None),
        ("a mixed file", "a\r\n1\n", &lf, None),
        ("a mixed file", "a\n1\nb\r\n", &lf, Some("a\n2\n3\nb\r\n")),
    ];
    for (case, content, diff, result) in rows {
        let desk = Desk::writing();
        desk.write("f", content);
        match result {
            Some(result) => {
                applied(&desk, diff, &json!({}));
                assert_eq!(String::from_utf8(desk.read("f")).unwrap(), result, "{case}");
            }
            None => {
                assert_eq!(
                    rejected(&desk, diff, &json!({})),
                    reject("f", 1, "context_mismatch"),
                    "{case}"
                );
            }
        }
    }
}

/// Modes, parents, and what must or must not be there.
#[test]
fn new_and_deleted_files() {
    let desk = Desk::writing();
    let new = |path: &str, mode: &str| {
        format!(
            "diff --git a/{path} b/{path}\nnew file mode {mode}\n--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+x\n"
        )
    };
    applied(&desk, &new("p/q/n", "100644"), &json!({}));
    applied(&desk, &new("p/run", "100755"), &json!({}));
    applied(
        &desk,
        "diff --git a/e b/e\nnew file mode 100644\nindex 0..e69de29\n",
        &json!({}),
    );
    assert_eq!(
        (desk.read("p/q/n"), desk.read("e")),
        (b"x\n".into(), Vec::new())
    );
    let modes = ["p/q/n", "p/run", "e"].map(|path| program::mode(&desk.path(path)));
    assert_eq!(modes, [0o644, 0o755, 0o644]);
    assert_eq!(
        rejected(&desk, &new("e", "100644"), &json!({})),
        reject("e", 0, "target_exists")
    );
    assert_eq!(
        rejected(&desk, &section("none", "1", "2"), &json!({})),
        reject("none", 0, "target_missing")
    );

    let delete = "--- a/p/q/n\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n";
    desk.write("p/q/n", "x\ny\n");
    let refused = rejected(&desk, delete, &json!({}));
    assert_eq!(
        (refused[0].0.as_str(), refused[0].2.as_str()),
        ("p/q/n", "not_empty")
    );
    desk.write("p/q/n", "x\n");
    assert_eq!(applied(&desk, delete, &json!({}))[0]["action"], "deleted");
    assert!(
        !desk.exists("p/q/n") && desk.exists("p/q"),
        "the directory stays"
    );
    applied(
        &desk,
        "diff --git a/e b/e\ndeleted file mode 100644\nindex e69de29..0\n",
        &json!({}),
    );
    assert!(!desk.exists("e"));
}

#[test]
fn renames_and_copies() {
    let desk = Desk::writing();
    let of = |verb: &str, from: &str, to: &str| {
        format!(
            "diff --git a/{from} b/{to}\nsimilarity index 100%\n{verb} from {from}\n{verb} to {to}\n"
        )
    };
    desk.write("a", "1\n").write("b", "2\n");
    desk.mode("a", 0o755);
    for verb in ["rename", "copy"] {
        let missing = rejected(&desk, &of(verb, "none", "n"), &json!({}));
        assert_eq!(
            (missing[0].1, missing[0].2.as_str()),
            (0, "target_missing"),
            "{verb}"
        );
        let exists = rejected(&desk, &of(verb, "a", "b"), &json!({}));
        assert_eq!(
            (exists[0].1, exists[0].2.as_str()),
            (0, "target_exists"),
            "{verb}"
        );
    }
    applied(&desk, &of("copy", "a", "d/c"), &json!({}));
    applied(&desk, &of("rename", "a", "e"), &json!({}));
    assert_eq!(program::listing(&desk.path("")), ["b", "d", "d/c", "e"]);
    assert_eq!(
        (desk.read("d/c"), desk.read("e")),
        (b"1\n".into(), b"1\n".into())
    );
    assert_eq!(program::mode(&desk.path("e")), 0o755, "permission bits");
}

#[test]
fn modes_and_binary_patches() {
    let desk = Desk::writing();
    desk.write("f", "1\n");
    let mode =
        |old: &str, new: &str| format!("diff --git a/f b/f\nold mode {old}\nnew mode {new}\n");
    applied(&desk, &mode("100644", "100755"), &json!({}));
    assert_eq!(program::mode(&desk.path("f")), 0o755);
    let both = "diff --git a/f b/f\nold mode 100755\nnew mode 100644\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-1\n+2\n";
    assert_eq!(applied(&desk, both, &json!({}))[0]["action"], "modified");
    assert_eq!(
        (program::mode(&desk.path("f")), desk.read("f")),
        (0o644, b"2\n".into())
    );
    let link = "diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+f\n\\ No newline at end of file\n";
    let module = "diff --git a/m b/m\nnew file mode 160000\n--- /dev/null\n+++ b/m\n@@ -0,0 +1 @@\n+Subproject commit 0123456789012345678901234567890123456789\n";
    let kind = mode("100644", "120000");
    for (diff, path) in [(link, "l"), (module, "m"), (kind.as_str(), "f")] {
        assert_eq!(rejected(&desk, diff, &json!({})), reject(path, 0, "mode"));
    }
    let git = "diff --git a/b b/b\nnew file mode 100644\nindex 0..1\nGIT binary patch\nliteral 1\nIcmZPo000310RR91\n\nliteral 0\nHcmV?d00001\n\n";
    let words = "diff --git a/f b/f\nindex 1..2 100644\nBinary files a/f and b/f differ\n";
    for (diff, path) in [(git, "b"), (words, "f")] {
        assert_eq!(
            rejected(&desk, diff, &json!({})),
            reject(path, 0, "binary_patch")
        );
    }
    assert_eq!(program::listing(&desk.path("")), ["f"]);
}

#[test]
fn hard_limits() {
    let desk = Desk::writing();
    let sections: String = (0..1_001)
        .map(|n| section(&format!("f{n}"), "a", "b"))
        .collect();
    desk.error(ID, &request(&sections, &json!({})), "too_large");
    let thousand: String = (0..1_000)
        .map(|n| section(&format!("f{n}"), "a", "b"))
        .collect();
    assert_eq!(rejected(&desk, &thousand, &json!({})).len(), 100);
    let mut large = b"1\n".to_vec();
    large.resize(16_777_217, b'x');
    desk.write("large", &large);
    let diff = "--- a/large\n+++ b/large\n@@ -1 +1 @@\n-1\n+2\n";
    desk.error(ID, &request(diff, &json!({})), "too_large");
    large.pop();
    desk.write("large", &large);
    applied(&desk, diff, &json!({}));
    large[0] = b'2';
    assert!(desk.read("large") == large);
}

/// What the hunks do not name stays as it is: other bytes, other line ends, no final line feed, permission bits.
#[test]
fn other_bytes_and_bits_are_untouched() {
    let desk = Desk::writing();
    let before = b"\xff\xfe\0\r\n\r\x0c\nold\n\xc3\x28 \t\r\nlast";
    let after = b"\xff\xfe\0\r\n\r\x0c\nnew\n\xc3\x28 \t\r\nlast";
    for mode in [0o600, 0o640, 0o755, 0o444] {
        desk.write_with_mode("f", before, mode);
        applied(
            &desk,
            "--- a/f\n+++ b/f\n@@ -3 +3 @@\n-old\n+new\n",
            &json!({}),
        );
        assert_eq!(desk.read("f"), after);
        assert_eq!(program::mode(&desk.path("f")), mode);
    }
}

#[test]
fn what_is_no_regular_file() {
    let desk = Desk::writing();
    desk.write("d/x", "1\n");
    let mode = rustix::fs::Mode::from_raw_mode(0o644);
    rustix::fs::mkfifoat(rustix::fs::CWD, desk.path("pipe"), mode).unwrap();
    for path in ["d", "pipe"] {
        assert_eq!(
            rejected(&desk, &section(path, "1", "2"), &json!({})),
            reject(path, 0, "not_regular")
        );
    }
}
