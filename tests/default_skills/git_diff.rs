//! `git.diff`. Whether a diff can be applied is in `git_differential`.

use std::fs;
use std::os::unix::ffi::OsStrExt;

use serde_json::{Value, json};

use crate::repository::Repository;

const ID: &str = "git.diff";

pub(crate) const OPTIONS: [&str; 12] = [
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
    "--no-relative",
    "--src-prefix=a/",
    "--dst-prefix=b/",
    "--unified=3",
    "--inter-hunk-context=0",
    "--find-renames=50%",
    "--diff-algorithm=myers",
    "--full-index",
    "--submodule=short",
];

/// What git itself prints.
pub(crate) fn expected(repository: &Repository, target: &[&str]) -> String {
    let ignore = ["--ignore-submodules=dirty"];
    repository.git(&[&["--no-pager", "diff"], &OPTIONS[..], &ignore, target].concat())
}

fn diff(repository: &Repository, request: &Value) -> String {
    let answer = repository.desk.ok(ID, request);
    let diff = answer["diff"].as_str().unwrap();
    assert_eq!(answer["bytes"], diff.len());
    diff.to_owned()
}

/// Two commits, something staged, something not.
fn busy() -> Repository {
    let repository = Repository::with(&[
        ("a", "1\n2\n3\n"),
        ("gone", "x\n"),
        ("moved", "a\nb\nc\nd\ne\n"),
        ("too", "r\ns\nt\nu\nv\n"),
    ]);
    let desk = &repository.desk;
    desk.write("a", "1\ntwo\n3\n");
    repository.commit("second");
    desk.write("sub/new", "n\n").write("a", "one\ntwo\n3\n");
    repository.git(&["mv", "moved", "sub/moved é"]);
    repository.git(&["mv", "too", "sub/too"]);
    desk.write("sub/moved é", "a\nb\nc\nd\nE\n")
        .write("sub/too", "r\ns\nt\nu\nV\n");
    repository.git(&["rm", "-q", "gone"]);
    repository.git(&["add", "-A"]);
    desk.write("a", "one\ntwo\nthree\n")
        .write("untracked", "u\n");
    desk.mode("sub/new", 0o755);
    repository
}

#[test]
fn working_staged_and_commit() {
    let repository = busy();
    let working = diff(&repository, &json!({}));
    assert_eq!(working, expected(&repository, &["--"]));
    assert!(
        working.contains("-3\n+three\n") && working.contains("old mode 100644\nnew mode 100755\n")
    );
    assert!(!working.contains("untracked"));
    assert_eq!(diff(&repository, &json!({"target": "working"})), working);
    let staged = diff(&repository, &json!({"target": "staged"}));
    assert_eq!(staged, expected(&repository, &["--cached", "--"]));
    assert!(
        staged.contains("rename from moved\nrename to \"sub/moved \\303\\251\"\n"),
        "{staged}"
    );
    assert!(staged.contains("deleted file mode 100644\n"), "{staged}");
    let commit = diff(&repository, &json!({"target": "commit"}));
    assert_eq!(commit, expected(&repository, &["HEAD~1", "HEAD", "--"]));
    assert!(commit.contains("-2\n+two\n"));
    // From wherever in the work tree.
    for target in ["working", "staged", "commit"] {
        let whole = diff(&repository, &json!({ "target": target }));
        assert_eq!(
            diff(&repository, &json!({"target": target, "path": "sub"})),
            whole,
            "{target}"
        );
    }
}

#[test]
fn on_an_unborn_branch() {
    let repository = Repository::new();
    repository.desk.write("a", "1\n");
    repository.git(&["add", "a"]);
    let staged = diff(&repository, &json!({"target": "staged"}));
    assert!(
        staged.contains("new file mode 100644\n") && staged.ends_with("@@ -0,0 +1 @@\n+1\n"),
        "{staged}"
    );
    assert_eq!(diff(&repository, &json!({})), "");
    repository
        .desk
        .error(ID, &json!({"target": "commit"}), "not_found");
}

