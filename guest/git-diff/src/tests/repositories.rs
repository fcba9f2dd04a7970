//! Repositories in each state, asked with the git that is installed.

use super::*;
use serde_json::json;

const STAGED: &str = r#"{"target":"staged"}"#;
const COMMIT: &str = r#"{"target":"commit"}"#;

#[test]
fn working_staged_and_nothing() {
    let mut site = Site::new();
    site.write("a b.txt", "one\ntwo\n");
    assert_eq!(site.diff("{}"), "");
    let unborn = site.diff(STAGED);
    assert_eq!(unborn, "");
    site.git(&["add", "-A"]);
    let unborn = site.diff(STAGED);
    assert!(
        unborn.contains("new file mode 100644") && unborn.contains("+one\n+two\n"),
        "{unborn}"
    );
    site.commit();
    for request in ["{}", STAGED] {
        assert_eq!(
            site.answer(request),
            json!({ "diff": "", "bytes": 0, "truncated": false })
        );
    }
    site.write("a b.txt", "one\n2\n");
    site.write("untracked", "x");
    let working = site.diff("{}");
    assert!(
        working.starts_with("diff --git a/a b.txt b/a b.txt\nindex "),
        "{working}"
    );
    assert!(
        working.ends_with("@@ -1,2 +1,2 @@\n one\n-two\n+2\n"),
        "{working}"
    );
    assert!(!working.contains("untracked"));
    assert_eq!(site.diff(STAGED), "");
    site.git(&["add", "a b.txt"]);
    assert_eq!(
        (site.diff("{}"), site.diff(STAGED)),
        (String::new(), working)
    );
}

#[test]
fn the_diff_is_of_the_whole_repository() {
    let mut site = Site::new();
    site.write("a", "1\n");
    site.write("dir/b", "1\n");
    site.commit();
    site.write("a", "2\n");
    site.write("dir/b", "2\n");
    let all = site.diff("{}");
    assert!(all.contains("a/a") && all.contains("a/dir/b"), "{all}");
    for request in [r#"{"path":"dir"}"#, r#"{"path":"/workspace/dir"}"#] {
        assert_eq!(site.diff(request), all);
    }
}

