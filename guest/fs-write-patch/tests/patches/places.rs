//! Where hunks go and what becomes of files.

use kit::host::fs_read::FsError;
use serde_json::json;

use super::support::{Entry, Host, call, error, files, patch, rejects};
use super::{ABC, EDIT_F, reject};

#[test]
fn newlines_at_the_end_are_kept_exactly() {
    let edit = |body: &str| format!("--- a/f\n+++ b/f\n{body}");
    let no = "\\ No newline at end of file\n";
    for (old, body, new) in [
        (
            "a\nb",
            format!("@@ -1,2 +1,2 @@\n a\n-b\n{no}+B\n{no}"),
            "a\nB",
        ),
        (
            "a\nb",
            format!("@@ -1,2 +1,2 @@\n a\n-b\n{no}+b\n"),
            "a\nb\n",
        ),
        (
            "a\nb\n",
            format!("@@ -1,2 +1,2 @@\n a\n-b\n+b\n{no}"),
            "a\nb",
        ),
        ("a\nb", format!("@@ -1,2 +1,2 @@\n-a\n+A\n b\n{no}"), "A\nb"),
        ("a\nb", format!("@@ -1,2 +1 @@\n-a\n b\n{no}"), "b"),
        ("a\nb", format!("@@ -1,2 +1 @@\n-a\n-b\n{no}+c\n"), "c\n"),
        ("a", format!("@@ -1 +0,0 @@\n-a\n{no}"), ""),
        ("", format!("@@ -0,0 +1 @@\n+a\n{no}"), "a"),
        ("a\n", format!("@@ -1 +1,2 @@\n a\n+b\n{no}"), "a\nb"),
        // The newline of the diff's own last line is not that of the file.
        ("a\n", "@@ -1 +1 @@\n-a\n+b".to_owned(), "b\n"),
        // An empty context line that lost its blank.
        (
            "a\n\nb\n",
            "@@ -1,3 +1,3 @@\n-a\n+A\n\n b\n".to_owned(),
            "A\n\nb\n",
        ),
        ("\r\n", "@@ -1 +1,2 @@\n \r\n+x\n".to_owned(), "\r\nx\n"),
    ] {
        let mut host = Host::new(&[("f", old)]);
        let answer = patch(&mut host, &edit(&body));
        assert_eq!(host.text("f"), Some(new), "{old:?} {body}");
        assert_eq!(answer["applied"], true, "{answer}");
    }
    for (old, body) in [
        ("a\nb\n", format!("@@ -1,2 +1,2 @@\n a\n-b\n{no}+B\n{no}")),
        // An end of file that is none in the file.
        ("a\nb\n", format!("@@ -1 +1 @@\n-a\n+A\n{no}")),
        ("ab", format!("@@ -1 +1 @@\n-b\n{no}+c\n{no}")),
        // Lines behind one that has no newline.
        ("a\nb", "@@ -2,0 +3 @@\n+c\n".to_owned()),
        ("a\nb", "@@ -3,0 +3 @@\n+c\n".to_owned()),
        ("ab\n", "@@ -1 +1 @@\n-b\n+c\n".to_owned()),
    ] {
        let mut host = Host::new(&[("f", old)]);
        let answer = patch(&mut host, &edit(&body));
        assert_eq!(
            rejects(&answer),
            [reject("f", 1, "context_mismatch")],
            "{old:?} {body}"
        );
    }
}