/// Each of these changes what plain git prints, or would start something.
#[test]
fn repository_configuration_does_not_change_the_output() {
    let repository = busy();
    let block = |name: char| format!("/**\n * {name}\n */\nfn {name}() {{}}\n\n");
    let code = |names: &str| names.chars().map(block).collect::<String>();
    repository.desk.write("code.rs", code("ab"));
    repository.git(&["add", "code.rs"]);
    repository.desk.write("code.rs", code("axb"));
    let requests = ["working", "staged", "commit"].map(|target| json!({ "target": target }));
    let before = requests
        .each_ref()
        .map(|request| diff(&repository, request));
    let rows = [
        ("diff.noprefix", "true"),
        ("diff.mnemonicPrefix", "true"),
        ("diff.srcPrefix", "x/"),
        ("diff.dstPrefix", "y/"),
        ("diff.context", "0"),
        ("diff.interHunkContext", "20"),
        ("diff.algorithm", "patience"),
        ("diff.renames", "false"),
        ("diff.relative", "true"),
        ("diff.submodule", "log"),
        ("diff.ignoreSubmodules", "all"),
        ("diff.suppressBlankEmpty", "true"),
        ("diff.orderFile", "order"),
        ("diff.colorMoved", "zebra"),
        ("diff.indentHeuristic", "false"),
        ("diff.renameLimit", "1"),
        ("diff.wsErrorHighlight", "all"),
        ("color.ui", "always"),
        ("color.diff", "always"),
        ("core.quotePath", "false"),
        ("core.abbrev", "4"),
        ("core.pager", "cat -n"),
        ("pager.diff", "cat -n"),
        ("diff.external", "false"),
        ("log.diffMerges", "combined"),
        ("diff.trustExitCode", "true"),
    ];
    repository.desk.write("order", "sub/*\na\n");
    let changed = rows.iter().filter(|(key, value)| {
        repository.config(key, value);
        let after = requests
            .each_ref()
            .map(|request| diff(&repository, request));
        let sub = diff(&repository, &json!({"path": "sub"}));
        repository.git(&["config", "--unset", key]);
        after != before || sub != before[0]
    });
    let changed: Vec<_> = changed.collect();
    assert!(changed.is_empty(), "{changed:?}");
}

#[test]
fn which_commit() {
    let repository = Repository::with(&[("a", "1\n")]);
    let first = repository.head();
    repository.git(&["tag", "-a", "-m", "t", "v1"]);
    let tag = repository.git(&["rev-parse", "v1"]).trim().to_owned();
    repository.desk.write("a", "2\n");
    let second = repository.commit("second");
    repository.git(&["checkout", "-q", "-b", "side", &first]);
    repository.desk.write("b", "side\n");
    let side = repository.commit("side");
    repository.git(&["checkout", "-q", "main"]);
    repository.git(&["merge", "-q", "--no-ff", "-m", "merge", "side"]);
    let of = |commit: &str| diff(&repository, &json!({"target": "commit", "commit": commit}));
    let root = of(&first);
    assert!(
        root.contains("new file mode 100644\n") && root.contains("+1\n"),
        "against the empty tree: {root}"
    );
    let change = expected(&repository, &[&first, &second, "--"]);
    for name in [
        second.as_str(),
        &second[..7],
        &second[..12],
        "HEAD~1",
        "HEAD^",
        "HEAD^1",
        "HEAD~",
    ] {
        assert_eq!(of(name), change, "{name}");
    }
    let merged = expected(&repository, &["HEAD~1", "HEAD", "--"]);
    assert_eq!(of("HEAD"), merged, "against the first parent");
    assert_eq!(of("HEAD^2"), of(&side));
    assert_eq!(of("HEAD~2"), root);
    assert_eq!(of("HEAD^2~1"), root);
    assert_eq!(of(&tag), root, "a tag names its commit");
    assert!(
        !merged.contains(&repository.head()),
        "no commit id in the output"
    );

    let upper = second.to_uppercase();
    for bad in [
        "",
        "main",
        "v1",
        "abc",
        "HEAD@{1}",
        "HEAD:a",
        "head",
        "--output=x",
        "-p",
        "HEAD..HEAD",
        "HEAD~1^{tree}",
        "HEAD ",
        "HEAD\n",
        "HEAD~x",
        &upper,
        "refs/heads/main",
        &"a".repeat(65),
        "^HEAD",
        "HEAD^!",
        "HEAD^@",
    ] {
        let request = json!({"target": "commit", "commit": bad});
        repository.desk.invalid(ID, &request, "commit");
    }
    let tree = repository
        .git(&["rev-parse", "HEAD^{tree}"])
        .trim()
        .to_owned();
    let blob = repository.git(&["rev-parse", "HEAD:a"]).trim().to_owned();
    for missing in [
        &"0".repeat(40),
        "deadbeef",
        "HEAD~9",
        "HEAD^3",
        &tree,
        &blob,
    ] {
        repository.desk.error(
            ID,
            &json!({"target": "commit", "commit": missing}),
            "not_found",
        );
    }
}

