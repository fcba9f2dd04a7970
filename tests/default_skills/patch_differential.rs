//! `fs.write_patch` against `git apply` and `patch`.
//!
//! On the file that a diff was made from, all three give the same bytes. On a file that has moved on they may
//! differ in these ways only:
//! * there are several places for a hunk: the others take the nearest, `fs.write_patch` takes none;
//! * a hunk with less context before than behind, or the other way round, is taken by the others at the
//!   beginning or the end of the file only, and fuzz does not shorten its shorter side first;
//! * `git apply` takes a hunk with less than three lines of context on a side at that end of the file only;
//! * a hunk of which fuzz leaves nothing but added lines has no place that the file tells.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::json;

use crate::desk::Desk;
use crate::fs_write_patch::{ID, rejects, request};
use crate::seeded::Seeded;

/// Lines from few words, so that hunks have more than one place now and then.
fn content(seeded: &mut Seeded, words: usize) -> Vec<String> {
    let count = seeded.below(40);
    (0..count)
        .map(|_| format!("word {}", seeded.below(words)))
        .collect()
}

/// Some lines changed, removed and added.
fn edited(seeded: &mut Seeded, lines: &[String], words: usize) -> Vec<String> {
    let mut result = Vec::new();
    for line in lines {
        match seeded.below(14) {
            0 => {}
            1 => result.push(format!("changed {}", seeded.below(words))),
            2 => result.extend([line.clone(), format!("added {}", seeded.below(words))]),
            _ => result.push(line.clone()),
        }
    }
    if seeded.one_in(5) {
        result.push("end".to_owned());
    }
    result
}

fn joined(seeded: &mut Seeded, lines: &[String]) -> String {
    let mut text = lines.join("\n");
    if !text.is_empty() && !seeded.one_in(4) {
        text.push('\n');
    }
    text
}

fn run(program: &str, directory: &Path, arguments: &[&str]) -> Option<bool> {
    let mut command = Command::new(program);
    command.current_dir(directory).args(arguments).env_clear();
    command
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null");
    command.env("GIT_CEILING_DIRECTORIES", directory.parent().unwrap());
    let output = command
        .output()
        .unwrap_or_else(|error| panic!("`{program}` is needed to compare with: {error}"));
    output.status.code().map(|code| code == 0)
}

/// The diff of two contents by `git diff --no-index`, with this much context.
fn diff(desk: &Desk, old: &str, new: &str, context: usize) -> String {
    for (side, text) in [("a", old), ("b", new)] {
        fs::create_dir_all(desk.beside(side)).unwrap();
        fs::write(desk.beside(side).join("f"), text).unwrap();
    }
    let mut command = Command::new("git");
    command
        .current_dir(desk.beside(""))
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null");
    let unified = format!("--unified={context}");
    command.args([
        "diff",
        "--no-index",
        "--no-ext-diff",
        "--no-color",
        &unified,
        "--no-prefix",
        "a/f",
        "b/f",
    ]);
    String::from_utf8(command.output().unwrap().stdout).unwrap()
}

/// What another program makes of it: the new content, or none if it refuses.
fn by(desk: &Desk, program: &str, arguments: &[&str], content: &str, diff: &str) -> Option<String> {
    let directory = desk.beside("other");
    fs::create_dir_all(&directory).unwrap();
    fs::write(directory.join("f"), content).unwrap();
    fs::write(desk.beside("the.diff"), diff).unwrap();
    let applied = run(program, &directory, arguments).unwrap();
    applied.then(|| fs::read_to_string(directory.join("f")).unwrap())
}

const APPLY: [&str; 4] = ["apply", "-p1", "--whitespace=nowarn", "../the.diff"];

fn patch_arguments(fuzz: &str) -> Vec<&str> {
    vec![
        "-p1",
        "--batch",
        "--forward",
        "--no-backup-if-mismatch",
        "--reject-file=-",
        fuzz,
        "--input=../the.diff",
    ]
}

/// The new content, or the reason of the first reject.
fn by_hydrant(desk: &Desk, content: &str, diff: &str, fuzz: u32) -> Result<String, String> {
    desk.write("f", content);
    let answer = desk.ok(ID, &request(diff, &json!({ "fuzz": fuzz })));
    let left = String::from_utf8(desk.read("f")).unwrap();
    if answer["applied"] == true {
        return Ok(left);
    }
    assert_eq!(left, content);
    Err(rejects(&answer).remove(0).2)
}

#[test]
fn on_the_old_file_all_three_agree() {
    let mut seeded = Seeded::new(44);
    let desk = Desk::writing();
    let mut compared = 0;
    for number in 0..150 {
        let words = *seeded.pick(&[3, 8, 1_000]);
        let old_lines = content(&mut seeded, words);
        let new_lines = edited(&mut seeded, &old_lines, words);
        let (old, new) = (
            joined(&mut seeded, &old_lines),
            joined(&mut seeded, &new_lines),
        );
        let context = *seeded.pick(&[3, 3, 3, 1, 10]);
        let diff = diff(&desk, &old, &new, context);
        // An empty side is a new or deleted file for git, or no difference at all.
        if old.is_empty() || new.is_empty() || diff.is_empty() {
            continue;
        }
        let shown = format!("case {number}\n{diff}");
        assert_eq!(
            by_hydrant(&desk, &old, &diff, 0).as_ref(),
            Ok(&new),
            "{shown}"
        );
        assert_eq!(
            by(&desk, "git", &APPLY, &old, &diff).as_ref(),
            Some(&new),
            "{shown}"
        );
        assert_eq!(
            by(&desk, "patch", &patch_arguments("--fuzz=0"), &old, &diff).as_ref(),
            Some(&new),
            "{shown}"
        );
        compared += 1;
    }
    assert!(compared > 100, "{compared}");
}