#[test]
fn crlf() {
    let crlf = |text: &str| text.replace('\n', "\r\n");
    let mixed = "a\r\nb\nc\r\n";
    for (old, diff, new) in [
        // A diff with LF for a file with CR LF, and the other way round.
        (crlf(ABC), EDIT_F.to_owned(), crlf("a\nB\nc\n")),
        (ABC.to_owned(), crlf(EDIT_F), "a\nB\nc\n".to_owned()),
        (crlf(ABC), crlf(EDIT_F), crlf("a\nB\nc\n")),
        // As git writes it: only the lines of the file end in CR.
        (
            crlf(ABC),
            "--- a/f\n+++ b/f\n@@ -2 +2 @@\n-b\r\n+B\r\n".to_owned(),
            crlf("a\nB\nc\n"),
        ),
        (
            mixed.to_owned(),
            "--- a/f\n+++ b/f\n@@ -2 +2 @@\n-b\n+B\n".to_owned(),
            mixed.replace('b', "B"),
        ),
        (
            mixed.to_owned(),
            "--- a/f\n+++ b/f\n@@ -3 +3 @@\n-c\r\n+C\n".to_owned(),
            "a\r\nb\nC\n".to_owned(),
        ),
        // The text lost its last line end.
        (
            crlf(ABC),
            crlf(EDIT_F).trim_end().to_owned(),
            crlf("a\nB\nc\n"),
        ),
        (
            crlf("a\nb"),
            "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n-a\n+A\n b\n\\ No\n".to_owned(),
            crlf("A\nb"),
        ),
    ] {
        let mut host = Host::new(&[("f", &old)]);
        let answer = patch(&mut host, &diff);
        assert_eq!(host.text("f"), Some(&*new), "{diff:?} {answer}");
    }
    for (old, diff) in [
        (mixed, EDIT_F.to_owned()),
        (mixed, crlf(EDIT_F)),
        (ABC, EDIT_F.replace("-b\n", "-b\r\n")),
        ("a\r\nb\r\nc\r\n", EDIT_F.replace("+B\n", "+B\r\n")),
    ] {
        let answer = patch(&mut Host::new(&[("f", old)]), &diff);
        assert_eq!(
            rejects(&answer),
            [reject("f", 1, "context_mismatch")],
            "{old:?} {diff:?}"
        );
    }
}

#[test]
fn a_hunk_is_looked_for_behind_the_one_before() {
    let lines = |text: &str| text.replace(' ', "\n") + "\n";
    let head = "--- a/f\n+++ b/f\n";
    for (old, hunks, new) in [
        // Stated 1, found at 3; the shift then holds for the next, where x stands twice.
        (
            "p q a b x c x",
            "@@ -1,2 +1,2 @@\n-a\n+A\n b\n@@ -3 +3 @@\n-x\n+X\n",
            "p q A b X c x",
        ),
        // At the stated place, though it stands elsewhere too.
        ("x x x", "@@ -2 +2 @@\n-x\n+y\n", "x y x"),
        ("x a x", "@@ -9 +9 @@\n-a\n+y\n", "x y x"),
        // Only what is behind the hunk before counts.
        (
            "x a x",
            "@@ -1,2 +1,2 @@\n x\n-a\n+b\n@@ -9 +9 @@\n-x\n+y\n",
            "x b y",
        ),
        ("a b", "@@ -0,0 +1 @@\n+x\n", "x a b"),
        ("a b", "@@ -1,0 +2 @@\n+x\n", "a x b"),
        ("a b", "@@ -2,0 +3 @@\n+x\n", "a b x"),
        ("a b", "@@ -1,0 +2 @@\n+x\n@@ -1,0 +3 @@\n+y\n", "a x y b"),
        // Moved with the hunk before it.
        (
            "p a b c",
            "@@ -1 +1 @@\n-a\n+A\n@@ -2,0 +3 @@\n+x\n",
            "p A b x c",
        ),
        ("p a", "@@ -2 +2 @@\n-a\n+A\n@@ -2,0 +3 @@\n+x\n", "p A x"),
        // Upwards.
        (
            "a b c d",
            "@@ -3 +3 @@\n-a\n+A\n@@ -5 +5 @@\n-c\n+C\n",
            "A b C d",
        ),
    ] {
        let mut host = Host::new(&[("f", &lines(old))]);
        let answer = patch(&mut host, &format!("{head}{hunks}"));
        assert_eq!(host.text("f"), Some(&*lines(new)), "{hunks} {answer}");
    }
    for (old, hunks, reason) in [
        ("x a x", "@@ -2 +2 @@\n-x\n+y\n", "ambiguous"),
        ("x x x", "@@ -9 +9 @@\n-x\n+y\n", "ambiguous"),
        ("x x a x x", "@@ -3,2 +3,2 @@\n-x\n+y\n x\n", "ambiguous"),
        ("a b", "@@ -3,0 +3 @@\n+x\n", "context_mismatch"),
        ("a b", "@@ -1 +1 @@\n-c\n+x\n", "context_mismatch"),
        ("aa a", "@@ -1,2 +1 @@\n-a\n-a\n+x\n", "context_mismatch"),
    ] {
        let mut host = Host::new(&[("f", &lines(old))]);
        let answer = patch(&mut host, &format!("{head}{hunks}"));
        assert_eq!(rejects(&answer), [reject("f", 1, reason)], "{hunks}");
    }
    // Overlapping occurrences are two.
    let answer = patch(
        &mut Host::new(&[("f", "b\na\na\na\n")]),
        &format!("{head}@@ -1,2 +1 @@\n-a\n-a\n+x\n"),
    );
    assert_eq!(rejects(&answer), [reject("f", 1, "ambiguous")]);
}