#[test]
fn the_diff_is_cut_between_lines() {
    let repository = Repository::with(&[("a", "1\n2\n3\n")]);
    repository.desk.write("a", "1\n2 é\n3\n").write("b", "");
    let whole = diff(&repository, &json!({}));
    let exact = repository.desk.ok(ID, &json!({"max_bytes": whole.len()}));
    assert_eq!(
        (&exact["diff"], &exact["truncated"]),
        (&json!(whole), &json!(false))
    );
    for most in [1, 10, 20, 100, whole.len() - 1, whole.len() - 3] {
        let answer = repository.desk.ok(ID, &json!({ "max_bytes": most }));
        let lines = whole.split_inclusive('\n').scan(0, |end, line| {
            *end += line.len();
            Some(*end)
        });
        let end = lines.take_while(|end| *end <= most).last().unwrap_or(0);
        let expected = json!({"diff": whole[..end], "bytes": end, "truncated": true});
        assert_eq!(answer, expected, "{most}");
    }
}

#[test]
fn bytes_that_are_no_utf_8() {
    let repository = Repository::with(&[("a", "1\n")]);
    repository.desk.write("a", b"caf\xe9\n");
    let text = diff(&repository, &json!({}));
    assert!(text.ends_with("@@ -1 +1 @@\n-1\n+caf\u{fffd}\n"), "{text}");
    let most = text.len() - 1;
    let cut = repository.desk.ok(ID, &json!({ "max_bytes": most }));
    assert!(
        cut["diff"].as_str().unwrap().ends_with("-1\n"),
        "cut after decoding"
    );
}

#[test]
fn the_default_is_131072_bytes() {
    let line = format!("{}\n", "x".repeat(99));
    let repository = Repository::with(&[("a", "1\n")]);
    repository.desk.write("a", line.repeat(5_000));
    let answer = repository.desk.ok(ID, &json!({}));
    let bytes = answer["bytes"].as_u64().unwrap();
    assert!((131_072 - 101..=131_072).contains(&bytes), "{bytes}");
    assert_eq!(answer["truncated"], true);
    let whole = repository.desk.ok(ID, &json!({"max_bytes": 2_097_152}));
    assert_eq!(whole["truncated"], false);
}

#[test]
fn binary_files_and_unmerged_paths() {
    let repository = Repository::with(&[("a", "1\n")]);
    repository.desk.write("bin", b"\0\x01\x02secret");
    repository.commit("binary");
    repository.desk.write("bin", b"\0\x01\x03secret");
    let binary = diff(&repository, &json!({}));
    assert!(
        binary.contains("Binary files a/bin and b/bin differ\n"),
        "{binary}"
    );
    assert!(!binary.contains("secret") && !binary.contains("GIT binary patch"));
    repository.git(&["checkout", "-q", "-f"]);
    repository.git(&["checkout", "-q", "-b", "other"]);
    repository.desk.write("a", "other\n");
    repository.commit("other");
    repository.git(&["checkout", "-q", "main"]);
    assert_eq!(
        repository.desk.ok(ID, &json!({})),
        json!({"diff": "", "bytes": 0, "truncated": false})
    );
    repository.desk.write("a", "main\n");
    repository.commit("main");
    assert!(
        !repository
            .try_git(".", &["merge", "-q", "other"])
            .status
            .success()
    );
    let combined = diff(&repository, &json!({}));
    assert!(combined.starts_with("diff --cc a\n"), "{combined}");
    assert_eq!(combined, expected(&repository, &["--"]));
}

/// A name that is not UTF-8 is quoted by git, so nothing of it is lost.
#[test]
fn names_are_quoted() {
    let repository = Repository::new();
    let name = std::ffi::OsStr::from_bytes(b"a\xff");
    fs::write(repository.desk.path(".").join(name), "x\n").unwrap();
    repository.git(&["add", "-A"]);
    let staged = diff(&repository, &json!({"target": "staged"}));
    assert!(staged.contains("+++ \"b/a\\377\"\n"), "{staged}");
}
