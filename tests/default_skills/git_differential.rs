//! `git.status` and `git.diff` against git's own output on generated repositories, and `git.diff` as the input
//! of `fs.write_patch`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use serde_json::{Value, json};

use crate::desk::Desk;
use crate::fs_write_patch;
use crate::git_diff::expected;
use crate::program::{listing, mode};
use crate::repository::Repository;
use crate::seeded::Seeded;

const NAMES: [&str; 10] = [
    "a",
    "b.txt",
    "src/c.rs",
    "src/d e",
    "src/deep/f",
    "é",
    "g\"q",
    "h\\x",
    "-i",
    "k'",
];

fn text(seeded: &mut Seeded) -> String {
    let mut text: String = (0..seeded.below(25))
        .map(|_| format!("line {}\n", seeded.below(9)))
        .collect();
    if seeded.one_in(5) {
        text.push_str("no line feed");
    }
    text
}

/// A line changed here and there.
fn touched(seeded: &mut Seeded, old: &str) -> String {
    let lines = old.split_inclusive('\n').map(|line| match seeded.below(8) {
        0 => "changed\n".to_owned(),
        1 => format!("{}\nmore\n", line.trim_end()),
        _ => line.to_owned(),
    });
    lines.collect()
}

/// Changes files of the work tree.
fn change(repository: &Repository, seeded: &mut Seeded) {
    for name in NAMES {
        let desk = &repository.desk;
        let old = desk
            .exists(name)
            .then(|| String::from_utf8(desk.read(name)).unwrap());
        match (seeded.below(9), old) {
            (0 | 1, None) => {
                let new = text(seeded);
                desk.write(name, new);
            }
            (0 | 1, Some(old)) => {
                let new = touched(seeded, &old);
                desk.write(name, new);
            }
            (2, Some(_)) => fs::remove_file(desk.path(name)).unwrap(),
            (3, Some(_)) => desk.mode(
                name,
                if mode(&desk.path(name)) & 0o100 == 0 {
                    0o755
                } else {
                    0o644
                },
            ),
            (4, Some(old)) => {
                let to = format!("moved/{}", seeded.below(6));
                if !desk.exists(&to) {
                    let new = if seeded.one_in(2) {
                        touched(seeded, &old)
                    } else {
                        old
                    };
                    desk.write(&to, new);
                    fs::remove_file(desk.path(name)).unwrap();
                }
            }
            _ => {}
        }
    }
}

/// A repository with a history, changes staged and not staged, and an upstream.
fn generated(seeded: &mut Seeded) -> Repository {
    let repository = Repository::new();
    for name in NAMES {
        if !seeded.one_in(3) {
            let new = text(seeded);
            repository.desk.write(name, new);
        }
    }
    if seeded.one_in(12) {
        repository.git(&["add", "-A"]);
        return repository;
    }
    repository.commit("first");
    repository.git(&["branch", "up"]);
    for _ in 0..seeded.below(3) {
        change(&repository, seeded);
        repository.commit("more");
    }
    if seeded.one_in(2) {
        repository.git(&["branch", "-q", "--set-upstream-to=up"]);
    }
    if seeded.one_in(8) {
        repository.git(&["checkout", "-q", "--detach"]);
    }
    change(&repository, seeded);
    repository.git(&["add", "-A"]);
    if seeded.one_in(3) {
        repository.git(&["reset", "-q"]);
    }
    change(&repository, seeded);
    repository
}