#[test]
fn a_commit_is_compared_with_its_first_parent() {
    let mut site = Site::new();
    site.write("a", "1\n");
    site.commit();
    let root = site.git(&["rev-parse", "HEAD"]);
    site.git(&["checkout", "-q", "-b", "side"]);
    site.write("side", "1\n");
    site.commit();
    site.git(&["checkout", "-q", "main"]);
    site.write("a", "2\n");
    site.commit();
    site.git(&["merge", "-q", "--no-edit", "side"]);
    let merge = site.diff(COMMIT);
    assert!(
        merge.starts_with("diff --git a/side b/side\nnew file mode 100644\n"),
        "{merge}"
    );
    let parent = site.diff(r#"{"target":"commit","commit":"HEAD~1"}"#);
    assert!(parent.ends_with("-1\n+2\n"), "{parent}");
    for commit in [root.as_str(), root.get(..7).unwrap(), "HEAD~2", "HEAD^2~1"] {
        let request = json!({ "target": "commit", "commit": commit }).to_string();
        let first = site.diff(&request);
        assert!(
            first.ends_with("--- /dev/null\n+++ b/a\n@@ -0,0 +1 @@\n+1\n"),
            "{commit} {first}"
        );
    }
}

#[test]
fn what_is_no_commit_is_not_found() {
    let mut site = Site::new();
    let failure = |site: &mut Site, commit: &str| {
        let request = json!({ "target": "commit", "commit": commit }).to_string();
        let error = crate::run(site, request.as_bytes()).unwrap_err();
        (error.code(), error.details().unwrap().to_owned())
    };
    let missing = ("not_found", r#"{"reason":"commit"}"#.to_owned());
    assert_eq!(failure(&mut site, "HEAD"), missing);
    site.write("a", "1\n");
    site.commit();
    let tree = site.git(&["rev-parse", "HEAD^{tree}"]);
    for commit in [
        "HEAD~1",
        "HEAD^2",
        "abcd",
        &tree,
        &"0".repeat(40),
        &"0".repeat(64),
    ] {
        assert_eq!(failure(&mut site, commit), missing, "{commit}");
    }
    let mut none = Site::empty();
    let repository = ("not_found", r#"{"reason":"repository"}"#.to_owned());
    assert_eq!(failure(&mut none, "HEAD"), repository);
}

#[test]
fn configuration_does_not_change_the_output() {
    let mut site = Site::new();
    let text = |changed: &str| format!("{}{changed}\n{}", "a\n".repeat(9), "b\n".repeat(9));
    site.write("file", &text("x"));
    site.write("old", &"line\n".repeat(30));
    site.commit();
    site.write("file", &text("y"));
    site.git(&["mv", "old", "new"]);
    let (working, staged) = (site.diff("{}"), site.diff(STAGED));
    site.commit();
    let commit = site.diff(COMMIT);
    site.git(&["reset", "-q", "--soft", "HEAD~1"]);
    site.git(&["reset", "-q", "--", "file"]);
    for (name, value) in [
        ("diff.noprefix", "true"),
        ("diff.mnemonicPrefix", "true"),
        ("diff.srcPrefix", "x/"),
        ("diff.context", "0"),
        ("diff.interHunkContext", "9"),
        ("diff.algorithm", "patience"),
        ("diff.renames", "false"),
        ("diff.relative", "true"),
        ("diff.external", "false"),
        ("diff.submodule", "log"),
        ("diff.wordRegex", "."),
        ("diff.colorMoved", "zebra"),
        ("color.ui", "always"),
        ("color.diff", "always"),
        ("core.pager", "false"),
        ("core.abbrev", "5"),
        ("diff.text.textconv", "false"),
    ] {
        site.git(&["config", name, value]);
    }
    site.write(".gitattributes", "* diff=text\n");
    assert_eq!((site.diff("{}"), site.diff(STAGED)), (working, staged));
    site.git(&["-c", "color.ui=false", "commit", "-q", "-a", "-m", "x"]);
    assert_eq!(site.diff(COMMIT), commit);
}

#[test]
fn binary_renamed_deleted_and_unmerged() {
    let mut site = Site::new();
    site.write("binary", "\0");
    site.write("old", &"line\n".repeat(30));
    site.write("gone", "x\n");
    site.write("mode", "x\n");
    site.commit();
    site.write("binary", "\0\0secret");
    site.git(&["mv", "old", "new"]);
    site.git(&["rm", "-q", "gone"]);
    site.git(&["update-index", "--chmod=+x", "mode"]);
    site.git(&["add", "binary"]);
    let staged = site.diff(STAGED);
    for line in [
        "Binary files a/binary and b/binary differ\n",
        "similarity index 100%\nrename from old\nrename to new\n",
        "deleted file mode 100644\n",
        "old mode 100644\nnew mode 100755\n",
    ] {
        assert!(staged.contains(line), "{line} {staged}");
    }
    assert!(!staged.contains("secret"));
    site.commit();
    site.git(&["checkout", "-q", "-b", "side"]);
    site.write("new", "theirs\n");
    site.commit();
    site.git(&["checkout", "-q", "main"]);
    site.write("new", "ours\n");
    site.commit();
    site.try_git(&["merge", "-q", "side"]);
    let unmerged = site.diff("{}");
    assert!(
        unmerged.starts_with("diff --cc new\n") && unmerged.contains("++<<<<<<< "),
        "{unmerged}"
    );
}

#[test]
fn a_long_diff_is_cut_to_whole_lines() {
    let mut site = Site::new();
    site.write("a", "");
    site.commit();
    site.write("a", &"0123456789\n".repeat(1000));
    let all = site.answer("{}");
    assert_eq!(all["truncated"], false);
    let all = all["diff"].as_str().unwrap();
    for most in [1, 100, 500, all.len() - 1] {
        let cut = site.answer(&json!({ "max_bytes": most }).to_string());
        let diff = cut["diff"].as_str().unwrap();
        assert!(all.starts_with(diff) && diff.len() <= most && cut["truncated"] == true);
        assert!(diff.is_empty() || diff.ends_with('\n'));
        assert!(most < 100 || most - diff.len() < 100);
    }
    let whole = site.answer(&json!({ "max_bytes": all.len() }).to_string());
    assert_eq!(
        (&whole["diff"], &whole["truncated"]),
        (&json!(all), &json!(false))
    );
}

#[test]
fn no_repository_and_a_bare_one() {
    for request in ["{}", STAGED] {
        let mut none = Site::empty();
        let error = crate::run(&mut none, request.as_bytes()).unwrap_err();
        assert_eq!(
            (error.code(), error.details()),
            ("not_found", Some(r#"{"reason":"repository"}"#)),
            "{request}"
        );
        let mut bare = Site::empty();
        bare.git(&["init", "-q", "--bare"]);
        let error = crate::run(&mut bare, request.as_bytes()).unwrap_err();
        assert_eq!(
            (error.code(), error.details()),
            ("wrong_type", Some(r#"{"reason":"bare"}"#)),
            "{request}"
        );
    }
}

#[test]
fn a_commit_of_a_bare_repository_has_a_diff() {
    let mut site = Site::new();
    site.write("a", "1\n");
    site.commit();
    let expected = site.diff(COMMIT);
    site.git(&["clone", "-q", "--bare", ".", "bare.git"]);
    assert_eq!(
        site.diff(r#"{"target":"commit","path":"bare.git"}"#),
        expected
    );
}