#[test]
fn fuzz_drops_context_lines_and_no_others() {
    let diff = "--- a/f\n+++ b/f\n@@ -2,5 +2,5 @@\n 1\n 2\n-x\n+y\n 3\n 4\n";
    for (old, fuzz, new) in [
        ("0 1 2 x 3 4", 0, Some("0 1 2 y 3 4")),
        ("0 ! 2 x 3 4", 0, None),
        ("0 ! 2 x 3 4", 1, Some("0 ! 2 y 3 4")),
        ("0 ! 2 x 3 !", 1, Some("0 ! 2 y 3 !")),
        ("0 1 ! x 3 4", 1, None),
        ("0 1 ! x 3 4", 2, Some("0 1 ! y 3 4")),
        ("0 1 ! x ! 4", 2, Some("0 1 ! y ! 4")),
        ("0 1 2 ! 3 4", 2, None),
        // Elsewhere, with the lines that are left.
        ("0 0 0 0 ! 2 x 3 4", 1, Some("0 0 0 0 ! 2 y 3 4")),
        ("2 x 3", 1, Some("2 y 3")),
        // Ambiguous at level 1: level 2 is not tried.
        ("2 x 3 2 x 3", 2, None),
    ] {
        let text = |old: &str| old.replace(' ', "\n") + "\n";
        let mut host = Host::new(&[("f", &text(old))]);
        let answer = call(&mut host, diff, json!({ "fuzz": fuzz })).unwrap();
        assert_eq!(
            host.text("f"),
            Some(&*text(new.unwrap_or(old))),
            "{old} {fuzz} {answer}"
        );
        assert_eq!(answer["applied"], new.is_some());
    }
    // An insertion whose context all differs belongs nowhere, whatever the fuzz.
    let diff = "--- a/f\n+++ b/f\n@@ -1,2 +1,3 @@\n 1\n+y\n 2\n";
    let answer = call(&mut Host::new(&[("f", "p\nq\n")]), diff, json!({"fuzz": 2})).unwrap();
    assert_eq!(rejects(&answer), [reject("f", 1, "context_mismatch")]);
    // The end of the file may be dropped with the line that has it.
    let mut host = Host::new(&[("f", "1\nx\n2\n")]);
    let diff = "--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n 1\n-x\n+y\n 2\n\\ No newline\n";
    assert_eq!(
        call(&mut host, diff, json!({"fuzz": 1})).unwrap()["applied"],
        true
    );
    assert_eq!(host.text("f"), Some("1\ny\n2\n"));
}

