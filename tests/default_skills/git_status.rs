//! `git.status`.

use std::fs;

use serde_json::{Value, json};

use crate::desk::{Desk, strings};
use crate::repository::Repository;

const ID: &str = "git.status";

fn status(repository: &Repository) -> Value {
    repository.desk.ok(ID, &json!({}))
}

#[test]
fn a_clean_repository() {
    let repository = Repository::with(&[("a", "1\n")]);
    let expected = json!({
        "branch": "main", "ahead": 0, "behind": 0, "staged": [], "unstaged": [], "untracked": [],
        "head": repository.head(), "detached": false, "unborn": false, "upstream": null,
        "upstream_gone": false, "conflicted": [], "renames": [], "truncated": false,
    });
    assert_eq!(status(&repository), expected);
}

#[test]
fn the_repository_is_found_upward_but_not_above_the_mount() {
    let repository = Repository::with(&[("deep/er/f", "1\n")]);
    repository.desk.write("deep/er/new", "");
    for path in ["deep/er", "/workspace/deep", "deep/../deep/er/"] {
        let answer = repository.desk.ok(ID, &json!({ "path": path }));
        assert_eq!(
            answer["untracked"],
            json!(["deep/er/new"]),
            "relative to the top level"
        );
    }
    // The same files, and the repository above the mount.
    fs::rename(repository.desk.path(".git"), repository.desk.beside(".git")).unwrap();
    let missing = json!({"reason": "repository"});
    for path in [".", "deep/er"] {
        repository
            .desk
            .refused(ID, &json!({ "path": path }), "not_found", &missing);
    }
}

#[test]
fn branches_heads_and_what_is_unborn() {
    let repository = Repository::new();
    let unborn = status(&repository);
    let actual = json!([
        unborn["branch"],
        unborn["head"],
        unborn["unborn"],
        unborn["detached"]
    ]);
    assert_eq!(actual, json!(["main", null, true, false]));
    repository.desk.write("a", "1\n");
    let id = repository.commit("first");
    for name in ["feature/x", "é-ä", "HEAD2"] {
        repository.git(&["checkout", "-q", "-b", name]);
        let on = status(&repository);
        assert_eq!(
            json!([on["branch"], on["head"], on["detached"]]),
            json!([name, id, false])
        );
    }
    repository.git(&["checkout", "-q", "--detach"]);
    let detached = status(&repository);
    let actual = json!([
        detached["branch"],
        detached["head"],
        detached["detached"],
        detached["unborn"]
    ]);
    assert_eq!(actual, json!(["HEAD", id, true, false]));
}

#[test]
fn upstreams() {
    let repository = Repository::with(&[("a", "1\n")]);
    repository.git(&["branch", "base"]);
    repository.git(&["checkout", "-q", "-b", "work", "base"]);
    repository.git(&["branch", "-q", "--set-upstream-to=base"]);
    repository.commit("one");
    repository.commit("two");
    repository.git(&["checkout", "-q", "base"]);
    repository.desk.write("b", "");
    repository.commit("three");
    repository.git(&["checkout", "-q", "work"]);
    let tracked = |answer: &Value| {
        json!([
            answer["upstream"],
            answer["ahead"],
            answer["behind"],
            answer["upstream_gone"]
        ])
    };
    assert_eq!(tracked(&status(&repository)), json!(["base", 2, 1, false]));
    repository.git(&["branch", "-q", "-D", "base"]);
    assert_eq!(tracked(&status(&repository)), json!(["base", 0, 0, true]));
    repository.git(&["branch", "--unset-upstream"]);
    assert_eq!(tracked(&status(&repository)), json!([null, 0, 0, false]));
}

#[test]
fn staged_unstaged_and_untracked() {
    let names = [
        "both", "staged", "unstaged", "deleted", "removed", "mode", "kind", "same",
    ];
    let files: Vec<(&str, &str)> = names.iter().map(|name| (*name, "1\n")).collect();
    let repository = Repository::with(&files);
    let desk = &repository.desk;
    desk.write("both", "2\n")
        .write("staged", "2\n")
        .write("added", "quite another line\n");
    repository.git(&["add", "both", "staged", "added"]);
    repository.git(&["rm", "-q", "--cached", "removed"]);
    fs::remove_file(desk.path("removed")).unwrap();
    desk.write("both", "3\n").write("unstaged", "2\n");
    fs::remove_file(desk.path("deleted")).unwrap();
    desk.mode("mode", 0o755);
    fs::remove_file(desk.path("kind")).unwrap();
    desk.link("same", "kind");
    desk.write("intent", "new\n")
        .write("u/deep/x", "")
        .write("u/y", "")
        .write(".gitignore", "*.log\n");
    repository.git(&["add", "-N", "intent"]);
    desk.write("x.log", "").write("é\n\"q\"", "");
    let answer = status(&repository);
    assert_eq!(
        answer["staged"],
        json!(["added", "both", "removed", "staged"])
    );
    assert_eq!(
        answer["unstaged"],
        json!(["both", "deleted", "intent", "kind", "mode", "unstaged"])
    );
    assert_eq!(
        answer["untracked"],
        json!([".gitignore", "u/deep/x", "u/y", "é\n\"q\""])
    );
    assert_eq!(answer["conflicted"], json!([]));
}

