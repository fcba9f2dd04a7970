//! Repositories in each state, asked with the git that is installed.

use super::*;
use serde_json::json;

#[test]
fn branches_unborn_named_and_detached() {
    let mut site = Site::new();
    let unborn = site.answer("{}");
    assert_eq!(
        (
            &unborn["branch"],
            &unborn["unborn"],
            &unborn["head"],
            &unborn["detached"]
        ),
        (&json!("main"), &json!(true), &json!(null), &json!(false))
    );
    site.commit();
    let head = site.git(&["rev-parse", "HEAD"]);
    site.git(&["checkout", "-q", "-b", "feature/x"]);
    let named = site.answer("{}");
    assert_eq!(
        (&named["branch"], &named["unborn"], &named["head"]),
        (&json!("feature/x"), &json!(false), &json!(head))
    );
    site.git(&["checkout", "-q", "--detach"]);
    let detached = site.answer("{}");
    assert_eq!(
        (
            &detached["branch"],
            &detached["detached"],
            &detached["head"]
        ),
        (&json!("HEAD"), &json!(true), &json!(head))
    );
}

#[test]
fn upstreams_ahead_behind_and_gone() {
    let mut site = Site::new();
    site.commit();
    let alone = site.answer("{}");
    assert_eq!(
        (
            &alone["upstream"],
            &alone["ahead"],
            &alone["behind"],
            &alone["upstream_gone"]
        ),
        (&json!(null), &json!(0), &json!(0), &json!(false))
    );
    site.git(&["branch", "base"]);
    site.git(&["branch", "-q", "--set-upstream-to=base"]);
    // Commits of one second differ by what is in them alone.
    for text in ["1", "2"] {
        site.write("a", text);
        site.commit();
    }
    site.git(&["checkout", "-q", "base"]);
    site.write("b", "1");
    site.commit();
    site.git(&["checkout", "-q", "main"]);
    let ahead = site.answer("{}");
    assert_eq!(
        (
            &ahead["upstream"],
            &ahead["ahead"],
            &ahead["behind"],
            &ahead["upstream_gone"]
        ),
        (&json!("base"), &json!(2), &json!(1), &json!(false))
    );
    site.git(&["branch", "-q", "-D", "base"]);
    let gone = site.answer("{}");
    assert_eq!(
        (
            &gone["upstream"],
            &gone["ahead"],
            &gone["behind"],
            &gone["upstream_gone"]
        ),
        (&json!("base"), &json!(0), &json!(0), &json!(true))
    );
}

#[test]
fn staged_unstaged_untracked_and_renamed() {
    let mut site = Site::new();
    for name in ["both", "staged", "gone", "old name", "typed"] {
        site.write(name, &format!("{name}\n").repeat(20));
    }
    site.write(".gitignore", "ignored\n");
    site.commit();
    site.write("both", "1\n");
    site.write("staged", "1\n");
    site.write("dir/new", "1\n");
    site.git(&["add", "-A"]);
    site.write("both", "2\n");
    site.write("intended", "x\n");
    site.git(&["add", "-N", "intended"]);
    site.git(&["mv", "old name", "new → name"]);
    std::fs::remove_file(site.path("gone")).unwrap();
    std::fs::remove_file(site.path("typed")).unwrap();
    std::os::unix::fs::symlink("both", site.path("typed")).unwrap();
    site.write("u/ntracked\nfile", "x");
    site.write("ignored", "x");
    let status = site.answer("{}");
    assert_eq!(
        status["staged"],
        json!(["both", "dir/new", "new → name", "staged"])
    );
    assert_eq!(
        status["unstaged"],
        json!(["both", "gone", "intended", "typed"])
    );
    assert_eq!(status["untracked"], json!(["u/ntracked\nfile"]));
    let renames = json!([{ "from": "old name", "to": "new → name", "staged": true }]);
    assert_eq!(status["renames"], renames);
    assert_eq!(
        (&status["conflicted"], &status["truncated"]),
        (&json!([]), &json!(false))
    );
    // The same from a directory below.
    assert_eq!(site.answer(r#"{"path":"dir"}"#), status);
}

#[test]
fn a_rename_in_the_work_tree_is_not_staged() {
    let mut site = Site::new();
    site.write("old", &"line\n".repeat(20));
    site.commit();
    std::fs::rename(site.path("old"), site.path("new")).unwrap();
    site.git(&["add", "-N", "new"]);
    let status = site.answer("{}");
    assert_eq!(
        status["renames"],
        json!([{ "from": "old", "to": "new", "staged": false }])
    );
    assert_eq!(
        (&status["staged"], &status["unstaged"]),
        (&json!([]), &json!(["new"]))
    );
}

#[test]
fn unmerged_paths_stand_only_in_conflicted() {
    let mut site = Site::new();
    site.write("both", "base\n");
    site.write("deleted", "base\n");
    site.commit();
    site.git(&["checkout", "-q", "-b", "other"]);
    site.write("both", "theirs\n");
    site.write("added", "theirs\n");
    site.write("deleted", "theirs\n");
    site.commit();
    site.git(&["checkout", "-q", "main"]);
    site.write("both", "ours\n");
    site.write("added", "ours\n");
    std::fs::remove_file(site.path("deleted")).unwrap();
    site.commit();
    site.try_git(&["merge", "-q", "other"]);
    let status = site.answer("{}");
    let conflicted = json!([
        { "path": "added", "code": "AA" },
        { "path": "both", "code": "UU" },
        { "path": "deleted", "code": "DU" },
    ]);
    assert_eq!(status["conflicted"], conflicted);
    for array in ["staged", "unstaged", "untracked"] {
        assert_eq!(status[array], json!([]), "{array}");
    }
}

#[test]
fn arrays_are_sorted_by_bytes_and_each_is_cut() {
    let mut site = Site::new();
    for name in ["b", "a/z", "a-", "é", "Z"] {
        site.write(name, "x");
    }
    let all = site.answer("{}");
    assert_eq!(all["untracked"], json!(["Z", "a-", "a/z", "b", "é"]));
    assert_eq!(all["truncated"], false);
    let cut = site.answer(r#"{"max_entries":4}"#);
    assert_eq!(cut["untracked"], json!(["Z", "a-", "a/z", "b"]));
    assert_eq!(cut["truncated"], true);
    assert_eq!(site.answer(r#"{"max_entries":5}"#), all);
}

#[test]
fn no_repository_a_bare_one_and_a_broken_one() {
    let failure = |site: &mut Site| {
        let error = crate::run(site, b"{}").unwrap_err();
        (error.code(), error.details().unwrap().to_owned())
    };
    let mut none = Site::empty();
    assert_eq!(
        failure(&mut none),
        ("not_found", r#"{"reason":"repository"}"#.to_owned())
    );
    let mut bare = Site::empty();
    bare.git(&["init", "-q", "--bare"]);
    assert_eq!(
        failure(&mut bare),
        ("wrong_type", r#"{"reason":"bare"}"#.to_owned())
    );
    let mut broken = Site::new();
    broken.write(".git/config", "[core\n");
    assert_eq!(
        failure(&mut broken),
        ("process_failed", r#"{"exit_code":128}"#.to_owned())
    );
}
