//! Repositories whose files name directories by where they really are: in the jail they lie elsewhere.
#![cfg(target_os = "linux")]

use serde_json::json;

use crate::repository::Repository;

/// `/workspace` with a repository in it, and one beside it, which no mount shows.
fn repository() -> Repository {
    Repository::with(&[("a", "1\n")])
}

fn beside(repository: &Repository) -> String {
    let beside = repository.desk.beside("other").display().to_string();
    repository.git(&["clone", "-q", ".", &beside]);
    beside
}

/// `git.status` and `git.diff` see the change of `a` in this directory of the workspace.
fn assert_seen(repository: &Repository, directory: &str) {
    repository.desk.write(&format!("{directory}/a"), "2\n");
    let ask = json!({"path": directory});
    let status = repository.desk.ok("git.status", &ask);
    assert_eq!(status["unstaged"], json!(["a"]), "{status}");
    let diff = repository.desk.ok("git.diff", &ask);
    assert!(
        diff["diff"].as_str().unwrap().contains("-1\n+2\n"),
        "{diff}"
    );
}

fn assert_denied(repository: &Repository, directory: &str) {
    for skill in ["git.status", "git.diff"] {
        let ask = json!({"path": directory});
        repository.desk.denied(skill, &ask, "exec.safe:git");
    }
}

#[test]
fn a_linked_work_tree_in_the_mount_is_seen() {
    let repository = repository();
    repository.git(&["worktree", "add", "-q", "tree"]);
    assert_seen(&repository, "tree");
    let status = repository.desk.ok("git.status", &json!({"path": "tree"}));
    assert_eq!(status["branch"], "tree");
    repository.desk.write("tree/below/b", "");
    let status = repository
        .desk
        .ok("git.status", &json!({"path": "tree/below"}));
    assert_eq!(status["untracked"], json!(["below/b"]), "{status}");
}

#[test]
fn a_work_tree_of_a_repository_outside_the_mount_is_denied() {
    let repository = repository();
    let other = beside(&repository);
    let tree = repository.desk.path("tree").display().to_string();
    repository.git(&["-C", &other, "worktree", "add", "-q", &tree]);
    assert_denied(&repository, "tree");
}

#[test]
fn alternates_in_the_mount_are_read() {
    let repository = repository();
    repository.git(&["clone", "-q", "--shared", ".", "copy"]);
    repository.git(&["clone", "-q", "--shared", "copy", "second"]);
    assert_seen(&repository, "copy");
    assert_seen(&repository, "second");
}

#[test]
fn alternates_outside_the_mount_are_denied() {
    let repository = repository();
    let other = beside(&repository);
    repository.git(&["clone", "-q", "--shared", &other, "copy"]);
    assert_denied(&repository, "copy");
}

#[test]
fn a_configured_work_tree_in_the_mount_is_seen() {
    let repository = repository();
    let workspace = repository.desk.path("").display().to_string();
    repository.config("core.worktree", workspace.trim_end_matches('/'));
    assert_seen(&repository, ".");
    repository.config(
        "core.worktree",
        repository.desk.beside("").to_str().unwrap(),
    );
    assert_denied(&repository, ".");
}

#[test]
fn what_git_complains_of_has_no_real_path() {
    let repository = repository();
    repository.git(&["clone", "-q", "--shared", ".", "copy"]);
    let ask = json!({"argv": ["git", "status", "--porcelain"], "cwd": "copy"});
    let answer = repository.desk.ok("shell.exec_safe", &ask);
    let real = repository.desk.path("").display().to_string();
    let complaint = answer["stderr"].as_str().unwrap();
    assert!(complaint.contains("/workspace/"), "{answer}");
    assert!(!complaint.contains(real.trim_end_matches('/')), "{answer}");
}