#[test]
fn a_submodule_only_with_another_commit() {
    let repository = Repository::with(&[("a", "1\n")]);
    let desk = &repository.desk;
    desk.write("sub/f", "1\n");
    repository.git_in("sub", &["init", "-q", "-b", "main"]);
    repository.git_in("sub", &["add", "f"]);
    repository.git_in("sub", &["commit", "-q", "-m", "s"]);
    repository.commit("with sub");
    desk.write("sub/f", "2\n").write("sub/new", "");
    assert_eq!(
        status(&repository)["unstaged"],
        json!([]),
        "changes inside do not count"
    );
    assert_eq!(status(&repository)["untracked"], json!([]));
    repository.git_in("sub", &["commit", "-q", "-a", "-m", "t"]);
    assert_eq!(status(&repository)["unstaged"], json!(["sub"]));
}

#[test]
fn renames_stand_under_their_new_name() {
    let text = "one\ntwo\nthree\nfour\nfive\nsix\n";
    let other = "uno\ndue\ntre\nquattro\ncinque\nsei\n";
    let repository = Repository::with(&[("a", text), ("b", other), ("gone", "x\n")]);
    let desk = &repository.desk;
    repository.git(&["mv", "a", "d é"]);
    desk.write("d é", format!("{text}seven\n"));
    repository.git(&["add", "d é"]);
    fs::rename(desk.path("b"), desk.path("c")).unwrap();
    repository.git(&["add", "-N", "c"]);
    let answer = status(&repository);
    let renames = json!([{"from": "a", "to": "d é", "staged": true}, {"from": "b", "to": "c", "staged": false}]);
    let mut actual = answer["renames"].as_array().unwrap().clone();
    actual.sort_by_key(ToString::to_string);
    assert_eq!(json!(actual), renames);
    assert_eq!(answer["staged"], json!(["d é"]));
    assert_eq!(answer["unstaged"], json!(["c"]), "{answer}");
    assert_eq!(answer["untracked"], json!([]));
}

#[test]
fn unmerged_paths_and_their_codes() {
    let repository =
        Repository::with(&[("uu", "0\n"), ("du", "0\n"), ("ud", "0\n"), ("ok", "0\n")]);
    let desk = &repository.desk;
    repository.git(&["checkout", "-q", "-b", "other"]);
    desk.write("uu", "other\n")
        .write("du", "other\n")
        .write("aa", "other\n")
        .write("ok", "1\n");
    fs::remove_file(desk.path("ud")).unwrap();
    repository.commit("other");
    repository.git(&["checkout", "-q", "main"]);
    desk.write("uu", "main\n")
        .write("ud", "main\n")
        .write("aa", "main\n");
    fs::remove_file(desk.path("du")).unwrap();
    repository.commit("main");
    assert!(
        !repository
            .try_git(".", &["merge", "-q", "other"])
            .status
            .success()
    );
    let answer = status(&repository);
    let conflicted = json!([
        {"path": "aa", "code": "AA"}, {"path": "du", "code": "DU"}, {"path": "ud", "code": "UD"},
        {"path": "uu", "code": "UU"},
    ]);
    assert_eq!(answer["conflicted"], conflicted);
    assert_eq!(answer["staged"], json!(["ok"]), "{answer}");
    assert_eq!(answer["unstaged"], json!([]));
}

#[test]
fn arrays_are_sorted_and_cut_one_by_one() {
    let repository = Repository::with(&[("x", "1\n"), ("y", "1\n")]);
    let desk = &repository.desk;
    for path in ["a/x", "a.b", "a-b", "B", "é"] {
        desk.write(path, "");
    }
    desk.write("x", "2\n").write("y", "2\n");
    let sorted = ["B", "a-b", "a.b", "a/x", "é"];
    let whole = status(&repository);
    assert_eq!(
        strings(&whole["untracked"]),
        sorted,
        "by bytes of the whole path"
    );
    for count in 1..=5 {
        let answer = desk.ok(ID, &json!({ "max_entries": count }));
        assert_eq!(strings(&answer["untracked"]), sorted[..count]);
        assert_eq!(strings(&answer["unstaged"]), ["x", "y"][..count.min(2)]);
        assert_eq!(answer["truncated"], count < 5);
    }
}

#[test]
fn where_there_is_no_answer() {
    let desk = Desk::git();
    desk.write("f", "");
    let ask = json!({});
    desk.refused(ID, &ask, "not_found", &json!({"reason": "repository"}));
    desk.error(ID, &json!({"path": "none"}), "not_found");
    desk.error(ID, &json!({"path": "f"}), "wrong_type");
    let bare = Repository::new();
    bare.git(&["clone", "-q", "--bare", ".", "bare.git"]);
    for skill in [ID, "git.diff"] {
        bare.desk
            .error(skill, &json!({"path": "bare.git"}), "wrong_type");
    }
    let broken = Repository::with(&[("a", "1\n")]);
    broken.desk.write(".git/index", "no index");
    for skill in [ID, "git.diff"] {
        broken
            .desk
            .refused(skill, &ask, "process_failed", &json!({"exit_code": 128}));
    }
    broken.desk.rules(
        &json!([{"program": "/no/such/git", "args": [["..."]], "cwd": ["/workspace"]}]),
        &json!({}),
    );
    for skill in [ID, "git.diff"] {
        broken
            .desk
            .refused(skill, &ask, "not_found", &json!({"reason": "program"}));
    }
}

/// The policy needs no more than the command that the skill runs.
#[test]
fn the_documented_rule_is_enough() {
    let repository = Repository::with(&[("a", "1\n")]);
    let arguments = [
        "--no-pager",
        "status",
        "--porcelain=v2",
        "--branch",
        "-z",
        "--untracked-files=all",
        "--ignore-submodules=dirty",
        "--find-renames=50%",
    ];
    let rule = json!([{"program": "git", "args": [arguments], "cwd": ["/workspace"]}]);
    repository.desk.rules(&rule, &json!({}));
    assert_eq!(status(&repository)["branch"], "main");
    repository.desk.error("git.diff", &json!({}), "denied");
}