#[test]
fn new_deleted_renamed_and_copied_files() {
    let create = "--- /dev/null\n+++ b/d/n\n@@ -0,0 +1,2 @@\n+x\n+y\n";
    let mut host = Host::default();
    assert_eq!(files(&patch(&mut host, create)), [("d/n", "created", 1)]);
    assert_eq!(
        (host.text("d/n"), host.executable("d/n")),
        (Some("x\ny\n"), false)
    );
    assert_eq!(
        rejects(&patch(&mut host, create)),
        [reject("d/n", 0, "target_exists")]
    );
    // A file where a directory is needed, and the other way round.
    let below = create.replace("d/n", "d/n/m");
    assert_eq!(
        rejects(&patch(&mut host, &below)),
        [reject("d/n/m", 0, "target_exists")]
    );
    let above = create.replace("d/n", "d");
    assert_eq!(
        rejects(&patch(&mut host, &above)),
        [reject("d", 0, "target_exists")]
    );
    let edit = EDIT_F.replace("/f", "/d");
    assert_eq!(
        rejects(&patch(&mut host, &edit)),
        [reject("d", 0, "not_regular")]
    );
    let edit = EDIT_F.replace("/f", "/d/n/m");
    assert_eq!(
        rejects(&patch(&mut host, &edit)),
        [reject("d/n/m", 0, "target_missing")]
    );

    let delete = "--- a/d/n\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n";
    assert_eq!(
        rejects(&patch(&mut host, delete)),
        [reject("d/n", 0, "not_empty")]
    );
    let bare = "diff --git a/d/n b/d/n\ndeleted file mode 100644\n";
    assert_eq!(
        rejects(&patch(&mut host, bare)),
        [reject("d/n", 0, "not_empty")]
    );
    let delete = "--- a/d/n\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-x\n-y\n";
    assert_eq!(files(&patch(&mut host, delete)), [("d/n", "deleted", 1)]);
    assert!(host.entries.is_empty());
    assert_eq!(
        rejects(&patch(&mut host, delete)),
        [reject("d/n", 0, "target_missing")]
    );

    host.entries
        .insert("f".into(), Entry::File(ABC.into(), true));
    let rename = format!(
        "diff --git a/f b/e/g\nsimilarity index 60%\nrename from f\nrename to e/g\n{}",
        EDIT_F.replace("b/f", "b/e/g")
    );
    assert_eq!(files(&patch(&mut host, &rename)), [("e/g", "renamed", 1)]);
    assert_eq!(
        (host.text("e/g"), host.executable("e/g")),
        (Some("a\nB\nc\n"), true)
    );
    // The destination first, and each with what it has to be.
    let [destination, source] = &host.applied.last().unwrap()[..] else {
        panic!()
    };
    assert_eq!(
        (&*destination.path, &*source.path),
        ("/workspace/e/g", "/workspace/f")
    );
    assert!(source.content.is_none());
    assert_eq!(
        rejects(&patch(&mut host, &rename)),
        [reject("e/g", 0, "target_missing")]
    );
    host.put("f", ABC);
    assert_eq!(
        rejects(&patch(&mut host, &rename)),
        [reject("e/g", 0, "target_exists")]
    );
    let copy = "diff --git a/e/g b/h\nold mode 100755\nnew mode 100644\ncopy from e/g\ncopy to h\n";
    assert_eq!(files(&patch(&mut host, copy)), [("h", "copied", 0)]);
    assert!(!host.executable("h") && host.executable("e/g"));
}