/// The lines of each hunk.
fn hunks(diff: &str) -> Vec<Vec<&str>> {
    let lines = diff.lines().filter(|line| !line.starts_with('\\'));
    let mut hunks: Vec<Vec<&str>> = Vec::new();
    for line in lines {
        if line.starts_with("@@") {
            hunks.push(Vec::new());
        } else if let Some(hunk) = hunks.last_mut() {
            hunk.push(line);
        }
    }
    hunks
}

/// Lines of context before the first change and behind the last.
fn context(hunk: &[&str]) -> (usize, usize) {
    let is_context = |line: &&&str| line.starts_with(' ');
    (
        hunk.iter().take_while(is_context).count(),
        hunk.iter().rev().take_while(is_context).count(),
    )
}

/// Whether a hunk has less context on one side than on the other.
fn lopsided(diff: &str) -> bool {
    hunks(diff)
        .iter()
        .map(|hunk| context(hunk))
        .any(|(before, behind)| before != behind)
}

/// Whether a hunk stood at the beginning or the end of the old file, where git wants to find it again.
fn at_an_edge(diff: &str) -> bool {
    hunks(diff)
        .iter()
        .map(|hunk| context(hunk))
        .any(|(before, behind)| before < 3 || behind < 3)
}

/// Whether this fuzz leaves a hunk without old lines.
fn bare(diff: &str, fuzz: usize) -> bool {
    hunks(diff).iter().any(|hunk| {
        let (before, behind) = context(hunk);
        let old = hunk.iter().filter(|line| !line.starts_with('+')).count();
        old == before + behind && before <= fuzz && behind <= fuzz
    })
}

#[test]
fn on_a_file_that_moved_on_every_difference_is_explained() {
    let mut seeded = Seeded::new(50);
    let desk = Desk::writing();
    let (mut same, mut both_refuse, mut ambiguous, mut edge) = (0, 0, 0, 0);
    for number in 0..250 {
        let words = *seeded.pick(&[2, 30, 1_000]);
        let old_lines = content(&mut seeded, words);
        let new_lines = edited(&mut seeded, &old_lines, words);
        let (old, new) = (old_lines.join("\n") + "\n", new_lines.join("\n") + "\n");
        let diff = diff(&desk, &old, &new, 3);
        if old_lines.is_empty() || new_lines.is_empty() || diff.is_empty() {
            continue;
        }
        // The file as somebody else left it.
        let mut moved = old_lines.clone();
        for _ in 0..=seeded.below(2) {
            let at = seeded.below(moved.len());
            match seeded.below(3) {
                0 => moved.insert(at, "another".to_owned()),
                1 => moved[at] = "other".to_owned(),
                _ => moved
                    .splice(0..0, ["top".to_owned(), "top".to_owned()])
                    .for_each(drop),
            }
        }
        let moved = moved.join("\n") + "\n";
        let fuzz = u32::try_from(seeded.below(3)).unwrap();
        let ours = by_hydrant(&desk, &moved, &diff, fuzz);
        let level = format!("--fuzz={fuzz}");
        let theirs = by(&desk, "patch", &patch_arguments(&level), &moved, &diff);
        let shown = format!(
            "case {number}, fuzz {fuzz}\n{moved}\n{diff}\nours {ours:?}\ntheirs {theirs:?}"
        );
        match (&ours, &theirs) {
            (Ok(ours), Some(theirs)) if ours == theirs => same += 1,
            (Err(reason), _) if reason == "ambiguous" => ambiguous += 1,
            (Err(reason), None) => {
                assert_eq!(reason, "context_mismatch", "{shown}");
                both_refuse += 1;
            }
            _ => {
                assert!(lopsided(&diff) || bare(&diff, fuzz as usize), "{shown}");
                edge += 1;
            }
        }
        // git has no fuzz, and takes hunks by the nearest place in the file as changed so far.
        if fuzz == 0 && diff.matches("\n@@ ").count() == 1 {
            let theirs = by(&desk, "git", &APPLY, &moved, &diff);
            match (&ours, &theirs) {
                (Ok(ours), Some(theirs)) => assert_eq!(ours, theirs, "git: {shown}"),
                (Err(reason), Some(_)) => assert_eq!(reason, "ambiguous", "git: {shown}"),
                (Ok(_), None) => assert!(at_an_edge(&diff), "git: {shown}"),
                (Err(_), None) => {}
            }
        }
    }
    let counts =
        format!("{same} same, {both_refuse} both refuse, {ambiguous} ambiguous, {edge} at an edge");
    assert!(same > 60 && both_refuse > 5 && ambiguous > 0, "{counts}");
}