/// The status by `--porcelain=v1`, `symbolic-ref` and `rev-list`, which the skill does not use.
fn status(repository: &Repository) -> Value {
    let line = |arguments: &[&str]| {
        let output = repository.try_git(".", arguments);
        let text = String::from_utf8(output.stdout).unwrap().trim().to_owned();
        output.status.success().then_some(text)
    };
    let branch = line(&["symbolic-ref", "--short", "-q", "HEAD"]);
    let head = line(&["rev-parse", "--verify", "-q", "HEAD"]);
    let upstream = line(&["rev-parse", "--abbrev-ref", "-q", "@{upstream}"]);
    let counts = upstream
        .as_ref()
        .and_then(|_| line(&["rev-list", "--left-right", "--count", "HEAD...@{upstream}"]));
    let counts: Vec<u64> = counts
        .unwrap_or_else(|| "0 0".into())
        .split_whitespace()
        .map(|count| count.parse().unwrap())
        .collect();
    let listed = repository.git(&[
        "status",
        "--porcelain=v1",
        "-z",
        "--untracked-files=all",
        "--find-renames=50%",
    ]);
    let (mut staged, mut unstaged, mut untracked) =
        (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    let mut renames = BTreeSet::new();
    let mut entries = listed.split('\0').filter(|entry| !entry.is_empty());
    while let Some(entry) = entries.next() {
        let (codes, path) = (&entry.as_bytes()[..2], entry[3..].to_owned());
        if codes == b"??" {
            untracked.insert(path);
            continue;
        }
        for (code, set, in_index) in [
            (codes[0], &mut staged, true),
            (codes[1], &mut unstaged, false),
        ] {
            if code == b'R' {
                renames.insert((entries.next().unwrap().to_owned(), path.clone(), in_index));
            }
            if code != b' ' {
                set.insert(path.clone());
            }
        }
    }
    let renames: Vec<Value> = renames
        .into_iter()
        .map(|(from, to, staged)| json!({"from": from, "to": to, "staged": staged}))
        .collect();
    json!({
        "branch": branch.clone().unwrap_or_else(|| "HEAD".into()), "ahead": counts[0], "behind": counts[1],
        "staged": staged, "unstaged": unstaged, "untracked": untracked, "head": head,
        "detached": branch.is_none(), "unborn": head.is_none(), "upstream": upstream, "upstream_gone": false,
        "conflicted": [], "renames": renames, "truncated": false,
    })
}

/// The order of renames is not fixed.
fn sorted(mut status: Value) -> Value {
    status["renames"]
        .as_array_mut()
        .unwrap()
        .sort_by_key(ToString::to_string);
    status
}

#[test]
fn status_is_what_git_says() {
    let mut seeded = Seeded::new(91);
    for number in 0..60 {
        let repository = generated(&mut seeded);
        let actual = repository.desk.ok("git.status", &json!({}));
        assert_eq!(sorted(actual), sorted(status(&repository)), "case {number}");
    }
}

type Files = BTreeMap<String, (Vec<u8>, bool)>;

/// Regular files of the work tree, with their content and whether they are executable.
fn files(desk: &Desk) -> Files {
    let names = listing(&desk.path("")).into_iter();
    let files = names.filter(|name| !name.starts_with(".git") && desk.path(name).is_file());
    files
        .map(|name| {
            let executable = mode(&desk.path(&name)) & 0o100 != 0;
            (name.clone(), (desk.read(&name), executable))
        })
        .collect()
}

/// The files of a tree of git, written to another desk.
fn checked_out(repository: &Repository, tree: &str) -> Desk {
    let desk = Desk::writing();
    let work_tree = desk.path("");
    let work_tree = work_tree.to_str().unwrap();
    // Into an index of its own, so that the repository stays as it is.
    let directory = repository.desk.path(".git");
    let own = desk.beside("repository");
    fs::create_dir(&own).unwrap();
    copy(&directory, &own);
    let git_dir = format!("--git-dir={}", own.display());
    let work_tree = format!("--work-tree={work_tree}");
    repository.git(&[&git_dir, &work_tree, "read-tree", "--reset", tree]);
    repository.git(&[&git_dir, &work_tree, "checkout-index", "-a", "-f"]);
    desk
}

fn copy(from: &std::path::Path, to: &std::path::Path) {
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            fs::create_dir(&target).unwrap();
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// The diff, applied to the old files, gives the new ones.
fn applies(old: &Desk, diff: &str, new: &Files, what: &str) {
    if diff.is_empty() {
        assert_eq!(&files(old), new, "{what}: no change");
        return;
    }
    let answer = old.ok(
        fs_write_patch::ID,
        &fs_write_patch::request(diff, &json!({})),
    );
    assert_eq!(answer["applied"], true, "{what}: {answer}\n{diff}");
    assert_eq!(&files(old), new, "{what}\n{diff}");
}

#[test]
fn diffs_are_gits_and_apply() {
    let mut seeded = Seeded::new(106);
    for number in 0..40 {
        let repository = generated(&mut seeded);
        let ask = |target: &str| {
            let answer = repository.desk.ok(
                "git.diff",
                &json!({"target": target, "max_bytes": 2_097_152}),
            );
            assert_eq!(answer["truncated"], false);
            answer["diff"].as_str().unwrap().to_owned()
        };
        let index = repository.git(&["write-tree"]).trim().to_owned();
        let unborn = repository
            .try_git(".", &["rev-parse", "--verify", "-q", "HEAD"])
            .status
            .code()
            != Some(0);
        let empty = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";
        let head = if unborn { empty } else { "HEAD" };

        let working = ask("working");
        assert_eq!(working, expected(&repository, &["--"]), "case {number}");
        let mut new = files(&repository.desk);
        let untracked = repository.git(&["ls-files", "-z", "--others"]);
        untracked
            .split('\0')
            .for_each(|name| drop(new.remove(name)));
        applies(
            &checked_out(&repository, &index),
            &working,
            &new,
            &format!("working {number}"),
        );

        let staged = ask("staged");
        assert_eq!(
            staged,
            expected(&repository, &["--cached", "--"]),
            "case {number}"
        );
        let new = files(&checked_out(&repository, &index));
        applies(
            &checked_out(&repository, head),
            &staged,
            &new,
            &format!("staged {number}"),
        );

        if unborn {
            continue;
        }
        let commit = ask("commit");
        let parent = repository
            .try_git(".", &["rev-parse", "--verify", "-q", "HEAD~1"])
            .status
            .success();
        let parent = if parent { "HEAD~1" } else { empty };
        assert_eq!(
            commit,
            expected(&repository, &[parent, "HEAD", "--"]),
            "case {number}"
        );
        let new = files(&checked_out(&repository, "HEAD"));
        applies(
            &checked_out(&repository, parent),
            &commit,
            &new,
            &format!("commit {number}"),
        );
    }
}