#[test]
fn a_bare_section_that_adds_to_nothing_makes_its_file() {
    let diff = "--- a/n\t1970-01-01\n+++ b/n\t2020-01-01\n@@ -0,0 +1 @@\n+x\n";
    let mut host = Host::default();
    assert_eq!(files(&patch(&mut host, diff)), [("n", "created", 1)]);
    assert_eq!(files(&patch(&mut host, diff)), [("n", "modified", 1)]);
    assert_eq!(host.text("n"), Some("x\nx\n"));
    let git = format!("diff --git a/m b/m\n{}", diff.replace("/n", "/m"));
    assert_eq!(
        rejects(&patch(&mut host, &git)),
        [reject("m", 0, "target_missing")]
    );
}

#[test]
fn modes_and_binary_patches() {
    let mut host = Host::new(&[("f", ABC)]);
    let git = "diff --git a/f b/f\n";
    for (rest, reason) in [
        ("old mode 100644\nnew mode 120000\n", "mode"),
        (
            "index 1..2 160000\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n",
            "mode",
        ),
        (
            "new file mode 120000\n--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+a\n\\ No\n",
            "mode",
        ),
        ("deleted file mode 160000\n", "mode"),
        ("new mode 100600\n", "mode"),
        (
            "index 1..2 100644\nGIT binary patch\nliteral 3\nKcmZQzU|?Wa01*HH\n\nliteral 0\nHcmV?d00001\n\n",
            "binary_patch",
        ),
        (
            "index 1..2\nBinary files a/f and b/f differ\n",
            "binary_patch",
        ),
    ] {
        let answer = patch(&mut host, &format!("{git}{rest}"));
        assert_eq!(rejects(&answer), [reject("f", 0, reason)], "{rest}");
    }
    let answer = patch(
        &mut host,
        "diff -r a/f b/f\nBinary files a/f and b/f differ\n",
    );
    assert_eq!(rejects(&answer), [reject("f", 0, "binary_patch")]);
    // A change of mode with one of content is one modification.
    let diff = format!("{git}old mode 100644\nnew mode 100755\nindex 1..2\n{EDIT_F}");
    assert_eq!(files(&patch(&mut host, &diff)), [("f", "modified", 1)]);
    assert!(host.executable("f"));
    // without mode lines the bit stays.
    patch(&mut host, &EDIT_F.replace("-b\n+B\n", "-B\n+b\n"));
    assert!(host.executable("f"));
}

#[test]
fn limits() {
    let sections = |count: usize| -> String {
        (0..count)
            .map(|n| format!("diff --git a/{n} b/{n}\nnew file mode 100644\n"))
            .collect()
    };
    assert_eq!(
        files(&patch(&mut Host::default(), &sections(1_000))).len(),
        1_000
    );
    assert_eq!(
        error(&mut Host::default(), &sections(1_001), json!({})).0,
        "too_large"
    );

    let mut host = Host::default();
    host.put("f", vec![b'\n'; 16_777_216]);
    let add = "--- a/f\n+++ b/f\n@@ -0,0 +1 @@\n+\n";
    assert_eq!(error(&mut host, add, json!({})).0, "too_large");
    let swap = "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-\n+\n";
    assert_eq!(patch(&mut host, swap)["applied"], true);
    host.put("f", vec![b'\n'; 16_777_217]);
    assert_eq!(error(&mut host, swap, json!({})).0, "too_large");
}

#[test]
fn what_changed_meanwhile_is_a_conflict() {
    let file = |text: &str| Entry::File(text.into(), false);
    for (diff, path) in [
        (EDIT_F, "f"),
        ("--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+x\n", "n"),
    ] {
        let mut host = Host::new(&[("f", ABC)]);
        host.meanwhile = Some((path.into(), file("other")));
        let error = call(&mut host, diff, json!({})).unwrap_err();
        assert_eq!(error.code(), "conflict");
        assert!(error.message().contains(path));
        assert_eq!(host.text(path), Some("other"));
    }
}

