//! Patches as people and language models write them: read as a careful person would, with a note, or refused.

use serde_json::{Value, json};

use super::support::{Host, call, error, files, patch, rejects};
use super::{ABC, EDIT_F, reject};

const HEAD: &str = "--- a/f\n+++ b/f\n";

/// The text of `f` after this patch, and the notes of the answer.
fn loose(old: &str, diff: &str) -> (String, Vec<String>) {
    let mut host = Host::new(&[("f", old)]);
    let answer = patch(&mut host, diff);
    assert_eq!(answer["applied"], true, "{answer}\n{diff}");
    (host.text("f").unwrap().to_owned(), notes(&answer))
}

fn notes(answer: &Value) -> Vec<String> {
    let notes = answer["notes"].as_array().into_iter().flatten();
    notes
        .map(|note| note.as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn where_the_counts_are_wrong_or_absent_the_lines_decide() {
    for (header, noted) in [
        (
            "@@ -1,9 +1,9 @@",
            "says 9 old and 9 new lines, it has 3 and 3",
        ),
        ("@@ -1,2 +1,2 @@", "says 2 old and 2 new lines"),
        ("@@ -1 +1 @@", "says 1 old and 1 new lines"),
        ("@@ -40,3 +41,4 @@ fn f()", "says 3 old and 4 new lines"),
        ("@@ ... @@", "no line numbers"),
        ("@@", "no line numbers"),
        ("@@ fn f() @@", "no line numbers"),
        ("@@ -1,x +1 @@", "no line numbers"),
    ] {
        for end in ["", "```\n", "\n```\nThis changes b.\n", "-- \n2.39.0\n"] {
            let diff = format!("{HEAD}{header}\n a\n-b\n+B\n c\n{end}");
            if end.is_empty() && header.contains(",9") {
                continue;
            }
            let (text, notes) = loose(ABC, &diff);
            assert_eq!(text, "a\nB\nc\n", "{diff}");
            assert_eq!(notes.len(), 1, "{notes:?} {diff}");
            assert!(notes[0].contains(noted), "{notes:?} {diff}");
        }
    }
    // Right counts need no note, whatever follows them.
    let (_, notes) = loose(ABC, &format!("```diff\n{EDIT_F}```\n"));
    assert_eq!(notes, [""; 0]);
    // The last context line is missing.
    let (text, notes) = loose(ABC, &format!("{HEAD}@@ -1,3 +1,3 @@\n a\n-b\n+B\n"));
    assert_eq!((&*text, notes.len()), ("a\nB\nc\n", 1));
    // A removed line that looks like the beginning of a signature.
    let (text, notes) = loose(
        "a\n- \nb\n",
        &format!("{HEAD}@@ -1 +1 @@\n-a\n+A\n-- \n b\n"),
    );
    assert_eq!((&*text, notes.len()), ("A\nb\n", 1));
    // The next section begins where the hunk ends.
    let both = format!(
        "{HEAD}@@ -1,7 +1,7 @@\n a\n-b\n+B\n c\n{}",
        EDIT_F.replace("/f", "/g")
    );
    let mut host = Host::new(&[("f", ABC), ("g", ABC)]);
    assert_eq!(files(&patch(&mut host, &both)).len(), 2);
}

#[test]
fn hunks_may_follow_the_first_line_of_git() {
    let diff = "diff --git a/f b/f\nindex 1..2 100644\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n";
    assert_eq!(loose(ABC, diff).0, "a\nB\nc\n");
}

#[test]
fn a_hunk_is_never_applied_in_part() {
    for (diff, line) in [
        // The text is cut off.
        (format!("{HEAD}@@ -1,9 +1,9 @@\n a\n-b\n+B\n"), 7),
        // A context line has lost its blank.
        (format!("{HEAD}@@ -1,4 +1,4 @@\n a\n-b\n+B\nc\n"), 7),
        // Lines that the counts leave out.
        (format!("{HEAD}@@ -1,2 +1,2 @@\n a\n-b\n+B\n\n-c\n"), 8),
        // Old lines that are not there.
        (format!("{HEAD}@@ -1,3 +1,4 @@\n+B\n"), 3),
        // Word diffs.
        (format!("{HEAD}@@ -1,3 +1,3 @@\n a\n [-b-]{{+B+}}\n c\n"), 3),
        (format!("{HEAD}@@ -1 +1 @@\n-a\n+b\n~\n"), 6),
        (format!("{HEAD}@@ -1,3 +1,3 @@\na\n[-b-]{{+B+}}\nc\n"), 4),
    ] {
        let found = error(&mut Host::new(&[("f", ABC)]), &diff, json!({}));
        assert_eq!(found, ("malformed".into(), json!({"line": line})), "{diff}");
    }
}

#[test]
fn without_line_numbers_there_is_one_place_or_none() {
    let diff = format!("{HEAD}@@ @@\n-b\n+B\n");
    assert_eq!(loose("a\nb\nc\n", &diff).0, "a\nB\nc\n");
    for (old, diff, reason) in [
        ("b\nb\n", diff, "ambiguous"),
        ("a\nb\n", format!("{HEAD}@@ @@\n+B\n"), "context_mismatch"),
    ] {
        let answer = patch(&mut Host::new(&[("f", old)]), &diff);
        assert_eq!(rejects(&answer), [reject("f", 1, reason)], "{diff}");
    }
}

#[test]
fn white_space_that_the_diff_lost_stays_in_the_file() {
    let change = |lines: &str| format!("{HEAD}@@ -1,4 +1,4 @@\n{lines}");
    for (old, lines, new) in [
        // Blanks at the ends of lines, and in lines that look empty.
        ("a \n  \nb\t\nc\n", " a\n\n-b\n+B\n c\n", "a \n  \nB\nc\n"),
        ("a\n\nb\nc\n", " a\n   \n-b\n+B\n c\n", "a\n\nB\nc\n"),
        // Between two changes.
        ("a\nb \nc\nd\n", "-a\n+A\n b\n-c\n+C\n d\n", "A\nb \nC\nd\n"),
        // The newline that the file does not have.
        ("a\nb\nc\nd", " a\n b\n c\n-d\n+D\n", "a\nb\nc\nD"),
        ("a\nb\nc\nd", "-a\n+A\n b\n c\n d\n", "A\nb\nc\nd"),
    ] {
        let (text, notes) = loose(old, &change(lines));
        assert_eq!(text, new, "{lines}");
        assert_eq!(notes.len(), 1, "{notes:?}");
    }
    let added = loose("a\nb", &format!("{HEAD}@@ -1,2 +1,3 @@\n a\n b\n+c\n"));
    assert_eq!(added.0, "a\nb\nc");
    // Two places that match loosely, and a change of what may have been lost.
    for (old, lines, reason) in [
        ("z\nx \nx \n", "-x\n+y\n", "ambiguous"),
        ("x \n", "-x\n+x \n", "context_mismatch"),
    ] {
        let diff = format!("{HEAD}@@ -1 +1 @@\n{lines}");
        let answer = patch(&mut Host::new(&[("f", old)]), &diff);
        assert_eq!(rejects(&answer), [reject("f", 1, reason)], "{answer}");
    }
}

#[test]
fn white_space_within_lines_is_never_guessed() {
    let mut host = Host::new(&[("f", "if x:\n\treturn 1\nend\n")]);
    let diff = format!("{HEAD}@@ -1,3 +1,3 @@\n if x:\n-    return 1\n+    return 2\n end\n");
    let answer = patch(&mut host, &diff);
    assert_eq!(rejects(&answer), [reject("f", 1, "context_mismatch")]);
    let message = answer["rejects"][0]["message"].as_str().unwrap();
    for part in [
        "but for white space",
        "line 5 of the diff",
        "line 2 of the file",
        "\\t",
    ] {
        assert!(message.contains(part), "{message}");
    }
}

#[test]
fn line_ends_that_the_diff_lost_stay_in_the_file() {
    let (text, notes) = loose("a\r\nb\r\nc\r\n", EDIT_F);
    assert_eq!((&*text, notes.len()), ("a\r\nB\r\nc\r\n", 1));
    // A file with both, where the lines of the hunk have one.
    let (text, notes) = loose("x\na\r\nb\r\nc\r\n", EDIT_F);
    assert_eq!((&*text, notes.len()), ("x\na\r\nB\r\nc\r\n", 1));
}

#[test]
fn prefixes_of_git_and_of_diff_are_left_out() {
    let named = |old: &str, new: &str| EDIT_F.replace("a/f", old).replace("b/f", new);
    for (old, new) in [
        ("i/f", "w/f"),
        ("c/f", "i/f"),
        ("c/f", "w/f"),
        ("o/f", "w/f"),
        ("w/f", "i/f"),
        ("b/f", "a/f"),
        ("old/f", "new/f"),
        ("a\\f", "b\\f"),
    ] {
        for git in ["", "diff --git OLD NEW\nindex 1..2 100644\n"] {
            let git = git.replace("OLD", old).replace("NEW", new);
            let (text, notes) = loose(ABC, &format!("{git}{}", named(old, new)));
            assert_eq!((&*text, notes.len()), ("a\nB\nc\n", 1), "{old} {notes:?}");
        }
    }
    // A new file has the prefix of the first line, or of the other sections.
    let create = "--- /dev/null\n+++ w/n/x\n@@ -0,0 +1 @@\n+x\n";
    let git = format!("diff --git i/n/x w/n/x\nnew file mode 100644\n{create}");
    assert_eq!(
        files(&patch(&mut Host::default(), &git)),
        [("n/x", "created", 1)]
    );
    let diff = named("new/f", "old/f") + &create.replace("w/", "old/");
    let answer = patch(&mut Host::new(&[("f", ABC)]), &diff);
    assert_eq!(
        files(&answer),
        [("f", "modified", 1), ("n/x", "created", 1)]
    );
    // Without prefixes, b is a folder.
    let diff = named("f", "f") + &create.replace("w/", "b/");
    let answer = patch(&mut Host::new(&[("f", ABC)]), &diff);
    assert_eq!(files(&answer)[1], ("b/n/x", "created", 1));
}

#[test]
fn the_file_that_exists_is_meant() {
    let named = |old: &str, new: &str| EDIT_F.replace("a/f", old).replace("b/f", new);
    for (old, new, there) in [
        ("a/f", "b/f", "b/f"),
        ("a/f", "b/f", "a/f"),
        ("a/f", "a/f", "f"),
        ("old/f", "new/f", "new/f"),
        ("f.orig", "f", "f.orig"),
    ] {
        let mut host = Host::new(&[(there, ABC)]);
        let answer = patch(&mut host, &named(old, new));
        assert_eq!(files(&answer), [(there, "modified", 1)], "{old} {new}");
        assert_eq!(notes(&answer).len(), 1, "{answer}");
    }
    // Two files that may be meant.
    let mut host = Host::new(&[("f", ABC), ("new/f", ABC)]);
    assert_eq!(
        error(&mut host, &named("old/f", "new/f"), json!({})).0,
        "malformed"
    );
    let answer = call(&mut host, &named("old/f", "new/f"), json!({"strip": 1})).unwrap();
    assert_eq!(files(&answer), [("f", "modified", 1)]);
    // A folder of the repository is none of a diff.
    let mut host = Host::new(&[("f", ABC)]);
    let answer = patch(&mut host, &named("src/f", "src/f"));
    assert_eq!(rejects(&answer), [reject("src/f", 0, "target_missing")]);
}

#[test]
fn paths_of_windows_stay_below_the_base() {
    for name in ["b\\..\\..\\x", "C:\\x", "\\x", "b\\.git\\config"] {
        let diff = format!("--- /dev/null\n+++ {name}\n@@ -0,0 +1 @@\n+x\n");
        assert_eq!(
            error(&mut Host::default(), &diff, json!({})).0,
            "denied",
            "{name}"
        );
    }
}

#[test]
fn sections_of_one_file_are_applied_one_after_the_other() {
    let second = format!("{HEAD}@@ -3 +3 @@\n-c\n+C\n");
    let mut host = Host::new(&[("f", ABC)]);
    let answer = patch(&mut host, &format!("{EDIT_F}{second}"));
    assert_eq!(files(&answer), [("f", "modified", 2)]);
    assert_eq!(host.text("f"), Some("a\nB\nC\n"));
    assert_eq!(host.applied[0].len(), 1);
    // The second of them on what the first one makes.
    let create = "--- /dev/null\n+++ b/n\n@@ -0,0 +1,3 @@\n+a\n+b\n+c\n";
    let mut host = Host::default();
    let answer = patch(
        &mut host,
        &format!("{create}{}", EDIT_F.replace("/f", "/n")),
    );
    assert_eq!(files(&answer), [("n", "created", 2)]);
    assert_eq!(host.text("n"), Some("a\nB\nc\n"));
    // All of them or none, also with `partial`.
    let mut host = Host::new(&[("f", ABC)]);
    let diff = format!("{EDIT_F}{EDIT_F}");
    let answer = call(&mut host, &diff, json!({"partial": true})).unwrap();
    assert_eq!(rejects(&answer), [reject("f", 2, "context_mismatch")]);
    assert_eq!(host.text("f"), Some(ABC));
    assert!(answer.get("notes").is_none(), "{answer}");
}

#[test]
fn a_new_file_has_added_lines_only() {
    let create = "--- /dev/null\n+++ b/n\n@@ -0,0 +1,9 @@\n+a\n\n+b\n";
    let mut host = Host::default();
    let answer = patch(&mut host, &format!("{create}```\n"));
    assert_eq!(files(&answer), [("n", "created", 1)]);
    assert_eq!(host.text("n"), Some("a\n\nb\n"));
}

#[test]
fn a_begin_patch_text_is_read() {
    let diff = "*** Begin Patch\n*** Update File: f\n@@ fn a()\n a\n-b\n+B\n@@\n-d\n+D\n*** End of File\n\
         *** Add File: d/n\n+x\n+\n+y\n*** Delete File: old\n*** Update File: from\n*** Move to: to\n@@\n-b\n+B\n c\n*** End Patch\n";
    let mut host = Host::new(&[("f", "a\nb\nc\nd\n"), ("old", "x\n"), ("from", ABC)]);
    let answer = patch(&mut host, diff);
    assert_eq!(
        files(&answer),
        [
            ("f", "modified", 2),
            ("d/n", "created", 1),
            ("old", "deleted", 0),
            ("to", "renamed", 1)
        ]
    );
    assert_eq!(host.text("f"), Some("a\nB\nc\nD\n"));
    assert_eq!(
        (host.text("d/n"), host.text("to")),
        (Some("x\n\ny\n"), Some("a\nB\nc\n"))
    );
    assert_eq!((host.text("old"), host.text("from")), (None, None));
    // A hunk without `@@`, and one that has two places.
    let diff = "*** Begin Patch\n*** Update File: f\n-b\n+B\n*** End Patch";
    let mut host = Host::new(&[("f", ABC)]);
    assert_eq!(files(&patch(&mut host, diff)), [("f", "modified", 1)]);
    let answer = patch(&mut Host::new(&[("f", "b\nb\n")]), diff);
    assert_eq!(rejects(&answer), [reject("f", 1, "ambiguous")]);
    for name in ["../x", "/etc/x", ".git/x"] {
        for diff in [
            format!("*** Add File: {name}\n+x\n"),
            format!("*** Delete File: {name}\n"),
            format!("*** Update File: f\n*** Move to: {name}\n"),
        ] {
            assert_eq!(
                error(&mut Host::new(&[("f", ABC)]), &diff, json!({})).0,
                "denied"
            );
        }
    }
    let unmarked = "*** Add File: n\n+x\ny\n*** End Patch\n";
    assert_eq!(
        error(&mut Host::default(), unmarked, json!({})).0,
        "malformed"
    );
}

#[test]
fn an_exact_place_is_not_taken_where_white_space_tells_it_from_another() {
    let twice = "one {\n  go\n}\n\ntwo {\n  go\n}";
    for (old, hunk) in [
        // The place it says lacks the last newline, has other line ends or a blank more.
        (twice, "@@ -6,2 +6,2 @@\n-  go\n+  stop\n }\n"),
        ("k\r\nk\n", "@@ -1 +1 @@\n-k\n+K\n"),
        ("k \nm\nk\n", "@@ -1 +1 @@\n-k\n+K\n"),
        // It says another place than both, or none.
        ("k \nm\nk\n", "@@ -2 +2 @@\n-k\n+K\n"),
        ("k \nm\nk\n", "@@ @@\n-k\n+K\n"),
    ] {
        let mut host = Host::new(&[("f", old)]);
        let answer = patch(&mut host, &format!("{HEAD}{hunk}"));
        assert_eq!(rejects(&answer), [reject("f", 1, "ambiguous")], "{answer}");
        assert_eq!(host.text("f"), Some(old));
    }
    // At the line it says there is no doubt, nor with a CR in the hunk.
    for (old, hunk, new) in [
        ("k \nm\nk\n", "@@ -3 +3 @@\n-k\n+K\n", "k \nm\nK\n"),
        ("k\nm\nk\r\n", "@@ -9 +9 @@\n-k\r\n+K\r\n", "k\nm\nK\r\n"),
    ] {
        let (text, notes) = loose(old, &format!("{HEAD}{hunk}"));
        assert_eq!((&*text, notes.len()), (new, 0));
    }
}

#[test]
fn changes_behind_a_line_that_lost_its_mark_are_not_left_out() {
    let shell = "# T\nold\n```\nmake\n```\nlast\n";
    let envelope = "*** Begin Patch\n*** Update File: f\n@@\n";
    for (body, line) in [
        ("# T\n-old\n+new\n```\n-make\n+make all\n", 7),
        ("# T\n-old\n+new\n```\n\n-make\n+make all\n", 8),
        ("# T\n-old\n+new\n```\n make\n```\n-last\n", 9),
        ("# T\n-old\n+new\n===\n-make\n", 7),
        ("# T\n-old\n+new\n```\nmake\n```\n-last\n+end\n", 9),
        ("# T\n-old\n+new\nFrom here on\n-make\n", 7),
    ] {
        for header in ["@@ -1,9 +1,9 @@", "@@ ... @@"] {
            let diff = format!("{HEAD}{header}\n {body}");
            let mut host = Host::new(&[("f", shell)]);
            let found = error(&mut host, &diff, json!({}));
            assert_eq!(
                found,
                ("malformed".into(), json!({ "line": line + 1 })),
                "{diff}"
            );
        }
        for end in ["", "*** End Patch\n"] {
            let diff = format!("{envelope} {body}{end}");
            let code = error(&mut Host::new(&[("f", shell)]), &diff, json!({})).0;
            assert_eq!(code, "malformed", "{diff}");
        }
    }
    // The counts are of the lines before it.
    for (body, line) in [
        ("-a\n+A\n b\n\tc\n-d\n+D\n", 8),
        ("-a\n+A\n b\nc\n-d\n+D\n", 8),
        ("-a\n+A\n b\n```\n-d\n+D\n", 8),
    ] {
        let diff = format!("{HEAD}@@ -1,2 +1,2 @@\n{body}");
        let found = error(&mut Host::new(&[("f", "a\nb\nc\nd\n")]), &diff, json!({}));
        assert_eq!(
            found,
            ("malformed".into(), json!({ "line": line })),
            "{diff}"
        );
    }
    // What people write about a patch.
    for end in [
        "```\n\n- changes b\n- and no more\n",
        "```\nThis changes:\n- b\n+ nothing\n",
        "\nThis changes b.\n\n- it was small\n",
    ] {
        assert_eq!(
            loose(ABC, &format!("{EDIT_F}{end}")).0,
            "a\nB\nc\n",
            "{end}"
        );
    }
    let wrong = EDIT_F.replace("1,3 +1,3", "1,7 +1,7");
    let end = "```\nThis changes:\n- b\n+ nothing\n";
    assert_eq!(loose(ABC, &format!("{wrong}{end}")).0, "a\nB\nc\n");
}

#[test]
fn a_begin_patch_text_ends_where_it_says() {
    let mut host = Host::new(&[("f", ABC)]);
    let edit = "*** Update File: f\n@@\n-b\n+B\n";
    for diff in [
        // A line of the new file that lost its `+`.
        "*** Begin Patch\n*** Add File: n\n+# T\n```\nmake\n```\n*** End Patch\n".to_owned(),
        format!("*** Begin Patch\n*** Add File: n\n+x\n~~~\n{edit}"),
        // Marks that do not exist.
        format!("*** Begin Patch\n*** Create File: n\n+x\n{edit}*** End Patch\n"),
        format!("*** Begin Patch\n{edit}*** Rename File: f\n*** End Patch\n"),
        format!("*** Begin Patch\n*** Add File:n\n+x\n{edit}*** End Patch\n"),
        format!("{edit}*** Move to: n\n*** End Patch\n"),
    ] {
        assert_eq!(error(&mut host, &diff, json!({})).0, "malformed", "{diff}");
        assert!(host.applied.is_empty());
    }
    let fenced = format!("```\n{edit}```\n");
    assert_eq!(files(&patch(&mut host, &fenced)), [("f", "modified", 1)]);
}

#[test]
fn a_hunk_stands_below_the_lines_that_it_names() {
    let old =
        "class A:\n  def get(self):\n    return 1\nclass B:\n  def get(self):\n    return  1\n";
    let hunk = "-    return 1\n+    return 2\n";
    for (anchors, applied) in [
        ("@@ class A:\n", true),
        ("@@ def get(self):\n", true),
        ("@@ class C:\n", true),
        ("@@ class B:\n", false),
        ("@@ class B:\n@@   def get(self):\n", false),
        ("@@ class B: @@\n", false),
    ] {
        let diff = format!("*** Begin Patch\n*** Update File: f\n{anchors}{hunk}*** End Patch\n");
        let plain = format!("{HEAD}{}\n{hunk}", anchors.trim_end());
        for diff in [diff, plain] {
            if diff.starts_with("---") && anchors.matches('\n').count() > 1 {
                continue;
            }
            let mut host = Host::new(&[("f", old)]);
            let answer = patch(&mut host, &diff);
            assert_eq!(answer["applied"], applied, "{diff} {answer}");
            if !applied {
                assert_eq!(rejects(&answer), [reject("f", 1, "context_mismatch")]);
            }
        }
    }
    // The line may be one of its own.
    let diff = format!(
        "{HEAD}@@ class B: @@\n class B:\n   def get(self):\n-    return  1\n+    return 2\n"
    );
    assert!(loose(old, &diff).0.ends_with("    return 2\n"));
}

#[test]
fn a_line_that_begins_with_a_backslash_is_no_end_of_file() {
    let tex = "old\n\\end{document}\n";
    for body in [
        "@@ -1,2 +1,2 @@\n-old\n+new\n\\end{document}\n",
        "@@ -1 +1 @@\n-old\n\\ No newline at end of file\n+new\n\\end{document}\n",
    ] {
        let mut host = Host::new(&[("f", tex)]);
        let code = error(&mut host, &format!("{HEAD}{body}"), json!({})).0;
        assert_eq!(code, "malformed", "{body}");
    }
    // The file goes on where the diff says that it ends.
    let diff = format!("{HEAD}@@ -1 +1 @@\n-old\n\\ No newline at end of file\n+new\n");
    let answer = patch(&mut Host::new(&[("f", tex)]), &diff);
    let message = answer["rejects"][0]["message"].as_str().unwrap();
    assert!(message.contains("does not end there"), "{message}");
}

#[test]
fn names_of_one_patch_are_read_in_one_way() {
    let edit = EDIT_F.replace("/f", "/m");
    let create = "--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+x\n";
    for (there, diff) in [
        ("b/m", format!("{edit}{create}")),
        ("b/m", format!("{create}{edit}")),
        ("m", format!("{}{create}", edit.replace("a/m", "b/m"))),
    ] {
        let mut host = Host::new(&[(there, ABC)]);
        assert_eq!(error(&mut host, &diff, json!({})).0, "malformed", "{diff}");
        let strip = i32::from(there == "m");
        let answer = call(&mut host, &diff, json!({ "strip": strip })).unwrap();
        assert_eq!(files(&answer).len(), 2, "{answer}");
    }
}

#[test]
fn backslashes_are_noted_wherever_they_stand() {
    let mut host = Host::new(&[("b/m", ABC), ("f", ABC)]);
    let edit = EDIT_F.replace("a/f", "a\\m").replace("b/f", "b\\m");
    let answer = patch(&mut host, &edit);
    assert_eq!(files(&answer)[0].0, "b/m");
    assert_eq!(notes(&answer).len(), 2, "{answer}");
    let answer = patch(&mut host, "*** Update File: f\n*** Move to: src\\f\n");
    assert_eq!(files(&answer), [("src/f", "renamed", 0)]);
    assert!(notes(&answer)[0].contains("backslashes"), "{answer}");
}