#[test]
fn failures_of_the_host_name_the_path() {
    for (reason, code) in [
        (FsError::Conflict, "conflict"),
        (FsError::NotFound, "conflict"),
        (FsError::Symlink, "denied"),
        (FsError::Denied, "denied"),
        (FsError::NotAccessible, "denied"),
        (FsError::Io, "io"),
        (FsError::TooLarge, "too_large"),
    ] {
        let mut host = Host::new(&[("f", ABC), ("s", ABC)]);
        host.refuses = Some(("/s".into(), reason));
        let diff = format!("{EDIT_F}diff --git a/s b/t\nrename from s\nrename to t\n");
        let error = call(&mut host, &diff, json!({})).unwrap_err();
        assert_eq!(error.code(), code);
        assert!(error.message().contains('s'), "{error}");
        if code == "denied" {
            assert!(error.details().unwrap().contains("fs.write:/workspace/s"));
        }
        assert_eq!(host.entries, Host::new(&[("f", ABC), ("s", ABC)]).entries);
    }
}

#[test]
fn everything_is_read_at_once_and_written_at_once() {
    let mut host = Host::new(&[("f", ABC), ("s", ABC)]);
    let copy = |to: &str| format!("diff --git a/s b/{to}\ncopy from s\ncopy to {to}\n");
    patch(
        &mut host,
        &format!("diff --git a/f b/f\n{EDIT_F}{}{}", copy("t"), copy("u")),
    );
    assert_eq!((host.reads.len(), host.applied.len()), (1, 1));
    // Each path once, and no content of what shall not exist.
    let mut asked: Vec<_> = host.reads[0]
        .iter()
        .map(|read| (&*read.path, read.max_bytes > 0))
        .collect();
    asked.sort_unstable();
    let expected = [("f", true), ("s", true), ("t", false), ("u", false)];
    assert!(
        asked
            .iter()
            .zip(expected)
            .all(|(a, e)| (a.0.strip_prefix("/workspace/").unwrap(), a.1) == e)
    );
    assert_eq!(asked.len(), 4);
}

#[test]
fn bytes_that_are_no_text_stay() {
    let mut host = Host::default();
    host.put("f", b"\xff\xfe\x00\r\nb\r\xe4\n\x80");
    let diff = "--- a/f\n+++ b/f\n@@ -1,0 +2 @@\n+x\n";
    assert_eq!(patch(&mut host, diff)["applied"], true);
    let Entry::File(bytes, _) = &host.entries["f"] else {
        panic!()
    };
    assert_eq!(bytes, b"\xff\xfe\x00\r\nx\nb\r\xe4\n\x80");
}

/// GNU patch moves a hunk as the one before it, git does not: where both places fit, neither is meant for sure.
#[test]
fn the_hunk_before_does_not_decide_between_two_places() {
    let text = |old: &str| old.replace(' ', "\n") + "\n";
    let diff = "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+A\n@@ -5 +5 @@\n-x\n+y\n";
    for (old, new) in [
        ("p p a q x q x", None),
        ("p p a q q q x", Some("p p A q q q y")),
        ("a q q q x q x", Some("A q q q y q x")),
    ] {
        let mut host = Host::new(&[("f", &text(old))]);
        let answer = patch(&mut host, diff);
        match new {
            Some(new) => assert_eq!(host.text("f"), Some(&*text(new)), "{answer}"),
            None => assert_eq!(rejects(&answer), [reject("f", 2, "ambiguous")]),
        }
    }
}

#[test]
fn context_that_fuzz_leaves_out_is_noted() {
    let diff = "--- a/f\n+++ b/f\n@@ -9,3 +9,3 @@\n 1\n-x\n+y\n 2\n";
    for (old, noted) in [("1\nx\n2\n", false), ("1\nx\n3\n", true)] {
        let mut host = Host::new(&[("f", old)]);
        let answer = call(&mut host, diff, json!({"fuzz": 1})).unwrap();
        assert_eq!(answer["applied"], true);
        assert_eq!(
            answer["notes"].to_string().contains("fuzz"),
            noted,
            "{answer}"
        );
    }
}
